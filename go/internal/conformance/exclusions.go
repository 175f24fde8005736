package conformance

import (
	"bufio"
	_ "embed"
	"fmt"
	"strings"
)

//go:embed excluded.txt
var excludedText string

// Exclusions are the tests that cannot hold in Kubernetes' environment: reasons by name of a test, section or file.
type Exclusions map[string]string

// Excluded reads the committed list: a name and its reason a line.
func Excluded() (Exclusions, error) {
	exclusions := Exclusions{}
	lines := bufio.NewScanner(strings.NewReader(excludedText))
	for lines.Scan() {
		line := lines.Text()
		if line == "" || strings.HasPrefix(line, "# ") {
			continue
		}
		name, reason, found := strings.Cut(line, ": ")
		if !found || reason == "" {
			return nil, fmt.Errorf("excluded.txt: %q has no reason", line)
		}
		exclusions[name] = reason
	}
	return exclusions, lines.Err()
}

// find returns the entry for a test: its own, its section's or its file's.
func (e Exclusions) find(name string) (entry string, found bool) {
	for entry = name; ; {
		if _, found := e[entry]; found {
			return entry, true
		}
		slash := strings.LastIndexByte(entry, '/')
		if slash < 0 {
			return "", false
		}
		entry = entry[:slash]
	}
}
