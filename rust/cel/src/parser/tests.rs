#![allow(clippy::panic, clippy::expect_used, reason = "a panic is how a test fails")]

use super::*;
use crate::ast::{Expr, ExprKind};

fn parsed(text: &str) -> Ast {
    match parse(text, &ParseOptions::kubernetes()) {
        Ok(ast) => ast,
        Err(issues) => panic!("{text}: {issues}"),
    }
}

fn issues(text: &str) -> String {
    match parse(text, &ParseOptions::kubernetes()) {
        Ok(_) => panic!("{text} parses"),
        Err(issues) => issues.to_string(),
    }
}

/// The expression in Lisp's notation with ids, without literals' values.
fn shape(text: &str) -> String {
    fn show(expr: &Expr) -> String {
        let id = expr.id;
        let list = |exprs: &[Expr]| exprs.iter().map(|expr| format!(" {}", show(expr))).collect::<String>();
        match &expr.kind {
            ExprKind::Literal(_) => format!("#{id}"),
            ExprKind::Ident(name) => format!("{name}#{id}"),
            ExprKind::Select { operand, field, test_only } => {
                format!("({}{} {field})#{id}", if *test_only { "has " } else { "" }, show(operand))
            }
            ExprKind::Call { target: Some(target), function, args } => {
                format!("({}.{function}{})#{id}", show(target), list(args))
            }
            ExprKind::Call { function, args, .. } => format!("({function}{})#{id}", list(args)),
            ExprKind::List { elements, .. } => format!("[{}]#{id}", list(elements).trim()),
            other => format!("{other:?}"),
        }
    }
    show(&parsed(text).expr)
}

#[test]
fn ids_follow_the_visit() {
    assert_eq!(shape("a.b(c, 1) + -2"), "(_+_ (a#1.b c#3 #4)#2 #6)#5");
    assert_eq!(shape("a.?b[?c]"), "(_[?_] (_?._ a#1 #2)#3 c#5)#4");
    assert_eq!(shape("a ? b : c"), "(_?_:_ a#1 b#3 c#4)#2");
    assert_eq!(shape("--a"), "a#1");
    assert_eq!(shape("---a"), "(-_ a#2)#1");
    assert_eq!(shape("!has(a.b)"), "(!_ (has a#3 b)#5)#1");
}

#[test]
fn logic_is_balanced() {
    assert_eq!(shape("a && b && c"), "(_&&_ (_&&_ a#1 b#2)#3 c#4)#5");
    assert_eq!(shape("a || b || c || d"), "(_||_ (_||_ a#1 b#2)#3 (_||_ c#4 d#6)#7)#5");
}

#[test]
fn precedence_and_associativity() {
    assert_eq!(shape("a - b - c * d == e"), "(_==_ (_-_ (_-_ a#1 b#3)#2 (_*_ c#5 d#7)#6)#4 e#9)#8");
    assert_eq!(shape("a == b != c"), "(_!=_ (_==_ a#1 b#3)#2 c#5)#4");
}

#[test]
fn ranges_count_bytes_after_code_points() {
    let ast = parsed("'é' + a.b");
    let mut ranges: Vec<_> = ast.source.offsets.iter().map(|(id, range)| (*id, range.start, range.stop)).collect();
    ranges.sort_unstable();
    assert_eq!(ranges, [(1, 0, 4), (2, 4, 5), (3, 6, 7), (4, 7, 8)]);
    assert_eq!(ast.source.line_offsets, [10]);
    assert_eq!(parsed("a\n+\nb").source.line_offsets, [2, 4, 6]);
}

#[test]
fn what_cel_go_reports_itself() {
    for (text, message) in [
        ("9223372036854775808", "ERROR: <input>:1:1: invalid int literal\n | 9223372036854775808\n | ^"),
        ("0x10000000000000000u", "ERROR: <input>:1:1: invalid uint literal\n | 0x10000000000000000u\n | ^"),
        ("1e400", "ERROR: <input>:1:1: invalid double literal\n | 1e400\n | ^"),
        ("'\\ud800'", "ERROR: <input>:1:1: invalid unicode code point\n | '\\ud800'\n | ^"),
        ("a.for(b, for)", "ERROR: <input>:1:10: reserved identifier: for\n | a.for(b, for)\n | .........^"),
        ("has(a)", "ERROR: <input>:1:5: invalid argument to has() macro\n | has(a)\n | ....^"),
        ("a.all(1, b)", "ERROR: <input>:1:7: argument must be a simple name\n | a.all(1, b)\n | ......^"),
        ("a.map(b.c, d)", "ERROR: <input>:1:8: argument is not an identifier\n | a.map(b.c, d)\n | .......^"),
        (
            "a.filter(__result__, b)",
            "ERROR: <input>:1:10: iteration variable overwrites accumulator variable\n | a.filter(__result__, b)\n | .........^",
        ),
        ("a.all(i, i, i)", "ERROR: <input>:1:10: duplicate variable name: i\n | a.all(i, i, i)\n | .........^"),
        (
            "a.optMap(1, b)",
            "ERROR: <input>:1:10: optMap() variable name must be a simple identifier\n | a.optMap(1, b)\n | .........^",
        ),
        ("a $", "ERROR: <input>:1:3: Syntax error: token recognition error at: '$'\n | a $\n | ..^"),
    ] {
        assert_eq!(issues(text), message, "{text}");
    }
}

