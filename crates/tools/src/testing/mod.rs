//! A device for unit tests of tools: it answers as the test says, and keeps what was called.

mod generated;

use std::pin::Pin;
use std::sync::Arc;

use parking_lot::Mutex;
use serde_json::{Map, Value, json};
use trailblaze_client::{Client, Code, Error, Response, Transport};
use trailblaze_protocol::driver::{DriverKey, Platform};
use trailblaze_protocol::event::Level;

use crate::context::{Device, Host, ToolContext};
use generated::BUILT_IN_TOOLS;

/// A device that is not there.
///
/// As on a device, a call by name of a built-in tool with an argument that it does not have, or without one that it needs, is refused.
///
/// ```
/// # use trailblaze_tools::{ToolContext, ToolResult, toolset};
/// # struct Acme;
/// # #[toolset]
/// # impl Acme {
/// #     /// Close the dialog.
/// #     #[tool(name = "acme_close")]
/// #     async fn close(&self, cx: &ToolContext) -> ToolResult<()> {
/// #         if cx.is_visible().text("Not now").await? { cx.tap().text("Not now").await?; }
/// #         Ok(())
/// #     }
/// # }
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() {
/// use serde_json::json;
/// use trailblaze_tools::testing::FakeDevice;
///
/// let device = FakeDevice::answering(|method, _| match method {
///     "IsVisible" => Ok(json!({"value": true})),
///     _ => Ok(json!({"success": true})),
/// });
/// Acme.close(&device.context()).await.unwrap();
/// assert_eq!(device.calls(), [r#"IsVisible {"text":"Not now"}"#, r#"Tap {"text":"Not now"}"#]);
/// # }
/// ```
#[derive(Clone)]
pub struct FakeDevice(Arc<FakeState>);

struct FakeState {
    answer: Box<Answering>,
    platform: Platform,
    memory: Map<String, Value>,
    calls: Mutex<Vec<String>>,
    messages: Mutex<Vec<String>>,
}

type Answering = dyn Fn(&str, &Map<String, Value>) -> Result<Value, Error> + Send + Sync;

impl Default for FakeDevice {
    /// An Android phone on which everything succeeds, and which has nothing on its screen.
    fn default() -> FakeDevice {
        FakeDevice::answering(|_, _| Ok(json!({"success": true})))
    }
}

impl FakeDevice {
    /// An Android phone that answers a method, such as `Tap`, and its parameters with a response, as JSON.
    pub fn answering(
        answer: impl Fn(&str, &Map<String, Value>) -> Result<Value, Error> + Send + Sync + 'static,
    ) -> FakeDevice {
        FakeDevice(Arc::new(FakeState {
            answer: Box::new(answer),
            platform: Platform::Android,
            memory: Map::new(),
            calls: Mutex::default(),
            messages: Mutex::default(),
        }))
    }

    /// The same with another platform.
    ///
    /// # Panics
    ///
    /// If it is in use already.
    #[must_use]
    pub fn on(mut self, platform: Platform) -> FakeDevice {
        self.state().platform = platform;
        self
    }

    /// The same with something in memory.
    ///
    /// # Panics
    ///
    /// If it is in use already.
    #[must_use]
    pub fn remembering(mut self, name: &str, value: impl Into<Value>) -> FakeDevice {
        self.state().memory.insert(name.to_string(), value.into());
        self
    }

    fn state(&mut self) -> &mut FakeState {
        Arc::get_mut(&mut self.0).expect("the device is not in use yet")
    }

    /// The context of a call on this device.
    pub fn context(&self) -> ToolContext {
        ToolContext::new(Arc::new(self.clone()))
    }

    /// What was called so far, such as `Tap {"text":"Pay"}`.
    pub fn calls(&self) -> Vec<String> {
        self.0.calls.lock().clone()
    }

    /// What tools logged, and their progress.
    pub fn messages(&self) -> Vec<String> {
        self.0.messages.lock().clone()
    }
}

impl Transport for FakeDevice {
    fn call<'a>(&'a self, path: &'a str, request: Map<String, Value>) -> Response<'a> {
        let method = path.rsplit('/').next().unwrap_or_default();
        if let Some(refusal) = refusal(method, &request) {
            return Box::pin(async move { Err(Error::api(Code::InvalidArgument, refusal)) });
        }
        let answer = (self.0.answer)(method, &request);
        self.0.calls.lock().push(format!("{method} {}", Value::Object(request)));
        Box::pin(async move { answer })
    }
}

impl Host for FakeDevice {
    fn client(&self) -> Client {
        Client::over(Arc::new(self.clone())).with_platform(self.0.platform.name())
    }

    fn device(&self) -> Device {
        Device {
            id: format!("{}/fake", self.0.platform),
            platform: Some(self.0.platform),
            driver: DriverKey::default_for(self.0.platform).to_string(),
            width: 1080,
            height: 2400,
        }
    }

    fn memory(&self) -> Map<String, Value> {
        self.0.memory.clone()
    }

    fn log(&self, _: Level, message: String) {
        self.0.messages.lock().push(message);
    }

    fn progress(&self, message: String) {
        self.0.messages.lock().push(message);
    }

    fn is_cancelled(&self) -> bool {
        false
    }

    fn cancelled(&self) -> Pin<Box<dyn Future<Output = ()> + Send + '_>> {
        Box::pin(std::future::pending())
    }
}

