//! Files of a crate that use each other form a circle. Circles stay within a folder and are small, so that a file can be read with
//! those that it needs. A module consists of the files in its folder, so that what its `mod.rs` uses of them does not count.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use crate::documentation::source_rules::support::*;

/// The most files of a circle.
const MOST: usize = 3;

/// The engine is one machine: a call, its session, its tools and its device know each other.
const ENGINE: &str = "crates/core/src/engine/";

type Module = Vec<String>;

#[test]
fn circles_of_files_are_small_and_stay_in_one_folder() {
    let mut violations = Violations::default();
    let mut n_files = 0;
    for source in std::fs::read_dir(root().join("crates")).unwrap() {
        let source = source.unwrap().path().join("src");
        if !source.is_dir() {
            continue;
        }
        let modules = modules(&source);
        n_files += modules.len();
        for circle in circles(&modules) {
            let paths: Vec<String> = circle.iter().map(|module| shown(&modules[module])).collect();
            if paths.iter().all(|path| path.starts_with(ENGINE)) {
                continue;
            }
            let folders: BTreeSet<&[String]> =
                circle.iter().map(|module| &module[..module.len().saturating_sub(1)]).collect();
            let names = paths.join(", ");
            if circle.len() > MOST {
                violations.add(&paths[0], 1, &format!("a circle of {} files: {names}", circle.len()));
            }
            if folders.len() > 1 {
                violations.add(&paths[0], 1, &format!("a circle across folders: {names}"));
            }
        }
    }
    assert!(n_files > 300, "only {n_files} files were read");
    violations.check();
}

#[test]
fn a_circle_is_found() {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| {
        let path = folder.path().join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    };
    write("lib.rs", "mod a;\nmod b;\nmod c;\nuse a::One;\n");
    write("a.rs", "use crate::b::{Two, other::Three};\n// use crate::c;\n");
    write("b/mod.rs", "mod other;\nuse super::c::Four;\npub use other::Three;\n");
    write("b/other.rs", "use super::Two;\n");
    write("c.rs", "#[cfg(test)]\nmod tests {\n    use crate::a::One;\n}\n");
    let found = |folder: &Path| -> Vec<Vec<String>> {
        let modules = modules(folder);
        circles(&modules).into_iter().map(|circle| circle.iter().map(|module| module.join("::")).collect()).collect()
    };
    assert_eq!(found(folder.path()), Vec::<Vec<String>>::new());
    write("c.rs", "fn four() -> crate::a::One {}\n");
    assert_eq!(found(folder.path()), [["a", "b", "b::other", "c"].map(String::from)]);
}

/// The files of a crate, by the paths of their modules.
fn modules(source: &Path) -> BTreeMap<Module, std::path::PathBuf> {
    let module = |file: std::path::PathBuf| {
        let path = file.strip_prefix(source).unwrap().with_extension("");
        let mut module: Module = path.iter().map(|part| part.to_string_lossy().into_owned()).collect();
        if matches!(module.last().map(String::as_str), Some("mod" | "lib" | "main")) {
            module.pop();
        }
        (module, file)
    };
    files(source, "rs")
        .into_iter()
        .map(module)
        .filter(|(module, _)| !module.iter().any(|part| part == "tests"))
        .collect()
}

/// The groups of files that use each other, directly or through others.
fn circles(modules: &BTreeMap<Module, std::path::PathBuf>) -> Vec<Vec<Module>> {
    let uses: BTreeMap<&Module, BTreeSet<Module>> =
        modules.iter().map(|(module, file)| (module, used(modules, module, &read(file)))).collect();
    let reached: BTreeMap<&Module, BTreeSet<Module>> = modules
        .keys()
        .map(|module| {
            let (mut reached, mut next) = (BTreeSet::new(), vec![module.clone()]);
            while let Some(module) = next.pop() {
                next.extend(uses[&module].iter().filter(|used| reached.insert((*used).clone())).cloned());
            }
            (module, reached)
        })
        .collect();
    let mut circles: Vec<Vec<Module>> = Vec::new();
    for module in modules.keys().filter(|module| reached[module].contains(*module)) {
        if circles.iter().any(|circle| circle.contains(module)) {
            continue;
        }
        circles.push(
            modules
                .keys()
                .filter(|other| reached[module].contains(*other) && reached[other].contains(module))
                .cloned()
                .collect(),
        );
    }
    circles
}

/// The files that a file uses. Tests may use anything.
fn used(modules: &BTreeMap<Module, std::path::PathBuf>, module: &Module, text: &str) -> BTreeSet<Module> {
    let own = text.split("#[cfg(test)]").next().unwrap_or_default();
    let own = own.split("#[cfg(all(test,").next().unwrap_or_default();
    let code: String = own.lines().filter(|line| !line.trim_start().starts_with("//")).collect::<Vec<_>>().join("\n");
    let mut used = BTreeSet::new();
    let mut add = |path: &[&str], base: &[String]| {
        let full: Module = base.iter().cloned().chain(path.iter().map(|part| part.to_string())).collect();
        let found = (1..=full.len()).rev().map(|n| &full[..n]).find(|part| modules.contains_key(*part));
        let is_other = |found: &&[String]| !found.starts_with(module);
        used.extend(found.filter(is_other).map(<[String]>::to_vec));
    };
    for (at, _) in code.match_indices("use ").filter(|(at, _)| code[..*at].ends_with(['\n', ' ', ')']) || *at == 0) {
        let Some((tree, _)) = code[at + 4..].split_once(';') else { continue };
        for path in leaves(tree) {
            let parts: Vec<&str> = path.split("::").filter(|part| !part.is_empty()).collect();
            let n_up = parts.iter().take_while(|part| **part == "super").count();
            let (base, rest) = match parts.first() {
                Some(&"crate") => (&[][..], &parts[1..]),
                Some(&"self") => (module.as_slice(), &parts[1..]),
                Some(&"super") => (&module[..module.len().saturating_sub(n_up)], &parts[n_up..]),
                _ => continue,
            };
            add(rest, base);
        }
    }
    // Paths outside of `use`.
    for (at, _) in code
        .match_indices("crate::")
        .filter(|(at, _)| !code[..*at].ends_with(['_', '$', ' ']) || !code[..*at].trim_end().ends_with("use"))
    {
        let path: String =
            code[at + 7..].chars().take_while(|c| c.is_alphanumeric() || matches!(c, '_' | ':')).collect();
        add(&path.split("::").filter(|part| !part.is_empty()).collect::<Vec<_>>(), &[]);
    }
    used
}

/// The paths of `a::{b, c::{d, e}}`.
fn leaves(tree: &str) -> Vec<String> {
    let tree = tree.trim();
    let Some((before, group)) = tree.split_once('{') else {
        let path = tree.split(" as ").next().unwrap_or_default();
        return vec![path.split_whitespace().collect()];
    };
    let group = group.trim_end().strip_suffix('}').unwrap_or(group);
    let (mut parts, mut depth) = (vec![String::new()], 0);
    for c in group.chars() {
        match c {
            ',' if depth == 0 => {
                parts.push(String::new());
                continue;
            }
            '{' => depth += 1,
            '}' => depth -= 1,
            _ => {}
        }
        parts.last_mut().unwrap().push(c);
    }
    let parts = parts.iter().filter(|part| !part.trim().is_empty());
    parts.flat_map(|part| leaves(part)).map(|leaf| format!("{}{leaf}", before.trim())).collect()
}