#[test]
fn syntax_errors_have_a_place() {
    assert!(issues("").starts_with("ERROR: <input>:1:0: Syntax error: mismatched input '<EOF>'"));
    assert!(issues("(a]").starts_with("ERROR: <input>:1:3: Syntax error: mismatched input ']' expecting ')'"));
    assert!(issues("a b").starts_with("ERROR: <input>:1:3: Syntax error: mismatched input 'b' expecting <EOF>"));
}

#[test]
fn options_turn_syntax_off() {
    let options = ParseOptions { optional_syntax: false, escaped_identifiers: false, ..ParseOptions::kubernetes() };
    for (text, message) in [
        ("a.?b", "1:2: unsupported syntax '.?'"),
        ("a[?b]", "1:2: unsupported syntax '[?'"),
        ("[?a]", "1:2: unsupported syntax '?'"),
        ("{?a: b}", "1:2: unsupported syntax '?'"),
        ("T{?a: b}", "1:3: unsupported syntax '?'"),
        ("a.`b`", "1:3: unsupported syntax: '`'"),
        ("T{a: b, `c`: d}", "1:3: unsupported syntax: '`'"),
    ] {
        let issues = parse(text, &options).err().map(|issues| issues.to_string()).unwrap_or_default();
        assert!(issues.starts_with(&format!("ERROR: <input>:{message}\n")), "{text}: {issues}");
    }
}

#[test]
fn macro_calls_are_kept_on_request() {
    let options = ParseOptions { populate_macro_calls: true, ..ParseOptions::kubernetes() };
    let ast = parse("a.all(x, has(x.y))", &options).expect("parses");
    let outer = &ast.source.macro_calls[&ast.expr.id];
    let ExprKind::Call { function, args, .. } = &outer.kind else { panic!("{outer:?}") };
    assert_eq!((function.as_str(), args.len()), ("all", 2));
    assert_eq!(args[1].kind, ExprKind::Unspecified);
    assert!(ast.source.macro_calls.contains_key(&args[1].id));
    assert!(parsed("a.all(x, has(x.y))").source.macro_calls.is_empty());
}

#[test]
fn size_is_limited() {
    let text = format!("'{}'", "é".repeat(99_999));
    assert_eq!(
        issues(&text),
        "ERROR: <input>:-1:0: expression code point size exceeds limit: size: 100001, limit 100000"
    );
    parsed(&format!("'{}'", "é".repeat(99_998)));
    // Each optMap doubles what it is applied to.
    let text = format!("a{}", ".optMap(x, x)".repeat(40));
    assert_eq!(issues(&text), "ERROR: <input>:-1:0: expression expands to more than 500000 ids");
    let long = |copies: usize| format!("optional.of('{}'){}", "x".repeat(90_000), ".optMap(x, x)".repeat(copies));
    assert!(issues(&long(14)).ends_with("expression expands to more than 500000 ids"), "long texts count as many ids");
    parsed(&long(7));
}

/// The deepest trees that the limits allow, and much deeper texts, on a small stack.
#[test]
fn depth_is_limited_whatever_the_stack() {
    let run = || {
        let too_deep = "ERROR: <input>:-1:0: expression recursion limit exceeded: 250";
        for (open, close) in [
            ("(", ")"),
            ("[", "]"),
            ("{1: ", "}"),
            ("f(", ")"),
            ("![", "]"),
            ("a.b(", ")"),
            ("T{f: ", "}"),
            ("[1 + 2 * [", "]]"),
            ("a.all(x, ", ")"),
            ("a.map(x, true, ", ")"),
            ("a.optFlatMap(x, ", ")"),
            ("a.b.c.d || e && !f(", ")"),
            ("a||b||c||d||e||f||g||h||a||b||c||d||e||f||g||h||(a&&b&&c&&d&&e&&f&&g&&![", "])"),
            ("a||b||c||d||e||f||g||h||![a&&b&&c&&d&&e&&f&&g&&!a.map(x, true, ", ")]"),
        ] {
            let nest = |n: usize| format!("{}1{}", open.repeat(n), close.repeat(n));
            let most = (1..250).rev().find_map(|n| parse(&nest(n), &ParseOptions::kubernetes()).ok());
            assert!(most.is_some());
            let message = issues(&nest(450));
            assert!(message == too_deep || message.ends_with("max recursion depth exceeded"), "{open}: {message}");
            let _ = parse(&open.repeat(100_000 / open.len()), &ParseOptions::kubernetes());
        }
        for (repeated, message) in [(".a", "max recursion depth exceeded"), ("+1", "max recursion depth exceeded")] {
            assert_eq!(issues(&format!("a{}", repeated.repeat(40_000))), format!("ERROR: <input>:-1:0: {message}"));
            parsed(&format!("a{}", repeated.repeat(250)));
        }
        parsed(&format!("a{}", "||a".repeat(30_000)));
        parsed(&format!("a{}", "?a:a".repeat(249)));
        parsed(&format!("{}a", "!".repeat(90_000)));
    };
    let thread = std::thread::Builder::new().stack_size(512 * 1024).spawn(run).expect("a thread");
    thread.join().expect("no overflow");
}
