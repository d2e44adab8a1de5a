//! What a session shows of its device: snapshots, what changed between them, and screenshots.

use std::collections::VecDeque;
use std::time::Duration;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::json;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;
use trailblaze_core::callers::step_result::failure;
use trailblaze_core::engine::cx::Cx;
use trailblaze_core::engine::fault::Stop;
use trailblaze_core::expected_tree;
use trailblaze_core::screen::Screen;
use trailblaze_core::snapshot::{self, Details};
use trailblaze_protocol::exit::Exit;
use trailblaze_protocol::geometry::Rect;

use super::command::Snapshot;
use super::{CommandReply, Interactive, done};
use crate::files::check_links;
use crate::output::screenshot;

/// How many snapshots are kept, to say what changed since one of them.
const KEPT: usize = 16;
/// How long the screen must not change to count as settled, and how long that may take.
const QUIET: Duration = Duration::from_millis(50);
const SETTLE: Duration = Duration::from_secs(1);

/// The snapshots that were shown, with their numbers.
#[derive(Default)]
pub struct ShownSnapshots {
    shown: VecDeque<LastLook>,
    n_shown: u64,
}

struct LastLook {
    number: u64,
    text: String,
    /// The app or the page.
    app: Option<String>,
    details: Details,
    /// Whether all of it was shown, or what changed since one that was.
    is_known: bool,
}

impl LastLook {
    /// Whether it is of this app or page. The fragment of a URL does not count.
    fn is_of(&self, app: Option<&String>) -> bool {
        let page = |app: Option<&String>| app.map(|app| app.split('#').next().unwrap_or_default().to_string());
        page(self.app.as_ref()) == page(app)
    }
}

impl ShownSnapshots {
    /// The text of the last snapshot.
    pub fn last(&self) -> Option<&str> {
        self.shown.back().map(|sight| sight.text.as_str())
    }

    /// The text of the last snapshot with these details.
    fn last_with(&self, details: &Details) -> Option<&str> {
        self.shown.iter().rev().find(|sight| sight.details == *details).map(|sight| sight.text.as_str())
    }

    /// The text of the snapshot with this number, if it has these details.
    fn numbered(&self, number: u64, details: &Details) -> Option<&str> {
        let mut shown = self.shown.iter();
        shown.find(|sight| sight.number == number && sight.details == *details).map(|sight| sight.text.as_str())
    }

    /// The last one with these details that the client has seen completely.
    fn last_like(&self, details: &Details) -> Option<&LastLook> {
        self.shown.iter().rev().find(|sight| sight.is_known && sight.details == *details)
    }

    fn push(&mut self, sight: LastLook) -> u64 {
        self.n_shown += 1;
        self.shown.push_back(LastLook { number: self.n_shown, ..sight });
        if self.shown.len() > KEPT {
            self.shown.pop_front();
        }
        self.n_shown
    }
}

impl Interactive {
    pub(super) async fn snapshot(&mut self, wish: Snapshot, cancel: &CancellationToken) -> CommandReply {
        let cx = self.cx(cancel);
        let seen = see(&cx, &wish.details, wish.screenshot.is_some(), wish.settles).await;
        let (screen, masks) = match seen {
            Ok(seen) => seen,
            Err(stop) => return self.not_seen("snapshot", stop),
        };
        let mut details = wish.details;
        if let Some(reference) = &wish.within {
            let found = screen.root.walk().find(|node| node.reference.as_ref() == Some(reference));
            let Some(found) = found else {
                let message = format!("no element on the screen has the ref `{reference}`");
                return CommandReply::Failed { message, exit: Exit::Failed };
            };
            details.within = Some(found.id);
        }
        if wish.as_tree {
            let root = details.within.and_then(|id| screen.root.walk().find(|node| node.id == id));
            let tree = expected_tree::expected_of(root.unwrap_or(&screen.root));
            return done(tree.clone(), json!({"app": screen.app, "tree": tree}));
        }
        let whole = snapshot::text(&screen, &details);
        let before = match wish.since {
            Some(number) => self.sights.numbered(number, &details),
            None if wish.only_changes && wish.whole_if_new => {
                let last = self.sights.last_like(&details);
                last.filter(|sight| sight.is_of(screen.app.as_ref())).map(|sight| sight.text.as_str())
            }
            None if wish.only_changes => self.sights.last_with(&details),
            None => None,
        };
        let changes = before.map(|before| snapshot::changes(before, &whole));
        let changes = changes.filter(|changes| !wish.whole_if_new || changes.len() < whole.len());
        let is_changes = changes.is_some();
        let text = match (changes, &wish.find) {
            (Some(changes), _) => changes,
            (None, Some(words)) => found_in(&whole, words),
            (None, None) => whole.clone(),
        };
        let is_known = wish.find.is_none() && wish.since.is_none();
        let number = self.sights.push(LastLook { number: 0, text: whole, app: screen.app.clone(), details, is_known });
        let mut value = json!({"app": screen.app, "text": text, "snapshot": number});
        if wish.has_elements {
            value["device"] = json!(self.session.device.description().id);
            value["width"] = screen.size.width.into();
            value["height"] = screen.size.height.into();
            value["elements"] = snapshot::elements(&screen).into();
        }
        if (wish.since.is_some() || wish.whole_if_new) && !is_changes {
            value["isWhole"] = true.into();
        }
        let Some(path) = wish.screenshot else { return done(text, value) };
        let file = self.place.current_dir.join(&path);
        let written = check_links(&self.place.root, &file);
        if let Err(error) = written.and_then(|()| screenshot::write(&file, &screen, &masks, wish.has_marks)) {
            let message = format!("cannot write {}: {error}", path.display());
            return CommandReply::Failed { message, exit: Exit::Environment };
        }
        value["screenshot"] = json!(path);
        done(format!("{text}\nScreenshot: {}", path.display()), value)
    }

