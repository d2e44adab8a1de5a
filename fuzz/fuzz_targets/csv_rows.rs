#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| trailblaze_fuzz::csv_rows(data));
