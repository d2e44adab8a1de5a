//! Dependencies keep to `deny.toml`. `cargo deny` checks the same and more, but takes minutes to build, so these tests read its
//! configuration and check what can be checked offline. `scripts/test` runs `cargo deny` where it is installed.

use serde_json::Value;

use crate::documentation::source_rules::support::*;

#[test]
fn licences_are_allowed() {
    let mut violations = Violations::default();
    let allowed = Deny::read().strings("licenses", "allow");
    assert!(!allowed.is_empty(), "deny.toml: `[licenses]` has no `allow`");
    for package in installed() {
        let (name, licence) = (text(&package["name"]), text(&package["license"]));
        if !is_allowed(&licence, &allowed) {
            violations.add("deny.toml", 1, &format!("the licence `{licence}` of `{name}` is not in `licenses.allow`"));
        }
    }
    violations.check();
}

#[test]
fn allowed_licences_are_in_use() {
    let used: Vec<String> = installed().iter().map(|package| text(&package["license"])).collect();
    let mut violations = Violations::default();
    for licence in Deny::read().strings("licenses", "allow") {
        if !used.iter().any(|used| tokens(used).contains(&licence)) {
            violations.add("deny.toml", 1, &format!("no dependency has the licence `{licence}`; remove it"));
        }
    }
    violations.check();
}

#[test]
fn dependencies_come_from_allowed_sources_and_none_is_banned() {
    let mut violations = Violations::default();
    let deny = Deny::read();
    let (sources, banned) = (deny.strings("sources", "allow-registry"), deny.values("bans", "crate"));
    // The lock file has the packages of all platforms.
    let lock = read(&root().join("Cargo.lock"));
    let mut package = String::new();
    for (index, line) in lock.lines().enumerate() {
        let value = |key: &str| line.strip_prefix(key)?.strip_prefix(" = \"")?.strip_suffix('"');
        if let Some(name) = value("name") {
            package = name.to_string();
            if banned.contains(&package) {
                violations.add("Cargo.lock", index + 1, &format!("`{package}` is banned by deny.toml"));
            }
        }
        if let Some(source) = value("source") {
            if !sources.iter().any(|allowed| source == format!("registry+{allowed}")) {
                violations.add("Cargo.lock", index + 1, &format!("`{package}` comes from `{source}`"));
            }
        }
    }
    violations.check();
}

#[test]
fn versions_of_dependencies_are_named_in_the_workspace() {
    let mut violations = Violations::default();
    for package in packages() {
        let manifest = std::path::PathBuf::from(text(&package["manifest_path"]));
        let mut is_dependencies = false;
        for (index, line) in read(&manifest).lines().enumerate() {
            if line.starts_with('[') {
                is_dependencies = line.ends_with("dependencies]");
            } else if is_dependencies && line.contains('=') && !line.contains("workspace = true") {
                violations.add(&shown(&manifest), index + 1, "name the version in the workspace's Cargo.toml");
            }
        }
        for dependency in package["dependencies"].as_array().into_iter().flatten() {
            if dependency["req"] == "*" && dependency["path"].is_null() {
                violations.add("Cargo.toml", 1, &format!("`{}` needs a version", text(&dependency["name"])));
            }
        }
    }
    violations.check();
}

/// All packages that are built on this machine, our own included. Those of other platforms may not have been downloaded.
fn installed() -> Vec<Value> {
    let version = cargo(&["version", "--verbose"]);
    let host = version.lines().find_map(|line| line.strip_prefix("host: ")).expect("cargo says its host");
    let metadata = cargo(&["metadata", "--filter-platform", host, "--format-version", "1", "--locked", "--offline"]);
    let metadata: Value = serde_json::from_str(&metadata).expect("cargo prints JSON");
    metadata["packages"].as_array().cloned().unwrap_or_default()
}

/// `deny.toml`, of which these tests need only texts and lists of texts.
struct Deny(String);

impl Deny {
    fn read() -> Deny {
        let source = read(&root().join("deny.toml"));
        let without_comments = source.lines().map(|line| line.split('#').next().unwrap_or_default());
        Deny(without_comments.collect::<Vec<_>>().join("\n"))
    }

    fn section(&self, name: &str) -> &str {
        let start = format!("[{name}]\n");
        let rest = self.0.split_once(&start).unwrap_or_else(|| panic!("deny.toml has no section `{name}`")).1;
        rest.split("\n[").next().unwrap_or_default()
    }

    /// A list of texts: `key = ["a", "b"]`.
    fn strings(&self, section: &str, key: &str) -> Vec<String> {
        let (_, rest) = self.section(section).split_once(&format!("{key} = [")).unwrap_or_default();
        let list = rest.split(']').next().unwrap_or_default();
        list.split('"').skip(1).step_by(2).map(String::from).collect()
    }

    /// The values of a key, wherever it is in a section: `{ key = "a" }`.
    fn values(&self, section: &str, key: &str) -> Vec<String> {
        let start = format!("{key} = \"");
        let found = self.section(section).split(&start).skip(1);
        found.filter_map(|rest| rest.split('"').next()).map(String::from).collect()
    }
}

/// Whether a licence expression (SPDX) can be met by allowed licences. Older manifests write `/` for `OR`.
fn is_allowed(expression: &str, allowed: &[String]) -> bool {
    let tokens = tokens(expression);
    let mut rest = tokens.as_slice();
    !rest.is_empty() && any_of(&mut rest, allowed) && rest.is_empty()
}

fn tokens(expression: &str) -> Vec<String> {
    let spaced = expression.replace('/', " OR ").replace('(', " ( ").replace(')', " ) ").replace(" WITH ", "+WITH+");
    spaced.split_whitespace().map(|token| token.replace("+WITH+", " WITH ")).collect()
}

/// `a AND b OR c`: `AND` binds tighter.
fn any_of(rest: &mut &[String], allowed: &[String]) -> bool {
    let mut met = all_of(rest, allowed);
    while take(rest, "OR") {
        met |= all_of(rest, allowed);
    }
    met
}

fn all_of(rest: &mut &[String], allowed: &[String]) -> bool {
    let mut met = one(rest, allowed);
    while take(rest, "AND") {
        met &= one(rest, allowed);
    }
    met
}

fn one(rest: &mut &[String], allowed: &[String]) -> bool {
    if take(rest, "(") {
        let met = any_of(rest, allowed);
        return take(rest, ")") && met;
    }
    let Some((licence, after)) = rest.split_first() else { return false };
    *rest = after;
    allowed.contains(licence)
}

fn take(rest: &mut &[String], token: &str) -> bool {
    let is_next = rest.first().is_some_and(|first| first == token);
    if is_next {
        *rest = &rest[1..];
    }
    is_next
}

#[test]
fn licence_expressions_are_understood() {
    let allowed = ["MIT", "Apache-2.0", "Unicode-3.0"].map(String::from);
    for (expression, expected) in [
        ("MIT", true),
        ("GPL-3.0", false),
        ("GPL-3.0 OR MIT", true),
        ("GPL-3.0/MIT", true),
        ("MIT AND GPL-3.0", false),
        ("(MIT OR GPL-3.0) AND Unicode-3.0", true),
        ("Apache-2.0 WITH LLVM-exception", false),
        ("Apache-2.0 WITH LLVM-exception OR Apache-2.0", true),
        ("MIT AND GPL-3.0 OR Apache-2.0", true),
        ("(MIT", false),
        ("", false),
    ] {
        assert_eq!(is_allowed(expression, &allowed), expected, "{expression}");
    }
}
