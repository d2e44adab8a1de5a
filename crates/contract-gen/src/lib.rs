//! Generates code and documentation from the contract in `proto/trailblaze/v1`, and the types of the report's page from those in
//! Rust. Used by developers and tests only; what it writes is committed.

mod core_rows;
mod docs;
mod kotlin;
mod model;
mod rust_client;
mod python;
mod report;
mod rust_table;
pub mod rust_types;
mod studio;
mod typescript;

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

pub use model::{Contract, ContractError};

/// A generated file.
pub struct GeneratedFile {
    /// Relative to the root of the repository.
    pub path: &'static str,
    pub text: String,
}

impl GeneratedFile {
    pub fn is_stale(&self, root: &Path) -> bool {
        fs::read_to_string(root.join(self.path)).ok().as_deref() != Some(self.text.as_str())
    }

    pub fn write(&self, root: &Path) -> io::Result<()> {
        let path = root.join(self.path);
        path.parent().map_or(Ok(()), fs::create_dir_all)?;
        fs::write(path, &self.text)
    }
}

/// The root of the repository.
pub fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// Everything that is generated, from the contract in `root` and from types in Rust.
pub fn outputs(root: &Path) -> Result<Vec<GeneratedFile>, ContractError> {
    let model = Contract::read(&root.join("proto"))?;
    let studio = Contract::read_studio(&root.join("proto"))?;
    Ok(vec![
        GeneratedFile { path: "crates/contract/src/generated.rs", text: rust_table::emit(&model) },
        GeneratedFile { path: "crates/core/src/tools/generated.rs", text: core_rows::emit(&model) },
        GeneratedFile { path: "crates/client/src/generated.rs", text: rust_client::emit(&model) },
        GeneratedFile { path: "docs/api.md", text: docs::emit(&model) },
        GeneratedFile { path: "sdks/python/src/trailblaze/_generated/types.py", text: python::types(&model) },
        GeneratedFile { path: "sdks/python/src/trailblaze/_generated/commands.py", text: python::asynchronous(&model) },
        GeneratedFile { path: "sdks/python/src/trailblaze/_generated/blocking.py", text: python::blocking(&model) },
        GeneratedFile { path: "sdks/typescript/client/src/generated.ts", text: typescript::emit(&model) },
        GeneratedFile {
            path: "sdks/kotlin/client/src/main/kotlin/dev/trailblaze/GeneratedEnums.kt",
            text: kotlin::enums(&model),
        },
        GeneratedFile {
            path: "sdks/kotlin/client/src/main/kotlin/dev/trailblaze/messages/GeneratedMessages.kt",
            text: kotlin::messages(&model),
        },
        GeneratedFile {
            path: "sdks/kotlin/client/src/main/kotlin/dev/trailblaze/GeneratedCommands.kt",
            text: kotlin::commands(&model),
        },
        GeneratedFile {
            path: "sdks/kotlin/client/src/main/kotlin/dev/trailblaze/GeneratedRemote.kt",
            text: kotlin::remote(&model),
        },
        GeneratedFile {
            path: "sdks/kotlin/client/src/main/kotlin/dev/trailblaze/GeneratedBlockingCommands.kt",
            text: kotlin::blocking(&model),
        },
        GeneratedFile { path: "crates/trailblaze/src/sessions/service/generated.rs", text: studio::rust(&studio) },
        GeneratedFile { path: "ui/src/generated/messages.ts", text: studio::typescript(&studio) },
        GeneratedFile { path: "ui/src/generated/data.ts", text: report::typescript(&rust_types::report()?)? },
    ])
}
