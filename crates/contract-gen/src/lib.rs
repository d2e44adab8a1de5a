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

pub use model::{ContractError, Model};

/// A generated file.
pub struct Output {
    /// Relative to the root of the repository.
    pub path: &'static str,
    pub text: String,
}

impl Output {
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
pub fn outputs(root: &Path) -> Result<Vec<Output>, ContractError> {
    let model = Model::read(&root.join("proto"))?;
    let studio = Model::read_studio(&root.join("proto"))?;
    Ok(vec![
        Output { path: "crates/contract/src/table.rs", text: rust_table::emit(&model) },
        Output { path: "crates/core/src/tools/contract.rs", text: core_rows::emit(&model) },
        Output { path: "crates/client/src/generated.rs", text: rust_client::emit(&model) },
        Output { path: "docs/api.md", text: docs::emit(&model) },
        Output { path: "sdks/python/src/trailblaze/_generated/types.py", text: python::types(&model) },
        Output { path: "sdks/python/src/trailblaze/_generated/commands.py", text: python::asynchronous(&model) },
        Output { path: "sdks/python/src/trailblaze/_generated/blocking.py", text: python::blocking(&model) },
        Output { path: "sdks/typescript/client/src/generated.ts", text: typescript::emit(&model) },
        Output { path: "sdks/kotlin/client/src/main/kotlin/dev/trailblaze/Enums.kt", text: kotlin::enums(&model) },
        Output {
            path: "sdks/kotlin/client/src/main/kotlin/dev/trailblaze/messages/Messages.kt",
            text: kotlin::messages(&model),
        },
        Output {
            path: "sdks/kotlin/client/src/main/kotlin/dev/trailblaze/TrailblazeCommands.kt",
            text: kotlin::commands(&model),
        },
        Output { path: "sdks/kotlin/client/src/main/kotlin/dev/trailblaze/Remote.kt", text: kotlin::remote(&model) },
        Output {
            path: "sdks/kotlin/client/src/main/kotlin/dev/trailblaze/BlockingCommands.kt",
            text: kotlin::blocking(&model),
        },
        Output { path: "crates/trailblaze/src/sessions/service/studio.rs", text: studio::rust(&studio) },
        Output { path: "ui/src/api/messages.ts", text: studio::typescript(&studio) },
        Output { path: "ui/src/report/data.ts", text: report::typescript(&rust_types::report()?)? },
    ])
}
