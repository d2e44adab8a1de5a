//! Where the values of secrets may go. This is checked when an action is about to be sent to the device, against the document that it
//! would reach: a frame may belong to somebody else than its page.

use std::collections::BTreeSet;

use crate::driver::{
    Action, ActionTarget, Browse, Budget, DeviceCommand, Driver, DriverError, NetworkRule, PageWorldCommand,
};
use crate::engine::cx::Cx;
use crate::engine::reveal::{self, Sent};
use crate::values::origin::{BLANK, origin};
use crate::values::secret::Secrets;

/// The documents that a secret may reach, and what to say if it would reach another one.
struct DestinationRule {
    origins: BTreeSet<String>,
    refusal: Box<dyn Fn(&str) -> String + Send>,
}

/// Refuses what would send a secret to a document that it is not for.
pub async fn check(cx: &Cx, driver: &dyn Driver, sent: Sent<'_>, budget: &Budget) -> Result<(), DriverError> {
    let secrets = &cx.session.secrets;
    if secrets.is_empty() {
        return Ok(());
    }
    let names = reveal::secrets_in(secrets, &sent);
    let for_model = cx.pages().secrets_go_to.clone();
    let is_restoring =
        matches!(sent, Sent::Command(DeviceCommand::Browse(Browse::Restore { .. }) | DeviceCommand::World(_)));
    if for_model.is_some() && !names.is_empty() && is_restoring {
        let reason = "a model may type secrets, but not put them into cookies, storage or the network".to_string();
        return Err(DriverError::Refused { reason });
    }
    let mut rules: Vec<DestinationRule> = names.iter().flat_map(|name| rules(cx, secrets, name)).collect();
    // What the clipboard contains is not known here.
    let is_pasting = matches!(sent, Sent::Command(DeviceCommand::PasteClipboard));
    if types(sent) && !names.is_empty() || is_pasting {
        rules.extend(for_model.map(|origins| DestinationRule { origins, refusal: Box::new(not_of_app) }));
    }
    if rules.is_empty() {
        return Ok(());
    }
    let Some(reached) = reached(driver, sent, budget).await?.filter(|origin| origin != BLANK) else {
        return Ok(());
    };
    match rules.iter().find(|rule| !rule.origins.contains(&reached)) {
        Some(rule) => Err(DriverError::Refused { reason: (rule.refusal)(&reached) }),
        None => Ok(()),
    }
}

fn types(sent: Sent<'_>) -> bool {
    matches!(sent, Sent::Action(_, Action::InputText { .. } | Action::SetText { .. } | Action::Choose { .. }))
}

/// The origin of the document that it would reach: the one that it opens, or the one that it is done in.
async fn reached(driver: &dyn Driver, sent: Sent<'_>, budget: &Budget) -> Result<Option<String>, DriverError> {
    let opened = match sent {
        Sent::Command(DeviceCommand::OpenUrl { url } | DeviceCommand::LaunchApp { app: url, .. }) => origin(url),
        Sent::Command(DeviceCommand::Browse(Browse::NewTab { url })) => url.as_deref().and_then(origin),
        Sent::Command(DeviceCommand::World(command)) => match command {
            PageWorldCommand::SetCredentials { origin: url, .. } => origin(url),
            PageWorldCommand::LocalStorage { origin: url } | PageWorldCommand::SetLocalStorage { origin: url, .. } => {
                url.as_deref().and_then(origin)
            }
            PageWorldCommand::AddRule(NetworkRule { pattern, .. }) => origin(&pattern.url),
            _ => None,
        },
        _ => None,
    };
    let target = match sent {
        Sent::Action(target, _) => target,
        Sent::Command(_) => &ActionTarget::Device,
    };
    match opened {
        Some(opened) => Ok(Some(opened)),
        None => driver.origin(budget, target).await,
    }
}

/// What limits a secret in this call, whoever makes it.
fn rules(cx: &Cx, secrets: &Secrets, name: &str) -> Vec<DestinationRule> {
    let of_target =
        || cx.session.registry().own_urls.iter().filter_map(|url| origin(url)).collect::<BTreeSet<String>>();
    let mut rules = Vec::new();
    if let Some(origins) = secrets.limit_of(name) {
        let origins =
            if origins.is_empty() { of_target() } else { origins.iter().filter_map(|url| origin(url)).collect() };
        let hint = match origins.len() {
            0 => format!("list its pages in trailblaze.yaml, as in `secrets: {{{name}: [https://shop.example]}}`"),
            _ => format!("its pages are {}", origins.iter().cloned().collect::<Vec<_>>().join(", ")),
        };
        let name = name.to_string();
        let refusal = move |page: &str| format!("the secret `{name}` may not be used on {page}; {hint}");
        rules.push(DestinationRule { origins, refusal: Box::new(refusal) });
    }
    let server = cx.frames().find_map(|frame| frame.source.clone());
    if let Some(server) = server.filter(|server| !server.secrets().iter().any(|listed| listed == name)) {
        let origins = of_target();
        let (server, name) = (server.name().to_string(), name.to_string());
        let refusal = move |page: &str| {
            format!(
                "server `{server}` does not list the secret `{name}`, so it is not typed into the page at {page}, which is not part \
                 of the target; `allowed_urls:` of the target or `secrets: [{name}]` in the entry of `{server}` allows it"
            )
        };
        // Without URLs, the target does not say which pages are part of it.
        if !origins.is_empty() {
            rules.push(DestinationRule { origins, refusal: Box::new(refusal) });
        }
    }
    rules
}

fn not_of_app(page: &str) -> String {
    format!(
        "the field belongs to {page}, which is not part of the app, so no secret is typed there; the target may allow it with \
         `allowed_urls:`"
    )
}
