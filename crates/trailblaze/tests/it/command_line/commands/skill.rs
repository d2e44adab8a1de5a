//! `skill`: the instructions for coding agents.

use trailblaze_core::yaml::{Problems, Source, loose, read};

use crate::support::Project;

#[test]
fn the_short_text_is_a_skill_and_leads_to_the_long_one() {
    let text = Project::empty().run(&["skill"]).exits(0).stdout;
    assert!(text.len() <= 3 * 1024, "{} bytes", text.len());
    let (head, body) = text.strip_prefix("---\n").and_then(|rest| rest.split_once("\n---\n")).expect("frontmatter");
    let source = Source::new("SKILL.md", head);
    let head = loose(&read(&source, &mut Problems::new(&source)).expect("YAML"));
    assert_eq!(head["name"], "trailblaze", "the name of its folder");
    let description = head["description"].as_str().expect("a text");
    assert!((1..=1024).contains(&description.len()) && description.contains("Use when"), "{description}");
    assert!(body.contains("trailblaze skill --full"));
}

#[test]
fn the_long_text_is_printed_as_a_whole_or_by_topic() {
    let project = Project::empty();
    let all = project.run(&["skill", "--full"]).exits(0).stdout;
    assert!(all.len() <= 9 * 1024, "{} bytes", all.len());
    let listed = project.run(&["skill", "--full", "--json"]).exits(0).json();
    assert_eq!(listed["text"].as_str().map(str::trim_end), Some(all.trim_end()));
    let stub = project.run(&["skill"]).exits(0).stdout;
    for topic in listed["topics"].as_array().expect("topics").iter().filter_map(|topic| topic.as_str()) {
        let section = project.run(&["skill", "--full", topic]).exits(0).stdout;
        assert!(all.contains(section.trim_end()) && section.to_lowercase().starts_with(&format!("## {topic}\n")));
        assert_eq!(section.matches("\n## ").count(), 0, "{section}");
        assert!(stub.contains(topic), "the short text names `{topic}`");
    }
    insta::assert_snapshot!(project.run(&["skill", "--full", "devcies"]).exits(3).refusal(), @"
    exit 3
    error: unknown topic `devcies`
    hint: did you mean `devices`?
    ");
}

#[test]
fn the_short_text_is_written_into_a_skill_folder_and_replaces_nothing_unasked() {
    let project = Project::empty();
    let run = |flags: &[&str]| project.run(&[&["skill", "--install", ".claude/skills", "--json"], flags].concat());
    let file = ".claude/skills/trailblaze/SKILL.md";
    assert_eq!(run(&[]).exits(0).json()["changed"], true);
    assert_eq!(project.read(file).trim_end(), project.run(&["skill"]).exits(0).stdout.trim_end());
    assert_eq!(run(&[]).exits(0).json()["changed"], false);
    project.write(file, "mine\n");
    insta::assert_snapshot!(run(&[]).exits(3).refusal(), @"
    exit 3
    error: `[project]/.claude/skills/trailblaze/SKILL.md` has other content
    hint: `--force` replaces it
    ");
    assert_eq!(project.read(file), "mine\n");
    assert_eq!(run(&["--force"]).exits(0).json()["changed"], true);
}

#[test]
fn help_of_skill() {
    insta::assert_snapshot!(Project::empty().run(&["skill", "--help"]).exits(0).stdout, @"
    Print instructions for coding agents

    Usage: trailblaze skill [OPTIONS]

    Options:
      -C, --project <DIR>   The project's folder [default: the nearest one upward that contains a
                            trailblaze.yaml]
          --full [<TOPIC>]  Print all instructions, or those on one topic
          --install <DIR>   Write the short text to DIR/trailblaze/SKILL.md, such as in .claude/skills
          --force           Replace a SKILL.md with other content
          --json            Print as JSON: the topics and the text, or the written file
      -h, --help            Print help
      -V, --version         Print version
    ");
}
