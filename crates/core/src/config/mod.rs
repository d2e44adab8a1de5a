//! What a team writes: `trailblaze.yaml` and `trailblaze-config/{targets,toolsets,tools}/*.yaml`.

mod add_server;
mod project;
mod server;
mod target;
mod tool_file;
mod toolset;

pub use add_server::{AddServerError, NewServer, add_server};
pub use project::{BrowserEntry, ColorScheme, DeviceEntry, Project};
pub use server::{Context, MultiDevice, Restart, Server, Servers, Transport};
pub use target::{PlatformEntry, Target};
pub use tool_file::{Mode, Parameter, ParameterType, ToolFile};
pub use toolset::Toolset;

use std::sync::Arc;

use crate::yaml::{Decode, Kind, Node, Problems, Source, Span, read};

/// Reads one file with one table. The problems are all that is wrong with it.
pub fn decode<T: Decode>(source: &Arc<Source>, problems: &mut Problems) -> Option<T> {
    let root = read(source, problems);
    decode_root(root.as_ref(), problems)
}

/// Decodes what was read of a file.
pub fn decode_root<T: Decode>(root: Option<&Node>, problems: &mut Problems) -> Option<T> {
    match root {
        Some(node) => T::decode(node, problems),
        None if problems.has_errors() => None,
        // An empty file is an empty mapping: the table says what it lacks.
        None => {
            let start = Span { start: 0, end: 0, line: 1, column: 1 };
            T::decode(&Node { span: start, kind: Kind::Map(Vec::new()) }, problems)
        }
    }
}
