#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| toolcheck_fuzz::diff::run(data));
