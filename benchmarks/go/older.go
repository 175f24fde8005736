package main

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"

	"github.com/celgate/celgate/benchmarks/workloads"
)

// olderEngine is how results name the version of upstream before the one that is compared.
const olderEngine = "upstream 1.36"

// olderUpstream is the program of ../upstream-1.36: two versions of upstream cannot be in one binary.
type olderUpstream struct {
	program string
	// versions are what it was built from, as it says.
	versions map[string]string
}

// measures says whether the program knows a workload: it has no internal objects, which are another version's.
func (o *olderUpstream) measures(w *workloads.Workload) bool {
	return o.program != "" && !strings.HasSuffix(w.Name, "/internal")
}

func (o *olderUpstream) measure(w *workloads.Workload, p pace) (*workloads.Alone, error) {
	child := exec.Command(o.program, "-workload", w.Name, "-rounds", strconv.Itoa(p.rounds), "-round-time", p.roundTime.String())
	child.Stderr = os.Stderr
	out, err := child.Output()
	if err != nil {
		return nil, fmt.Errorf("%s: %w", o.program, err)
	}
	alone := &workloads.Alone{}
	if err := json.Unmarshal(out, alone); err != nil {
		return nil, fmt.Errorf("%s: %w", o.program, err)
	}
	o.versions = alone.Versions
	return alone, nil
}
