//! A canary: the value of a secret reaches the app, and nothing else.

use std::path::Path;
use std::process::{Command, Stdio};

use crate::support::{Pixels, Project, Ran, RunFolder, files};
use serde_json::json;
use trailblaze_protocol::event::{Event, Moment};
use trailblaze_protocol::geometry::Rect;

const CANARY: &str = "canary-7f3a91";

/// The field shows what is typed into it, a greeting repeats it, and a line appears only for the right value.
const APP: &str = "\
app: {id: com.example.vault, name: Vault}
start: vault
screens:
  vault:
    title: Vault
    elements:
      - {id: code, role: field, hint: Code}
      - {id: echo, text: 'You typed {{code}}', unless: {code: ''}}
      - {id: right, text: That is right, when: {code: canary-7f3a91}}
";

const TRAIL: &str = "\
trail:
  - step: Type the code
    tools:
      - launchApp: {packageId: com.example.vault}
      - tap: {id: code}
      - inputText: {text: '{{PIN}}'}
  - verify: It is right
    tools:
      - assertVisible: {id: right}
      - assertVisible: {text: 'You typed {{PIN}}'}
      - assertVisible: {id: echo, expectedText: 'You typed {{PIN}}'}
      - rememberElementText: {id: echo, variable: echo}
      - captureScreen: {}
";

fn project() -> Project {
    Project::empty()
        .with("trailblaze.yaml", "sim:\n  apps: [vault.app.yaml]\n")
        .with("vault.app.yaml", APP)
        .with("trails/a.trail.yaml", TRAIL)
}

fn with_secret(mut command: Command) -> Command {
    command.env("PIN", CANARY);
    command
}

fn run(project: &Project, args: &[&str]) -> Ran {
    project.finish(with_secret(project.command(&[&["run", "--secret", "PIN"], args].concat())))
}

/// Searches the bytes of everything that was written and said.
#[track_caller]
fn assert_nowhere(ran: &Ran, folder: &Path) {
    assert!(!ran.stdout.contains(CANARY) && !ran.stderr.contains(CANARY), "{}{}", ran.stdout, ran.stderr);
    let holds = |bytes: &[u8]| bytes.windows(CANARY.len()).any(|window| window == CANARY.as_bytes());
    for file in files(folder) {
        assert!(!holds(&std::fs::read(&file).unwrap()), "{}", file.display());
        assert!(!holds(file.to_string_lossy().as_bytes()));
    }
}

#[test]
fn a_secret_reaches_the_app_and_no_file() {
    let project = project();
    for device in ["android/sim-1", "ios/sim-1", "web/sim-1", "desktop/sim-1"] {
        let ran = run(&project, &["-d", device, "--pictures", "action", "--record"]).exits(0);
        let run = project.last_run();
        assert_nowhere(&ran, &run.path);
        assert!(!project.read("trails/a.trail.yaml").contains(CANARY));
        assert_masked(&run);
    }
}

/// In every picture that was taken after the typing, the field is one flat box.
#[track_caller]
fn assert_masked(run: &RunFolder) {
    let mut field: Option<Rect> = None;
    let mut n_pictures = 0;
    for event in run.events() {
        match event {
            Event::Touched { bounds, .. } => field = field.or(bounds),
            Event::Pictured(pictured) if pictured.moment == Moment::After => {
                let field = field.expect("the field was tapped first");
                let pixels = Pixels::read(&run.path.join(&pictured.file));
                let scale = |value: i32| value as usize * pixels.width / pictured.screen.width as usize;
                for y in scale(field.top)..scale(field.bottom) {
                    for x in scale(field.left)..scale(field.right) {
                        assert_eq!(pixels.at(x, y), [0x80, 0x80, 0x80, 0xff], "at {x}, {y} of {}", pictured.file);
                    }
                }
                n_pictures += 1;
            }
            _ => {}
        }
    }
    assert_eq!(n_pictures, 2);
}

#[test]
fn the_record_keeps_the_placeholder() {
    let project = project();
    run(&project, &[]).exits(0);
    let calls = project.last_run().calls();
    let typed = calls.iter().find(|call| call.tool == "inputText").unwrap();
    assert_eq!(*typed.args, *json!({"text": "{{PIN}}"}).as_object().unwrap());
    assert!(project.last_run().text("recording.trail.yaml").contains("text: '{{PIN}}'"));
}

