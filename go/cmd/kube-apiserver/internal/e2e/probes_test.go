package e2e

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	utilnet "k8s.io/apimachinery/pkg/util/net"

	"github.com/celgate/celgate/go/internal/examples"
)

// probe is a dry-run request.
type probe struct {
	name, operation, as string
	object              *unstructured.Unstructured
}

// answer is what a client sees of an admission decision.
type answer examples.Answer

func (a answer) String() string {
	a.Request, a.Annotations = "", nil // the audit log is not looked at
	text, err := json.Marshal(a)
	if err != nil {
		return err.Error()
	}
	return string(text)
}

// sort is what kind of answer it is: failed ones are not about the request.
func (a *answer) sort() string {
	switch {
	case strings.Contains(a.Message, "ValidatingAdmissionPolicy '"):
		return "denied"
	case a.Code == 0 || a.Code == http.StatusTooManyRequests || a.Code >= 500:
		return "failed"
	case a.Code >= 400:
		return "refused"
	case len(a.Warnings) > 0:
		return "warned"
	default:
		return "allowed"
	}
}

// undecided says that the server could not decide yet: it is away, or has not yet read what it needs to.
func (a *answer) undecided() bool {
	for _, text := range []string{
		"not yet ready to handle request", "could not find the requested resource", "failed to find resource referenced by paramKind", "failed to configure", "not yet synced",
		`cannot create resource`, `cannot update resource`, // RBAC's rules are read after a start, too
	} {
		if strings.Contains(a.Message, text) {
			return true
		}
	}
	return a.sort() == "failed" || a.Code == http.StatusUnauthorized
}

// loadExamples reads the examples but those with webhooks, which only the demo serves.
func loadExamples(t *testing.T) []*examples.Scenario {
	t.Helper()
	scenarios, err := examples.Load("../../../../../examples")
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range scenarios {
		if len(s.Expected) == 0 {
			t.Fatalf("%s: no answers are recorded", s.Name)
		}
	}
	return slices.DeleteFunc(scenarios, (*examples.Scenario).HasWebhooks)
}

// probesOf are an example's own requests.
func probesOf(s *examples.Scenario) (probes []*probe) {
	for i := range s.Requests {
		r := &s.Requests[i]
		probes = append(probes, &probe{name: r.Name, operation: r.Operation, as: r.As, object: &unstructured.Unstructured{Object: r.Object}})
	}
	return probes
}

// variations make other requests of the examples', for the same policies: requests that policies of several examples deny would be answered by any of
// them, as upstream takes their order from Go maps.
var variations = []func(object *unstructured.Unstructured){
	func(object *unstructured.Unstructured) { object.SetName(object.GetName() + "-too") },
	func(object *unstructured.Unstructured) {
		labels := object.GetLabels()
		if labels == nil {
			labels = map[string]string{}
		}
		labels["probe"] = "labelled"
		object.SetLabels(labels)
	},
	func(object *unstructured.Unstructured) {
		object.SetAnnotations(map[string]string{"probe": "annotated"})
		if _, found, err := unstructured.NestedFieldNoCopy(object.Object, "spec", "replicas"); err == nil && found {
			_ = unstructured.SetNestedField(object.Object, int64(7), "spec", "replicas") // there is a spec
		}
	},
	func(object *unstructured.Unstructured) {
		object.SetName("a-" + object.GetName())
		object.SetFinalizers([]string{"example.com/probe"})
	},
}

// makeProbes makes the probes: the examples' requests and variations of those that create something.
func makeProbes(scenarios []*examples.Scenario) (probes []*probe) {
	var created []*probe
	for _, s := range scenarios {
		for _, p := range probesOf(s) {
			p.name = s.Name + ": " + p.name
			probes = append(probes, p)
			if p.object.GetName() != "" && p.operation == "" {
				created = append(created, p)
			}
		}
	}
	for number, vary := range variations {
		for _, original := range created {
			if len(probes) == probeCount {
				return probes
			}
			varied := *original
			varied.object = original.object.DeepCopy()
			vary(varied.object)
			varied.name += fmt.Sprintf(" (variation %d)", number)
			probes = append(probes, &varied)
		}
	}
	return probes
}

// applyAll makes all objects of the examples, policies and bindings last.
func (c *cluster) applyAll(ctx context.Context, t *testing.T, scenarios []*examples.Scenario) {
	t.Helper()
	for _, policies := range []bool{false, true} {
		for _, s := range scenarios {
			for _, object := range s.Setup {
				if policies == (object.GroupVersionKind().Group == "admissionregistration.k8s.io") {
					c.apply(ctx, t, object)
				}
			}
		}
	}
}

