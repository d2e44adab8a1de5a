//! `trailblaze schema`: JSON Schemas for the files of a project, for use by editors.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use clap::Args;
use serde_json::{Value, json};
use trailblaze_core::config::{TargetConfig, ToolFile, ToolsetConfig};
use trailblaze_core::trail::{StretchDocument, Trail, TrailFolder};
use trailblaze_core::yaml::{Decode, nearest};
use trailblaze_drivers::sim::SimApp;
use trailblaze_models::canned;
use trailblaze_protocol::exit::Exit;
use trailblaze_toolhost::cassette::CassetteFile;

use super::device::DeviceArgs;
use super::interrupt::Signals;
use super::toolbox::registries;
use super::{Context, Refusal};
use crate::files::write_in_project;
use crate::output::print;
use crate::output::progress::Progress;
use crate::project::changes::FileChanges;
use crate::project::providers::project_schema;
use crate::project::trail_schema;
use crate::run::record::effects_file::EffectsFileContents;
use crate::servers::tool_servers::{Outlets, ServerMode};

/// Changes of files within this time are one change.
const QUIET: Duration = Duration::from_millis(300);

/// Print the JSON Schema for a kind of file, or write all of them for the editor
///
/// With `--tools`, the schema of a trail has the tools of the project with their arguments, so that editors complete and check them.
#[derive(Args)]
pub struct SchemaArgs {
    /// trail, folder, project, target, toolset, tool, app, effects, cassette or replies [default: list them]
    kind: Option<String>,
    /// Add the tools of the project, and their arguments, to the schema of a trail
    #[arg(long)]
    tools: bool,
    /// Write all schemas to .trailblaze/schemas in the project, that of a trail with its tools
    #[arg(long, conflicts_with_all = ["kind", "tools"])]
    write: bool,
    /// Write them again whenever the project's files change
    #[arg(long, requires = "write")]
    watch: bool,
    #[command(flatten)]
    devices: DeviceArgs,
    /// The app under test, by its id in trailblaze-config/targets [default: the project's target]
    #[arg(long, env = "TRAILBLAZE_TARGET")]
    target: Option<String>,
    /// Start no tool servers; use the tools they listed when last started
    #[arg(long)]
    offline: bool,
    /// Print the list, or what was written, as JSON; a schema always is
    #[arg(long)]
    json: bool,
}

/// All schemas, by the kind of file they describe.
pub fn schemas() -> Vec<(&'static str, Value)> {
    let named = |mut schema: Value, title: &str| {
        schema["$schema"] = json!("https://json-schema.org/draft/2020-12/schema");
        schema["title"] = json!(title);
        schema
    };
    vec![
        ("trail", Trail::schema()),
        ("folder", TrailFolder::schema()),
        ("stretch", StretchDocument::whole_schema()),
        ("project", named(project_schema(), "trailblaze.yaml")),
        ("target", named(TargetConfig::schema(), "Trailblaze target")),
        ("toolset", named(ToolsetConfig::schema(), "Trailblaze toolset")),
        ("tool", named(ToolFile::schema(), "Trailblaze tool")),
        ("app", named(SimApp::schema(), "Trailblaze simulated app")),
        ("effects", named(EffectsFileContents::schema(), "Trailblaze effects")),
        ("cassette", named(CassetteFile::schema(), "Trailblaze cassette")),
        ("replies", named(canned::RepliesFile::schema(), "Trailblaze replies of a model")),
    ]
}

/// The files of the folder, by their paths in the project.
pub fn schema_files() -> impl Iterator<Item = (String, String)> {
    let path = |kind: &str| trail_schema::FILE.replace("trail.schema", &format!("{kind}.schema"));
    schemas().into_iter().map(move |(kind, schema)| (path(kind), trail_schema::text(&schema)))
}

