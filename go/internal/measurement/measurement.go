// Package measurement has what all reports of benchmarks/ say alike: where and of what something was measured, and its spread.
package measurement

import (
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"time"
)

// Origin is the machine, the versions and the commit that figures come from.
type Origin struct {
	Machine  string            `json:"machine"`
	Versions map[string]string `json:"versions"`
	Commit   string            `json:"commit"`
	Date     string            `json:"date"`
}

// NewOrigin describes this machine, this program and the checkout that it is run in.
func NewOrigin() Origin {
	o := Origin{Machine: machine(), Commit: commit(), Date: time.Now().UTC().Format(time.RFC3339)}
	o.Versions = map[string]string{"go": runtime.Version(), "rust": output("rustc", "--version")}
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, dep := range info.Deps {
			switch dep.Path {
			case "k8s.io/apiserver", "github.com/google/cel-go":
				o.Versions[dep.Path] = dep.Version
			}
		}
	}
	return o
}

// commit is the checkout's, marked if anything but results has changed since.
func commit() string {
	commit := output("git", "describe", "--always")
	if output("git", "status", "--porcelain", "--untracked-files=no", "--", ":/", ":(top,exclude)benchmarks/results") != "" {
		commit += "-dirty"
	}
	return commit
}

func output(name string, args ...string) string {
	out, err := exec.Command(name, args...).Output()
	if err != nil {
		return "unknown"
	}
	return strings.TrimSpace(string(out))
}

func machine() string {
	model := "unknown processor"
	if info, err := os.ReadFile("/proc/cpuinfo"); err == nil {
		for line := range strings.Lines(string(info)) {
			if name, value, ok := strings.Cut(line, ":"); ok && strings.TrimSpace(name) == "model name" {
				model = strings.TrimSpace(value)
				break
			}
		}
	}
	return fmt.Sprintf("%d x %s, %s/%s", runtime.NumCPU(), model, runtime.GOOS, runtime.GOARCH)
}

// Figure is a median with its range.
type Figure struct {
	Median float64 `json:"median"`
	Min    float64 `json:"min"`
	Max    float64 `json:"max"`
}

// FigureOf is the figure of at least one value; it sorts them.
func FigureOf(values []float64) Figure {
	slices.Sort(values)
	return Figure{Median: values[len(values)/2], Min: values[0], Max: values[len(values)-1]}
}
