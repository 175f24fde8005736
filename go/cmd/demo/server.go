package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"time"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
)

// server is a kube-apiserver with its own etcd, in a process of its own.
type server struct {
	command *exec.Cmd
	exited  chan error
	dir     string
}

const auditPolicy = `apiVersion: audit.k8s.io/v1
kind: Policy
omitStages: [RequestReceived]
rules:
- level: Metadata
`

// startServer starts binary on dir, which is emptied first, and waits until it is ready.
func startServer(ctx context.Context, binary, engine, dir, port string) (*server, error) {
	if err := os.RemoveAll(dir); err != nil {
		return nil, err
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, err
	}
	if err := os.WriteFile(filepath.Join(dir, "audit-policy.yaml"), []byte(auditPolicy), 0o644); err != nil {
		return nil, err
	}
	log, err := os.Create(filepath.Join(dir, "server.log"))
	if err != nil {
		return nil, err
	}
	defer log.Close()
	s := &server{dir: dir, exited: make(chan error, 1)}
	s.command = exec.Command(binary, "--embedded-etcd", "--admission-engine="+engine, "--data-dir="+filepath.Join(dir, "data"),
		"--secure-port="+port, "--audit-policy-file="+filepath.Join(dir, "audit-policy.yaml"), "--audit-log-path="+s.auditLog())
	s.command.Stdout, s.command.Stderr = log, log
	if err := s.command.Start(); err != nil {
		return nil, fmt.Errorf("cannot start %s: %w", binary, err)
	}
	go func() { s.exited <- s.command.Wait() }()
	if err := s.waitReady(ctx); err != nil {
		s.stop()
		return nil, fmt.Errorf("%w (its log is %s)", err, log.Name())
	}
	return s, nil
}

func (s *server) auditLog() string { return filepath.Join(s.dir, "audit.log") }

// config is how to talk to the server as a user of its kubeconfig.
func (s *server) config(user string) (*rest.Config, error) {
	rules := &clientcmd.ClientConfigLoadingRules{ExplicitPath: filepath.Join(s.dir, "data", "kubeconfig")}
	config, err := clientcmd.NewNonInteractiveDeferredLoadingClientConfig(rules, &clientcmd.ConfigOverrides{CurrentContext: user}).ClientConfig()
	if err != nil {
		return nil, err
	}
	config.QPS, config.Burst = -1, -1
	return config, nil
}

func (s *server) waitReady(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, 2*time.Minute)
	defer cancel()
	for {
		if config, err := s.config(""); err == nil {
			if client, err := rest.UnversionedRESTClientFor(restDefaults(config)); err == nil {
				if client.Get().AbsPath("/readyz").Do(ctx).Error() == nil {
					return nil
				}
			}
		}
		select {
		case err := <-s.exited:
			s.exited <- err
			return fmt.Errorf("the server stopped before it was ready: %v", err)
		case <-ctx.Done():
			return fmt.Errorf("the server is not ready: %w", ctx.Err())
		case <-time.After(200 * time.Millisecond):
		}
	}
}

// stop asks the server to stop, and kills it when it does not.
func (s *server) stop() {
	_ = s.command.Process.Signal(syscall.SIGTERM)
	select {
	case <-s.exited:
	case <-time.After(30 * time.Second):
		_ = s.command.Process.Kill()
		<-s.exited
	}
}
