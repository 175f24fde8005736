// Package bootstrap writes what a kube-apiserver needs to start in an empty directory: a
// certificate authority and a serving certificate, a key for service account tokens, a file of
// static tokens, and a kubeconfig that fits them.
//
// Everything is kept and used again at the next start, so a kubeconfig stays valid as long as its
// directory lives. Keys, tokens and the kubeconfig are readable by their owner only.
package bootstrap

import (
	"fmt"
	"os"
	"path/filepath"
	"time"
)

// Files are the absolute paths of what Prepare wrote.
type Files struct {
	CACert, CAKey           string
	ServingCert, ServingKey string
	ServiceAccountKey       string
	Tokens                  string
}

// Prepare creates what is missing in dir, which it makes if need be. The serving certificate is
// issued anew when it does not cover all of hosts (names or IP addresses) or is about to expire.
func Prepare(dir string, hosts []string, now time.Time) (*Files, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	dir, err := filepath.Abs(dir)
	if err != nil {
		return nil, err
	}
	files := &Files{
		CACert:            filepath.Join(dir, "ca.crt"),
		CAKey:             filepath.Join(dir, "ca.key"),
		ServingCert:       filepath.Join(dir, "serving.crt"),
		ServingKey:        filepath.Join(dir, "serving.key"),
		ServiceAccountKey: filepath.Join(dir, "service-account.key"),
		Tokens:            filepath.Join(dir, "tokens.csv"),
	}
	for _, step := range []struct {
		what string
		do   func() error
	}{
		{"certificates", func() error { return ensureCertificates(files, hosts, now) }},
		{"service account key", func() error { return ensureKey(files.ServiceAccountKey) }},
		{"tokens", func() error { return ensureTokens(files.Tokens) }},
	} {
		if err := step.do(); err != nil {
			return nil, fmt.Errorf("%s in %s: %w", step.what, dir, err)
		}
	}
	return files, nil
}

// writeFile replaces path in one step, so that a crash leaves the old file or the new one.
func writeFile(path string, data []byte, mode os.FileMode) error {
	tmp, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+".*")
	if err != nil {
		return err
	}
	defer os.Remove(tmp.Name())
	if _, err := tmp.Write(data); err != nil {
		tmp.Close()
		return err
	}
	if err := tmp.Chmod(mode); err != nil {
		tmp.Close()
		return err
	}
	if err := tmp.Close(); err != nil {
		return err
	}
	return os.Rename(tmp.Name(), path)
}
