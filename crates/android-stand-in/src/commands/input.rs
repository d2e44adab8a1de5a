//! `input`: touch and keys.

use std::time::Duration;

use trailblaze_protocol::geometry::Point;

use super::CommandOutput;
use crate::keycodes::{KeyPress, can_type, key_press};
use crate::phone::SimulatedPhone;

const SOURCES: &[&str] = &[
    "dpad",
    "gamepad",
    "joystick",
    "keyboard",
    "mouse",
    "rotaryencoder",
    "stylus",
    "touchnavigation",
    "touchpad",
    "touchscreen",
    "trackball",
];

const USAGE: &str = "\
Usage: input [<source>] [-d DISPLAY_ID] <command> [<arg>...]

The commands and default sources are:
      text <string> (Default: keyboard)
      keyevent [--longpress|--doubletap|--async|--delay <duration between keycodes in ms>] <key code number or name> ... (Default: keyboard)
      tap <x> <y> (Default: touchscreen)
      swipe <x1> <y1> <x2> <y2> [duration(ms)] (Default: touchscreen)
      draganddrop <x1> <y1> <x2> <y2> [duration(ms)] (Default: touchscreen)
      press (Default: trackball)
      roll <dx> <dy> (Default: trackball)
      motionevent <DOWN|UP|MOVE|CANCEL> <x> <y> (Default: touchscreen)
      keycombination [-t duration(ms)] <key code 1> <key code 2> ... (Default: keyboard)
";

/// How long a swipe takes if nothing says it.
const SWIPE: u64 = 300;

pub async fn input(phone: &SimulatedPhone, words: &[&str]) -> CommandOutput {
    let words = match words {
        [source, rest @ ..] if SOURCES.contains(source) => rest,
        words => words,
    };
    let words = match words {
        ["-d", _, rest @ ..] => rest,
        words => words,
    };
    let Some((command, rest)) = words.split_first() else { return CommandOutput::ok().out(USAGE).code(255) };
    let done = match *command {
        "tap" => tap(phone, rest).await,
        "swipe" | "draganddrop" => swipe(phone, rest).await,
        "text" => text(phone, rest).await,
        "keyevent" => keyevent(phone, rest).await,
        "keycombination" => keycombination(phone, rest).await,
        "motionevent" => motionevent(phone, rest).await,
        "press" | "roll" => Ok(()),
        unknown => return CommandOutput::error(255, format!("Unknown command: {unknown}")).out(USAGE),
    };
    match done {
        Ok(()) => CommandOutput::ok(),
        Err(exception) => CommandOutput::exception(command, exception),
    }
}

fn required<'a>(words: &[&'a str], index: usize) -> Result<&'a str, String> {
    let missing = || "java.lang.IllegalArgumentException: Argument expected after \"input\"".to_string();
    words.get(index).copied().ok_or_else(missing)
}

fn point(words: &[&str], index: usize) -> Result<Point, String> {
    let coordinate = |index| {
        let text = required(words, index)?;
        let wrong = |_| format!("java.lang.NumberFormatException: For input string: \"{text}\"");
        text.parse::<f32>().map(|value| value as i32).map_err(wrong)
    };
    Ok(Point { x: coordinate(index)?, y: coordinate(index + 1)? })
}

async fn tap(phone: &SimulatedPhone, words: &[&str]) -> Result<(), String> {
    phone.tap(point(words, 0)?).await;
    Ok(())
}

async fn swipe(phone: &SimulatedPhone, words: &[&str]) -> Result<(), String> {
    let (from, to) = (point(words, 0)?, point(words, 2)?);
    let duration = match words.get(4) {
        Some(text) => {
            text.parse().map_err(|_| format!("java.lang.NumberFormatException: For input string: \"{text}\""))?
        }
        None => SWIPE,
    };
    let duration = Duration::from_millis(duration);
    // The command ends with the gesture.
    tokio::time::sleep(duration).await;
    phone.swipe(from, to, duration).await;
    Ok(())
}

async fn text(phone: &SimulatedPhone, words: &[&str]) -> Result<(), String> {
    let text = required(words, 0)?.replace("%s", " ");
    if !text.chars().all(can_type) {
        return Err("java.lang.NullPointerException: Attempt to get length of null array\n\
                    \tat com.android.server.input.InputShellCommand.sendText(InputShellCommand.java:380)"
            .to_string());
    }
    phone.type_text(&text).await;
    Ok(())
}

async fn keyevent(phone: &SimulatedPhone, words: &[&str]) -> Result<(), String> {
    let mut presses = Vec::new();
    let (mut is_double, mut rest) = (false, words.iter());
    while let Some(word) = rest.next() {
        match *word {
            "--longpress" | "--async" => {}
            "--doubletap" => is_double = true,
            "--delay" => drop(rest.next()),
            key => presses.push(key_press(key)),
        }
    }
    required(words, 0)?;
    for press in presses {
        phone.press(press, &[]).await;
        if is_double {
            phone.press(press, &[]).await;
        }
    }
    Ok(())
}

async fn keycombination(phone: &SimulatedPhone, words: &[&str]) -> Result<(), String> {
    let words = match words {
        ["-t", _, rest @ ..] => rest,
        words => words,
    };
    if words.len() < 2 {
        return Err("java.lang.IllegalArgumentException: keycombination requires at least 2 keycodes".to_string());
    }
    let keys: Vec<KeyPress> = words.iter().map(|word| key_press(word)).collect();
    for press in &keys {
        phone.press(*press, &keys).await;
    }
    Ok(())
}

async fn motionevent(phone: &SimulatedPhone, words: &[&str]) -> Result<(), String> {
    let motion = required(words, 0)?.to_uppercase();
    if !["DOWN", "UP", "MOVE", "CANCEL"].contains(&motion.as_str()) {
        return Err(format!("java.lang.IllegalArgumentException: Unknown action: {motion}"));
    }
    phone.finger(&motion, point(words, 1)?).await;
    Ok(())
}
