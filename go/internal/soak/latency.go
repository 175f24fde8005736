package soak

import (
	"math"
	"math/bits"
	"time"
)

// latencies is a histogram of times: 16 buckets for each doubling of a nanosecond, so that a quantile is right within 6 %.
type latencies struct {
	buckets [64 * subBuckets]uint64
	count   uint64
}

const subBuckets = 16

func bucketOf(d time.Duration) int {
	n := uint64(max(d, 1))
	exponent := bits.Len64(n) - 1
	if exponent < 4 {
		return int(n)
	}
	return exponent*subBuckets + int(n>>(exponent-4)) - subBuckets
}

// upper is the longest time of a bucket.
func upper(bucket int) time.Duration {
	exponent := bucket / subBuckets
	if exponent < 4 {
		return time.Duration(bucket)
	}
	return time.Duration((uint64(bucket%subBuckets+subBuckets)+1)<<(exponent-4) - 1)
}

func (l *latencies) add(d time.Duration) {
	l.buckets[bucketOf(d)]++
	l.count++
}

func (l *latencies) merge(other *latencies) {
	for i, count := range other.buckets {
		l.buckets[i] += count
	}
	l.count += other.count
}

// quantile is the time that a share of the requests took at most; 0 if there are none.
func (l *latencies) quantile(q float64) time.Duration {
	if l.count == 0 {
		return 0
	}
	rank := uint64(math.Ceil(q * float64(l.count)))
	var seen uint64
	for i, count := range l.buckets {
		if seen += count; seen >= rank {
			return upper(i)
		}
	}
	return upper(len(l.buckets) - 1)
}
