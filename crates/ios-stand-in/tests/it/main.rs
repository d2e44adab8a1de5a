//! Tests of the stand-in, by the driver of iPhones. No test here runs the real WebDriverAgent.

mod driving;
mod faults;
mod support;
