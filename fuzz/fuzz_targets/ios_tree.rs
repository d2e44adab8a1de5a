#![no_main]

#[path = "../src/ios.rs"]
mod ios;

libfuzzer_sys::fuzz_target!(|data: &[u8]| ios::ios_tree(data));