pub async fn schema(context: &Context, args: SchemaArgs) -> Result<Exit, Refusal> {
    if args.write {
        return if args.watch { watch(context, &args).await } else { write(context, &args).await };
    }
    let schemas = schemas();
    let Some(kind) = &args.kind else {
        if args.tools {
            return Err(Refusal::Usage { message: "`--tools` is for `schema trail`".to_string(), hint: None });
        }
        match args.json {
            true => print::json(&schemas.iter().map(|(kind, _)| kind).collect::<Vec<_>>()),
            false => schemas.iter().for_each(|(kind, _)| print::data(kind)),
        }
        return Ok(Exit::Passed);
    };
    let Some((_, schema)) = schemas.iter().find(|(known, _)| known == kind) else {
        let hint = nearest(kind, schemas.iter().map(|(kind, _)| *kind)).map(|near| format!("did you mean `{near}`?"));
        return Err(Refusal::Usage { message: format!("unknown schema `{kind}`"), hint });
    };
    match args.tools {
        false => print::json(schema),
        true if kind == "trail" => print::json(&with_tools(context, &args).await?.1),
        true => {
            let message = format!("`--tools` is for `schema trail`; a file of kind `{kind}` contains no calls");
            return Err(Refusal::Usage { message, hint: None });
        }
    }
    Ok(Exit::Passed)
}

/// The schema of a trail with the tools of the project, on the devices that were chosen.
async fn with_tools(context: &Context, args: &SchemaArgs) -> Result<(PathBuf, Value), Refusal> {
    let loaded = context.load(None)?;
    Refusal::unless_sound(&loaded.problems)?;
    let mut wiring = context.wiring(&loaded, args.target.clone());
    wiring.check_target()?;
    let devices = match args.devices.device.as_slice() {
        [] => loaded.all_devices()?,
        named => loaded.devices(named)?,
    };
    let mode = if args.offline { ServerMode::Remember } else { ServerMode::Start };
    let outlets = Outlets { console: Some(Arc::new(Progress::new(true))), ..Outlets::default() };
    wiring.servers = wiring.tool_servers(mode).with_outlets(outlets).for_devices(devices.len()).into();
    let registries = registries(&wiring, devices).await?;
    let tools = registries.iter().flat_map(|(_, registry)| registry.tools()).map(AsRef::as_ref);
    Ok((loaded.root.clone(), trail_schema::trail_schema(tools)))
}

async fn write(context: &Context, args: &SchemaArgs) -> Result<Exit, Refusal> {
    let (root, trail) = with_tools(context, args).await?;
    let mut changed = Vec::new();
    for (path, text) in schema_files() {
        let text = if path == trail_schema::FILE { trail_schema::text(&trail) } else { text };
        let file = root.join(&path);
        if std::fs::read_to_string(&file).is_ok_and(|current| current == text) {
            continue;
        }
        write_in_project(&root, &file, text)
            .map_err(|source| Refusal::Io { what: format!("cannot write `{path}`"), source })?;
        changed.push(path);
    }
    match (args.json, changed.is_empty()) {
        (true, _) => print::json(&json!({"root": root, "written": changed})),
        (false, true) => print::say("All schemas are up to date."),
        (false, false) => changed.iter().for_each(print::data),
    }
    Ok(Exit::Passed)
}

async fn watch(context: &Context, args: &SchemaArgs) -> Result<Exit, Refusal> {
    let root = context.root(Path::new("."));
    let changes = FileChanges::of(&root, &root.join("logs"));
    let mut changes = changes.map_err(|error| Refusal::cannot_watch(&root, &error))?;
    // From now on, no request to stop is lost.
    let mut signals = Signals::listen();
    loop {
        let written = tokio::select! {
            written = write(context, args) => written,
            _ = signals.next() => return Ok(Exit::Passed),
        };
        if let Err(refusal) = written {
            refusal.show();
        }
        print::say("watching for changes; press Ctrl-C to stop");
        tokio::select! {
            _ = changes.next(QUIET, |_| true) => {}
            _ = signals.next() => return Ok(Exit::Passed),
        }
    }
}
