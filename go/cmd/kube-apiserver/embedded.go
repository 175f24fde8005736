package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"github.com/spf13/pflag"
	genericapiserver "k8s.io/apiserver/pkg/server"
	genericoptions "k8s.io/apiserver/pkg/server/options"

	"github.com/celgate/celgate/go/cmd/kube-apiserver/internal/bootstrap"
	"github.com/celgate/celgate/go/cmd/kube-apiserver/internal/embeddedetcd"
)

// embeddedOptions are the flags of a server that brings its own etcd.
type embeddedOptions struct {
	enabled bool
	dataDir string
}

func (o *embeddedOptions) addFlags(fs *pflag.FlagSet) {
	o.dataDir = "celgate-data"
	fs.BoolVar(&o.enabled, "embedded-etcd", false, ""+
		"Run etcd inside this process, write certificates, tokens and a kubeconfig into --data-dir, and give "+
		"flags that are not set values for a server on this machine alone: it listens on 127.0.0.1, with RBAC. "+
		"With --secure-port=0 a free port is taken.")
	fs.StringVar(&o.dataDir, "data-dir", o.dataDir, ""+
		"Directory for the data of --embedded-etcd. It is made if it does not exist; remove it to start afresh.")
}

// instance is what runs beside upstream's server when etcd is embedded.
type instance struct {
	engine     engine
	dataDir    string
	kubeconfig string
	users      []bootstrap.User
	etcd       *embeddedetcd.Server
	etcdError  chan error
	unlock     func()
}

// startEmbedded starts etcd, writes the files a server needs, and sets the flags that make
// upstream's server use them.
func (s *server) startEmbedded(ctx context.Context, fs *pflag.FlagSet) (_ *instance, err error) {
	if fs.Changed("etcd-servers") {
		return nil, errors.New("--etcd-servers and --embedded-etcd exclude each other")
	}
	dataDir, err := filepath.Abs(s.embedded.dataDir)
	if err != nil {
		return nil, err
	}
	unlock, err := bootstrap.Lock(dataDir)
	if err != nil {
		return nil, err
	}
	in := &instance{
		engine: s.engine, dataDir: dataDir, kubeconfig: filepath.Join(dataDir, "kubeconfig"),
		etcdError: make(chan error, 1), unlock: unlock,
	}
	defer func() {
		if err != nil {
			in.close()
		}
	}()

	if err := setDefaults(fs, addressDefaults); err != nil {
		return nil, err
	}
	bind, err := s.listen(fs)
	if err != nil {
		return nil, err
	}
	files, err := bootstrap.Prepare(dataDir, servingHosts(bind), time.Now())
	if err != nil {
		return nil, err
	}
	if in.etcd, err = embeddedetcd.Start(ctx, filepath.Join(dataDir, "etcd")); err != nil {
		return nil, err
	}
	go in.watchEtcd()
	if err := setDefaults(fs, fileDefaults(files, in.etcd.Endpoint(), isLocal(bind))); err != nil {
		return nil, err
	}
	if err := in.writeKubeconfig(fs, serverURL(bind, s.upstream.SecureServing.BindPort)); err != nil {
		return nil, err
	}
	return in, nil
}

// listen returns the address to bind to. If the port is 0 it takes a free one.
func (s *server) listen(fs *pflag.FlagSet) (net.IP, error) {
	serving := s.upstream.SecureServing
	if serving.BindPort == 0 {
		address := net.JoinHostPort(serving.BindAddress.String(), "0")
		listener, port, err := genericoptions.CreateListener("tcp", address, net.ListenConfig{})
		if err != nil {
			return nil, err
		}
		serving.Listener = listener
		if err := fs.Set("secure-port", strconv.Itoa(port)); err != nil {
			return nil, err
		}
	}
	return serving.BindAddress, nil
}

// writeKubeconfig writes a kubeconfig for the users of the token file in force, which verifies the
// server by our CA, or by the certificate that the user chose.
func (in *instance) writeKubeconfig(fs *pflag.FlagSet, url string) (err error) {
	if in.users, err = bootstrap.ReadUsers(fs.Lookup("token-auth-file").Value.String()); err != nil {
		return err
	}
	authority := filepath.Join(in.dataDir, "ca.crt")
	if cert := fs.Lookup("tls-cert-file").Value.String(); filepath.Dir(cert) != in.dataDir {
		authority = cert
	}
	caPEM, err := os.ReadFile(authority)
	if err != nil {
		return err
	}
	return bootstrap.WriteKubeconfig(in.kubeconfig, url, caPEM, in.users)
}

// watchEtcd stops the server when etcd stops by itself: without etcd it could only time out.
func (in *instance) watchEtcd() {
	if err, failed := <-in.etcd.Failed(); failed {
		in.etcdError <- fmt.Errorf("embedded etcd: %w", err)
		genericapiserver.RequestShutdown()
	}
}

// close stops etcd and gives the data directory free. It returns the error that etcd failed with.
func (in *instance) close() error {
	var errs []error
	select {
	case err := <-in.etcdError:
		errs = append(errs, err)
	default:
	}
	if in.etcd != nil {
		errs = append(errs, in.etcd.Close())
	}
	in.unlock()
	return errors.Join(errs...)
}
