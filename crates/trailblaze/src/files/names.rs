//! File names made from ids.

use std::collections::HashSet;

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
