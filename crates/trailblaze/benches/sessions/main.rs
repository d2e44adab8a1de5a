//! What sessions cost that last: the MCP server beside @playwright/mcp, commands in an open session beside agent-browser, and the
//! memory of the daemon. Prints a table; no number fails it. `docs/benchmarks.md` says what was measured where. Needs
//! `scripts/parts bench`.

#[path = "../support/mod.rs"]
mod support;

mod checkout;
mod commands;
mod memory;
mod place;
mod start;

use std::process::ExitCode;

/// Prints the rows of one part, unless a peer is missing.
type Rows = fn() -> Result<(), place::Missing>;

fn main() -> ExitCode {
    let asked: Vec<String> = std::env::args().skip(1).filter(|arg| !arg.starts_with("--")).collect();
    let is_wanted = |name: &str| asked.is_empty() || asked.iter().any(|asked| asked == name);
    support::head();
    let parts: [(&str, Rows); 4] =
        [("start", start::rows), ("checkout", checkout::rows), ("commands", commands::rows), ("memory", memory::rows)];
    let mut code = ExitCode::SUCCESS;
    for (name, rows) in parts.into_iter().filter(|(name, _)| is_wanted(name)) {
        if let Err(missing) = rows() {
            println!("`{name}`: {missing}");
            code = ExitCode::FAILURE;
        }
    }
    code
}
