//! Renders include/celgate.h from the ABI's source into `OUT_DIR`; a test compares it with the committed header.
//! `UPDATE_HEADER=1 cargo build` writes the committed one.

use std::path::{Path, PathBuf};
use std::{env, fs};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    println!("cargo:rerun-if-changed=rust/ffi/src");
    println!("cargo:rerun-if-changed=cbindgen.toml");
    println!("cargo:rerun-if-env-changed=UPDATE_HEADER");
    let root = PathBuf::from(env::var("CARGO_MANIFEST_DIR")?);
    let rendered = Path::new(&env::var("OUT_DIR")?).join("celgate.h");
    cbindgen::Builder::new()
        .with_config(cbindgen::Config::from_file(root.join("cbindgen.toml"))?)
        .with_src(root.join("rust/ffi/src/lib.rs"))
        .generate()?
        .write_to_file(&rendered);
    if env::var_os("UPDATE_HEADER").is_some() {
        fs::create_dir_all(root.join("include"))?;
        fs::copy(&rendered, root.join("include/celgate.h"))?;
    }
    println!("cargo:rustc-env=CELGATE_RENDERED_HEADER={}", rendered.display());
    Ok(())
}
