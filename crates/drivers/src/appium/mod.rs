//! Native apps of phones behind Appium, which speaks WebDriver: on a farm, or on another machine.
//!
//! `session` sends the commands, `source` makes a tree of each driver's page source, and the driver does one action at a time.

mod act;
mod apps;
mod automation;
mod driver;
mod provider;
mod session;
mod source;

pub use driver::AppiumDriver;
pub use provider::PROVIDER;
