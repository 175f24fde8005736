// Command bench-server measures a whole kube-apiserver with each engine and a growing number of policies: CPU time per request, requests per second
// and latency. Every request is a dry-run creation of a Pod. The servers take turns, a round each, and only the one whose turn it is runs. It prints
// a line per server and writes server.json, server.md and server.svg.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/celgate/celgate/go/internal/measurement"
	"github.com/celgate/celgate/go/internal/testserver"
	"k8s.io/klog/v2"
)

type options struct {
	binary, dir string
	port        int
	engines     []string
	policies    []int
	rounds      int
	roundTime   time.Duration
	clients     int
	out         string
}

func main() {
	var o options
	flag.StringVar(&o.binary, "server", "bin/kube-apiserver", "the server to start")
	flag.StringVar(&o.dir, "dir", "build/bench-server", "where the servers keep their data and logs; emptied first")
	flag.IntVar(&o.port, "secure-port", 16444, "the port that the first server listens on; the others take those after it")
	engines := flag.String("engines", "upstream,celgate", "the engines: upstream, celgate, verify")
	policies := flag.String("policies", "0,10,100,300,1000", "numbers of policies, ascending")
	flag.IntVar(&o.rounds, "rounds", 10, "rounds of each server")
	flag.DurationVar(&o.roundTime, "round-time", 3*time.Second, "how long a round lasts")
	flag.IntVar(&o.clients, "clients", 4, "concurrent clients")
	flag.StringVar(&o.out, "out", "benchmarks/results", "directory for the results; empty writes none")
	redraw := flag.Bool("redraw", false, "measure nothing: make the table and the plot again from server.json")
	flag.Parse()
	klog.SetOutput(os.Stderr)
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	o.engines = strings.Split(*engines, ",")
	counts, err := ascending(*policies)
	if o.policies = counts; err == nil {
		if *redraw {
			err = redrawn(o.out)
		} else {
			err = run(ctx, &o)
		}
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "bench-server:", err)
		os.Exit(1)
	}
}

func ascending(words string) (numbers []int, err error) {
	for word := range strings.SplitSeq(words, ",") {
		n, err := strconv.Atoi(word)
		if err != nil || n < 0 || (len(numbers) > 0 && n <= numbers[len(numbers)-1]) {
			return nil, fmt.Errorf("--policies=%s is not a list of ascending numbers", words)
		}
		numbers = append(numbers, n)
	}
	return numbers, nil
}

func run(ctx context.Context, o *options) error {
	if o.rounds < 1 || o.clients < 1 {
		return fmt.Errorf("--rounds and --clients must be at least 1")
	}
	var contenders []*contender
	defer func() {
		for _, c := range contenders {
			c.stop()
		}
	}()
	for _, engine := range o.engines {
		for _, n := range o.policies {
			fmt.Printf("starting a server with engine %s and %d policies\n", engine, n)
			c, err := startContender(ctx, testserver.Options{
				Binary: o.binary, Engine: engine, Dir: filepath.Join(o.dir, fmt.Sprintf("%s-%d", engine, n)), Port: strconv.Itoa(o.port + len(contenders)),
			}, n, o.clients)
			if err != nil {
				return fmt.Errorf("%s, %d policies: %w", engine, n, err)
			}
			contenders = append(contenders, c)
		}
	}
	for i := range o.rounds {
		fmt.Printf("round %d of %d\n", i+1, o.rounds)
		for _, c := range contenders {
			if err := c.round(ctx, o.roundTime); err != nil {
				return fmt.Errorf("%s, %d policies: %w", c.engine, c.policies, err)
			}
		}
	}
	r := &report{Origin: measurement.NewOrigin(), Clients: o.clients, Results: results(contenders)}
	fmt.Print(r.table())
	if o.out == "" {
		return nil
	}
	return r.write(o.out)
}
