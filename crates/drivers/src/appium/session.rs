//! A session of Appium: its commands, and what their failures mean for the device.

use std::sync::Arc;
use std::time::Duration;

use hyper::Method;
use parking_lot::Mutex;
use serde_json::{Value, json};
use tokio::time::Instant;
use trailblaze_core::driver::{Budget, DriverError};

use crate::web::webdriver::{ELEMENT, EndpointError, SessionEndings, SessionOwner, WebDriverHttp, WebDriverRequest};
use crate::web::webdriver::{end_session, new_session};

/// How long it may take to end the session.
const CLOSING: Duration = Duration::from_secs(15);
/// What Appium says when the part of it on the phone has ended.
const CRASHED: &str = "instrumentation process is not running";

pub struct AppiumSession {
    http: Arc<WebDriverHttp>,
    id: String,
    endings: Arc<SessionEndings>,
    /// Why it cannot be used any more.
    end: Mutex<Option<String>>,
}

/// What a command without an element or an alert says, which is no failure.
#[derive(Debug, Clone, PartialEq)]
pub enum CommandFault {
    /// By the name that the standard has for it.
    Coded {
        code: String,
        message: String,
        alert: Option<String>,
    },
    Driver(DriverError),
}

impl AppiumSession {
    pub async fn open(
        http: Arc<WebDriverHttp>,
        capabilities: &Value,
        endings: Arc<SessionEndings>,
        budget: &Budget,
    ) -> Result<AppiumSession, DriverError> {
        let session = new_session(&http, capabilities, Some(&endings), budget).await?;
        Ok(AppiumSession { http, id: session.id, endings, end: Mutex::default() })
    }

    pub async fn get(&self, budget: &Budget, path: &str) -> Result<Value, CommandFault> {
        self.command(budget, Method::GET, path, None).await
    }

    pub async fn post(&self, budget: &Budget, path: &str, body: Value) -> Result<Value, CommandFault> {
        self.command(budget, Method::POST, path, Some(body)).await
    }

    /// One of Appium's own commands, such as `mobile: activateApp`.
    pub async fn mobile(&self, budget: &Budget, name: &str, args: Value) -> Result<Value, CommandFault> {
        let body = json!({"script": format!("mobile: {name}"), "args": [args]});
        self.post(budget, "/execute/sync", body).await
    }

    /// The element that has the focus.
    pub async fn focused(&self, budget: &Budget) -> Result<Option<String>, CommandFault> {
        match self.get(budget, "/element/active").await {
            Ok(element) => Ok(element.get(ELEMENT).and_then(Value::as_str).map(str::to_string)),
            Err(fault) if fault.is_code("no such element") => Ok(None),
            Err(fault) => Err(fault),
        }
    }

    async fn command(
        &self,
        budget: &Budget,
        method: Method,
        path: &str,
        body: Option<Value>,
    ) -> Result<Value, CommandFault> {
        if let Some(evidence) = self.end.lock().clone() {
            return Err(CommandFault::Driver(DriverError::Lost { evidence }));
        }
        // Ids of elements are not part of messages.
        let shown = match path.strip_prefix("/element/").and_then(|rest| rest.split_once('/')) {
            Some((_, what)) => format!("/element/…/{what}"),
            None => path.to_string(),
        };
        let is_repeatable = method == Method::GET;
        let path = format!("/session/{}{path}", self.id);
        let what = format!("`{method} {shown}` of Appium");
        let request = WebDriverRequest { method, path, shown, body, is_repeatable };
        let answer = budget.run(&what, self.http.send(request)).await.map_err(CommandFault::Driver)?;
        answer.map_err(|error| self.fault(error))
    }

    fn fault(&self, error: EndpointError) -> CommandFault {
        let end = match &error {
            EndpointError::Failed { message, .. } if message.contains(CRASHED) => {
                Some(format!("the session ended: {message}"))
            }
            error => error.end_of_session(),
        };
        if let Some(evidence) = end {
            self.end.lock().get_or_insert(evidence.clone());
            return CommandFault::Driver(DriverError::Lost { evidence });
        }
        match error {
            EndpointError::Failed { code, message, alert, .. } => CommandFault::Coded { code, message, alert },
            error => CommandFault::Driver(DriverError::Refused { reason: error.to_string() }),
        }
    }

    /// Ends the session. One that is gone is no error.
    pub async fn close(&self) {
        let deadline = Instant::now() + CLOSING;
        if let Ok(Err(error)) = tokio::time::timeout_at(deadline, end_session(&self.http, &self.id)).await {
            tracing::debug!(target: "trailblaze::appium", error = error.to_string(), "a session was not ended");
        }
        self.end.lock().get_or_insert_with(|| "the session was closed".to_string());
        self.endings.has_ended(&self.id).await;
    }
}

impl CommandFault {
    pub fn is_code(&self, wanted: &str) -> bool {
        matches!(self, CommandFault::Coded { code, .. } if code == wanted)
    }

    /// Whether Appium's driver does not have the command.
    pub fn is_unknown(&self) -> bool {
        ["unknown command", "unknown method", "unsupported operation"].iter().any(|code| self.is_code(code))
    }
}

impl From<CommandFault> for DriverError {
    fn from(fault: CommandFault) -> DriverError {
        match fault {
            CommandFault::Driver(error) => error,
            CommandFault::Coded { code, alert, message } if code == "unexpected alert open" => {
                let text = alert.filter(|text| !text.is_empty()).unwrap_or(message);
                let quoted = if text.is_empty() { String::new() } else { format!(": \"{text}\"") };
                DriverError::Refused { reason: format!("an alert is in the way{quoted}") }
            }
            CommandFault::Coded { code, message, .. }
                if code == "stale element reference" || code == "no such element" =>
            {
                let what = if message.is_empty() { code } else { message };
                DriverError::Evaded { how: format!("the element was replaced: {what}") }
            }
            CommandFault::Coded { code, message, .. } => {
                let reason =
                    if message.is_empty() { format!("Appium says: {code}") } else { format!("Appium says: {message}") };
                DriverError::Refused { reason }
            }
        }
    }
}
