//! Language models: whatever a provider answers is a reply that can be echoed, or an error; whatever a file of replies says can be
//! written again.

use serde_json::{Value, json};
use trailblaze_core::config::ProviderKind;
use trailblaze_core::model::{ChatMessage, ContentPart, ModelRequest, OfferedTool, RequestedCallResult};
use trailblaze_core::yaml::Source;
use trailblaze_models::Settings;
use trailblaze_models::api::{Api, ParsedReply, Quirks};
use trailblaze_models::canned::CannedReplies;

const KINDS: [ProviderKind; 5] = [
    ProviderKind::OpenAi,
    ProviderKind::OpenAiCompatible,
    ProviderKind::Anthropic,
    ProviderKind::Google,
    ProviderKind::Ollama,
];

/// Reads a response in every protocol, and continues the conversation if it is a reply.
pub fn model_answer(data: &[u8]) {
    let Ok(body) = serde_json::from_slice::<Value>(data) else { return };
    let tool = OfferedTool { name: "a.b".into(), description: String::new(), parameters: body.clone() };
    for kind in KINDS {
        let api = Api::of(kind).expect("it has a protocol");
        let settings = Settings::unlisted(kind.name(), "m");
        let mut request =
            ModelRequest { tools: [tool.clone()].into(), ..ModelRequest::new("x", vec![ChatMessage::user("y")]) };
        api.body(&settings, Quirks::default(), &request).expect("a short request can be written");
        let _ = api.error(&body);
        let Ok(ParsedReply::Reply(reply)) = api.answer(&settings, &request, &body) else { continue };
        assert!(reply.usage.input >= reply.usage.cached, "{:?}", reply.usage);
        let result = |id: &str, name: &str| RequestedCallResult {
            id: id.to_string(),
            name: name.to_string(),
            parts: vec![ContentPart::Text("ok".into())],
            is_error: false,
        };
        let results = reply.calls.iter().map(|call| result(&call.id, &call.name)).collect();
        request.messages.push(ChatMessage::Assistant(Box::new(reply)));
        request.messages.push(ChatMessage::Results(results));
        // Ollama refuses what is too long before it is sent.
        let _ = api.body(&settings, Quirks::default(), &request).map(|body| json!(body).to_string());
    }
}

/// Reads a file of replies: what was understood can be written and read again.
pub fn replies_read(data: &[u8]) {
    let source = Source::new("a.replies.yaml", String::from_utf8_lossy(data));
    let Ok(script) = CannedReplies::read(&source) else { return };
    // Writing may nest a value or lengthen a key beyond what is read.
    let Ok(text) = script.text() else { return };
    let again = CannedReplies::read(&Source::new("a.replies.yaml", text.as_str())).expect("it reads back");
    assert_eq!(again.text().as_deref(), Ok(text.as_str()));
}
