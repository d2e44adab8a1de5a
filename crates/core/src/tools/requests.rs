//! Requests to the device of a call.

use std::time::Duration;

use trailblaze_protocol::outcome::Outcome;

use super::arguments::millis;
use crate::driver::{Action, ActionOutput, ActionTarget, DeviceCommand, Key};
use crate::engine::cx::Cx;
use crate::engine::fault::Stop;

/// Acts on what is focused.
pub async fn act(cx: &Cx, action: &Action) -> Result<Outcome, Stop> {
    Ok(outcome(cx.session.device.act(cx, &ActionTarget::Device, action).await?))
}

/// The same; the device may wait for this many milliseconds.
pub async fn act_within(cx: &Cx, wait: Option<i64>, action: &Action) -> Result<Outcome, Stop> {
    match wait {
        None => act(cx, action).await,
        Some(_) => {
            let wait = millis(wait, Duration::ZERO);
            Ok(outcome(cx.session.device.act_waiting(cx, &ActionTarget::Device, action, wait).await?))
        }
    }
}

/// Sends a command to the device as a whole.
pub async fn send(cx: &Cx, command: &DeviceCommand) -> Result<Outcome, Stop> {
    Ok(outcome(cx.session.device.command(cx, command, None).await?))
}

/// The same; the device may wait for this many milliseconds.
pub async fn send_within(cx: &Cx, wait: Option<i64>, command: &DeviceCommand) -> Result<Outcome, Stop> {
    let wait = wait.map(|_| millis(wait, Duration::ZERO));
    Ok(outcome(cx.session.device.command(cx, command, wait).await?))
}

fn outcome(acted: ActionOutput) -> Outcome {
    Outcome { text: acted.text, structured: acted.value, attachments: acted.files, ..Outcome::default() }
}

pub async fn press(cx: &Cx, key: Key) -> Result<Outcome, Stop> {
    act(cx, &Action::PressKey { key }).await
}
