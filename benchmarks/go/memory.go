package main

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"

	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes/fake"

	"github.com/celgate/celgate/benchmarks/workloads"
)

// memory is what one small policy and its binding cost an engine beyond what informers keep, and what it costs to take up many: the
// difference between many and a tenth of them, so that what is there once does not count.
type memory struct {
	Engine   string `json:"engine"`
	Policies int    `json:"policies"`
	// BytesPerPolicy is resident memory.
	BytesPerPolicy float64 `json:"bytes_per_policy"`
	// GoHeapBytesPerPolicy is what is in use of Go's heap after a collection.
	GoHeapBytesPerPolicy float64 `json:"go_heap_bytes_per_policy"`
	// TakeUpMs is CPU time.
	TakeUpMs float64 `json:"take_up_cpu_ms"`
}

// usage is what a child process prints.
type usage struct {
	Resident float64 `json:"resident"`
	GoHeap   float64 `json:"go_heap"`
	TakeUpMs float64 `json:"take_up_cpu_ms"`
}

// memoryRounds is how many processes are looked at of each sort: resident memory varies by a KiB for a policy.
const memoryRounds = 7

// measureMemory runs each engine, and informers alone, in processes of their own, with many policies and with few.
func measureMemory(n int) ([]memory, error) {
	sorts := append([]string{"none"}, engines...)
	few := n / 10
	with, without := map[string][]usage{}, map[string][]usage{}
	for range memoryRounds {
		for _, engine := range sorts {
			for policies, usages := range map[int]map[string][]usage{n: with, few: without} {
				u, err := childUsage(engine, policies)
				if err != nil {
					return nil, err
				}
				usages[engine] = append(usages[engine], u)
			}
		}
	}
	var all []memory
	for _, engine := range engines {
		grown := func(of func(usage) float64) float64 {
			total := median(with[engine], of) - median(without[engine], of) - median(with["none"], of) + median(without["none"], of)
			return total / float64(n-few)
		}
		all = append(all, memory{
			Engine: engine, Policies: n,
			BytesPerPolicy:       grown(func(u usage) float64 { return u.Resident }),
			GoHeapBytesPerPolicy: grown(func(u usage) float64 { return u.GoHeap }),
			TakeUpMs:             grown(func(u usage) float64 { return u.TakeUpMs }) * float64(n),
		})
	}
	return all, nil
}

func median(usages []usage, of func(usage) float64) float64 {
	var values []float64
	for _, u := range usages {
		values = append(values, of(u))
	}
	slices.Sort(values)
	return values[len(values)/2]
}

func childUsage(engine string, n int) (usage, error) {
	var u usage
	child := exec.Command(os.Args[0], "-memory-child", engine, "-memory-policies", strconv.Itoa(n))
	child.Stderr = os.Stderr
	out, err := child.Output()
	if err != nil {
		return u, fmt.Errorf("memory of %s with %d policies: %w", engine, n, err)
	}
	return u, json.Unmarshal(out, &u)
}

// memoryChild is the child: it takes up n policies and prints what that took.
func memoryChild(engine string, n int) error {
	w := workloads.Different(n)
	var u usage
	var keep any
	if engine == "none" {
		factory := informers.NewSharedInformerFactory(fake.NewSimpleClientset(w.Objects()...), 0)
		factory.Admissionregistration().V1().ValidatingAdmissionPolicies().Informer()
		factory.Admissionregistration().V1().ValidatingAdmissionPolicyBindings().Informer()
		before := workloads.CPUTime()
		factory.Start(nil)
		factory.WaitForCacheSync(nil)
		u.TakeUpMs = (workloads.CPUTime() - before).Seconds() * 1e3
		keep = factory
	} else {
		r, err := start(engine, w)
		if err != nil {
			return err
		}
		u.TakeUpMs = r.StartedCPU.Seconds() * 1e3
		keep = r
	}
	w = nil
	for range 3 {
		debug.FreeOSMemory()
	}
	status, err := os.ReadFile("/proc/self/statm")
	if err != nil {
		return err
	}
	pages, err := strconv.ParseInt(strings.Fields(string(status))[1], 10, 64)
	if err != nil {
		return err
	}
	u.Resident = float64(pages * int64(os.Getpagesize()))
	var stats runtime.MemStats
	runtime.ReadMemStats(&stats)
	u.GoHeap = float64(stats.HeapAlloc)
	if keep == nil {
		return fmt.Errorf("nothing was started")
	}
	return json.NewEncoder(os.Stdout).Encode(u)
}
