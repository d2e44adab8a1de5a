//! What the attribute makes of an `impl` block, and what tools get and return.

use futures::FutureExt;
use serde_json::Value;
use trailblaze_tools::client::{Code, Error};
use trailblaze_tools::private::WatchedCall;
use trailblaze_tools::testing::FakeDevice;
use trailblaze_tools::{Args, Json, Output, Platform, ToolContext, ToolError, ToolResult, Toolset, json, toolset};

struct Acme {
    package: &'static str,
}

/// How to sign in.
#[derive(serde::Deserialize, serde::Serialize, schemars::JsonSchema)]
#[serde(rename_all = "camelCase")]
enum Way {
    Pin,
    Password,
}

#[derive(serde::Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "camelCase")]
struct Order {
    /// What to buy
    items: Vec<String>,
    /// How often to try
    #[serde(default = "two")]
    max_attempts: u32,
    gift: Option<bool>,
}

fn two() -> u32 {
    2
}

#[toolset(platforms = [Android, Ios], groups = ["acme"])]
impl Acme {
    /// Sign in to the app.
    ///
    /// Launches it
    /// first.
    #[tool(name = "acme_login", groups = ["auth"], toolset = "sign-in", host_only)]
    async fn login(
        &self,
        cx: &ToolContext,
        /// Who signs in
        email: &str,
        pin: Option<&str>,
        #[arg(default = "en")] language: &str,
        #[arg(name = "maxAttempts", default = 3)] max_attempts: u32,
        way: Option<Way>,
    ) -> ToolResult {
        self.setup(cx).await?;
        cx.tap().text("Sign in").await?;
        cx.input_text(email).await?;
        let way = way.map(|way| json!(way));
        Ok(Output::from(format!("{email} {pin:?} {language} {max_attempts} {way:?}")))
    }

    /// Launch the app.
    #[tool(name = "acme_setup", for_model = false, recordable = false)]
    async fn setup(&self, cx: &ToolContext) -> ToolResult<()> {
        cx.launch_app().package_id(self.package).await?;
        Ok(())
    }

    /// Buy things.
    #[tool(name = "acme_buy", platforms = [], delegating)]
    async fn buy(&self, Args(order): Args<Order>) -> ToolResult {
        let bought =
            order.items.iter().fold(Output::default(), |output, item| output.delegate("tap", json!({"text": item})));
        Ok(bought.with_text(format!("{} {:?}", order.max_attempts, order.gift)))
    }

    /// Add numbers.
    #[tool]
    async fn sum(&self, numbers: &[i64]) -> Result<Json<i64>, std::num::ParseIntError> {
        match numbers {
            [] => Err("".parse::<i64>().expect_err("it is empty")),
            numbers => Ok(Json(numbers.iter().sum())),
        }
    }

    /// Remember the user.
    #[tool(name = "acme_remember")]
    async fn remember(&self, cx: &ToolContext, user: String) -> ToolResult<String> {
        let before = cx.memory().text("user");
        cx.memory().set("user", user);
        cx.memory().remove("token");
        cx.memory().set("token", 1);
        cx.memory().remove("token");
        cx.log(format!("{:?} {:?}", cx.memory().text("user"), cx.memory().get("token")));
        Ok(before.unwrap_or_default())
    }

    /// Fail.
    #[tool(name = "acme_fail")]
    async fn fail(&self, cx: &ToolContext, tool: &str) -> ToolResult {
        cx.call(tool, json!({})).await
    }

    /// Read a number.
    #[tool(name = "acme_read")]
    async fn read(&self, cx: &ToolContext, text: &str) -> ToolResult {
        if text == "screen" {
            cx.call("Unsupported", json!({})).await?;
        }
        assert_ne!(text, "panic", "it was asked to");
        let number: i64 = text.parse()?;
        Ok(number.to_string().into())
    }

    fn not_a_tool(&self) -> usize {
        self.package.len()
    }
}

fn device() -> FakeDevice {
    let device = FakeDevice::answering(|_, params| match params.get("name").and_then(Value::as_str) {
        Some("lost") => Err(Error::api(Code::Unavailable, "the device was lost")),
        Some("elsewhere") => Err(Error::api(Code::Unimplemented, "unsupported on ios")),
        Some(variant) => Ok(json!({"success": false, "message": "no", "variant": variant})),
        None => Ok(json!({"success": true})),
    });
    device.remembering("user", "ada").remembering("token", "t")
}

const ACME: Acme = Acme { package: "com.acme" };

