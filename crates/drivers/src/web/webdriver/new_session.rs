//! Getting a session: again and again while the endpoint has none to give, and with words if it never has.

use std::sync::Arc;
use std::time::Duration;

use hyper::Method;
use serde_json::{Value, json};
use tokio::sync::oneshot;
use tokio::time::{Instant, timeout};
use trailblaze_core::driver::{Budget, DriverError};

use super::endings::SessionEndings;
use super::error::EndpointError;
use super::http::{EndpointAddress, WebDriverHttp, WebDriverRequest};
use super::session::{WebDriverSession, end_session};

/// The pause before another try, doubled each time up to the longest.
const FIRST_PAUSE: Duration = Duration::from_millis(500);
const LONGEST_PAUSE: Duration = Duration::from_secs(8);
/// How often a session is asked for that an endpoint does not create, without saying that it will later.
const REFUSALS: u32 = 2;
/// How long an endpoint may take to say how busy it is.
const STATUS: Duration = Duration::from_secs(5);
/// The longest id of a session.
const ID: usize = 200;

/// Asks for a session until there is one, or the budget ends. `endings` also ends one that comes when this program has ended; without
/// them, what has the session ends with this program.
pub async fn new_session(
    http: &Arc<WebDriverHttp>,
    wanted: &Value,
    endings: Option<&SessionEndings>,
    budget: &Budget,
) -> Result<WebDriverSession, DriverError> {
    let started = Instant::now();
    let not_started = |evidence: String| DriverError::NotStarted { evidence };
    let (mut pause, mut n_refused) = (FIRST_PAUSE, 0);
    // Why the last try failed; until then, the endpoint has not answered.
    let mut last: Option<EndpointError> = None;
    loop {
        let error = match budget.run("a session", ask(http, wanted, endings)).await {
            Ok(Ok(value)) => return opened(http, &value).map_err(|error| not_started(error.to_string())),
            Ok(Err(error)) => error,
            Err(DriverError::TimedOut { .. }) => {
                return Err(not_started(explain_wait(http, last.as_ref(), started).await));
            }
            Err(error) => return Err(error),
        };
        let is_busy = says_later(&error);
        n_refused += u32::from(!is_busy);
        if !is_busy && (is_final(&error) || n_refused > REFUSALS) {
            return Err(not_started(explain_refusal(&error, wanted)));
        }
        if Instant::now() + pause >= budget.deadline {
            return Err(not_started(explain_wait(http, Some(&error), started).await));
        }
        last = Some(error);
        budget.run("a session", tokio::time::sleep(pause)).await?;
        pause = (pause * 2).min(LONGEST_PAUSE);
    }
}

/// Asks once. A session that comes when nobody waits for it any more is ended.
async fn ask(
    http: &Arc<WebDriverHttp>,
    wanted: &Value,
    endings: Option<&SessionEndings>,
) -> Result<Value, EndpointError> {
    let body = json!({"capabilities": {"alwaysMatch": wanted, "firstMatch": [{}]}});
    if let Some(endings) = endings
        && let Some(answer) = endings.ask(http.address(), &body).await
    {
        return answer;
    }
    let (sender, answered) = oneshot::channel();
    let asked = Arc::clone(http);
    // Detached: ends when the endpoint has answered, and what it gave is in use or ended.
    tokio::spawn(async move {
        let answer = asked.send(asking(body)).await;
        if let Err(Ok(value)) = sender.send(answer)
            && let Some(id) = session_id(&value)
        {
            let _ = end_session(&asked, id).await;
        }
    });
    answered.await.unwrap_or_else(|_| Err(not_answered(http.address(), "the program ends")))
}

/// The request for a session.
pub fn asking(body: Value) -> WebDriverRequest {
    WebDriverRequest {
        method: Method::POST,
        path: "/session".to_string(),
        shown: "/session".to_string(),
        body: Some(body),
        is_repeatable: false,
    }
}

/// What becomes of a request for a session whose answer cannot come any more.
pub fn not_answered(address: &EndpointAddress, why: &str) -> EndpointError {
    let (address, doing) = (address.shown().to_string(), "POST /session".to_string());
    EndpointError::BrokeOff { address, doing, why: why.to_string() }
}

/// The id of the session that an endpoint has made. It becomes part of a path, so that it must not be able to change it.
pub fn session_id(value: &Value) -> Option<&str> {
    let id = value.get("sessionId")?.as_str()?;
    let is_sign = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.' | b':');
    let is_valid = !id.is_empty() && id.len() <= ID && !id.starts_with('.') && id.bytes().all(is_sign);
    is_valid.then_some(id)
}

