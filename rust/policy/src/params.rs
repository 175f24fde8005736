//! Params: an immutable, persistent set of one paramKind's objects, and the choice that a binding's paramRef makes among them.

use std::collections::BTreeMap;
use std::sync::Arc;

use celgate_cel::record::{OwnedRecord, Record};
use celgate_cel::value::Value;

use crate::mutants::{Mutant, planted};
use crate::reader::Reader;
use crate::selector::{Labels, Selector};

/// One param: its record, checked once.
#[derive(Debug)]
pub struct Param {
    record: OwnedRecord,
}

impl Param {
    /// Checks a param record (docs/record-format.md); the error says what is wrong with it.
    pub fn parse(bytes: &[u8]) -> Result<Param, String> {
        let record = OwnedRecord::parse(bytes).map_err(|error| format!("param record: {error:?}"))?;
        match record.as_record().roots() {
            1 => Ok(Param { record }),
            roots => Err(format!("param record has {roots} roots")),
        }
    }

    /// The record, for reading in place.
    pub fn record(&self) -> Record<'_> {
        self.record.as_record()
    }

    /// Whether the param's labels satisfy a selector.
    fn selected(&self, selector: &Selector) -> bool {
        if selector.is_empty() {
            return true;
        }
        let record = self.record();
        let metadata = record.root(0).and_then(|param| field(param, "metadata"));
        selector.matches(&ValueLabels(metadata.and_then(|metadata| field(metadata, "labels"))))
    }
}

fn field<'a>(value: Value<'a>, name: &str) -> Option<Value<'a>> {
    match value {
        Value::Record(record) if !record.is_list() => record.field(name),
        _ => None,
    }
}

/// Labels in a record: a map of strings. Anything else has none.
#[derive(Clone, Copy)]
pub(crate) struct ValueLabels<'a>(pub(crate) Option<Value<'a>>);

impl Labels for ValueLabels<'_> {
    fn label(&self, key: &str) -> Option<&str> {
        match self.0.and_then(|labels| field(labels, key)) {
            Some(Value::String(value)) => Some(value),
            _ => None,
        }
    }
}

/// The params of one namespace, by name.
type Namespace = BTreeMap<Arc<str>, Arc<Param>>;

/// An immutable set of params. Cloning copies nothing; applying a batch copies the tables of the namespaces that it touches, never params.
#[derive(Debug, Clone, Default)]
pub struct ParamSet {
    namespaces: Arc<BTreeMap<Arc<str>, Arc<Namespace>>>,
}

impl ParamSet {
    /// A set without params.
    pub fn empty() -> ParamSet {
        ParamSet::default()
    }

    /// The set after a batch of changes (docs/abi.md, "Param batches"); the error says where the batch is malformed.
    /// Nothing of a malformed batch is applied.
    pub fn apply(&self, batch: &[u8]) -> Result<ParamSet, String> {
        let mut set = self.clone();
        let mut reader = Reader::new(batch);
        let count = reader.number().ok_or("batch ends early")?;
        for index in 0..count {
            let change = (|| Some((reader.number()?, reader.text()?, reader.text()?)))();
            let (operation, namespace, name) =
                change.ok_or_else(|| format!("batch ends early or is not UTF-8 in change {index}"))?;
            match operation {
                0 => {
                    let record = reader.bytes().ok_or_else(|| format!("batch ends early in change {index}"))?;
                    set.put(namespace, name, Param::parse(record).map_err(|error| format!("change {index}: {error}"))?);
                }
                1 => set.delete(namespace, name),
                other => return Err(format!("unknown operation {other} in change {index}")),
            }
        }
        if reader.is_empty() { Ok(set) } else { Err("batch has bytes after its last change".to_owned()) }
    }

    fn put(&mut self, namespace: &str, name: &str, param: Param) {
        let namespaces = Arc::make_mut(&mut self.namespaces);
        let params = match namespaces.get_mut(namespace) {
            Some(params) => params,
            None => namespaces.entry(namespace.into()).or_default(),
        };
        Arc::make_mut(params).insert(name.into(), Arc::new(param));
    }

