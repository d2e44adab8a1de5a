//! The context of a call: the device's commands, memory, log and progress.

use std::future::Future;
use std::ops::Deref;
use std::panic::Location;
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};

use parking_lot::Mutex;
use serde::Serialize;
use serde_json::{Map, Value};
use trailblaze_client::{CallListener, Client, ClientCall, Error, calls};
use trailblaze_protocol::driver::Platform;
use trailblaze_protocol::event::Level;
use trailblaze_protocol::outcome::{MemoryChanges, Variant};

use crate::error::{ToolError, ToolResult};
use crate::output::Output;
use crate::place::{Place, is_in_tool};
use crate::strict_json;

/// The context of a call.
///
/// It is a [`Client`] for the device that the tool was called for: `cx.tap().text("Pay").await?`. Within Trailblaze's own process
/// its calls are direct; in a server they go over the typed API.
pub struct ToolContext {
    host: Arc<dyn Host>,
    client: OnceLock<Client>,
    device: OnceLock<Device>,
    remembered: OnceLock<Map<String, Value>>,
    changes: Mutex<MemoryChanges>,
    noticed: Arc<Noticed>,
}

/// What the tool has overlooked.
#[derive(Default)]
struct Noticed {
    /// The first mistake that cannot be an error where it is made.
    mistake: Mutex<Option<ToolError>>,
    /// The first command that failed in a task that the tool started.
    failed_in_task: Mutex<Option<(String, Option<Place>)>>,
    /// Whether the call has ended, so that what its tasks do is too late.
    has_ended: AtomicBool,
}

impl Drop for ToolContext {
    fn drop(&mut self) {
        self.noticed.has_ended.store(true, Ordering::Relaxed);
    }
}

/// Listens for a client. Nothing but the client and its calls holds it, so that these can be counted.
struct ClientListener(Arc<Noticed>);

impl CallListener for ClientListener {
    fn unawaited(&self, call: &ClientCall) {
        let text = format!(
            "`{}` was not awaited, so it was not carried out\nhint: write `.await?` behind the call",
            call.what
        );
        self.0.mistake.lock().get_or_insert_with(|| ToolError::failed(text).at(call.place));
    }

    fn late_place(&self, call: &ClientCall) -> Option<String> {
        let place = || Place::of_author(call.place).map(|place| place.to_string());
        self.0.has_ended.load(Ordering::Relaxed).then(place).flatten()
    }

    fn failed(&self, call: &ClientCall, error: &Error) {
        // The tool itself has the error.
        if !is_in_tool() {
            let text = format!("`{}` failed: {error}", call.what);
            self.0.failed_in_task.lock().get_or_insert_with(|| (text, Place::of_author(call.place)));
        }
    }
}

/// The device that a tool was called for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Device {
    /// Its id, such as `android/sim-1`.
    pub id: String,
    /// None if the caller did not say.
    pub platform: Option<Platform>,
    /// Its driver, such as `android-host`.
    pub driver: String,
    /// The size of its screen in pixels.
    pub width: u32,
    pub height: u32,
}

/// What carries out a call: Trailblaze's own process, or an MCP server. Tests can have their own.
pub trait Host: Send + Sync {
    /// Calls back, for the device of this call.
    fn client(&self) -> Client;

    fn device(&self) -> Device;

    /// What is remembered when the call starts, without secrets.
    fn memory(&self) -> Map<String, Value>;

    fn log(&self, level: Level, message: String);

    fn progress(&self, message: String);

    fn is_cancelled(&self) -> bool;

    /// Waits until the call is cancelled.
    fn cancelled(&self) -> Pin<Box<dyn Future<Output = ()> + Send + '_>>;
}

impl ToolContext {
    pub fn new(host: Arc<dyn Host>) -> ToolContext {
        ToolContext {
            host,
            client: OnceLock::new(),
            device: OnceLock::new(),
            remembered: OnceLock::new(),
            changes: Mutex::default(),
            noticed: Arc::default(),
        }
    }

    /// The commands of the device. The context has the same methods.
    pub fn commands(&self) -> &Client {
        self.client.get_or_init(|| {
            let listener = ClientListener(Arc::clone(&self.noticed));
            self.host.client().with_listener(Arc::new(listener))
        })
    }

    pub fn device(&self) -> &Device {
        self.device.get_or_init(|| self.host.device())
    }

    /// The platform of the device. None only if something other than Trailblaze made the call.
    pub fn platform(&self) -> Option<Platform> {
        self.device().platform
    }

