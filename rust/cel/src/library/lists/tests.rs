use super::*;
use crate::context::Halt;
use crate::library::testing::{self, with_context};

fn call<'a>(ctx: &EvalContext<'a>, id: &str, args: &[Value<'a>]) -> (String, u64) {
    testing::call(ctx, &LIBRARY, id, args)
}

fn list<'a>(ctx: &EvalContext<'a>, elements: &[Value<'a>]) -> Value<'a> {
    Value::List(ctx.arena.alloc_slice_copy(elements))
}

fn ints<'a>(ctx: &EvalContext<'a>, elements: &[i64]) -> Value<'a> {
    Value::List(ctx.arena.alloc_slice_fill_iter(elements.iter().map(|i| Value::Int(*i))))
}

#[test]
fn parts_and_order() {
    with_context(|ctx| {
        let numbers = ints(ctx, &[3, 1, 2]);
        let slice = |start, end| call(ctx, "list_slice", &[numbers, Value::Int(start), Value::Int(end)]);
        assert_eq!(slice(0, 2), ("[3, 1]".into(), 13));
        assert_eq!(slice(-1, 2).0, "cannot slice(-1, 2), negative indexes not supported");
        assert_eq!(slice(2, 1).0, "cannot slice(2, 1), start index must be less than or equal to end index");
        assert_eq!(slice(2, 4), ("cannot slice(2, 4), list is length 3".into(), 12));
        assert_eq!(call(ctx, "list_reverse", &[numbers]), ("[2, 1, 3]".into(), 14));
        assert_eq!(call(ctx, "list_int_sort", &[numbers]), ("[1, 2, 3]".into(), 29));
        let keys = ints(ctx, &[2, 3, 1]);
        assert_eq!(call(ctx, "list_int_sortByAssociatedKeys", &[numbers, keys]).0, "[2, 3, 1]");
        assert_eq!(call(ctx, "list_distinct", &[list(ctx, &[Value::Int(1), Value::Uint(1)])]), ("[1]".into(), 19));
        assert_eq!(call(ctx, "list_distinct", &[list(ctx, &[Value::String("a")])]).1, 13);
    });
}

#[test]
fn ranges_are_limited() {
    with_context(|ctx| {
        assert_eq!(call(ctx, "lists_range", &[Value::Int(3)]), ("[0, 1, 2]".into(), 14));
        assert_eq!(call(ctx, "lists_range", &[Value::Int(-1)]).0, "lists.range: size must be non-negative, got -1");
        let too_long = call(ctx, "lists_range", &[Value::Int(1_000_001)]).0;
        assert_eq!(too_long, "lists.range: size 1000001 exceeds maximum allowed (1000000)");
        assert!(matches!(range(ctx, &[Value::Int(1_000_000)]), Value::Halt));
        assert_eq!((ctx.halt(), ctx.cost()), (Some(Halt::CostLimit), 1_000_011));
    });
}

#[test]
fn flatten_goes_as_deep_as_asked() {
    with_context(|ctx| {
        let mut nested = ints(ctx, &[1]);
        for _ in 0..100_000 {
            nested = list(ctx, &[nested, Value::Int(2)]);
        }
        assert!(call(ctx, "list_flatten_int", &[nested, Value::Int(400_000)]).0.starts_with("[1, 2, 2"));
        assert!(matches!(flatten(ctx, &[nested, Value::Int(i64::MAX)]), Value::Halt));
        assert_eq!((ctx.clear_halt(), ctx.leave(0) > 1_000_000), (Some(Halt::CostLimit), true));
        let two = list(ctx, &[list(ctx, &[ints(ctx, &[1]), Value::Int(2)])]);
        assert_eq!(call(ctx, "list_flatten", &[two]), ("[[1], 2]".into(), 12));
        assert_eq!(call(ctx, "list_flatten_int", &[two, Value::Int(0)]), ("[[[1], 2]]".into(), 11));
        assert_eq!(call(ctx, "list_flatten_int", &[two, Value::Int(-1)]), ("level must be non-negative".into(), 12));
        assert_eq!(call(ctx, "list_flatten", &[Value::Null]).0, "no such overload: null_type.flatten()");
    });
}

