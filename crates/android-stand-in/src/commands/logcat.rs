//! `logcat`: what the phone logged, and what it logs from now on.

use std::io;

use tokio::net::unix::OwnedWriteHalf;

use crate::log::LogcatEntry;
use crate::phone::SimulatedPhone;
use crate::wire::ShellFrame;

#[derive(Debug, Default)]
struct Options {
    format: Option<String>,
    /// Ends after what is there.
    is_dump: bool,
    is_clear: bool,
    last: Option<usize>,
    since: Option<String>,
    pid: Option<u32>,
    /// Only what crashed, or only the rest; both without it.
    only_crashes: Option<bool>,
    /// Tag and least level; `*` is every other tag.
    filters: Vec<(String, char)>,
}

pub async fn run(phone: &SimulatedPhone, words: &[&str], to: &mut OwnedWriteHalf) -> io::Result<()> {
    let options = match read(words) {
        Ok(options) => options,
        Err(message) => {
            ShellFrame::Stderr(format!("{message}\n").into_bytes()).send(to).await?;
            return ShellFrame::Exit(1).send(to).await;
        }
    };
    if options.is_clear {
        phone.log.clear();
        return ShellFrame::Exit(0).send(to).await;
    }
    let (mut entries, mut next) = phone.log.since(0);
    entries.retain(|entry| options.takes(entry) && options.is_since(entry));
    if let Some(last) = options.last {
        entries.drain(..entries.len().saturating_sub(last));
    }
    let mut dividers = Dividers::default();
    ShellFrame::Stdout(dividers.text(&options, &entries).into_bytes()).send(to).await?;
    if options.is_dump {
        return ShellFrame::Exit(0).send(to).await;
    }
    loop {
        phone.log.reaches(next).await;
        let (mut entries, after) = phone.log.since(next);
        next = after;
        entries.retain(|entry| options.takes(entry));
        let text = dividers.text(&options, &entries);
        if !text.is_empty() {
            ShellFrame::Stdout(text.into_bytes()).send(to).await?;
        }
    }
}

fn read(words: &[&str]) -> Result<Options, String> {
    let mut options = Options::default();
    let mut rest = words.iter().copied();
    while let Some(word) = rest.next() {
        let (name, mut value) = match word.split_once('=') {
            Some((name, value)) if name.starts_with("--") => (name, Some(value)),
            _ => (word, None),
        };
        let mut take = || value.take().or_else(|| rest.next()).ok_or(format!("logcat: {name} needs an argument"));
        match name {
            "-d" => options.is_dump = true,
            "-c" => options.is_clear = true,
            "-s" => options.filters.push(("*".to_string(), 'S')),
            "-v" | "--format" => options.format = Some(take()?.to_string()),
            "-b" | "--buffer" => {
                let names: Vec<&str> = take()?.split(',').collect();
                let has = |wanted: &[&str]| names.iter().any(|name| wanted.contains(name));
                let (main, crash) = (has(&["main", "system", "default", "all"]), has(&["crash", "default", "all"]));
                options.only_crashes = (main != crash).then_some(crash);
            }
            "--pid" => options.pid = Some(take()?.parse().map_err(|_| "logcat: --pid needs a number".to_string())?),
            "-t" | "-T" => {
                options.is_dump |= name == "-t";
                let value = take()?;
                match value.parse() {
                    Ok(count) => options.last = Some(count),
                    Err(_) => options.since = Some(value.to_string()),
                }
            }
            name if name.starts_with('-') => {}
            filter => {
                let (tag, level) = filter.split_once(':').unwrap_or((filter, "V"));
                let level = level.chars().next().unwrap_or('V').to_ascii_uppercase();
                options.filters.push((tag.to_string(), level));
            }
        }
    }
    Ok(options)
}

/// The lines between the entries of different buffers.
#[derive(Default)]
struct Dividers {
    last: Option<&'static str>,
    seen: Vec<&'static str>,
}

