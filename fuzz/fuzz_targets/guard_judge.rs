#![no_main]

#[path = "../src/guard.rs"]
mod guard;

libfuzzer_sys::fuzz_target!(|data: &[u8]| guard::guard_judge(data));
