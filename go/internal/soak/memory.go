package soak

import (
	"bufio"
	"cmp"
	"fmt"
	"os"
	"reflect"
	"runtime"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"time"

	"k8s.io/component-base/metrics/legacyregistry"

	"github.com/celgate/celgate/go/internal/cabi"
)

// sample is what the process uses at a moment when nothing happens.
type sample struct {
	at time.Duration
	// heap is what Go's heap has after collections; native what the process has in memory of its own outside of Go's heap, the core above
	// all; resident all of its own that it has in memory. Pages of files, which the system takes and gives back as it likes, are not in it. In
	// bytes.
	heap, native, resident float64
	handles                int64
}

// takeSample collects first, and gives back what is free.
func takeSample(start time.Time) (sample, error) {
	// Metrics keep a series for each name of a policy that there ever was, upstream's no less than celgate's. They are the oldest objects of a run
	// and grow with it, and Go's heap grows by more than they are as each keeps a span of its size.
	legacyregistry.Reset()
	// Twice, as pools give their content up in the second collection.
	runtime.GC()
	runtime.GC()
	debug.FreeOSMemory()
	cabi.Trim()
	var stats runtime.MemStats
	runtime.ReadMemStats(&stats)
	s := sample{at: time.Since(start), heap: float64(stats.HeapAlloc), handles: cabi.Live()}
	var err error
	s.resident, s.native, err = mapped()
	return s, err
}

// heapReach is how far from any of its objects Go's heap may reach: it grows from one place, which Go chooses anew for each process, far from where
// the system maps other memory.
const heapReach = 1 << 36

// mapped gives the memory of the process's own that is resident, and the part of it that is not Go's heap.
func mapped() (resident, native float64, err error) {
	object := uint64(reflect.ValueOf(new([64]byte)).Pointer())
	file, err := os.Open("/proc/self/smaps")
	if err != nil {
		return 0, 0, err
	}
	defer file.Close()
	outside := false
	lines := bufio.NewScanner(file)
	for lines.Scan() {
		first, rest, _ := strings.Cut(lines.Text(), " ")
		if low, _, mapping := strings.Cut(first, "-"); mapping && !strings.HasSuffix(first, ":") {
			address, err := strconv.ParseUint(low, 16, 64)
			if err != nil {
				return 0, 0, err
			}
			outside = max(address, object)-min(address, object) > heapReach
			continue
		}
		if first != "Anonymous:" {
			continue
		}
		var kib float64
		if _, err := fmt.Sscan(rest, &kib); err != nil {
			return 0, 0, err
		}
		resident += kib * 1024
		if outside {
			native += kib * 1024
		}
	}
	return resident, native, lines.Err()
}

// slope is how much a measure grows per second, by least squares.
func slope(samples []sample, measure func(*sample) float64) float64 {
	var n, sumX, sumY, sumXX, sumXY float64
	for i := range samples {
		x, y := samples[i].at.Seconds(), measure(&samples[i])
		n, sumX, sumY, sumXX, sumXY = n+1, sumX+x, sumY+y, sumXX+x*x, sumXY+x*y
	}
	divisor := n*sumXX - sumX*sumX
	if divisor == 0 {
		return 0
	}
	return (n*sumXY - sumX*sumY) / divisor
}

const (
	// mostGrowth is what a measure may grow by in growthTime.
	mostGrowth = 1 << 20
	growthTime = 10 * time.Minute
	// warmGrowth is what it may grow by in samples that span less than warmTime: the C library's heaps reach their size in some ten minutes of
	// changes, of which a short run judges too much.
	warmGrowth = 16 << 20
	warmTime   = 15 * time.Minute
)

// windows is into how many parts samples are divided.
const windows = 4

// floor gives the least that a measure was in each window: what is cached at one moment and not at another adds to it, and what leaks raises it.
// Of few samples all count.
func floor(samples []sample, measure func(*sample) float64) (least []sample) {
	if len(samples) < 3*windows {
		return samples
	}
	for i := range windows {
		window := samples[i*len(samples)/windows : (i+1)*len(samples)/windows]
		// At the window's middle, as where in it the least is says nothing.
		at := (window[0].at + window[len(window)-1].at) / 2
		low := slices.MinFunc(window, func(a, b sample) int { return cmp.Compare(measure(&a), measure(&b)) })
		low.at = at
		least = append(least, low)
	}
	return least
}

// grows says by how much a measure grows in the time that the samples span, and whether that is too much.
func grows(samples []sample, measure func(*sample) float64) (per10Minutes float64, tooMuch bool) {
	if len(samples) < 3 {
		return 0, false
	}
	span := samples[len(samples)-1].at - samples[0].at
	perSecond := slope(floor(samples, measure), measure)
	per10Minutes = perSecond * growthTime.Seconds()
	if span < warmTime {
		return per10Minutes, perSecond*span.Seconds() > warmGrowth
	}
	return per10Minutes, per10Minutes > mostGrowth
}

// settle collects until the handles and goroutines are down to what they were, as long as it has patience, and gives what is left.
func settle(handles int64, goroutines int, patience time.Duration) (leftHandles int64, leftGoroutines int) {
	for deadline := time.Now().Add(patience); ; {
		runtime.GC()
		leftHandles, leftGoroutines = cabi.Live()-handles, runtime.NumGoroutine()-goroutines
		if leftHandles <= 0 && leftGoroutines <= 0 || time.Now().After(deadline) {
			return leftHandles, leftGoroutines
		}
		time.Sleep(10 * time.Millisecond)
	}
}
