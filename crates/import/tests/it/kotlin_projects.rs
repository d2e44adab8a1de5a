//! Projects of the Kotlin Trailblaze, file by file.

use trailblaze_import::{Imported, kotlin};

use crate::support;

fn project(name: &str) -> Imported {
    let (_, files) = support::kotlin().into_iter().find(|(known, _)| known == name).expect("the project is there");
    kotlin::import(&files, &support::built_in())
}

fn text<'i>(imported: &'i Imported, path: &str) -> &'i str {
    let paths: Vec<&str> = imported.files.iter().map(|file| file.path.as_str()).collect();
    let file = imported.files.iter().find(|file| file.path == path);
    &file.unwrap_or_else(|| panic!("{path} is missing in {paths:?}")).text
}

#[test]
fn a_trailmap_becomes_a_target_and_its_tools_are_kept() {
    let imported = project("clock");
    assert!(text(&imported, "trailblaze.yaml").contains("target: clock\nllm:\n  defaults:\n    model: openai/gpt-5\n"));
    let target = text(&imported, "trailblaze-config/targets/clock.yaml");
    assert!(
        target.contains(
            "id: clock\ndisplay_name: Clock\nplatforms:\n  android:\n    app_ids:\n      - com.example.clock\n"
        ),
        "{target}"
    );
    assert!(target.contains("    tools:\n      - clock_openAlarms\n"), "{target}");
    assert!(target.contains("`android.min_build_version`") && target.contains("`system_prompt_file`"), "{target}");
    let tool = text(&imported, "trailblaze-config/tools/clock_openAlarms.yaml");
    assert!(tool.contains("isForLlm: true\n") && tool.contains("`is_verification`"), "{tool}");
    text(&imported, "trails/set-alarm.trail.yaml");
}

#[test]
fn a_trail_in_the_list_form_is_converted_and_calls_tools_by_their_names_here() {
    let imported = project("wallet");
    let trail = text(&imported, "trails/sign-in/trail.yaml");
    assert!(trail.contains("clearAppData: {packageId: com.example.wallet}"), "{trail}");
    assert!(trail.contains("assertVisible: {id: balance}") && !trail.contains("target:"), "{trail}");
    text(&imported, "trailblaze-config/toolsets/wallet.yaml");
}

#[test]
fn a_script_that_starts_a_server_is_one_and_others_are_listed() {
    let imported = project("scripted");
    assert!(text(&imported, "trailblaze.yaml").contains("mcpServers:\n  - script: './tools/news_count.ts'\n"));
    let kept: Vec<&str> =
        imported.statements.iter().filter(|one| one.outcome() == "kept").map(|one| one.name.as_str()).collect();
    assert_eq!(kept, ["news_open.yaml", "news_typed.ts", "news_open"]);
}

#[test]
fn calls_of_tools_that_are_not_here_are_listed_with_their_place() {
    let imported = project("mixed");
    let missing: Vec<(&str, usize)> = imported
        .statements
        .iter()
        .filter(|one| one.path == "trails/pay/trail.yaml" && one.note().is_some())
        .map(|one| (one.name.as_str(), one.line))
        .collect();
    assert_eq!(missing, [("bank_kotlin", 8), ("dragByPoints", 10)]);
    assert!(text(&imported, "trails/pay/trail.yaml").contains("- maestro: {commands: [{tapOn: Pay}]}"));
}
