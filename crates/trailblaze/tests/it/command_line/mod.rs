//! The commands of the program, on simulated devices, and what they leave behind.

mod agent;
#[cfg(target_os = "linux")]
mod child_processes;
mod commands;
mod daemon;
mod devices;
#[cfg(target_os = "linux")]
mod full_disk;
#[cfg(target_os = "linux")]
mod healing;
mod imports;
mod interruptions;
mod invalid_input;
mod links;
mod load;
pub mod mcp;
mod nested_parameters;
mod report;
mod request_guard;
mod run;
mod run_options;
mod secrets;
mod shell;
mod toolbox;
mod trail_convert;
