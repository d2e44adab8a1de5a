//! Trailblaze with the wallet's tools inside: `wallet-tools run`. With the argument `serve-tools` it is an MCP server for the same
//! tools.

mod buttons;
mod wallet;

use std::process::ExitCode;

use buttons::Buttons;
use wallet::Wallet;

fn main() -> ExitCode {
    // Before anything else: the program starts itself again for each child process.
    let app = trailblaze::app();
    if std::env::args().nth(1).as_deref() == Some("serve-tools") {
        return trailblaze_tools::server("wallet-tools").toolset(Wallet::new()).toolset(Buttons).main();
    }
    app.toolset(Wallet::new()).toolset(Buttons).main()
}