#[test]
fn a_failure_does_not_tell_the_secret() {
    let project = project();
    let tools = [
        "assertEquals: {actual: '{{PIN}}', expected: other}",
        "assertVisible: {id: echo, expectedText: other, timeoutMs: 10}",
        "assertVisible: {text: 'Not {{PIN}}', timeoutMs: 10}",
        "launchApp: {packageId: '{{PIN}}'}",
        "tap: {text: '{{PIN}}', index: 7, timeoutMs: 10}",
        "adbShell: {command: 'echo {{PIN}}; exit 1'}",
    ];
    for tool in tools {
        project.write(
            "trails/a.trail.yaml",
            format!("{}      - {tool}\n", TRAIL.trim_end_matches("      - captureScreen: {}\n")),
        );
        let ran = run(&project, &["--pictures", "failure"]);
        assert_ne!(ran.code, Some(70), "{tool}: {}", ran.stderr);
        assert_nowhere(&ran, &project.last_run().path);
    }
}

#[test]
fn a_shell_tells_no_secret_and_saves_none() {
    let project = project();
    let mut command = with_secret(project.command(&["shell", "-d", "android/sim-1", "--secret", "PIN"]));
    let lines = format!(
        "launchApp packageId=com.example.vault\ntap id=code\n\
         # Even one that is typed out is kept as its name.\ninputText text={CANARY}\n\
         snapshot --bounds --all\ngetElementText id=code\nhasText text={CANARY}\ncaptureScreen\n\
         remember variable=a value={CANARY}\nmemory\ntap text={CANARY} index=9 timeoutMs=10\nfoo {CANARY}\nassertVisible id=right\n\
         step \"Say {CANARY}\"\ntap id=code\nsave a.trail.yaml\nsave {CANARY}/x.trail.yaml\n"
    );
    project.write("lines", lines);
    command.stdin(Stdio::from(std::fs::File::open(project.root().join("lines")).unwrap()));
    let output = command.output().unwrap();
    let said = String::from_utf8([output.stdout, output.stderr].concat()).unwrap();
    assert!(!said.contains(CANARY), "{said}");
    assert!(said.contains("That is right"), "the app got the value: {said}");
    let run = project.last_run();
    for file in files(&run.path) {
        let bytes = std::fs::read(&file).unwrap();
        assert!(!bytes.windows(CANARY.len()).any(|window| window == CANARY.as_bytes()), "{}", file.display());
    }
    let saved = project.read("a.trail.yaml");
    assert!(!saved.contains(CANARY) && saved.contains("{{PIN}}"), "{saved}");
    project.finish(with_secret(project.command(&["run", "a.trail.yaml", "--secret", "PIN"]))).exits(0);
}

#[test]
fn a_secret_on_the_command_line_is_not_kept() {
    let project = project();
    let ran = run(&project, &["--memory", &format!("other={CANARY}")]).exits(0);
    assert_nowhere(&ran, &project.last_run().path);
}

/// Whatever the umask is: a run folder, and what is remembered of runs, can be read by the user alone.
#[cfg(unix)]
#[test]
fn what_is_written_about_runs_is_for_the_user_alone() {
    use std::os::unix::fs::PermissionsExt;

    for umask in ["000", "022"] {
        let project = project();
        let run = |args: &[&str]| {
            let command = project.command_after(&format!("umask {umask}"), args);
            project.finish(with_secret(command)).exits(0);
        };
        run(&["run", "--secret", "PIN", "--pictures", "action", "--record"]);
        let first = project.last_run().path.display().to_string();
        run(&["run", "--secret", "PIN"]);
        run(&["report", "merge", &first, &project.last_run().path.display().to_string(), "-o", "logs/all"]);
        let mut folders = vec![project.root().join("logs"), project.root().join(".trailblaze")];
        let mut n_files = 0;
        while let Some(folder) = folders.pop() {
            let mode = |path: &Path| path.metadata().unwrap().permissions().mode() & 0o777;
            assert_eq!(mode(&folder), 0o700, "{} with umask {umask}", folder.display());
            for entry in std::fs::read_dir(&folder).unwrap().flatten() {
                if entry.path().is_dir() {
                    folders.push(entry.path());
                } else {
                    assert_eq!(mode(&entry.path()), 0o600, "{} with umask {umask}", entry.path().display());
                    n_files += 1;
                }
            }
        }
        assert!(n_files > 10, "{n_files} files");
    }
}
