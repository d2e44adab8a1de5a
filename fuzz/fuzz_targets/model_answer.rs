#![no_main]

#[path = "../src/models.rs"]
mod models;

libfuzzer_sys::fuzz_target!(|data: &[u8]| models::model_answer(data));
