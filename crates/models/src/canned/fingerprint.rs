//! Digests of a request and of its parts, which tell whether two requests are the same and, if not, where they differ.

use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use trailblaze_core::model::{ChatMessage, ModelRequest, RequestedCallResult};

/// The digests of a request. Ids of calls, usage, and what a provider wants echoed are left out, because they differ in every
/// run and tell the model nothing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fingerprint {
    /// Of the whole request.
    pub request: String,
    pub tools: String,
    pub system: String,
    pub messages: Vec<String>,
    /// Of the limits and the choice of tools.
    pub options: String,
}

impl Fingerprint {
    pub fn of(request: &ModelRequest) -> Fingerprint {
        let tools = digest(&json!(request.tools));
        let system = digest(&json!(request.system));
        let messages: Vec<String> = request.messages.iter().map(|message| digest(&canonical(message))).collect();
        let options = digest(&json!({
            "choice": request.choice,
            "maxOutputTokens": request.max_output_tokens,
            "temperature": request.temperature,
            "stopSequences": request.stop_sequences,
        }));
        let whole = digest(&json!([tools, system, messages, options]));
        Fingerprint { request: whole, tools, system, messages, options }
    }

    /// The first part in which `other` differs.
    pub fn difference(&self, other: &Fingerprint) -> Option<String> {
        if self.tools != other.tools {
            return Some("the tools differ".to_string());
        }
        if self.system != other.system {
            return Some("the system prompt differs".to_string());
        }
        let n_alike = self.messages.iter().zip(&other.messages).take_while(|(own, other)| own == other).count();
        let (n_own, n_other) = (self.messages.len(), other.messages.len());
        match () {
            () if n_alike < n_own.min(n_other) => Some(format!("message {} differs", n_alike + 1)),
            () if n_own != n_other => Some(format!("it has {n_other} messages instead of {n_own}")),
            () if self.options != other.options => Some("the choice of tools or a limit differs".to_string()),
            () => None,
        }
    }
}

fn canonical(message: &ChatMessage) -> Value {
    match message {
        ChatMessage::User(parts) => json!({"user": parts}),
        ChatMessage::Assistant(reply) => {
            let calls: Vec<Value> =
                reply.calls.iter().map(|call| json!({"name": call.name, "arguments": call.arguments})).collect();
            json!({"assistant": {"text": reply.text, "calls": calls}})
        }
        ChatMessage::Results(results) => {
            let result = |result: &RequestedCallResult| json!({"name": result.name, "parts": result.parts, "isError": result.is_error});
            json!({"results": results.iter().map(result).collect::<Vec<_>>()})
        }
    }
}

fn digest(value: &Value) -> String {
    let digest: [u8; 32] = Sha256::digest(value.to_string()).into();
    digest[..16].iter().map(|byte| format!("{byte:02x}")).collect()
}
