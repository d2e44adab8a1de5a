//! The answers to calls: text for the model, failures that say what to do next, and errors of the protocol.

use rmcp::ErrorData;
use rmcp::model::{CallToolResult, ContentBlock};
use serde_json::json;
use trailblaze_protocol::exit::Exit;

use crate::sessions::service::{ServiceAnswer, ServiceError};

/// The longest text that a model is sent, in characters.
pub const LONGEST: usize = 20_000;

/// The content of an answer, or why there is none.
pub type McpCallResult = Result<Vec<ContentBlock>, McpCallError>;

#[derive(Debug)]
pub enum McpCallError {
    /// The call failed, or its arguments are wrong. The model reads the text.
    Failed(String),
    /// The environment broke, or the request could not be routed.
    Broken(ErrorData),
}

impl McpCallError {
    pub fn failed(text: impl Into<String>) -> McpCallError {
        McpCallError::Failed(text.into())
    }

    /// A failure of the given kind, as the edges of the program report it.
    pub fn of_exit(exit: Exit, message: String) -> McpCallError {
        let message = in_arguments(&message);
        match exit {
            Exit::Passed | Exit::Failed | Exit::Invalid => McpCallError::Failed(message),
            Exit::Environment => McpCallError::Broken(ErrorData::internal_error(message, Some(json!({"exit": exit})))),
            Exit::Bug => {
                let message = format!("{message} (this is a bug in Trailblaze)");
                McpCallError::Broken(ErrorData::internal_error(message, Some(json!({"exit": exit}))))
            }
        }
    }

    /// The service answered with something else than its contract says.
    pub fn unexpected(answer: &ServiceAnswer) -> McpCallError {
        let name = format!("{answer:?}");
        let name = name.split(['(', ' ', '{']).next().unwrap_or_default().to_string();
        McpCallError::of_exit(Exit::Bug, format!("unexpected answer `{name}`"))
    }
}

impl From<ServiceError> for McpCallError {
    fn from(error: ServiceError) -> McpCallError {
        let ServiceError { message, hint, exit, .. } = error;
        McpCallError::of_exit(exit, with_hint(message, hint.as_deref()))
    }
}

/// A message for people at a command line, for a model that passes arguments.
fn in_arguments(hint: &str) -> String {
    let words = [
        ("`--session NAME`, or TRAILBLAZE_SESSION", "`session`"),
        ("`--session ", "`session: "),
        ("`--append`", "`merge: append`"),
        ("`--force`", "`merge: replace`"),
    ];
    let hint = words.iter().fold(hint.to_string(), |hint, (from, to)| hint.replace(from, to));
    // Every second part is code.
    let parts = hint.split('`').enumerate().map(|(at, part)| if at % 2 == 1 { in_tools(part) } else { part });
    let hint = parts.collect::<Vec<_>>().join("`");
    match hint.split_once("`-d ").and_then(|(before, rest)| Some((before, rest.split_once('`')?))) {
        Some((before, (device, after))) => {
            format!(r#"{before}`session` {{"action":"open","device":"{device}"}}{after}"#)
        }
        None => hint,
    }
}

/// A command, as a tool and its action.
fn in_tools(command: &str) -> &str {
    const TOOLS: [(&str, &str); 5] = [
        ("trailblaze device list", "devices"),
        ("trailblaze device connect", "session` `open"),
        ("trailblaze session close", "session` `close"),
        ("trailblaze session list", "session` `list"),
        ("trailblaze toolbox", "toolbox"),
    ];
    if command.starts_with("trailblaze ") && command.contains("--take-over") {
        return "takeOver";
    }
    TOOLS.iter().find(|(start, _)| command.starts_with(start)).map_or(command, |(_, tool)| tool)
}

pub fn with_hint(message: String, hint: Option<&str>) -> String {
    match hint {
        Some(hint) => format!("{message}\nhint: {hint}"),
        None => message,
    }
}

/// An answer that consists of text.
pub fn text(text: impl AsRef<str>) -> Vec<ContentBlock> {
    vec![ContentBlock::text(cut(text.as_ref(), "ask for less"))]
}

/// A text that is not too long for a model; `advice` says how to get less.
pub fn cut(text: &str, advice: &str) -> String {
    match text.char_indices().nth(LONGEST) {
        None => text.to_string(),
        Some((end, _)) => {
            let n_left = text[end..].chars().count();
            format!("{}\n… ({n_left} more characters; {advice})", &text[..end])
        }
    }
}

pub fn result(answer: McpCallResult) -> Result<CallToolResult, ErrorData> {
    match answer {
        Ok(content) => Ok(CallToolResult::success(content)),
        Err(McpCallError::Failed(message)) => Ok(CallToolResult::error(text(message))),
        Err(McpCallError::Broken(error)) => Err(error),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hints_name_arguments() {
        assert_eq!(
            in_arguments("choose one, such as `-d web/chromium`"),
            r#"choose one, such as `session` {"action":"open","device":"web/chromium"}"#
        );
        assert_eq!(in_arguments("name one: `--session NAME`, or TRAILBLAZE_SESSION"), "name one: `session`");
        assert_eq!(
            in_arguments("end it (`trailblaze session close a`), or `trailblaze device connect -d b/c --take-over`"),
            "end it (`session` `close`), or `takeOver`"
        );
    }

    #[test]
    fn a_long_text_is_cut_at_a_character() {
        let long = "ä".repeat(LONGEST + 3);
        let shown = cut(&long, "use `find`");
        assert!(shown.ends_with("\n… (3 more characters; use `find`)"), "{}", &shown[shown.len() - 60..]);
        assert_eq!(cut("short", ""), "short");
    }
}
