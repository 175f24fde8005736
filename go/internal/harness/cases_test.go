package harness

import (
	"context"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// Every case has the same outcome in both engines.
func TestCases(t *testing.T) {
	for name, c := range cases(t) {
		if slices.ContainsFunc(c.Requests, func(r CaseRequest) bool { return len(r.Changes) > 0 }) {
			continue // TestScripts has it
		}
		t.Run(name, func(t *testing.T) {
			t.Parallel()
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
			for _, r := range c.Requests {
				t.Run(r.Name, func(t *testing.T) { runCase(ctx, t, pair, c, &r) })
			}
		})
	}
}

func runCase(ctx context.Context, t *testing.T, pair *Pair, c *Case, r *CaseRequest) {
	request, err := r.Request()
	if err != nil {
		t.Fatal(err)
	}
	do := pair.Do
	if c.Unordered {
		do = pair.DoOrdered
	}
	outcome, difference := do(ctx, request)
	if difference != "" {
		t.Error(difference)
	}
	if testing.Verbose() {
		t.Log(outcome)
	}
}

func cases(t *testing.T) map[string]*Case {
	cases := map[string]*Case{}
	for _, ending := range []string{".yaml", ".json"} {
		files, err := filepath.Glob(filepath.Join("testdata", "*"+ending))
		if err != nil {
			t.Fatal(err)
		}
		for _, path := range files {
			if cases[strings.TrimSuffix(filepath.Base(path), ending)], err = Load(path); err != nil {
				t.Fatal(err)
			}
		}
	}
	if len(cases) == 0 {
		t.Fatal("no cases")
	}
	return cases
}

// The same without informers and timers, and with metrics.
func TestScripts(t *testing.T) {
	for name, c := range cases(t) {
		t.Run(name, func(t *testing.T) {
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
