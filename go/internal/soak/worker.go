package soak

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync/atomic"
	"time"

	"k8s.io/apiserver/pkg/admission"

	"github.com/celgate/celgate/go/internal/harness"
)

// worker sends requests, one after the other.
type worker struct {
	player *player
	random *rand.Rand
	// since is the state in which the running request began, or the one before the part that was being made; -1 if none runs.
	since atomic.Int64

	episode *episode
	// seen is the state that each request was last answered in.
	seen   []int
	counts counts
	// quiet and changing are the times of measured requests without and with changes.
	quiet, changing latencies
	violations      []string
}

// counts are what became of a worker's requests.
type counts struct {
	requests, refused int
	// during are requests that ran while a part of a change was made that changed their answer: answered as before it, or as after it.
	duringBefore, duringAfter int
}

// begin prepares for an episode.
func (w *worker) begin(e *episode) {
	w.episode = e
	w.seen = make([]int, len(e.requests))
	w.since.Store(-1)
}

// settled says that no request runs that began before a state was reached.
func (w *worker) settled(state int) bool {
	since := w.since.Load()
	return since < 0 || since >= int64(state)
}

// timed takes the time of the plugin alone.
type timed struct {
	harness.Validator
	took time.Duration
}

// Validate implements harness.Validator.
func (t *timed) Validate(ctx context.Context, a admission.Attributes, o admission.ObjectInterfaces) error {
	start := time.Now()
	err := t.Validator.Validate(ctx, a, o)
	t.took = time.Since(start)
	return err
}

// request sends a request and checks the answer.
func (w *worker) request(ctx context.Context) {
	p := w.player
	k := w.random.IntN(len(w.episode.requests))
	request := w.episode.requests[k].Copy()
	changing := p.changing.Load()

	p.exchange.RLock()
	began := w.announce()
	engine := timed{Validator: p.engine}
	got := harness.Observe(ctx, &engine, request, p.state.Objects())
	ended := p.span.Load()
	w.since.Store(-1)
	p.exchange.RUnlock()
	p.ended()

	if w.episode.measured && changing == p.changing.Load() {
		if changing {
			w.changing.add(engine.took)
		} else {
			w.quiet.add(engine.took)
		}
	}
	from, _ := unpacked(began)
	_, to := unpacked(ended)
	w.check(k, from, to, &got)
}

// announce notes the state that a request begins in, so that the player sees it: when the note is there, the state is still the same.
func (w *worker) announce() uint64 {
	for {
		span := w.player.span.Load()
		from, _ := unpacked(span)
		w.since.Store(int64(from))
		if w.player.span.Load() == span {
			return span
		}
	}
}

// check checks the answer of request k that began in one state and ended in another.
func (w *worker) check(k, from, to int, got *harness.Outcome) {
	w.counts.requests++
	if got.Status != "" {
		w.counts.refused++
	}
	answers := w.episode.answers
	for state := max(from, w.seen[k]); state <= to; state++ {
		if !answers[state][k].Equal(got) {
			continue
		}
		w.seen[k] = state
		if from < to && !answers[from][k].Equal(&answers[to][k]) {
			if state == from {
				w.counts.duringBefore++
			} else {
				w.counts.duringAfter++
			}
		}
		return
	}
	w.violate(k, from, to, got)
}

// mostViolations is how many wrong answers a worker keeps of an episode.
const mostViolations = 20

func (w *worker) violate(k, from, to int, got *harness.Outcome) {
	if len(w.violations) >= mostViolations {
		return
	}
	e, r := w.episode, w.episode.requests[k]
	text := fmt.Sprintf("episode %d, request %d (%s %s %s of %s/%s), states %d to %d of %d", e.number, k, r.Operation, r.Resource, r.Subresource, r.Namespace, r.Name, from, to, len(e.answers)-1)
	if w.seen[k] > from {
		text += fmt.Sprintf(", after an answer of state %d", w.seen[k])
	}
	for state := from; state <= to; state++ {
		text += fmt.Sprintf("\nupstream in state %d: %s", state, e.answers[state][k])
	}
	text += fmt.Sprintf("\ncelgate: %s", got)
	for state := range e.answers {
		if (state < from || state > to) && e.answers[state][k].Equal(got) {
			text += fmt.Sprintf("\nthat is upstream's answer in state %d", state)
			break
		}
	}
	w.violations = append(w.violations, text)
}
