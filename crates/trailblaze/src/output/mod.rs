//! Printing, progress, run folders and reports.

pub mod words;
pub mod console;
pub mod print;
pub mod tool_output;
pub mod progress;
pub mod marks;
pub mod screenshot;
pub mod github;
pub mod run_count;
pub mod run_folder;
pub mod expected_pictures;
pub mod report;
