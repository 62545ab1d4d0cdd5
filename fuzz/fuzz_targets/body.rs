#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| toolcheck_fuzz::body::run(data));
