//! How often each policy is evaluated, counted without a cache line that two threads write: each scratch counts in a shard of its own, and
//! reading sums them up.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

/// Counters of the first chunk of a shard; each further chunk is twice as long.
const FIRST: usize = 64;

/// Chunks that number all policies that a `u32` can.
const CHUNKS: usize = 27;

/// All counters of the process.
static REGISTRY: Mutex<Option<Registry>> = Mutex::new(None);

#[derive(Debug, Default)]
struct Registry {
    /// The number of each name, and how many policies bear it: a changed policy goes on with the count of the one before.
    names: HashMap<Arc<str>, (u32, u32)>,
    /// Numbers that no name has any more.
    free: Vec<u32>,
    shards: Vec<Arc<Shard>>,
    /// Shards whose scratch is gone; their counts stay.
    idle: Vec<Arc<Shard>>,
}

/// Nothing panics while it is locked, and a count may always be read.
fn registry() -> MutexGuard<'static, Option<Registry>> {
    REGISTRY.lock().unwrap_or_else(PoisonError::into_inner)
}

#[derive(Debug, Default)]
struct Shard {
    chunks: [OnceLock<Box<[AtomicU64]>>; CHUNKS],
}

impl Shard {
    /// The chunk that has a counter, and where.
    fn place(number: u32) -> (usize, usize) {
        let position = number as usize + FIRST;
        let chunk = (position / FIRST).ilog2() as usize;
        (chunk, position - (FIRST << chunk))
    }

    fn counter(&self, number: u32) -> Option<&AtomicU64> {
        let (chunk, at) = Shard::place(number);
        self.chunks.get(chunk)?.get()?.get(at)
    }

    /// Only one thread at a time counts in a shard, so that no instruction need be atomic.
    #[inline]
    fn add(&self, (chunk, at): (usize, usize)) {
        let Some(chunk_of) = self.chunks.get(chunk) else { return };
        let counters =
            chunk_of.get_or_init(|| std::iter::repeat_with(AtomicU64::default).take(FIRST << chunk).collect());
        if let Some(counter) = counters.get(at) {
            counter.store(counter.load(Relaxed).wrapping_add(1), Relaxed);
        }
    }
}

/// A policy's name, and its place in every shard.
#[derive(Debug)]
pub(crate) struct Counted {
    name: Arc<str>,
    number: u32,
    /// Of its counter in a shard.
    place: (usize, usize),
}

impl Counted {
    pub(crate) fn new(name: &str) -> Counted {
        let mut registry = registry();
        let Registry { names, free, .. } = registry.get_or_insert_default();
        if let Some((name, (number, policies))) =
            names.get_key_value(name).map(|(name, entry)| (Arc::clone(name), *entry))
        {
            names.insert(Arc::clone(&name), (number, policies.saturating_add(1)));
            return Counted { name, number, place: Shard::place(number) };
        }
        let name: Arc<str> = name.into();
        // Without free numbers, those in use are 0, 1, 2 and so on.
        let number = free.pop().unwrap_or(names.len() as u32);
        names.insert(Arc::clone(&name), (number, 1));
        Counted { name, number, place: Shard::place(number) }
    }

    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    /// How often policies of this name were evaluated, by all scratches together.
    pub(crate) fn total(&self) -> u64 {
        let registry = registry();
        let shards = registry.iter().flat_map(|registry| &registry.shards);
        shards.filter_map(|shard| shard.counter(self.number)).map(|counter| counter.load(Relaxed)).sum()
    }
}

impl Drop for Counted {
    fn drop(&mut self) {
        let mut registry = registry();
        let Some(Registry { names, free, shards, .. }) = registry.as_mut() else { return };
        let Some((_, policies)) = names.get_mut(&self.name) else { return };
        *policies = policies.saturating_sub(1);
        if *policies > 0 {
            return;
        }
        // Whoever evaluates the policy keeps it, so nobody counts here any more.
        names.remove(&self.name);
        for counter in shards.iter().filter_map(|shard| shard.counter(self.number)) {
            counter.store(0, Relaxed);
        }
        free.push(self.number);
    }
}

/// A scratch's shard.
#[derive(Debug)]
pub(crate) struct Counter(Arc<Shard>);

impl Counter {
    pub(crate) fn add(&self, policy: &Counted) {
        self.0.add(policy.place);
    }
}

impl Default for Counter {
    fn default() -> Counter {
        let mut registry = registry();
        let Registry { shards, idle, .. } = registry.get_or_insert_default();
        Counter(idle.pop().unwrap_or_else(|| {
            let shard = Arc::<Shard>::default();
            shards.push(Arc::clone(&shard));
            shard
        }))
    }
}

impl Drop for Counter {
    fn drop(&mut self) {
        if let Some(registry) = registry().as_mut() {
            registry.idle.push(Arc::clone(&self.0));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_distinct_and_in_order() {
        assert_eq!(Shard::place(0), (0, 0));
        assert_eq!(Shard::place(63), (0, 63));
        assert_eq!(Shard::place(64), (1, 0));
        assert_eq!(Shard::place(191), (1, 127));
        assert_eq!(Shard::place(192), (2, 0));
        assert!(Shard::place(u32::MAX).0 < CHUNKS);
    }

    #[test]
    fn counts_add_up_over_scratches_and_versions() {
        let first = Counted::new("counts-add-up");
        let (a, b) = (Counter::default(), Counter::default());
        a.add(&first);
        b.add(&first);
        drop(b);
        assert_eq!(first.total(), 2);
        let second = Counted::new("counts-add-up");
        drop(first);
        a.add(&second);
        assert_eq!(second.total(), 3, "a changed policy goes on");
        drop(second);
        assert_eq!(Counted::new("counts-add-up").total(), 0, "a new policy of an old name begins anew");
    }

    #[test]
    fn many_policies_have_counters_of_their_own() {
        let counter = Counter::default();
        let policies: Vec<Counted> = (0..1000).map(|i| Counted::new(&format!("many-{i}"))).collect();
        for (i, policy) in policies.iter().enumerate() {
            (0..i % 3).for_each(|_| counter.add(policy));
        }
        for (i, policy) in policies.iter().enumerate() {
            assert_eq!(policy.total(), i as u64 % 3);
        }
    }

    #[test]
    fn threads_count_beside_each_other() {
        let policy = Counted::new("threads-count");
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    let counter = Counter::default();
                    (0..10_000).for_each(|_| counter.add(&policy));
                });
            }
        });
        assert_eq!(policy.total(), 40_000);
    }
}
