package worlds

import (
	"cmp"
	"context"
	"io"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	v1 "k8s.io/api/admissionregistration/v1"

	"github.com/celgate/celgate/go/internal/harness"
)

func TestMain(m *testing.M) {
	harness.Quiet()
	os.Exit(m.Run())
}

func testCorpus(t *testing.T) *Corpus {
	t.Helper()
	corpus, err := LoadCorpus(cmp.Or(os.Getenv("CELGATE_CORPUS"), filepath.Join("..", "..", "..", "..", "shared", "corpus")))
	if err != nil {
		t.Fatal(err)
	}
	if corpus == nil {
		t.Log("the corpus is not here: without public policies")
	}
	return corpus
}

// Generated worlds decide generated requests as upstream does.
func TestWorlds(t *testing.T) {
	report, err := Run(context.Background(), Options{Worlds: 100, Requests: 50, Seed: 1, Workers: 2, Corpus: testCorpus(t), Save: t.TempDir(), Shrunk: 3, Progress: io.Discard})
	if err != nil {
		t.Fatal(err)
	}
	report.Print(t.Output())
	if err := report.Err(); err != nil {
		t.Error(err)
	}
}

// Generated webhooks are called by generated requests as upstream calls them.
func TestWebhookWorlds(t *testing.T) {
	report, err := RunWebhooks(context.Background(), Options{Worlds: 60, Requests: 50, Seed: 1, Workers: 2, Progress: io.Discard})
	if err != nil {
		t.Fatal(err)
	}
	report.Print(t.Output())
	if err := report.Err(); err != nil {
		t.Error(err)
	}
}

// The same seed gives the same script, and a case keeps all that decides it.
func TestScriptsAreKept(t *testing.T) {
	corpus := testCorpus(t)
	for world := range uint64(5) {
		script := NewGenerator(7, world, "t-", corpus).Script(30)
		again := NewGenerator(7, world, "t-", corpus).Script(30)
		c, err := harness.FromScript(script)
		if err != nil {
			t.Fatal(err)
		}
		if other, err := harness.FromScript(again); err != nil || !reflect.DeepEqual(c, other) {
			t.Fatalf("world %d is not the same again: %v", world, err)
		}
		path := filepath.Join(t.TempDir(), "case.json")
		if err := c.Save(path); err != nil {
			t.Fatal(err)
		}
		loaded, err := harness.Load(path)
		if err != nil {
			t.Fatal(err)
		}
		copied, err := loaded.Script()
		if err != nil {
			t.Fatal(err)
		}
		want, err := harness.PlayUpstream(context.Background(), script, "t-")
		if err != nil {
			t.Fatal(err)
		}
		got, err := harness.PlayUpstream(context.Background(), copied, "t-")
		if err != nil {
			t.Fatal(err)
		}
		if difference := harness.Compare(want, got); difference != nil {
			t.Errorf("world %d is another when saved: %+v", world, difference)
		}
	}
}

// Small worlds have outcomes that upstream can have with its own source, too.
func TestOwnOrder(t *testing.T) {
	checkMode(t, RunOwnOrder, 10)
}

// The same with the informers and timers of both plugins.
func TestReal(t *testing.T) {
	checkMode(t, RunReal, realTogether)
}

func checkMode(t *testing.T, run func(context.Context, Options) (*Report, error), worlds int) {
	t.Helper()
	report, err := run(context.Background(), Options{Worlds: worlds, Seed: 1, Corpus: testCorpus(t), Progress: io.Discard})
	if err != nil {
		t.Fatal(err)
	}
	report.Print(t.Output())
	if len(report.differences) > 0 {
		t.Error("there are differences")
	}
}

// What makes a script smaller leaves the original as it is.
func TestShrink(t *testing.T) {
	script := NewGenerator(3, 1, "t-", nil).Script(20)
	edits := edits(script)
	if len(edits) < 20 {
		t.Fatalf("%d edits only", len(edits))
	}
	for i, edit := range edits {
		copied := clone(script)
		before, err := harness.FromScript(script)
		if err != nil {
			t.Fatal(err)
		}
		edit(copied)
		if after, err := harness.FromScript(script); err != nil || !reflect.DeepEqual(before, after) {
			t.Fatalf("edit %d changed the original: %v", i, err)
		}
	}
}

// Manifests have a say in some worlds: over what the API's policies judge, and over what they may not judge.
func TestManifestsDecide(t *testing.T) {
	var usual, admission, changed, broken int
	for world := range uint64(90) {
		script := NewGenerator(5, world, "m-", nil).Script(40)
		if script.World.Static == nil {
			continue
		}
		played, err := harness.PlayUpstream(context.Background(), script, "m-")
		if err != nil {
			t.Fatal(err)
		}
		for i, step := range script.Steps {
			for _, change := range step.Changes {
				if change.Static != nil {
					changed++
				}
				if change.Static != nil && change.Static.Broken {
					broken++
				}
			}
			if !strings.Contains(played.Outcomes[i].String(), staticSuffix+"' with binding") {
				continue
			}
			if step.Request.Resource.Group == v1.GroupName {
				admission++
			} else {
				usual++
			}
		}
	}
	if usual < 20 || admission < 10 || changed < 10 || broken < 3 {
		t.Errorf("%d usual requests and %d of the admission configuration are judged by manifests, which change %d times, %d of them to broken ones", usual, admission, changed, broken)
	}
	t.Logf("%d, %d; %d, %d", usual, admission, changed, broken)
}
