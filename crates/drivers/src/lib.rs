//! Devices. A driver knows nothing of tools, trails or models.

pub mod sim;
pub mod web;
