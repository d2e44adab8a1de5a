//! An import of a name that a module does not export. The engine names that module; its author wants to know who imports it.

use crate::error::{StackFrame, Thrown};
use crate::program::Program;
use crate::text::Position;

/// What the engine threw, at the import in the author's code, if it is about a missing export.
pub fn explained(program: &Program, thrown: &Thrown) -> Option<Thrown> {
    let rest = thrown.message.strip_prefix("Could not find export '")?;
    let (name, module) = rest.strip_suffix('\'')?.split_once("' in module '")?;
    let mut importers: Vec<(StackFrame, &str)> = Vec::new();
    for (id, linked) in program.modules() {
        let specifiers = linked.imports.iter().filter(|(_, target)| *target == module);
        for (specifier, _) in specifiers {
            let Some(at) = import(&linked.code, specifier, name) else { continue };
            let at = program.original(id, at).unwrap_or(at);
            importers.push((StackFrame { function: String::new(), module: id.to_string(), at }, specifier));
        }
    }
    importers.sort_by_key(|(frame, _)| frame.is_in_package());
    let (frame, specifier) = importers.into_iter().next()?;
    let message = format!("`{specifier}` has no export `{name}`");
    Some(Thrown { name: String::new(), message, stack: vec![frame] })
}

/// Where code imports a name from a module. The code is printed, with one statement on a line.
fn import(code: &str, specifier: &str, name: &str) -> Option<Position> {
    let number = |number: usize| u32::try_from(number).unwrap_or(u32::MAX);
    let is_name = |c: char| c.is_alphanumeric() || matches!(c, '_' | '$');
    for (line, text) in code.lines().enumerate() {
        let is_import = text.trim_start().starts_with("import") || text.trim_start().starts_with("export");
        if !is_import || !text.contains(specifier) {
            continue;
        }
        let is_whole = |at: &usize| !text[..*at].ends_with(is_name) && !text[at + name.len()..].starts_with(is_name);
        if let Some(at) = text.match_indices(name).map(|(at, _)| at).find(is_whole) {
            return Some(Position { line: number(line + 1), column: number(text[..at].chars().count() + 1) });
        }
    }
    None
}