async fn call(tool: &str, args: Value) -> (ToolResult, FakeDevice, ToolContext) {
    let device = device();
    let cx = device.context();
    let args = args.as_object().cloned().expect("an object");
    let answer = ACME.call(tool, &cx, args).await;
    (answer, device, cx)
}

#[test]
fn flags_and_doc_comments_describe_the_tools() {
    assert_eq!((Acme::LOGIN, Acme::BUY, Acme::SUM), ("acme_login", "acme_buy", "sum"));
    assert_eq!((ACME.name(), ACME.not_a_tool()), ("Acme", 8));
    let tools = ACME.tools();
    let login = &tools[0];
    assert_eq!(login.description, "Sign in to the app.\n\nLaunches it first.");
    assert_eq!((login.platforms, login.groups), ([Platform::Android, Platform::Ios].as_slice(), ["auth"].as_slice()));
    assert_eq!((login.toolset, login.requires_host, login.is_recordable), (Some("sign-in"), true, true));
    let setup = &tools[1];
    assert_eq!((setup.groups, setup.is_for_model, setup.is_recordable), (["acme"].as_slice(), false, false));
    assert_eq!((tools[2].platforms, tools[2].is_delegating), ([].as_slice(), true));
}

#[test]
fn schemas_are_derived_from_parameters() {
    let tools = ACME.tools();
    let schema = |name: &str| tools.iter().find(|tool| tool.name == name).expect("a tool").schema.clone();
    assert_eq!(
        schema("acme_login"),
        json!({
            "type": "object",
            "properties": {
                "email": {"type": "string", "description": "Who signs in"},
                "pin": {"type": "string"},
                "language": {"type": "string", "default": "en"},
                "maxAttempts": {"type": "integer", "minimum": 0, "default": 3},
                "way": {"type": "string", "enum": ["pin", "password"], "description": "How to sign in."},
            },
            "additionalProperties": false,
            "required": ["email"],
        })
    );
    assert_eq!(
        schema("acme_buy"),
        json!({
            "type": "object",
            "properties": {
                "items": {"type": "array", "items": {"type": "string"}, "description": "What to buy"},
                "maxAttempts": {"type": "integer", "minimum": 0, "default": 2, "description": "How often to try"},
                "gift": {"type": "boolean"},
            },
            "additionalProperties": false,
            "required": ["items"],
        })
    );
    assert_eq!(schema("acme_setup"), json!({"type": "object", "properties": {}, "additionalProperties": false}));
}

