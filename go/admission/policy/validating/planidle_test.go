package validating

import "testing"

// A plan that no request asks for grows older with each snapshot that keeps it.
func TestPlansGrowIdle(t *testing.T) {
	before, next := &snapshot{}, &snapshot{}
	p := &plan{view: before}
	for want := 1; want <= 3; want++ {
		if p = p.keep(before, next); p.idle != want || p.view != next {
			t.Errorf("idle in %d snapshots, want %d", p.idle, want)
		}
	}
	p.used.Store(true)
	if p = p.keep(before, next); p.idle != 0 || p.used.Load() {
		t.Errorf("idle in %d snapshots although it was used", p.idle)
	}
}
