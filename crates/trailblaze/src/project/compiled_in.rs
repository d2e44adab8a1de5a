//! Toolsets and kinds of devices that are compiled into a team's own build of the program.

use std::fmt;
use std::panic::AssertUnwindSafe;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use async_trait::async_trait;
use futures::FutureExt;
use parking_lot::Mutex;
use serde_json::{Map, Value};
use trailblaze_core::engine::code::ToolCode;
use trailblaze_core::engine::cx::Cx;
use trailblaze_core::engine::fault::{Fault, Stop};
use trailblaze_core::engine::registry::{Batch, ToolGroup};
use trailblaze_core::engine::tool::{Body, Contributor, Tool};
use trailblaze_core::names::ToolOrigin;
use trailblaze_core::schema::Schema;
use trailblaze_drivers::provider::{DeviceProvider, PROVIDERS};
use trailblaze_protocol::event::{CallOrigin, Event, Level};
use trailblaze_protocol::outcome::Outcome;
use trailblaze_toolhost::limits;
use trailblaze_toolhost::typed::{self, TypedError};
use trailblaze_tools::client::{Client, Code as ClientCode, Error, Response, Transport};
use trailblaze_tools::private::{LateReport, WatchedCall, add_source_root};
use trailblaze_tools::{Device, Host, ToolContext, ToolError, Toolset};

/// What a team's own build of the program has besides what every build has.
#[derive(Clone, Default)]
pub struct CompiledIn {
    batches: Vec<Batch>,
    providers: Vec<&'static DeviceProvider>,
}

impl CompiledIn {
    pub fn new(toolsets: impl IntoIterator<Item = Arc<dyn Toolset>>) -> CompiledIn {
        CompiledIn { batches: toolsets.into_iter().map(batch).collect(), providers: Vec::new() }
    }

    /// Adds a kind of devices.
    pub fn with_provider(mut self, provider: &'static DeviceProvider) -> CompiledIn {
        self.providers.push(provider);
        self
    }

    /// The tools of the compiled-in toolsets.
    pub fn batches(&self) -> &[Batch] {
        &self.batches
    }

    /// Every kind of devices, those of every build last: they take any name of a browser.
    pub fn providers(&self) -> Vec<&'static DeviceProvider> {
        self.providers.iter().chain(PROVIDERS).copied().collect()
    }
}

impl fmt::Debug for CompiledIn {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.batches.iter().map(|batch| &batch.contributor.label)).finish()
    }
}

fn batch(toolset: Arc<dyn Toolset>) -> Batch {
    let label = format!("toolset {} (compiled in)", toolset.name());
    let contributor = Contributor::new(&label, ToolOrigin::InProcess);
    let mut batch = Batch::new(contributor.clone(), Vec::new());
    let group = |group: &trailblaze_tools::Group| {
        let declared = ToolGroup { description: group.description.to_string(), is_default: group.is_enabled };
        (group.name.to_string(), declared)
    };
    batch.groups = toolset.groups().iter().map(group).collect();
    add_source_root(toolset.source_root());
    for tool in toolset.tools() {
        let defined_at = Some(tool.defined_at());
        if tool.schema.get("type").is_none_or(|kind| kind != "object") {
            batch.unusable.push((tool.name.to_string(), "its arguments must be a struct".to_string()));
            continue;
        }
        let code = CompiledTool { toolset: Arc::clone(&toolset), name: tool.name };
        let body = Body::Code(Arc::new(code));
        let described = Tool::new(tool.name, tool.description, Schema::new(tool.schema), contributor.clone(), body);
        batch.tools.push(Arc::new(Tool {
            is_for_llm: tool.is_for_model,
            is_recordable: tool.is_recordable,
            is_delegating: tool.is_delegating,
            requires_host: tool.requires_host,
            supported_drivers: tool.drivers.iter().map(ToString::to_string).collect(),
            supported_platforms: tool.platforms.to_vec(),
            toolset: tool.toolset.map(str::to_string),
            groups: tool.groups.iter().map(ToString::to_string).collect(),
            defined_at,
            ..described
        }));
    }
    batch
}

struct CompiledTool {
    toolset: Arc<dyn Toolset>,
    name: &'static str,
}

