//! Tests of the stand-in, by the driver of iPhones. No test here runs the real WebDriverAgent.

mod cables;
mod driving;
mod faults;
mod native;
mod peers;
mod phone;
#[path = "../../../trailblaze/tests/it/support/skip.rs"]
mod skip;
mod support;
