//! Reading and writing messages: what every message of the contract must satisfy, and the known traps.

mod fuzz_corpora;
mod properties;
mod support;
mod traps;
