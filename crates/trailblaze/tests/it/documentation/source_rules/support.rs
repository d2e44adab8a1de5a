//! Reading the repository, and reporting every violation of a rule in one go.

use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

/// Collects violations, so that a failing test lists all of them.
#[derive(Default)]
pub struct Violations(String);

impl Violations {
    pub fn add(&mut self, file: &str, line: usize, rule: &str) {
        writeln!(self.0, "{file}:{line}: {rule}").expect("text can be written to");
    }

    /// Fails the test if there are any.
    pub fn check(self) {
        assert!(self.0.is_empty(), "\n{}", self.0);
    }
}

pub fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().expect("the workspace exists")
}

/// A path as messages show it: from the root of the repository.
pub fn shown(file: &Path) -> String {
    file.strip_prefix(root()).unwrap_or(file).to_string_lossy().replace('\\', "/")
}

pub fn read(file: &Path) -> String {
    std::fs::read_to_string(file).unwrap_or_else(|error| panic!("{}: {error}", shown(file)))
}

/// Folders that are generated or downloaded.
const NOT_OURS: &[&str] = &["target", "logs", "dist", "node_modules", ".git", ".parts", ".trailblaze", ".venv"];

/// The files under a folder whose names have this extension (any, if it is empty), without generated ones.
pub fn files(folder: &Path, extension: &str) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).expect("the folder can be read") {
        let path = entry.expect("the entry can be read").path();
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        if path.is_dir() && !NOT_OURS.contains(&&*name) {
            found.extend(files(&path, extension));
        } else if path.is_file() && name != ".git" && (extension.is_empty() || name.ends_with(&format!(".{extension}")))
        {
            found.push(path);
        }
    }
    found.sort();
    found
}

/// The packages of this workspace.
pub fn packages() -> Vec<Value> {
    let metadata = cargo(&["metadata", "--no-deps", "--format-version", "1", "--locked", "--offline"]);
    let metadata: Value = serde_json::from_str(&metadata).expect("cargo prints JSON");
    metadata["packages"].as_array().cloned().unwrap_or_default()
}

pub fn cargo(args: &[&str]) -> String {
    // The cargo that runs the tests; a rustup proxy may not know which toolchain is meant.
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let output = Command::new(cargo).args(args).current_dir(root()).output().expect("cargo can be started");
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "cargo {}: {errors}", args.join(" "));
    String::from_utf8(output.stdout).expect("cargo prints UTF-8")
}

/// The line of a package's manifest that starts with a text.
pub fn find_line(package: &Value, start: &str) -> (String, usize) {
    let manifest = PathBuf::from(text(&package["manifest_path"]));
    let line = read(&manifest).lines().position(|line| line.starts_with(start)).map_or(1, |index| index + 1);
    (shown(&manifest), line)
}

pub fn text(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_string()
}
