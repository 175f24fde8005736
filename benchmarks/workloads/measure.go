package workloads

import (
	"context"
	"fmt"
	"runtime"
	"syscall"
	"time"

	"k8s.io/apiserver/pkg/admission"
)

// Sample is one round of one plugin, per request.
type Sample struct {
	// CPUNs is user and system time of the whole process, so that collecting garbage counts.
	CPUNs  float64 `json:"cpu_ns"`
	WallNs float64 `json:"wall_ns"`
	Allocs float64 `json:"allocs"`
	Bytes  float64 `json:"bytes"`
}

// CPUTime is what the process has used so far.
func CPUTime() time.Duration {
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		panic(err)
	}
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}

// Decisions are what a plugin says to each request: nothing, or why it is denied.
func (w *Workload) Decisions(r *Running, requests []admission.Attributes) []string {
	var all []string
	for _, request := range requests {
		decision := ""
		if err := w.send(r, request); err != nil {
			decision = fmt.Sprint(err)
		}
		all = append(all, decision)
	}
	return all
}

// send is one request.
func (w *Workload) send(r *Running, request admission.Attributes) error {
	return r.Validate(context.Background(), request, w.Objects)
}

// Calibrate says how many requests take roundTime.
func (w *Workload) Calibrate(r *Running, requests []admission.Attributes, roundTime time.Duration) int {
	for n := 1; ; n *= 2 {
		began := time.Now()
		w.Send(r, requests, n)
		if took := time.Since(began); took > roundTime/4 || n >= 1<<22 {
			return max(int(float64(n)*float64(roundTime)/float64(took)), 1)
		}
	}
}

// coldBytes is touched between requests of a cold workload.
var coldBytes = make([]byte, 16<<20)

func touch() {
	for i := 0; i < len(coldBytes); i += 64 {
		coldBytes[i]++
	}
}

// Send sends n requests; for a cold workload it returns the time spent in them, without the touching in between.
func (w *Workload) Send(r *Running, requests []admission.Attributes, n int) (inRequests time.Duration) {
	for i := range n {
		if !w.Cold {
			_ = w.send(r, requests[i%len(requests)])
			continue
		}
		touch()
		began := time.Now()
		_ = w.send(r, requests[i%len(requests)])
		inRequests += time.Since(began)
	}
	return inRequests
}

// Round measures n requests.
func (w *Workload) Round(r *Running, requests []admission.Attributes, n int) Sample {
	runtime.GC()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	cpu, wall := CPUTime(), time.Now()
	inRequests := w.Send(r, requests, n)
	elapsed := time.Since(wall)
	r.Wait()
	spent := CPUTime() - cpu
	if w.Cold {
		spent, elapsed = inRequests, inRequests
	}
	runtime.ReadMemStats(&after)
	per := func(v float64) float64 { return v / float64(n) }
	return Sample{
		CPUNs: per(float64(spent)), WallNs: per(float64(elapsed)),
		Allocs: per(float64(after.Mallocs - before.Mallocs)), Bytes: per(float64(after.TotalAlloc - before.TotalAlloc)),
	}
}

// Rounds is how many rounds a workload is measured with, of n for one that is not slow.
func (w *Workload) Rounds(n int) int {
	if w.Slow {
		return max(n*3/5, 2)
	}
	return n
}