func (c *cluster) apply(ctx context.Context, t *testing.T, object *unstructured.Unstructured) {
	t.Helper()
	body, err := object.MarshalJSON()
	if err != nil {
		t.Fatal(err)
	}
	for deadline := time.Now().Add(effectTimeout); ; {
		got := c.do(ctx, "admin", http.MethodPost, pathOf(object), string(body))
		if got.Code/100 == 2 || got.Code == http.StatusConflict {
			return
		}
		// A kind that was just defined is not served at once.
		if got.Code != http.StatusNotFound || time.Now().After(deadline) {
			t.Fatalf("cannot create %s %s: %s", object.GetKind(), object.GetName(), got)
		}
		time.Sleep(100 * time.Millisecond)
	}
}

// waitForExpected waits until the examples' requests are answered as recorded.
func (c *cluster) waitForExpected(ctx context.Context, t *testing.T, scenarios []*examples.Scenario) {
	t.Helper()
	for _, s := range scenarios {
		var expected []answer
		for _, recorded := range s.Expected {
			expected = append(expected, answer(recorded))
		}
		for deadline := time.Now().Add(effectTimeout); ; {
			got := c.sendAll(ctx, probesOf(s))
			if slices.EqualFunc(got, expected, func(a, b answer) bool { return a.String() == b.String() }) {
				break
			}
			if time.Now().After(deadline) {
				compareAnswers(t, s.Name, expected, got)
				t.FailNow()
			}
			time.Sleep(100 * time.Millisecond)
		}
	}
}

// together is how many probes are sent at the same time.
const together = 40

// sendAll sends all probes.
func (c *cluster) sendAll(ctx context.Context, probes []*probe) []answer {
	answers := make([]answer, len(probes))
	var sending sync.WaitGroup
	for first := range together {
		sending.Go(func() {
			for i := first; i < len(probes); i += together {
				answers[i] = c.send(ctx, probes[i])
			}
		})
	}
	sending.Wait()
	return answers
}

// sendAgain sends again what got no answer at all: a server that gives a request up may drop its connection instead of saying so.
func (c *cluster) sendAgain(ctx context.Context, probes []*probe, answers []answer) {
	for i := range answers {
		for tries := 0; answers[i].Code == 0 && tries < 5; tries++ {
			answers[i] = c.send(ctx, probes[i])
		}
	}
}

// send sends a probe.
func (c *cluster) send(ctx context.Context, p *probe) answer {
	body, err := p.object.MarshalJSON()
	if err != nil {
		return answer{Request: p.name, Message: err.Error()}
	}
	method, path := http.MethodPost, pathOf(p.object)
	if p.operation == "update" {
		method, path = http.MethodPut, path+"/"+p.object.GetName()
	}
	user := p.as
	if user == "" {
		user = "admin"
	}
	got := c.do(ctx, user, method, path+"?dryRun=All&timeout="+requestTimeout.String(), string(body))
	got.Request = p.name
	return got
}

// requestTimeout is how long the server may work on a probe; it says so itself when it does not answer in time.
const requestTimeout = 3 * time.Second

// do sends a request; an answer without a code is one that did not come.
func (c *cluster) do(ctx context.Context, user, method, path, body string) answer {
	ctx, cancel := context.WithTimeout(ctx, 3*requestTimeout)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, method, c.url+path, strings.NewReader(body))
	if err != nil {
		return answer{Message: err.Error()}
	}
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("Accept", "application/json")
	request.Header.Set("Authorization", "Bearer "+c.tokens[user])
	response, err := c.http.Do(request)
	if err != nil {
		return answer{Message: err.Error()}
	}
	defer response.Body.Close()
	content, err := io.ReadAll(response.Body)
	if err != nil {
		return answer{Message: err.Error()}
	}
	var texts []string
	warnings, _ := utilnet.ParseWarningHeaders(response.Header["Warning"]) // unreadable ones differ from readable ones
	for _, warning := range warnings {
		texts = append(texts, warning.Text)
	}
	a := answer(examples.AnswerOf("", response.StatusCode, content, texts))
	// The server's address is another one in each run.
	placeless := func(text string) string { return strings.ReplaceAll(text, c.url, "https://server") }
	a.Message = placeless(a.Message)
	for i := range a.Causes {
		a.Causes[i] = placeless(a.Causes[i])
	}
	return a
}

// pathOf is the path of an object's collection. All kinds here have the plural that is guessed.
func pathOf(object *unstructured.Unstructured) string {
	kind := object.GroupVersionKind()
	resource, _ := meta.UnsafeGuessKindToResource(kind)
	path := "/apis/" + kind.Group + "/" + kind.Version
	if kind.Group == "" {
		path = "/api/" + kind.Version
	}
	if namespace := object.GetNamespace(); namespace != "" {
		path += "/namespaces/" + namespace
	}
	return fmt.Sprintf("%s/%s", path, resource.Resource)
}
