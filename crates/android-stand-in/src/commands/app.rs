//! `am`, `monkey` and `pidof`: apps that start and stop.

use super::CommandOutput;
use crate::control::Control;
use crate::phone::SimulatedPhone;

pub async fn am(phone: &SimulatedPhone, words: &[&str]) -> CommandOutput {
    match words {
        ["start" | "start-activity", rest @ ..] => start(phone, rest).await,
        ["force-stop", rest @ ..] => {
            if let Some(package) = last_word(rest) {
                phone.stop(package).await;
            }
            CommandOutput::ok()
        }
        // It ends only processes that nobody would miss: not the app in front.
        ["kill", rest @ ..] => {
            if let Some(package) = last_word(rest)
                && phone.front().await != package
            {
                phone.stop(package).await;
            }
            CommandOutput::ok()
        }
        ["crash", rest @ ..] => match last_word(rest) {
            Some(package) if phone.front().await == package => {
                let exception = "android.app.RemoteServiceException$CrashedByAdbException: shell-induced crash";
                phone.control(Control::Crash { exception: exception.to_string() }).await;
                CommandOutput::ok()
            }
            _ => CommandOutput::ok(),
        },
        ["broadcast", rest @ ..] => {
            let intent = Intent::of(rest);
            CommandOutput::ok()
                .out(format!("Broadcasting: {}\n", intent.shown("flg=0x400000")))
                .out("Broadcast completed: result=0\n")
        }
        ["get-current-user"] => CommandOutput::line("0"),
        [] => CommandOutput::error(255, "Activity manager (activity) commands:\n  help\n      Print this help text."),
        [unknown, ..] => CommandOutput::error(255, format!("Unknown command: {unknown}")),
    }
}

fn last_word<'a>(words: &[&'a str]) -> Option<&'a str> {
    words.last().copied().filter(|word| !word.starts_with('-'))
}

#[derive(Debug, Default)]
struct Intent<'a> {
    action: Option<&'a str>,
    data: Option<&'a str>,
    category: Option<&'a str>,
    component: Option<&'a str>,
    package: Option<&'a str>,
    does_wait: bool,
    does_stop: bool,
}

