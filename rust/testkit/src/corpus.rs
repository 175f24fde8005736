//! Public policies with cases, which lie outside of this repository.

use std::path::PathBuf;

/// The directory that `CELGATE_CORPUS` names. Without one it says what of the test is left out.
pub fn directory(left_out: &str) -> Option<PathBuf> {
    let directory = std::env::var_os("CELGATE_CORPUS").map(PathBuf::from).filter(|directory| directory.is_dir());
    if directory.is_none() {
        eprintln!("CELGATE_CORPUS names no directory of policies: {left_out}");
    }
    directory
}
