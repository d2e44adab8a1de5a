//! Whatever is killed, no X server, bus or program is left, and no folder.

use std::time::Duration;

use super::desk::has;
use crate::support::marked::Mark;
use crate::support::{Project, is_full_tier, wait_until};

#[test]
fn a_killed_run_leaves_no_x_server_no_bus_no_program_and_no_folder() {
    if !has(&["mousepad"]) {
        return;
    }
    for round in 0..if is_full_tier() { 10 } else { 1 } {
        let (mark, project) = (Mark::new(), Project::copy_of("examples/desktop"));
        let trail = "config: {id: wait, title: Wait}\ntrail:\n  - step: Wait\n    tools:\n      - launchApp: {packageId: mousepad --disable-server}\n      \
                     - waitUntilVisible: {text: Never, timeoutMs: 600000}\n";
        std::fs::remove_dir_all(project.root().join("trails")).expect("no other trails");
        project.write("trails/wait.trail.yaml", trail);
        let temp = project.root().join("tmp");
        std::fs::create_dir(&temp).expect("a folder");
        let mut command = project.command(&["run"]);
        let (name, value) = mark.variable();
        command.env(name, value).env("TMPDIR", &temp);
        let mut run = project.start_of(command);
        // Other rounds kill it at other moments, such as while the desktop starts.
        if round == 0 {
            wait_until("the editor runs", || {
                mark.alive().iter().any(|line| line.contains(" mousepad --dis")).then_some(())
            });
        } else {
            std::thread::sleep(Duration::from_millis(120 * round));
        }
        run.kill();
        mark.wait_until_none_left_blocking();
        wait_until("its folders are removed", || {
            let left = std::fs::read_dir(&temp).expect("a folder").flatten();
            let mut ours = left.filter(|entry| entry.file_name().to_string_lossy().starts_with("trailblaze-desktop"));
            ours.next().is_none().then_some(())
        });
    }
}
