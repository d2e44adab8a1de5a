//! Documents name only paths that exist, and their links work.

use std::collections::BTreeSet;
use std::path::Path;

use crate::documentation::source_rules::support::*;

/// Code in backticks outside of fenced blocks, and the lines of fenced blocks, each with its line number.
#[derive(Default)]
pub struct Code {
    pub inline: Vec<(usize, String)>,
    pub fenced: Vec<(usize, String)>,
}

impl Code {
    pub fn of(document: &str) -> Code {
        let mut code = Code::default();
        let mut prose = String::new();
        let mut is_fenced = false;
        for (index, line) in document.lines().enumerate() {
            if line.trim_start().starts_with("```") {
                is_fenced = !is_fenced;
            } else if is_fenced {
                code.fenced.push((index + 1, line.to_string()));
            } else {
                prose.push_str(line);
            }
            prose.push('\n');
        }
        // Inline code may go on over the end of a line, but not over the end of a paragraph.
        let mut line = 1;
        for paragraph in prose.split("\n\n") {
            let mut at = line;
            for (index, part) in paragraph.split('`').enumerate() {
                if index % 2 == 1 {
                    code.inline.push((at, part.replace('\n', " ")));
                }
                at += part.matches('\n').count();
            }
            line += paragraph.matches('\n').count() + 2;
        }
        code
    }
}

#[test]
fn documents_name_only_paths_that_exist() {
    let mut violations = Violations::default();
    for file in files(&root(), "md") {
        let folder = file.with_file_name("");
        let is_example = shown(&file).starts_with("examples/");
        for (line, path) in Code::of(&read(&file)).inline {
            let path = path.strip_prefix("./").unwrap_or(&path);
            let exists = if is_example && is_path_of_example(path) {
                exists(&folder, path) || exists(&root(), path)
            } else {
                !is_path_of_repository(path) || exists(&root(), path) || exists(&folder, path)
            };
            if !exists {
                violations.add(&shown(&file), line, &format!("`{path}` does not exist"));
            }
        }
    }
    violations.check();
}

/// Whether a text in backticks is a path in this repository, as opposed to one in a user's project.
fn is_path_of_repository(text: &str) -> bool {
    let first = text.split('/').next().unwrap_or_default();
    let folders = ["crates", "docs", "examples", "scripts", "schemas", "sdks", "fuzz", ".ci", ".github"];
    // Or a file in the home folder of a user.
    let is_pattern = text.contains(['<', '{', ' ', '…']) || text.starts_with('~');
    let is_below_folder = text.contains('/') && folders.contains(&first);
    let is_at_root = !text.contains('*') && ["md", "toml", "lock"].iter().any(|end| text.ends_with(&format!(".{end}")));
    !is_pattern && (is_below_folder || is_at_root)
}

/// Whether a text in backticks is a path, in the README of an example. A file in a folder is named with its folder.
fn is_path_of_example(text: &str) -> bool {
    let ends = ["ts", "py", "yaml", "mjs", "html", "json", "txt", "md"];
    let is_file = ends.iter().any(|end| text.ends_with(&format!(".{end}")));
    !text.contains(['<', '{', ' ', ':']) && (is_file || text.ends_with('/') || is_path_of_repository(text))
}

/// Whether a path exists; its last part may be a pattern with one `*`.
fn exists(folder: &Path, path: &str) -> bool {
    let Some((start, end)) = path.split_once('*') else {
        return folder.join(path).exists();
    };
    let (parent, start) = start.rsplit_once('/').unwrap_or((".", start));
    let entries = std::fs::read_dir(folder.join(parent)).into_iter().flatten().flatten();
    let mut names = entries.map(|entry| entry.file_name().to_string_lossy().into_owned());
    names.any(|name| name.starts_with(start) && name.ends_with(end))
}

#[test]
fn links_between_documents_work() {
    let mut violations = Violations::default();
    for file in files(&root(), "md") {
        let (path, source) = (shown(&file), read(&file));
        for (line, target) in links(&source) {
            let (to, anchor) = target.split_once('#').unwrap_or((&target, ""));
            let to = if to.is_empty() { file.clone() } else { file.with_file_name("").join(to) };
            if !to.exists() {
                violations.add(&path, line, &format!("the target of the link `{target}` does not exist"));
            } else if !anchor.is_empty() && !read(&to).lines().any(|line| slug(line).as_deref() == Some(anchor)) {
                violations.add(&path, line, &format!("the link `{target}` names a heading that does not exist"));
            }
        }
    }
    violations.check();
}

/// Relative links outside of code, each with its line.
fn links(source: &str) -> Vec<(usize, String)> {
    let mut found = Vec::new();
    let mut is_code = false;
    for (index, line) in source.lines().enumerate() {
        if line.trim_start().starts_with("```") {
            is_code = !is_code;
        }
        let targets = line.split("](").skip(1).filter_map(|rest| rest.split(')').next());
        let is_relative = |target: &&str| !target.contains("://") && !target.starts_with("mailto:");
        found.extend(targets.filter(is_relative).filter(|_| !is_code).map(|target| (index + 1, target.to_string())));
    }
    found
}

