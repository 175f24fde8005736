package e2e

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

const (
	// probeCount is how many requests must get the same answers after a restart as before it.
	probeCount = 200
	// backTimeout is how long a restarted server may take to answer as before.
	backTimeout = 2 * time.Minute
)

// TestRestarts kills etcd, the server and both under load. The same requests get the same answers before and after, never another one in between, and
// the same from both engines, while etcd is away too.
func TestRestarts(t *testing.T) {
	etcdProgram(t)
	before, without := map[string][]answer{}, map[string][]answer{}
	for _, engine := range []string{"upstream", "celgate"} {
		t.Run(engine, func(t *testing.T) { before[engine], without[engine] = restarts(t, engine) })
	}
	if t.Failed() {
		return
	}
	compareAnswers(t, "celgate's answers beside upstream's", before["upstream"], before["celgate"])
	compareAnswers(t, "celgate's answers without etcd beside upstream's", without["upstream"], without["celgate"])
}

// restarts gives the answers with etcd and without it.
func restarts(t *testing.T, engine string) (before, without []answer) {
	ctx, cancel := context.WithTimeout(context.Background(), 15*time.Minute)
	defer cancel()
	c := newCluster(t, engine)
	c.startEtcd(t)
	c.startServer(t)
	c.waitReady(ctx, t)
	scenarios := loadExamples(t)
	c.applyAll(ctx, t, scenarios)
	c.waitForExpected(ctx, t, scenarios)
	probes := makeProbes(scenarios)
	before = c.sendAll(ctx, probes)
	checkBefore(t, before)

	load := c.startLoad(ctx, t, probes, before)
	c.etcd.kill(t)
	without = c.sendAll(ctx, probes)
	c.sendAgain(ctx, probes, without)
	c.startEtcd(t)
	c.waitReady(ctx, t)
	c.waitForAnswers(ctx, t, "etcd was killed", probes, before)
	load.proceeds(t, "etcd was killed")

	c.server.kill(t)
	c.startServer(t)
	c.waitReady(ctx, t)
	c.waitForAnswers(ctx, t, "the server was killed", probes, before)
	load.proceeds(t, "the server was killed")

	c.server.kill(t)
	c.etcd.kill(t)
	c.startEtcd(t)
	c.startServer(t)
	c.waitReady(ctx, t)
	c.waitForAnswers(ctx, t, "both were killed", probes, before)
	load.proceeds(t, "both were killed")
	load.stop(t)

	checkWithout(t, before, without)
	return before, without
}

// checkBefore sees that the probes show something: answers of all sorts.
func checkBefore(t *testing.T, before []answer) {
	t.Helper()
	sorts := map[string]int{}
	for i := range before {
		sorts[before[i].sort()]++
	}
	t.Logf("%d probes: %v", len(before), sorts)
	if len(before) != probeCount || sorts["allowed"] < 20 || sorts["denied"] < 20 || sorts["warned"] == 0 {
		t.Errorf("the probes show too little: %v", sorts)
	}
}

// checkWithout sees that nothing was admitted that is denied otherwise, and what is denied says so without etcd.
func checkWithout(t *testing.T, before, without []answer) {
	t.Helper()
	sorts, failures := map[string]int{}, map[string]int{}
	for i := range without {
		sorts[without[i].sort()]++
		if without[i].sort() == "failed" {
			failures[without[i].String()]++
		}
		if without[i].sort() == "allowed" && before[i].sort() == "denied" {
			t.Errorf("without etcd %s is admitted, though it is denied: %s", before[i].Request, before[i])
		}
	}
	t.Logf("without etcd: %v, failures: %v", sorts, failures)
	if sorts["failed"] == 0 || sorts["denied"] == 0 {
		t.Errorf("without etcd: %v; some must fail, and some be denied all the same", sorts)
	}
}

func compareAnswers(t *testing.T, what string, want, got []answer) {
	t.Helper()
	different := 0
	for i := range want {
		if want[i].String() == got[i].String() {
			continue
		}
		if different++; different <= 3 {
			t.Errorf("%s: %s\nwant %s\ngot  %s", what, want[i].Request, want[i], got[i])
		}
	}
	if different > 0 {
		t.Errorf("%s: %d of %d differ", what, different, len(want))
	}
}

// waitForAnswers waits until the server answers as before. Until then requests may fail, but not be decided otherwise.
func (c *cluster) waitForAnswers(ctx context.Context, t *testing.T, after string, probes []*probe, before []answer) {
	t.Helper()
	start := time.Now()
	for {
		got := c.sendAll(ctx, probes)
		left := 0
		for i := range got {
			if got[i].String() == before[i].String() {
				continue
			}
			left++
			if !got[i].undecided() {
				t.Fatalf("after %s: %s\nwant %s\ngot  %s", after, before[i].Request, before[i], got[i])
			}
		}
		if left == 0 {
			break
		}
		if time.Since(start) > backTimeout {
			compareAnswers(t, "after "+after, before, got)
			t.Fatalf("%d answers are not those from before, %s after %s", left, backTimeout, after)
		}
	}
	compareAnswers(t, "after "+after, before, c.sendAll(ctx, probes))
	t.Logf("after %s the answers are the same again %s after the server was ready", after, time.Since(start).Round(time.Millisecond))
}

