package validating_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"sync"
	"testing"
	"time"

	v1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/celgate/celgate/go/internal/harness"
)

// usage is what a process holds after it has come to rest.
type usage struct {
	goroutines int
	heap       uint64
}

// atRest gives the usage once no fewer goroutines can be expected.
func atRest() usage {
	var u usage
	for range 20 {
		runtime.GC()
		var stats runtime.MemStats
		runtime.ReadMemStats(&stats)
		next := usage{runtime.NumGoroutine(), stats.HeapAlloc}
		if next.goroutines == u.goroutines {
			return next
		}
		u = next
		time.Sleep(100 * time.Millisecond)
	}
	return u
}

// Webhooks that are dead, slow, wrong or not to be trusted give upstream's answers under load, and leave nothing behind.
func TestBadWebhooksUnderLoad(t *testing.T) {
	server := startServer(t)
	behaviours := slices.Concat(harness.Agreeable, harness.Refusing, harness.Broken, []string{"refused", "untrusted", "unresolved", "slow"})
	w := world()
	for i, behaviour := range behaviours {
		asked := webhook(fmt.Sprintf("w%02d.example.com", i), server.Config(behaviour, i%2 == 0), "object.metadata.name != 'never'")
		asked.ObjectSelector = &metav1.LabelSelector{MatchLabels: map[string]string{"behaviour": behaviour}}
		asked.TimeoutSeconds = pointer(int32(1))
		if i%3 == 0 {
			asked.FailurePolicy = pointer(v1.Ignore)
		}
		w.Webhooks = append(w.Webhooks, configuration(fmt.Sprintf("c%02d", i), asked))
	}
	pair := startPair(t, server, w)
	request := func(behaviour string) *harness.Request {
		r := pod("web")
		r.Object.(*corev1.Pod).Labels = map[string]string{"behaviour": behaviour}
		return r
	}
	want := map[string]string{}
	for _, behaviour := range behaviours {
		outcome := both(t, pair, request(behaviour))
		want[behaviour] = outcome.Status
	}
	load := func() {
		var workers sync.WaitGroup
		for worker := range 8 {
			random := rand.New(rand.NewPCG(1, uint64(worker)))
			workers.Go(func() {
				for range 150 {
					behaviour := behaviours[random.IntN(len(behaviours))]
					if behaviour == "slow" && random.IntN(10) > 0 {
						continue
					}
					outcome := harness.Observe(context.Background(), pair.Celgate, request(behaviour), pair.State.Objects())
					if got := harness.WithoutIDs(outcome.Status); got != want[behaviour] {
						t.Errorf("%s: %s, want %s", behaviour, got, want[behaviour])
					}
				}
			})
		}
		workers.Wait()
		server.Calls() // what it was sent is not needed
	}
	load()
	before := atRest()
	for range 3 {
		load()
	}
	after := atRest()
	if after.goroutines > before.goroutines+10 {
		t.Errorf("%d goroutines, %d before", after.goroutines, before.goroutines)
	}
	if after.heap > before.heap+4<<20 {
		t.Errorf("%d KiB on the heap, %d before", after.heap>>10, before.heap>>10)
	}
	t.Logf("goroutines %d, then %d; heap %d KiB, then %d", before.goroutines, after.goroutines, before.heap>>10, after.heap>>10)
}
