//! Tests of the stand-in, by the clients that tests of the product use.

mod adb;
mod commands;
mod fast;
mod peers;
#[path = "../../../trailblaze/tests/it/support/skip.rs"]
mod skip;
mod support;
