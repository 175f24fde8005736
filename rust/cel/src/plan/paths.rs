//! Numbers for paths of fields: the same for all programs of the process that follow the same path, so that one [`crate::memo::Memo`] serves
//! them all.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::names::Names;
use super::{Qualifier, QualifierKind};

static REGISTRY: Mutex<Option<Registry>> = Mutex::new(None);

#[derive(Debug, Default)]
struct Registry {
    numbers: HashMap<Arc<[u8]>, u32>,
    /// What has the number that is one more than the index, and how many programs know it.
    paths: Vec<(Arc<[u8]>, u32)>,
    free: Vec<u32>,
}

/// Nothing panics while it is locked.
fn registry() -> MutexGuard<'static, Option<Registry>> {
    REGISTRY.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The numbers of a program's paths. As long as it lives, they belong to no other paths.
#[derive(Debug, Default)]
pub(crate) struct Paths(Vec<u32>);

impl Paths {
    /// The number of a path, which is never 0; 0 if it is empty or not of fields alone.
    pub(super) fn number(&mut self, path: &[Qualifier], names: &Names) -> u32 {
        let Some(key) = key(path, names) else { return 0 };
        let mut registry = registry();
        let Registry { numbers, paths, free } = registry.get_or_insert_default();
        if let Some(&number) = numbers.get(&*key) {
            if !self.0.contains(&number) {
                self.0.push(number);
                if let Some((_, users)) = paths.get_mut(number as usize - 1) {
                    *users = users.saturating_add(1);
                }
            }
            return number;
        }
        let key: Arc<[u8]> = key.into();
        let number = free.pop().unwrap_or(paths.len() as u32 + 1);
        match paths.get_mut(number as usize - 1) {
            Some(path) => *path = (Arc::clone(&key), 1),
            None => paths.push((Arc::clone(&key), 1)),
        }
        numbers.insert(key, number);
        self.0.push(number);
        number
    }

    /// Gives back what lists keep for growing.
    pub(crate) fn finish(mut self) -> Paths {
        self.0.shrink_to_fit();
        self
    }
}

impl Drop for Paths {
    fn drop(&mut self) {
        if self.0.is_empty() {
            return;
        }
        let mut registry = registry();
        let Some(Registry { numbers, paths, free }) = registry.as_mut() else { return };
        for &number in &self.0 {
            let Some((path, users)) = paths.get_mut(number as usize - 1) else { continue };
            *users = users.saturating_sub(1);
            if *users == 0 {
                numbers.remove(path);
                *path = Arc::default();
                free.push(number);
            }
        }
    }
}

/// The fields with their lengths, so that different paths have different keys; a test is another path than the value.
fn key(path: &[Qualifier], names: &Names) -> Option<Vec<u8>> {
    let mut key = Vec::new();
    for qualifier in path {
        let (name, test) = match qualifier.kind {
            QualifierKind::String(name) => (names.text(name), 0),
            QualifierKind::Test(name) => (names.text(name), 1),
            _ => return None,
        };
        key.extend_from_slice(&(name.len() as u32).to_le_bytes());
        key.extend_from_slice(name.as_bytes());
        key.push(test);
    }
    (!key.is_empty()).then_some(key)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::Hint;

    fn path(names: &mut Names, fields: &[(&str, bool)]) -> Vec<Qualifier> {
        let mut qualifier = |(name, test): &(&str, bool)| {
            let name = names.add(name);
            let kind = if *test { QualifierKind::Test(name) } else { QualifierKind::String(name) };
            Qualifier { id: 0, optional: false, kind, hint: Hint::default() }
        };
        fields.iter().map(&mut qualifier).collect()
    }

    #[test]
    fn the_same_path_has_the_same_number_as_long_as_anybody_knows_it() {
        let (mut a, mut b, mut names) = (Paths::default(), Paths::default(), Names::default());
        let long = path(&mut names, &[("paths-test-a", false), ("b", false)]);
        let number = a.number(&long, &names);
        assert_eq!((a.number(&long, &names), b.number(&long, &names)), (number, number));
        let others: [&[(&str, bool)]; 4] = [
            &[("paths-test-a", false), ("b", true)],
            &[("paths-test-a", false)],
            &[("paths-test-ab", false)],
            &[("paths-test-a", false), ("b", false), ("", false)],
        ];
        for other in others {
            let other = path(&mut names, other);
            assert_ne!(a.number(&other, &names), number);
        }
        drop(a);
        assert_eq!(b.number(&long, &names), number);
        assert_eq!(b.number(&[], &names), 0);
        drop(b);
        assert!(!registry().as_ref().unwrap().numbers.contains_key(&*key(&long, &names).unwrap()));
    }
}