// load is what goes on while processes are killed: requests, whose answers are checked, and policies and params that come, change and go.
type load struct {
	cancel           context.CancelFunc
	running          sync.WaitGroup
	answers, changes atomic.Int64
	lastAnswers      int64
	lastChanges      int64

	lock  sync.Mutex
	wrong []string
}

func (c *cluster) startLoad(ctx context.Context, t *testing.T, probes []*probe, before []answer) *load {
	t.Helper()
	ctx, cancel := context.WithCancel(ctx)
	l := &load{cancel: cancel}
	t.Cleanup(func() { cancel(); l.running.Wait() })
	for first := range 2 {
		l.running.Go(func() {
			for i := first; ctx.Err() == nil; i += 2 {
				i %= len(probes)
				got := c.send(ctx, probes[i])
				switch {
				case got.String() == before[i].String():
					l.answers.Add(1)
				case !got.undecided():
					l.lock.Lock()
					l.wrong = append(l.wrong, fmt.Sprintf("%s\nwant %s\ngot  %s", before[i].Request, before[i], got))
					l.lock.Unlock()
				default:
					pause(ctx, 50*time.Millisecond) // a server that is not there refuses at once
				}
			}
		})
	}
	l.running.Go(func() {
		for i := 0; ctx.Err() == nil; i++ {
			if c.change(ctx, i) {
				l.changes.Add(1)
			} else {
				pause(ctx, 50*time.Millisecond)
			}
		}
	})
	return l
}

func pause(ctx context.Context, d time.Duration) {
	select {
	case <-ctx.Done():
	case <-time.After(d):
	}
}

// proceeds sees that answers and changes went on since the last time, waiting for them for a while.
func (l *load) proceeds(t *testing.T, after string) {
	t.Helper()
	deadline := time.Now().Add(backTimeout)
	for l.answers.Load() < l.lastAnswers+10 || l.changes.Load() < l.lastChanges+10 {
		if time.Now().After(deadline) {
			t.Fatalf("after %s the load does not go on: %d answers, %d changes", after, l.answers.Load()-l.lastAnswers, l.changes.Load()-l.lastChanges)
		}
		time.Sleep(50 * time.Millisecond)
	}
	l.lastAnswers, l.lastChanges = l.answers.Load(), l.changes.Load()
}

func (l *load) stop(t *testing.T) {
	t.Helper()
	l.cancel()
	l.running.Wait()
	t.Logf("meanwhile %d answers as expected, %d changes", l.answers.Load(), l.changes.Load())
	if n := len(l.wrong); n > 0 {
		t.Errorf("%d wrong answers under load, the first: %s", n, l.wrong[0])
	}
}

// change makes one of the load's changes and says whether the server has taken it.
func (c *cluster) change(ctx context.Context, i int) bool {
	name := fmt.Sprintf("load-%d", i/4%5)
	policy := fmt.Sprintf(`{"apiVersion":"admissionregistration.k8s.io/v1","kind":"ValidatingAdmissionPolicy","metadata":{"name":%q},"spec":{"paramKind":{"apiVersion":"v1","kind":"ConfigMap"},`+
		`"matchConstraints":{"resourceRules":[{"apiGroups":["*"],"apiVersions":["*"],"operations":["*"],"resources":["*"]}]},"validations":[{"expression":"params.data.n != '%d'"}]}}`, name, i)
	binding := fmt.Sprintf(`{"apiVersion":"admissionregistration.k8s.io/v1","kind":"ValidatingAdmissionPolicyBinding","metadata":{"name":%q},"spec":{"policyName":%q,"validationActions":["Deny"],`+
		`"paramRef":{"name":%q,"namespace":"default","parameterNotFoundAction":"Allow"},"matchResources":{"namespaceSelector":{"matchLabels":{"no-namespace":"has-this"}}}}}`, name, name, name)
	param := fmt.Sprintf(`{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":%q,"namespace":"default"},"data":{"n":"%d"}}`, name, i)
	const policies, bindings, params = "/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicies", "/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicybindings", "/api/v1/namespaces/default/configmaps"
	var codes []int
	switch i % 4 {
	case 0:
		codes = append(codes, c.do(ctx, "admin", "POST", params, param).Code, c.do(ctx, "admin", "POST", policies, policy).Code, c.do(ctx, "admin", "POST", bindings, binding).Code)
	case 1:
		codes = append(codes, c.do(ctx, "admin", "PUT", params+"/"+name, param).Code)
	case 2:
		codes = append(codes, c.do(ctx, "admin", "DELETE", bindings+"/"+name, "").Code)
	default:
		codes = append(codes, c.do(ctx, "admin", "DELETE", policies+"/"+name, "").Code, c.do(ctx, "admin", "DELETE", params+"/"+name, "").Code)
	}
	return slices.ContainsFunc(codes, func(code int) bool { return code/100 == 2 })
}

// etcdProgram is the etcd to run.
func etcdProgram(t *testing.T) string {
	t.Helper()
	return programIn(t, "CELGATE_ETCD", "make test-restarts")
}
