//! From the entry of a server to its transport, and the secrets that its headers name.

use std::collections::BTreeMap;
use std::sync::Arc;

use trailblaze_core::config::{MultiDevice, Servers, ToolServerConfig as Entry};
use trailblaze_core::limits;
use trailblaze_core::template::tokens;
use trailblaze_core::values::secret::Secrets;
use trailblaze_http::ProxySettings;
use trailblaze_toolhost::embedded::{Embedded, Programs};
use trailblaze_toolhost::http::{Address, AddressError};
use trailblaze_toolhost::instance::{InstanceTransport, PortFallback};
use trailblaze_toolhost::launch::{LaunchError, LaunchPlace, Runtimes, launch, own_variables};

use crate::project::loaded::Loaded;

#[derive(Debug, thiserror::Error)]
pub enum NoReach {
    #[error(transparent)]
    Launch(#[from] LaunchError),
    #[error(transparent)]
    Address(#[from] AddressError),
    #[error(
        "`{header}` in its `headers:` needs the variable `{name}`, of at least {} characters, in the environment",
        limits::SECRET_CHARS
    )]
    NoSecret { header: String, name: String },
}

/// The transport of a script that runs in this process.
pub fn embedded(
    entry: &Entry,
    place: &LaunchPlace<'_>,
    secrets: &Secrets,
    programs: &Arc<Programs>,
) -> Result<InstanceTransport, NoReach> {
    let script = entry.script.clone().ok_or(LaunchError::NoWay)?;
    let secret = |name: &String| Some((name.clone(), secrets.reveal(&secrets.seal(name)?)));
    let mut variables: BTreeMap<String, String> = entry.secrets.iter().filter_map(secret).collect();
    variables.extend(own_variables(entry, place));
    // Its calls need no address.
    let is_address = |name: &str| matches!(name, "TRAILBLAZE_BASE_URL" | "TRAILBLAZE_CALLBACK_URL");
    variables.retain(|name, _| !is_address(name) && !entry.drop_env.contains(name));
    let root = place.root.to_path_buf();
    Ok(InstanceTransport::Embedded(Embedded { root, script, variables, programs: Arc::clone(programs) }))
}

/// The transport of a server. `is_shared` tells whether several devices will use it.
pub async fn reach(
    entry: &Entry,
    place: &LaunchPlace<'_>,
    runtimes: &Runtimes,
    secrets: &Secrets,
    proxies: &ProxySettings,
    is_shared: bool,
) -> Result<InstanceTransport, NoReach> {
    if let Some(url) = &entry.url {
        let headers = entry.headers.0.iter().map(|(name, value)| {
            let value = with_secrets(&name.value, value, secrets)?;
            Ok((name.value.clone(), value))
        });
        let headers: Vec<(String, String)> = headers.collect::<Result<_, NoReach>>()?;
        return Ok(InstanceTransport::Url(Address::parse(url, headers, proxies)?));
    }
    let launch = launch(entry, place, runtimes).await?;
    Ok(match entry.multi_device {
        MultiDevice::Auto if is_shared => InstanceTransport::Port(launch, PortFallback::Pipe),
        MultiDevice::Http if is_shared => InstanceTransport::Port(launch, PortFallback::Fail),
        _ => InstanceTransport::Pipe(launch),
    })
}

/// A header as it is sent. Its secrets are named by the entry itself, so nothing else decides which server receives them.
fn with_secrets(header: &str, value: &str, secrets: &Secrets) -> Result<String, NoReach> {
    let mut sealed = value.to_string();
    for token in tokens(value).filter(|token| token.is_curly) {
        let no_secret = || NoReach::NoSecret { header: header.to_string(), name: token.path.to_string() };
        sealed = sealed.replace(token.raw, &secrets.seal(token.path).ok_or_else(no_secret)?);
    }
    Ok(secrets.reveal(&sealed))
}

/// The secrets that entries of servers mention, as far as the environment contains them.
pub fn declared_values(loaded: &Loaded) -> Vec<(String, String)> {
    let mut names = declared_secrets(loaded);
    names.sort();
    names.dedup();
    let value = |name: String| loaded.environment.text(&name).map(|value| (name.clone(), value.to_string()));
    let fits = limits::SECRET_CHARS..=limits::LONGEST_SECRET_CHARS;
    names.into_iter().filter_map(value).filter(|(_, value)| fits.contains(&value.trim().chars().count())).collect()
}

/// The names of all secrets that entries of servers mention, whether or not this command uses them.
pub fn declared_secrets(loaded: &Loaded) -> Vec<String> {
    let listed =
        |servers: &Servers| servers.0.iter().flat_map(|(_, server)| server.secrets.clone()).collect::<Vec<_>>();
    servers(loaded).flat_map(|servers| [named_in_headers(servers), listed(servers)]).flatten().collect()
}

fn servers(loaded: &Loaded) -> impl Iterator<Item = &Servers> {
    loaded.targets.iter().map(|target| &target.servers).chain([&loaded.project.servers])
}

fn named_in_headers(servers: &Servers) -> Vec<String> {
    let headers = servers.0.iter().flat_map(|(_, server)| &server.headers.0);
    headers.flat_map(|(_, value)| tokens(value)).filter(|token| token.is_curly).map(|token| token.path.into()).collect()
}
