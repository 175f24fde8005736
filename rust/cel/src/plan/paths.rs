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
    /// What has the number that is one more than the index, and how many have it.
    paths: Vec<(Arc<[u8]>, u32)>,
    free: Vec<u32>,
}

/// Nothing panics while it is locked.
fn registry() -> MutexGuard<'static, Option<Registry>> {
    REGISTRY.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The number of a path. As long as it lives, it is that of no other path.
#[derive(Debug)]
pub(crate) struct Path(u32);

impl Path {
    /// What is not a path of fields.
    pub(super) const NONE: Path = Path(0);

    /// Numbers a path; an empty one, and one not of fields alone, is none.
    pub(super) fn new(path: &[Qualifier], names: &Names) -> Path {
        let Some(key) = key(path, names) else { return Path::NONE };
        let mut registry = registry();
        let Registry { numbers, paths, free } = registry.get_or_insert_default();
        if let Some(&number) = numbers.get(&*key) {
            if let Some((_, users)) = paths.get_mut(number as usize - 1) {
                *users = users.saturating_add(1);
            }
            return Path(number);
        }
        let key: Arc<[u8]> = key.into();
        let number = free.pop().unwrap_or(paths.len() as u32 + 1);
        match paths.get_mut(number as usize - 1) {
            Some(path) => *path = (Arc::clone(&key), 1),
            None => paths.push((Arc::clone(&key), 1)),
        }
        numbers.insert(key, number);
        Path(number)
    }

    /// The number; 0 if there is none.
    #[inline]
    pub(crate) fn number(&self) -> u32 {
        self.0
    }
}

impl Drop for Path {
    fn drop(&mut self) {
        if self.0 == 0 {
            return;
        }
        let mut registry = registry();
        let Some(Registry { numbers, paths, free }) = registry.as_mut() else { return };
        let Some((path, users)) = paths.get_mut(self.0 as usize - 1) else { return };
        *users = users.saturating_sub(1);
        if *users == 0 {
            numbers.remove(path);
            *path = Arc::default();
            free.push(self.0);
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
        let mut names = Names::default();
        let long = path(&mut names, &[("paths-test-a", false), ("b", false)]);
        let (a, b) = (Path::new(&long, &names), Path::new(&long, &names));
        assert_eq!(a.number(), b.number());
        let others: [&[(&str, bool)]; 4] = [
            &[("paths-test-a", false), ("b", true)],
            &[("paths-test-a", false)],
            &[("paths-test-ab", false)],
            &[("paths-test-a", false), ("b", false), ("", false)],
        ];
        for other in others {
            let other = path(&mut names, other);
            assert_ne!(Path::new(&other, &names).number(), a.number());
        }
        drop(a);
        assert_eq!(Path::new(&long, &names).number(), b.number());
        assert_eq!(Path::new(&[], &names).number(), 0);
        drop(b);
        assert!(!registry().as_ref().unwrap().numbers.contains_key(&*key(&long, &names).unwrap()));
    }
}
