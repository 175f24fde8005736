// Command demo runs the scenarios of examples/ against a real kube-apiserver and compares every answer with what upstream's engine gave.
//
// It starts bin/kube-apiserver with an etcd inside, and a server for webhooks; applies the policies and webhooks of all scenarios, sends
// their requests (as dry runs) and prints a table as it goes: what was expected and what the server said. Statuses, messages, warnings and
// audit annotations are compared in full. It ends with the number of requests and the time that they spent in admission, and exits 1 on any surprise.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/celgate/celgate/go/internal/examples"
	"github.com/celgate/celgate/go/internal/testserver"
	"k8s.io/klog/v2"
)

type options struct {
	server, examples, engine, dir, port string
	record, withoutPolicies             bool
}

func main() {
	var o options
	flag.StringVar(&o.server, "server", "bin/kube-apiserver", "the server to start")
	flag.StringVar(&o.examples, "examples", "examples", "the directory of scenarios")
	flag.StringVar(&o.engine, "admission-engine", "celgate", "the server's engine: celgate, upstream, or verify (upstream's, with celgate's answers compared)")
	flag.StringVar(&o.dir, "dir", "build/demo", "where the server keeps its data and logs; emptied first")
	flag.StringVar(&o.port, "secure-port", "16443", "the port that the server listens on")
	flag.BoolVar(&o.record, "record", false, "write the answers to expected.json instead of comparing; only with --admission-engine=upstream")
	flag.BoolVar(&o.withoutPolicies, "without-policies", false, "leave out policies, bindings and webhooks: every request that expects one must then surprise")
	flag.Parse()
	if flag.NArg() > 0 || (o.record && o.engine != "upstream") {
		flag.Usage()
		os.Exit(2)
	}
	klog.SetOutput(os.Stderr)
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	surprises, err := run(ctx, &o)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "demo:", err)
		os.Exit(1)
	}
	if surprises > 0 {
		os.Exit(1)
	}
}

// run is the demo; it returns the number of surprises.
func run(ctx context.Context, o *options) (int, error) {
	scenarios, err := examples.Load(o.examples)
	if err != nil {
		return 0, err
	}
	webhooks, err := startWebhooks()
	if err != nil {
		return 0, err
	}
	defer webhooks.Close()
	fmt.Printf("starting %s with --admission-engine=%s\n", o.server, o.engine)
	server, err := testserver.Start(ctx, testserver.Options{Binary: o.server, Engine: o.engine, Dir: o.dir, Port: o.port, Audit: true})
	if err != nil {
		return 0, err
	}
	defer server.Stop()
	client, err := newClient(server)
	if err != nil {
		return 0, err
	}
	d := &demo{options: o, client: client, webhooks: webhooks}
	if err := d.apply(ctx, scenarios); err != nil {
		return 0, err
	}
	before, err := client.metrics(ctx)
	if err != nil {
		return 0, err
	}
	for _, s := range scenarios {
		if err := d.play(ctx, s); err != nil {
			return 0, fmt.Errorf("%s: %w", s.Name, err)
		}
	}
	after, err := client.metrics(ctx)
	// Answers are compared after the client has its own.
	for tries := 0; o.engine == "verify" && err == nil && int(after.compared-before.compared) < d.sent && tries < 50; tries++ {
		time.Sleep(100 * time.Millisecond)
		after, err = client.metrics(ctx)
	}
	if err != nil {
		return 0, err
	}
	return d.finish(before, after), nil
}
