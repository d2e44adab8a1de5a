//! The calls of tools in a file, by their places.

use std::sync::Arc;

use trailblaze_core::trail::CALL_KEYS;
use trailblaze_core::yaml::{Problems, Source, Span, YamlKind, YamlNode, read};

/// A call: the name of its tool, and where that is.
#[derive(Debug, PartialEq)]
pub struct NamedCall {
    pub tool: String,
    pub span: Span,
}

/// All calls of a trail, or of a tool that is made of calls.
pub fn calls(source: &Arc<Source>) -> Vec<NamedCall> {
    let mut found = Vec::new();
    if let Some(root) = read(source, &mut Problems::new(source)) {
        visit(&root, &mut found);
    }
    found
}

/// The call whose name is at an offset.
pub fn at(source: &Arc<Source>, offset: usize) -> Option<NamedCall> {
    calls(source).into_iter().find(|call| (call.span.start..=call.span.end).contains(&offset))
}

/// The value of `use:` at an offset: the file of a stretch.
pub fn used_at(source: &Arc<Source>, offset: usize) -> Option<String> {
    let root = read(source, &mut Problems::new(source))?;
    let mut found = None;
    root.walk(&mut |node| {
        let used = node.get("use").filter(|used| (used.span.start..=used.span.end).contains(&offset));
        found = found.take().or_else(|| used?.raw().map(str::to_string));
    });
    found
}

/// Whether the value of `use:` is being written at an offset.
pub fn is_use_begun(text: &str, offset: usize) -> bool {
    let line = text.get(..offset).map(|before| before.rsplit('\n').next().unwrap_or_default());
    let key = line.map(|line| line.trim_start().trim_start_matches("- ").trim_start());
    key.is_some_and(|key| key.strip_prefix("use:").is_some_and(|value| !value.trim().contains(' ')))
}

/// The file that `use:` names, if a key of its `with:` is being written at an offset.
pub fn parameter_begun(text: &str, offset: usize) -> Option<String> {
    let before = text.get(..offset)?;
    let n_above = before.matches('\n').count();
    let lines: Vec<&str> = text.lines().collect();
    let line = before.rsplit('\n').next().unwrap_or_default();
    let with = match line.split_once("with:") {
        Some((_, values)) => {
            let begun = values.trim_start().strip_prefix('{')?.rsplit(',').next().unwrap_or_default();
            if begun.contains([':', '}']) {
                return None;
            }
            n_above
        }
        None if line.contains(':') => return None,
        None => {
            let depth = key_column(line);
            let is_above = |line: &&str| !line.trim().is_empty() && key_column(line) < depth;
            let nth = lines[..n_above].iter().rposition(is_above)?;
            let is_with = lines[nth].trim_start().trim_start_matches("- ").trim() == "with:";
            is_with.then_some(nth)?
        }
    };
    let column = key_column(lines[with]);
    // The keys of the same item: above it as far as its dash, and below it as far as the next one.
    let is_beside = |line: &str| line.trim().is_empty() || key_column(line) >= column;
    let starts = |line: &str| line.trim_start().starts_with("- ") && key_column(line) == column;
    let above = lines[..with].iter().rposition(|line| !is_beside(line) || starts(line)).unwrap_or_default();
    let first = if starts(lines[with]) { with } else { above };
    let below = lines[with + 1..].iter().take_while(|line| is_beside(line) && !starts(line)).count();
    let mut keys = lines[first..=with + below].iter().filter(|line| key_column(line) == column);
    keys.find_map(|line| {
        let used = line.trim_start().trim_start_matches("- ").trim_start().strip_prefix("use:")?;
        let used = used.split(" #").next().unwrap_or_default();
        Some(used.trim().trim_matches(['\'', '"']).to_string())
    })
}

/// Where the key of a line begins, after the dashes of lists.
fn key_column(line: &str) -> usize {
    line.len() - line.trim_start_matches([' ', '-']).len()
}

fn visit(node: &YamlNode, found: &mut Vec<NamedCall>) {
    match &node.kind {
        YamlKind::Scalar { .. } => {}
        YamlKind::Seq(items) => items.iter().for_each(|item| visit(item, found)),
        YamlKind::Map(entries) => {
            for (key, value) in entries {
                match key.raw() {
                    Some("tools" | "else" | "when" | "until") => listed(value, found),
                    // By classifier: a list of calls, or the one call of a trailhead.
                    Some("recording") => {
                        value.entries().into_iter().flatten().for_each(|(_, calls)| listed(calls, found))
                    }
                    _ => visit(value, found),
                }
            }
        }
    }
}

