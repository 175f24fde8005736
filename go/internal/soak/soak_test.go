package soak

import (
	"context"
	"errors"
	"io"
	"math"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"k8s.io/apiserver/pkg/admission"

	"github.com/celgate/celgate/go/internal/cabi"
	"github.com/celgate/celgate/go/internal/harness"
)

func TestMain(m *testing.M) {
	harness.Quiet()
	os.Exit(m.Run())
}

// short is a run of a few seconds.
func short(wrap func(harness.Engine) harness.Engine) Options {
	return Options{Duration: 2 * time.Second, Interval: 500 * time.Millisecond, End: time.Second, Seed: 1, Workers: 2, Pace: 5, Requests: 8, Changes: 20, Progress: io.Discard, wrap: wrap}
}

func TestSoak(t *testing.T) {
	options := short(nil)
	options.Duration, options.End = 5*time.Second, 20*time.Second
	if plain {
		options.Requests, options.Pace, options.Rounds = 16, 20, 5
	}
	report, err := Run(context.Background(), options)
	if err != nil {
		t.Fatal(err)
	}
	report.Print(t.Output())
	if err := report.Err(); err != nil {
		t.Error(err)
	}
}

// held is what a faulty plugin has done and holds on to.
type held struct {
	lock      sync.Mutex
	refreshes int
	requests  int
	kept      []any
}

// faulty is a plugin with a fault.
type faulty struct {
	harness.Engine
	*held
	validate func(*faulty, context.Context, admission.Attributes, admission.ObjectInterfaces) error
	refresh  func(*faulty, context.Context) error
}

func (f *faulty) Validate(ctx context.Context, a admission.Attributes, o admission.ObjectInterfaces) error {
	f.lock.Lock()
	f.requests++
	f.lock.Unlock()
	if f.validate == nil {
		return f.Engine.Validate(ctx, a, o)
	}
	return f.validate(f, ctx, a, o)
}

func (f *faulty) Refresh(ctx context.Context) error {
	f.lock.Lock()
	f.refreshes++
	f.lock.Unlock()
	if f.refresh == nil {
		return f.Engine.Refresh(ctx)
	}
	return f.refresh(f, ctx)
}

// What a run is there to find it finds.
func TestFaultsAreFound(t *testing.T) {
	for name, c := range map[string]struct {
		fault faulty
		want  string
	}{
		"a refresh in four is left out": {
			faulty{refresh: func(f *faulty, ctx context.Context) error {
				if f.refreshes%4 == 0 {
					return nil
				}
				return f.Engine.Refresh(ctx)
			}}, "wrong answers",
		},
		"a request in a thousand is let through": {
			faulty{validate: func(f *faulty, ctx context.Context, a admission.Attributes, o admission.ObjectInterfaces) error {
				if f.count()%1000 == 0 {
					return nil
				}
				return f.Engine.Validate(ctx, a, o)
			}}, "wrong answers",
		},
		"a refusal in a hundred is worded otherwise": {
			faulty{validate: func(f *faulty, ctx context.Context, a admission.Attributes, o admission.ObjectInterfaces) error {
				err := f.Engine.Validate(ctx, a, o)
				if err != nil && f.count()%100 == 0 {
					return errors.New("no")
				}
				return err
			}}, "wrong answers",
		},
		"policies are kept": {
			faulty{refresh: func(f *faulty, ctx context.Context) error {
				policy, err := cabi.NewPolicy([]byte(`{"metadata":{"name":"kept"},"spec":{}}`))
				if err != nil {
					return err
				}
				kept = append(kept, policy)
				return f.Engine.Refresh(ctx)
			}}, "handles of the core",
		},
		"requests are kept": {
			faulty{validate: func(f *faulty, ctx context.Context, a admission.Attributes, o admission.ObjectInterfaces) error {
				f.lock.Lock()
				f.kept = append(f.kept, make([]byte, 64<<10))
				f.lock.Unlock()
				return f.Engine.Validate(ctx, a, o)
			}}, "Go's heap grows",
		},
		"goroutines are left": {
			faulty{refresh: func(f *faulty, ctx context.Context) error {
				go func() { <-released }()
				return f.Engine.Refresh(ctx)
			}}, "goroutines do not end",
		},
	} {
		t.Run(name, func(t *testing.T) {
			released = make(chan struct{})
			defer func() { close(released); kept = nil }()
			options := short(func(e harness.Engine) harness.Engine {
				fault := c.fault
				fault.Engine, fault.held = e, &held{}
				return &fault
			})
			if c.want == "Go's heap grows" {
				options.Rounds = 5
			}
			report, err := Run(context.Background(), options)
			if err != nil {
				t.Fatal(err)
			}
			if err := report.Err(); err == nil || !strings.Contains(err.Error(), c.want) {
				report.Print(t.Output())
				t.Errorf("found: %v", err)
			}
		})
	}
}

