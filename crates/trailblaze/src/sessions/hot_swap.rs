//! Changed tools, swapped into the sessions that are open: servers are started anew from changed files, and the tools of
//! YAML files are read again. What cannot be used leaves the tools as they were.

use std::convert::Infallible;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use futures::StreamExt;
use futures::stream::FuturesUnordered;
use trailblaze_core::engine::session::Session;
use trailblaze_core::engine::source::SourceError;
use trailblaze_protocol::event::Level;
use trailblaze_toolhost::server::Renewed;

use crate::project::changes::FileChanges;
use crate::project::loaded::{CONFIG_DIR, PROJECT_FILE};
use crate::project::source::shown;
use crate::sessions::wiring::Wiring;

/// Editors write a file several times; changes within this time are one change.
const QUIET: Duration = Duration::from_millis(50);

/// Swaps what changes, for as long as it is let. `seen` hears of every change first, `swapped` after something was said.
pub async fn follow(
    wiring: &Wiring,
    changes: &mut FileChanges,
    mut seen: impl FnMut(&[PathBuf]),
    swapped: impl Fn(),
) -> Infallible {
    for folder in wiring.servers.concerns().folders_outside(&wiring.loaded.root) {
        changes.watch_too(folder);
    }
    // A server that hangs as it starts holds up nobody, itself with its next change least of all.
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

/// Whether a file may say something about tools.
pub fn is_config(root: &Path, path: &Path) -> bool {
    let name = shown(root, path);
    let is_yaml = name.ends_with(".yaml") || name.ends_with(".yml");
    is_yaml && (name == PROJECT_FILE || name.starts_with(&format!("{CONFIG_DIR}/")))
}

impl Wiring {
    /// Swaps into the open sessions what these files change about their tools, and says how the tools differ. Tells
    /// whether there was anything to say.
    pub async fn refresh(&self, paths: &[PathBuf]) -> bool {
        let mut said = Vec::new();
        if paths.iter().any(|path| is_config(&self.loaded.root, path)) {
            for session in self.sessions() {
                said.extend(reread(&session).await);
            }
        }
        let renewed = self.servers.renew(paths).await;
        let is_any_new = renewed.iter().any(|(_, renewed)| renewed.is_ok());
        said.extend(renewed.into_iter().flat_map(|(name, renewed)| news(&name, renewed)));
        if is_any_new {
            // Before anybody is told, so that whoever calls then calls what is new.
            for session in self.sessions() {
                session.catch_up().await;
                said.extend(session.reload_error().map(|error| (Level::Warning, error.to_string())));
            }
        }
        // Several devices have the same to say.
        let mut once: Vec<(Level, String)> = Vec::new();
        for news in said {
            if !once.contains(&news) {
                once.push(news);
            }
        }
        for (level, text) in &once {
            self.servers.tell(*level, text);
        }
        !once.is_empty()
    }
}

/// What changed in the tools of the files.
async fn reread(session: &Arc<Session>) -> Option<(Level, String)> {
    match session.reload().await {
        Ok(reloaded) if reloaded.changes.is_empty() => None,
        Ok(reloaded) => Some((Level::Info, listed("the project's files changed", &reloaded.changes.lines()))),
        Err(error) => Some((Level::Warning, format!("the tools stay as they were: {error}"))),
    }
}

fn news(name: &str, renewed: Result<Renewed, SourceError>) -> Vec<(Level, String)> {
    match renewed {
        Ok(Renewed { changes, warnings }) => {
            let lines = match changes.is_empty() {
                true => vec!["its tools are listed as before".to_string()],
                false => changes.lines(),
            };
            let swapped = (Level::Info, listed(&format!("server `{name}` was swapped"), &lines));
            let odd = warnings.into_iter().map(|warning| (Level::Warning, format!("server `{name}`: {warning}")));
            std::iter::once(swapped).chain(odd).collect()
        }
        Err(error) => vec![(Level::Warning, format!("server `{name}` stays as it was: {}", error.evidence()))],
    }
}

fn listed(what: &str, lines: &[String]) -> String {
    match lines {
        [line] => format!("{what}: {line}"),
        lines => format!("{what}:\n  {}", lines.join("\n  ")),
    }
}
