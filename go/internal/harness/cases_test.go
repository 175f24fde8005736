package harness

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// Every case has the expected outcome in both engines, unless it says how upstream's differs.
func TestCases(t *testing.T) {
	for path, c := range cases(t) {
		if slices.ContainsFunc(c.Requests, func(r CaseRequest) bool { return len(r.Changes) > 0 }) {
			continue // TestScripts has it
		}
		t.Run(name(path), func(t *testing.T) {
			t.Parallel()
			runCases(t, path, c)
		})
	}
}

// name is what a case shows.
func name(path string) string { return strings.TrimSuffix(filepath.Base(path), filepath.Ext(path)) }

// cases are the case files by path. Those written by hand, which are YAML, begin with what they show.
func cases(t *testing.T) map[string]*Case {
	cases := map[string]*Case{}
	for _, ending := range []string{".yaml", ".json"} {
		files, err := filepath.Glob(filepath.Join("testdata", "*"+ending))
		if err != nil {
			t.Fatal(err)
		}
		for _, path := range files {
			if line, err := firstLine(path); err != nil || ending == ".yaml" && !strings.HasPrefix(line, "# ") {
				t.Errorf("%s: the first line does not say what is shown: %s, %v", path, line, err)
			}
			if cases[path], err = Load(path); err != nil {
				t.Fatal(err)
			}
		}
	}
	if len(cases) == 0 {
		t.Fatal("no cases")
	}
	return cases
}

func firstLine(path string) (string, error) {
	data, err := os.ReadFile(path)
	line, _, _ := strings.Cut(string(data), "\n")
	return line, err
}

func runCases(t *testing.T, path string, c *Case) {
	world, err := c.World()
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	pair, err := StartPair(ctx, world)
	if err != nil {
		t.Fatal(err)
	}
	answers := map[int]Expect{}
	for i := range c.Requests {
		r := &c.Requests[i]
		t.Run(r.Name, func(t *testing.T) {
			request, err := r.Request()
			if err != nil {
				t.Fatal(err)
			}
			if r.Differs != nil {
				runDifferent(ctx, t, pair, c, path, i)
				return
			}
			upstreams := upstreamOutcome(ctx, pair, c, request)
			got, difference := compare(upstreams, pair.Celgate.Do(ctx, request))
			if difference != "" {
				t.Error(difference)
			}
			checkExpected(t, path, r, i, upstreams, got, answers)
		})
	}
	if len(answers) > 0 {
		if err := writeAnswers(path, answers); err != nil {
			t.Fatal(err)
		}
	}
}

// checkExpected compares what both engines said with what is expected; if that is nothing, upstream's answer is to be recorded. Cases that a
// program has saved, which are JSON, may expect nothing but that both agree.
func checkExpected(t *testing.T, path string, r *CaseRequest, index int, upstreams, got Outcome, answers map[int]Expect) {
	switch {
	case r.Expect != nil:
		if wrong := r.Expect.Compare(got); wrong != "" {
			t.Error(wrong)
		}
	case *record:
		answer, err := upstreams.Readable()
		if err != nil {
			t.Fatal(err)
		}
		answers[index] = answer
	case filepath.Ext(path) == ".yaml":
		t.Errorf("%s: nothing is expected; run with -record and review what it writes", r.Name)
	}
}

func upstreamOutcome(ctx context.Context, pair *Pair, c *Case, request *Request) Outcome {
	if c.Unordered {
		return Observe(ctx, pair.Oracle, request, pair.Celgate.Objects)
	}
	return pair.Upstream.Do(ctx, request)
}

// runDifferent runs a request that upstream does not answer as it should.
func runDifferent(ctx context.Context, t *testing.T, pair *Pair, c *Case, path string, index int) {
	r := &c.Requests[index]
	documented, err := os.ReadFile(filepath.Join("..", "..", "..", "docs", "differences.md"))
	if err != nil {
		t.Fatal(err)
	}
	if r.Differs.Because == "" || !strings.Contains(string(documented), "\n| "+r.Differs.Because) {
		t.Errorf("docs/differences.md has no line that begins with %q", r.Differs.Because)
	}
	request, err := r.Request()
	if err != nil {
		t.Fatal(err)
	}
	got := pair.Celgate.Do(ctx, request)
	if r.Expect == nil {
		t.Fatalf("nothing is expected; celgate says %s", got)
	}
	if wrong := r.Expect.Compare(got); wrong != "" {
		t.Error(wrong)
	}
	switch {
	case r.Differs.Says != nil:
		upstreams := upstreamOutcome(ctx, pair, c, request)
		if wrong := r.Differs.Says.Compare(upstreams); wrong != "" {
			t.Errorf("upstream: %s", wrong)
		}
		if upstreams.String() == got.String() {
			t.Error("upstream says the same")
		}
	case r.Differs.Does == "varies":
	default:
		if did := upstreamAlone(t, path, index, r.Differs.Does); did != r.Differs.Does {
			t.Errorf("upstream %s, and not %q", did, r.Differs.Does)
		}
	}
}

// The same without informers and timers, and with metrics.
func TestScripts(t *testing.T) {
	for path, c := range cases(t) {
		if slices.ContainsFunc(c.Requests, func(r CaseRequest) bool { return r.Differs != nil }) {
			continue
		}
		t.Run(name(path), func(t *testing.T) {
			script, err := c.Script()
			if err != nil {
				t.Fatal(err)
			}
			want, err := PlayUpstream(context.Background(), script, "")
			if err != nil {
				t.Fatal(err)
			}
			got, err := PlayCelgate(context.Background(), script, "")
			if err != nil {
				t.Fatal(err)
			}
			if difference := Compare(want, got); difference != nil {
				t.Errorf("request %d: %s: %s", difference.Step, difference.What, difference.Text)
			}
			answers := map[int]Expect{}
			for i := range c.Requests {
				checkExpected(t, path, &c.Requests[i], i, want.Outcomes[i], got.Outcomes[i], answers)
			}
			if len(answers) > 0 {
				if err := writeAnswers(path, answers); err != nil {
					t.Fatal(err)
				}
			}
			if len(c.Allowed) > 0 {
				return // the answers of such an authorizer cannot be saved
			}
			if again, err := FromScript(script); err != nil {
				t.Error(err)
			} else if copied, err := again.Script(); err != nil {
				t.Error(err)
			} else if got, err := PlayUpstream(context.Background(), copied, ""); err != nil || Compare(want, got) != nil {
				t.Errorf("the case is another when saved: %v, %+v", err, Compare(want, got))
			}
		})
	}
}
