package soak

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"time"
)

// Report is what a run found.
type Report struct {
	lock  sync.Mutex
	start time.Time
	// took is the whole run.
	took   time.Duration
	counts counts
	// parts of changes were made; telling ones changed an answer of upstream's.
	parts, telling  int
	episodes        int
	asked           int
	quiet, changing latencies
	samples         []sample
	// handles and goroutines are left after the end.
	handles    int64
	goroutines int
	violations []string
}

// shownViolations is how many wrong answers are printed.
const shownViolations = 5

// take takes over what a worker has counted.
func (r *Report) take(w *worker) {
	r.lock.Lock()
	defer r.lock.Unlock()
	r.counts.requests += w.counts.requests
	r.counts.refused += w.counts.refused
	r.counts.duringBefore += w.counts.duringBefore
	r.counts.duringAfter += w.counts.duringAfter
	r.quiet.merge(&w.quiet)
	r.changing.merge(&w.changing)
	r.violations = append(r.violations, w.violations...)
	w.counts, w.quiet, w.changing, w.violations = counts{}, latencies{}, latencies{}, nil
}

// part notes a part of a change.
func (r *Report) part(e *episode, from, to int) {
	r.lock.Lock()
	defer r.lock.Unlock()
	r.parts++
	for k := range e.requests {
		if !e.answers[from][k].Equal(&e.answers[to][k]) {
			r.telling++
			return
		}
	}
}

// played notes the end of an episode.
func (r *Report) played(e *episode) {
	r.lock.Lock()
	defer r.lock.Unlock()
	r.episodes++
	r.asked += len(e.answers) * len(e.requests)
}

func (r *Report) add(s sample) {
	r.lock.Lock()
	defer r.lock.Unlock()
	r.samples = append(r.samples, s)
}

// answered is how many requests were answered so far.
func (r *Report) answered() int {
	r.lock.Lock()
	defer r.lock.Unlock()
	return r.counts.requests + r.asked
}

// wrong says whether an answer was wrong so far.
func (r *Report) wrong() bool {
	r.lock.Lock()
	defer r.lock.Unlock()
	return len(r.violations) > 0
}

func (r *Report) summary() string {
	r.lock.Lock()
	defer r.lock.Unlock()
	var text strings.Builder
	elapsed := time.Since(r.start)
	if r.took > 0 {
		elapsed = r.took
	}
	fmt.Fprintf(&text, "%s: %d requests checked, %d refused, %d while their answer changed (%d as before, %d as after); %d changes, %d of them changed answers; upstream asked %d times",
		elapsed.Round(time.Second), r.counts.requests, r.counts.refused, r.counts.duringBefore+r.counts.duringAfter, r.counts.duringBefore, r.counts.duringAfter, r.parts, r.telling, r.asked)
	if n := len(r.samples); n > 0 {
		s := &r.samples[n-1]
		fmt.Fprintf(&text, "; heap %.1f MiB, outside %.1f MiB, resident %.1f MiB, %d handles", s.heap/(1<<20), s.native/(1<<20), s.resident/(1<<20), s.handles)
	}
	fmt.Fprintf(&text, "; %d wrong", len(r.violations))
	return text.String()
}

// judged are the samples of the last two thirds.
func (r *Report) judged() []sample {
	for i := range r.samples {
		if r.samples[i].at >= r.took/3 {
			return r.samples[i:]
		}
	}
	return nil
}

// measure is a use of memory.
type measure struct {
	name string
	of   func(*sample) float64
	// always says that instruments of the build do not add to it.
	always bool
}

var measures = []measure{
	{"Go's heap", func(s *sample) float64 { return s.heap }, true},
	{"memory outside Go's heap", func(s *sample) float64 { return s.native }, false},
	{"resident memory", func(s *sample) float64 { return s.resident }, false},
}