    fn delete(&mut self, namespace: &str, name: &str) {
        let namespaces = Arc::make_mut(&mut self.namespaces);
        let Some(params) = namespaces.get_mut(namespace) else { return };
        let params = Arc::make_mut(params);
        if !planted(Mutant::DeletedParamsStay) {
            params.remove(name);
        }
        if params.is_empty() {
            namespaces.remove(namespace);
        }
    }

    /// The param of this name; the namespace is empty for cluster-scoped kinds.
    pub fn get(&self, namespace: &str, name: &str) -> Option<&Arc<Param>> {
        self.namespaces.get(namespace)?.get(name)
    }

    /// The params of a namespace that a selector selects, by name.
    pub fn select<'a>(
        &'a self,
        namespace: &str,
        selector: &'a Selector,
    ) -> impl Iterator<Item = &'a Arc<Param>> + use<'a> {
        self.namespaces
            .get(namespace)
            .into_iter()
            .flat_map(|params| params.values())
            .filter(|param| param.selected(selector))
    }

    /// Number of params.
    pub fn len(&self) -> usize {
        self.namespaces.values().map(|params| params.len()).sum()
    }

    /// Whether there are no params.
    pub fn is_empty(&self) -> bool {
        self.namespaces.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use celgate_testkit::wire::{batch, param};
    use serde_json::json;

    use super::*;

    fn labelled(app: &str) -> serde_json::Value {
        json!({"metadata": {"labels": {"app": app}}, "data": {"k": "v"}})
    }

    #[test]
    fn batches_make_new_sets() {
        let first = ParamSet::empty()
            .apply(&batch(&[
                ("b", "x", Some(labelled("1"))),
                ("a", "z", Some(labelled("1"))),
                ("a", "y", Some(labelled("2"))),
            ]))
            .unwrap();
        let second =
            first.apply(&batch(&[("a", "z", None), ("", "c", Some(labelled("3"))), ("q", "none", None)])).unwrap();
        assert_eq!((first.len(), second.len()), (3, 3));
        assert!(first.get("a", "z").is_some() && second.get("a", "z").is_none());
        assert!(second.get("", "c").is_some());
        assert!(Arc::ptr_eq(first.get("a", "y").unwrap(), second.get("a", "y").unwrap()));
    }

    #[test]
    fn selects_in_order_of_names_within_a_namespace() {
        let changes = [
            ("n", "b", Some(labelled("1"))),
            ("n", "a", Some(labelled("1"))),
            ("n", "c", Some(labelled("2"))),
            ("m", "d", Some(labelled("1"))),
        ];
        let set = ParamSet::empty().apply(&batch(&changes)).unwrap();
        let selector =
            |json: serde_json::Value| Selector::parse(&crate::api::read::part(&json.to_string()).unwrap()).unwrap();
        let one = selector(json!({"matchLabels": {"app": "1"}}));
        let found: Vec<_> = set.select("n", &one).map(Arc::as_ptr).collect();
        assert_eq!(found, [Arc::as_ptr(set.get("n", "a").unwrap()), Arc::as_ptr(set.get("n", "b").unwrap())]);
        assert_eq!(set.select("n", &selector(json!({}))).count(), 3);
        assert_eq!(set.select("none", &one).count(), 0);
    }

    #[test]
    fn malformed_batches_are_refused() {
        let good = batch(&[("n", "a", Some(json!({})))]);
        for len in 0..good.len() {
            assert!(ParamSet::empty().apply(&good[..len]).is_err(), "{len}");
        }
        let mut long = good.clone();
        long.push(0);
        assert!(ParamSet::empty().apply(&long).is_err());
        let mut operation = good;
        operation[4] = 9;
        assert_eq!(ParamSet::empty().apply(&operation).unwrap_err(), "unknown operation 9 in change 0");
        assert!(Param::parse(&param(&json!({}))[..8]).is_err());
    }
}
