//! What the entry of a device says about its endpoint.

use std::time::Duration;

use serde_json::Value;
use trailblaze_core::table;
use trailblaze_http::ProxySettings;

use super::artifacts::{ArtifactPlace, SESSION_ID};
use super::http::{EndpointAddress, EndpointKey};
use crate::provider::Machine;

/// The number of sessions of an endpoint, if its entry does not say it.
pub const SLOTS: u32 = 1;
/// The most sessions that one run may have at an endpoint.
const MOST_SLOTS: u32 = 5000;
/// How long a session may take to get, if its entry does not say it.
pub const SESSION_WAIT: Duration = Duration::from_secs(120);

/// How long it may take to say why there is no session.
pub const EXPLAINING: Duration = Duration::from_secs(10);

table! {
    /// Who we are for a WebDriver endpoint.
    pub struct EndpointCredentials {
        /// The name of the user; without one, the key is sent as a bearer token.
        "user" => user: Option<String> = None,
        /// The environment variable that contains the key or password.
        "env_var" => env_var: Option<String> = None,
    }
}

/// An endpoint, and what its sessions are like.
#[derive(Clone, PartialEq)]
pub struct EndpointSettings {
    pub address: EndpointAddress,
    pub capabilities: Value,
    pub artifacts: Vec<ArtifactPlace>,
}

/// Capabilities may contain a key.
impl std::fmt::Debug for EndpointSettings {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("EndpointSettings").field("address", &self.address).finish_non_exhaustive()
    }
}

/// What the entry of a device says, before the variables that it names are known.
#[derive(Clone, PartialEq)]
pub struct EndpointEntry {
    pub url: String,
    pub capabilities: Value,
    pub credentials: Option<EndpointCredentials>,
    /// How many sessions it may have at a time.
    pub slots: u32,
    pub session_wait: Duration,
    /// The names and addresses of files that the endpoint keeps of each session.
    pub artifacts: Vec<(String, String)>,
}

/// An address may contain a password, and capabilities a key.
impl std::fmt::Debug for EndpointEntry {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("EndpointEntry").field("slots", &self.slots).finish_non_exhaustive()
    }
}

impl EndpointEntry {
    /// What is wrong with the entry, as far as that can be said without variables.
    pub fn check(&self) -> Result<(), String> {
        if !(1..=MOST_SLOTS).contains(&self.slots) {
            return Err(format!("its `slots` is a number from 1 to {MOST_SLOTS}"));
        }
        if !self.capabilities.is_object() {
            return Err("its `capabilities:` must be a mapping".to_string());
        }
        for (name, url) in &self.artifacts {
            if !url.contains(SESSION_ID) {
                return Err(format!("the address of `{name}` in its `artifacts:` needs {SESSION_ID}"));
            }
            let read = EndpointAddress::with_query(&url.replace(SESSION_ID, "id"));
            if let Err(why) = read
                && !url.contains("{{")
            {
                return Err(format!("`{name}` in its `artifacts:` is no address: {why}"));
            }
        }
        match self.url.contains("{{") {
            true => Ok(()),
            false => address(&self.url, None).map(drop),
        }
    }

    /// `variable` is an environment variable.
    pub fn resolve(&self, variable: &dyn Fn(&str) -> Option<String>) -> Result<EndpointSettings, String> {
        let key = self.credentials.as_ref().and_then(|given| Some((given, given.env_var.as_deref()?)));
        let key = key.map(|(given, name)| {
            let value = variable(name).filter(|value| !value.is_empty());
            let missing = || format!("its `credentials:` need the environment variable {name}, which is not set");
            let value = value.ok_or_else(missing)?;
            Ok::<_, String>(match &given.user {
                Some(user) => EndpointKey::Basic { user: fill(user, variable)?, password: value },
                None => EndpointKey::Bearer(value),
            })
        });
        let address = address(&fill(&self.url, variable)?, key.transpose()?.as_ref())?;
        let artifact = |(name, shown): &(String, String)| {
            let (name, url, shown) = (name.clone(), fill(shown, variable)?, without_key(shown));
            Ok::<_, String>(ArtifactPlace { name, url, shown })
        };
        let artifacts = self.artifacts.iter().map(artifact).collect::<Result<_, _>>()?;
        Ok(EndpointSettings { address, capabilities: fill_all(&self.capabilities, variable)?, artifacts })
    }
}

/// An address without the credentials before its `@`, for messages.
fn without_key(url: &str) -> String {
    let (scheme, rest) = url.split_once("://").unwrap_or_default();
    let (authority, path) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
    let host = authority.rsplit_once('@').map_or(authority, |(_, host)| host);
    format!("{scheme}://{host}{path}")
}

/// The proxies of the environment.
pub fn proxies(machine: &Machine) -> ProxySettings {
    let text = |upper: &str| {
        let value = machine.var(upper).or_else(|| machine.var(&upper.to_lowercase()));
        value.unwrap_or_default().to_string_lossy().into_owned()
    };
    ProxySettings { https: text("HTTPS_PROXY"), http: text("HTTP_PROXY"), all: text("ALL_PROXY"), no: text("NO_PROXY") }
}

fn address(url: &str, key: Option<&EndpointKey>) -> Result<EndpointAddress, String> {
    let address = EndpointAddress::parse(url, key, &[]);
    address.map_err(|why| format!("its `webdriver:` is no address of an endpoint: {why}"))
}

/// Replaces `{{NAME}}` by environment variables, in all texts of a value.
fn fill_all(value: &Value, variable: &dyn Fn(&str) -> Option<String>) -> Result<Value, String> {
    Ok(match value {
        Value::String(text) => Value::String(fill(text, variable)?),
        Value::Array(items) => items.iter().map(|item| fill_all(item, variable)).collect::<Result<_, _>>()?,
        Value::Object(entries) => {
            let filled = entries.iter().map(|(name, value)| Ok((name.clone(), fill_all(value, variable)?)));
            Value::Object(filled.collect::<Result<_, String>>()?)
        }
        other => other.clone(),
    })
}

fn fill(text: &str, variable: &dyn Fn(&str) -> Option<String>) -> Result<String, String> {
    let mut filled = String::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once("{{") {
        let Some((name, after)) = after.split_once("}}") else { break };
        let name = name.trim();
        let value = variable(name);
        filled.push_str(before);
        filled.push_str(&value.ok_or_else(|| format!("it needs the environment variable {name}, which is not set"))?);
        rest = after;
    }
    filled.push_str(rest);
    Ok(filled)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn keys_come_from_the_environment() {
        let variable = |name: &str| (name == "GRID_KEY").then(|| "s3cret".to_string());
        let read = |url: &str, capabilities: Value| {
            let (url, slots, session_wait) = (url.to_string(), SLOTS, SESSION_WAIT);
            let artifacts = Vec::new();
            let entry = EndpointEntry { url, capabilities, credentials: None, slots, session_wait, artifacts };
            entry.resolve(&variable).map(|settings| settings.capabilities)
        };
        let options = json!({"sauce:options": {"accessKey": "{{GRID_KEY}}", "build": 7}});
        assert_eq!(
            read("https://hub.example", options),
            Ok(json!({"sauce:options": {"accessKey": "s3cret", "build": 7}}))
        );
        let missing = read("https://{{HOST}}", json!({})).unwrap_err();
        assert_eq!(missing, "it needs the environment variable HOST, which is not set");
        let wrong = read("hub.example", json!({})).unwrap_err();
        assert!(wrong.starts_with("its `webdriver:` is no address of an endpoint"), "{wrong}");
    }
}
