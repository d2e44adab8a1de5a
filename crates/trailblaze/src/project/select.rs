//! Selects trails: by files, folders and patterns, then by tags and words.

use std::path::{Path, PathBuf};

use ignore::WalkBuilder;
use ignore::overrides::OverrideBuilder;
use trailblaze_core::trail::{Trail, is_trail};

use crate::files::is_inside;

#[derive(Debug, thiserror::Error)]
pub enum SelectError {
    #[error("no such file or folder: `{path}`")]
    Missing { path: String },
    #[error("no trails in `{path}`")]
    NoTrails { path: String },
    #[error("`{pattern}` is not a valid pattern: {problem}")]
    Pattern { pattern: String, problem: String },
    #[error("cannot look for trails: {0}")]
    Walk(#[from] ignore::Error),
}

impl SelectError {
    /// The same, with the path as it is displayed.
    pub fn about(self, path: String) -> SelectError {
        match self {
            SelectError::Missing { .. } => SelectError::Missing { path },
            SelectError::NoTrails { .. } => SelectError::NoTrails { path },
            other => other,
        }
    }
}

/// Folders that never contain trails, regardless of `.gitignore`.
const PRUNED: [&str; 6] = ["target", "build", "node_modules", "logs", ".git", "trailblaze-config"];

/// The trail files of a path: a file, a folder, or a pattern such as `trails/**/pay*.trail.yaml`. Files ignored by
/// `.gitignore` are skipped, except for a file that is given explicitly.
pub fn trail_files(path: &Path) -> Result<Vec<PathBuf>, SelectError> {
    if path.is_file() {
        return Ok(vec![path.to_path_buf()]);
    }
    let found = if path.is_dir() {
        walk(path, None)?
    } else {
        let text = path.to_string_lossy().into_owned();
        if !text.contains(['*', '?', '[', '{']) {
            return Err(SelectError::Missing { path: text });
        }
        // Only the part before the first wildcard names a folder.
        let is_literal =
            |part: &std::path::Component<'_>| !part.as_os_str().to_string_lossy().contains(['*', '?', '[', '{']);
        let folder: PathBuf = path.components().take_while(is_literal).collect();
        let pattern: PathBuf = path.components().skip_while(is_literal).collect();
        let folder = if folder.as_os_str().is_empty() { PathBuf::from(".") } else { folder };
        if !folder.is_dir() {
            return Err(SelectError::Missing { path: folder.display().to_string() });
        }
        walk(&folder, Some(&pattern.to_string_lossy()))?
    };
    if found.is_empty() {
        return Err(SelectError::NoTrails { path: path.display().to_string() });
    }
    Ok(found)
}

fn walk(folder: &Path, pattern: Option<&str>) -> Result<Vec<PathBuf>, SelectError> {
    let mut builder = WalkBuilder::new(folder);
    builder.require_git(false).follow_links(false);
    builder.filter_entry(|entry| {
        !entry.file_name().to_str().is_some_and(|name| entry.depth() > 0 && PRUNED.contains(&name))
    });
    if let Some(pattern) = pattern {
        let mut overrides = OverrideBuilder::new(folder);
        let invalid = |problem: ignore::Error| SelectError::Pattern {
            pattern: pattern.to_string(),
            problem: problem.to_string(),
        };
        overrides.add(pattern).map_err(invalid)?;
        builder.overrides(overrides.build().map_err(invalid)?);
    }
    let mut found = Vec::new();
    for entry in builder.build() {
        let entry = entry?;
        if is_trail(entry.path()) && entry.file_type().is_some_and(|kind| kind.is_file()) {
            found.push(entry.into_path());
        }
    }
    found.sort();
    Ok(found)
}

/// Why a path does not name a trail of the project.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum NotOwnTrail {
    #[error("`{0}` is not in the project")]
    Outside(String),
    #[error("`{0}` is not the name of a trail: a trail is a file named trail.yaml or *.trail.yaml")]
    Name(String),
}

/// The file of a trail that must be in the project, whether or not it exists.
pub fn own_trail(root: &Path, path: &Path) -> Result<PathBuf, NotOwnTrail> {
    let shown = || path.display().to_string();
    let file = root.join(path);
    if !is_inside(root, &file) {
        return Err(NotOwnTrail::Outside(shown()));
    }
    if is_trail(&file) { Ok(file) } else { Err(NotOwnTrail::Name(shown())) }
}

/// Which of the trails to run.
#[derive(Debug, Clone, Default)]
pub struct Filter {
    /// Only trails with one of these tags; `!tag` excludes trails.
    pub tags: Vec<String>,
    /// Only trails whose id, title or path contains this, ignoring case.
    pub grep: Option<String>,
}

impl Filter {
    pub fn takes(&self, trail: &Trail) -> bool {
        let has = |tag: &str| trail.config.tags.iter().any(|own| own.eq_ignore_ascii_case(tag));
        let (without, with): (Vec<&String>, Vec<&String>) = self.tags.iter().partition(|tag| tag.starts_with('!'));
        if without.iter().any(|tag| has(tag.trim_start_matches('!')))
            || !(with.is_empty() || with.iter().any(|tag| has(tag)))
        {
            return false;
        }
        self.grep.as_ref().is_none_or(|words| {
            let words = words.to_lowercase();
            [trail.id(), trail.title(), trail.source.path.clone()]
                .iter()
                .any(|text| text.to_lowercase().contains(&words))
        })
    }
}

#[cfg(test)]
mod tests {
    use trailblaze_core::yaml::Source;

    use super::*;

    fn check(tags: &[&str], grep: Option<&str>, expected: bool) {
        let source = Source::new(
            "trails/pay.trail.yaml",
            "config: {id: pay, title: Pay Ada, tags: [smoke, Money]}\ntrail: [{step: x}]\n",
        );
        let (trail, problems) = Trail::read(&source);
        let filter = Filter { tags: tags.iter().map(ToString::to_string).collect(), grep: grep.map(str::to_string) };
        assert_eq!(filter.takes(&trail.unwrap_or_else(|| panic!("{problems:?}"))), expected, "{tags:?} {grep:?}");
    }

    #[test]
    fn trails_are_chosen_by_tags_and_words() {
        check(&[], None, true);
        check(&["smoke"], None, true);
        check(&["money", "slow"], None, true);
        check(&["slow"], None, false);
        check(&["!slow"], None, true);
        check(&["smoke", "!money"], None, false);
        check(&[], Some("ada"), true);
        check(&["smoke"], Some("bob"), false);
    }

    #[test]
    fn what_git_ignores_is_no_trail_of_a_folder() {
        let folder = tempfile::tempdir().unwrap();
        let write = |name: &str, text: &str| {
            let path = folder.path().join(name);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        };
        write(".gitignore", "drafts/\n*.old.trail.yaml\n");
        for name in [
            "a.trail.yaml",
            "b/trail.yaml",
            "b/c.old.trail.yaml",
            "drafts/d.trail.yaml",
            "node_modules/e.trail.yaml",
            "b/f.yaml",
        ] {
            write(name, "");
        }
        let names = |path: &Path| -> Vec<String> {
            trail_files(path)
                .unwrap()
                .iter()
                .map(|file| file.strip_prefix(folder.path()).unwrap().display().to_string())
                .collect()
        };
        assert_eq!(names(folder.path()), ["a.trail.yaml", "b/trail.yaml"]);
        assert_eq!(names(&folder.path().join("**/a*.trail.yaml")), ["a.trail.yaml"]);
        assert_eq!(names(&folder.path().join("drafts/d.trail.yaml")), ["drafts/d.trail.yaml"]);
        assert!(matches!(trail_files(&folder.path().join("nowhere")), Err(SelectError::Missing { .. })));
        assert!(matches!(trail_files(&folder.path().join("z*.trail.yaml")), Err(SelectError::NoTrails { .. })));
    }
}
