//! How long a request is, where nobody has counted its tokens.

use trailblaze_core::model::{ChatMessage, ContentPart, ModelReply, ModelRequest, RequestedArguments};

/// What a picture is assumed to take.
const PICTURE_TOKENS: u64 = 1_500;

/// About how many tokens a request has: a quarter of its characters. Pictures are not counted.
pub fn estimated_tokens(request: &ModelRequest) -> u64 {
    let tools: usize = request
        .tools
        .iter()
        .map(|tool| tool.name.len() + tool.description.chars().count() + tool.parameters.to_string().len())
        .sum();
    let messages: usize = request.messages.iter().map(message_chars).sum();
    to_tokens(tools + request.system.chars().count() + messages)
}

/// About how many tokens the pictures of a request take.
pub(crate) fn estimated_pictures(request: &ModelRequest) -> u64 {
    let in_parts = |parts: &[ContentPart]| parts.iter().filter(|part| matches!(part, ContentPart::Picture(_))).count();
    let pictures = request.messages.iter().map(|message| match message {
        ChatMessage::User(parts) => in_parts(parts),
        ChatMessage::Results(results) => results.iter().map(|result| in_parts(&result.parts)).sum(),
        ChatMessage::Assistant(_) => 0,
    });
    pictures.sum::<usize>() as u64 * PICTURE_TOKENS
}

/// About how many tokens a reply has.
pub(crate) fn estimated_output(reply: &ModelReply) -> u64 {
    to_tokens(reply_chars(reply))
}

fn to_tokens(n_chars: usize) -> u64 {
    n_chars.div_ceil(4) as u64
}

fn message_chars(message: &ChatMessage) -> usize {
    match message {
        ChatMessage::User(parts) => parts_chars(parts),
        ChatMessage::Assistant(reply) => reply_chars(reply),
        ChatMessage::Results(results) => {
            results.iter().map(|result| result.name.len() + parts_chars(&result.parts)).sum()
        }
    }
}

fn parts_chars(parts: &[ContentPart]) -> usize {
    let text = |part: &ContentPart| match part {
        ContentPart::Text(text) => text.chars().count(),
        ContentPart::Picture(_) => 0,
    };
    parts.iter().map(text).sum()
}

fn reply_chars(reply: &ModelReply) -> usize {
    let arguments = |arguments: &RequestedArguments| match arguments {
        RequestedArguments::Object(map) => serde_json::to_string(map).map_or(0, |text| text.len()),
        RequestedArguments::Malformed(text) => text.len(),
    };
    let calls = reply.calls.iter().map(|call| call.name.len() + arguments(&call.arguments));
    reply.text.chars().count() + calls.sum::<usize>()
}
