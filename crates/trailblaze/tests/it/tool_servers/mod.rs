//! Custom tools, wherever they live: servers, scripts, toolsets in Rust; and the APIs that they and other programs call.

#[cfg(target_os = "linux")]
mod callback;
#[cfg(target_os = "linux")]
mod cassettes;
mod conventions;
#[cfg(target_os = "linux")]
mod effects;
#[cfg(target_os = "linux")]
mod embedded;
#[cfg(target_os = "linux")]
mod hostile;
#[cfg(target_os = "linux")]
mod hot_reload;
mod official_sdks;
mod on_demand;
#[cfg(target_os = "linux")]
pub mod scripts;
mod third_party_clients;
mod third_party_servers;
mod tool_authoring;
#[cfg(target_os = "linux")]
mod rust_tools;
#[cfg(target_os = "linux")]
pub mod typed_api;
