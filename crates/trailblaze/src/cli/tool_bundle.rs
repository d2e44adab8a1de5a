//! `trailblaze tool bundle`: a toolset with everything that it imports, in one file.

use std::path::PathBuf;

use clap::Args;
use trailblaze_protocol::exit::Exit;
use trailblaze_script::bundle;
use trailblaze_toolhost::embedded::check;

use super::{Context, Refusal};
use crate::files::write_in_project;
use crate::output::print;
use crate::output::words::count;

/// Write a toolset, with all that it imports, to one file that runs without Node and node_modules
#[derive(Args)]
pub struct BundleArgs {
    /// The file that serves the tools, with `run()` of @trailblaze/scripting
    file: PathBuf,
    /// The bundle [default: next to the file, with .bundle.json for its ending]
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
}

pub async fn bundle(context: &Context, args: &BundleArgs) -> Result<Exit, Refusal> {
    let loaded = context.load(None)?;
    let file = args.file.clone();
    let output = match &args.output {
        Some(output) => output.clone(),
        None => file.with_extension(bundle::ENDING.trim_start_matches('.')),
    };
    if !bundle::is_bundle(&output) {
        let message = format!("`{}` must end in {}", output.display(), bundle::ENDING);
        return Err(Refusal::Usage { message, hint: Some("bundles are recognised by their names".to_string()) });
    }
    let script = file.canonicalize().ok().and_then(|path| Some(path.strip_prefix(&loaded.root).ok()?.to_path_buf()));
    let script = script.unwrap_or_else(|| args.file.clone());
    let checked = check(&loaded.root, &script.to_string_lossy()).await;
    let checked = checked.map_err(|error| Refusal::usage(format!("`{}`: {error}", args.file.display())))?;
    let text = bundle::write(&checked.program, env!("CARGO_PKG_VERSION"));
    write_in_project(&loaded.root, &context.absolute(&output), text.as_bytes())
        .map_err(|error| Refusal::Environment { message: format!("`{}`: {error}", output.display()) })?;
    let n_modules = checked.program.modules().count();
    print::data(format!(
        "wrote {}: {}, {}, {} kB",
        output.display(),
        count(checked.n_tools, "tool"),
        count(n_modules, "module"),
        text.len().div_ceil(1_000)
    ));
    Ok(Exit::Passed)
}
