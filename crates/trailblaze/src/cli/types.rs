//! `trailblaze types`: TypeScript declarations of the tools, for scripts.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use clap::Args;
use serde_json::json;
use trailblaze_protocol::exit::Exit;

use super::device::DeviceArgs;
use super::toolbox::registries;
use super::{Context, Refusal};
use crate::files::write_in_project;
use crate::kit::types::{GLOBALS, declarations};
use crate::output::print;
use crate::output::progress::Progress;
use crate::servers::tool_servers::{Outlets, ServerMode};

/// Write TypeScript declarations of the tools, so that editors complete them in scripts
#[derive(Args)]
pub struct TypesArgs {
    #[command(flatten)]
    devices: DeviceArgs,
    /// The app under test, by its id in trailblaze-config/targets [default: the project's target]
    #[arg(long, env = "TRAILBLAZE_TARGET")]
    target: Option<String>,
    /// The file to write, or - for standard output [default: trailblaze.d.ts in the project]
    #[arg(long, short, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Write nothing; fail if the file is out of date
    #[arg(long)]
    check: bool,
    /// Start no tool servers; use the tools they listed when last started
    #[arg(long)]
    offline: bool,
    /// Print what was written as JSON
    #[arg(long)]
    json: bool,
}

pub async fn types(context: &Context, args: TypesArgs) -> Result<Exit, Refusal> {
    let loaded = context.load(None)?;
    Refusal::unless_sound(&loaded.problems)?;
    let mut wiring = context.wiring(&loaded, args.target.clone());
    wiring.check_target()?;
    let devices = loaded.devices(&args.devices.device)?;
    let mode = if args.offline { ServerMode::Remember } else { ServerMode::Start };
    let outlets = Outlets { console: Some(Arc::new(Progress::new(args.json))), ..Outlets::default() };
    wiring.servers = wiring.tool_servers(mode).with_outlets(outlets).for_devices(devices.len()).into();
    let registries = registries(&wiring, devices).await?;
    let tools = || registries.iter().flat_map(|(_, registry)| registry.tools()).map(AsRef::as_ref);
    let text = declarations(tools());
    if args.output.as_deref() == Some(Path::new("-")) {
        print::data(text.trim_end());
        return Ok(Exit::Passed);
    }
    let path = match &args.output {
        Some(path) => loaded.environment.absolute(path),
        None => loaded.root.join("trailblaze.d.ts"),
    };
    let files = [(path.clone(), text.as_str()), (globals_file(&path), GLOBALS)];
    let is_stale =
        |(path, text): &&(PathBuf, &str)| !std::fs::read_to_string(path).is_ok_and(|current| current == *text);
    let stale: Vec<&(PathBuf, &str)> = files.iter().filter(is_stale).collect();
    if args.check {
        let Some((path, _)) = stale.first() else { return Ok(Exit::Passed) };
        let message = format!("`{}` is out of date", path.display());
        return Err(Refusal::Usage { message, hint: Some("run `trailblaze types`".to_string()) });
    }
    for (path, text) in &stale {
        write_in_project(&loaded.root, path, text).map_err(|error| Refusal::Usage {
            message: format!("cannot write `{}`: {error}", path.display()),
            hint: None,
        })?;
    }
    let is_fresh = stale.is_empty();
    let n_tools = text.matches("): Promise<").count();
    if args.json {
        print::json(&json!({"file": path, "changed": !is_fresh}));
    } else {
        print::say(format!("{} ({n_tools} tools)", path.display()));
    }
    Ok(Exit::Passed)
}

/// The file for what scripts find without an import, next to the other: `trailblaze-globals.d.ts`.
fn globals_file(path: &Path) -> PathBuf {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let stem = name.strip_suffix(".d.ts").or(name.strip_suffix(".ts")).unwrap_or(&name);
    path.with_file_name(format!("{stem}-globals.d.ts"))
}
