//! Go's `sort.Slice`, an unstable pattern-defeating quicksort: the order in which it leaves equal elements is seen by users of
//! `sortBy`, so that order must be Go's.

/// Slices up to this length are sorted by insertion.
const MAX_INSERTION: usize = 12;

/// Sorts by a function that says whether one element must come before another.
pub(super) fn sort_by<T>(data: &mut [T], less: impl Fn(&T, &T) -> bool) {
    let len = data.len();
    Sorter { data, less }.pdqsort(0, len, len.checked_ilog2().map_or(0, |log| log + 1));
}

#[derive(PartialEq, Clone, Copy)]
enum Hint {
    Unknown,
    Increasing,
    Decreasing,
}

struct Sorter<'d, T, F> {
    data: &'d mut [T],
    less: F,
}

impl<T, F: Fn(&T, &T) -> bool> Sorter<'_, T, F> {
    fn less(&self, i: usize, j: usize) -> bool {
        match (self.data.get(i), self.data.get(j)) {
            (Some(a), Some(b)) => (self.less)(a, b),
            _ => false,
        }
    }

    fn swap(&mut self, i: usize, j: usize) {
        if i < self.data.len() && j < self.data.len() {
            self.data.swap(i, j);
        }
    }

    fn pdqsort(&mut self, mut a: usize, mut b: usize, mut limit: u32) {
        let (mut was_balanced, mut was_partitioned) = (true, true);
        loop {
            let len = b - a;
            if len <= MAX_INSERTION {
                return self.insertion_sort(a, b);
            }
            if limit == 0 {
                return self.heap_sort(a, b);
            }
            if !was_balanced {
                self.break_patterns(a, b);
                limit -= 1;
            }
            let (mut pivot, mut hint) = self.choose_pivot(a, b);
            if hint == Hint::Decreasing {
                if let Some(part) = self.data.get_mut(a..b) {
                    part.reverse();
                }
                pivot = (b - 1) - (pivot - a);
                hint = Hint::Increasing;
            }
            if was_balanced && was_partitioned && hint == Hint::Increasing && self.partial_insertion_sort(a, b) {
                return;
            }
            if a > 0 && !self.less(a - 1, pivot) {
                a = self.partition_equal(a, b, pivot);
                continue;
            }
            let middle;
            (middle, was_partitioned) = self.partition(a, b, pivot);
            let (left, right) = (middle - a, b - middle);
            was_balanced = left.min(right) >= len / 8;
            if left < right {
                self.pdqsort(a, middle, limit);
                a = middle + 1;
            } else {
                self.pdqsort(middle + 1, b, limit);
                b = middle;
            }
        }
    }

    fn insertion_sort(&mut self, a: usize, b: usize) {
        for i in a + 1..b {
            let mut j = i;
            while j > a && self.less(j, j - 1) {
                self.swap(j, j - 1);
                j -= 1;
            }
        }
    }

    fn heap_sort(&mut self, a: usize, b: usize) {
        let end = b - a;
        for i in (0..=(end.saturating_sub(1)) / 2).rev() {
            self.sift_down(i, end, a);
        }
        for i in (0..end).rev() {
            self.swap(a, a + i);
            self.sift_down(0, i, a);
        }
    }

    fn sift_down(&mut self, mut root: usize, end: usize, first: usize) {
        loop {
            let mut child = 2 * root + 1;
            if child >= end {
                return;
            }
            if child + 1 < end && self.less(first + child, first + child + 1) {
                child += 1;
            }
            if !self.less(first + root, first + child) {
                return;
            }
            self.swap(first + root, first + child);
            root = child;
        }
    }

    /// Moves what is less than the pivot before it; the pivot's new place, and whether nothing had to move.
    fn partition(&mut self, a: usize, b: usize, pivot: usize) -> (usize, bool) {
        self.swap(a, pivot);
        let (mut i, mut j) = (a + 1, b - 1);
        let mut moved = false;
        loop {
            while i <= j && self.less(i, a) {
                i += 1;
            }
            while i <= j && !self.less(j, a) {
                j -= 1;
            }
            if i > j {
                self.swap(j, a);
                return (j, !moved);
            }
            self.swap(i, j);
            moved = true;
            i += 1;
            j -= 1;
        }
    }

    /// Moves what equals the pivot to the front, where nothing is less than it; the end of these.
    fn partition_equal(&mut self, a: usize, b: usize, pivot: usize) -> usize {
        self.swap(a, pivot);
        let (mut i, mut j) = (a + 1, b - 1);
        loop {
            while i <= j && !self.less(a, i) {
                i += 1;
            }
            while i <= j && self.less(a, j) {
                j -= 1;
            }
            if i > j {
                return i;
            }
            self.swap(i, j);
            i += 1;
            j -= 1;
        }
    }

    /// Tries to sort what is nearly sorted.
    fn partial_insertion_sort(&mut self, a: usize, b: usize) -> bool {
        const MAX_STEPS: usize = 5;
        const SHORTEST_SHIFTING: usize = 50;
        let mut i = a + 1;
        for _ in 0..MAX_STEPS {
            while i < b && !self.less(i, i - 1) {
                i += 1;
            }
            if i == b {
                return true;
            }
            if b - a < SHORTEST_SHIFTING {
                return false;
            }
            self.swap(i, i - 1);
            if i - a >= 2 {
                let mut j = i - 1;
                while j >= 1 && self.less(j, j - 1) {
                    self.swap(j, j - 1);
                    j -= 1;
                }
            }
            if b - i >= 2 {
                let mut j = i + 1;
                while j < b && self.less(j, j - 1) {
                    self.swap(j, j - 1);
                    j += 1;
                }
            }
        }
        false
    }

    /// Scatters some elements; the pseudo-random numbers are Go's.
    fn break_patterns(&mut self, a: usize, b: usize) {
        let len = b - a;
        if len < 8 {
            return;
        }
        let mut random = len as u64;
        let modulus = 1u64 << (usize::BITS - len.leading_zeros());
        let middle = a + len / 4 * 2;
        for index in middle - 1..=middle + 1 {
            random ^= random << 13;
            random ^= random >> 7;
            random ^= random << 17;
            let other = (random & (modulus - 1)) as usize;
            self.swap(index, a + if other >= len { other - len } else { other });
        }
    }

    fn choose_pivot(&self, a: usize, b: usize) -> (usize, Hint) {
        const SHORTEST_NINTHER: usize = 50;
        const MAX_SWAPS: u32 = 12;
        let len = b - a;
        let mut swaps = 0;
        let (mut i, mut j, mut k) = (a + len / 4, a + len / 4 * 2, a + len / 4 * 3);
        if len >= 8 {
            if len >= SHORTEST_NINTHER {
                i = self.median(i - 1, i, i + 1, &mut swaps);
                j = self.median(j - 1, j, j + 1, &mut swaps);
                k = self.median(k - 1, k, k + 1, &mut swaps);
            }
            j = self.median(i, j, k, &mut swaps);
        }
        let hint = match swaps {
            0 => Hint::Increasing,
            MAX_SWAPS => Hint::Decreasing,
            _ => Hint::Unknown,
        };
        (j, hint)
    }

    fn median(&self, a: usize, b: usize, c: usize, swaps: &mut u32) -> usize {
        let (a, b) = self.ordered(a, b, swaps);
        let (b, _) = self.ordered(b, c, swaps);
        self.ordered(a, b, swaps).1
    }

    fn ordered(&self, a: usize, b: usize, swaps: &mut u32) -> (usize, usize) {
        if self.less(b, a) {
            *swaps += 1;
            return (b, a);
        }
        (a, b)
    }
}
