package soak

import (
	"context"
	"errors"
	"fmt"
	"os"
	"runtime"
	"runtime/pprof"
	"time"

	"github.com/celgate/celgate/go/internal/cabi"
)

// Run runs. The error is one of the harness; what is wrong with the plugin is in the report.
func Run(ctx context.Context, options Options) (*Report, error) {
	runtime.GC()
	handles, goroutines := cabi.Live(), runtime.NumGoroutine()
	report := &Report{start: time.Now()}
	if err := run(ctx, &options, report); err != nil {
		return report, err
	}
	report.took = time.Since(report.start)
	report.handles, report.goroutines = settle(handles, goroutines, options.End)
	return report, nil
}

// run is all of a run in which the plugin lives.
func run(ctx context.Context, options *Options, report *Report) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	a, err := newAuthor(options)
	if err != nil {
		return err
	}
	p, err := newPlayer(ctx, options, a.base, report)
	if err != nil {
		return err
	}
	go watch(ctx, options, report)
	end := report.start.Add(options.Duration)
	for rounds := 0; (rounds < options.Rounds || time.Now().Before(end)) && ctx.Err() == nil; rounds++ {
		roundEnd := time.Now().Add(options.Interval)
		if roundEnd.After(end) {
			roundEnd = end
		}
		if err := round(ctx, a, p, roundEnd); errors.Is(err, errFound) {
			return nil
		} else if err != nil {
			return err
		}
		s, err := takeSample(report.start)
		if err != nil {
			return err
		}
		report.add(s)
	}
	return ctx.Err()
}

// round lets the author write and the player play at the same time, the next episode and this one.
func round(ctx context.Context, a *author, p *player, end time.Time) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	episodes, written := make(chan *episode), make(chan error, 1)
	go func() {
		defer close(episodes)
		written <- a.round(ctx, func() bool { return time.Now().Before(end) }, episodes)
	}()
	var playErr error
	for e := range episodes {
		if playErr == nil {
			if playErr = play(ctx, a, p, e); playErr == nil && p.options.First && p.report.wrong() {
				playErr = errFound
			}
			cancelOn(playErr, cancel)
		}
	}
	if playErr != nil {
		return playErr
	}
	return <-written
}

func cancelOn(err error, cancel func()) {
	if err != nil {
		cancel()
	}
}

// play plays an episode; upstream rests while requests are timed.
func play(ctx context.Context, a *author, p *player, e *episode) error {
	if e.measured {
		a.turn.Lock()
		defer a.turn.Unlock()
	}
	err := p.play(ctx, e)
	p.report.played(e)
	return err
}

// errFound is why a run ends that has found what it was to find.
var errFound = errors.New("soak: found")

// errStuck is why a run ends that gets no more answers.
var errStuck = errors.New("soak: no request is answered any more")

// watch says how far the run is, and ends the process when it is stuck, with the stacks of all goroutines: there is no other way to see why.
func watch(ctx context.Context, options *Options, report *Report) {
	ticker := time.NewTicker(progressInterval)
	defer ticker.Stop()
	answered, since := 0, time.Now()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
		fmt.Fprintln(options.Progress, report.summary())
		if now := report.answered(); now != answered {
			answered, since = now, time.Now()
		} else if time.Since(since) > stuckTime {
			_ = pprof.Lookup("goroutine").WriteTo(os.Stderr, 2)
			panic(errStuck)
		}
	}
}
