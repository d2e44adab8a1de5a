//! Giving a call up: it is cancelled, or was silent for too long.

use futures::future::BoxFuture;
use trailblaze_protocol::event::Level;

use crate::engine::cx::{Cx, Deadline};
use crate::engine::fault::{Fault, Stop};
use crate::engine::source::Silence;
use crate::engine::tool::{Body, Tool};
use crate::limits;

/// Why a call is given up.
pub(crate) enum GiveUp {
    Cancelled,
    TimedOut,
}

impl GiveUp {
    /// What becomes of the call, whose future was dropped.
    pub async fn stop(self, cx: &Cx, tool: &Tool) -> Stop {
        let GiveUp::TimedOut = self else { return Fault::Cancelled.into() };
        let silence = match tool.source() {
            // It finds out whether it still responds, which is bounded.
            Some(source) => tokio::select! {
                biased;
                () = cx.cancel.cancelled() => Silence::Unknown,
                () = source.settled() => source.silence(&tool.name),
            },
            None => Silence::Unknown,
        };
        let deadline = cx.frame().map(|frame| &frame.deadline).expect("a call in flight has a deadline");
        Stop::failed(timeout_message(tool, deadline, &silence))
    }
}

/// Waits until the call is cancelled or times out. Boxed, because hardly any call needs its timers.
pub(crate) fn give_up<'a>(cx: &'a Cx, tool: &'a Tool) -> BoxFuture<'a, GiveUp> {
    Box::pin(async move {
        let deadline = cx.frame().map(|frame| &frame.deadline).expect("a call in flight has a deadline");
        tokio::select! {
            biased;
            // The running tool sees the cancellation and gets a grace period to end by itself.
            () = async { cx.cancel.cancelled().await; tokio::time::sleep(limits::CANCEL_GRACE).await } => GiveUp::Cancelled,
            () = async { tell_of_silence(cx, tool, deadline).await; deadline.expired().await } => GiveUp::TimedOut,
        }
    })
}

/// Says once that a custom tool is silent, and how long it may be, so that nobody waits without knowing for what.
async fn tell_of_silence(cx: &Cx, tool: &Tool, deadline: &Deadline) {
    let is_waiting = || cx.frame().is_some_and(|frame| frame.beneath.is_any());
    if deadline.is_silent().await && tool.is_custom() && !is_waiting() {
        let [silent, idle] = [deadline.idle / 4, deadline.idle].map(humantime::format_duration);
        cx.note(Level::Info, format!("silent for {silent}; it is stopped after {idle} of silence"));
    }
}

/// The message for a call that timed out.
fn timeout_message(tool: &Tool, deadline: &Deadline, silence: &Silence) -> String {
    let name = &tool.name;
    let file = tool.contributor.file.as_ref().map(|file| format!(" ({file})")).unwrap_or_default();
    let defined = tool.defined_at.as_ref().map(|place| format!(" (defined at {place})")).unwrap_or_default();
    let idle = humantime::format_duration(deadline.idle);
    if let (Silence::Hung { places }, Some(source)) = (silence, tool.source()) {
        let at = if places.is_empty() { String::new() } else { format!(" at {}", places.join(" and ")) };
        let defined = if places.is_empty() { defined } else { String::new() };
        return format!(
            "`{name}` did not answer in time: server `{}`{file} was silent for {idle} and hung{at}, as in an endless \
             loop{defined}; it was stopped",
            source.name()
        );
    }
    if deadline.is_hard_limit_reached() {
        let total = humantime::format_duration(limits::CALL_TOTAL);
        return format!("`{name}` did not answer in time: it took longer than {total} in total{defined}");
    }
    match tool.source() {
        Some(source) => {
            let at = match silence {
                Silence::Responds { places } if !places.is_empty() => format!(" at {}", places.join(" and ")),
                _ => defined,
            };
            let hint = match silence {
                Silence::Responds { .. } => {
                    "the server responds, so the tool may wait or loop without an end; if it only takes long, let it report \
                     progress, or raise `callTimeout:` of its entry"
                }
                Silence::Unknown | Silence::Hung { .. } => "raise `callTimeout:` of its entry to allow more",
            };
            format!(
                "`{name}` did not answer in time: server `{}`{file} was silent for {idle}{at}; {hint}",
                source.name()
            )
        }
        None if matches!(tool.body, Body::Code(_)) => format!(
            "`{name}` did not answer in time: it was silent for {idle}{defined}; let it call a tool or log a line while it waits"
        ),
        None => format!("`{name}` did not answer in time: it was silent for {idle}"),
    }
}
