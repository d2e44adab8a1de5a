//! `wm`, `settings`, `getprop`, `ime`, `svc` and the rest of `cmd`: what is set on the phone.

use trailblaze_protocol::geometry::Size;

use super::CommandOutput;
use crate::phone::{KEYBOARD, SimulatedPhone};

const DENSITY: u32 = 440;

pub fn wm(phone: &SimulatedPhone, words: &[&str]) -> CommandOutput {
    let physical = phone.size();
    let mut state = phone.state();
    match words {
        ["size"] => {
            let over = state.size.map(|size| format!("Override size: {}x{}\n", size.width, size.height));
            let size = format!("Physical size: {}x{}\n", physical.width, physical.height);
            CommandOutput::ok().out(size + over.as_deref().unwrap_or_default())
        }
        ["size", "reset"] => {
            state.size = None;
            CommandOutput::ok()
        }
        ["size", size] => {
            let parts = size.split_once('x').and_then(|(w, h)| Some((w.parse().ok()?, h.parse().ok()?)));
            match parts {
                Some((width, height)) => {
                    state.size = Some(Size { width, height });
                    CommandOutput::ok()
                }
                None => CommandOutput::error(255, format!("Error: bad number {size}")),
            }
        }
        ["density"] => {
            let over = state.density.map(|density| format!("Override density: {density}\n"));
            CommandOutput::ok().out(format!("Physical density: {DENSITY}\n") + over.as_deref().unwrap_or_default())
        }
        ["density", "reset"] => {
            state.density = None;
            CommandOutput::ok()
        }
        ["density", density] => match density.parse() {
            Ok(density) => {
                state.density = Some(density);
                CommandOutput::ok()
            }
            Err(_) => CommandOutput::error(255, format!("Error: bad number {density}")),
        },
        ["dismiss-keyguard"] => {
            state.is_locked &= !state.is_awake;
            CommandOutput::ok()
        }
        ["user-rotation" | "fixed-to-user-rotation" | "set-ignore-orientation-request", ..] => CommandOutput::ok(),
        [] => CommandOutput::ok()
            .out("Window manager (window) commands:\n  help\n      Print this help text.\n")
            .code(255),
        [unknown, ..] => CommandOutput::error(255, format!("Unknown command: {unknown}")),
    }
}

pub fn settings(phone: &SimulatedPhone, words: &[&str]) -> CommandOutput {
    let words: Vec<&str> = match words {
        ["--user", _, rest @ ..] => rest.to_vec(),
        words => words.to_vec(),
    };
    let is_namespace = |name: &str| ["system", "secure", "global"].contains(&name);
    let mut state = phone.state();
    let key = |namespace: &str, name: &str| (namespace.to_string(), name.to_string());
    match words[..] {
        [_, namespace, ..] if !is_namespace(namespace) => {
            CommandOutput::error(255, format!("Invalid namespace '{namespace}'"))
        }
        ["get", namespace, name] => {
            CommandOutput::line(state.settings.get(&key(namespace, name)).map_or("null", String::as_str))
        }
        ["put", namespace, name, value, ..] => {
            state.settings.insert(key(namespace, name), value.to_string());
            CommandOutput::ok()
        }
        ["delete", namespace, name] => {
            let count = usize::from(state.settings.remove(&key(namespace, name)).is_some());
            CommandOutput::line(format!("Deleted {count} rows"))
        }
        ["list", namespace] => {
            let own = state.settings.iter().filter(|((known, _), _)| known == namespace);
            CommandOutput::ok().out(own.map(|((_, name), value)| format!("{name}={value}\n")).collect::<String>())
        }
        ["put" | "get" | "delete" | "list", ..] => CommandOutput::error(255, "Bad arguments"),
        _ => CommandOutput::error(255, "Settings provider (settings) commands:\n  help\n      Print this help text."),
    }
}

