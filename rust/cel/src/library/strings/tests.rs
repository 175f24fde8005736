use super::*;
use crate::context::Halt;
use crate::library::testing::{self, with_context};

fn call<'a>(ctx: &EvalContext<'a>, id: &str, args: &[Value<'a>]) -> (String, u64) {
    testing::call(ctx, &LIBRARY, id, args)
}

fn text<'a>(text: &'static str) -> Value<'a> {
    Value::String(text)
}

fn long<'a>(ctx: &EvalContext<'a>, bytes: usize) -> Value<'a> {
    Value::String(ctx.arena.alloc_str(&"a".repeat(bytes)))
}

fn list<'a>(ctx: &EvalContext<'a>, elements: &[Value<'a>]) -> Value<'a> {
    Value::List(ctx.arena.alloc_slice_copy(elements))
}

fn int<'a>(value: i64) -> Value<'a> {
    Value::Int(value)
}

#[test]
fn positions_are_code_points() {
    with_context(|ctx| {
        let word = text("héllo");
        let char_at = |i| call(ctx, "string_char_at_int", &[word, int(i)]).0;
        assert_eq!([1, 5, 6, -1].map(char_at), ["é", "", "index out of range: 6", "index out of range: -1"]);
        let substring = |a, b| call(ctx, "string_substring_int_int", &[word, int(a), int(b)]).0;
        assert_eq!(substring(1, 3), "él");
        assert_eq!(substring(3, 1), "invalid substring range. start: 3, end: 1");
        assert_eq!(substring(1, 9), "index out of range: 9");
        assert_eq!(call(ctx, "string_substring_int", &[word, int(5)]), (String::new(), 1));
        assert_eq!(call(ctx, "string_substring_int", &[word, int(6)]).0, "index out of range: 6");
    });
}

#[test]
fn searching_from_a_position() {
    with_context(|ctx| {
        let word = text("héllo");
        let index = |part, from| call(ctx, "string_index_of_string_int", &[word, text(part), int(from)]).0;
        assert_eq!([index("l", 3), index("l", 10), index("", 10), index("", 3)], ["3", "-1", "5", "3"]);
        assert_eq!(index("l", -1), "index out of range: -1");
        let last = |part, from| call(ctx, "string_last_index_of_string_int", &[word, text(part), int(from)]).0;
        assert_eq!([last("l", 2), last("l", 100), last("", 2), last("héllo!", 0)], ["2", "-1", "2", "-1"]);
        assert_eq!([last("llo", 2), last("llo", 1)], ["2", "-1"]);
        assert_eq!(call(ctx, "string_last_index_of_string", &[word, text("")]), ("5".into(), 0));
        assert_eq!(call(ctx, "string_index_of_string", &[text("0123456789é"), text("é")]), ("10".into(), 1));
    });
}

#[test]
fn replacing_and_splitting() {
    with_context(|ctx| {
        let word = text("aaé");
        let replace =
            |old, new, n| call(ctx, "string_replace_string_string_int", &[word, text(old), text(new), int(n)]).0;
        assert_eq!([replace("a", "b", 1), replace("a", "b", 0)], ["baé", "aaé"]);
        assert_eq!([replace("", "-", -1), replace("", "-", 2)], ["-a-a-é-", "-a-aé"]);
        let large = long(ctx, 10_000);
        let squared = call(ctx, "string_replace_string_string", &[large, text("a"), large]);
        assert_eq!(squared, ("replace: result exceeds 67108864 bytes".into(), 2_000));
        let split = |separator, n| call(ctx, "string_split_string_int", &[text("a,bé"), text(separator), int(n)]).0;
        assert_eq!([split(",", -1), split(",", 1), split(",", 0)], ["[a, bé]", "[a,bé]", "[]"]);
        assert_eq!([split("", -1), split("", 2), split("", 0)], ["[a, ,, b, é]", "[a, ,bé]", "[]"]);
        assert_eq!(call(ctx, "string_split_string", &[text(""), text("")]), ("[]".into(), 0));
        assert_eq!(call(ctx, "string_trim", &[text(" \t\u{85}\u{a0}x\u{2003}\u{200b}")]).0, "x\u{2003}\u{200b}");
    });
}

#[test]
fn joining() {
    with_context(|ctx| {
        let parts = list(ctx, &[text("a"), text("é")]);
        assert_eq!(call(ctx, "list_join_string", &[parts, text(", ")]), ("a, é".into(), 1));
        let mixed = list(ctx, &[text("a"), int(1)]);
        assert_eq!(call(ctx, "list_join", &[mixed]), ("join: invalid input: 1".into(), 1));
        let dear = list(ctx, &[long(ctx, 6_000_000)]);
        assert!(matches!(join(ctx, &[dear]), Value::Halt));
        assert_eq!(ctx.cost(), 1_200_000);
    });
}

#[test]
fn formatting() {
    with_context(|ctx| {
        let format = |clauses, args| call(ctx, "string_format", &[text(clauses), args]).0;
        assert_eq!(format("%d%% %s %x", list(ctx, &[int(-5), text("é"), text("é")])), "-5% é c3a9");
        assert_eq!(format("%b %o %X", list(ctx, &[int(-5), int(-8), int(-255)])), "-101 -10 -FF");
        let nested = list(ctx, &[Value::Null, Value::Double(1.5), Value::Double(f64::INFINITY), text("a\"")]);
        assert_eq!(format("%s", list(ctx, &[nested])), r#"[null, 1.500000, "+Inf", "a\""]"#);
        assert_eq!(format("%s", list(ctx, &[])), "index 0 out of range");
        let one = list(ctx, &[int(1)]);
        assert_eq!(format("%", one), "unexpected end of string");
        assert_eq!(format("%é", one), "could not parse formatting clause: unrecognized formatting clause \"Ã\"");
        let complaint = "error during formatting: decimal clause can only be used on integers, was given string";
        assert_eq!(format("%d", list(ctx, &[text("a")])), complaint);
    });
}

/// Values too deep for any stack, and results that are too long.
#[test]
fn formatting_is_bounded() {
    with_context(|ctx| {
        let mut deep = int(1);
        for _ in 0..100_000 {
            deep = list(ctx, &[deep]);
        }
        assert_eq!(call(ctx, "string_format", &[text("%s"), list(ctx, &[deep])]).0.len(), 200_001);
        let halves = list(ctx, &[int(1); 2]);
        let shared = (0..40).fold(halves, |inner, _| list(ctx, &[inner, inner]));
        assert!(matches!(format::format(ctx, &[text("%s"), list(ctx, &[shared])]), Value::Halt));
        assert_eq!(ctx.clear_halt(), Some(Halt::CostLimit));
    });
}

#[test]
fn doubles_as_x_text_prints_them() {
    for (value, precision, printed) in [
        (1_234_567.891_5, None, "1,234,567.891500"),
        (0.25, Some(1), "0.2"),
        (999.9, Some(0), "1,000"),
        (-0.0, None, "0.000000"),
        (-1e-9, Some(2), "-0.00"),
        (1e22, Some(0), "10,000,000,000,000,000,000,000"),
        (0.1, Some(300), "0.1000000000000000055511151231257827021181583404541015625"),
        (0.1, Some(32_768), "0.1"),
        (1.5, Some(10_000_010), "%!(NOVERB)"),
        (f64::NEG_INFINITY, None, "-∞"),
    ] {
        assert_eq!(number::fixed(value, precision), printed, "{value} {precision:?}");
    }
    for (value, width, printed) in [
        (1_234_567.891_5, None, "1.234568×10⁰⁶"),
        (-1.5e-300, Some(0), "-1.500000×10⁻³⁰⁰"),
        (9.999_999_5, None, "9.999999×10⁰⁰"),
        (1.5, Some(14), " 1.500000×10⁰⁰"),
        (f64::NAN, None, "   NaN"),
        (1.5, Some(65_536), "1.500000×10⁰⁰"),
    ] {
        assert_eq!(number::scientific(value, width), printed, "{value} {width:?}");
    }
}
