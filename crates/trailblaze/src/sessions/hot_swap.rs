//! Hot-swaps changed tools into the open sessions: restarts servers whose files changed, and reads YAML tools again. The
//! tools of a change that cannot be used fail until the next one. A call does not wait for the watch: it compares the files
//! itself.

use std::convert::Infallible;
use std::path::{Path, PathBuf};
use std::time::Duration;

use futures::StreamExt;
use futures::stream::FuturesUnordered;
use parking_lot::Mutex;
use trailblaze_core::engine::session::Session;
use trailblaze_core::engine::source::SourceError;
use trailblaze_protocol::event::Level;
use trailblaze_toolhost::server::Renewed;

use crate::project::changes::FileChanges;
use crate::project::loaded::{CONFIG_DIR, PROJECT_FILE};
use crate::project::source::shown;
use crate::servers::tool_servers::{ToolServers, about};
use crate::sessions::wiring::Wiring;

/// Editors write a file several times; changes within this time are one change.
const QUIET: Duration = Duration::from_millis(50);

/// Swaps tools as files change, until it is dropped. Calls `seen` first for every change, and `swapped` after a change
/// was reported.
pub async fn follow(
    wiring: &Wiring,
    changes: &mut FileChanges,
    mut seen: impl FnMut(&[PathBuf]),
    swapped: impl Fn(),
) -> Infallible {
    wiring.servers.follow_changes();
    for folder in wiring.servers.concerns().folders_outside(&wiring.loaded.root) {
        changes.watch_too(folder);
    }
    // A server that hangs during its start must not block others, or its own next change.
    let mut under_way = FuturesUnordered::new();
    loop {
        tokio::select! {
            paths = changes.next(QUIET, |_| true) => {
                seen(&paths);
                under_way.push(async move { wiring.refresh(&paths).await });
            }
            Some(has_spoken) = under_way.next() => {
                if has_spoken {
                    swapped();
                }
            }
        }
    }
}

/// Whether a file may affect tools.
pub fn is_config(root: &Path, path: &Path) -> bool {
    let name = shown(root, path);
    let is_yaml = name.ends_with(".yaml") || name.ends_with(".yml");
    is_yaml && (name == PROJECT_FILE || name.starts_with(&format!("{CONFIG_DIR}/")))
}

/// Whether a file may be part of a script.
pub fn is_script(path: &Path) -> bool {
    let ending = path.extension().and_then(|ending| ending.to_str());
    matches!(ending, Some("ts" | "mts" | "js" | "mjs" | "cjs" | "json"))
}

impl Wiring {
    /// Swaps the tools that these files change in the open sessions, and reports how they differ. Returns whether there
    /// was anything to report.
    pub async fn refresh(&self, paths: &[PathBuf]) -> bool {
        let reports = Reports::of(&self.servers);
        let mut said = Vec::new();
        let is_any_config = paths.iter().any(|path| is_config(&self.loaded.root, path));
        let is_any_script = paths.iter().any(|path| is_script(path));
        for session in self.sessions() {
            // A script may import a file that it did not import before, so any of them counts.
            if is_any_config || is_any_script && session.registry().tools().any(|tool| tool.code().is_some()) {
                said.extend(reread(&self.servers, &session).await);
            }
        }
        let renewed = self.servers.renew(paths, &|name, error| reports.not_swapped(name, error)).await;
        let is_any_new = renewed.iter().any(|(_, renewed)| renewed.is_ok());
        said.extend(renewed.into_iter().flat_map(|(name, renewed)| swapped(&self.servers, &name, renewed)));
        if is_any_new {
            // Before the change is reported, so that calls made after the report use the new tools.
            for session in self.sessions() {
                session.catch_up().await;
                said.extend(
                    session.reload_error().map(|error| ReloadNews::new(FILES, Level::Warning, error.to_string())),
                );
            }
        }
        said.into_iter().for_each(|news| reports.tell(news));
        reports.are_any()
    }
}

