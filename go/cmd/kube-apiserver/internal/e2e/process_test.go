// Package e2e tests a built kube-apiserver from outside. The environment variable
// CELGATE_KUBE_APISERVER names the program; `make test-server` sets it.
package e2e

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

const (
	startTimeout = 2 * time.Minute
	stopTimeout  = time.Minute
)

func program(t *testing.T) string {
	t.Helper()
	return programIn(t, "CELGATE_KUBE_APISERVER", "make test-server")
}

// programIn is the program that an environment variable names, which a make target sets.
func programIn(t *testing.T, variable, target string) string {
	t.Helper()
	path := os.Getenv(variable)
	if path == "" {
		t.Skipf("%s does not name a program; %s does this", variable, target)
	}
	return path
}

// output collects what a process writes while others read it.
type output struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (o *output) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.buf.Write(p)
}

func (o *output) String() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.buf.String()
}

// process is a server that announced itself.
type process struct {
	cmd            *exec.Cmd
	stdout, stderr output
	exited         chan error
	kubeconfig     string
}

var kubeconfigLine = regexp.MustCompile(`(?m)^\s*export KUBECONFIG=(\S+)$`)

// start runs the server on dataDir and returns when it printed its block.
func start(t *testing.T, dataDir string, flags ...string) *process {
	t.Helper()
	p := &process{exited: make(chan error, 1)}
	p.cmd = exec.Command(program(t), append([]string{"--embedded-etcd", "--data-dir=" + dataDir, "--secure-port=0"}, flags...)...)
	p.cmd.Stdout, p.cmd.Stderr = &p.stdout, &p.stderr
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go func() { p.exited <- p.cmd.Wait() }()
	t.Cleanup(func() { p.cmd.Process.Kill() })

	deadline := time.After(startTimeout)
	for {
		if found := kubeconfigLine.FindStringSubmatch(p.stdout.String()); found != nil {
			p.kubeconfig = found[1]
			return p
		}
		select {
		case err := <-p.exited:
			t.Fatalf("the server ended: %v\n%s", err, p.stderr.String())
		case <-deadline:
			t.Fatalf("no announcement after %v\n%s", startTimeout, p.stderr.String())
		case <-time.After(50 * time.Millisecond):
		}
	}
}

// stop sends sig and expects a clean end.
func (p *process) stop(t *testing.T, sig syscall.Signal) {
	t.Helper()
	if err := p.cmd.Process.Signal(sig); err != nil {
		t.Fatal(err)
	}
	select {
	case err := <-p.exited:
		if err != nil {
			t.Errorf("after %v the server ended with: %v\n%s", sig, err, p.stderr.String())
		}
	case <-time.After(stopTimeout):
		t.Fatalf("still running %v after %v\n%s", stopTimeout, sig, p.stderr.String())
	}
}

// children are the processes that p started and that still run.
func (p *process) children(t *testing.T) string {
	t.Helper()
	lists, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/children", p.cmd.Process.Pid))
	if err != nil || len(lists) == 0 {
		t.Fatalf("no lists of children: %v", err)
	}
	var all []string
	for _, list := range lists {
		// A thread may be gone by now.
		if data, err := os.ReadFile(list); err == nil {
			all = append(all, strings.Fields(string(data))...)
		}
	}
	return strings.Join(all, " ")
}
