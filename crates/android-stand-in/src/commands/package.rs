//! `pm`: installed packages.

use super::CommandOutput;
use crate::phone::{InstalledPackage, SimulatedPhone};

pub async fn pm(phone: &SimulatedPhone, words: &[&str], content: &[u8]) -> CommandOutput {
    match words {
        ["list", "packages", rest @ ..] => list(phone, rest),
        ["list", "features"] => CommandOutput::ok().out(
            "feature:reqGlEsVersion=0x30002\nfeature:android.hardware.screen.portrait\nfeature:android.hardware.touchscreen\n",
        ),
        ["query-activities", rest @ ..] => query(phone, rest),
        ["path", rest @ ..] => match rest.last().filter(|id| phone.state().installed(id).is_some()) {
            Some(id) => CommandOutput::line(format!("package:{}", apk(id))),
            None => CommandOutput::ok().code(1),
        },
        ["clear", rest @ ..] => match rest.last() {
            Some(id) if phone.clear(id).await => CommandOutput::line("Success"),
            _ => CommandOutput::line("Failed").code(1),
        },
        ["grant", rest @ ..] => permission(phone, "grant", rest),
        ["revoke", rest @ ..] => permission(phone, "revoke", rest),
        ["install" | "install-streaming", rest @ ..] => install(phone, rest, content),
        ["uninstall", rest @ ..] => uninstall(phone, rest).await,
        ["resolve-activity", rest @ ..] => resolve(phone, rest),
        [] => CommandOutput::ok().out("Package manager (package) commands:\n  help\n    Print this help text.\n").code(255),
        [unknown, ..] => CommandOutput::error(255, format!("Unknown command: {unknown}")),
    }
}

fn apk(id: &str) -> String {
    format!("/data/app/~~Zm9vYmFyYmF6cXV4MTIzNA==/{id}-MTIzNHF1eGJhemJhcmZvbw==/base.apk")
}

fn list(phone: &SimulatedPhone, words: &[&str]) -> CommandOutput {
    let only = |option| words.contains(&option);
    let filter = words.iter().rev().copied().find(|word| !word.starts_with('-')).unwrap_or_default();
    let state = phone.state();
    let is_listed = |package: &&InstalledPackage| {
        let is_left_out = if package.is_system { only("-3") } else { only("-s") };
        !package.is_removed && package.id.contains(filter) && !is_left_out
    };
    let shown = |package: &InstalledPackage| match only("-f") {
        true => format!("package:{}={}\n", apk(&package.id), package.id),
        false => format!("package:{}\n", package.id),
    };
    CommandOutput::ok().out(state.packages.iter().filter(is_listed).map(shown).collect::<String>())
}

fn permission(phone: &SimulatedPhone, command: &str, words: &[&str]) -> CommandOutput {
    let words: Vec<&str> = match words {
        ["--user", _, rest @ ..] => rest.to_vec(),
        words => words.to_vec(),
    };
    let [id, permission] = words[..] else {
        return CommandOutput::error(255, "Error: no package specified");
    };
    let mut state = phone.state();
    let Some(package) = state.installed_mut(id) else {
        return CommandOutput::exception(command, format!("java.lang.IllegalArgumentException: Unknown package: {id}"));
    };
    if !permission.contains('.') {
        return CommandOutput::exception(
            command,
            format!("java.lang.IllegalArgumentException: Unknown permission: {permission}"),
        );
    }
    match command {
        "grant" => package.permissions.insert(permission.to_string()),
        _ => package.permissions.remove(permission),
    };
    CommandOutput::ok()
}

/// A package of this phone may be installed again. What is installed must contain its id, as every APK does somewhere: nothing here
/// reads APKs.
fn install(phone: &SimulatedPhone, words: &[&str], content: &[u8]) -> CommandOutput {
    let path = words.last().filter(|word| word.starts_with('/'));
    let content = match path.map(std::fs::read) {
        None => content.to_vec(),
        Some(Ok(content)) => content,
        Some(Err(_)) => {
            let path = path.copied().unwrap_or_default();
            return CommandOutput::error(
                1,
                format!(
                    "Error: Unable to open file: {path}\nConsider using a file under /data/local/tmp/\nError: Can't open file: {path}"
                ),
            );
        }
    };
    let mut state = phone.state();
    let contains = |id: &str| content.windows(id.len()).any(|part| part == id.as_bytes());
    match state.packages.iter_mut().find(|package| !package.is_system && contains(&package.id)) {
        Some(package) => {
            package.is_removed = false;
            CommandOutput::line("Success")
        }
        None => CommandOutput::line(
            "Failure [INSTALL_PARSE_FAILED_NOT_APK: Failed to parse /data/app/vmdl1.tmp/base.apk: Failed to load asset path]",
        )
        .code(1),
    }
}

async fn uninstall(phone: &SimulatedPhone, words: &[&str]) -> CommandOutput {
    let id = words.last().copied().unwrap_or_default();
    if phone.state().installed(id).is_none_or(|package| package.is_system) {
        return CommandOutput::line("Failure [DELETE_FAILED_INTERNAL_ERROR]").code(1);
    }
    phone.stop(id).await;
    if !words.contains(&"-k") {
        phone.clear(id).await;
    }
    if let Some(package) = phone.state().installed_mut(id) {
        package.is_removed = true;
        package.permissions.clear();
    }
    CommandOutput::line("Success")
}

/// The activities that a launcher shows.
fn query(phone: &SimulatedPhone, words: &[&str]) -> CommandOutput {
    let state = phone.state();
    let apps: Vec<&InstalledPackage> =
        state.packages.iter().filter(|package| !package.is_system && !package.is_removed).collect();
    if words.contains(&"--components") || words.contains(&"--brief") {
        return CommandOutput::ok()
            .out(apps.iter().map(|app| format!("{}/.MainActivity\n", app.id)).collect::<String>());
    }
    let mut text = format!("{} activities found:\n", apps.len());
    for (index, InstalledPackage { id, .. }) in apps.into_iter().enumerate() {
        text += &format!(
            "  Activity #{index}:\n    priority=0 preferredOrder=0 match=0x108000 specificIndex=-1 isDefault=false\n    ActivityInfo:\n      \
             name={id}.MainActivity\n      packageName={id}\n      enabled=true exported=true directBootAware=false\n"
        );
    }
    CommandOutput::ok().out(text)
}

fn resolve(phone: &SimulatedPhone, words: &[&str]) -> CommandOutput {
    let id = words.last().copied().unwrap_or_default();
    let is_app = phone.state().installed(id).is_some_and(|package| !package.is_system);
    if !is_app {
        return CommandOutput::line("No activity found");
    }
    let activity = format!("{id}/.MainActivity");
    let head = "priority=0 preferredOrder=0 match=0x108000 specificIndex=-1 isDefault=true";
    match words.contains(&"--brief") {
        true => CommandOutput::line(format!("{head}\n{activity}")),
        false => CommandOutput::line(format!(
            "{head}\nActivityInfo:\n  name={id}.MainActivity\n  packageName={id}\n  enabled=true exported=true"
        )),
    }
}
