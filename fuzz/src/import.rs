//! Files of other tools: whatever they are, what is made of them is a trail, and every place is in the file.

use trailblaze_core::trail::Trail;
use trailblaze_core::yaml::{Severity, Source};
use trailblaze_import::{ForeignFile, Imported, kotlin, maestro, playwright};

/// A flow of Maestro that may run itself.
pub fn maestro_flow(data: &[u8]) {
    let file = ForeignFile::new("flow.yaml", String::from_utf8_lossy(data));
    let others = [file.clone(), ForeignFile::new("other.yaml", "appId: a.b\n---\n- runFlow: flow.yaml\n- back\n")];
    maestro::references(&file);
    check(&file.text, &maestro::import(std::slice::from_ref(&file), &others));
}

/// A test file of Playwright.
pub fn playwright_test(data: &[u8]) {
    let file = ForeignFile::new("a.spec.ts", String::from_utf8_lossy(data));
    check(&file.text, &playwright::import(std::slice::from_ref(&file), None));
}

/// A file of a Kotlin Trailblaze's project, in each of its places.
pub fn kotlin_project(data: &[u8]) {
    let text = String::from_utf8_lossy(data).into_owned();
    let paths = [
        "trails/config/trailblaze.yaml",
        "trails/config/trailmaps/a/trailmap.yaml",
        "trails/config/trailmaps/a/tools/a_b.tool.yaml",
        "trails/config/trailmaps/a/toolsets/a.yaml",
        "trails/config/trailmaps/a/tools/a.ts",
    ];
    for path in paths {
        let imported = kotlin::import(&[ForeignFile::new(path, text.as_str())], &Default::default());
        assert!(imported.files.iter().any(|file| file.path == "trailblaze.yaml"));
    }
    // A trail stays as it is, except for names.
    kotlin::import(&[ForeignFile::new("trails/a.trail.yaml", text)], &Default::default());
}

fn check(text: &str, imported: &Imported) {
    let n_lines = text.split('\n').count();
    for statement in &imported.statements {
        assert!(statement.line <= n_lines && statement.column >= 1, "{statement:?}");
    }
    for file in imported.files.iter().filter(|file| file.path.ends_with(".trail.yaml")) {
        let (_, problems) = Trail::read(&Source::new("a.trail.yaml", file.text.as_str()));
        let problem = problems.iter().find(|problem| problem.severity == Severity::Error);
        // What is nested too deeply cannot be read again.
        let is_deep = problem.is_some_and(|problem| problem.message.contains("deep"));
        assert!(problem.is_none() || is_deep, "{problem:?}\n{}", file.text);
    }
}
