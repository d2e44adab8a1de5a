//! A project of somebody else must not make us write or show files outside of it.

use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use crate::support::Project;
use crate::support::home::Home;

const OWN: &str = "password: hunter2\n";

/// A file next to the project.
fn own_file(project: &Project) -> PathBuf {
    let file = project.root().with_extension("own");
    std::fs::write(&file, OWN).expect("it is written");
    file
}

fn link(project: &Project, path: &str, to: &Path) {
    let path = project.root().join(path);
    std::fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
    let _ = std::fs::remove_file(&path);
    symlink(to, path).expect("a link");
}

#[test]
fn links_that_lead_out_of_the_project_are_not_followed_on_writing() {
    let trail = "trail:\n  - step: Open it\n    tools: [{launchApp: {packageId: com.example.counter}}]\n";
    let project = Project::counter().with("trails/a.trail.yaml", trail);
    let own = own_file(&project);
    let refused = |path: &str, args: &[&str], code: i32| {
        let ran = project.run(args).exits(code);
        let words = format!("`{path}` is a link that leads out of the project, and is not followed; remove it");
        assert!(ran.stderr.contains(&words), "{ran:?}");
    };
    link(&project, "trailblaze.d.ts", &own);
    refused("trailblaze.d.ts", &["types"], 3);
    link(&project, ".trailblaze/schemas/trail.schema.json", &own);
    refused(".trailblaze/schemas/trail.schema.json", &["schema", "--write", "-d", "android/sim-1"], 2);
    let folder = project.root().with_extension("folder");
    std::fs::create_dir(&folder).expect("a folder");
    link(&project, "logs", &folder);
    refused("logs", &["run", "-d", "android/sim-1"], 2);
    assert_eq!(std::fs::read_dir(&folder).expect("a folder").count(), 0);
    assert_eq!(std::fs::read_to_string(&own).expect("it is there"), OWN);
    // The user may want it.
    project.run(&["run", "-d", "android/sim-1", "--logs", folder.to_str().expect("a path")]).exits(0);
    let _ = (std::fs::remove_dir_all(&folder), std::fs::remove_file(&own));
}

#[test]
fn opening_a_session_leaves_files_outside_of_the_project_alone() {
    let home = Home::counter();
    let own = own_file(&home.project);
    link(&home.project, ".trailblaze/schemas/trail.schema.json", &own);
    home.run(&["device", "connect", "-d", "android/sim-1"]).exits(0);
    home.run(&["session", "close"]).exits(0);
    assert_eq!(std::fs::read_to_string(&own).expect("it is there"), OWN);
    let _ = std::fs::remove_file(&own);
}

#[test]
fn an_app_outside_of_the_project_is_refused_and_not_quoted() {
    let project = Project::counter();
    let own = own_file(&project);
    link(&project, "linked.app.yaml", &own);
    let name = own.file_name().expect("a name").to_string_lossy().into_owned();
    for app in [format!("../{name}"), own.display().to_string(), "linked.app.yaml".to_string()] {
        project.write("trailblaze.yaml", format!("sim: {{apps: ['{app}']}}\n"));
        let ran = project.run(&["check", "--offline"]).exits(3);
        assert!(ran.stderr.contains(&format!("the app `{app}` is outside of the project")), "{ran:?}");
        assert!(!format!("{ran:?}").contains("hunter2"), "{ran:?}");
    }
    let _ = std::fs::remove_file(&own);
}

#[test]
fn files_that_are_set_up_in_a_project_stay_in_it() {
    let project = Project::counter();
    let own = own_file(&project);
    let folder = project.root().with_extension("folder");
    std::fs::create_dir(&folder).expect("a folder");
    let refused = |link: &str, args: &[&str], code: i32| {
        let ran = project.run(args).exits(code);
        let words = format!("`{link}` is a link that leads out of the project, and is not followed; remove it");
        assert!(ran.stderr.contains(&words), "{args:?}: {ran:?}");
    };
    link(&project, "new/trailblaze-config/tools", &folder);
    refused("trailblaze-config/tools", &["init", "new"], 3);
    assert!(!project.root().join("new/trailblaze.yaml").exists(), "nothing is written if something is wrong");
    link(&project, ".claude", &folder);
    refused(".claude", &["skill", "--install", ".claude/skills"], 2);
    link(&project, ".cursor/mcp.json", &own.with_extension("json"));
    refused(".cursor/mcp.json", &["mcp", "install", "--client", "cursor"], 2);
    let old = "- prompts:\n    - step: Open it\n";
    std::fs::write(&own, old).expect("it is written");
    link(&project, "trails/linked.trail.yaml", &own);
    refused("trails/linked.trail.yaml", &["trail", "convert", "--write", "trails/linked.trail.yaml"], 2);
    link(&project, "screen.png", &own);
    refused("screen.png", &["snapshot", "-d", "android/sim-1", "--screenshot", "screen.png"], 2);
    assert_eq!(std::fs::read_dir(&folder).expect("a folder").count(), 0);
    assert_eq!(std::fs::read_to_string(&own).expect("it is there"), old);
    assert!(!own.with_extension("json").exists());
    // The user may name a folder elsewhere.
    project.run(&["skill", "--install", folder.to_str().expect("a path")]).exits(0);
    let _ = (std::fs::remove_dir_all(&folder), std::fs::remove_file(&own));
}