// Print writes the report.
func (r *Report) Print(out io.Writer) {
	for i, violation := range r.violations {
		if i == shownViolations {
			fmt.Fprintf(out, "and %d more\n", len(r.violations)-i)
			break
		}
		fmt.Fprintf(out, "wrong: %s\n", violation)
	}
	fmt.Fprintln(out, r.summary())
	judged := r.judged()
	if len(judged) > 0 {
		fmt.Fprintf(out, "memory, slopes of %d samples in %s:", len(judged), (judged[len(judged)-1].at - judged[0].at).Round(time.Second))
		for _, m := range measures {
			growth, _ := grows(judged, m.of)
			fmt.Fprintf(out, " %s %+.3f MiB per 10 minutes (floor ", m.name, growth/(1<<20))
			var lows []string
			for _, low := range floor(judged, m.of) {
				lows = append(lows, fmt.Sprintf("%.1f", m.of(&low)/(1<<20)))
			}
			fmt.Fprintf(out, "%s);", strings.Join(lows, ", "))
		}
		fmt.Fprintf(out, " handles %d to %d, left %d; goroutines left %d\n", judged[0].handles, judged[len(judged)-1].handles, r.handles, r.goroutines)
	}
	for _, q := range []float64{0.5, 0.99, 0.999} {
		fmt.Fprintf(out, "p%g: %s without changes, %s with changes, ratio %.2f\n", q*100, r.quiet.quantile(q), r.changing.quantile(q), r.ratio(q))
	}
	fmt.Fprintf(out, "(%d requests without changes, %d with)\n", r.quiet.count, r.changing.count)
}

// ratio is a quantile with changes by that without.
func (r *Report) ratio(q float64) float64 {
	return float64(r.changing.quantile(q)) / float64(max(r.quiet.quantile(q), 1))
}

const (
	// mostSlower is how much longer p99.9 may be with changes.
	mostSlower = 2
	// fewestTimed is how many requests of each sort make a p99.9.
	fewestTimed = 50_000
	// fewestTelling is the share of changes that must change an answer, or the run shows too little.
	fewestTelling = 0.02
	// manyDuring is how many requests while their answer changed cannot all have been answered as before: the time between a change's effect and
	// the end of the refresh is short.
	manyDuring = 1000
)

// Err says all that is wrong, nil if nothing is.
func (r *Report) Err() error {
	var errs []error
	if n := len(r.violations); n > 0 {
		errs = append(errs, fmt.Errorf("%d wrong answers", n))
	}
	for _, m := range measures {
		if growth, tooMuch := grows(r.judged(), m.of); tooMuch && (plain || m.always) {
			errs = append(errs, fmt.Errorf("%s grows by %.2f MiB in 10 minutes", m.name, growth/(1<<20)))
		}
	}
	if r.handles > 0 {
		errs = append(errs, fmt.Errorf("%d handles of the core are not given back", r.handles))
	}
	if r.goroutines > 0 {
		errs = append(errs, fmt.Errorf("%d goroutines do not end", r.goroutines))
	}
	if plain && min(r.quiet.count, r.changing.count) >= fewestTimed && r.ratio(0.999) > mostSlower {
		errs = append(errs, fmt.Errorf("p99.9 with changes is %.2f times that without", r.ratio(0.999)))
	}
	if float64(r.telling) < fewestTelling*float64(r.parts) || r.telling == 0 {
		errs = append(errs, fmt.Errorf("only %d of %d changes changed an answer", r.telling, r.parts))
	}
	if r.counts.duringBefore == 0 || r.counts.duringAfter == 0 && r.counts.duringBefore >= manyDuring {
		errs = append(errs, fmt.Errorf("requests while their answer changed: %d were answered as before, %d as after; there must be both", r.counts.duringBefore, r.counts.duringAfter))
	}
	if refused := r.counts.refused; refused == 0 || refused == r.counts.requests {
		errs = append(errs, fmt.Errorf("%d of %d requests were refused", refused, r.counts.requests))
	}
	return errors.Join(errs...)
}