// kept and released are what faults hold on to.
var (
	kept     []*cabi.Policy
	released chan struct{}
)

func (f *faulty) count() int {
	f.lock.Lock()
	defer f.lock.Unlock()
	return f.requests
}

// An answer must be that of one of the states that a request has met, and never of one that a worker has already seen the end of.
func TestCheck(t *testing.T) {
	outcomes := func(texts ...string) (all [][]harness.Outcome) {
		for _, text := range texts {
			all = append(all, []harness.Outcome{{Status: text}})
		}
		return all
	}
	for _, c := range []struct {
		answers  [][]harness.Outcome
		from, to int
		got      []string
		wrong    int
	}{
		{outcomes("a", "b", "c"), 0, 0, []string{"a"}, 0},
		{outcomes("a", "b", "c"), 0, 0, []string{"b"}, 1},
		{outcomes("a", "b", "c"), 0, 1, []string{"a", "a", "b", "b"}, 0},
		{outcomes("a", "b", "c"), 0, 1, []string{"a", "b", "a"}, 1},
		{outcomes("a", "b", "c"), 0, 1, []string{"c"}, 1},
		{outcomes("a", "a", "b"), 0, 2, []string{"a", "b", "a", "b"}, 1},
	} {
		w := &worker{episode: &episode{requests: []*harness.Request{{}}, answers: c.answers}}
		w.seen = make([]int, 1)
		for _, got := range c.got {
			w.check(0, c.from, c.to, &harness.Outcome{Status: got})
		}
		if len(w.violations) != c.wrong {
			t.Errorf("%v: %d wrong: %v", c, len(w.violations), w.violations)
		}
	}
}

// A quantile is right within a bucket.
func TestLatencies(t *testing.T) {
	var l latencies
	for n := 1; n <= 1_000_000; n += 7 {
		l.add(time.Duration(n))
	}
	for _, q := range []float64{0.001, 0.5, 0.99, 0.999, 1} {
		if got, want := float64(l.quantile(q)), q*1e6; math.Abs(got-want) > want*0.07 {
			t.Errorf("p%g is %g", q*100, got)
		}
	}
	if (&latencies{}).quantile(0.5) != 0 {
		t.Error("nothing has a median")
	}
}

// Slow changes are noticed: the slope is that of the line behind the noise.
func TestGrowth(t *testing.T) {
	samples := func(minutes int, perMinute, noise float64) (all []sample) {
		for i := range minutes * 3 {
			all = append(all, sample{at: time.Duration(i) * 20 * time.Second, heap: 50<<20 + float64(i)/3*perMinute + noise*float64(i*7919%13)/13})
		}
		return all
	}
	heap := func(s *sample) float64 { return s.heap }
	for _, c := range []struct {
		minutes          int
		perMinute, noise float64
		tooMuch          bool
	}{
		{20, 0, 1 << 20, false},
		{20, 90 << 10, 256 << 10, false},
		{20, 120 << 10, 256 << 10, true},
		{1, 2 << 20, 0, false},
		{1, 60 << 20, 0, true},
	} {
		if growth, tooMuch := grows(samples(c.minutes, c.perMinute, c.noise), heap); tooMuch != c.tooMuch {
			t.Errorf("%+v: %g per 10 minutes, too much: %v", c, growth, tooMuch)
		}
	}
}

// A run is not content with having shown nothing, nor with slow requests.
func TestErr(t *testing.T) {
	good := func() *Report {
		r := &Report{parts: 100, telling: 50, counts: counts{requests: 100, refused: 50, duringBefore: 3, duringAfter: 3}}
		for range fewestTimed {
			r.quiet.add(time.Millisecond)
			r.changing.add(time.Millisecond)
		}
		return r
	}
	if err := good().Err(); err != nil {
		t.Error(err)
	}
	for name, spoil := range map[string]func(*Report){
		"changes changed":     func(r *Report) { r.telling = 1 },
		"there must be both":  func(r *Report) { r.counts.duringBefore, r.counts.duringAfter = manyDuring, 0 },
		"requests were":       func(r *Report) { r.counts.refused = 0 },
		"100 requests were":   func(r *Report) { r.counts.refused = 100 },
		"wrong answers":       func(r *Report) { r.violations = []string{"x"} },
		"goroutines":          func(r *Report) { r.goroutines = 1 },
		"p99.9 with changes ": func(r *Report) { r.changing.merge(&slow) },
	} {
		if strings.HasPrefix(name, "p99.9") && !plain {
			continue
		}
		r := good()
		spoil(r)
		if err := r.Err(); err == nil || !strings.Contains(err.Error(), strings.TrimPrefix(name, "100 ")) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

var slow = func() (l latencies) {
	for range fewestTimed {
		l.add(3 * time.Millisecond)
	}
	return l
}()
