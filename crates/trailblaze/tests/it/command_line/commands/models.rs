//! `model list` and `model test`: which models there are, which one is the default, and what is wrong with one.

use std::io::{Read, Write};
use std::net::TcpListener;

use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;
use trailblaze::project::environment::Environment;
use trailblaze::project::loaded::Loaded;
use trailblaze::project::models::{ModelCassetteMode, ModelOptions, Models};
use trailblaze_core::driver::Budget;
use trailblaze_core::model::{ChatMessage, ModelRequest, OfferedTool};
use trailblaze_core::values::secret::Secrets;

use crate::support::{Project, Ran};

const LLM: &str = "\
llm:
  providers:
    anthropic:
      models:
        - {id: claude-x, context_length: 200000, cost: {input_per_million: 3, output_per_million: 15}}
        - {id: claude-y, vision: false}
    demo: {type: scripted, file: demo.replies.yaml}
  defaults: {model: anthropic/claude-x}
";
const DEMO: &str = "\
model: {id: demo/file, cost: {input_per_million: 2, output_per_million: 10}}
replies:
  - expect: {tools: [say_hello]}
    reply: {calls: [say_hello: {to: Ada}], usage: {input: 1000, output: 100}}
";

fn project() -> Project {
    Project::empty().with("trailblaze.yaml", LLM).with("demo.replies.yaml", DEMO)
}

fn run_with(project: &Project, args: &[&str], variables: &[(&str, &str)]) -> Ran {
    let mut command = project.command(args);
    command.envs(variables.iter().copied());
    project.finish(command)
}

