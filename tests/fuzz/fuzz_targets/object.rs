#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| celgate_fuzz_targets::object::run(data));
