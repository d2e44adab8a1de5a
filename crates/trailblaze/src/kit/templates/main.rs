//! The server that Trailblaze starts. What it prints to stdout would be taken for the protocol; use stderr.

mod MODULE_OF_TOOL;

fn main() -> std::process::ExitCode {
    trailblaze_tools::server("rust-tools")
        .toolset(MODULE_OF_TOOL::CLASS_OF_TOOL)
        .main()
}