#[async_trait]
impl ToolCode for CompiledTool {
    async fn call(&self, cx: &Cx, args: &Map<String, Value>) -> Result<Outcome, Stop> {
        let running = RunningTool { cx: cx.clone(), fault: Arc::default(), n_notes: Arc::default() };
        let fault = Arc::clone(&running.fault);
        let context = ToolContext::new(Arc::new(running));
        let watched = WatchedCall::begin(self.name, late_report(cx));
        let called = watched.run(self.toolset.call(self.name, &context, args.clone()));
        let called = AssertUnwindSafe(called).catch_unwind();
        let answer = called.await.unwrap_or_else(|panic| Err(ToolError::panicked(self.name, &*panic)));
        // Lets tasks begin that the tool has just started.
        tokio::task::yield_now().await;
        let answer = answer.and_then(|output| context.take_mistake().map_or(Ok(output), Err));
        let output = match watched.end(answer) {
            Ok(output) => {
                context.take_doubts(self.name).into_iter().for_each(|doubt| cx.doubt(doubt));
                output
            }
            // The tool passed on that the device, a server or Trailblaze itself failed: that is not its own failure.
            Err(error) if error.code().is_some_and(is_fault) && fault.lock().is_some() => {
                let fault = fault.lock().take();
                return Err(fault.expect("it is there").into());
            }
            Err(error) => return Err(Stop::error(error.variant().clone(), error.to_string())),
        };
        Ok(Outcome {
            text: output.shown_text(),
            structured: output.value,
            delegates: output.delegates,
            memory: context.take_memory_changes(),
            ..Outcome::default()
        })
    }

    /// It is part of the program, so the team that built the program has allowed it.
    fn may_sample(&self) -> bool {
        true
    }

    fn definition(&self) -> Option<&[u8]> {
        Some(self.toolset.definition()).filter(|text| !text.is_empty()).map(str::as_bytes)
    }
}

/// Tells what has failed after the call that had started it.
fn late_report(cx: &Cx) -> LateReport {
    let (session, call) = (Arc::downgrade(&cx.session), cx.call_id().cloned());
    let runtime = tokio::runtime::Handle::current();
    Arc::new(move |text, is_its| {
        let (session, call) = (session.clone(), call.clone().filter(|_| is_its));
        // Detached: ends at once. Not done here, because what panics may hold a lock.
        runtime.spawn(async move {
            let Some(session) = session.upgrade() else { return };
            let is_told = call.is_some_and(|call| session.invocations.fail_late(&call, |_| text.clone()));
            if !is_told {
                session.emit(Event::doubt(None, session.secrets.redact(&text)));
            }
        });
    })
}

fn is_fault(code: ClientCode) -> bool {
    matches!(code, ClientCode::Unavailable | ClientCode::Canceled | ClientCode::Internal)
}

/// A call of a compiled-in tool.
#[derive(Clone)]
struct RunningTool {
    cx: Cx,
    /// Why one of its own calls could not be carried out, if the environment is to blame.
    fault: Arc<Mutex<Option<Fault>>>,
    n_notes: Arc<AtomicUsize>,
}

impl RunningTool {
    /// Whether one more message is recorded.
    fn may_note(&self) -> bool {
        self.n_notes.fetch_add(1, Ordering::Relaxed) < limits::NOTES
    }

    fn error(&self, error: TypedError) -> Error {
        let code = ClientCode::parse(error.code.as_str()).unwrap_or(ClientCode::Unknown);
        if is_fault(code) {
            *self.fault.lock() = error.fault.map(|fault| *fault);
        }
        Error::api(code, error.message)
    }
}

impl Transport for RunningTool {
    fn call<'a>(&'a self, path: &'a str, request: Map<String, Value>) -> Response<'a> {
        Box::pin(async move {
            let answer = typed::call_json(&self.cx, CallOrigin::Callback, path, Value::Object(request)).await;
            answer.map_err(|error| self.error(error))
        })
    }
}

impl Host for RunningTool {
    fn client(&self) -> Client {
        let platform = self.cx.session.device.description().platform;
        Client::over(Arc::new(self.clone())).with_platform(platform.name())
    }

    fn device(&self) -> Device {
        let device = self.cx.session.device.description();
        Device {
            id: device.id.to_string(),
            platform: Some(device.platform),
            driver: device.driver.to_string(),
            width: device.size.width,
            height: device.size.height,
        }
    }

    fn memory(&self) -> Map<String, Value> {
        let memory = self.cx.attempt.memory();
        let open = memory.without_secrets(&self.cx.session.secrets);
        open.map(|(name, value)| (name.clone(), value.clone())).collect()
    }

    fn log(&self, level: Level, message: String) {
        if self.may_note() {
            self.cx.note(level, message);
        }
    }

    fn progress(&self, message: String) {
        if self.may_note() {
            self.cx.progress(message);
        } else {
            self.cx.renew();
        }
    }

    fn is_cancelled(&self) -> bool {
        self.cx.cancel.is_cancelled()
    }

    fn cancelled(&self) -> Pin<Box<dyn Future<Output = ()> + Send + '_>> {
        Box::pin(self.cx.cancel.cancelled())
    }
}
