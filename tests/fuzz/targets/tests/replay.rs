//! Runs every target over its seeds, and over the inputs named in `CELGATE_FUZZ_INPUT` (`TARGET:FILE`) if there are any.

use celgate_fuzz_targets::{TARGETS, seeds};

/// Evaluation recurses with an expression's depth; Go gives the core a thread with a stack of this size at least.
const STACK: usize = 8 << 20;

#[test]
fn seeds_hold() {
    let thread = std::thread::Builder::new().stack_size(STACK).spawn(|| {
        for target in TARGETS {
            let seeds = seeds::of(target.name);
            assert!(!seeds.is_empty(), "{} has no seeds", target.name);
            for seed in seeds {
                replay(target.name, target.run, &seed);
            }
        }
    });
    assert!(thread.is_ok_and(|thread| thread.join().is_ok()));
}

/// Any short input is an input.
#[test]
fn short_inputs_hold() {
    for target in TARGETS {
        (target.run)(&[]);
        for byte in 0..=255 {
            replay(target.name, target.run, &[byte]);
        }
    }
}

fn replay(name: &str, run: fn(&[u8]), input: &[u8]) {
    if std::panic::catch_unwind(|| run(input)).is_err() {
        panic!("{name} fails on {:?}", String::from_utf8_lossy(input));
    }
}
