//! `schema --tools` and `schema --write`: editors complete and check the project's own tools.

use std::io::{BufRead, BufReader};
use std::process::Stdio;

use serde_json::{Value, json};
use trailblaze_core::yaml::{Problems, Source, loose, read};

use crate::support::{Project, Running, files, wait_until};

const FILE: &str = ".trailblaze/schemas/trail.schema.json";

fn errors(schema: &Value, text: &str) -> Vec<String> {
    let source = Source::new("file", text.to_string());
    let node = read(&source, &mut Problems::new(&source)).expect("YAML");
    let validator = jsonschema::validator_for(schema).expect("a schema");
    validator.iter_errors(&loose(&node)).map(|error| error.to_string()).collect()
}

#[test]
fn trails_fit_the_schema_that_has_the_tools_of_their_project() {
    for example in ["examples/wallet", "examples/web-shop", "examples/studio", "examples/two-phones"] {
        let project = Project::copy_of(example);
        let schema = project.run(&["schema", "trail", "--tools"]).exits(0).json();
        let is_trail = |file: &std::path::PathBuf| file.to_string_lossy().ends_with(".trail.yaml");
        let trails: Vec<_> = files(project.root()).into_iter().filter(is_trail).collect();
        assert!(!trails.is_empty());
        for trail in trails {
            let text = std::fs::read_to_string(&trail).expect("a trail");
            assert_eq!(errors(&schema, &text), Vec::<String>::new(), "{}", trail.display());
        }
    }
}

#[test]
fn a_wrong_name_and_a_wrong_argument_do_not_fit() {
    let project = Project::wallet();
    let schema = project.run(&["schema", "trail", "--tools"]).exits(0).json();
    let with = |call: &str| errors(&schema, &format!("trail:\n  - step: Go\n    tools:\n      - {call}\n"));
    let fits = Vec::<String>::new();
    assert_eq!(with("tap: {text: Send}"), fits);
    assert_eq!(with("pressBack:"), fits);
    assert_eq!(with("tap: {id: row, index: '{{row}}'}"), fits, "a template stands for any value");
    assert!(!with("tpa: {text: Send}").is_empty());
    assert!(!with("tap: {txt: Send}").is_empty());
    assert!(!with("tap: {id: row, index: first}").is_empty());
    assert!(!with("inputText: {}").is_empty(), "a required argument is missing");
    let described = &schema["definitions"]["call"]["properties"]["tap"]["description"];
    assert!(described.as_str().is_some_and(|text| text.starts_with("Tap an element")), "{described}");
    assert!(project.run(&["schema", "tool", "--tools"]).refusal().contains("`--tools` is for `schema trail`"));
}

#[test]
fn parts_that_the_schema_of_a_tool_defines_are_found() {
    let project = Project::wallet();
    let plain = r#"{"id": {"type": "string"}}"#;
    let refers = r##"{"to": {"$ref": "#/$defs/Account"}}, "required": ["to"], "$defs": {"Account": {"type": "object", "properties": {"iban": {"type": "string"}, "next": {"$ref": "#/$defs/Account"}}, "required": ["iban"]}}"##;
    let server = crate::command_line::commands::lsp::SERVER.replace(plain, refers);
    assert!(server.contains("$defs"));
    project.write("tools/acme.py", server);
    let entry = "mcpServers:\n  acme: {command: python3, args: [tools/acme.py]}\n";
    project.write("trailblaze.yaml", format!("{}\n{entry}", project.read("trailblaze.yaml")));
    let schema = project.run(&["schema", "trail", "--tools"]).exits(0).json();
    let with = |call: &str| errors(&schema, &format!("trail:\n  - step: Go\n    tools:\n      - {call}\n"));
    assert_eq!(with("acme_refund: {to: {iban: x, next: {iban: y}}}"), Vec::<String>::new());
    assert_eq!(with("acme_refund: {to: '{{account}}'}"), Vec::<String>::new());
    assert!(!with("acme_refund: {to: {iban: x, next: {}}}").is_empty());
}

#[test]
fn schemas_are_written_for_the_editor_and_again_when_a_tool_is_added() {
    let project = Project::wallet();
    let written = project.run(&["schema", "--write", "--json"]).exits(0).json();
    assert!(written["written"].as_array().expect("files").contains(&json!(FILE)), "{written:#}");
    assert_eq!(project.run(&["schema", "--write", "--json"]).exits(0).json()["written"], json!([]));
    let knows = |name: &str| project.read(FILE).contains(&format!("\"{name}\": {{"));
    assert!(knows("tap") && !knows("wallet_greet"));
    let mut command = project.command(&["schema", "--write", "--watch"]);
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().expect("the program starts");
    let mut said = BufReader::new(child.stderr.take().expect("it is piped")).lines().map_while(Result::ok);
    let watching = Running::of(child);
    assert!(said.any(|line| line.starts_with("watching for changes")));
    project.write(
        "trailblaze-config/tools/wallet_greet.yaml",
        "id: wallet_greet\ndescription: Greet.\nparameters: []\ntools:\n  - tap: {text: Hello}\n",
    );
    wait_until("the new tool is in the schema", || knows("wallet_greet").then_some(()));
    watching.interrupt();
    project.ended(watching).exits(0);
    project.run(&["tool", "new", "wallet_wave", "--lang", "yaml"]).exits(0);
    assert!(knows("wallet_wave"), "`tool new` adds its tool");
}
