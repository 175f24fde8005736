package main

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"runtime/debug"
	"strconv"
	"strings"

	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes/fake"
)

// memory is what one small policy and its binding cost an engine, and how long it takes to take up many.
type memory struct {
	Engine         string  `json:"engine"`
	Policies       int     `json:"policies"`
	BytesPerPolicy float64 `json:"bytes_per_policy"`
	StartMs        float64 `json:"start_ms"`
}

// usage is what a child process prints.
type usage struct {
	Resident int64   `json:"resident"`
	StartMs  float64 `json:"start_ms"`
}

// measureMemory runs each engine, and informers alone, in processes of their own and compares their resident memory.
func measureMemory(n int) ([]memory, error) {
	base, err := childUsage("none", n)
	if err != nil {
		return nil, err
	}
	var all []memory
	for _, engine := range engines {
		one, err := childUsage(engine, n)
		if err != nil {
			return nil, err
		}
		empty, err := childUsage(engine, 0)
		if err != nil {
			return nil, err
		}
		baseEmpty, err := childUsage("none", 0)
		if err != nil {
			return nil, err
		}
		grown := float64((one.Resident - empty.Resident) - (base.Resident - baseEmpty.Resident))
		all = append(all, memory{Engine: engine, Policies: n, BytesPerPolicy: grown / float64(n), StartMs: one.StartMs - empty.StartMs})
	}
	return all, nil
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

// memoryChild is the child: it takes up n policies and prints its resident memory.
func memoryChild(engine string, n int) error {
	w := different(n, podResource)
	w.addProbe()
	var u usage
	var keep any
	if engine == "none" {
		client := fake.NewSimpleClientset()
		for _, p := range w.policies {
			if err := client.Tracker().Add(p); err != nil {
				return err
			}
		}
		for _, b := range w.bindings {
			if err := client.Tracker().Add(b); err != nil {
				return err
			}
		}
		factory := informers.NewSharedInformerFactory(client, 0)
		factory.Admissionregistration().V1().ValidatingAdmissionPolicies().Informer()
		factory.Admissionregistration().V1().ValidatingAdmissionPolicyBindings().Informer()
		factory.Start(nil)
		factory.WaitForCacheSync(nil)
		keep = factory
	} else {
		r, err := start(engine, w, namespaces(), probe(), versionedObjects)
		if err != nil {
			return err
		}
		u.StartMs = float64(r.started.Microseconds()) / 1e3
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
	u.Resident = pages * int64(os.Getpagesize())
	if keep == nil {
		return fmt.Errorf("nothing was started")
	}
	return json.NewEncoder(os.Stdout).Encode(u)
}
