//! One call of a server's tool: sending it, retrying it where that is safe, and reading the answer.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use serde_json::{Map, Value};
use trailblaze_core::config::ContextDelivery;
use trailblaze_core::engine::cx::Cx;
use trailblaze_core::engine::source::SourceError;
use trailblaze_core::engine::tool::Tool;
use trailblaze_protocol::event::Level;
use trailblaze_protocol::outcome::Outcome;

use super::{ToolServer, WarnedOnce};
use crate::answer;
use crate::cassette::RecordedAnswer;
use crate::client::McpClient;
use crate::connection::RequestError;
use crate::context_refusal::{ContextRefusal, context_refusal};
use crate::death::Death;
use crate::envelope::{ARGUMENT, CallRequest, Carrier, RepeatedInput, ToolCallParams};
use crate::http::HttpError;
use crate::instance::InUse;
use crate::listing::{ParamHeader, declares_context, declares_invocation, forbids_context};

/// What a tool's listing implies for calls to it.
#[derive(Clone)]
pub(super) struct CallStyle {
    declares_context: bool,
    forbids_context: bool,
    declares_invocation: bool,
    is_delegating: bool,
    headers: Arc<[ParamHeader]>,
    defined_at: Option<Arc<str>>,
}

impl CallStyle {
    /// The style for a tool with this listing.
    pub fn of(tool: &Tool, listed: Option<&Value>) -> CallStyle {
        CallStyle {
            declares_context: listed.is_some_and(declares_context),
            forbids_context: listed.is_some_and(forbids_context),
            declares_invocation: listed.is_some_and(declares_invocation),
            is_delegating: tool.is_delegating,
            headers: listed.map(ParamHeader::all).unwrap_or_default().into(),
            defined_at: tool.defined_at.as_deref().map(Arc::from),
        }
    }
}

impl ToolServer {
    fn style(&self, tool: &str) -> CallStyle {
        let known = self.styles.lock().get(tool).cloned();
        known.unwrap_or(CallStyle {
            declares_context: false,
            forbids_context: true,
            declares_invocation: false,
            is_delegating: false,
            headers: Arc::from([]),
            defined_at: None,
        })
    }

    fn carrier(&self, style: &CallStyle) -> Carrier {
        let is_refused = || self.spec.refuses_context.load(Ordering::Relaxed);
        match self.spec.context {
            Some(ContextDelivery::Both) => Carrier::ArgumentsAndMeta,
            Some(ContextDelivery::Meta) => Carrier::Meta,
            None if style.declares_context => Carrier::ArgumentsAndMeta,
            None if style.forbids_context || is_refused() => Carrier::Meta,
            None => Carrier::ArgumentsAndMeta,
        }
    }

    pub(super) async fn make_call(
        &self,
        cx: &Cx,
        tool: &str,
        args: &Map<String, Value>,
    ) -> Result<Outcome, SourceError> {
        if self.is_unready() {
            // Boxed to keep the future of an ordinary call small.
            Box::pin(self.recover(cx)).await?;
        }
        if let Err(outdated) = self.up_to_date().await {
            return Ok(outdated);
        }
        let style = self.style(tool);
        let carrier = self.carrier(&style);
        let mut instance = self.instance().await?;
        let mut answered = self.call_with_input(&instance, cx, (tool, args), (&style, carrier)).await;
        // The server lost our session, so the call did not run.
        if answered == Err(RequestError::Http(HttpError::SessionGone)) {
            Box::pin(self.reopen(instance.instance())).await?;
            instance = self.instance().await?;
            answered = self.call_with_input(&instance, cx, (tool, args), (&style, carrier)).await;
        }
        if self.has_refused_context(tool, &style, carrier, &answered) {
            answered = Box::pin(self.call_with_input(&instance, cx, (tool, args), (&style, Carrier::Meta))).await;
        }
        if let Some(tape) = &self.spec.tape {
            match &answered {
                Ok(value) => {
                    tape.answered(cx, (tool, args), &self.spec.base_url, RecordedAnswer::Result(value.clone()))
                }
                Err(RequestError::Refused(error)) => {
                    tape.answered(
                        cx,
                        (tool, args),
                        &self.spec.base_url,
                        RecordedAnswer::Refusal(error.message.clone()),
                    );
                }
                Err(_) => {}
            }
        }
        match answered {
            Ok(value) => {
                let outcome = answer::outcome(value, tool, style.is_delegating);
                if outcome.says_it_failed() && !cx.session.strictness.results {
                    let text = format!(
                        "`{tool}` answered `success: false` but not `isError: true`, so the call counts as passed; \
                         `strictResults: true` in trailblaze.yaml makes it a failure"
                    );
                    self.warn_once(WarnedOnce::SuccessFalse { tool: tool.to_string() }, text);
                }
                Ok(outcome)
            }
            Err(RequestError::Refused(error)) => Ok(answer::refusal(error.message, tool)),
            Err(error @ RequestError::NoInput(_)) => Ok(Outcome::failed(error.to_string())),
            Err(error) => {
                let told = |death: &Death| death.during(tool, style.defined_at.as_deref());
                Err(self.explain(&instance, &error, told).await)
            }
        }
    }