/// The anchor of a heading.
fn slug(line: &str) -> Option<String> {
    let heading = line.strip_prefix('#')?.trim_start_matches('#').trim();
    let kept = heading.chars().filter(|c| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_'));
    Some(kept.collect::<String>().to_lowercase().replace(' ', "-"))
}

#[test]
fn every_page_can_be_reached_from_the_readme() {
    let mut violations = Violations::default();
    let mut unread = vec![root().join("README.md")];
    let mut reached = BTreeSet::new();
    while let Some(page) = unread.pop() {
        for (_, target) in links(&read(&page)) {
            let path = target.split('#').next().unwrap_or_default();
            let Ok(found) = page.with_file_name(path).canonicalize() else { continue };
            let is_page = found.is_file() && found.extension().is_some_and(|end| end == "md");
            if !path.is_empty() && is_page && reached.insert(found.clone()) {
                unread.push(found);
            }
        }
    }
    for page in files(&root().join("docs"), "md") {
        if !page.canonicalize().is_ok_and(|page| reached.contains(&page)) {
            violations.add("README.md", 1, &format!("no links lead from here to `{}`", shown(&page)));
        }
    }
    violations.check();
}

#[test]
fn the_quick_start_is_two_commands() {
    let readme = read(&root().join("README.md"));
    let section = readme.split("\n## Quick start\n").nth(1).expect("README.md has a section `## Quick start`");
    let section = section.split("\n## ").next().unwrap_or_default();
    let blocks: Vec<&str> =
        section.split("```sh\n").skip(1).map(|rest| rest.split("```").next().unwrap_or_default()).collect();
    assert_eq!(blocks, ["./scripts/demo\n", "./scripts/test\n"], "README.md: the quick start is two one-line blocks");
}

#[test]
fn the_changelog_starts_with_the_version_of_the_workspace() {
    let changelog = read(&root().join("CHANGELOG.md"));
    let first = changelog.lines().find(|line| line.starts_with("## ")).unwrap_or_default();
    let version = concat!("## [", env!("CARGO_PKG_VERSION"), "] - ");
    assert!(first.starts_with(version), "CHANGELOG.md: the first version must be `{version}…`, got `{first}`");
}

/// Files that name the version and are not made from `Cargo.toml`.
const VERSIONED: [&str; 14] = [
    "crates/trailblaze/src/kit/templates/client.package.json",
    "crates/trailblaze/src/kit/templates/kotlin.pom.xml",
    "crates/trailblaze/src/kit/templates/scripting.package.json",
    "docs/kotlin.md",
    "examples/kotlin-tools/pom.xml",
    "packaging/ci/Jenkinsfile",
    "packaging/ci/github.yml",
    "packaging/ci/gitlab.yml",
    "sdks/kotlin/client/pom.xml",
    "sdks/kotlin/pom.xml",
    "sdks/kotlin/tools/pom.xml",
    "sdks/python/src/trailblaze/__init__.py",
    "sdks/typescript/client/package.json",
    "sdks/typescript/scripting/package.json",
];

#[test]
fn every_package_has_the_version_of_the_workspace() {
    for file in VERSIONED {
        let text = read(&root().join(file));
        assert!(text.contains(env!("CARGO_PKG_VERSION")), "{file} does not name version {}", env!("CARGO_PKG_VERSION"));
    }
}

/// A row of the comparison with other tools says where more is told, and which test proves it.
#[test]
fn each_row_of_the_comparison_leads_to_a_page_and_names_tests_that_exist() {
    let sources: String = files(&root().join("crates"), "rs").iter().map(|file| read(file)).collect();
    let page = root().join("docs/coming-from/compare.md");
    let mut violations = Violations::default();
    let (mut n_rows, text) = (0, read(&page));
    for (index, line) in text.lines().enumerate().filter(|(_, line)| line.starts_with("| ")) {
        let cells: Vec<&str> = line.trim_matches('|').split('|').map(str::trim).collect();
        let [_, _, _, ours, tests] = cells[..] else {
            violations.add(&shown(&page), index + 1, "the row does not have 5 cells");
            continue;
        };
        if tests == "test" {
            continue;
        }
        n_rows += 1;
        if !ours.contains("](") {
            violations.add(&shown(&page), index + 1, "what Trailblaze does has no link");
        }
        let names: Vec<&str> = tests.split('`').skip(1).step_by(2).collect();
        if names.is_empty() && tests != "–" {
            violations.add(&shown(&page), index + 1, "the row names no test");
        }
        for name in names.iter().filter(|name| !sources.contains(&format!("fn {name}("))) {
            violations.add(&shown(&page), index + 1, &format!("there is no test `{name}`"));
        }
    }
    assert!(n_rows > 30, "only {n_rows} rows were read");
    violations.check();
}
