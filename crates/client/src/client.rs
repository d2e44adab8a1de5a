//! The client: where it calls, and on whose behalf.

use std::borrow::Cow;
use std::sync::Arc;
use std::time::Duration;

use hyper::header::HeaderValue;
use serde_json::{Map, Value};

use crate::address::{Address, own_address};
use crate::call::Call;
use crate::connection::Pool;
use crate::daemon::{self, Session};
use crate::error::{Code, Error};
use crate::followed::CallListener;
use crate::transport::Transport;

/// Calls Trailblaze. Cloning is cheap; clones share their connections.
#[derive(Clone)]
pub struct Client {
    settings: Arc<ClientSettings>,
    way: Way,
}

/// How calls are made.
#[derive(Clone)]
pub(crate) enum Way {
    Http(Arc<Pool>),
    Transport(Arc<dyn Transport>),
}

#[derive(Clone, Default)]
struct ClientSettings {
    address: Option<String>,
    key: Option<String>,
    device: Option<String>,
    session: Option<String>,
    invocation: Option<String>,
    platform: Option<String>,
    memory: Map<String, Value>,
    timeout: Option<Duration>,
    /// The name of the session, if it was found in a daemon.
    session_name: Option<String>,
    listener: Option<Arc<dyn CallListener>>,
}

impl Client {
    /// A client for the Trailblaze at an address such as `localhost:52525`.
    ///
    /// It acts on behalf of a session with [`with_key`](Client::with_key), or of a tool call with
    /// [`with_invocation`](Client::with_invocation). Without either, in a tool server that Trailblaze started, it uses the address in
    /// TRAILBLAZE_BASE_URL instead, so that it cannot reach another run.
    pub fn new(address: impl Into<String>) -> Client {
        Client::of(ClientSettings { address: Some(address.into()), ..ClientSettings::default() })
    }

    /// The client of a tool call: it acts on the device that the tool was called for.
    ///
    /// `meta` is the `_meta` of the `tools/call` request.
    pub fn from_meta(meta: &Value) -> Result<Client, Error> {
        Ok(Client::of(ClientSettings::from_meta(meta)?))
    }

    /// The client of another tool call, which shares the connections of this one.
    pub fn with_meta(&self, meta: &Value) -> Result<Client, Error> {
        let settings = ClientSettings { timeout: self.settings.timeout, ..ClientSettings::from_meta(meta)? };
        Ok(Client { settings: Arc::new(settings), way: self.way.clone() })
    }

    /// A client of the session of this user's daemon that TRAILBLAZE_SESSION names, or of the only one that is open:
    /// `trailblaze device connect` opens one. For programs, and for tool servers that an agent starts by itself.
    ///
    /// In a tool server that Trailblaze started, the client reaches that Trailblaze.
    pub async fn find() -> Result<Client, Error> {
        if let Some(own) = own_address() {
            return Ok(Client::new(own));
        }
        let pool = Arc::<Pool>::default();
        let Session { name, address, key } = daemon::find(&pool).await?;
        let settings = ClientSettings {
            address: Some(address),
            key: Some(key),
            session_name: Some(name),
            ..ClientSettings::default()
        };
        Ok(Client { settings: Arc::new(settings), way: Way::Http(pool) })
    }

    /// A client whose calls do not go over HTTP. The transport knows which call or session they belong to.
    pub fn over(transport: Arc<dyn Transport>) -> Client {
        Client { settings: Arc::default(), way: Way::Transport(transport) }
    }

    fn of(settings: ClientSettings) -> Client {
        Client { settings: Arc::new(settings), way: Way::Http(Arc::default()) }
    }

    fn with(self, change: impl FnOnce(&mut ClientSettings)) -> Client {
        let mut settings = Arc::unwrap_or_clone(self.settings);
        change(&mut settings);
        Client { settings: Arc::new(settings), way: self.way }
    }

    /// Acts on behalf of the session with this key, which is in the key file of `trailblaze serve`.
    #[must_use]
    pub fn with_key(self, key: impl Into<String>) -> Client {
        self.with(|settings| settings.key = Some(key.into().trim().to_string()))
    }

    /// Acts on behalf of the tool call with this id.
    #[must_use]
    pub fn with_invocation(self, id: impl Into<String>) -> Client {
        self.with(|settings| settings.invocation = Some(id.into()))
    }

    /// Refuses to act on another device than this one.
    #[must_use]
    pub fn with_device(self, id: impl Into<String>) -> Client {
        self.with(|settings| settings.device = Some(id.into()))
    }

    /// Refuses to act in another session than this one.
    #[must_use]
    pub fn with_session(self, id: impl Into<String>) -> Client {
        self.with(|settings| settings.session = Some(id.into()))
    }

    /// The device's platform, such as `android`, if it is known: [`maestro`](Client::maestro) and
    /// [`playwright`](Client::playwright) depend on it.
    #[must_use]
    pub fn with_platform(self, platform: impl Into<String>) -> Client {
        self.with(|settings| settings.platform = Some(platform.into().to_ascii_lowercase()))
    }

    /// How long each call may take. Trailblaze is told, and stops what takes longer.
    #[must_use]
    pub fn with_timeout(self, timeout: Duration) -> Client {
        self.with(|settings| settings.timeout = Some(timeout))
    }

