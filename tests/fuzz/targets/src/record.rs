//! Any bytes as a record.

use bumpalo::Bump;
use celgate_cel::context::{EvalContext, NoHost};
use celgate_cel::ops::equal;
use celgate_cel::record::{Edit, OwnedRecord, Record};
use celgate_cel::value::{ListView, MapView, Value};

/// Parts of one record may be shared, so that a walk through a small one can be endless.
const MAX_STEPS: usize = 10_000;

/// Borrowed and owned records have the same verdict and values, and everything in a record can be read.
pub fn run(data: &[u8]) {
    let (borrowed, owned) = (Record::parse(data), OwnedRecord::parse(data));
    assert_eq!(borrowed.as_ref().err(), owned.as_ref().err(), "borrowed and owned differ");
    let (Ok(borrowed), Ok(owned)) = (borrowed, owned) else { return };
    let owned = owned.as_record();
    let arena = Bump::new();
    let ctx = EvalContext::new(&arena, &NoHost, u64::MAX);
    let (mut steps, mut other_steps) = (0, 0);
    for root in 0..borrowed.roots() {
        let (a, b) = (borrowed.root(root), owned.root(root));
        assert_eq!(a.is_some(), b.is_some(), "borrowed and owned differ at root {root}");
        if let (Some(a), Some(b)) = (a, b) {
            read(&ctx, a, 0, &mut steps);
            read(&ctx, b, 0, &mut other_steps);
            if steps < MAX_STEPS {
                equal(&ctx, a, b);
                edit(&arena, a);
            }
        }
    }
    assert_eq!(steps, other_steps, "borrowed and owned differ");
    assert!(borrowed.root(borrowed.roots()).is_none(), "one root too many");
}

fn edit<'a>(arena: &'a Bump, value: Value<'a>) {
    if let Value::Record(record) = value
        && !record.is_list()
    {
        record.edited(
            arena,
            0,
            &[Edit::Drop("a"), Edit::DropInner("metadata", &["labels", "name"]), Edit::Add("added", &[("b", "c")])],
        );
    }
}

fn read<'a>(ctx: &EvalContext<'a>, value: Value<'a>, depth: usize, steps: &mut usize) {
    *steps += 1;
    if *steps > MAX_STEPS || depth > 100 {
        return;
    }
    if let Some(list) = ListView::of(value) {
        for element in list.iter() {
            read(ctx, element, depth + 1, steps);
        }
        assert!(list.get(list.len()).is_none(), "one element too many");
    } else if let Some(map) = MapView::of(value) {
        let order = map.order(ctx);
        for (key, value) in (0..order.len()).filter_map(|i| order.entry(ctx, i)) {
            assert!(matches!(key, Value::String(_)), "a key that is no string");
            map.find(ctx, key);
            read(ctx, value, depth + 1, steps);
        }
    }
}
