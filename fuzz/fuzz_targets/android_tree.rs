#![no_main]

#[path = "../src/android.rs"]
mod android;

libfuzzer_sys::fuzz_target!(|data: &[u8]| android::android_tree(data));