#[test]
fn models_are_listed_with_their_keys_and_prices() {
    let project = project();
    let ran = run_with(&project, &["model", "list"], &[("OPENAI_API_KEY", "sk-canary")]).exits(0);
    assert!(!format!("{}{}", ran.stdout, ran.stderr).contains("canary"));
    insta::assert_snapshot!(format!("{}{}", ran.stdout, ran.stderr), @"
    anthropic        https://api.anthropic.com                        ANTHROPIC_API_KEY is not set
    * anthropic/claude-x                             $3 in, $15 out per million tokens; 200000 tokens
      anthropic/claude-y                             price unknown; no vision
    demo             demo.replies.yaml                                needs no key
    openai           https://api.openai.com/v1                        OPENAI_API_KEY is set
    google           https://generativelanguage.googleapis.com        GOOGLE_API_KEY is not set
    openrouter       https://openrouter.ai/api/v1                     OPENROUTER_API_KEY is not set
    ollama           http://localhost:11434                           needs no key

    The default is anthropic/claude-x, from `llm.defaults.model`, trailblaze.yaml:8:21.
    Models that are not listed can be used too: provider/model. Their price is unknown.
    ");
}

#[test]
fn the_environment_decides_before_the_project_and_none_means_none() {
    let project = project();
    let default = |variables: &[(&str, &str)]| {
        run_with(&project, &["model", "list", "--json"], variables).exits(0).json()["default"].clone()
    };
    assert_eq!(default(&[]), json!({"model": "anthropic/claude-x", "from": "config"}));
    let variable = [("TRAILBLAZE_DEFAULT_MODEL", "demo/x")];
    assert_eq!(default(&variable), json!({"model": "demo/x", "from": "environment"}));
    assert_eq!(default(&[("TRAILBLAZE_DEFAULT_MODEL", "none")]), Value::Null);
    assert_eq!(run_with(&project, &["model", "test", "--json"], &variable).exits(0).json()["model"], "demo/file");
}

#[test]
fn a_test_says_what_the_model_did_and_what_it_cost() {
    let project = project();
    for model in ["demo", "scripted/demo.replies.yaml"] {
        let ran = project.run(&["model", "test", model, "--json"]).exits(0).json();
        assert_eq!((&ran["model"], &ran["calledTheTool"]), (&json!("demo/file"), &json!(true)));
        assert_eq!(ran["usage"], json!({"input": 1000, "output": 100, "cached": 0, "cacheWritten": 0}));
        assert_eq!(ran["cost"], 0.003);
    }
    project.write("mute.replies.yaml", "replies: [{reply: {text: I cannot.}}]\n");
    let ran = project.run(&["model", "test", "scripted/mute.replies.yaml"]).exits(1);
    assert!(ran.stdout.starts_with("scripted/mute.replies.yaml did not call the tool in "), "{ran:?}");
    assert!(ran.stdout.ends_with("cost unknown\n") && ran.stderr.contains("It replied: I cannot."), "{ran:?}");
}

#[test]
fn a_model_that_cannot_be_used_is_refused_with_a_hint() {
    let project = project();
    insta::assert_snapshot!(project.run(&["model", "test"]).refusal(), @"
    exit 3
    error: `anthropic` needs a key in the environment variable `ANTHROPIC_API_KEY`
    hint: set it for this command: ANTHROPIC_API_KEY=… trailblaze …, or use --model none
    ");
    insta::assert_snapshot!(project.run(&["model", "test", "claude-x"]).refusal(), @"
    exit 3
    error: expected a model as provider/model, got `claude-x` from the command line
    hint: did you mean `anthropic/claude-x`?
    ");
    insta::assert_snapshot!(project.run(&["model", "test", "antropic/claude-x"]).refusal(), @"
    exit 3
    error: unknown provider `antropic` of the model `antropic/claude-x` from the command line
    hint: did you mean `anthropic/claude-x`?
    ");
    insta::assert_snapshot!(project.run(&["model", "test", "none"]).refusal(), @"
    exit 3
    error: there is no model to test
    hint: name one: trailblaze model test provider/model
    ");
}

#[test]
fn a_broken_file_of_replies_is_refused_with_its_place() {
    let project = project().with("bad.replies.yaml", "replies:\n  - expect: {contain: x}\n    reply: {}\n");
    let ran = project.run(&["model", "test", "scripted/bad.replies.yaml"]).exits(3);
    assert!(ran.stderr.contains("unknown key `contain`") && ran.stderr.contains("bad.replies.yaml:2:14"), "{ran:?}");
    let ran = project.run(&["model", "test", "scripted/missing.yaml"]).exits(3);
    assert!(ran.stderr.contains("missing.yaml") && ran.stderr.contains("cannot be read"), "{ran:?}");
}

#[test]
fn a_key_in_the_project_is_refused_and_not_shown() {
    let project =
        Project::empty().with("trailblaze.yaml", "llm:\n  providers:\n    openai:\n      auth: {api_key: sk-canary}\n");
    for args in [&["model", "list"] as &[&str], &["config"], &["check"]] {
        let ran = project.run(args).exits(3);
        assert!(ran.stderr.contains("`api_key` would put a key into a file"), "{ran:?}");
        assert!(!format!("{}{}", ran.stdout, ran.stderr).contains("canary"), "{ran:?}");
    }
}

#[test]
fn the_configuration_shows_providers_without_what_may_be_secret() {
    let llm = "llm:\n  providers:\n    corp: {type: openai_compatible, base_url: 'https://llm.corp/v1?key=canary', headers: {X-Team: canary}}\n";
    let project = Project::empty().with("trailblaze.yaml", llm);
    let shown = project.run(&["config", "llm", "--json"]).exits(0).json();
    let corp = json!({"type": "openai_compatible", "base_url": "https://llm.corp/v1", "headers": ["X-Team"]});
    assert_eq!(shown, json!({"providers": {"corp": corp}}));
}

/// Answers one request with this status and body, on a port of its own.
fn provider(status: u16, body: &'static str) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
    let url = format!("http://{}/v1", listener.local_addr().expect("an address"));
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let Ok(mut stream) = stream else { return };
            let mut buffer = [0; 65_536];
            let _ = stream.read(&mut buffer);
            let head = format!(
                "HTTP/1.1 {status} x\r\ncontent-length: {}\r\nretry-after-ms: 1\r\nconnection: close\r\n\r\n",
                body.len()
            );
            let _ = stream.write_all(format!("{head}{body}").as_bytes());
        }
    });
    url
}

#[test]
fn exit_codes_tell_a_wrong_setup_from_a_provider_that_fails() {
    let cases = [
        (
            401,
            r#"{"error": {"message": "Incorrect API key provided: sk-canary-1", "code": "invalid_api_key"}}"#,
            3,
            "refused the key",
        ),
        (404, r#"{"error": {"message": "no such model", "code": "model_not_found"}}"#, 3, "has no model `m`"),
        (
            429,
            r#"{"error": {"message": "You exceeded your quota", "code": "insufficient_quota"}}"#,
            2,
            "the quota of `corp` is used up",
        ),
        (503, "busy", 2, "`corp` failed (503): busy (tried 5 times)"),
        (200, "<html>Sign in</html>", 2, "it is HTML"),
    ];
    for (status, body, code, words) in cases {
        let config = format!(
            "llm: {{providers: {{corp: {{type: openai_compatible, base_url: '{}', auth: {{env_var: CORP_KEY}}}}}}}}\n",
            provider(status, body)
        );
        let project = Project::empty().with("trailblaze.yaml", config);
        let variables = [("CORP_KEY", "sk-canary-1"), ("TRAILBLAZE_LOG", "trace")];
        let ran = run_with(&project, &["model", "test", "corp/m"], &variables).exits(code);
        assert!(ran.stderr.contains(words), "{ran:?}");
        assert!(!format!("{}{}", ran.stdout, ran.stderr).contains("canary"), "{ran:?}");
    }
}

fn models(project: &Project, model: Option<&str>, cassette: Option<ModelCassetteMode>) -> Models {
    let loaded = Loaded::read(project.root(), &Arc::new(Environment::default())).expect("a project");
    let options = ModelOptions { model: model.map(String::from), cassette };
    Models::resolve(&loaded, &options).expect("a usable choice")
}

#[tokio::test]
async fn a_cassette_belongs_to_one_trail_on_one_kind_of_device() {
    let project = project();
    let budget = Budget::new(Instant::now() + Duration::from_secs(60), CancellationToken::new());
    let tool = OfferedTool { name: "say_hello".into(), description: String::new(), parameters: json!({}) };
    let request =
        ModelRequest { tools: [tool].into(), ..ModelRequest::new("Be brief.", vec![ChatMessage::user("Greet Ada.")]) };

    let recorded = models(&project, Some("demo"), Some(ModelCassetteMode::Record));
    let trail = recorded.for_trail("pay/by card", "android-phone").expect("no problem").expect("a model");
    assert!(trail.model.describe().is_replayed, "requests must be the same when they are recorded");
    let reply = trail.model.complete(&budget, &request).await.expect("a reply");
    let file = "cassettes/models/pay/by-card.android-phone.replies.yaml";
    assert_eq!(trail.save(&Secrets::default()).expect("it is written").as_deref(), Some(file));
    let idle = recorded.for_trail("idle", "android-phone").expect("no problem").expect("a model");
    assert_eq!(
        idle.save(&Secrets::default()).expect("nothing to write"),
        None,
        "a trail that asked nothing has no cassette"
    );
    insta::assert_snapshot!(project.read(file), @"
    # What a language model replied. Written by `--model-cassette record`.
    model:
      id: demo/file
      vision: true
      cost:
        input_per_million: 2.0
        output_per_million: 10.0
        cached_input_per_million: 2.0
        cache_write_per_million: 2.0
    replies:
      - expect:
          request: '63b482efdb55a845856da3914e66375b'
          parts:
            tools: '0b55041b9aaec3e45b5e5c3bf9ac9c1d'
            system: fecef222d7732bb717f79edfbfe00570
            messages:
              - '9ae50622ec367ede01ae59383821f523'
            options: d5c854bcd9c52b7a9bafa752d2c70693
        asked:
          - Greet Ada.
        reply:
          calls:
            - say_hello:
                to: Ada
          usage:
            input: 1000
            output: 100
            cached: 0
            cacheWritten: 0
    ");

    // Neither the file of replies nor a choice is needed any more.
    project.write("demo.replies.yaml", "");
    let replayed = models(&project, None, Some(ModelCassetteMode::Replay));
    assert!(replayed.has_any());
    let trail = replayed.for_trail("pay/by card", "android-phone").expect("no problem").expect("a model");
    assert_eq!(trail.model.describe().id, "demo/file");
    let again = trail.model.complete(&budget, &request).await.expect("the recorded reply");
    assert_eq!((again.calls, again.usage), (reply.calls, reply.usage));
    let other = replayed.for_trail("other", "android-phone").expect("no problem").expect("a model");
    let error = other.model.complete(&budget, &request).await.expect_err("no cassette");
    assert_eq!(error.message, "there is no cassette `cassettes/models/other.android-phone.replies.yaml` to replay");
}

#[test]
fn without_a_choice_there_is_no_model() {
    let project = Project::empty();
    for model in [None, Some("none")] {
        let models = models(&project, model, None);
        assert!(!models.has_any() && models.model().is_none());
        assert!(models.for_trail("x", "android-phone").expect("no problem").is_none());
    }
}
