package e2e

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/celgate/celgate/go/cmd/kube-apiserver/internal/bootstrap"
)

// cluster is a server and an etcd, each a process of its own that can be killed and started again.
type cluster struct {
	dir, url  string
	etcdURL   string
	etcdFlags []string
	flags     []string
	http      *http.Client
	tokens    map[string]string
	etcd      *killable
	server    *killable
}

// killable is a running process.
type killable struct {
	name string
	cmd  *exec.Cmd
	done chan struct{}
	log  string
}

func newCluster(t *testing.T, engine string) *cluster {
	t.Helper()
	c := &cluster{dir: t.TempDir(), tokens: map[string]string{}}
	files, err := bootstrap.Prepare(filepath.Join(c.dir, "server"), []string{"localhost", "127.0.0.1"}, time.Now())
	if err != nil {
		t.Fatal(err)
	}
	users, err := bootstrap.ReadUsers(files.Tokens)
	if err != nil {
		t.Fatal(err)
	}
	for _, user := range users {
		c.tokens[user.Name] = user.Token
	}
	authority, err := os.ReadFile(files.CACert)
	if err != nil {
		t.Fatal(err)
	}
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(authority)
	// One connection for each request: one that outlives a server would make requests fail that the next one could answer.
	c.http = &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: roots}, DisableKeepAlives: true}}

	ports := freePorts(t, 3)
	c.url = fmt.Sprintf("https://127.0.0.1:%d", ports[0])
	c.etcdURL = fmt.Sprintf("http://127.0.0.1:%d", ports[1])
	peer := fmt.Sprintf("http://127.0.0.1:%d", ports[2])
	c.etcdFlags = []string{"--data-dir=" + filepath.Join(c.dir, "etcd"), "--listen-client-urls=" + c.etcdURL, "--advertise-client-urls=" + c.etcdURL,
		"--listen-peer-urls=" + peer, "--initial-advertise-peer-urls=" + peer, "--initial-cluster=default=" + peer, "--log-level=error"}
	c.flags = []string{
		"--admission-engine=" + engine, "--etcd-servers=" + c.etcdURL, "--bind-address=127.0.0.1", fmt.Sprintf("--secure-port=%d", ports[0]),
		"--tls-cert-file=" + files.ServingCert, "--tls-private-key-file=" + files.ServingKey, "--token-auth-file=" + files.Tokens,
		"--service-account-issuer=https://kubernetes.default.svc", "--service-account-signing-key-file=" + files.ServiceAccountKey,
		"--service-account-key-file=" + files.ServiceAccountKey, "--authorization-mode=RBAC", "--service-cluster-ip-range=10.96.0.0/16",
		"--allow-privileged", "--disable-admission-plugins=ServiceAccount", "--advertise-address=127.0.0.1", "--endpoint-reconciler-type=none",
	}
	return c
}

// freePorts are ports that nobody uses now.
func freePorts(t *testing.T, count int) (ports []int) {
	t.Helper()
	for range count {
		listener, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		defer listener.Close()
		ports = append(ports, listener.Addr().(*net.TCPAddr).Port)
	}
	return ports
}

func (c *cluster) startEtcd(t *testing.T) {
	t.Helper()
	c.etcd = c.run(t, "etcd", etcdProgram(t), c.etcdFlags)
}

func (c *cluster) startServer(t *testing.T) {
	t.Helper()
	c.server = c.run(t, "kube-apiserver", program(t), c.flags)
}

// run starts a process that ends with the test.
func (c *cluster) run(t *testing.T, name, path string, flags []string) *killable {
	t.Helper()
	log, err := os.OpenFile(filepath.Join(c.dir, name+".log"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	defer log.Close()
	k := &killable{name: name, cmd: exec.Command(path, flags...), done: make(chan struct{}), log: log.Name()}
	k.cmd.Stdout, k.cmd.Stderr = log, log
	if err := k.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go func() {
		_ = k.cmd.Wait() // killed, or the log says why it ended
		close(k.done)
	}()
	t.Cleanup(func() { _ = k.cmd.Process.Kill(); <-k.done })
	return k
}

// kill kills the process as kill -9 does. It must have been running.
func (k *killable) kill(t *testing.T) {
	t.Helper()
	select {
	case <-k.done:
		t.Fatalf("%s had ended by itself:\n%s", k.name, k.tail())
	default:
	}
	if err := k.cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	<-k.done
}

// tail is the end of the process's log.
func (k *killable) tail() string {
	content, err := os.ReadFile(k.log)
	if err != nil {
		return err.Error()
	}
	return string(content[max(0, len(content)-4000):])
}

// waitReady waits until the server says that it is ready.
func (c *cluster) waitReady(ctx context.Context, t *testing.T) {
	t.Helper()
	deadline := time.After(startTimeout)
	for {
		got := c.do(ctx, "admin", http.MethodGet, "/readyz", "")
		if got.Code == http.StatusOK {
			return
		}
		select {
		case <-c.server.done:
			t.Fatalf("the server ended:\n%s", c.server.tail())
		case <-deadline:
			t.Fatalf("the server is not ready after %s: %s\n%s", startTimeout, got, c.server.tail())
		case <-time.After(100 * time.Millisecond):
		}
	}
}