#[test]
fn keys_must_be_comparable_and_of_one_type() {
    with_context(|ctx| {
        let sorted = |list| call(ctx, "list_int_sort", &[list]).0;
        assert_eq!(sorted(list(ctx, &[Value::Null])), "list elements must be comparable");
        let mixed = list(ctx, &[Value::Int(1), Value::Uint(1)]);
        assert_eq!(sorted(mixed), "list elements must have the same type");
        assert_eq!(sorted(list(ctx, &[])), "[]");
        let uneven = call(ctx, "list_int_sortByAssociatedKeys", &[ints(ctx, &[1]), ints(ctx, &[1, 2])]).0;
        assert!(uneven.ends_with("but got 1 and 2 elements respectively"), "{uneven}");
    });
}

/// Where Go's code panics while it counts the cost.
#[test]
fn go_panics_end_the_evaluation() {
    with_context(|ctx| {
        assert_eq!(call(ctx, "list_distinct", &[Value::String("a")]).1, 0);
        let text = "internal error: interface conversion: types.String is not traits.Lister: missing method Contains";
        assert_eq!(ctx.clear_halt(), Some(Halt::Panic(text)));
        assert_eq!(call(ctx, "list_flatten_int", &[ints(ctx, &[]), ctx.error("e")]).1, 0);
        let text = "internal error: interface conversion: ref.Val is *types.Err, not types.Int";
        assert_eq!(ctx.clear_halt(), Some(Halt::Panic(text)));
    });
}

/// Orders of equal keys as Go 1.26's `sort.Slice` leaves them: length, modulus and factor of the keys, and a hash of the result.
#[test]
fn equal_keys_keep_gos_order() {
    for (len, modulus, factor, hash) in [
        (5usize, 3usize, 1usize, 0x0d68_30c0_2767_2909u64),
        (13, 2, 1, 0x1f0d_2022_4598_4cb5),
        (40, 7, 5, 0xdea8_ef45_862f_7543),
        (60, 10, 3, 0x16d0_c88d_fa83_f733),
        (200, 5, 37, 0xb86c_6edc_e7f3_f41b),
        (1000, 50, 7919, 0xbe80_fb12_4ae3_c49d),
        (5000, 3, 104_729, 0x7e50_af00_5848_f2f5),
        (300, 300, 299, 0xcd38_1a42_6866_1081),
        (100, 1, 1, 0xfb5c_8cec_60d8_3ab1),
        (2000, 1000, 1999, 0xcf36_1826_8968_b945),
    ] {
        let key = |i: usize| i * factor % modulus;
        assert_eq!(order_hash(len, |a, b| key(*a) < key(*b)), hash, "{len} {modulus} {factor}");
    }
    let pipe = |i: usize| if i < 250 { i } else { 500 - i };
    assert_eq!(order_hash(500, |a, b| pipe(*a) < pipe(*b)), 0x4f0c_e7a2_c612_e3eb);
    // Not an order at all, as with NaN.
    let some = |a: &usize, b: &usize| !a.is_multiple_of(5) && !b.is_multiple_of(5) && (a * 31) % 97 < (b * 31) % 97;
    assert_eq!(order_hash(500, some), 0xa694_c514_6879_c3af);
}

fn order_hash(len: usize, less: impl Fn(&usize, &usize) -> bool) -> u64 {
    let mut order: Vec<usize> = (0..len).collect();
    pdqsort::sort_by(&mut order, less);
    order.iter().fold(14_695_981_039_346_656_037, |hash, i| (hash ^ *i as u64).wrapping_mul(1_099_511_628_211))
}
