package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const change = `--- a/staging/src/k8s.io/apiserver/pkg/server/plugins.go
+++ b/staging/src/k8s.io/apiserver/pkg/server/plugins.go
@@ -1,3 +1,3 @@
 one
-two
+three
 four
`

func TestApply(t *testing.T) {
	for _, test := range []struct{ name, content, patch, want, err string }{
		{name: "applies", content: "one\ntwo\nfour\n", patch: change, want: "one\nthree\nfour\n"},
		{name: "other content", content: "one\n2\nfour\n", patch: change, err: "plugins.go"},
		{name: "no change", content: "one\n", patch: "", err: "changes no file"},
		{name: "elsewhere", content: "one\n", patch: strings.ReplaceAll(change, "apiserver/", "api/"), err: "only changes of files below"},
		{name: "outside", content: "one\n", patch: strings.ReplaceAll(change, "pkg/server", "../../server"), err: "only changes of files below"},
	} {
		t.Run(test.name, func(t *testing.T) {
			directory := t.TempDir()
			path := filepath.Join(directory, "pkg", "server", "plugins.go")
			if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(path, []byte(test.content), 0o644); err != nil {
				t.Fatal(err)
			}
			err := apply([]byte(test.patch), directory)
			if test.err != "" {
				if err == nil || !strings.Contains(err.Error(), test.err) {
					t.Fatalf("error %v, expected one with %q", err, test.err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			got, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			if string(got) != test.want {
				t.Errorf("got %q, expected %q", got, test.want)
			}
		})
	}
}
