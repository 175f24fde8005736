package bootstrap

import (
	"bytes"
	"crypto/tls"
	"crypto/x509"
	"os"
	"path/filepath"
	"testing"
	"time"

	"k8s.io/client-go/tools/clientcmd"
)

var hosts = []string{"localhost", "127.0.0.1", "::1"}

func prepare(t *testing.T, dir string, hosts []string, now time.Time) *Files {
	t.Helper()
	files, err := Prepare(dir, hosts, now)
	if err != nil {
		t.Fatal(err)
	}
	return files
}

func contents(t *testing.T, path string) []byte {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// verify checks the serving certificate as a client with the written CA does.
func verify(t *testing.T, files *Files, host string, now time.Time) error {
	t.Helper()
	pair, err := tls.LoadX509KeyPair(files.ServingCert, files.ServingKey)
	if err != nil {
		t.Fatal(err)
	}
	roots := x509.NewCertPool()
	if !roots.AppendCertsFromPEM(contents(t, files.CACert)) {
		t.Fatal("no certificate in the CA file")
	}
	_, err = pair.Leaf.Verify(x509.VerifyOptions{Roots: roots, DNSName: host, CurrentTime: now})
	return err
}

func TestPrepareIsStable(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "a", "b")
	now := time.Now()
	files := prepare(t, dir, hosts, now)
	paths := []string{files.CACert, files.CAKey, files.ServingCert, files.ServingKey, files.ServiceAccountKey, files.Tokens}
	before := map[string][]byte{}
	for _, path := range paths {
		before[path] = contents(t, path)
	}
	if again := prepare(t, dir, hosts[:1], now.Add(24*time.Hour)); *again != *files {
		t.Errorf("paths changed: %+v, then %+v", files, again)
	}
	for _, path := range paths {
		if !bytes.Equal(before[path], contents(t, path)) {
			t.Errorf("%s was written again", path)
		}
	}
}

func TestSecretsAreForTheOwnerOnly(t *testing.T) {
	files := prepare(t, t.TempDir(), hosts, time.Now())
	for _, path := range []string{files.CAKey, files.ServingKey, files.ServiceAccountKey, files.Tokens} {
		info, err := os.Stat(path)
		if err != nil {
			t.Fatal(err)
		}
		if info.Mode().Perm() != 0o600 {
			t.Errorf("%s has mode %v", path, info.Mode())
		}
	}
}

func TestServingCertificateVerifies(t *testing.T) {
	now := time.Now()
	files := prepare(t, t.TempDir(), hosts, now)
	for _, host := range hosts {
		if err := verify(t, files, host, now); err != nil {
			t.Errorf("%s: %v", host, err)
		}
	}
	if err := verify(t, files, "elsewhere.example", now); err == nil {
		t.Error("a host that was not asked for verifies")
	}
}

func TestServingCertificateIsRenewed(t *testing.T) {
	for name, change := range map[string]struct {
		hosts []string
		later time.Duration
	}{
		"another host":     {hosts: append([]string{"new.example"}, hosts...)},
		"about to expire":  {hosts: hosts, later: servingLifetime - renewBefore + time.Hour},
		"CA runs out soon": {hosts: hosts, later: caLifetime - servingLifetime + time.Hour},
	} {
		t.Run(name, func(t *testing.T) {
			dir, now := t.TempDir(), time.Now()
			files := prepare(t, dir, hosts, now)
			old := contents(t, files.ServingCert)
			now = now.Add(change.later)
			prepare(t, dir, change.hosts, now)
			if bytes.Equal(old, contents(t, files.ServingCert)) {
				t.Error("the certificate was not renewed")
			}
			if err := verify(t, files, change.hosts[0], now.Add(renewBefore)); err != nil {
				t.Error(err)
			}
		})
	}
}

func TestKubeconfigHasEveryUser(t *testing.T) {
	dir := t.TempDir()
	files := prepare(t, dir, hosts, time.Now())
	users, err := ReadUsers(files.Tokens)
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, "kubeconfig")
	if err := WriteKubeconfig(path, "https://127.0.0.1:6443", contents(t, files.CACert), users); err != nil {
		t.Fatal(err)
	}
	config, err := clientcmd.LoadFromFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if config.CurrentContext != "admin" {
		t.Errorf("current context is %q", config.CurrentContext)
	}
	tokens := map[string]bool{}
	for i, user := range users {
		if user.Name != defaultUsers[i].Name || user.UID != defaultUsers[i].UID || len(user.Groups) != 1 || user.Groups[0] != defaultUsers[i].Groups[0] {
			t.Errorf("user %d is %+v", i, user)
		}
		rest, err := clientcmd.NewNonInteractiveClientConfig(*config, user.Name, nil, nil).ClientConfig()
		if err != nil {
			t.Fatal(err)
		}
		if rest.BearerToken != user.Token || len(user.Token) != 64 || tokens[user.Token] {
			t.Errorf("%s has the token %q", user.Name, rest.BearerToken)
		}
		tokens[user.Token] = true
	}
}

func TestReadUsersOfOthers(t *testing.T) {
	path := filepath.Join(t.TempDir(), "tokens.csv")
	for text, want := range map[string]int{
		"":                             0,
		"t1,carol,1\nt2,dan,2,\"a,b\"": 2,
		"t1,carol":                     -1,
	} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		users, err := ReadUsers(path)
		if (err != nil) != (want < 0) || err == nil && len(users) != want {
			t.Errorf("%q: %v, %v", text, users, err)
		}
		if want == 2 && len(users[1].Groups) != 2 {
			t.Errorf("groups are %q", users[1].Groups)
		}
	}
}

func TestLock(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "data")
	unlock, err := Lock(dir)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Lock(dir); err == nil {
		t.Error("a locked directory was locked again")
	}
	unlock()
	unlock, err = Lock(dir)
	if err != nil {
		t.Fatal(err)
	}
	unlock()
}
