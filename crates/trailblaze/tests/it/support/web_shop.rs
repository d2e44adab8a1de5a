//! The web shop of the examples, as a server that does not outlive its test.

use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use crate::support::{repository, skip};

pub struct Shop {
    pub child: Child,
    pub address: String,
}

impl Shop {
    /// Starts the server in a copy of the example, with this runtime, on a port of its own.
    pub fn open(runtime: &Path, folder: &Path) -> Shop {
        let mut command = Command::new(runtime);
        command.args(["server.mjs", "0"]).current_dir(folder);
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("the server starts");
        let mut line = String::new();
        // A server that ends without a word ends the line too.
        BufReader::new(child.stdout.take().expect("its output is ours")).read_line(&mut line).expect("a line");
        let address = line.trim().strip_prefix("listening on ").map(str::to_string);
        let address = address.unwrap_or_else(|| panic!("the server told no address: `{line}`"));
        Shop { child, address }
    }
}

impl Drop for Shop {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The Node that `scripts/parts` installs. Without it, the test is skipped locally and fails in CI.
pub fn node() -> Option<PathBuf> {
    let node = repository().join(".parts/node/node_modules/node/bin/node");
    if !node.is_file() {
        skip::without_part("there is no Node; `scripts/parts` installs it");
        return None;
    }
    Some(node)
}
