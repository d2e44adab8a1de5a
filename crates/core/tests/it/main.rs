//! The engine, through its public interface, on fake devices and with fake sources of tools.

mod agent;
mod built_in_tables;
mod call_order;
mod checks;
mod dispatch;
mod effects;
mod fuzz_corpora;
mod memory;
mod nesting;
mod picture_checks;
mod recording;
mod registry;
mod replay;
mod sampling;
mod secrets;
mod steps;
mod trails;
mod web_tools;
mod yaml_tools;
