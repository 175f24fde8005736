package main

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"k8s.io/component-base/metrics/legacyregistry"

	"github.com/celgate/celgate/benchmarks/workloads"
)

// verify is the engine of `--admission-engine=verify`: upstream's plugin decides, and ours decides the same request afterwards.
const verify = "verify"

// verified are the workloads that are also measured with it.
var verified = []string{"matching/1/versioned", "matching/10/versioned", "matching/100/versioned", "not-matching/100", "denied/100", "pod-security-standards"}

// settle waits until both engines of verify mode know their policies: the second may take a moment longer.
func settle(r *workloads.Running) error {
	before, err := comparisons()
	if err != nil {
		return err
	}
	for deadline := time.Now().Add(time.Minute); time.Now().Before(deadline); time.Sleep(10 * time.Millisecond) {
		_ = workloads.SendProbe(r)
		r.Wait()
		now, err := comparisons()
		if err != nil {
			return err
		}
		if now["same"] > before["same"] {
			return nil
		}
	}
	return errors.New("verify: celgate's policies are not in force")
}

// comparisons are the requests of verify mode so far, by result.
func comparisons() (map[string]float64, error) {
	families, err := legacyregistry.DefaultGatherer.Gather()
	if err != nil {
		return nil, err
	}
	counts := map[string]float64{}
	for _, family := range families {
		if family.GetName() != "celgate_verify_requests_total" {
			continue
		}
		for _, metric := range family.GetMetric() {
			counts[metric.GetLabel()[0].GetValue()] = metric.GetCounter().GetValue()
		}
	}
	return counts, nil
}

// compared is the share of all requests that both engines decided. That they decided one differently is an error.
func compared() (float64, error) {
	counts, err := comparisons()
	if err != nil {
		return 0, err
	}
	if counts["different"]+counts["failed"] > 0 {
		return 0, fmt.Errorf("verify: the engines differ: %v", counts)
	}
	return counts["same"] / (counts["same"] + counts["skipped"]), nil
}

// verifiedTable shows what verify mode costs beside each engine alone.
func (r *report) verifiedTable() string {
	alone := map[[2]string]result{}
	for _, one := range r.Results {
		alone[[2]string{one.Workload, one.Engine}] = one
	}
	var b strings.Builder
	b.WriteString("| workload | upstream alone | celgate alone | verify | by upstream alone | the client waits, upstream alone | verify |\n| --- | ---: | ---: | ---: | ---: | ---: | ---: |\n")
	for _, one := range r.Verified {
		theirs, ours := alone[[2]string{one.Workload, "upstream"}], alone[[2]string{one.Workload, "celgate"}]
		fmt.Fprintf(&b, "| %s | %s | %s | %s | %.2f | %s | %s |\n", one.Workload, duration(theirs.NsPerOp.Median), duration(ours.NsPerOp.Median), duration(one.NsPerOp.Median),
			one.NsPerOp.Median/theirs.NsPerOp.Median, duration(theirs.WallNsPerOp.Median), duration(one.WallNsPerOp.Median))
	}
	return b.String()
}
