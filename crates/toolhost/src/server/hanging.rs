//! Finds out whether a server that did not end a cancelled call still responds. One that does not is stopped, as if it
//! had died: it would keep every later call waiting.

use std::sync::Arc;

use tokio::runtime::Handle;
use trailblaze_core::engine::source::Silence;
use trailblaze_protocol::event::Level;

use super::{ServerState, ToolServer};
use crate::client::McpClient;
use crate::connection::Closed;
use crate::instance::Instance;
use crate::limits;

impl ToolServer {
    /// Pings an instance that has not answered a call which was cancelled. New calls wait for the result.
    pub(super) fn check_responds(&self, instance: &Arc<Instance>, tool: &str) {
        // One check at a time is enough, and a closed connection says what is wrong.
        if instance.checks.is_any() || instance.connection.closed().is_some() || self.stopping.is_cancelled() {
            return;
        }
        // Calls are also dropped while the runtime shuts down.
        let (Some(me), Ok(runtime)) = (self.me.upgrade(), Handle::try_current()) else { return };
        let (check, tool) = (HangCheck::begin(Arc::clone(instance)), tool.to_string());
        // Detached: new calls wait for it through `checks`. Ends when the server answers, is stopped or has died.
        runtime.spawn(async move {
            let stopping = me.stopping.clone();
            stopping.run_until_cancelled(me.ping(&check.0, &tool)).await;
        });
    }

    async fn ping(&self, instance: &Instance, tool: &str) {
        let client = McpClient { connection: &instance.connection, handshake: &instance.handshake };
        // A refusal is a sign of life too.
        let is_answered = tokio::time::timeout(limits::PING, client.ping().answer()).await.is_ok();
        if is_answered {
            // The tool may have said where it is when it was cancelled.
            instance.stderr.catch_up().await;
            self.note_silence(tool, Silence::Responds { places: instance.stderr.stopped_at() });
        }
        // A server may do one thing at a time; if it is busy with another call, that call has its own timeout. A request for its
        // list of tools hangs like the call.
        if is_answered || instance.tool_calls.is_any() {
            return;
        }
        let hung = Closed::Hung { tool: tool.to_string() };
        if instance.child.is_none() {
            let text = format!("{hung}; Trailblaze did not start it and cannot stop it");
            return self.router.events.note(&self.spec.name, Level::Warning, text);
        }
        instance.connection.close_because(hung);
        // Calls that wait for this check then find the server dead or restarting. This ends, because its process is killed.
        let _ = instance.death.subscribe().wait_for(Option::is_some).await;
        self.note_silence(tool, Silence::Hung { places: instance.stderr.stopped_at() });
    }

    fn note_silence(&self, tool: &str, silence: Silence) {
        self.silences.lock().insert(tool.to_string(), silence);
    }

    /// Waits for a check in progress.
    pub(super) async fn checked(&self) {
        let being_checked = self.being_checked();
        if let Some(instance) = being_checked {
            instance.checks.none().await;
        }
    }

    pub(super) fn is_being_checked(&self) -> bool {
        self.being_checked().is_some()
    }

    fn being_checked(&self) -> Option<Arc<Instance>> {
        match &*self.state.borrow() {
            ServerState::Up(instance) if instance.checks.is_any() => Some(Arc::clone(instance)),
            _ => None,
        }
    }
}

/// Counts a check for as long as it takes.
struct HangCheck(Arc<Instance>);

impl HangCheck {
    fn begin(instance: Arc<Instance>) -> HangCheck {
        instance.checks.begin();
        HangCheck(instance)
    }
}

impl Drop for HangCheck {
    fn drop(&mut self) {
        self.0.checks.end();
    }
}
