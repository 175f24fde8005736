//! The ABI's promises: the committed header is the rendered one, every function is documented, layouts are fixed.

use std::mem::{align_of, offset_of, size_of};

use celgate::{CELGATE_ABI_VERSION, celgate_hook, celgate_result, celgate_status};

const RENDERED: &str = include_str!(env!("CELGATE_RENDERED_HEADER"));
const COMMITTED: &str = include_str!("../../include/celgate.h");

#[test]
fn the_committed_header_is_fresh() {
    assert!(RENDERED == COMMITTED, "include/celgate.h is stale: run UPDATE_HEADER=1 cargo build");
}

#[test]
fn every_declaration_is_documented() {
    let lines: Vec<&str> = COMMITTED.lines().collect();
    let mut declarations = 0;
    for (i, line) in lines.iter().enumerate() {
        let function =
            line.contains("celgate_") && line.contains('(') && !line.starts_with("//") && !line.starts_with(' ');
        let item = function
            || line.starts_with("typedef struct")
            || (line.starts_with("#define CELGATE_") && !line.ends_with("_H"));
        if item {
            declarations += 1;
            assert!(i > 0 && lines[i - 1].starts_with("//"), "undocumented: {line}");
        }
    }
    assert!(declarations > 20, "only {declarations} declarations found: the test does not see them");
}

#[test]
fn layouts_are_fixed() {
    assert_eq!((size_of::<celgate_hook>(), align_of::<celgate_hook>()), (size_of::<usize>() + 24, align_of::<usize>()));
    assert_eq!(offset_of!(celgate_hook, first_binding), size_of::<usize>());
    assert_eq!(offset_of!(celgate_hook, flags), size_of::<usize>() + 20);
    assert_eq!((size_of::<celgate_result>(), offset_of!(celgate_result, evaluations)), (16, 8));
    assert_eq!(size_of::<celgate_status>(), 4);
}

#[test]
fn statuses_and_version_are_fixed() {
    assert_eq!(CELGATE_ABI_VERSION, 4);
    let statuses = [
        celgate_status::Ok,
        celgate_status::NeedsInput,
        celgate_status::Yield,
        celgate_status::BufferTooSmall,
        celgate_status::Invalid,
        celgate_status::Panic,
    ];
    assert_eq!(statuses.map(|status| status as i32), [0, 1, 2, 3, 4, 5]);
}
