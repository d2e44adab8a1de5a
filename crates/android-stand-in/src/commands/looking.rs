//! `uiautomator`, `screencap` and `screenrecord`.

use std::time::Duration;

use trailblaze_core::driver::ObserveOptions;

use super::{CommandOutput, take_one, with_crlf};
use crate::hierarchy::xml;
use crate::phone::SimulatedPhone;
use crate::picture;
use crate::wire::ShellFrame;

const HELP: &str = "\
Usage: uiautomator <subcommand> [options]

Available subcommands:

help: displays help message

dump: creates an XML dump of current UI hierarchy
    dump [--verbose][file]
      [--compressed]: dumps compressed layout information.
      [--windows]: dumps windows hierarchy on all displays.
      [file]: the location where the dumped XML should be stored, default is
      /sdcard/window_dump.xml

";

/// What a program says that wants to automate the phone while another one does.
pub const REGISTERED: &str = "java.lang.IllegalStateException: UiAutomationService \
    android.accessibilityservice.IAccessibilityServiceClient$Stub$Proxy@5f1e2d3already registered!";

pub async fn uiautomator(phone: &SimulatedPhone, words: &[&str]) -> CommandOutput {
    let ["dump", options @ ..] = words else { return CommandOutput::ok().out(HELP).code(u8::from(!words.is_empty())) };
    let file = options.iter().copied().find(|option| !option.starts_with("--")).unwrap_or("/sdcard/window_dump.xml");
    let Ok(_automation) = phone.automation.try_lock() else {
        return CommandOutput::error(1, REGISTERED);
    };
    let (slow, is_never_idle, has_no_root, is_truncated, crlf) = {
        let behaviour = &mut phone.state().behaviour;
        (
            behaviour.slow_dump,
            take_one(&mut behaviour.idle_errors),
            take_one(&mut behaviour.null_roots),
            take_one(&mut behaviour.truncated_dumps),
            behaviour.crlf,
        )
    };
    if slow > 0 {
        tokio::time::sleep(Duration::from_millis(slow)).await;
    }
    if is_never_idle {
        return CommandOutput::error(0, "ERROR: could not get idle state.");
    }
    let Some(window) = phone.window().await.filter(|_| !has_no_root) else {
        return CommandOutput::error(0, "ERROR: null root node returned by UiTestAutomationBridge.");
    };
    let window = if options.contains(&"--compressed") { window.compressed() } else { window };
    let mut content = xml(&window).into_bytes();
    if is_truncated {
        content.truncate(content.len() / 2);
    }
    if crlf && file == "/dev/tty" {
        content = with_crlf(&content);
    }
    // The folder of the command is the root, as that of every command of adb.
    let shown = if file.starts_with('/') { file.to_string() } else { format!("/{file}") };
    let dumped = CommandOutput::ok().frame(ShellFrame::QuietFile(file.to_string(), content));
    if is_truncated { dumped.code(137) } else { dumped.out(format!("UI hierchary dumped to: {shown}\n")) }
}

/// The tree as the server for phones answers it; it does not wait for a screen to be idle.
pub async fn tree(phone: &SimulatedPhone) -> Option<String> {
    let has_no_root = take_one(&mut phone.state().behaviour.null_roots);
    phone.window().await.filter(|_| !has_no_root).map(|window| xml(&window))
}

pub async fn png(phone: &SimulatedPhone) -> Vec<u8> {
    let size = phone.size();
    picture::png(&pixels(phone).await, size)
}

/// What the screen shows; black while it is off.
async fn pixels(phone: &SimulatedPhone) -> Vec<u8> {
    let (size, is_awake) = (phone.size(), phone.state().is_awake);
    let picture = phone.screen(ObserveOptions::PICTURE).await.picture.filter(|_| is_awake);
    picture.map_or_else(|| picture::black(size), |picture| picture::in_full(&picture, size))
}

pub async fn screencap(phone: &SimulatedPhone, words: &[&str]) -> CommandOutput {
    let (mut is_png, mut file, mut rest) = (false, None, words.iter());
    while let Some(word) = rest.next() {
        match *word {
            "-p" => is_png = true,
            "-d" => drop(rest.next()),
            "-a" => {}
            path => file = Some(path.to_string()),
        }
    }
    // The ending of a file says what it contains.
    is_png |= file.as_ref().is_some_and(|file| file.ends_with(".png"));
    let (size, pixels) = (phone.size(), pixels(phone).await);
    let mut content = if is_png { picture::png(&pixels, size) } else { picture::raw(&pixels, size) };
    if take_one(&mut phone.state().behaviour.truncated_pictures) {
        content.truncate(content.len() / 2);
    }
    match file {
        Some(file) => CommandOutput::ok().frame(ShellFrame::File(file, content)),
        None => CommandOutput::ok().out(content),
    }
}

pub fn screenrecord(words: &[&str]) -> CommandOutput {
    let (mut seconds, mut file, mut rest) = (180, None, words.iter());
    while let Some(word) = rest.next() {
        match *word {
            "--time-limit" => seconds = rest.next().and_then(|text| text.parse().ok()).unwrap_or(seconds),
            "--size" | "--bit-rate" | "--display-id" => drop(rest.next()),
            option if option.starts_with("--") => {}
            path => file = Some(path.to_string()),
        }
    }
    match file {
        Some(file) => CommandOutput::ok().frame(ShellFrame::FileAtTheEnd(file, seconds * 1000)),
        None => CommandOutput::error(2, "Must specify output file (see --help)."),
    }
}
