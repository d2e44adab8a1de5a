//! Adds a tool server to a hand-written file by splicing bytes, so that comments, order and style are kept.

use std::sync::Arc;

use serde_json::{Map, Value, json};

use crate::trail::splice::{Edit, append, apply, insert_entry, replace_value};
use crate::yaml::{Problems, Source, YamlKind, YamlNode, block, loose, read};

/// A server to add, as an entry of a mapping of servers.
#[derive(Debug, Clone, PartialEq)]
pub struct NewServer {
    pub name: String,
    pub entry: Map<String, Value>,
}

#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum AddServerError {
    #[error("`{path}` cannot be read")]
    Unreadable { path: String },
    #[error("the servers of `{path}` are written in a way that cannot be extended safely")]
    Unsafe { path: String },
}

/// Returns the text of the file with the server added. `keys` are the names that the list of servers may have; the first one is
/// used if there is no list. The result is read back and compared with the intended content.
pub fn add_server(source: &Arc<Source>, keys: [&str; 2], new: &NewServer) -> Result<String, AddServerError> {
    let mut problems = Problems::new(source);
    let root = read(source, &mut problems);
    if problems.has_errors() {
        return Err(AddServerError::Unreadable { path: source.path.clone() });
    }
    let not_safe = || AddServerError::Unsafe { path: source.path.clone() };
    let expected = expected(root.as_ref(), keys, new).ok_or_else(not_safe)?;
    let text = spliced(&source.text, root.as_ref(), keys, new).ok_or_else(not_safe)?;
    let after = Source::new(source.path.as_str(), text.as_str());
    let mut problems = Problems::new(&after);
    let is_intended = read(&after, &mut problems).is_some_and(|root| loose(&root) == expected);
    if is_intended && !problems.has_errors() { Ok(text) } else { Err(not_safe()) }
}

fn spliced(text: &str, root: Option<&YamlNode>, keys: [&str; 2], new: &NewServer) -> Option<String> {
    let by_name = json!({ &new.name: new.entry });
    let Some(root) = root else {
        let line_break = if text.is_empty() || text.ends_with('\n') { "" } else { "\n" };
        return Some(format!("{text}{line_break}{}", block(&json!({ keys[0]: by_name }), 0)));
    };
    let Some((key, servers)) = servers(root, keys) else {
        let edit = insert_entry(text, root, keys[0], &by_name)?;
        return apply(text, vec![edit]);
    };
    let edits: Vec<Edit> = match &servers.kind {
        YamlKind::Map(entries) if !entries.is_empty() => {
            vec![insert_entry(text, servers, &new.name, &new.entry.clone().into())?]
        }
        YamlKind::Seq(items) if !items.is_empty() => vec![append(text, servers, &[as_item(new)])?],
        YamlKind::Seq(_) => replace_value(text, root, key, servers, &json!([as_item(new)]))?,
        _ => replace_value(text, root, key, servers, &by_name)?,
    };
    apply(text, edits)
}

fn servers<'n>(root: &'n YamlNode, keys: [&str; 2]) -> Option<&'n (YamlNode, YamlNode)> {
    root.entries()?.iter().find(|(key, _)| key.raw().is_some_and(|key| keys.contains(&key)))
}

/// The server as an item of a list.
fn as_item(new: &NewServer) -> Value {
    let mut item = Map::from_iter([("name".to_string(), Value::from(new.name.as_str()))]);
    item.extend(new.entry.clone());
    item.into()
}

/// The intended content of the file.
fn expected(root: Option<&YamlNode>, keys: [&str; 2], new: &NewServer) -> Option<Value> {
    let mut all = match root {
        Some(root) => loose(root).as_object()?.clone(),
        None => Map::new(),
    };
    let key = keys.into_iter().find(|key| all.contains_key(*key)).unwrap_or(keys[0]);
    let servers = all.entry(key).or_insert(Value::Null);
    match servers {
        Value::Array(items) => items.push(as_item(new)),
        Value::Object(entries) if entries.contains_key(&new.name) => return None,
        Value::Object(entries) => drop(entries.insert(new.name.clone(), new.entry.clone().into())),
        Value::Null => *servers = json!({ &new.name: new.entry }),
        _ => return None,
    }
    Some(all.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(before: &str, expected: Option<&str>) {
        let entry = json!({"command": "python3", "args": ["tools/a.py"]});
        let new = NewServer { name: "a".into(), entry: entry.as_object().unwrap().clone() };
        let source = Source::new("trailblaze.yaml", before);
        let added = add_server(&source, ["mcpServers", "mcp_servers"], &new);
        assert_eq!(added.ok().as_deref(), expected, "of:\n{before}");
    }

    #[test]
    fn a_file_without_servers_gets_them_at_its_end() {
        const ENTRY: &str = "mcpServers:\n  a:\n    command: python3\n    args:\n      - tools/a.py\n";
        check("", Some(ENTRY));
        check("# only a word", Some(&format!("# only a word\n{ENTRY}")));
        check("target: x # mine\n", Some(&format!("target: x # mine\n{ENTRY}")));
        check("target: x\r\n", Some(&format!("target: x\n{ENTRY}").replace('\n', "\r\n")));
    }

    #[test]
    fn a_server_is_added_in_the_style_of_the_others() {
        check(
            "mcpServers:\n  # the first\n  b: {command: x} # why\ntarget: x\n",
            Some(
                "mcpServers:\n  # the first\n  b: {command: x} # why\n  a:\n    command: python3\n    args:\n      - tools/a.py\ntarget: x\n",
            ),
        );
        check(
            "mcp_servers:\n- script: ./b.ts # why\n\n# the app\ntarget: x\n",
            Some(
                "mcp_servers:\n- script: ./b.ts # why\n- name: a\n  command: python3\n  args:\n    - tools/a.py\n\n# the app\ntarget: x\n",
            ),
        );
        check(
            "mcpServers: [{script: b.ts}]\n",
            Some("mcpServers: [{script: b.ts}, {name: a, command: python3, args: [tools/a.py]}]\n"),
        );
        check("{target: x}\n", Some("{target: x, mcpServers: {a: {command: python3, args: [tools/a.py]}}}\n"));
    }

    #[test]
    fn an_empty_list_is_filled() {
        check("mcpServers:\n", Some("mcpServers:\n  a:\n    command: python3\n    args:\n      - tools/a.py\n"));
        check(
            "mcpServers: []\ntarget: x\n",
            Some("mcpServers:\n  - name: a\n    command: python3\n    args:\n      - tools/a.py\ntarget: x\n"),
        );
    }

    #[test]
    fn files_that_cannot_be_extended_safely_are_left_alone() {
        check("mcpServers: {a: {command: x}}\n", None);
        check("mcpServers: nonsense\n", None);
        check("- a list\n", None);
        check("x: [\n", None);
        check("base: &b {c: {command: x}}\nmcpServers: *b\n", None);
    }
}
