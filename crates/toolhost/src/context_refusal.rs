//! Detects that a call failed because the server does not accept `_trailblazeContext`, the argument that we add.
//!
//! Some libraries refuse undeclared arguments although the tool's schema allows them. A call may be retried only if the
//! tool certainly did not run, so only the error texts of libraries that validate arguments before running the tool
//! count. A tool's own message that mentions the argument does not.

use serde_json::Value;

use crate::answer::first_text;
use crate::connection::{RequestError, RpcError};
use crate::envelope::ARGUMENT;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ContextRefusal {
    /// The arguments were refused before the tool ran.
    BeforeItRan,
    /// The error mentions the argument. The tool may have run.
    Maybe,
}

pub fn context_refusal(answered: &Result<Value, RequestError>) -> Option<ContextRefusal> {
    let (text, is_refused) = match answered {
        Err(RequestError::Refused(error)) => (error.message.as_str(), error.code == RpcError::INVALID_PARAMS),
        Ok(answer) if answer.get("isError") == Some(&Value::Bool(true)) => {
            let text = first_text(answer);
            (text, is_refused_by_pydantic(text))
        }
        _ => return None,
    };
    if !text.contains(ARGUMENT) {
        return None;
    }
    Some(if is_refused { ContextRefusal::BeforeItRan } else { ContextRefusal::Maybe })
}

/// Whether this is pydantic's error for an unexpected argument, raised before the function is called: the first line
/// has the number of errors and the function, then each argument is followed by its error. FastMCP returns it, in some
/// versions with a prefix.
fn is_refused_by_pydantic(text: &str) -> bool {
    let mut lines = text.lines();
    let head = lines.next().unwrap_or_default();
    let wrapped = head.strip_prefix("Error calling tool '").and_then(|head| head.split_once("': "));
    let head = wrapped.map_or(head, |(_, head)| head);
    let number = head.split(' ').next().unwrap_or_default();
    let is_about_a_call = head[number.len()..].starts_with(" validation error") && head.contains(" for call[");
    let mut errors = lines.clone().zip(lines.skip(1));
    number.parse::<u32>().is_ok()
        && is_about_a_call
        && errors.any(|(argument, error)| {
            argument == ARGUMENT && error.trim_start().contains("[type=unexpected_keyword_argument,")
        })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    const REFUSED: &str = "1 validation error for call[strict]\n_trailblazeContext\n  Unexpected keyword argument \
         [type=unexpected_keyword_argument, input_value={'memory': {}}, input_type=dict]\n    For further information \
         visit https://errors.pydantic.dev/2.14/v/unexpected_keyword_argument";

    #[track_caller]
    fn check(text: &str, expected: Option<ContextRefusal>) {
        let failed = |text: &str| json!({"content": [{"type": "text", "text": text}], "isError": true});
        assert_eq!(context_refusal(&Ok(failed(text))), expected, "{text}");
        let passed = json!({"content": [{"type": "text", "text": text}]});
        assert_eq!(context_refusal(&Ok(passed)), None, "a tool that passed refused nothing: {text}");
    }

    #[test]
    fn arguments_that_pydantic_refused_did_not_reach_the_tool() {
        check(REFUSED, Some(ContextRefusal::BeforeItRan));
        check(&format!("Error calling tool 'lib_strict': {REFUSED}"), Some(ContextRefusal::BeforeItRan));
        let both = REFUSED.replacen("1 validation error", "2 validation errors", 1).replacen(
            "\n_trail",
            "\nword\n  Missing required argument [type=missing_argument, input_value={}, input_type=dict]\n_trail",
            1,
        );
        check(&both, Some(ContextRefusal::BeforeItRan));
    }

    #[test]
    fn a_message_from_the_tool_itself_does_not_prove_that_it_did_not_run() {
        for text in [
            "_trailblazeContext",
            "paid, then failed: Unexpected keyword argument `_trailblazeContext`",
            "inner() got an unexpected keyword argument '_trailblazeContext'",
            "1 validation error for Order\n_trailblazeContext\n  Extra inputs are not permitted [type=extra_forbidden]",
            "1 validation error for call[pay]\nto\n  Field required [type=missing, input_value={'_trailblazeContext': {}}]",
        ] {
            check(text, Some(ContextRefusal::Maybe));
        }
        check(&format!("paid, then failed: {REFUSED}"), Some(ContextRefusal::Maybe));
        check("out of money", None);
        check("", None);
    }

    #[test]
    fn a_protocol_error_about_the_parameters_is_raised_before_the_tool_runs() {
        let refused = |code: i64, message: &str| context_refusal(&Err(RpcError::new(code, message).into()));
        let strict = "Invalid arguments: unrecognized key \"_trailblazeContext\"";
        assert_eq!(refused(RpcError::INVALID_PARAMS, strict), Some(ContextRefusal::BeforeItRan));
        assert_eq!(refused(-32603, strict), Some(ContextRefusal::Maybe));
        assert_eq!(refused(RpcError::INVALID_PARAMS, "unknown tool"), None);
    }
}
