// Command upstream-1.36 runs upstream's plugins of Kubernetes 1.36 on one workload of the benchmark, and prints as JSON how it decides and what that
// costs. The benchmark of ../go starts it for each workload, right after it has measured the others.
package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"os"
	"time"

	policies "k8s.io/apiserver/pkg/admission/plugin/policy/validating"
	webhooks "k8s.io/apiserver/pkg/admission/plugin/webhook/validating"
	"k8s.io/klog/v2"

	"github.com/celgate/celgate/benchmarks/workloads"
)

func main() {
	name := flag.String("workload", "", "the workload's name")
	rounds := flag.Int("rounds", 5, "rounds for a workload that is not slow")
	roundTime := flag.Duration("round-time", 300*time.Millisecond, "how long a round aims to take")
	flag.Parse()
	klog.LogToStderr(false)
	klog.SetOutput(io.Discard)
	measured, err := workloads.MeasureAlone(*name, start, *rounds, *roundTime)
	if err == nil {
		err = json.NewEncoder(os.Stdout).Encode(measured)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "upstream-1.36:", err)
		os.Exit(1)
	}
}

// start runs the plugin that w is for.
func start(w *workloads.World) (*workloads.Running, error) {
	const engine = "upstream 1.36"
	if w.Webhooks != nil {
		p, err := webhooks.NewValidatingAdmissionWebhook(nil)
		if err != nil {
			return nil, err
		}
		p.SetAuthorizer(workloads.AllowAll)
		return workloads.StartWebhooks(engine, p, w)
	}
	p, err := policies.NewPlugin(nil)
	if err != nil {
		return nil, err
	}
	p.SetAuthorizer(workloads.AllowAll)
	return workloads.StartPolicies(engine, p, w)
}
