//! Writes a target's seeds as files, which libFuzzer reads: `corpus TARGET DIRECTORY`. Without arguments names the targets.

use celgate_fuzz_targets::{TARGETS, seeds};

fn main() -> std::io::Result<()> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let [target, directory] = args.as_slice() else {
        TARGETS.iter().for_each(|target| println!("{}", target.name));
        return Ok(());
    };
    std::fs::create_dir_all(directory)?;
    for (number, seed) in seeds::of(target).iter().enumerate() {
        std::fs::write(format!("{directory}/seed-{number:04}"), seed)?;
    }
    Ok(())
}