fn listed(node: &YamlNode, found: &mut Vec<NamedCall>) {
    match &node.kind {
        YamlKind::Seq(items) => items.iter().for_each(|item| listed(item, found)),
        YamlKind::Map(entries) => {
            // `as:` and `soft:` are next to the tool.
            let is_beside = |key: &YamlNode| entries.len() > 1 && key.raw().is_some_and(|key| CALL_KEYS.contains(&key));
            let keys = entries.iter().map(|(key, _)| key).filter(|key| !is_beside(key));
            found.extend(keys.filter_map(|key| Some(NamedCall { tool: key.raw()?.to_string(), span: key.span })));
        }
        YamlKind::Scalar { .. } => {}
    }
}

/// The beginning of a tool's name at an offset, if a call is being written there: `- ta` under `tools:` or in a recording.
pub fn begun(text: &str, offset: usize) -> Option<&str> {
    let before = text.get(..offset)?;
    let (above, line) = before.rsplit_once('\n').unwrap_or(("", before));
    let word = line.trim_start().strip_prefix("- ")?.trim_start();
    if !word.chars().all(|c| c.is_alphanumeric() || c == '_') {
        return None;
    }
    let indent = |line: &str| line.len() - line.trim_start().len();
    let depth = indent(line);
    let is_holder = |line: &&str| {
        let is_item = line.trim_start().starts_with("- ");
        !line.trim().is_empty() && (indent(line) < depth || (indent(line) == depth && !is_item))
    };
    let holder = above.lines().rev().find(is_holder)?;
    if matches!(holder.trim_start().trim_start_matches("- "), "tools:" | "else:") {
        return Some(word);
    }
    let outer = above
        .lines()
        .rev()
        .skip_while(|line| *line != holder)
        .find(|line| !line.trim().is_empty() && indent(line) < indent(holder));
    outer.filter(|outer| outer.trim() == "recording:").map(|_| word)
}

#[cfg(test)]
mod tests {
    use super::*;

    const TRAIL: &str = "trailhead:\n  step: Start\n  recording:\n    android: {launchApp: {packageId: a}}\ntrail:\n  - step: Go\n    recording:\n      android:\n        - tap: {text: Go}\n    tools:\n      - pressBack:\n      - tap: {id: a}\n";

    #[test]
    fn calls_are_found_in_recordings_and_lists_of_tools() {
        let source = Source::new("a.trail.yaml", TRAIL);
        let names: Vec<String> = calls(&source).into_iter().map(|call| call.tool).collect();
        assert_eq!(names, ["launchApp", "tap", "pressBack", "tap"]);
        let place = TRAIL.find("pressBack").unwrap() + 2;
        assert_eq!(at(&source, place).map(|call| call.tool).as_deref(), Some("pressBack"));
        assert_eq!(at(&source, 3), None);
    }

    #[test]
    fn the_parameters_of_a_stretch_are_known_where_their_values_are_written() {
        let begun = |text: &str| parameter_begun(text, text.find('|').expect("a place")).unwrap_or_default();
        let item =
            |rest: &str| format!("trail:\n  - use: other.yaml\n  - use: 'a.yaml' # shared\n{rest}  - step: Go\n");
        for rest in [
            "    with: {|}\n",
            "    with: {pin: '1', a|}\n",
            "    with:\n      |\n",
            "    with:\n      pin: 1\n      a|\n",
        ] {
            assert_eq!(begun(&item(rest)), "a.yaml", "{rest}");
        }
        assert_eq!(begun("trail:\n  - with: {|}\n    use: a.yaml\n  - use: b.yaml\n"), "a.yaml");
        for rest in ["    with: {pin: |}\n", "    with:\n      pin: |\n", "    step: |\n", "    on: alice\n      |\n"] {
            assert_eq!(begun(&item(rest)), "", "{rest}");
        }
    }

    #[test]
    fn the_file_of_a_stretch_is_found_where_it_is_used() {
        let text = "trail:\n  - use: stretches/sign-in.yaml\n    with: {pin: '1'}\n";
        let source = Source::new("a.trail.yaml", text);
        let found = |word: &str| used_at(&source, text.find(word).unwrap());
        assert_eq!(found("sign-in").as_deref(), Some("stretches/sign-in.yaml"));
        assert_eq!(found("with"), None);
        assert!(is_use_begun("trail:\n  - use: stre", 20) && !is_use_begun("trail:\n  - us", 13));
    }

    #[test]
    fn a_call_that_is_being_written_is_recognised() {
        let written = |text: &str| begun(text, text.len()).map(str::to_string);
        assert_eq!(written("trail:\n  - step: Go\n    tools:\n      - ta").as_deref(), Some("ta"));
        assert_eq!(written("trail:\n  - step: Go\n    tools:\n    - tap: {}\n    - ").as_deref(), Some(""));
        assert_eq!(written("    recording:\n      android:\n        - ta").as_deref(), Some("ta"));
        assert_eq!(written("trail:\n  - st"), None);
        assert_eq!(written("trail:\n  - step: tools\n    tags:\n      - a"), None);
    }
}