/// Why a device would refuse a call by name, judging by the names and types of its arguments. Only built-in tools are known here.
fn refusal(method: &str, request: &Map<String, Value>) -> Option<String> {
    let tool = request.get("name").and_then(Value::as_str).filter(|_| method == "CallTool")?;
    let line = BUILT_IN_TOOLS.lines().find(|line| line.split(' ').next() == Some(tool))?;
    let args = request.get("args").and_then(Value::as_object);
    let given = |name: &str| args.and_then(|args| args.get(name)).filter(|value| !value.is_null());
    let params: Vec<(&str, &str)> =
        line.split(' ').skip(1).map(|param| param.split_once(':').unwrap_or((param, ""))).collect();
    let required = params.iter().filter_map(|(name, _)| name.strip_suffix('!'));
    let mut problems: Vec<String> =
        required.filter(|name| given(name).is_none()).map(|name| format!("missing argument `{name}`")).collect();
    let known: Vec<&str> = params.iter().map(|(name, _)| name.trim_end_matches('!')).collect();
    let names = args.into_iter().flat_map(Map::keys);
    problems.extend(names.filter(|name| !known.contains(&name.as_str())).map(|name| unknown(name, &known)));
    let accepted = known.iter().zip(params.iter().map(|(_, accepted)| accepted));
    problems
        .extend(accepted.filter_map(|(name, accepted)| Some(format!("`{name}`: {}", wrong(given(name)?, accepted)?))));
    (!problems.is_empty()).then(|| format!("`{tool}`: {}", problems.join("; ")))
}

/// Why a value is not of the type that an argument accepts, or none of its words.
fn wrong(value: &Value, accepted: &str) -> Option<String> {
    let is_accepted = match accepted {
        "" => true,
        "string" => value.is_string(),
        "integer" => value.is_i64() || value.is_u64() || value.as_f64().is_some_and(|number| number.fract() == 0.0),
        "number" => value.is_number(),
        "boolean" => value.is_boolean(),
        "object" => value.is_object(),
        "array" => value.is_array(),
        words => {
            let words: Vec<&str> = words.split('|').collect();
            let is_word = value.as_str().is_some_and(|text| words.iter().any(|word| word.eq_ignore_ascii_case(text)));
            let words: Vec<String> = words.iter().map(|word| format!("\"{word}\"")).collect();
            return (!is_word).then(|| format!("{value} is not one of {}", words.join(", ")));
        }
    };
    (!is_accepted).then(|| format!("{value} is not of type \"{accepted}\""))
}

fn unknown(name: &str, known: &[&str]) -> String {
    const LETTERS_PER_MISTAKE: usize = 3;
    let near = known.iter().map(|candidate| (distance(&name.to_lowercase(), &candidate.to_lowercase()), candidate));
    let near = near.filter(|(far, candidate)| *far <= name.len().max(candidate.len()) / LETTERS_PER_MISTAKE);
    match near.min_by_key(|(far, _)| *far) {
        Some((_, near)) => format!("unknown argument `{name}`; did you mean `{near}`?"),
        None if known.is_empty() => format!("unknown argument `{name}`; none are accepted"),
        None => format!("unknown argument `{name}`; expected one of: {}", known.join(", ")),
    }
}

/// How many letters to insert, remove or replace.
fn distance(one: &str, other: &str) -> usize {
    let other: Vec<char> = other.chars().collect();
    let mut row: Vec<usize> = (0..=other.len()).collect();
    for (index, letter) in one.chars().enumerate() {
        let mut next = vec![index + 1];
        for (at, candidate) in other.iter().enumerate() {
            let replaced = row[at] + usize::from(letter != *candidate);
            next.push(replaced.min(row[at + 1] + 1).min(next[at] + 1));
        }
        row = next;
    }
    row.last().copied().unwrap_or_default()
}
