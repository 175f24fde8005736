// Package embeddedetcd runs a single-member etcd inside the process.
package embeddedetcd

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"

	"go.etcd.io/etcd/server/v3/embed"
	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"
)

const (
	socketName = "etcd.sock"
	// maxSocketPath is the longest path of a Unix socket that every system here accepts.
	maxSocketPath = 103
	// quotaBytes is the database size at which etcd stops writing; its default is 2 GiB.
	quotaBytes = 8 << 30
)

// Server is a running etcd.
type Server struct {
	etcd     *embed.Etcd
	socket   string
	logLevel zap.AtomicLevel
}

// Start runs etcd on the data in dir (an absolute path, made if need be) and returns when it
// accepts requests. It listens on a Unix socket in dir and nowhere else: whoever reaches etcd may
// do everything, so the directory's permissions are its access control.
func Start(ctx context.Context, dir string) (*Server, error) {
	socket := filepath.Join(dir, socketName)
	if !filepath.IsAbs(dir) {
		return nil, fmt.Errorf("etcd's directory %q is not absolute", dir)
	}
	if len(socket) > maxSocketPath {
		return nil, fmt.Errorf("the path %s is too long for a socket (%d bytes, at most %d): choose a shorter data directory", socket, len(socket), maxSocketPath)
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	logger := zap.NewProductionConfig()
	logger.Level.SetLevel(zapcore.ErrorLevel)
	log, err := logger.Build()
	if err != nil {
		return nil, err
	}
	e, err := embed.StartEtcd(config(dir, socket, log))
	if err != nil {
		return nil, fmt.Errorf("start etcd: %w", err)
	}
	s := &Server{etcd: e, socket: socket, logLevel: logger.Level}
	select {
	case <-e.Server.ReadyNotify():
		return s, nil
	case err := <-e.Err():
		s.Close()
		return nil, fmt.Errorf("etcd: %w", err)
	case <-ctx.Done():
		s.Close()
		return nil, ctx.Err()
	}
}

func config(dir, socket string, log *zap.Logger) *embed.Config {
	cfg := embed.NewConfig()
	cfg.Name = "celgate"
	cfg.Dir = filepath.Join(dir, "member-data")
	cfg.ListenClientUrls = []url.URL{{Scheme: "unix", Path: socket}}
	// There are no peers. What is advertised must look like an address, and nobody listens there.
	cfg.ListenPeerUrls = nil
	nowhere := []url.URL{{Scheme: "http", Host: "127.0.0.1:0"}}
	cfg.AdvertisePeerUrls = nowhere
	cfg.AdvertiseClientUrls = nowhere
	cfg.InitialCluster = cfg.InitialClusterFromName(cfg.Name)
	cfg.QuotaBackendBytes = quotaBytes
	cfg.ZapLoggerBuilder = embed.NewZapLoggerBuilder(log)
	return cfg
}

// Endpoint is what a client, or kube-apiserver's --etcd-servers, connects to.
func (s *Server) Endpoint() string { return "unix://" + s.socket }

// Failed delivers an error if etcd stops by itself. The channel is closed by Close.
func (s *Server) Failed() <-chan error { return s.etcd.Err() }

// Close stops etcd and removes its socket.
func (s *Server) Close() error {
	// etcd calls it an error that its listeners are being closed.
	s.logLevel.SetLevel(zapcore.FatalLevel)
	s.etcd.Close()
	if err := os.Remove(s.socket); err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	return nil
}
