//! The script engine, with hosts that record what scripts ask for.

mod calls;
mod fuzz_corpora;
mod modules;
mod toolsets;
