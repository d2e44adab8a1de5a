//! The reader of all YAML files: parser events become a tree of [`YamlNode`]s that keep place, raw text and quoting, and tables
//! decode the tree. Nothing is typed until a table or a tool's schema determines its type.

mod emit;
mod node;
mod place;
mod problem;
mod read;
mod read_back;
mod scalar;
mod table;

pub use crate::nearest::nearest;
pub use emit::{block, inline};
pub use node::{Source, Span, Style, YamlKind, YamlNode};
pub(crate) use place::{behind_colon, line_end};
pub use problem::{Problem, Problems, Severity};
pub use read::read;
pub use read_back::{ReadBackError, read_back};
pub use scalar::{Reading, loose, plain, scalar, to_json};
pub use table::{Decode, Entries, Millis, Spanned, Table};

use std::sync::Arc;

/// Reads one file with one table. Reports all problems of the file.
pub fn decode<T: Decode>(source: &Arc<Source>, problems: &mut Problems) -> Option<T> {
    let root = read(source, problems);
    decode_root(root.as_ref(), problems)
}

/// Decodes a file that was read.
pub fn decode_root<T: Decode>(root: Option<&YamlNode>, problems: &mut Problems) -> Option<T> {
    match root {
        Some(node) => T::decode(node, problems),
        None if problems.has_errors() => None,
        // An empty file is an empty mapping; the table reports missing keys.
        None => {
            let start = Span { start: 0, end: 0, line: 1, column: 1 };
            T::decode(&YamlNode { span: start, kind: YamlKind::Map(Vec::new()) }, problems)
        }
    }
}
