//! Real browsers: web devices, recording in a browser, the studio, and the pages that the program writes.

mod example_shop;
mod firefox;
mod imported;
mod record;
mod report_page;
mod several_devices;
pub mod studio;
mod web;
mod webdriver;