#[tokio::test]
async fn a_tool_gets_its_arguments_and_calls_commands_and_other_tools() {
    let (answer, device, _) = call("acme_login", json!({"email": "a@b.c", "maxAttempts": 1, "way": "pin"})).await;
    assert_eq!(answer.expect("it succeeds").text, r#"a@b.c None en 1 Some(String("pin"))"#);
    assert_eq!(
        device.calls(),
        [r#"LaunchApp {"packageId":"com.acme"}"#, r#"Tap {"text":"Sign in"}"#, r#"InputText {"text":"a@b.c"}"#]
    );
    let (answer, ..) = call("acme_buy", json!({"items": ["tea"], "gift": true})).await;
    let answer = answer.expect("it succeeds");
    assert_eq!(answer.text, "2 Some(true)");
    assert_eq!(json!(answer.delegates), json!([{"tool": "tap", "args": {"text": "tea"}}]));
    let (answer, ..) = call("sum", json!({"numbers": [1, 2]})).await;
    assert_eq!(answer.expect("it succeeds").value, Some(json!(3)));
}

#[tokio::test]
async fn memory_changes_are_collected_for_the_result() {
    let (answer, device, cx) = call("acme_remember", json!({"user": "grace"})).await;
    assert_eq!(answer.expect("it succeeds").text, "ada");
    assert_eq!(device.messages(), [r#"Some("grace") None"#]);
    assert_eq!(json!(cx.take_memory_changes()), json!({"set": {"user": "grace"}, "deleted": ["token"]}));
}

#[tokio::test]
async fn errors_keep_their_kind() {
    for (tool, variant, code) in [
        ("AssertionFailed", "AssertionFailed", None),
        ("FatalError", "FatalError", None),
        ("Unsupported", "Unsupported", None),
        ("SomethingNew", "ExceptionThrown", None),
        ("elsewhere", "Unsupported", Some(Code::Unimplemented)),
        ("lost", "ExceptionThrown", Some(Code::Unavailable)),
    ] {
        let (answer, ..) = call("acme_fail", json!({"tool": tool})).await;
        let error = answer.expect_err("it fails");
        assert_eq!((error.variant().name(), error.code()), (variant, code), "{tool}");
    }
    let (answer, ..) = call("sum", json!({"numbers": []})).await;
    assert_eq!(answer, Err(ToolError::failed("cannot parse integer from empty string")));
}

#[tokio::test]
async fn arguments_of_built_in_tools_are_checked_as_by_trailblaze() {
    let device = FakeDevice::default();
    let cx = device.context();
    for (tool, args, expected) in [
        ("tap", json!({"text": "Pay", "reasoning": "it is due"}), None),
        ("acme_pay", json!({"anything": 1}), None),
        ("tap", json!({"txt": "Pay"}), Some("`tap`: unknown argument `txt`; did you mean `text`?")),
        (
            "inputText",
            json!({"sentence": "a"}),
            Some(
                "`inputText`: missing argument `text`; unknown argument `sentence`; \
                 expected one of: text, hideKeyboardAfter, reasoning",
            ),
        ),
        ("web_click", json!({"reff": "y1"}), Some("`web_click`: unknown argument `reff`; did you mean `ref`?")),
        ("tap", json!({"x": "a"}), Some("`tap`: `x`: \"a\" is not of type \"integer\"")),
        (
            "swipe",
            json!({"direction": "back"}),
            Some("`swipe`: `direction`: \"back\" is not one of \"UP\", \"DOWN\", \"LEFT\", \"RIGHT\""),
        ),
        ("dumpMemory", json!({"all": true}), Some("`dumpMemory`: unknown argument `all`; none are accepted")),
    ] {
        let refused = cx.call(tool, args).await.err().map(|error| error.message().to_string());
        assert_eq!(refused.is_some(), expected.is_some(), "{tool}: {refused:?}");
        assert!(refused.unwrap_or_default().starts_with(expected.unwrap_or_default()), "{tool}");
    }
    assert_eq!(device.calls().len(), 2, "what is refused is not kept");
}

/// The place in this file of a piece of code, which comes before this function.
fn place_of(code: &str) -> String {
    let lines = include_str!("main.rs").lines().zip(1..);
    let found = lines.filter_map(|(line, number)| Some((number, line.find(code)? + 1)));
    let (line, column) = found.min().expect("the code is in this file");
    format!("{}:{line}:{column}", file!())
}

#[tokio::test]
async fn an_error_names_the_line_of_the_author() {
    for (text, message, code) in
        [("seven", "invalid digit found in string", "text.parse()?"), ("screen", "no", "cx.call(\"Unsupported\"")]
    {
        let (answer, ..) = call("acme_read", json!({"text": text})).await;
        let error = answer.expect_err("it fails");
        let place = place_of(code);
        let line = place.rsplit_once(':').expect("a column").0;
        assert!(error.to_string().starts_with(&format!("{message} ({line}:")), "{error} is not at {place}");
        assert_eq!(error.message(), message, "tests of authors compare messages without places");
    }
}

#[tokio::test]
async fn a_panic_names_the_line_of_the_author() {
    let _alone = WATCHING.lock().await;
    let watched = WatchedCall::begin("acme_read", std::sync::Arc::new(|_, _| {}));
    let cx = device().context();
    let args = json!({"text": "panic"}).as_object().cloned().expect("an object");
    let called = std::panic::AssertUnwindSafe(watched.run(ACME.call("acme_read", &cx, args))).catch_unwind().await;
    let error = ToolError::panicked("acme_read", &*called.expect_err("it panics"));
    let text = error.to_string();
    assert!(text.starts_with("`acme_read` panicked: assertion `left != right` failed: it was asked to"), "{text}");
    assert!(text.ends_with(&format!(" ({})", place_of("assert_ne!(text"))), "{text}");
    // It is the tool's own panic, and not that of something which it started.
    assert!(watched.end(Ok(Output::default())).is_ok());
}

/// The calls of a process are watched together.
static WATCHING: tokio::sync::Mutex<()> = tokio::sync::Mutex::const_new(());

#[tokio::test]
async fn what_panics_beside_a_tool_fails_it_or_is_reported_when_it_has_ended() {
    let _alone = WATCHING.lock().await;
    let (told, hears) = std::sync::mpsc::channel();
    let begin = |tool: &str| {
        let told = told.clone();
        WatchedCall::begin(tool, std::sync::Arc::new(move |text, is_its| told.send((text, is_its)).expect("heard")))
    };
    let panic = || drop(std::thread::spawn(|| panic!("in the thread")).join());
    let failed = |watched: WatchedCall| watched.end(Ok(Output::default())).err().map(|error| error.to_string());
    let alone = begin("acme_one");
    panic();
    let said = failed(alone).expect("it fails");
    assert!(said.starts_with("something that the tool started panicked: in the thread (") && said.contains("main.rs:"));

    drop(begin("acme_two"));
    panic();
    let (text, is_its) = hears.try_recv().expect("it is reported");
    let late = "something panicked that `acme_two` or an earlier tool had started: in the thread (";
    assert!(text.starts_with(late) && text.contains("main.rs:") && is_its, "{text}");

    let (one, two) = (begin("acme_one"), begin("acme_two"));
    panic();
    let (text, is_its) = hears.try_recv().expect("it is reported");
    let late = "something panicked that `acme_one`, `acme_two` or an earlier tool had started: in the thread (";
    assert!(text.starts_with(late) && !is_its, "{text}");
    assert_eq!((failed(one), failed(two)), (None, None));
}

#[tokio::test]
async fn wrong_arguments_are_errors() {
    for (tool, args, expected) in [
        ("acme_login", json!({}), "wrong arguments: missing field `email`"),
        ("acme_login", json!({"email": 1}), "wrong arguments: invalid type: integer `1`, expected a string"),
        ("acme_setup", json!({"a": 1}), "wrong arguments: unknown field `a`, there are no fields"),
        ("acme_none", json!({}), "unknown tool `acme_none`"),
    ] {
        let (answer, ..) = call(tool, args).await;
        assert_eq!(answer.expect_err("it fails").message(), expected);
    }
}

/// Tools with mistakes that the compiler accepts.
struct Careless;

#[toolset]
impl Careless {
    /// Prepare calls, and make one of them.
    #[tool(name = "careless_drop")]
    async fn drop_calls(&self, cx: &ToolContext, what: &str) -> ToolResult<()> {
        let prepared = cx.tap();
        match what {
            "command" => {
                let _ = cx.tap().text("Pay");
            }
            "tool" => {
                // The mistake that this test is about.
                #[expect(clippy::let_underscore_future)]
                let _ = cx.call("acme_pay", json!({}));
            }
            "clone" => drop(prepared.clone()),
            _ => {}
        }
        prepared.text("OK").await?;
        Ok(())
    }

    /// Remember something.
    #[tool(name = "careless_remember")]
    async fn remember(&self, cx: &ToolContext, name: &str, number: Option<f64>) -> ToolResult<()> {
        cx.memory().set(name, number.map_or(f64::NAN, |number| number));
        Ok(())
    }

    /// Return a number that is none.
    #[tool(name = "careless_return")]
    async fn nan(&self) -> ToolResult<Json<Vec<f64>>> {
        Ok(Json(vec![1.0, f64::NAN]))
    }

    /// Return a number that is none within a literal.
    #[tool(name = "careless_literal")]
    async fn literal(&self, total: Option<f64>) -> ToolResult {
        let total = total.unwrap_or(f64::NAN);
        Ok(Output::from(json!({
            "orders": [1, null, {"paid": true}],
            "total": total / 2.0,
        })))
    }

    /// Leave a task behind, or wait for it.
    #[tool(name = "careless_spawn")]
    async fn spawn(&self, cx: &ToolContext, what: &str) -> ToolResult<()> {
        let (client, (begun, begins)) = (cx.commands().clone(), tokio::sync::oneshot::channel());
        match what {
            "fails" => {
                let task = tokio::spawn(async move { client.tap().text("Nowhere").await });
                let _ = task.await;
            }
            "stays" => {
                tokio::spawn(async move {
                    let _ = begun.send(());
                    std::future::pending::<()>().await;
                    drop(client);
                });
                begins.await?;
            }
            _ => assert!(tokio::spawn(async move { client.tap().text("Pay").await }).await?.is_ok()),
        }
        // The tool itself deals with this one.
        assert!(cx.tap().text("Nowhere").await.is_err());
        Ok(())
    }
}

/// What a call fails with, although its function succeeded, without the column.
async fn mistake(tool: &str, args: Value) -> Option<String> {
    let cx = device().context();
    let answer = Careless.call(tool, &cx, args.as_object().cloned().expect("an object")).await;
    let said = answer.err().or_else(|| cx.take_mistake()).map(|error| error.to_string());
    said.map(|said| said.replace("\nhint: write `.await?` behind the call", ""))
}

fn line_of(code: &str) -> String {
    let lines = include_str!("main.rs").lines().enumerate();
    let found = lines.filter(|(_, line)| line.contains(code)).map(|(at, _)| at + 1).next().expect("the code");
    format!("main.rs:{found}:")
}

#[tokio::test]
async fn a_call_that_is_not_awaited_is_a_mistake_with_its_place() {
    for (what, named, code) in
        [("command", "Tap", "let _ = cx.tap().text"), ("tool", "acme_pay", "let _ = cx.call(\"acme_pay\"")]
    {
        let said = mistake("careless_drop", json!({"what": what})).await.expect("a mistake");
        assert!(said.starts_with(&format!("`{named}` was not awaited, so it was not carried out (")), "{said}");
        assert!(said.contains(&line_of(code)), "{said}");
    }
    for fine in ["clone", "nothing"] {
        assert_eq!(mistake("careless_drop", json!({"what": fine})).await, None, "{fine}");
    }
}

#[tokio::test]
async fn what_json_does_not_have_and_reserved_names_are_mistakes() {
    let said = mistake("careless_remember", json!({"name": "total"})).await.expect("a mistake");
    assert!(said.starts_with("`total` cannot be remembered: it has NaN, which JSON does not have ("), "{said}");
    assert!(said.contains(&line_of("cx.memory().set(name, number")), "{said}");
    let said = mistake("careless_remember", json!({"name": "target.appId", "number": 1})).await.expect("a mistake");
    let told = "`target.appId` cannot be changed in memory: names that begin with `target.` are set by Trailblaze (";
    assert!(said.starts_with(told) && said.contains(&line_of("cx.memory().set(name, number")), "{said}");
    assert_eq!(mistake("careless_remember", json!({"name": "total", "number": 1})).await, None);
    let said = mistake("careless_return", json!({})).await.expect("a mistake");
    let told = "the result cannot be passed on: it has NaN, which JSON does not have at `1` (";
    assert!(said.starts_with(told) && said.contains(&line_of("async fn nan")), "{said}");
}

#[tokio::test]
async fn a_literal_has_what_json_has_and_fails_at_the_line_of_what_it_has_not() {
    let _alone = WATCHING.lock().await;
    let watched = WatchedCall::begin("careless_literal", std::sync::Arc::new(|_, _| {}));
    let cx = device().context();
    let args = |total: Value| total.as_object().cloned().expect("an object");
    let output = Careless.call("careless_literal", &cx, args(json!({"total": 9}))).await.expect("it passes");
    assert_eq!(output.value, Some(serde_json::json!({"orders": [1, null, {"paid": true}], "total": 4.5})));
    let called = watched.run(Careless.call("careless_literal", &cx, args(json!({}))));
    let panic = std::panic::AssertUnwindSafe(called).catch_unwind().await.expect_err("it panics");
    let said = ToolError::panicked("careless_literal", &*panic).to_string();
    let told = "`careless_literal` panicked: this value cannot be JSON: it has NaN, which JSON does not have (";
    assert!(said.starts_with(told) && said.contains(&line_of("\"total\": total / 2.0")), "{said}");
}

#[tokio::test]
async fn a_task_that_fails_or_is_left_behind_is_doubted() {
    let _alone = WATCHING.lock().await;
    let doubts = async |what: &str| {
        let device = FakeDevice::answering(|_, params| {
            Ok(json!({"success": params["text"] == "Pay", "message": "it is not there"}))
        });
        let watched = WatchedCall::begin("careless_spawn", std::sync::Arc::new(|_, _| {}));
        let (cx, args) = (device.context(), json!({"what": what}).as_object().cloned().expect("an object"));
        watched.run(Careless.call("careless_spawn", &cx, args)).await.expect("it passes");
        cx.take_doubts("careless_spawn")
    };
    assert_eq!(doubts("nothing").await, [""; 0]);
    let failed = doubts("fails").await;
    let told = "in a task that `careless_spawn` had started, `Tap` failed: it is not there (";
    assert!(
        failed[0].starts_with(told) && failed[0].contains(&line_of("client.tap().text(\"Nowhere\")")),
        "{failed:?}"
    );
    assert!(failed.len() == 1 && failed[0].ends_with("); await the task, and return its error"), "{failed:?}");
    let left = "`careless_spawn` ended before a task that it had started and that can still use the device; await it";
    assert_eq!(doubts("stays").await, [left]);
}

#[test]
fn a_tool_knows_where_it_is_defined() {
    let tool = Careless.tools().remove(0);
    assert!(
        tool.place.0.ends_with("main.rs") && line_of("async fn drop_calls") == format!("main.rs:{}:", tool.place.1)
    );
    assert!(tool.defined_at().ends_with(&format!("main.rs:{}", tool.place.1)));
}