    /// Tells of calls that are prepared but dropped before they are awaited, so that nothing is carried out, and of calls that fail.
    #[must_use]
    pub fn with_listener(self, listener: Arc<dyn CallListener>) -> Client {
        self.with(|settings| settings.listener = Some(listener))
    }

    pub(crate) fn listener(&self) -> Option<&Arc<dyn CallListener>> {
        self.settings.listener.as_ref()
    }

    /// Whether there are clones of this client, or calls that it has prepared and that have not ended.
    pub fn is_shared(&self) -> bool {
        // A clone with other settings has the same listener.
        Arc::strong_count(&self.settings) > 1 || self.listener().is_some_and(|listener| Arc::strong_count(listener) > 1)
    }

    /// The id of the device, if it is known.
    pub fn device_id(&self) -> Option<&str> {
        self.settings.device.as_deref()
    }

    /// The platform of the device, in lower case, if it is known.
    pub fn platform(&self) -> Option<&str> {
        self.settings.platform.as_deref()
    }

    /// What was remembered when the tool was called. [`dump_memory`](Client::dump_memory) returns what is remembered now.
    pub fn memory(&self) -> &Map<String, Value> {
        &self.settings.memory
    }

    /// Whether the device is of one of these platforms, or of an unknown one.
    pub(crate) fn may_be(&self, platforms: &[&str]) -> bool {
        self.platform().is_none_or(|platform| platforms.contains(&platform))
    }

    /// Calls a method by its path, such as `TrailblazeCommands/Tap`, with its parameters as JSON, and returns its response as JSON.
    /// For programs that pass calls on; others use the methods of this client.
    pub async fn request(&self, path: impl Into<String>, params: Map<String, Value>) -> Result<Value, Error> {
        let call = params.into_iter().fold(self.call(path.into()), |call, (name, value)| call.set(&name, value));
        call.get().await
    }

    #[track_caller]
    pub(crate) fn call(&self, path: impl Into<Cow<'static, str>>) -> Call {
        let mut fields = Map::new();
        let ClientSettings { device, session, invocation, .. } = &*self.settings;
        for (name, id) in [("deviceId", device), ("sessionId", session), ("invocationId", invocation)] {
            fields.extend(id.as_ref().filter(|id| !id.is_empty()).map(|id| (name.to_string(), id.as_str().into())));
        }
        Call::new(self.clone(), path.into(), fields)
    }

    pub(crate) fn way(&self) -> &Way {
        &self.way
    }

    pub(crate) fn timeout(&self) -> Option<Duration> {
        self.settings.timeout
    }

    /// The error of a call, with the reason if its session was found in a daemon and is gone.
    /// `gone` is the code that means this.
    pub(crate) fn explain(&self, error: Error, gone: Code) -> Error {
        match (&self.settings.session_name, error) {
            (Some(name), Error::Api { code, message }) if code == gone => {
                let text = format!("session `{name}` has ended, or its daemon has: {message}");
                Error::api(code, format!("{text}; `trailblaze device connect` opens one, and a new client uses it"))
            }
            (_, error) => error,
        }
    }

    pub(crate) fn address(&self) -> Result<Arc<Address>, Error> {
        let ClientSettings { address, key, invocation, .. } = &*self.settings;
        Address::choose(address.as_deref(), key.is_some() || invocation.is_some()).map(Arc::new)
    }

    pub(crate) fn authorization(&self) -> Result<Option<HeaderValue>, Error> {
        let Some(key) = &self.settings.key else { return Ok(None) };
        let value =
            Some(key).filter(|key| !key.is_empty()).and_then(|key| HeaderValue::try_from(format!("Bearer {key}")).ok());
        let mut value = value.ok_or_else(|| {
            let text = "the key is not a session key; `trailblaze serve` prints the path of the file that has it";
            Error::api(Code::InvalidArgument, text)
        })?;
        value.set_sensitive(true);
        Ok(Some(value))
    }
}

// Without the key.
impl std::fmt::Debug for Client {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let ClientSettings { address, device, session, invocation, .. } = &*self.settings;
        let mut shown = f.debug_struct("Client");
        shown.field("address", address).field("device", device).field("session", session);
        shown.field("invocation", invocation).finish_non_exhaustive()
    }
}

impl ClientSettings {
    fn from_meta(meta: &Value) -> Result<ClientSettings, Error> {
        let text = |value: &Value| value.as_str().filter(|text| !text.is_empty()).map(str::to_string);
        let about = &meta["trailblaze"];
        let invocation = text(&about["invocationId"]).or_else(|| text(&meta["trailblazeInvocationId"]));
        if !about.is_object() && invocation.is_none() {
            return Err(Error::NoContext);
        }
        let device = &about["device"];
        Ok(ClientSettings {
            address: text(&about["baseUrl"]),
            key: None,
            device: text(&device["id"]),
            session: text(&about["sessionId"]),
            invocation,
            platform: text(&device["platform"]).map(|platform| platform.to_ascii_lowercase()),
            memory: about["memory"].as_object().cloned().unwrap_or_default(),
            timeout: None,
            session_name: None,
            listener: None,
        })
    }
}
