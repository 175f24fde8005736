package embeddedetcd

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
)

// shortDir is a directory whose path leaves room for a socket, which t.TempDir's may not.
func shortDir(t *testing.T) string {
	dir, err := os.MkdirTemp("", "etcd")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	return dir
}

func TestDataSurvivesARestart(t *testing.T) {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	dir := filepath.Join(shortDir(t), "etcd")

	withServer(ctx, t, dir, func(c *clientv3.Client) {
		if _, err := c.Put(ctx, "k", "v"); err != nil {
			t.Fatal(err)
		}
	})
	withServer(ctx, t, dir, func(c *clientv3.Client) {
		got, err := c.Get(ctx, "k")
		if err != nil {
			t.Fatal(err)
		}
		if len(got.Kvs) != 1 || string(got.Kvs[0].Value) != "v" {
			t.Errorf("read %v", got.Kvs)
		}
	})
}

func withServer(ctx context.Context, t *testing.T, dir string, do func(*clientv3.Client)) {
	t.Helper()
	s, err := Start(ctx, dir)
	if err != nil {
		t.Fatal(err)
	}
	client, err := clientv3.New(clientv3.Config{Endpoints: []string{s.Endpoint()}, Context: ctx})
	if err != nil {
		t.Fatal(err)
	}
	do(client)
	if err := client.Close(); err != nil {
		t.Error(err)
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	if err, open := <-s.Failed(); open {
		t.Errorf("a closed server reports %v", err)
	}
	if _, err := os.Stat(filepath.Join(dir, socketName)); !os.IsNotExist(err) {
		t.Errorf("the socket is still there: %v", err)
	}
}

func TestPathTooLong(t *testing.T) {
	dir := filepath.Join(shortDir(t), strings.Repeat("x", maxSocketPath))
	if _, err := Start(context.Background(), dir); err == nil || !strings.Contains(err.Error(), "shorter data directory") {
		t.Errorf("got %v", err)
	}
	if _, err := os.Stat(dir); !os.IsNotExist(err) {
		t.Errorf("the directory was made: %v", err)
	}
}
