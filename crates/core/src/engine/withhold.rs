//! Keeps secrets from tool servers that do not list them. A call that such a server makes, as a delegate or a callback, may
//! type a secret into a field of the app, and do nothing else with it.

use serde_json::Value;

use crate::engine::cx::Cx;
use crate::engine::fault::Stop;
use crate::engine::registry::Registry;
use crate::engine::tool::{Args, Body, Tool};
use crate::values::origin::origin;

/// A secret that a call types for a server that does not list it.
pub struct TypedSecret {
    name: String,
    server: String,
}

/// Refuses a call, made for a server, that would use a secret which the server does not list for anything but typing.
/// Returns the secret that it types.
pub fn withhold(cx: &Cx, tool: &Tool, args: &Args) -> Result<Option<TypedSecret>, Stop> {
    let secrets = &cx.session.secrets;
    if secrets.is_empty() {
        return Ok(None);
    }
    let receiver = match &tool.body {
        Body::BuiltIn(_) => None,
        Body::Foreign(source) => Some(source),
        // They pass templates on to calls, which are checked in turn.
        Body::Expansion(_) | Body::Code(_) | Body::Effects(_) => return Ok(None),
    };
    // The first frame is that of the call itself.
    let Some(author) = cx.frames().skip(1).find_map(|frame| frame.source.as_ref()) else { return Ok(None) };
    let lists = |names: &[String], name: &str| names.iter().any(|listed| listed == name);
    // Another server that does not list it gets the template.
    let is_withheld =
        |name: &str| !lists(author.secrets(), name) && receiver.is_none_or(|receiver| lists(receiver.secrets(), name));
    let withheld_in = |value: &Value| secrets.sealed_in_value(value, &is_withheld);
    let mut typed = None;
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
        typed = Some(TypedSecret { name, server: author.name().to_string() });
    }
    Ok(typed)
}

impl TypedSecret {
    /// Refuses to type it into a page that is not part of the app, if the target says which pages are.
    pub async fn check_page(&self, cx: &Cx, registry: &Registry) -> Result<(), Stop> {
        let own: Vec<String> = registry.own_urls.iter().filter_map(|url| origin(url)).collect();
        if own.is_empty() {
            return Ok(());
        }
        let page = cx.session.device.look(cx).await?.app;
        match page.as_deref().and_then(origin) {
            Some(other) if !own.contains(&other) => Err(Stop::failed(format!(
                "server `{server}` does not list the secret `{name}`, so it is not typed into the page at {other}, which is not \
                 part of the target; `allowed_urls:` of the target or `secrets: [{name}]` in the entry of `{server}` allows it",
                server = self.server,
                name = self.name,
            ))),
            _ => Ok(()),
        }
    }
}
