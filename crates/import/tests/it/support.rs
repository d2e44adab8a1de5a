//! The corpus, and what is asked of everything that is imported.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use trailblaze_core::callers::preflight::preflight;
use trailblaze_core::config::ToolFile;
use trailblaze_core::engine::registry::Registry;
use trailblaze_core::testing::{FakeDriver, TestPage, TestWiring};
use trailblaze_core::tools::batches;
use trailblaze_core::trail::{Trail, TrailDevice};
use trailblaze_core::yaml::{Problems, Severity, Source, decode};
use trailblaze_import::{ForeignFile, Imported};
use trailblaze_protocol::driver::Platform;

pub fn folder(tool: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/corpus").join(tool)
}

/// The files of a folder and those in it, by their paths in it, in order.
pub fn files(folder: &Path) -> Vec<ForeignFile> {
    let mut found = Vec::new();
    collect(folder, folder, &mut found);
    found.sort_by(|one, other| one.path.cmp(&other.path));
    found
}

fn collect(root: &Path, folder: &Path, found: &mut Vec<ForeignFile>) {
    for entry in std::fs::read_dir(folder).expect("the corpus is there") {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            collect(root, &path, found);
        } else {
            let name = path.strip_prefix(root).expect("it is in the folder").to_string_lossy().into_owned();
            found.push(ForeignFile::new(name, std::fs::read_to_string(&path).expect("a text")));
        }
    }
}

pub fn maestro() -> (Vec<ForeignFile>, Vec<ForeignFile>) {
    files(&folder("maestro")).into_iter().partition(|file| !file.path.contains('/'))
}

pub fn kotlin() -> Vec<(String, Vec<ForeignFile>)> {
    let mut projects: Vec<PathBuf> = std::fs::read_dir(folder("kotlin"))
        .expect("the corpus is there")
        .map(|entry| entry.expect("an entry").path())
        .collect();
    projects.sort();
    let name = |path: &PathBuf| path.file_name().expect("a name").to_string_lossy().into_owned();
    projects.iter().map(|path| (name(path), files(path))).collect()
}

pub fn built_in() -> BTreeSet<String> {
    batches().iter().flat_map(|batch| &batch.tools).map(|tool| tool.name.clone()).collect()
}

/// The built-in tools of a platform.
fn registry(platform: Platform) -> Arc<Registry> {
    let driver = FakeDriver::new("device", [TestPage::new("page", [])]).posing_as(
        platform,
        match platform {
            Platform::Web => "playwright-native",
            Platform::Ios => "ios-host",
            _ => "android-ondevice-accessibility",
        },
    );
    TestWiring::new(driver).open().inner.registry()
}

/// Checks every file as `trailblaze check` does. `unknown` are the names of tools that are not there, which `check` reports.
pub fn assert_sound(imported: &Imported, platforms: &[Platform], unknown: &[&str]) {
    assert!(imported.problems.is_empty(), "{:?}", imported.problems);
    let mut made: Vec<String> = unknown.iter().map(|name| name.to_string()).collect();
    for file in imported.files.iter().filter(|file| file.path.starts_with("trailblaze-config/tools/")) {
        let source = Source::new(file.path.as_str(), file.text.as_str());
        let mut problems = Problems::new(&source);
        let tool: Option<ToolFile> = decode(&source, &mut problems);
        let problems = problems.into_vec();
        assert!(problems.is_empty(), "{problems:?}\n{}", file.text);
        made.extend(tool.map(|tool| tool.id.value));
    }
    for file in imported.files.iter().filter(|file| file.path.ends_with("trail.yaml")) {
        let source = Source::new(file.path.as_str(), file.text.as_str());
        let (trail, problems) = Trail::read(&source);
        let problems: Vec<String> = problems.iter().map(ToString::to_string).collect();
        let Some(trail) = trail else { panic!("{problems:?}\n{}", file.text) };
        for platform in platforms {
            if !trail.config.devices.drivers.0.is_empty() && trail.config.devices.drivers.get(platform.name()).is_none()
            {
                continue;
            }
            let device = TrailDevice::new(None, &[platform.name().to_string()]);
            let found = preflight(&trail, &registry(*platform), &device, None);
            let is_ours = |message: &str| !made.iter().any(|name| message.contains(&format!("`{name}`")));
            let found: Vec<String> = found
                .iter()
                .filter(|problem| problem.severity == Severity::Error && is_ours(&problem.message))
                .map(ToString::to_string)
                .collect();
            assert!(found.is_empty(), "{platform:?}: {found:#?}\n{}", file.text);
        }
    }
}

/// The text of the only trail.
pub fn only_trail(imported: &Imported) -> &str {
    assert!(imported.problems.is_empty(), "{:?}", imported.problems);
    let trails: Vec<_> = imported.files.iter().filter(|file| file.path.ends_with("trail.yaml")).collect();
    assert_eq!(trails.len(), 1);
    &trails[0].text
}
