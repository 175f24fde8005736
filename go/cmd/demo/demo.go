package main

import (
	"context"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/celgate/celgate/go/internal/examples"
)

// demo is one run: what was sent, and what surprised.
type demo struct {
	options *options
	client  *client
	// webhooks are what the scenarios' webhooks call.
	webhooks  *webhookServer
	sent      int
	exempt    int
	webhooked int
	surprises int
}

func isPolicy(object *unstructured.Unstructured) bool {
	return object.GroupVersionKind().Group == "admissionregistration.k8s.io"
}

// apply makes the objects of all scenarios, policies, bindings and webhooks last, and waits until these are in force.
func (d *demo) apply(ctx context.Context, scenarios []*examples.Scenario) error {
	for _, policies := range []bool{false, true} {
		if policies && d.options.withoutPolicies {
			break
		}
		for _, s := range scenarios {
			for _, object := range s.Setup {
				if isPolicy(object) != policies {
					continue
				}
				err := d.webhooks.adopt(object)
				if err == nil {
					err = d.client.apply(ctx, object)
				}
				if err != nil {
					return fmt.Errorf("%s: %w", s.Name, err)
				}
			}
		}
	}
	if d.options.withoutPolicies {
		return nil
	}
	for _, s := range scenarios {
		if err := d.settle(ctx, s); err != nil {
			return err
		}
	}
	return nil
}

// settle sends the scenario's requests that a policy or webhook acts on until it does; the server takes up new policies once a second.
func (d *demo) settle(ctx context.Context, s *examples.Scenario) error {
	deadline := time.Now().Add(20 * time.Second)
	for i := range s.Requests {
		request := &s.Requests[i]
		if request.Expect == examples.Allowed {
			continue
		}
		for {
			got, err := d.ask(ctx, request)
			if err != nil {
				return fmt.Errorf("%s: %w", s.Name, err)
			}
			if got.Verdict() == request.Expect {
				break
			}
			if time.Now().After(deadline) {
				// The table will show the surprise.
				fmt.Printf("%s: the policies are not in force: %q is %s\n", s.Name, request.Name, got.Verdict())
				return nil
			}
			time.Sleep(100 * time.Millisecond)
		}
	}
	return nil
}

// ask sends a request and gathers all of its answer.
func (d *demo) ask(ctx context.Context, request *examples.Request) (examples.Answer, error) {
	res, err := d.client.send(ctx, request.As, request.Operation, &unstructured.Unstructured{Object: request.Object}, true)
	if err != nil {
		return examples.Answer{}, fmt.Errorf("%q: %w", request.Name, err)
	}
	got := examples.AnswerOf(request.Name, res.code, res.body, res.warnings)
	got.Annotations, err = annotations(ctx, d.client.server.AuditLog(), res.auditID)
	return got, err
}

// play sends a scenario's requests and prints its part of the table.
func (d *demo) play(ctx context.Context, s *examples.Scenario) error {
	fmt.Printf("\n%s: %s\n", s.Name, s.Title)
	var answers []examples.Answer
	for i := range s.Requests {
		request := &s.Requests[i]
		got, err := d.ask(ctx, request)
		if err != nil {
			return err
		}
		d.sent++
		if request.Exempt {
			d.exempt++
		}
		if s.HasWebhooks() {
			d.webhooked++
		}
		answers = append(answers, got)
		d.print(s, i, &got)
	}
	if d.options.record {
		return s.Record(answers)
	}
	return nil
}

func (d *demo) print(s *examples.Scenario, i int, got *examples.Answer) {
	request := &s.Requests[i]
	mark, surprise := "ok", ""
	if got.Verdict() != request.Expect {
		mark = "SURPRISE"
	} else if !d.options.record {
		switch {
		case s.Expected == nil:
			mark, surprise = "SURPRISE", "no expected.json: record it with --admission-engine=upstream --record"
		case !reflect.DeepEqual(s.Expected[i], *got):
			mark, surprise = "SURPRISE", fmt.Sprintf("upstream's engine: %+v", s.Expected[i])
		}
	}
	if mark != "ok" {
		d.surprises++
	}
	fmt.Printf("  %-8s %-58s expected %-8s got %-8s\n", mark, request.Name, request.Expect, got.Verdict())
	for _, line := range lines(got) {
		fmt.Printf("           %s\n", line)
	}
	if surprise != "" {
		fmt.Printf("           ! %s\n             celgate: %+v\n", surprise, *got)
	}
}

// lines are what the server said, for a reader.
func lines(a *examples.Answer) []string {
	var said []string
	if a.Code >= 400 {
		said = append(said, fmt.Sprintf("%d %s: %s", a.Code, a.Reason, a.Message))
	}
	for _, warning := range a.Warnings {
		said = append(said, "warning: "+warning)
	}
	for _, key := range slices.Sorted(maps.Keys(a.Annotations)) {
		said = append(said, "audit: "+key+" = "+strings.ReplaceAll(a.Annotations[key], "\n", " "))
	}
	return said
}

// finish prints the sums and checks that the core decided what was sent.
func (d *demo) finish(before, after metrics) int {
	evaluated := int(after.evaluated - before.evaluated)
	fmt.Printf("\n%d requests, %.2f ms in admission policy (%.0f µs each)", d.sent, (after.admissionSeconds-before.admissionSeconds)*1e3,
		(after.admissionSeconds-before.admissionSeconds)*1e6/float64(max(d.sent, 1)))
	if d.options.engine == "celgate" && !d.options.withoutPolicies {
		// Requests of other scenarios are of kinds that the webhooks' rules name, too.
		matched := int(after.matched - before.matched)
		fmt.Printf(", %d decided by the Rust core, %d exempt; it matched webhooks for %d", evaluated, d.exempt, matched)
		if evaluated != d.sent-d.exempt {
			fmt.Printf("\nSURPRISE: the Rust core should have decided %d requests", d.sent-d.exempt)
			d.surprises++
		}
		if matched < d.webhooked {
			fmt.Printf("\nSURPRISE: the Rust core should have matched webhooks for %d requests at least", d.webhooked)
			d.surprises++
		}
	}
	if d.options.engine == "verify" {
		compared, same := int(after.compared-before.compared), int(after.same-before.same)
		fmt.Printf(", %d of celgate's answers compared, %d the same", compared, same)
		// The server's own requests are compared, too.
		if same != compared || compared < d.sent {
			fmt.Printf("\nSURPRISE: all should be the same, and be at least %d", d.sent)
			d.surprises++
		}
	}
	fmt.Println()
	if d.surprises == 0 {
		fmt.Println("every line as expected")
	} else {
		fmt.Printf("%d surprises\n", d.surprises)
	}
	return d.surprises
}