impl<'a> Intent<'a> {
    fn of(words: &[&'a str]) -> Intent<'a> {
        let mut intent = Intent::default();
        let mut rest = words.iter().copied();
        while let Some(word) = rest.next() {
            match word {
                "-a" => intent.action = rest.next(),
                "-d" => intent.data = rest.next(),
                "-c" => intent.category = rest.next(),
                "-n" => intent.component = rest.next(),
                "-p" => intent.package = rest.next(),
                "-W" => intent.does_wait = true,
                "-S" => intent.does_stop = true,
                "-t" | "-f" | "--user" | "--display" | "--activity-brought-to-front" => drop(rest.next()),
                "--es" | "--ei" | "--ez" | "--el" | "--ef" | "--eu" | "-e" => drop((rest.next(), rest.next())),
                word if word.starts_with('-') => {}
                word if word.contains(':') => intent.data = Some(word),
                word if word.contains('/') => intent.component = Some(word),
                word => intent.package = Some(word),
            }
        }
        intent
    }

    /// As `Intent.toString` writes it: of a URL only what is no secret.
    fn shown(&self, flags: &str) -> String {
        let mut parts = Vec::new();
        parts.extend(self.action.map(|action| format!("act={action}")));
        parts.extend(self.category.map(|category| format!("cat=[{category}]")));
        parts.extend(self.data.map(|data| format!("dat={}", safe(data))));
        parts.extend(Some(flags).filter(|flags| !flags.is_empty()).map(str::to_string));
        parts.extend(self.package.map(|package| format!("pkg={package}")));
        parts.extend(self.component.map(|component| format!("cmp={}", short(component))));
        format!("Intent {{ {} }}", parts.join(" "))
    }
}

/// `https://shop.example/...` of `https://shop.example/basket?key=1`.
fn safe(url: &str) -> String {
    match url.split_once("://") {
        Some((scheme @ ("http" | "https" | "ftp" | "rtsp"), rest)) => {
            let host = rest.split(['/', '?', '#']).next().unwrap_or_default();
            format!("{scheme}://{host}/...")
        }
        Some((scheme, rest)) => {
            let host = rest.split(['/', '?', '#']).next().unwrap_or_default();
            let more = if host.len() < rest.len() { "/..." } else { "" };
            format!("{scheme}://{host}{more}")
        }
        None => format!("{}:...", url.split(':').next().unwrap_or_default()),
    }
}

/// `a.b/.Main` of `a.b/a.b.Main`.
fn short(component: &str) -> String {
    match component.split_once('/') {
        Some((package, class)) => format!("{package}/{}", class.strip_prefix(package).unwrap_or(class)),
        None => component.to_string(),
    }
}

/// The name of a class in full.
fn in_full(component: &str) -> String {
    match component.split_once('/') {
        Some((package, class)) if class.starts_with('.') => format!("{package}/{package}{class}"),
        _ => component.to_string(),
    }
}

async fn start(phone: &SimulatedPhone, words: &[&str]) -> CommandOutput {
    let intent = Intent::of(words);
    let starting = CommandOutput::line(format!("Starting: {}", intent.shown("")));
    let package = intent.component.and_then(|component| component.split('/').next()).or(intent.package);
    if let (Some(package), true) = (package, intent.does_stop) {
        phone.stop(package).await;
    }
    let is_main = intent.component.is_none_or(|component| short(component).ends_with("/.MainActivity"));
    let (activity, was_running) = match (intent.data, package) {
        (Some(url), _) => match phone.open_url(url).await {
            Some(package) => (format!("{package}/.MainActivity"), true),
            None => {
                let shown = intent.shown("flg=0x10000000");
                return starting.err(format!("Error: Activity not started, unable to resolve {shown}\n")).code(1);
            }
        },
        (None, Some(package)) => match phone.launch(package).await.filter(|_| is_main) {
            Some(was_running) => (format!("{package}/.MainActivity"), was_running),
            None => {
                let class = in_full(intent.component.unwrap_or(package));
                let missing = format!("Error type 3\nError: Activity class {{{class}}} does not exist.\n");
                return starting.err(missing).code(1);
            }
        },
        (None, None) if intent.category == Some("android.intent.category.HOME") => {
            phone.launch(crate::phone::LAUNCHER).await;
            (format!("{}/.MainActivity", crate::phone::LAUNCHER), true)
        }
        (None, None) => {
            let shown = intent.shown("flg=0x10000000");
            return starting.err(format!("Error: Activity not started, unable to resolve {shown}\n")).code(1);
        }
    };
    let warned = match was_running && intent.data.is_none() {
        true => starting.err("Warning: Activity not started, its current task has been brought to the front\n"),
        false => starting,
    };
    if !intent.does_wait {
        return warned;
    }
    let state = if was_running { "HOT" } else { "COLD" };
    warned.out(format!(
        "Status: ok\nLaunchState: {state}\nActivity: {activity}\nTotalTime: 123\nWaitTime: 125\nComplete\n"
    ))
}

pub async fn monkey(phone: &SimulatedPhone, words: &[&str]) -> CommandOutput {
    let said: String = words.iter().map(|word| format!("  bash arg: {word}\n")).collect();
    let answer = CommandOutput::ok().out(said).err(format!("args: [{}]\n", words.join(", ")));
    let package = words.iter().position(|word| *word == "-p").and_then(|at| words.get(at + 1));
    let count = words.last().and_then(|word| word.parse::<u32>().ok());
    match (package, count) {
        (Some(package), Some(count)) if phone.launch(package).await.is_some() => answer.out(format!(
            "Events injected: {count}\n## Network stats: elapsed time=21ms (0ms mobile, 0ms wifi, 21ms not connected)\n"
        )),
        (_, None) => answer.err("** Error: Count not specified\n").code(255),
        _ => answer.out("** No activities found to run, monkey aborted.\n").code(252),
    }
}

pub fn pidof(phone: &SimulatedPhone, words: &[&str]) -> CommandOutput {
    let names = words.iter().filter(|word| !word.starts_with('-'));
    let pids: Vec<String> = names.filter_map(|name| phone.state().running(name)).map(|pid| pid.to_string()).collect();
    if pids.is_empty() { CommandOutput::ok().code(1) } else { CommandOutput::line(pids.join(" ")) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_intent_is_shown_without_what_may_be_secret() {
        let view = Intent::of(&["-W", "-a", "android.intent.action.VIEW", "-d", "https://shop.example/pay?key=1"]);
        assert_eq!(view.shown(""), "Intent { act=android.intent.action.VIEW dat=https://shop.example/... }");
        assert_eq!(safe("wallet://send"), "wallet://send");
        assert_eq!(safe("tel:123"), "tel:...");
        let main = Intent::of(&["-n", "a.b/a.b.Main"]);
        assert_eq!(main.shown(""), "Intent { cmp=a.b/.Main }");
    }
}
