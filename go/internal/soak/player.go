package soak

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"

	"github.com/celgate/celgate/go/internal/harness"
)

// player plays episodes with celgate's plugin.
type player struct {
	options *Options
	state   *harness.State
	engine  harness.Engine
	report  *Report
	random  *rand.Rand

	// span is the state that has been reached, or the two between which a part of a change is being made.
	span atomic.Uint64
	// changing says that requests are among changes, for what is measured.
	changing atomic.Bool
	// exchange is held while discovery is exchanged; requests hold it for reading.
	exchange sync.RWMutex

	workers []*worker
	// answered counts requests since the last part; when it reaches enough, each that ends says so through wake.
	answered, enough atomic.Int64
	wake             chan struct{}
}

// newPlayer makes a player in a world; it ends with ctx.
func newPlayer(ctx context.Context, options *Options, world *harness.World, report *Report) (*player, error) {
	state, err := harness.NewState(world)
	if err != nil {
		return nil, err
	}
	engine, err := harness.NewCelgateOf(ctx, state)
	if err != nil {
		return nil, err
	}
	if options.wrap != nil {
		engine = options.wrap(engine)
	}
	p := &player{options: options, state: state, engine: engine, report: report, random: rand.New(rand.NewPCG(options.Seed, 1)), wake: make(chan struct{}, 1)}
	for i := range options.Workers {
		p.workers = append(p.workers, &worker{player: p, random: rand.New(rand.NewPCG(options.Seed, uint64(2+i)))})
	}
	return p, nil
}

func packed(from, to int) uint64 { return uint64(from)<<32 | uint64(to) }

func unpacked(span uint64) (from, to int) { return int(span >> 32), int(uint32(span)) }

// play plays an episode. Its error is one of the harness; what is wrong with the plugin is in the report.
func (p *player) play(ctx context.Context, e *episode) error {
	p.span.Store(packed(0, 0))
	p.changing.Store(false)
	workers := p.workers
	if e.measured {
		// A processor is left to the changes, or requests would wait for one with and without a fault of the plugin's.
		workers = workers[:max(1, len(workers)-1)]
	}
	var stopped atomic.Bool
	var working sync.WaitGroup
	p.answered.Store(0)
	for _, w := range workers {
		w.begin(e)
		working.Go(func() {
			for !stopped.Load() {
				w.request(ctx)
			}
		})
	}
	err := p.change(ctx, e, workers)
	stopped.Store(true)
	working.Wait()
	for _, w := range workers {
		p.report.take(w)
		w.episode = nil
	}
	return err
}

// change makes the changes of an episode.
func (p *player) change(ctx context.Context, e *episode, workers []*worker) error {
	pace := p.options.Pace
	if e.measured {
		pace *= measuredPace
	}
	quiet := pace * len(e.changes) / 2
	if e.measured {
		p.wait(workers, 0, quiet)
	}
	p.changing.Store(true)
	state := 0
	for i := range e.changes {
		for _, part := range p.state.Parts(e.changes[i]) {
			p.wait(workers, state, 1+p.random.IntN(2*pace))
			next := state + 1
			if part.Discovery {
				next++
			}
			if next >= len(e.answers) {
				return fmt.Errorf("episode %d: celgate's state has more parts than upstream's", e.number)
			}
			p.span.Store(packed(state, next))
			if err := p.apply(ctx, part); err != nil {
				return err
			}
			p.span.Store(packed(next, next))
			p.report.part(e, state, next)
			state = next
		}
	}
	p.wait(workers, state, pace)
	p.changing.Store(false)
	if e.measured {
		p.wait(workers, state, quiet)
	}
	if state != len(e.answers)-1 {
		return fmt.Errorf("episode %d: celgate's state has fewer parts than upstream's", e.number)
	}
	return nil
}

func (p *player) apply(ctx context.Context, part harness.Part) error {
	if part.Discovery {
		p.exchange.Lock()
	}
	err := part.Apply()
	if part.Discovery {
		p.exchange.Unlock()
	}
	if err == nil && part.Refresh {
		err = p.engine.Refresh(ctx)
	}
	return err
}

// wait waits until so many requests were answered since the last wait, and all that still run began when the state had been reached.
func (p *player) wait(workers []*worker, state, requests int) {
	p.enough.Store(int64(requests))
	p.answered.Store(0)
	for {
		<-p.wake
		if p.answered.Load() < int64(requests) {
			continue
		}
		settled := true
		for _, w := range workers {
			settled = settled && w.settled(state)
		}
		if settled {
			return
		}
	}
}

// ended counts a request that was answered.
func (p *player) ended() {
	if p.answered.Add(1) >= p.enough.Load() {
		select {
		case p.wake <- struct{}{}:
		default:
		}
	}
}
