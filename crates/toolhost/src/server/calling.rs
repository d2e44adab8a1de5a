//! One call of a server's tool: how it is made, when it is made once more, and what its answer means.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use serde_json::{Map, Value};
use trailblaze_core::config::Context;
use trailblaze_core::engine::cx::Cx;
use trailblaze_core::engine::source::SourceError;
use trailblaze_core::engine::tool::Tool;
use trailblaze_protocol::event::Level;
use trailblaze_protocol::outcome::Outcome;

use super::{SaidOnce, Server};
use crate::answer;
use crate::cassette::Answer;
use crate::client::Client;
use crate::connection::{Connection, Unanswered};
use crate::context_refusal::{ContextRefusal, context_refusal};
use crate::desk::{Desk, lock};
use crate::envelope::{ARGUMENT, Asked, Call, Carrier};
use crate::http::Lost;
use crate::listing::{ParamHeader, declares_context, forbids_context};
use crate::live::Live;

/// How a tool is called.
#[derive(Clone)]
pub(super) struct CallStyle {
    declares_context: bool,
    forbids_context: bool,
    is_delegating: bool,
    headers: Arc<[ParamHeader]>,
}

impl CallStyle {
    /// The style of a tool that was listed so.
    pub fn of(tool: &Tool, listed: Option<&Value>) -> CallStyle {
        CallStyle {
            declares_context: listed.is_some_and(declares_context),
            forbids_context: listed.is_some_and(forbids_context),
            is_delegating: tool.is_delegating,
            headers: listed.map(ParamHeader::all).unwrap_or_default().into(),
        }
    }
}

impl Server {
    fn style(&self, tool: &str) -> CallStyle {
        let known = lock(&self.styles).get(tool).cloned();
        known.unwrap_or(CallStyle {
            declares_context: false,
            forbids_context: true,
            is_delegating: false,
            headers: Arc::from([]),
        })
    }

    fn carrier(&self, style: &CallStyle) -> Carrier {
        let is_refused = || self.spec.refuses_context.load(Ordering::Relaxed);
        match self.spec.context {
            Some(Context::Both) => Carrier::ArgumentsAndMeta,
            Some(Context::Meta) => Carrier::Meta,
            None if style.declares_context => Carrier::ArgumentsAndMeta,
            None if style.forbids_context || is_refused() => Carrier::Meta,
            None => Carrier::ArgumentsAndMeta,
        }
    }

    pub(super) async fn carry_out(
        &self,
        cx: &Cx,
        tool: &str,
        args: &Map<String, Value>,
    ) -> Result<Outcome, SourceError> {
        let style = self.style(tool);
        let carrier = self.carrier(&style);
        let mut live = self.live().await?;
        let mut answered = self.ask(&live, cx, (tool, args), (&style, carrier)).await;
        // A server that forgot us has not done what it was asked.
        if answered == Err(Unanswered::Lost(Lost::SessionGone)) {
            // Boxed, so that other calls need not carry the room for it.
            Box::pin(self.reopen(live.live())).await?;
            live = self.live().await?;
            answered = self.ask(&live, cx, (tool, args), (&style, carrier)).await;
        }
        if self.has_refused_context(tool, &style, carrier, &answered) {
            answered = Box::pin(self.ask(&live, cx, (tool, args), (&style, Carrier::Meta))).await;
        }
        if let Some(tape) = &self.spec.tape {
            match &answered {
                Ok(value) => tape.answered(cx, (tool, args), &self.spec.base_url, Answer::Result(value.clone())),
                Err(Unanswered::Refused(error)) => {
                    tape.answered(cx, (tool, args), &self.spec.base_url, Answer::Refusal(error.message.clone()));
                }
                Err(_) => {}
            }
        }
        match answered {
            Ok(value) => {
                let outcome = answer::outcome(value, tool, style.is_delegating);
                if answer::says_it_failed(&outcome) {
                    let text = format!(
                        "`{tool}` answered `success: false` but not `isError: true`, so the call counts as passed"
                    );
                    self.warn_once(SaidOnce::SuccessFalse { tool: tool.to_string() }, text);
                }
                Ok(outcome)
            }
            Err(Unanswered::Refused(error)) => Ok(answer::refusal(error.message, tool)),
            Err(unanswered) => Err(self.unanswered(&live, &unanswered).await),
        }
    }

    /// Whether the call was refused, before the tool ran, for an argument that we added. Then the server gets it no more.
    fn has_refused_context(
        &self,
        tool: &str,
        style: &CallStyle,
        carrier: Carrier,
        answered: &Result<Value, Unanswered>,
    ) -> bool {
        let is_ours = carrier == Carrier::ArgumentsAndMeta && self.spec.context.is_none() && !style.declares_context;
        if !is_ours {
            return false;
        }
        match context_refusal(answered) {
            None => false,
            Some(ContextRefusal::Maybe) => {
                let text = format!(
                    "the error of `{tool}` mentions `{ARGUMENT}`; if it does not take this argument, `context: meta` in \
                     the server's entry leaves it out"
                );
                self.warn_once(SaidOnce::MentionsContext, text);
                false
            }
            Some(ContextRefusal::BeforeItRan) => {
                // Other sessions, and calls side by side, may have found out too.
                if !self.spec.refuses_context.swap(true, Ordering::Relaxed) {
                    let text = format!(
                        "it refuses the argument `{ARGUMENT}`, which its schemas allow, so it no longer gets it; \
                         `context: meta` in its entry leaves it out from the start"
                    );
                    self.warn_once(SaidOnce::RefusesContext, text);
                }
                true
            }
        }
    }

    /// Makes one call, and does not judge what became of it.
    async fn ask(
        &self,
        live: &Live,
        cx: &Cx,
        (tool, args): (&str, &Map<String, Value>),
        (style, carrier): (&CallStyle, Carrier),
    ) -> Result<Value, Unanswered> {
        let client = Client { connection: &live.connection, agreement: &live.agreement };
        let at_desk = self.desk.enter(cx);
        let request = client.call(
            Call::new(&Asked {
                cx,
                memory: &cx.attempt.memory(),
                tool,
                args,
                carrier,
                base_url: &self.spec.base_url,
                progress_token: at_desk.token,
            }),
            &style.headers,
        );
        let mut calling_off =
            CallingOff { connection: client.connection, desk: &self.desk, id: request.id, is_over: false };
        let answer = request.answer_meanwhile(|| cx.emit_called());
        tokio::pin!(answer);
        let answered = tokio::select! {
            biased;
            answered = &mut answer => answered,
            () = cx.cancel.cancelled() => {
                // The handler may want to tidy up; whoever cancelled decides how long to wait for it.
                calling_off.tell("cancelled");
                (&mut answer).await
            }
        };
        calling_off.is_over = true;
        answered
    }
}

/// Tells the server, when a call is given up, that nobody waits for it any more.
struct CallingOff<'a> {
    connection: &'a Connection,
    desk: &'a Desk,
    id: u64,
    is_over: bool,
}

impl CallingOff<'_> {
    fn tell(&mut self, reason: &str) {
        self.is_over = true;
        self.connection.call_off(self.id, reason);
    }
}

impl Drop for CallingOff<'_> {
    fn drop(&mut self) {
        if !self.is_over {
            if self.connection.has_backlog() {
                let text = "it does not read its stdin, so the call never reached it whole".to_string();
                self.desk.diary.note(&self.desk.server, Level::Warning, text);
            }
            self.tell("the caller gave up");
        }
    }
}
