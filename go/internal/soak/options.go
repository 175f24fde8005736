package soak

import (
	"io"
	"time"

	"github.com/celgate/celgate/go/internal/harness"
	"github.com/celgate/celgate/go/internal/worlds"
)

// Options says how to run.
type Options struct {
	Duration time.Duration
	Seed     uint64
	// Workers are how many send requests at the same time.
	Workers int
	// Pace is how many requests there are from one change to the next, on average.
	Pace int
	// Requests is how many different requests an episode has, Changes how many changes at most.
	Requests, Changes int
	// Interval is how long a round is at least: then the states return to what they began with, and memory is looked at.
	Interval time.Duration
	// Rounds are how many rounds there are at least: fewer than five say nothing about memory.
	Rounds int
	// First says that the run ends with the episode in which it finds a wrong answer; nothing is measured.
	First bool
	// End is how long handles and goroutines may take to be given back after the end.
	End time.Duration
	// Corpus may be nil.
	Corpus   *worlds.Corpus
	Progress io.Writer

	// wrap puts a fault in front of the plugin, for tests.
	wrap func(harness.Engine) harness.Engine
}

const (
	// measuredEvery says which episodes are measured, and measuredPace how many times as many requests come between their changes.
	measuredEvery = 4
	measuredPace  = 5
	// stuckTime is how long a run may go without an answer.
	stuckTime = 3 * time.Minute
	// progressInterval is how often a run says how far it is.
	progressInterval = 30 * time.Second
)
