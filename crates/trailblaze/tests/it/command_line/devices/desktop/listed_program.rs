//! A program whose tree is what a file says: `tests/programs/accessible.py`.

use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::{Value, json};

/// Where it is, and the command that starts it.
pub struct ListedProgram {
    file: PathBuf,
    pub command: String,
}

impl ListedProgram {
    pub fn new(folder: &Path, title: &str, elements: Value) -> ListedProgram {
        let file = folder.join("elements.json");
        // A Python of a version manager needs variables that programs of a desktop do not get.
        let python =
            Command::new("python3").args(["-c", "import sys; print(sys.executable)"]).output().expect("Python");
        let python = String::from_utf8_lossy(&python.stdout).trim().to_string();
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/programs/accessible.py");
        let command = format!("{python} {} {}", script.display(), file.display());
        let program = ListedProgram { file, command };
        program.show(json!({"title": title, "elements": elements}));
        program
    }

    /// What it shows from its next start on.
    pub fn show(&self, description: Value) {
        std::fs::write(&self.file, description.to_string()).expect("a file");
    }
}