    pub(super) async fn screenshot(&mut self, has_marks: bool, cancel: &CancellationToken) -> CommandReply {
        let cx = self.cx(cancel);
        // Only the marks show refs.
        let seen = match has_marks {
            true => see(&cx, &Details::default(), true, false).await,
            false => self.session.device.look_pictured(&cx).await,
        };
        let (screen, masks) = match seen {
            Ok(seen) => seen,
            Err(stop) => return self.not_seen("screenshot", stop),
        };
        match screenshot::png(&screen, &masks, has_marks) {
            Ok(png) => {
                let size = json!({"width": screen.size.width, "height": screen.size.height});
                let url = format!("data:image/png;base64,{}", STANDARD.encode(&png));
                done("a screenshot".to_string(), json!({"app": screen.app, "size": size, "url": url}))
            }
            Err(error) => {
                CommandReply::Failed { message: format!("cannot take a screenshot: {error}"), exit: Exit::Environment }
            }
        }
    }

    pub(super) fn not_seen(&mut self, what: &str, stop: Stop) -> CommandReply {
        match stop {
            Stop::Fault(fault) => self.faulted(what, &fault),
            Stop::Failed(outcome) => self.failed(failure(Some(what), &outcome.text, None), Exit::Failed),
        }
    }
}

/// Looks at the screen, and makes its refs usable in calls.
async fn see(cx: &Cx, details: &Details, has_picture: bool, settles: bool) -> Result<(Screen, Vec<Rect>), Stop> {
    let device = &cx.session.device;
    let end = Instant::now() + SETTLE;
    loop {
        let seen = match has_picture {
            true => device.show_pictured(cx, details).await?,
            false => (device.show_with(cx, details).await?, Vec::new()),
        };
        let is_over = !settles || Instant::now() >= end;
        if is_over || !device.await_change(cx, seen.0.snapshot, QUIET).await? && !seen.0.is_moving {
            return Ok(seen);
        }
    }
}

/// The lines of a snapshot that contain a text, and the elements that they are in.
fn found_in(text: &str, words: &str) -> String {
    let wanted = words.to_lowercase();
    let lines: Vec<&str> = text.lines().collect();
    let indent = |line: &str| line.len() - line.trim_start().len();
    let n_header = lines.iter().rposition(|line| line.starts_with("### ")).map_or(0, |at| at + 1);
    let mut is_kept = vec![false; lines.len()];
    for (at, line) in lines.iter().enumerate().skip(n_header) {
        if !line.to_lowercase().contains(&wanted) {
            continue;
        }
        is_kept[at] = true;
        let mut depth = indent(line);
        for (above, line) in lines[n_header..at].iter().enumerate().rev() {
            if !line.trim().is_empty() && indent(line) < depth {
                depth = indent(line);
                is_kept[n_header + above] = true;
            }
        }
    }
    if !is_kept.contains(&true) {
        return format!("nothing on the screen contains \"{words}\"");
    }
    let kept = lines.iter().zip(is_kept).filter(|(_, is_kept)| *is_kept).map(|(line, _)| *line);
    kept.collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finding_shows_lines_with_the_elements_around_them() {
        let text = "### Screen\nApp: shop\n\nlist \"Items\"\n  [e1] button \"Tea\"\n  row\n    [e2] button \"Buy tea\"\n    [e3] button \"Buy milk\"\nfooter";
        assert_eq!(found_in(text, "milk"), "list \"Items\"\n  row\n    [e3] button \"Buy milk\"");
        assert_eq!(found_in(text, "shoes"), "nothing on the screen contains \"shoes\"");
    }
}