fn opened(http: &Arc<WebDriverHttp>, value: &Value) -> Result<WebDriverSession, EndpointError> {
    let Some(id) = session_id(value) else {
        return Err(EndpointError::NotWebDriver {
            address: http.address().shown().to_string(),
            doing: "POST /session".to_string(),
            what: "no id of a session, as before the W3C standard".to_string(),
        });
    };
    let capabilities = value.get("capabilities").cloned().unwrap_or_default();
    Ok(WebDriverSession::new(Arc::clone(http), id.to_string(), capabilities))
}

/// Whether the endpoint has no session now, but may have one later. There is no code for that.
fn says_later(error: &EndpointError) -> bool {
    match error {
        EndpointError::Failed { code, message, .. } if code == "session not created" || code == "unknown error" => {
            let message = message.to_lowercase();
            let signs =
                ["queue", "parallel", "maximum", "limit", "busy", "no free", "no available", "in use", "too many"];
            signs.iter().any(|sign| message.contains(sign))
        }
        error => error.is_passing() || matches!(error, EndpointError::Unreachable { .. }),
    }
}

/// Whether asking again cannot help.
fn is_final(error: &EndpointError) -> bool {
    match error {
        EndpointError::Failed { code, message, .. } if code == "session not created" => {
            let message = message.to_lowercase();
            ["no matching", "no nodes support", "cannot find", "unable to find", "not supported", "no chrome binary"]
                .iter()
                .any(|sign| message.contains(sign))
        }
        _ => true,
    }
}

fn explain_refusal(error: &EndpointError, wanted: &Value) -> String {
    match error {
        EndpointError::Failed { code, .. } if code == "session not created" || code == "invalid argument" => {
            let names: Vec<&str> = wanted.as_object().into_iter().flatten().map(|(name, _)| name.as_str()).collect();
            format!("{error}; no session has all that `capabilities:` ask for ({})", names.join(", "))
        }
        error => error.to_string(),
    }
}

/// What was waited for in vain.
async fn explain_wait(http: &WebDriverHttp, last: Option<&EndpointError>, started: Instant) -> String {
    let seconds = started.elapsed().as_secs();
    let address = http.address().shown();
    if let Some(error @ EndpointError::Unreachable { .. }) = last {
        return format!("{error} (tried for {seconds} s)");
    }
    let status = WebDriverRequest {
        method: Method::GET,
        path: "/status".to_string(),
        shown: "/status".to_string(),
        body: None,
        is_repeatable: true,
    };
    let status = timeout(STATUS, http.send(status)).await.ok().and_then(Result::ok);
    let busy = status
        .as_ref()
        .and_then(slots)
        .map_or_else(String::new, |(n_used, n_slots)| format!("; {n_used} of its {n_slots} slots are in use"));
    let said = last.map(|error| format!("; it said last: {error}")).unwrap_or_default();
    format!(
        "{address} gave no session within {seconds} s{busy}{said}; ask for fewer `slots:`, or wait longer with `sessionWait:`"
    )
}

/// How many slots of a Selenium Grid are in use, and how many it has.
fn slots(status: &Value) -> Option<(usize, usize)> {
    let nodes = status.get("nodes")?.as_array()?;
    let slots = nodes.iter().filter_map(|node| node.get("slots")?.as_array()).flatten();
    let (mut n_used, mut n_slots) = (0, 0);
    for slot in slots {
        n_slots += 1;
        n_used += usize::from(slot.get("session").is_some_and(|session| !session.is_null()));
    }
    (n_slots > 0).then_some((n_used, n_slots))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn failed(code: &str, message: &str) -> EndpointError {
        let (code, message) = (code.to_string(), message.to_string());
        EndpointError::Failed { code, doing: "POST /session".to_string(), message, alert: None }
    }

    #[test]
    fn a_full_grid_is_asked_again_and_one_that_has_no_such_browser_is_not() {
        for later in [
            failed("session not created", "Could not start a new session. New session request timed out in queue"),
            failed("unknown error", "All parallel tests are currently in use"),
            failed("session not created", "Maximum number of active sessions"),
        ] {
            assert!(says_later(&later), "{later}");
        }
        let never = failed("session not created", "No nodes support the capabilities in the request");
        assert!(!says_later(&never) && is_final(&never));
        let words = explain_refusal(&never, &json!({"browserName": "opera", "platformName": "amiga"}));
        assert!(
            words.ends_with("no session has all that `capabilities:` ask for (browserName, platformName)"),
            "{words}"
        );
    }

    #[test]
    fn the_status_of_a_grid_says_how_busy_it_is() {
        let slot = |session: Value| json!({"session": session});
        let node = |slots: Vec<Value>| json!({"slots": slots});
        let status = json!({"nodes": [node(vec![slot(json!({})), slot(Value::Null)]), node(vec![slot(json!({}))])]});
        assert_eq!(slots(&status), Some((2, 3)));
        assert_eq!(slots(&json!({"ready": true})), None);
    }
}
