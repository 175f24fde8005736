// Package testserver starts a kube-apiserver with its own etcd, in a process of its own, for commands that send it requests.
package testserver

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"time"

	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
)

// Server is a running kube-apiserver.
type Server struct {
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

// Options say which server to start.
type Options struct {
	// Binary is the path of kube-apiserver.
	Binary string
	// Engine is its --admission-engine.
	Engine string
	// Dir is where it keeps its data and logs; emptied first.
	Dir string
	// Port is its --secure-port.
	Port string
	// Audit asks for an audit log of all requests.
	Audit bool
}

// Start starts a server and waits until it is ready.
func Start(ctx context.Context, o Options) (*Server, error) {
	binary, err := filepath.Abs(o.Binary)
	if err != nil {
		return nil, err
	}
	dir := o.Dir
	if err := os.RemoveAll(dir); err != nil {
		return nil, err
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, err
	}
	log, err := os.Create(filepath.Join(dir, "server.log"))
	if err != nil {
		return nil, err
	}
	defer log.Close()
	s := &Server{dir: dir, exited: make(chan error, 1)}
	args := []string{"--embedded-etcd", "--admission-engine=" + o.Engine, "--data-dir=" + filepath.Join(dir, "data"), "--secure-port=" + o.Port}
	if o.Audit {
		policy := filepath.Join(dir, "audit-policy.yaml")
		if err := os.WriteFile(policy, []byte(auditPolicy), 0o644); err != nil {
			return nil, err
		}
		args = append(args, "--audit-policy-file="+policy, "--audit-log-path="+s.AuditLog())
	}
	s.command = exec.Command(binary, args...)
	s.command.Stdout, s.command.Stderr = log, log
	if err := s.command.Start(); err != nil {
		return nil, fmt.Errorf("cannot start %s: %w", o.Binary, err)
	}
	go func() { s.exited <- s.command.Wait() }()
	if err := s.waitReady(ctx); err != nil {
		s.Stop()
		return nil, fmt.Errorf("%w (its log is %s)", err, log.Name())
	}
	return s, nil
}

// AuditLog is the file that the server writes audit events to.
func (s *Server) AuditLog() string { return filepath.Join(s.dir, "audit.log") }

// Config is how to talk to the server as a user of its kubeconfig.
func (s *Server) Config(user string) (*rest.Config, error) {
	rules := &clientcmd.ClientConfigLoadingRules{ExplicitPath: filepath.Join(s.dir, "data", "kubeconfig")}
	config, err := clientcmd.NewNonInteractiveDeferredLoadingClientConfig(rules, &clientcmd.ConfigOverrides{CurrentContext: user}).ClientConfig()
	if err != nil {
		return nil, err
	}
	config.QPS, config.Burst = -1, -1
	return config, nil
}

// PID is the server's process.
func (s *Server) PID() int { return s.command.Process.Pid }

func (s *Server) waitReady(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, 2*time.Minute)
	defer cancel()
	for {
		if config, err := s.Config(""); err == nil {
			config.NegotiatedSerializer = scheme.Codecs.WithoutConversion()
			if client, err := rest.UnversionedRESTClientFor(config); err == nil {
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

// Stop asks the server to stop, and kills it when it does not.
func (s *Server) Stop() {
	_ = s.command.Process.Signal(syscall.SIGTERM)
	select {
	case <-s.exited:
	case <-time.After(30 * time.Second):
		_ = s.command.Process.Kill()
		<-s.exited
	}
}
