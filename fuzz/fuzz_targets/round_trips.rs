#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| trivox_fuzz::targets::round_trips(data));
