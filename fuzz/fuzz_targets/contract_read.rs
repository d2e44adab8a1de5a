#![no_main]

#[path = "../src/contract.rs"]
mod contract;

libfuzzer_sys::fuzz_target!(|data: &[u8]| contract::contract_read(data));
