//! Everything in the corpus becomes trails that `check` accepts, and every statement is accounted for.

use trailblaze_import::{kotlin, maestro, playwright};
use trailblaze_protocol::driver::Platform;

use crate::support;

#[test]
fn each_file_of_the_corpus_names_its_origin() {
    let (flows, others) = support::maestro();
    let tests = support::files(&support::folder("playwright"));
    let projects = support::kotlin();
    assert!(flows.len() >= 30 && tests.len() >= 30 && projects.len() >= 5);
    let kotlin = projects.iter().flat_map(|(_, files)| files);
    for file in flows.iter().chain(&others).chain(&tests).chain(kotlin) {
        let first = file.text.lines().next().unwrap_or_default();
        assert!(first.contains("origin: ") && first.contains("Apache-2.0"), "{}: {first}", file.path);
    }
}

#[test]
fn flows_of_maestro_become_trails_that_are_sound() {
    let (flows, others) = support::maestro();
    for flow in &flows {
        let imported = maestro::import(std::slice::from_ref(flow), &others);
        let is_web = flow.text.contains("\nurl: ");
        let platform = if is_web { Platform::Web } else { Platform::Android };
        // What is only for iOS or only for phones is skipped on the other platform.
        support::assert_sound(&imported, &[platform], &[]);
        assert!(imported.files.iter().any(|file| file.path.ends_with(".trail.yaml")), "{}", flow.path);
        for statement in &imported.statements {
            assert!(statement.line > 1 && statement.column > 0, "{statement:?}");
        }
    }
    let all = maestro::import(&flows, &others);
    assert!(all.files.iter().filter(|file| file.path.ends_with(".trail.yaml")).count() == flows.len());
    assert!(all.share().per_cent() >= 60, "{:?}", all.share());
}

#[test]
fn tests_of_playwright_become_trails_that_are_sound() {
    let tests = support::files(&support::folder("playwright"));
    for file in &tests {
        let imported = playwright::import(std::slice::from_ref(file), None);
        support::assert_sound(&imported, &[Platform::Web], &[]);
        assert!(!imported.files.is_empty(), "{}", file.path);
    }
    let all = playwright::import(&tests, None);
    assert!(all.share().per_cent() >= 60, "{:?}", all.share());
}

#[test]
fn projects_of_the_kotlin_trailblaze_become_projects_that_are_sound() {
    for (name, files) in support::kotlin() {
        let imported = kotlin::import(&files, &support::built_in());
        let unknown: Vec<&str> = imported
            .statements
            .iter()
            .filter(|statement| statement.note().is_some_and(|note| note.starts_with("there is no tool")))
            .map(|statement| statement.name.as_str())
            .chain(["news_count"])
            .collect();
        support::assert_sound(&imported, &[Platform::Android, Platform::Web], &unknown);
        assert!(imported.files.iter().any(|file| file.path == "trailblaze.yaml"), "{name}");
        assert!(imported.files.iter().any(|file| file.path.starts_with("trailblaze-config/targets/")), "{name}");
    }
}
