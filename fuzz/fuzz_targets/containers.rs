#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| toolcheck_fuzz::containers::run(data));