    /// What is remembered during an attempt of a trail.
    pub fn memory(&self) -> Memory<'_> {
        Memory(self)
    }

    /// The current screen: its elements, with refs to tap.
    pub fn screen(&self) -> calls::CaptureScreen {
        self.commands().capture_screen()
    }

    /// Calls a tool by its name. `args` is an object, as `json!` makes it. If the tool fails, that is an error of the same kind.
    // Not an `async fn`, which would not know its caller.
    #[track_caller]
    pub fn call(&self, tool: &str, args: impl Into<Value>) -> impl Future<Output = ToolResult> + Send {
        let here = Location::caller();
        let called = self.commands().call_tool(tool, args);
        async move {
            let result = called.await.map_err(|error| ToolError::from(error).at(here))?;
            if !result.success {
                return Err(ToolError::of(Variant::from_name(&result.variant, Vec::new()), result.message).at(here));
            }
            Ok(Output { text: result.message, value: result.structured, delegates: Vec::new() })
        }
    }

    /// Records a message about this call.
    pub fn log(&self, message: impl Into<String>) {
        self.host.log(Level::Info, message.into());
    }

    pub fn log_at(&self, level: Level, message: impl Into<String>) {
        self.host.log(level, message.into());
    }

    /// Says what the tool does. A call that says nothing for two minutes times out.
    pub fn progress(&self, message: impl Into<String>) {
        self.host.progress(message.into());
    }

    pub fn is_cancelled(&self) -> bool {
        self.host.is_cancelled()
    }

    /// Waits until the call is cancelled, for tools that have to clean up.
    pub async fn cancelled(&self) {
        self.host.cancelled().await;
    }

    /// What the tool changed in memory. The host that made the context takes it when the tool has returned.
    pub fn take_memory_changes(&self) -> MemoryChanges {
        std::mem::take(&mut self.changes.lock())
    }

    /// A mistake of the tool that must fail it although it succeeded: a call that it did not await, or a value that cannot be remembered.
    /// The host that made the context asks when the tool has returned.
    pub fn take_mistake(&self) -> Option<ToolError> {
        self.noticed.mistake.lock().take()
    }

    /// Why the tool may not have done what it says, although it succeeds: a command failed in a task that it started, and the tool may
    /// not know, or such a task is not done. The host that made the context asks when the tool has returned.
    pub fn take_doubts(&self, tool: &str) -> Vec<String> {
        let failed = self.noticed.failed_in_task.lock().take().map(|(said, place)| {
            let text = format!("in a task that `{tool}` had started, {said}");
            let text = place.map_or(text.clone(), |place| place.after(&text));
            format!("{text}; await the task, and return its error")
        });
        let is_left = self.client.get().is_some_and(Client::is_shared);
        let left = is_left.then(|| {
            format!("`{tool}` ended before a task that it had started and that can still use the device; await it")
        });
        failed.into_iter().chain(left).collect()
    }
}

impl Deref for ToolContext {
    type Target = Client;

    fn deref(&self) -> &Client {
        self.commands()
    }
}

/// What is remembered during an attempt of a trail. Changes take effect when the tool succeeds.
#[derive(Clone, Copy)]
pub struct Memory<'a>(&'a ToolContext);

impl Memory<'_> {
    /// A value as this tool sees it, with its own changes. Secrets are not in it.
    pub fn get(&self, name: &str) -> Option<Value> {
        let changes = self.0.changes.lock();
        if changes.deleted.iter().any(|deleted| deleted == name) {
            return None;
        }
        let remembered = || self.0.remembered.get_or_init(|| self.0.host.memory()).get(name);
        changes.set.get(name).or_else(remembered).cloned()
    }

    /// A text; none if the value is something else.
    pub fn text(&self, name: &str) -> Option<String> {
        self.get(name).and_then(|value| value.as_str().map(str::to_string))
    }

    /// Remembers a value. One that JSON does not have, such as NaN, and a name that Trailblaze sets itself fail the tool.
    #[track_caller]
    pub fn set(&self, name: impl Into<String>, value: impl Serialize) {
        let name = name.into();
        self.refuse_reserved(&name);
        let value = match strict_json::to_value(&value) {
            Ok(value) => value,
            Err(why) => return self.fail(format!("`{name}` cannot be remembered: {why}"), Location::caller()),
        };
        let mut changes = self.0.changes.lock();
        changes.deleted.retain(|deleted| *deleted != name);
        changes.set.insert(name, value);
    }

    fn fail(&self, text: String, place: &Location<'_>) {
        self.0.noticed.mistake.lock().get_or_insert_with(|| ToolError::failed(text).at(place));
    }

    #[track_caller]
    fn refuse_reserved(&self, name: &str) {
        if let Some(prefix) = ["target.", "args."].into_iter().find(|prefix| name.starts_with(prefix)) {
            let text =
                format!("`{name}` cannot be changed in memory: names that begin with `{prefix}` are set by Trailblaze");
            self.fail(text, Location::caller());
        }
    }

    #[track_caller]
    pub fn remove(&self, name: &str) {
        self.refuse_reserved(name);
        let mut changes = self.0.changes.lock();
        changes.set.shift_remove(name);
        if !changes.deleted.iter().any(|deleted| deleted == name) {
            changes.deleted.push(name.to_string());
        }
    }
}
