package harness

import (
	"context"
	"path/filepath"
	"strings"
	"testing"
)

// Every case has the same outcome in both engines.
func TestCases(t *testing.T) {
	files, err := filepath.Glob(filepath.Join("testdata", "*.yaml"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no cases: %v", err)
	}
	for _, path := range files {
		t.Run(strings.TrimSuffix(filepath.Base(path), ".yaml"), func(t *testing.T) {
			t.Parallel()
			c, err := Load(path)
			if err != nil {
				t.Fatal(err)
			}
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
