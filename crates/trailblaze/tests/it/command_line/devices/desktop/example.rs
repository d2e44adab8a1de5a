//! The example: one trail on two real programs.

use serde_json::json;

use super::desk::has;
use crate::support::{Project, is_full_tier};

#[test]
fn its_trail_passes_on_two_programs_and_leaves_nothing() {
    if !has(&["gnome-calculator", "mousepad"]) {
        return;
    }
    let project = Project::copy_of("examples/desktop");
    let repeats = if is_full_tier() { 10 } else { 1 };
    let ran = project.run(&["run", "--repeat-each", &repeats.to_string()]).exits(0);
    let run = project.last_run();
    assert_eq!(run.summary()["counts"]["passed"], json!(repeats), "{}", ran.stdout);
    run.assert_no_leftovers();
}

#[test]
fn the_doctor_says_what_a_desktop_needs() {
    if !has(&[]) {
        return;
    }
    let project = Project::copy_of("examples/desktop");
    let well = project.run(&["device", "doctor", "desktop/office"]).exits(0);
    assert!(well.stdout.contains("programs can run in sessions of their own"), "{}", well.stdout);
    let mut command = project.command(&["device", "doctor", "desktop/own"]);
    command.env("WAYLAND_DISPLAY", "wayland-0").env("DBUS_SESSION_BUS_ADDRESS", "unix:path=/nowhere/bus");
    let wayland = project.finish(command);
    assert!(wayland.stdout.contains("this desktop is Wayland"), "{}{}", wayland.stdout, wayland.stderr);
    let mut command = project.command(&["device", "doctor", "desktop/office"]);
    command.env("PATH", "/nowhere");
    let missing = project.finish(command);
    let said = format!("{}{}", missing.stdout, missing.stderr);
    assert!(said.contains("apt-get install xvfb dbus"), "{said}");
}

#[test]
fn mistakes_in_the_entry_of_a_desktop_are_named() {
    let project = Project::copy_of("examples/desktop");
    let text = project.read("trailblaze.yaml");
    project.write("trailblaze.yaml", text.replace("size: 1024x768", "size: large"));
    let refused = project.run(&["check"]).exits(3);
    let said = format!("{}{}", refused.stdout, refused.stderr);
    assert!(said.contains("`large` is not the size of a screen; write it as 1280x800"), "{said}");
    project.write("trailblaze.yaml", text.replace("display: xvfb", "display: own"));
    let refused = project.run(&["run"]);
    let said = format!("{}{}", refused.stdout, refused.stderr);
    assert!(said.contains("`desktop/office` is your own desktop, whose size cannot be set"), "{said}");
}
