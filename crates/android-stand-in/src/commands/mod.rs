//! The commands of the phone's shell that belong to the Android framework, as Android 14 has them.

mod app;
mod app_process;
mod device;
mod dumpsys;
mod framework;
mod input;
mod logcat;
mod looking;
mod package;

use std::fmt::Display;
use std::io;
use std::sync::Arc;

use tokio::net::unix::OwnedWriteHalf;

use crate::phone::SimulatedPhone;
use crate::wire::ShellFrame;

/// The names under which this program is a command. The rest of the shell is toybox, as on a phone.
pub const NAMES: &[&str] = &[
    "am",
    "app_process",
    "appops",
    "cmd",
    "content",
    "date",
    "dumpsys",
    "getprop",
    "ime",
    "input",
    "logcat",
    "monkey",
    "pidof",
    "pm",
    "screencap",
    "screenrecord",
    "setprop",
    "settings",
    "svc",
    "uiautomator",
    "wm",
];

/// What a command prints and writes, and its exit code.
#[derive(Debug, Default)]
pub struct CommandOutput {
    frames: Vec<ShellFrame>,
    code: u8,
}

impl CommandOutput {
    pub fn ok() -> CommandOutput {
        CommandOutput::default()
    }

    /// A line on the standard output.
    pub fn line(text: impl Display) -> CommandOutput {
        CommandOutput::ok().out(format!("{text}\n"))
    }

    /// A line on the standard error, and an exit code.
    pub fn error(code: u8, text: impl Display) -> CommandOutput {
        CommandOutput { code, ..CommandOutput::ok().err(format!("{text}\n")) }
    }

    /// What the framework prints when a command throws an exception.
    pub fn exception(command: &str, exception: impl Display) -> CommandOutput {
        let trace = "\tat com.android.modules.utils.BasicShellCommandHandler.exec(BasicShellCommandHandler.java:97)";
        CommandOutput::error(255, format!("\nException occurred while executing '{command}':\n{exception}\n{trace}"))
    }

    pub fn out(mut self, text: impl Into<Vec<u8>>) -> CommandOutput {
        self.frames.push(ShellFrame::Stdout(text.into()));
        self
    }

    pub fn err(mut self, text: impl Into<Vec<u8>>) -> CommandOutput {
        self.frames.push(ShellFrame::Stderr(text.into()));
        self
    }

    pub fn frame(mut self, frame: ShellFrame) -> CommandOutput {
        self.frames.push(frame);
        self
    }

    pub fn code(mut self, code: u8) -> CommandOutput {
        self.code = code;
        self
    }
}

/// Runs a command and sends what it prints as it prints it.
pub async fn run(
    phone: &Arc<SimulatedPhone>,
    name: &str,
    arguments: &[String],
    input: &[u8],
    to: &mut OwnedWriteHalf,
) -> io::Result<()> {
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    if take_one(&mut phone.state().behaviour.killed_commands) {
        return Ok(());
    }
    match name {
        "logcat" => return logcat::run(phone, &words, to).await,
        "app_process" => return app_process::run(phone, &words, to).await,
        _ => {}
    }
    let of_framework = match crate::framework::is_there() {
        true => framework::answer(name, &words).await,
        false => None,
    };
    let answer = match of_framework {
        Some(answer) => answer,
        None => dispatch(phone, name, &words, input).await,
    };
    let crlf = phone.state().behaviour.crlf;
    for frame in &answer.frames {
        match frame {
            ShellFrame::Stdout(text) if crlf && name != "screencap" => {
                ShellFrame::Stdout(with_crlf(text)).send(to).await?
            }
            ShellFrame::Stderr(text) if crlf => ShellFrame::Stderr(with_crlf(text)).send(to).await?,
            frame => frame.send(to).await?,
        }
    }
    ShellFrame::Exit(answer.code).send(to).await
}

async fn dispatch(phone: &SimulatedPhone, name: &str, words: &[&str], content: &[u8]) -> CommandOutput {
    match (name, words) {
        ("uiautomator", words) => looking::uiautomator(phone, words).await,
        ("screencap", words) => looking::screencap(phone, words).await,
        ("screenrecord", words) => looking::screenrecord(words),
        ("input", words) | ("cmd", ["input", words @ ..]) => input::input(phone, words).await,
        ("am", words) | ("cmd", ["activity", words @ ..]) => app::am(phone, words).await,
        ("monkey", words) => app::monkey(phone, words).await,
        ("pidof", words) => app::pidof(phone, words),
        ("pm", words) | ("cmd", ["package", words @ ..]) => package::pm(phone, words, content).await,
        ("wm", words) | ("cmd", ["window", words @ ..]) => device::wm(phone, words),
        ("settings", words) | ("cmd", ["settings", words @ ..]) => device::settings(phone, words),
        ("date", words) => device::date(phone, words),
        ("content", words) => device::content(phone, words),
        ("getprop", words) => device::getprop(phone, words),
        ("setprop", words) => device::setprop(phone, words),
        ("ime", words) | ("cmd", ["input_method", words @ ..]) => device::ime(phone, words),
        ("appops", words) => device::appops(phone, words),
        ("svc", words) => device::svc(words),
        ("cmd", words) => device::cmd(phone, words).await,
        ("dumpsys", words) => dumpsys::dumpsys(phone, words).await,
        _ => CommandOutput::error(127, format!("{name}: inaccessible or not found")),
    }
}

fn with_crlf(text: &[u8]) -> Vec<u8> {
    String::from_utf8_lossy(text).replace('\n', "\r\n").into_bytes()
}

/// Whether one is left, and takes it.
pub fn take_one(left: &mut u32) -> bool {
    let is_left = *left > 0;
    *left = left.saturating_sub(1);
    is_left
}