/// `content`, of which clients use only what writes a setting.
pub fn content(phone: &SimulatedPhone, words: &[&str]) -> CommandOutput {
    let after = |option: &str| words.iter().position(|word| *word == option).and_then(|at| words.get(at + 1)).copied();
    let namespace = after("--uri").and_then(|uri| uri.strip_prefix("content://settings/"));
    let bound = |start: &str| words.iter().find_map(|word| word.strip_prefix(start));
    let value = bound("value:i:").or_else(|| bound("value:s:"));
    match (words.first(), namespace, bound("name:s:"), value) {
        (Some(&"insert"), Some(namespace), Some(name), Some(value)) => {
            settings(phone, &["put", namespace, name, value])
        }
        _ => CommandOutput::error(1, "[ERROR] Unsupported operation"),
    }
}

pub fn getprop(phone: &SimulatedPhone, words: &[&str]) -> CommandOutput {
    let state = phone.state();
    match words {
        [] => CommandOutput::ok()
            .out(state.properties.iter().map(|(key, value)| format!("[{key}]: [{value}]\n")).collect::<String>()),
        [key, rest @ ..] => {
            let default = rest.first().copied().unwrap_or_default();
            CommandOutput::line(state.properties.get(*key).map_or(default, String::as_str))
        }
    }
}

pub fn setprop(phone: &SimulatedPhone, words: &[&str]) -> CommandOutput {
    match words {
        [key, value] if !key.starts_with("ro.") => {
            phone.state().properties.insert(key.to_string(), value.to_string());
            CommandOutput::ok()
        }
        [key, _] => CommandOutput::error(1, format!("Failed to set property '{key}'.\nSee dmesg for error reason.")),
        _ => CommandOutput::error(1, "setprop: Need 2 arguments (see \"setprop --help\")"),
    }
}

pub fn ime(phone: &SimulatedPhone, words: &[&str]) -> CommandOutput {
    match words {
        ["list", rest @ ..] if rest.contains(&"-s") => CommandOutput::line(KEYBOARD),
        ["list", ..] => CommandOutput::line(format!(
            "{KEYBOARD}:\n  mId={KEYBOARD} mSettingsActivityName=null mIsVrOnly=false mSupportsSwitchingToNextInputMethod=true"
        )),
        ["set" | "enable" | "disable", id] if *id != KEYBOARD => {
            let word = if words[0] == "set" { "selected" } else { "enabled" };
            CommandOutput::error(255, format!("Unknown input method {id} cannot be {word} for user #0"))
        }
        ["set", id] => {
            phone.state().input_method = id.to_string();
            CommandOutput::line(format!("Input method {id} selected for user #0"))
        }
        ["enable", id] => CommandOutput::line(format!("Input method {id}: already enabled for user #0")),
        ["disable", id] => CommandOutput::line(format!("Input method {id}: now disabled for user #0")),
        ["reset"] => CommandOutput::line("Reset current and enabled IMEs for user #0"),
        _ => CommandOutput::error(255, "ime <command>:\n  list [-a] [-s]\n  set ID"),
    }
}

pub fn svc(words: &[&str]) -> CommandOutput {
    match words {
        ["wifi" | "data", "enable" | "disable"] => CommandOutput::ok(),
        ["power", "stayon", _] => CommandOutput::ok(),
        _ => CommandOutput::error(255, "Available commands:\n    help     Show information about the subcommands"),
    }
}

