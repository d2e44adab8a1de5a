//! How long a request is, where nobody has counted its tokens.

use trailblaze_core::model::{Arguments, Message, Part, Reply, Request};

/// What a picture is assumed to take.
const PICTURE_TOKENS: u64 = 1_500;

/// About how many tokens a request has: a quarter of its characters. Pictures are not counted.
pub fn estimated_tokens(request: &Request) -> u64 {
    let tools: usize = request
        .tools
        .iter()
        .map(|tool| tool.name.len() + tool.description.chars().count() + tool.parameters.to_string().len())
        .sum();
    let messages: usize = request.messages.iter().map(message_chars).sum();
    to_tokens(tools + request.system.chars().count() + messages)
}

/// About how many tokens the pictures of a request take.
pub(crate) fn estimated_pictures(request: &Request) -> u64 {
    let in_parts = |parts: &[Part]| parts.iter().filter(|part| matches!(part, Part::Picture(_))).count();
    let pictures = request.messages.iter().map(|message| match message {
        Message::User(parts) => in_parts(parts),
        Message::Results(results) => results.iter().map(|result| in_parts(&result.parts)).sum(),
        Message::Assistant(_) => 0,
    });
    pictures.sum::<usize>() as u64 * PICTURE_TOKENS
}

/// About how many tokens a reply has.
pub(crate) fn estimated_output(reply: &Reply) -> u64 {
    to_tokens(reply_chars(reply))
}

fn to_tokens(n_chars: usize) -> u64 {
    n_chars.div_ceil(4) as u64
}

fn message_chars(message: &Message) -> usize {
    match message {
        Message::User(parts) => parts_chars(parts),
        Message::Assistant(reply) => reply_chars(reply),
        Message::Results(results) => results.iter().map(|result| result.name.len() + parts_chars(&result.parts)).sum(),
    }
}

fn parts_chars(parts: &[Part]) -> usize {
    let text = |part: &Part| match part {
        Part::Text(text) => text.chars().count(),
        Part::Picture(_) => 0,
    };
    parts.iter().map(text).sum()
}

fn reply_chars(reply: &Reply) -> usize {
    let arguments = |arguments: &Arguments| match arguments {
        Arguments::Object(map) => serde_json::to_string(map).map_or(0, |text| text.len()),
        Arguments::Malformed(text) => text.len(),
    };
    let calls = reply.calls.iter().map(|call| call.name.len() + arguments(&call.arguments));
    reply.text.chars().count() + calls.sum::<usize>()
}
