//! `trailblaze schema`: JSON Schemas for the files of a project, for use by editors.

use clap::Args;
use serde_json::{Value, json};
use trailblaze_core::config::{Project, Target, ToolFile, Toolset};
use trailblaze_core::trail::Trail;
use trailblaze_core::yaml::{Decode, nearest};
use trailblaze_drivers::sim::App;
use trailblaze_models::script;
use trailblaze_protocol::exit::Exit;
use trailblaze_toolhost::cassette::Written;

use super::Refusal;
use crate::output::print;
use crate::project::sim::SimSection;
use crate::run::record::effects_file::Contents;

/// Print the JSON Schema for a kind of file
#[derive(Args)]
pub struct SchemaArgs {
    /// trail, project, target, toolset, tool, app, effects, cassette or replies [default: list them]
    kind: Option<String>,
    /// Print the list as JSON; a schema always is
    #[arg(long)]
    json: bool,
}

/// All schemas, by the kind of file they describe.
pub fn schemas() -> Vec<(&'static str, Value)> {
    let mut project = Project::schema();
    project["properties"]["sim"] = SimSection::schema();
    let named = |mut schema: Value, title: &str| {
        schema["$schema"] = json!("https://json-schema.org/draft/2020-12/schema");
        schema["title"] = json!(title);
        schema
    };
    vec![
        ("trail", Trail::schema()),
        ("project", named(project, "trailblaze.yaml")),
        ("target", named(Target::schema(), "Trailblaze target")),
        ("toolset", named(Toolset::schema(), "Trailblaze toolset")),
        ("tool", named(ToolFile::schema(), "Trailblaze tool")),
        ("app", named(App::schema(), "Trailblaze simulated app")),
        ("effects", named(Contents::schema(), "Trailblaze effects")),
        ("cassette", named(Written::schema(), "Trailblaze cassette")),
        ("replies", named(script::Written::schema(), "Trailblaze replies of a model")),
    ]
}

pub fn schema(args: SchemaArgs) -> Result<Exit, Refusal> {
    let schemas = schemas();
    let Some(kind) = args.kind else {
        match args.json {
            true => print::json(&schemas.iter().map(|(kind, _)| kind).collect::<Vec<_>>()),
            false => schemas.iter().for_each(|(kind, _)| print::data(kind)),
        }
        return Ok(Exit::Passed);
    };
    match schemas.iter().find(|(known, _)| *known == kind) {
        Some((_, schema)) => {
            print::json(schema);
            Ok(Exit::Passed)
        }
        None => {
            let hint =
                nearest(&kind, schemas.iter().map(|(kind, _)| *kind)).map(|near| format!("did you mean `{near}`?"));
            Err(Refusal::Usage { message: format!("unknown schema `{kind}`"), hint })
        }
    }
}
