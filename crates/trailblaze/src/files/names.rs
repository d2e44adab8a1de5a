//! File names made from ids, and paths in addresses.

use std::collections::HashSet;
use std::path::Path;

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};

/// What needs no encoding in the path of an address.
const PATH: &AsciiSet = &NON_ALPHANUMERIC.remove(b'/').remove(b'.').remove(b'-').remove(b'_').remove(b'~');

/// A path as it is written in an address.
pub fn in_address(path: &Path) -> String {
    utf8_percent_encode(&path.display().to_string(), PATH).to_string()
}

/// The name, with a number appended if it is taken: two trails may have the same id.
pub fn unlike(taken: &mut HashSet<String>, name: String) -> String {
    let numbered = (2..).map(|number| format!("{name}-{number}"));
    let free = std::iter::once(name.clone()).chain(numbered).find(|name| !taken.contains(name)).unwrap_or(name);
    taken.insert(free.clone());
    free
}

/// A file name made of an id or a name.
pub fn slug(id: &str) -> String {
    let safe = |c: char| if c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.') { c } else { '-' };
    id.chars().map(safe).collect::<String>().trim_start_matches('.').to_string()
}
