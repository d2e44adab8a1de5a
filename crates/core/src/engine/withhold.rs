//! Keeps secrets from tool servers that do not list them. A call that such a server makes, as a delegate or a callback, may
//! type a secret into a field of the app, and do nothing else with it.

use serde_json::Value;

use crate::engine::cx::Cx;
use crate::engine::fault::Stop;
use crate::engine::tool::{Args, Body, Tool};

/// Refuses a call, made for a server, that would use a secret which the server does not list for anything but typing.
/// `destination` checks where it is typed.
pub fn withhold(cx: &Cx, tool: &Tool, args: &Args) -> Result<(), Stop> {
    let secrets = &cx.session.secrets;
    if secrets.is_empty() {
        return Ok(());
    }
    let receiver = match &tool.body {
        Body::BuiltIn(_) => None,
        Body::Foreign(source) => Some(source),
        // They pass templates on to calls, which are checked in turn.
        Body::Expansion(_) | Body::Code(_) | Body::Effects(_) => return Ok(()),
    };
    // The first frame is that of the call itself.
    let Some(author) = cx.frames().skip(1).find_map(|frame| frame.source.as_ref()) else { return Ok(()) };
    let lists = |names: &[String], name: &str| names.iter().any(|listed| listed == name);
    // Another server that does not list it gets the template.
    let is_withheld =
        |name: &str| !lists(author.secrets(), name) && receiver.is_none_or(|receiver| lists(receiver.secrets(), name));
    let withheld_in = |value: &Value| secrets.sealed_in_value(value, &is_withheld);
    for (param, value) in &args.0 {
        let Some(name) = withheld_in(value) else { continue };
        if tool.typed_param != Some(param.as_str()) {
            return Err(Stop::failed(format!(
                "server `{server}` does not list the secret `{name}`, so its tools may only type it into a field, not pass it \
                 to `{param}` of `{}`; `secrets: [{name}]` in the entry of `{server}` allows it",
                tool.name,
                server = author.name(),
            )));
        }
    }
    Ok(())
}
