//! Firefox, driven over BiDi without another program. Each device has a Firefox of its own: settings that BiDi lacks are those of its
//! profile.

pub mod browser;
pub mod connector;
mod profile;
