//! Tests of the stand-in, by the driver of iPhones. No test here runs the real WebDriverAgent.

mod driving;
mod faults;
mod peers;
#[path = "../../../trailblaze/tests/it/support/skip.rs"]
mod skip;
mod support;
