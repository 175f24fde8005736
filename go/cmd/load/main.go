// Command load measures a whole kube-apiserver under load with each engine: requests per second, latency and CPU time per request with
// a growing number of policies. Every request is a dry-run creation of a Pod. The engines are upstream's, ours, and verify, where both decide.
package main

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/celgate/celgate/go/internal/testserver"
	"k8s.io/klog/v2"
)

// run is one engine with one number of policies.
type run struct {
	Engine          string  `json:"engine"`
	Policies        int     `json:"policies"`
	Requests        int     `json:"requests"`
	PerSecond       float64 `json:"requests_per_second"`
	CPUMsPerRequest float64 `json:"cpu_ms_per_request"`
	P50Ms           float64 `json:"p50_ms"`
	P99Ms           float64 `json:"p99_ms"`
}

func main() {
	binary := flag.String("server", "bin/kube-apiserver", "the server to start")
	dir := flag.String("dir", "build/load", "where the server keeps its data and logs; emptied first")
	port := flag.String("secure-port", "16444", "the port that the server listens on")
	numbers := flag.String("policies", "0,10,100,300", "numbers of policies, ascending")
	seconds := flag.Duration("time", 10*time.Second, "how long each run lasts")
	clients := flag.Int("clients", 4, "concurrent clients")
	out := flag.String("out", "benchmarks/results/server.json", "file for the results; empty writes none")
	flag.Parse()
	klog.SetOutput(os.Stderr)
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	if err := load(ctx, testserver.Options{Binary: *binary, Dir: *dir, Port: *port}, *numbers, *seconds, *clients, *out); err != nil {
		fmt.Fprintln(os.Stderr, "load:", err)
		os.Exit(1)
	}
}

func load(ctx context.Context, server testserver.Options, numbers string, duration time.Duration, clients int, out string) error {
	var counts []int
	for word := range strings.SplitSeq(numbers, ",") {
		n, err := strconv.Atoi(word)
		if err != nil || n < 0 || (len(counts) > 0 && n <= counts[len(counts)-1]) {
			return fmt.Errorf("--policies=%s is not a list of ascending numbers", numbers)
		}
		counts = append(counts, n)
	}
	var runs []run
	fmt.Printf("%-10s %9s %9s %12s %16s %9s %9s\n", "engine", "policies", "requests", "requests/s", "CPU ms/request", "p50 ms", "p99 ms")
	for _, engine := range []string{"upstream", "celgate", "verify"} {
		server.Engine = engine
		made, err := loadEngine(ctx, server, counts, duration, clients)
		if err != nil {
			return fmt.Errorf("%s: %w", engine, err)
		}
		runs = append(runs, made...)
	}
	if out == "" {
		return nil
	}
	content, err := json.MarshalIndent(runs, "", " ")
	if err != nil {
		return err
	}
	return os.WriteFile(out, append(content, '\n'), 0o644)
}