    /// Whether the server refused the call, before the tool ran, because of the context argument that we added. If so,
    /// the argument is not sent to this server again.
    fn has_refused_context(
        &self,
        tool: &str,
        style: &CallStyle,
        carrier: Carrier,
        answered: &Result<Value, RequestError>,
    ) -> bool {
        let is_ours = carrier == Carrier::ArgumentsAndMeta && self.spec.context.is_none() && !style.declares_context;
        if !is_ours {
            return false;
        }
        match context_refusal(answered) {
            None => false,
            Some(ContextRefusal::Maybe) => {
                let text = format!(
                    "the error from `{tool}` mentions `{ARGUMENT}`; if the tool does not take this argument, set \
                     `context: meta` in the server's entry"
                );
                self.warn_once(WarnedOnce::MentionsContext, text);
                false
            }
            Some(ContextRefusal::BeforeItRan) => {
                // Another session or a concurrent call may have reported it already.
                if !self.spec.refuses_context.swap(true, Ordering::Relaxed) {
                    let text = format!(
                        "it refuses the argument `{ARGUMENT}`, although its schemas allow it; it is not sent again \
                         (set `context: meta` in the server's entry to never send it)"
                    );
                    self.warn_once(WarnedOnce::RefusesContext, text);
                }
                true
            }
        }
    }

    /// Sends one call and returns the raw answer.
    pub(super) async fn send_call(
        &self,
        instance: &InUse,
        cx: &Cx,
        (tool, args): (&str, &Map<String, Value>),
        (style, carrier): (&CallStyle, Carrier),
        input: RepeatedInput<'_>,
    ) -> Result<Value, RequestError> {
        let client = McpClient { connection: &instance.connection, handshake: &instance.handshake };
        let in_flight = instance.begin_call();
        if in_flight.is_only() {
            self.router.forget_noise();
        }
        let routed = self.router.register(cx);
        let request = client.call(
            ToolCallParams::new(&CallRequest {
                cx,
                memory: &cx.attempt.memory(),
                tool,
                args,
                carrier,
                declares_invocation: style.declares_invocation,
                base_url: &self.spec.base_url,
                progress_token: routed.token,
                can_sample: self.spec.may_sample && cx.attempt.model().is_some(),
                input,
            }),
            &style.headers,
        );
        let id = request.id;
        let mut cancel_on_drop = CancelOnDrop { server: self, instance, tool, id, is_cancelled: false, is_done: false };
        let answer = request.answer_meanwhile(|| cx.emit_called());
        tokio::pin!(answer);
        let answered = tokio::select! {
            biased;
            answered = &mut answer => answered,
            () = cx.cancel.cancelled() => {
                // The handler may clean up; the caller that cancelled limits how long it waits for that.
                cancel_on_drop.cancel("cancelled");
                (&mut answer).await
            }
        };
        cancel_on_drop.is_done = true;
        // While the call is registered, so that what it printed belongs to it.
        instance.stderr.catch_up().await;
        answered
    }
}

/// Cancels the request at the server when a call is dropped before it is answered.
struct CancelOnDrop<'a> {
    server: &'a ToolServer,
    instance: &'a InUse,
    tool: &'a str,
    id: u64,
    is_cancelled: bool,
    is_done: bool,
}

impl CancelOnDrop<'_> {
    fn cancel(&mut self, reason: &str) {
        self.is_cancelled = true;
        self.instance.connection.cancel(self.id, reason);
    }
}

impl Drop for CancelOnDrop<'_> {
    fn drop(&mut self) {
        if self.is_done {
            return;
        }
        if !self.is_cancelled {
            if self.instance.connection.has_backlog() {
                let text = "it does not read its stdin, so it never received the whole call".to_string();
                self.server.router.events.note(&self.server.spec.name, Level::Warning, text);
            }
            self.cancel("the caller gave up");
        }
        self.server.check_responds(self.instance.instance(), self.tool);
    }
}
