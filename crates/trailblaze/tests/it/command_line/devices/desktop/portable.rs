//! One tool that is written with the commands of every device runs unchanged on all of them.

use serde_json::json;

use super::desk::has;
use crate::support::{Project, chromium};

const TOOL: &str = "\
id: notes_write
description: Write into the field that has the keys, and check that it is there.
parameters:
  - {name: text, type: string, description: The text}
tools:
  - inputText: {text: '{{text}}'}
  - assertVisible: {text: '{{text}}'}
  - isVisible: {text: '{{text}}', timeoutMs: 1000}
";

const APP: &str = "\
app: {id: com.example.notes, name: Notes}
start: note
screens:
  note:
    title: Notes
    elements:
      - {id: note, role: field, hint: Note}
";

/// The trail, and what each device does before it.
fn trail(start: &str) -> String {
    format!(
        "config: {{id: notes, title: Notes}}\ntrailhead:\n  step: Open the notes\n  tools:\n{start}trail:\n  - step: Write\n    tools:\n      \
         - notes_write: {{text: Buy apples}}\n"
    )
}

#[test]
fn a_tool_of_core_commands_runs_on_android_ios_web_and_desktop() {
    if !has(&["mousepad"]) {
        return;
    }
    let Some(browser) = chromium::shared() else { return };
    let page = "data:text/html,<title>Notes</title><textarea autofocus aria-label=Note></textarea>";
    let phone = "    - launchApp: {packageId: com.example.notes}\n    - tap: {text: Note}\n".to_string();
    let devices = [
        ("android/sim-1", phone.clone()),
        ("ios/sim-1", phone),
        ("web/chromium", format!("    - launchApp: {{packageId: '{page}'}}\n    - tap: {{text: Note}}\n")),
        ("desktop/xvfb", "    - launchApp: {packageId: mousepad --disable-server}\n".to_string()),
    ];
    for (device, start) in devices {
        let project = Project::empty()
            .with("trailblaze.yaml", format!("sim: {{apps: [notes.app.yaml]}}\nbrowser: {{attach: '{browser}'}}\n"))
            .with("notes.app.yaml", APP)
            .with("trailblaze-config/tools/notes_write.yaml", TOOL)
            .with("trails/notes.trail.yaml", trail(&start));
        let ran = project.run(&["run", "-d", device]);
        assert_eq!(ran.code, Some(0), "{device}\n{}{}", ran.stdout, ran.stderr);
        assert_eq!(project.last_run().summary()["counts"]["passed"], json!(1), "{device}");
    }
}