/// Swaps what changed since the tools of a session were loaded, before the watch reports it, and waits for it. If `is_asked`, also
/// tries again what could not be started before. Fails if a changed server does not start.
pub async fn catch_up(
    servers: &ToolServers,
    session: &Session,
    (are_files_outdated, is_asked): (bool, bool),
) -> Result<(), SourceError> {
    let reports = Reports::of(servers);
    let mut said = Vec::new();
    if are_files_outdated {
        said.extend(reread(servers, session).await);
    }
    let renewed = servers.renew_all(is_asked, &|name, error| reports.not_swapped(name, error)).await;
    servers.warn_of_stale_builds();
    let failed = renewed.iter().find_map(|(name, renewed)| Some((name.clone(), renewed.as_ref().err()?.clone())));
    said.extend(renewed.into_iter().flat_map(|(name, renewed)| swapped(servers, &name, renewed)));
    session.catch_up().await;
    said.into_iter().for_each(|news| reports.tell(news));
    match failed {
        None => Ok(()),
        Some((name, error)) => {
            if is_asked {
                // Whoever asked is told by the answer.
                servers.settle(&about(&name));
            }
            Err(error)
        }
    }
}

/// What the project's own files are called in reports.
const FILES: &str = "the project's files";

/// What became of a change.
#[derive(PartialEq)]
struct ReloadNews {
    /// What changed: the files of the project, or a server.
    about: String,
    level: Level,
    text: String,
}

impl ReloadNews {
    fn new(about: &str, level: Level, text: String) -> ReloadNews {
        ReloadNews { about: about.to_string(), level, text }
    }
}

/// Reports changes, each once, because several devices report the same one.
struct Reports<'s> {
    servers: &'s ToolServers,
    told: Mutex<Vec<ReloadNews>>,
}

impl Reports<'_> {
    fn of(servers: &ToolServers) -> Reports<'_> {
        Reports { servers, told: Mutex::default() }
    }

    fn tell(&self, news: ReloadNews) {
        let mut told = self.told.lock();
        if !told.contains(&news) {
            self.servers.tell(&news.about, news.level, &news.text);
            told.push(news);
        }
    }

    fn not_swapped(&self, name: &str, error: &SourceError) {
        let about = about(name);
        let text = format!("{about} was not swapped: {}", error.evidence());
        let news = ReloadNews::new(&about, Level::Warning, text);
        if !self.told.lock().contains(&news) {
            // What was reported about older files.
            self.servers.settle(&about);
        }
        self.tell(news);
    }

    fn are_any(&self) -> bool {
        !self.told.lock().is_empty()
    }
}

/// The changes to tools defined in files.
async fn reread(servers: &ToolServers, session: &Session) -> Option<ReloadNews> {
    let known = session.reload_error();
    let reloaded = session.reload().await;
    // Already reported.
    if reloaded.is_err() && reloaded.as_ref().err() == known.as_ref() {
        return None;
    }
    // What was reported about older files.
    servers.settle(FILES);
    match reloaded {
        Ok(reloaded) => {
            let text = listed(&format!("{FILES} changed"), &reloaded.changes.lines());
            (!reloaded.changes.is_empty()).then(|| ReloadNews::new(FILES, Level::Info, text))
        }
        Err(error) => Some(ReloadNews::new(FILES, Level::Warning, format!("the tools were not reloaded: {error}"))),
    }
}

/// What a new version of a server changes. One that failed was reported when it did.
fn swapped(servers: &ToolServers, name: &str, renewed: Result<Renewed, SourceError>) -> Vec<ReloadNews> {
    let Ok(Renewed { changes, warnings }) = renewed else { return Vec::new() };
    let about = about(name);
    // What was reported about older files.
    servers.settle(&about);
    let lines = match changes.is_empty() {
        true => vec!["its list of tools is unchanged".to_string()],
        false => changes.lines(),
    };
    let swapped = ReloadNews::new(&about, Level::Info, listed(&format!("{about} was swapped"), &lines));
    let odd = warnings.iter().map(|warning| ReloadNews::new(&about, Level::Warning, format!("{about}: {warning}")));
    std::iter::once(swapped).chain(odd).collect()
}

fn listed(what: &str, lines: &[String]) -> String {
    match lines {
        [line] => format!("{what}: {line}"),
        lines => format!("{what}:\n  {}", lines.join("\n  ")),
    }
}