impl Dividers {
    fn text(&mut self, options: &Options, entries: &[LogcatEntry]) -> String {
        let mut text = String::new();
        for entry in entries {
            let buffer = if is_crash(entry) { "crash" } else { "main" };
            if self.last != Some(buffer) {
                let what = if self.seen.contains(&buffer) { "switch to" } else { "beginning of" };
                text += &format!("--------- {what} {buffer}\n");
                self.seen.push(buffer);
                self.last = Some(buffer);
            }
            text += &options.line(entry);
        }
        text
    }
}

/// Whether the entry is in the buffer of crashes.
fn is_crash(entry: &LogcatEntry) -> bool {
    entry.tag == "AndroidRuntime" && entry.level == 'E'
}

impl Options {
    fn takes(&self, entry: &LogcatEntry) -> bool {
        if self.only_crashes.is_some_and(|only_crashes| only_crashes != is_crash(entry)) {
            return false;
        }
        let rank = |level| "VDIWEFS".find(level).unwrap_or_default();
        let own = self.filters.iter().rev().find(|(tag, _)| *tag == entry.tag);
        let least = own.or_else(|| self.filters.iter().rev().find(|(tag, _)| tag == "*"));
        self.pid.is_none_or(|pid| pid == entry.pid) && least.is_none_or(|(_, least)| rank(entry.level) >= rank(*least))
    }

    /// A time has a year, or it has none, or it is in seconds since 1970.
    fn is_since(&self, entry: &LogcatEntry) -> bool {
        let Some(since) = &self.since else { return true };
        if let Ok(seconds) = since.parse::<f64>() {
            return entry.millis as f64 / 1000.0 >= seconds;
        }
        let with_year = format!("{}-{}", entry.year(), entry.time());
        let own = if since.split(' ').next().is_some_and(|date| date.len() > 5) { with_year } else { entry.time() };
        own >= *since
    }

    fn line(&self, entry: &LogcatEntry) -> String {
        let LogcatEntry { pid, level, tag, message, .. } = entry;
        match self.format.as_deref() {
            Some("raw") => format!("{message}\n"),
            Some("tag") => format!("{level}/{tag:<8}: {message}\n"),
            Some("brief") => format!("{level}/{tag:<8}({pid:>5}): {message}\n"),
            Some("time") => format!("{} {level}/{tag:<8}({pid:>5}): {message}\n", entry.time()),
            _ => format!("{} {pid:>5} {pid:>5} {level} {tag:<8}: {message}\n", entry.time()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_as_logcat_prints_them() {
        let entry = LogcatEntry {
            millis: 1_709_164_799_999,
            pid: 812,
            level: 'E',
            tag: "Pay".to_string(),
            message: "no".to_string(),
        };
        let line = |words: &[&str]| read(words).unwrap().line(&entry);
        assert_eq!(line(&["-v", "threadtime"]), "02-28 23:59:59.999   812   812 E Pay     : no\n");
        assert_eq!(line(&["-v", "brief"]), "E/Pay     (  812): no\n");
        let takes = |words: &[&str]| read(words).unwrap().takes(&entry);
        assert!(takes(&["-b", "main,crash"]) && takes(&["-b", "all"]) && !takes(&["-b", "crash"]));
        assert!(takes(&["*:E"]) && takes(&["-s", "Pay:W"]) && takes(&["--pid=812"]));
        assert!(!takes(&["*:F"]) && !takes(&["-s", "Other"]) && !takes(&["--pid", "1"]));
        let is_since = |time: &str| read(&["-T", time]).unwrap().is_since(&entry);
        assert!(is_since("02-28 23:59:59.999") && is_since("2024-02-28 00:00:00.000") && is_since("1709164799.0"));
        assert!(!is_since("02-29 00:00:00.000") && !is_since("2025-01-01 00:00:00.000"));
    }
}
