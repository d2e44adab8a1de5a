//! `trailblaze lsp`: the language server for editors.

use std::path::Path;
use std::sync::Arc;

use clap::Args;
use trailblaze_protocol::exit::Exit;

use super::{Context, Refusal};
use crate::lsp::{LspContext, serve};

/// Serve an editor over stdin and stdout with the language server protocol
///
/// It shows the problems that `check` finds, describes and completes tools, goes to their definitions, and runs a trail or its first
/// steps. Editors start it; docs/editors.md says how.
#[derive(Args)]
pub struct LspArgs {
    /// Accepted because many editors pass it; stdio is the only transport
    #[arg(long, hide = true)]
    stdio: bool,
}

pub async fn lsp(context: &Context, _: LspArgs) -> Result<Exit, Refusal> {
    let root_of = |folder: &Path| context.root(folder);
    let place = LspContext {
        root: root_of(Path::new(".")),
        root_of: &root_of,
        environment: Arc::clone(&context.environment),
        host: context.host(None),
    };
    match serve(place).await {
        Ok(()) => Ok(Exit::Passed),
        Err(error) => Err(Refusal::usage(format!("the editor sent what is not a message: {error}"))),
    }
}
