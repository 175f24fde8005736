package e2e

import (
	"debug/elf"
	"os/exec"
	"regexp"
	"strings"
	"testing"
)

func TestBinaryIsStatic(t *testing.T) {
	path := program(t)
	// ldd exits with 1 for a static program.
	said, _ := exec.Command("ldd", path).CombinedOutput()
	if text := string(said); !strings.Contains(text, "not a dynamic executable") && !strings.Contains(text, "statically linked") {
		t.Errorf("ldd says: %s", text)
	}
	file, err := elf.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	for _, segment := range file.Progs {
		if segment.Type == elf.PT_INTERP {
			t.Error("the program asks for a dynamic linker")
		}
	}
}

func TestVersion(t *testing.T) {
	said, err := exec.Command(program(t), "--version").CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s", err, said)
	}
	if !regexp.MustCompile(`^Kubernetes v1\.37\.\d+\+celgate\n$`).Match(said) {
		t.Errorf("--version says %q", said)
	}
}

func TestHelpShowsOurFlags(t *testing.T) {
	said, err := exec.Command(program(t), "--help").CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s", err, said)
	}
	for _, flag := range []string{"--admission-engine", "--embedded-etcd", "--data-dir", "--etcd-servers", "--feature-gates"} {
		if !strings.Contains(string(said), flag+" ") {
			t.Errorf("--help does not have %s", flag)
		}
	}
}

func TestRefusedFlags(t *testing.T) {
	for name, c := range map[string]struct {
		flags []string
		text  string
	}{
		"engine": {[]string{"--admission-engine=other"}, "unknown engine, choose celgate, upstream or verify"},
		"etcd":   {[]string{"--embedded-etcd", "--data-dir=" + t.TempDir(), "--etcd-servers=http://127.0.0.1:1"}, "--etcd-servers and --embedded-etcd exclude each other"},
	} {
		said, err := exec.Command(program(t), c.flags...).CombinedOutput()
		if err == nil || !strings.Contains(string(said), c.text) {
			t.Errorf("%s: %v: %s", name, err, said)
		}
	}
}
