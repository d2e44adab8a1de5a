//! Toolsets in the script engine: the same files as in a process, with the same results, and bundles of them.

mod bundles;
mod parity;
mod running;

use crate::support::lab::{Lab, Runtime};

/// A project with a toolset that uses all of the package, and nothing on the PATH but `runtime`.
fn toolset(runtime: Runtime) -> Option<Lab> {
    let lab = Lab::under(runtime)?;
    lab.with("tools/toolset.ts", include_str!("toolset.ts"));
    lab.with("tools/lib/words.json", r#"{"end": "!"}"#);
    lab.with("tools/lib/shout.ts", "export const shout = (text: string): string => text.toUpperCase();\n");
    let packages = crate::support::lab::parts()?.join("node/node_modules");
    std::os::unix::fs::symlink(packages.join("ms"), lab.project.root().join("node_modules/ms")).expect("a link");
    Some(lab)
}

/// Writes the project's configuration, with one server and how it runs.
fn serve(lab: &Lab, server: &str) {
    lab.configured(&format!("mcpServers:\n  tools: {{{server}}}\n"));
}
