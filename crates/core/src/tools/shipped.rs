//! YAML tools that ship with the program. They are parsed like those of a project.

use std::sync::Arc;

use crate::engine::registry::Batch;
use crate::names::ToolOrigin;
use crate::tool_files::{self, FileTool};
use crate::yaml::Source;

const FILES: &[(&str, &str)] = &[("built-in eraseText.yaml", include_str!("yaml/eraseText.yaml"))];

pub fn batches() -> Vec<Batch> {
    FILES
        .iter()
        .map(|(path, text)| match tool_files::read(&Source::new(*path, *text)) {
            (Some(FileTool::Own(batch)), problems) if problems.is_empty() => {
                let mut batch = *batch;
                batch.contributor.origin = ToolOrigin::BuiltIn;
                for tool in &mut batch.tools {
                    Arc::make_mut(tool).contributor.origin = ToolOrigin::BuiltIn;
                }
                batch
            }
            (_, problems) => panic!("a shipped tool is invalid: {problems:?}"),
        })
        .collect()
}
