//! Device drivers. They know nothing about tools, trails or models.

pub mod sim;
pub mod web;
