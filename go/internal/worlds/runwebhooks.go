package worlds

import (
	"context"
	"fmt"
	"os"
	"sync"

	"github.com/celgate/celgate/go/internal/harness"
)

// RunWebhooks compares worlds of webhooks: both plugins see one state and call the same server.
func RunWebhooks(ctx context.Context, options Options) (*Report, error) {
	report := newReport()
	servers := &servers{byWorker: map[int]*harness.WebhookServer{}}
	defer servers.close()
	return report, follow(options, report, func(done func()) error {
		return eachWorld(ctx, options, options.Workers, func(ctx context.Context, worker, world int) error {
			defer done()
			server, err := servers.of(worker)
			if err != nil {
				return err
			}
			return compareWebhooks(ctx, options, world, workerPrefix(worker), server, report)
		})
	})
}

// servers are the workers' servers.
type servers struct {
	lock     sync.Mutex
	byWorker map[int]*harness.WebhookServer
}

func (s *servers) of(worker int) (*harness.WebhookServer, error) {
	s.lock.Lock()
	defer s.lock.Unlock()
	if s.byWorker[worker] == nil {
		server, err := harness.StartWebhookServer()
		if err != nil {
			return nil, err
		}
		s.byWorker[worker] = server
	}
	return s.byWorker[worker], nil
}

func (s *servers) close() {
	for _, server := range s.byWorker {
		server.Close()
	}
}

// webhookRun is the comparison in one world.
type webhookRun struct {
	pair   *harness.WebhookPair
	prefix string
	report *Report
}

func compareWebhooks(ctx context.Context, options Options, world int, prefix string, server *harness.WebhookServer, report *Report) error {
	g := NewWebhookGenerator(options.Seed, uint64(world), prefix, server)
	state, err := harness.NewState(g.World())
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	pair, manifests, err := makePair(ctx, g, state, server)
	if err != nil {
		return err
	}
	run := webhookRun{pair: pair, prefix: prefix, report: report}
	// Requests between two changes are sent to one plugin after the other, so that its metrics can be told apart.
	var requests []*harness.Request
	first := 0
	for i := range options.Requests {
		if i > 0 && g.one(5) {
			if done, err := run.play(ctx, world, first, requests); done || err != nil {
				return err
			}
			first, requests = i, nil
			for range 1 + g.random.IntN(2) {
				if manifests != nil && g.one(4) {
					err = manifests.Set(g.manifests(true), g.one(4))
				} else {
					err = state.Apply(g.Change())
				}
				if err != nil {
					return err
				}
			}
		}
		requests = append(requests, g.Request())
	}
	_, err = run.play(ctx, world, first, requests)
	return err
}

// makePair makes both plugins; in some worlds they have manifests, which are nil in the others.
func makePair(ctx context.Context, g *WebhookGenerator, state *harness.State, server *harness.WebhookServer) (*harness.WebhookPair, *harness.WebhookManifests, error) {
	if !g.one(3) {
		pair, err := harness.NewWebhookPair(state, server)
		return pair, nil, err
	}
	dir, err := os.MkdirTemp("", "celgate-manifests-")
	if err != nil {
		return nil, nil, err
	}
	// Not to be removed is no reason to fail.
	context.AfterFunc(ctx, func() { _ = os.RemoveAll(dir) })
	// Plugins do not start with manifests that are refused.
	manifests := harness.NewWebhookManifests(g.manifests(false))
	pair, err := harness.NewManifestWebhookPair(ctx, state, server, manifests, dir)
	return pair, manifests, err
}

// play sends requests to both plugins; done says that a difference was found.
func (r *webhookRun) play(ctx context.Context, world, first int, requests []*harness.Request) (done bool, err error) {
	before, err := harness.GatherCounts(r.prefix)
	if err != nil {
		return false, err
	}
	theirs := make([]harness.WebhookOutcome, len(requests))
	for i, request := range requests {
		theirs[i] = r.pair.Do(ctx, r.pair.Upstream, request)
	}
	between, err := harness.GatherCounts(r.prefix)
	if err != nil {
		return false, err
	}
	ours := make([]harness.WebhookOutcome, len(requests))
	for i, request := range requests {
		ours[i] = r.pair.Do(ctx, r.pair.Celgate, request)
	}
	after, err := harness.GatherCounts(r.prefix)
	if err != nil {
		return false, err
	}
	for i := range requests {
		r.report.addWebhooks(&theirs[i])
		same, err := r.same(ctx, requests[i], &theirs[i], &ours[i])
		if err != nil {
			return false, err
		}
		if !same {
			text := fmt.Sprintf("upstream: %s\ncelgate: %s", theirs[i].Text(), ours[i].Text())
			r.report.found(&Found{World: world, Difference: harness.Difference{Step: first + i, What: "outcome", Text: text}})
			return true, nil
		}
	}
	if difference := harness.CompareCounts(between.Since(before), after.Since(between)); difference != nil {
		difference.Step = first
		r.report.found(&Found{World: world, Difference: *difference})
		return true, nil
	}
	return false, nil
}

// same says whether outcomes are the same, but that of several refusals another may come first.
func (r *webhookRun) same(ctx context.Context, request *harness.Request, theirs, ours *harness.WebhookOutcome) (bool, error) {
	if theirs.Equal(ours) {
		return true, nil
	}
	if !theirs.OnlyStatus(ours) {
		return false, nil
	}
	return r.pair.Refuses(ctx, request, ours.Status)
}
