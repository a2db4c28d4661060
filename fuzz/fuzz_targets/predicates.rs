#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| trivox_fuzz::targets::predicates(data));
