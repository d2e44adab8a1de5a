//! Devices: where they come from, and their drivers. They know nothing about tools, trails or models.

pub mod android;
pub mod appium;
pub mod desktop;
mod gesture;
pub mod ios;
mod png;
pub mod provider;
pub mod sim;
pub mod web;
