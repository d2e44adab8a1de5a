//! The crates for tools in Rust, in the version of this build: a project gets a copy of their sources, so that its tools and
//! Trailblaze use the same contract.

use toml_edit::{Array, DocumentMut};

/// The folder of the copy in a project.
pub const FOLDER: &str = ".trailblaze/rust";

/// The crates of the copy. Each is in a folder of its own, next to the others.
const CRATES: [&str; 4] = ["client", "protocol", "tools", "tools-macros"];

macro_rules! sources {
    ($($name:literal),* $(,)?) => {
        &[$(($name, include_str!(concat!("../../../", $name)))),*]
    };
}

const SOURCES: &[(&str, &str)] = sources![
    "client/Cargo.toml",
    "client/src/address.rs",
    "client/src/base64_bytes.rs",
    "client/src/call.rs",
    "client/src/client.rs",
    "client/src/connection.rs",
    "client/src/daemon.rs",
    "client/src/error.rs",
    "client/src/followed.rs",
    "client/src/generated.rs",
    "client/src/json.rs",
    "client/src/lib.rs",
    "client/src/screen.rs",
    "client/src/stream.rs",
    "client/src/transport.rs",
    "protocol/Cargo.toml",
    "protocol/src/callback.rs",
    "protocol/src/device_event.rs",
    "protocol/src/driver.rs",
    "protocol/src/event.rs",
    "protocol/src/exit.rs",
    "protocol/src/geometry.rs",
    "protocol/src/heal.rs",
    "protocol/src/ids.rs",
    "protocol/src/lib.rs",
    "protocol/src/outcome.rs",
    "tools-macros/Cargo.toml",
    "tools-macros/src/expand/mod.rs",
    "tools-macros/src/flags.rs",
    "tools-macros/src/json.rs",
    "tools-macros/src/lib.rs",
    "tools-macros/src/names.rs",
    "tools-macros/src/params.rs",
    "tools/Cargo.toml",
    "tools/LICENSE",
    "tools/src/args.rs",
    "tools/src/context.rs",
    "tools/src/error.rs",
    "tools/src/lib.rs",
    "tools/src/output.rs",
    "tools/src/place.rs",
    "tools/src/private.rs",
    "tools/src/schema.rs",
    "tools/src/server/handler.rs",
    "tools/src/server/http.rs",
    "tools/src/server/invoked.rs",
    "tools/src/server/listing.rs",
    "tools/src/server/mod.rs",
    "tools/src/testing/mod.rs",
    "tools/src/strict_json.rs",
    "tools/src/testing/generated.rs",
    "tools/src/toolset.rs",
];

/// All files of the copy, by their paths in the project.
pub fn files() -> impl Iterator<Item = (String, String)> {
    let sources = SOURCES.iter().map(|(path, text)| (path.to_string(), text.to_string()));
    let manifest = ("Cargo.toml".to_string(), manifest());
    std::iter::once(manifest).chain(sources).map(|(path, text)| (format!("{FOLDER}/{path}"), text))
}

/// The manifest of the copy: that of our workspace with these crates only.
fn manifest() -> String {
    let text = include_str!("../../../../Cargo.toml");
    let mut manifest: DocumentMut = text.parse().expect("our own manifest is valid");
    manifest.retain(|key, _| key == "workspace");
    let workspace = manifest["workspace"].as_table_mut().expect("a workspace");
    workspace["members"] = Array::from_iter(CRATES).into();
    workspace.remove("exclude");
    workspace.remove("lints");
    workspace["lints"]["rust"]["unsafe_code"] = "forbid".into();
    let dependencies = workspace["dependencies"].as_table_mut().expect("dependencies");
    let is_used = |name: &str| {
        let lines = SOURCES.iter().filter(|(path, _)| path.ends_with("/Cargo.toml")).flat_map(|(_, text)| text.lines());
        lines.map(|line| line.split(['.', ' ']).next().unwrap_or_default()).any(|used| used == name)
    };
    dependencies.retain(|name, _| is_used(name));
    for name in CRATES {
        dependencies[&format!("trailblaze-{name}")]["path"] = name.into();
    }
    // What it says about the others does not belong here.
    let lines = manifest.to_string();
    let kept: Vec<&str> = lines.lines().filter(|line| !line.trim_start().starts_with('#')).collect();
    format!(
        "# The crates for tools in Rust, as they are in this version of Trailblaze, which writes them.\n{}\n",
        kept.join("\n").trim()
    )
}

#[cfg(test)]
mod tests {
    use std::path::{Path, PathBuf};

    use super::*;

    fn sources_below(folder: &Path) -> Vec<PathBuf> {
        let entries = std::fs::read_dir(folder).expect("a folder").map(|entry| entry.expect("an entry").path());
        entries.flat_map(|path| if path.is_dir() { sources_below(&path) } else { vec![path] }).collect()
    }

    #[test]
    fn the_copy_has_all_sources_of_its_crates() {
        let crates = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
        for name in CRATES {
            for file in sources_below(&crates.join(name).join("src")) {
                let path = file.strip_prefix(&crates).expect("it is there").display().to_string();
                let is_copied = SOURCES.iter().any(|(source, _)| *source == path);
                assert!(is_copied || path.ends_with("tests.rs"), "{path} is missing in the copy");
            }
        }
    }
}
