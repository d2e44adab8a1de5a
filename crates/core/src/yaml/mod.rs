//! The one reader of every YAML file: parser events become a tree of [`Node`]s that keep place, raw text and
//! quoting, and tables decode the tree. Nothing is typed before the table, or a tool's schema, says what it is.

mod emit;
mod node;
mod place;
mod problem;
mod read;
mod scalar;
mod table;

pub use emit::{block, inline};
pub use node::{Kind, Node, Source, Span, Style};
pub(crate) use place::{behind_colon, line_end};
pub use problem::{Problem, Problems, Severity, nearest};
pub use read::read;
pub use scalar::{Reading, loose, plain, scalar, to_json};
pub use table::{Decode, Entries, Millis, Spanned};
