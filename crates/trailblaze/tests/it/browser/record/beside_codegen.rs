//! The same input is recorded by `trailblaze record` and by Playwright's codegen, and both recordings are replayed.

use std::process::Command;

use serde_json::Value;

use crate::support::{PROGRAM, chromium, is_full_tier, lab, repository, skip};

#[test]
fn what_codegen_records_and_replays_is_recorded_and_replays_here_too() {
    if !is_full_tier() {
        return;
    }
    let (Some(parts), Some(browser)) = (lab::parts(), chromium::find()) else { return };
    let packages = parts.join("components");
    if !packages.join("stamp").is_file() {
        return skip::without_part("the components are missing: `scripts/parts full` installs them");
    }
    let mut command = Command::new(parts.join("node/node_modules/.bin/node"));
    command.arg(repository().join("tests/beside-codegen/compare.mjs")).arg(PROGRAM).arg(packages);
    let ran = command.env("TRAILBLAZE_CHROMIUM", browser).output().expect("node runs");
    let text = String::from_utf8_lossy(&ran.stdout);
    let rows: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).expect("a line of JSON")).collect();
    assert!(rows.len() >= 20, "{text}\n{}", String::from_utf8_lossy(&ran.stderr));
    let replays = |row: &Value, by: &str| row[by]["replays"] == true;
    for row in &rows {
        let word = |by: &str| if replays(row, by) { "yes" } else { "no" };
        println!("| {} | {} | {} |", row["name"].as_str().unwrap_or_default(), word("trailblaze"), word("codegen"));
    }
    let lost: Vec<&Value> = rows.iter().filter(|row| !replays(row, "trailblaze")).collect();
    assert!(lost.is_empty(), "{lost:#?}");
}