pub async fn cmd(phone: &SimulatedPhone, words: &[&str]) -> CommandOutput {
    match words {
        ["-l"] => CommandOutput::ok().out("Currently running services:\n  activity\n  input\n  package\n  window\n"),
        ["uimode", "night", rest @ ..] => {
            let mut state = phone.state();
            match rest {
                ["yes"] => state.is_night = true,
                ["no"] => state.is_night = false,
                [] => {}
                _ => {
                    return CommandOutput::error(255, "Invalid mode: use [yes|no|auto|custom_schedule|custom_bedtime]");
                }
            }
            CommandOutput::line(format!("Night mode: {}", if state.is_night { "yes" } else { "no" }))
        }
        ["display", "get-displays"] => {
            let (size, state) = (phone.size(), if phone.state().is_awake { "ON" } else { "OFF" });
            CommandOutput::line(format!(
                "Displays:\nDisplay id 0: DisplayInfo{{\"Built-in Screen\", displayId 0, real {} x {}, rotation 0, state {state}, \
                 type INTERNAL, uniqueId \"local:4619827259835644672\", app {} x {}}}",
                size.width, size.height, size.width, size.height
            ))
        }
        ["connectivity", "airplane-mode"] => {
            CommandOutput::line(if phone.state().is_airplane { "enabled" } else { "disabled" })
        }
        ["connectivity", "airplane-mode", mode @ ("enable" | "disable")] => {
            phone.set_airplane(*mode == "enable").await;
            CommandOutput::ok()
        }
        ["locale", words @ ..] => locale(phone, words),
        ["location", "providers", words @ ..] => location(phone, words),
        ["appops", words @ ..] => appops(phone, words),
        ["statusbar" | "notification" | "overlay" | "power", ..] => CommandOutput::ok(),
        [] => CommandOutput::error(
            20,
            "cmd: No service specified; use -l to list all running services. Use -w to start and wait for a service.",
        ),
        [unknown, ..] => CommandOutput::error(20, format!("cmd: Can't find service: {unknown}")),
    }
}

/// The languages of apps, which Android has since 13.
fn locale(phone: &SimulatedPhone, words: &[&str]) -> CommandOutput {
    let (command, app, rest) = match words {
        [command @ ("get-app-locales" | "set-app-locales"), app, rest @ ..] => (*command, *app, rest),
        _ => return CommandOutput::error(255, "Locale manager (locale) shell commands:\n  help"),
    };
    let mut state = phone.state();
    if state.installed(app).is_none() {
        return CommandOutput::error(255, format!("Unknown package {app} for userId 0"));
    }
    if command == "get-app-locales" {
        let tags = state.locales.get(app).map_or("", String::as_str);
        return CommandOutput::line(format!("Locales for {app} for user 0 are [{tags}]"));
    }
    match rest {
        ["--locales", tags] if !tags.is_empty() => drop(state.locales.insert(app.to_string(), tags.to_string())),
        _ => drop(state.locales.remove(app)),
    }
    CommandOutput::ok()
}

/// Sources of locations for tests, which the shell can make since Android 12, if it may mock locations.
fn location(phone: &SimulatedPhone, words: &[&str]) -> CommandOutput {
    let mut state = phone.state();
    if !state.may_mock_locations {
        return CommandOutput::exception(
            "providers",
            "java.lang.SecurityException: com.android.shell from uid 2000 not allowed to perform MOCK_LOCATION",
        );
    }
    let missing = |name: &str| {
        CommandOutput::exception(
            "providers",
            format!("java.lang.IllegalArgumentException: {name} provider is not a test provider"),
        )
    };
    match words {
        ["add-test-provider", name, ..] => {
            state.test_locations.insert(name.to_string(), None);
        }
        ["remove-test-provider", name] => drop(state.test_locations.remove(*name)),
        ["set-test-provider-enabled", name, "true" | "false"] => {
            if !state.test_locations.contains_key(*name) {
                return missing(name);
            }
        }
        ["set-test-provider-location", name, "--location", place, ..] => {
            let Some(kept) = state.test_locations.get_mut(*name) else { return missing(name) };
            *kept = Some(place.to_string());
        }
        _ => return CommandOutput::error(255, "Location service commands:\n  help or -h\n    Print this help text."),
    }
    CommandOutput::ok()
}

pub fn appops(phone: &SimulatedPhone, words: &[&str]) -> CommandOutput {
    if let ["set", "com.android.shell", "android:mock_location", mode] = words {
        phone.state().may_mock_locations = *mode == "allow";
    }
    CommandOutput::ok()
}

/// What the clock of the phone says, which may be wrong. Only in seconds, which is what programs ask for.
pub fn date(phone: &SimulatedPhone, words: &[&str]) -> CommandOutput {
    match words {
        ["+%s"] => CommandOutput::line(phone.log.now() / 1000),
        _ => CommandOutput::error(1, "date: only +%s is known here"),
    }
}
