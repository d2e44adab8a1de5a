//! A call of a served tool: what `_meta` says about it, and what the tool says.

use std::pin::Pin;
use std::sync::Arc;

use serde_json::{Map, Value};
use tokio::sync::{OnceCell, mpsc};
use tokio_util::sync::CancellationToken;
use trailblaze_client::{Client, Error, Response, Transport};
use trailblaze_protocol::driver::Platform;
use trailblaze_protocol::event::Level;

use crate::context::{Device, Host};

/// How many messages of a tool may wait to be sent. Those that do not fit are dropped; Trailblaze records as many.
pub const NOTICES: usize = 1_000;

/// What a tool says.
pub enum Notice {
    Log(Level, String),
    /// Why the tool may not have done what it says, although it passes.
    Doubt(String),
    Progress(String),
}

pub struct Invoked {
    /// Shares its connections.
    client: Client,
    meta: Value,
    notices: mpsc::Sender<Notice>,
    cancel: CancellationToken,
}

impl Invoked {
    pub fn new(client: &Client, meta: Value, notices: mpsc::Sender<Notice>, cancel: CancellationToken) -> Invoked {
        Invoked { client: client.clone(), meta, notices, cancel }
    }
}

impl Host for Invoked {
    fn client(&self) -> Client {
        self.client.with_meta(&self.meta).unwrap_or_else(|_| Client::over(Arc::new(Outside::default())))
    }

    fn device(&self) -> Device {
        let device = &self.meta["trailblaze"]["device"];
        let text = |name: &str| device[name].as_str().unwrap_or_default().to_string();
        let number = |name: &str| device[name].as_u64().and_then(|number| u32::try_from(number).ok()).unwrap_or(0);
        Device {
            id: text("id"),
            platform: Platform::parse(&text("platform")),
            driver: text("driverType"),
            width: number("widthPixels"),
            height: number("heightPixels"),
        }
    }

    fn memory(&self) -> Map<String, Value> {
        self.meta["trailblaze"]["memory"].as_object().cloned().unwrap_or_default()
    }

    fn log(&self, level: Level, message: String) {
        let _ = self.notices.try_send(Notice::Log(level, message));
    }

    fn progress(&self, message: String) {
        let _ = self.notices.try_send(Notice::Progress(message));
    }

    fn is_cancelled(&self) -> bool {
        self.cancel.is_cancelled()
    }

    fn cancelled(&self) -> Pin<Box<dyn Future<Output = ()> + Send + '_>> {
        Box::pin(self.cancel.cancelled())
    }
}

/// For calls that Trailblaze did not make. If an agent started the server by itself, the device is that of the session of this
/// user's daemon.
#[derive(Default)]
struct Outside(OnceCell<Client>);

impl Transport for Outside {
    fn call<'a>(&'a self, path: &'a str, request: Map<String, Value>) -> Response<'a> {
        Box::pin(async move {
            if std::env::var_os("TRAILBLAZE_BASE_URL").is_some_and(|address| !address.is_empty()) {
                return Err(Error::NoContext);
            }
            self.0.get_or_try_init(Client::find).await?.request(path.to_string(), request).await
        })
    }
}
