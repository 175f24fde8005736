package harness

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// testdata/README.md names every case, and only cases and tests that exist.
func TestEveryCaseIsListed(t *testing.T) {
	data, err := os.ReadFile(filepath.Join("testdata", "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	listed := map[string]bool{}
	for _, row := range strings.Split(string(data), "\n") {
		cells := strings.Split(row, "|")
		if len(cells) != 4 {
			continue
		}
		for _, name := range regexp.MustCompile(`[a-z0-9]+(-[a-z0-9]+)+`).FindAllString(cells[2], -1) {
			listed[name] = true
		}
		for _, name := range regexp.MustCompile(`Test[A-Z]\w+`).FindAllString(cells[2], -1) {
			if !hasTest(t, name) {
				t.Errorf("there is no test %s", name)
			}
		}
	}
	for path := range cases(t) {
		if filepath.Ext(path) == ".yaml" && !listed[name(path)] {
			t.Errorf("%s is not listed", path)
		}
		delete(listed, name(path))
	}
	for name := range listed {
		if strings.Count(name, "-") > 1 {
			t.Errorf("there is no case %s", name)
		}
	}
}

func hasTest(t *testing.T, name string) bool {
	for _, pattern := range []string{"*_test.go", filepath.Join("..", "..", "admission", "policy", "validating", "*_test.go")} {
		paths, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		for _, path := range paths {
			data, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			if strings.Contains(string(data), "func "+name+"(") {
				return true
			}
		}
	}
	return false
}
