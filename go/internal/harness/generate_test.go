package harness

import (
	"context"
	"fmt"
	"os"
	"strconv"
	"testing"
)

// requestsPerWorld is how many requests each generated world gets.
const requestsPerWorld = 100

// Generated worlds decide generated requests as upstream does. CELGATE_WORLDS sets how many there are, CELGATE_SEED the first one's seed.
func TestGenerated(t *testing.T) {
	worlds, seed := number("CELGATE_WORLDS", 20), number("CELGATE_SEED", 1)
	for i := range worlds {
		t.Run(fmt.Sprint("seed ", seed+i), func(t *testing.T) {
			t.Parallel()
			runGenerated(t, seed+i)
		})
	}
}

func number(name string, otherwise uint64) uint64 {
	if value, err := strconv.ParseUint(os.Getenv(name), 10, 64); err == nil {
		return value
	}
	return otherwise
}

func runGenerated(t *testing.T, seed uint64) {
	g := NewGenerator(seed)
	world := g.World()
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	cluster, err := StartCelgate(ctx, world)
	if err != nil {
		t.Fatal(err)
	}
	oracle, err := NewOracle(world)
	if err != nil {
		t.Fatal(err)
	}
	differences, denied, told := 0, 0, 0
	for i := range requestsPerWorld {
		request := g.Request()
		want := Observe(ctx, oracle, request, cluster.Objects)
		if want.Status != "" {
			denied++
		}
		if len(want.Warnings)+len(want.Annotations) > 0 {
			told++
		}
		if _, difference := compare(want, cluster.Do(ctx, request)); difference != "" {
			if differences++; differences <= 3 {
				t.Errorf("request %d, %s %s %s/%s: %s", i, request.Operation, request.Resource, request.Namespace, request.Name, difference)
			}
		}
	}
	t.Logf("%d of %d requests denied, %d with warnings or annotations", denied, requestsPerWorld, told)
	if differences > 3 {
		t.Errorf("%d differences in all", differences)
	}
}
