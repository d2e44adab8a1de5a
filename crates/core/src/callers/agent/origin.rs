//! Keeps a model inside the app: it opens and acts on only pages of the app, of the target's list, or that the test itself names,
//! and sends away only files that the step names.

use std::collections::BTreeSet;

use serde_json::{Map, Value};
use trailblaze_protocol::event::ToolKind;

use super::prompt::Task;
use crate::engine::registry::Registry;
pub use crate::values::origin::{BLANK, origin};

/// Where the model may act.
pub struct Bounds<'a> {
    pub registry: &'a Registry,
    pub task: &'a Task<'a>,
    /// Origins that the test itself has opened.
    pub trusted: &'a BTreeSet<String>,
    /// The page that is open.
    pub here: Option<&'a str>,
}

impl Bounds<'_> {
    /// What is wrong with a call: it would leave the app, act on a page that is not part of it, or send files away.
    pub fn check(&self, tool: &str, args: &Map<String, Value>) -> Result<(), String> {
        let Some(known) = self.registry.get(tool) else { return Ok(()) };
        let is_built_in = !known.is_custom();
        if let Some(url) = args.get("url").and_then(Value::as_str).filter(|_| is_built_in) {
            return self.check_url(url);
        }
        let files = args.get("files").and_then(Value::as_array).into_iter().flatten();
        let files = files.chain(args.get("file")).filter_map(Value::as_str);
        for file in files.filter(|_| is_built_in) {
            let name = file.rsplit(['/', '\\']).next().unwrap_or_default();
            if name.is_empty() || !self.is_named(name) {
                return Err(format!("`{file}` is not a file that the step names"));
            }
        }
        let goes_back = matches!(tool, "web_navigate" | "web_tabs" | "pressBack" | "web_scroll" | "wait");
        let page = self.here.filter(|page| !self.is_own(page));
        match page.and_then(origin) {
            Some(origin) if known.kind == ToolKind::Action && !goes_back => Err(format!(
                "the page at {origin} is not part of the app, so nothing is done there; go back, or end the step. The target may allow \
                 it with `allowed_urls:`"
            )),
            _ => Ok(()),
        }
    }

    fn check_url(&self, url: &str) -> Result<(), String> {
        match origin(url) {
            _ if self.is_own(url) => Ok(()),
            None if self.is_named(url.trim()) => Ok(()),
            None => Err(format!("`{url}` is a file of this machine; use a URL of the app")),
            Some(_) => Err(format!("`{url}` is not part of the app; the target may allow it with `allowed_urls:`")),
        }
    }

    /// Whether a URL belongs to the app, or the test names its host.
    pub fn is_own(&self, url: &str) -> bool {
        let Some(wanted) = origin(url) else { return false };
        let host = wanted.split_once("://").map_or(wanted.as_str(), |(_, host)| host);
        let mut own = self.registry.own_urls.iter().filter_map(|url| origin(url));
        wanted == BLANK
            || self.trusted.contains(&wanted)
            || own.any(|own| own == wanted)
            || (!host.is_empty() && self.is_named(host))
    }

    /// The origins of the app, and that of the open page if it is part of the app.
    pub fn own_origins(&self) -> BTreeSet<String> {
        let here = self.here.filter(|page| self.is_own(page));
        let own = self.registry.own_urls.iter().map(String::as_str).chain(here).filter_map(origin);
        own.chain(self.trusted.iter().cloned()).collect()
    }

    fn is_named(&self, text: &str) -> bool {
        [Some(self.task.text), self.task.context].into_iter().flatten().any(|told| told.contains(text))
    }
}
