//! What the documents of the front page contain, for the trace of an attempt.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use async_trait::async_trait;
use futures::future::join_all;
use parking_lot::Mutex;
use serde::Deserialize;
use serde_json::{Value, json};
use trailblaze_core::driver::{Budget, DocumentContent, DocumentSnapshots, DriverError};

use super::backend::{FrameId, Realm};
use super::driver::Web;
use super::page::Page;
use super::state::Frame;

const SCRIPT: &str = include_str!("document.js");
/// How many style sheets are kept between snapshots, and how many bytes.
const SHEETS: usize = 1000;
const SHEET_BYTES: usize = 16 << 20;

/// The texts of style sheets that pages have sent. They do so once for each document.
#[derive(Default)]
pub struct KnownSheets(Mutex<KnownTexts>);

#[derive(Default)]
struct KnownTexts {
    by_key: HashMap<String, Arc<str>>,
    n_bytes: usize,
}

/// The answer of document.js.
#[derive(Deserialize)]
struct ReadDocument {
    url: String,
    base: String,
    title: String,
    width: f64,
    height: f64,
    scroll: Value,
    sheets: Vec<String>,
    texts: BTreeMap<String, String>,
    node: Value,
}

impl KnownSheets {
    fn add(&self, texts: BTreeMap<String, String>) {
        let mut known = self.0.lock();
        for (key, text) in texts {
            if known.by_key.len() >= SHEETS || known.n_bytes + text.len() > SHEET_BYTES {
                // Pages send again what is missing.
                *known = KnownTexts::default();
            }
            known.n_bytes += text.len();
            known.by_key.insert(key, text.into());
        }
    }

    fn get(&self, key: &str) -> Option<Arc<str>> {
        self.0.lock().by_key.get(key).cloned()
    }
}

#[async_trait]
impl DocumentSnapshots for Web {
    async fn snapshot(&self, budget: &Budget) -> Result<DocumentContent, DriverError> {
        let nothing = || DriverError::Refused { reason: "no page is open".to_string() };
        let page = self.opened().ok_or_else(nothing)?;
        page.read_documents(budget, &self.sheets).await?.ok_or_else(nothing)
    }
}

impl Page {
    /// All documents of the front tab, as far as scripts can run in them; `None` if the main one has just been replaced.
    async fn read_documents(
        &self,
        budget: &Budget,
        sheets: &KnownSheets,
    ) -> Result<Option<DocumentContent>, DriverError> {
        let frames: Vec<(FrameId, Frame)> = {
            let state = self.shared.state();
            let Some(tab) = state.front() else { return Ok(None) };
            let mut frames: Vec<_> = tab.frames.iter().map(|(id, frame)| (id.clone(), frame.clone())).collect();
            frames.sort_by_key(|(id, frame)| (*id != tab.main_frame, frame.number));
            frames
        };
        let realms: HashMap<FrameId, Realm> =
            frames.iter().filter_map(|(id, frame)| Some((id.clone(), frame.realm.clone()?))).collect();
        let reads = frames.iter().map(|(id, frame)| {
            let (realm, parent) = (realms.get(id), frame.parent.as_ref().and_then(|parent| realms.get(parent)));
            async move {
                let read = self.read_document(budget, realm?, sheets).await?;
                let owner = match parent {
                    Some(parent) => self.owner_of(budget, id, frame, parent).await,
                    None => None,
                };
                Some((id, frame, owner, read))
            }
        });
        let read: Vec<_> = join_all(reads).await.into_iter().flatten().collect();
        // Which document the element of a frame contains, by the parent and the number of the element in it.
        let index_of: HashMap<(FrameId, u64), usize> = read
            .iter()
            .enumerate()
            .filter_map(|(index, (_, frame, owner, _))| Some(((frame.parent.clone()?, (*owner)?), index)))
            .collect();
        let mut content = DocumentContent::default();
        let mut numbers: HashMap<String, usize> = HashMap::new();
        for (index, (id, frame, _, read)) in read.into_iter().enumerate() {
            let ReadDocument { url, base, title, width, height, scroll, sheets: keys, texts: _, mut node } = read;
            match (index, &frame.parent) {
                (0, None) => {
                    (content.url, content.title) = (url.clone(), title);
                    (content.width, content.height) = (width as u32, height as u32);
                }
                (0, Some(_)) => return Ok(None),
                _ => {}
            }
            let mut number = |key: &str| {
                let text = sheets.get(key)?;
                Some(*numbers.entry(key.to_string()).or_insert_with(|| {
                    content.sheets.push(text);
                    content.sheets.len() - 1
                }))
            };
            let keys: Vec<usize> = keys.iter().filter_map(|key| number(key)).collect();
            link(&mut node, &|owner| index_of.get(&(id.clone(), owner)).copied(), &mut number);
            content.frames.push(json!({"url": url, "base": base, "scroll": scroll, "sheets": keys, "node": node}));
        }
        Ok((!content.frames.is_empty()).then_some(content))
    }

    async fn read_document(&self, budget: &Budget, realm: &Realm, sheets: &KnownSheets) -> Option<ReadDocument> {
        for is_new in [false, true] {
            let expression = format!("({SCRIPT})({{ isNew: {is_new} }})");
            let answer = self.ask_in(budget, realm, &expression).await.ok()??;
            let mut read: ReadDocument = serde_json::from_str(answer.as_str()?).ok()?;
            sheets.add(std::mem::take(&mut read.texts));
            // An answer with their texts may have been lost.
            if is_new || read.sheets.iter().all(|key| sheets.get(key).is_some()) {
                return Some(read);
            }
        }
        None
    }
}

/// Replaces the numbers of elements with frames by the places of their documents, and the keys of style sheets by their numbers.
fn link(node: &mut Value, document: &impl Fn(u64) -> Option<usize>, sheet: &mut impl FnMut(&str) -> Option<usize>) {
    let Value::Array(parts) = node else { return };
    for part in parts.iter_mut().skip(1) {
        let Value::Object(attributes) = part else {
            link(part, document, sheet);
            continue;
        };
        if let Some(owner) = attributes.remove(":frame")
            && let Some(index) = owner.as_u64().and_then(document)
        {
            attributes.insert(":frame".to_string(), index.into());
        }
        if let Some(Value::Array(keys)) = attributes.get_mut(":sheets") {
            *keys = keys.iter().filter_map(|key| sheet(key.as_str()?)).map(Value::from).collect();
        }
        if let Some(Value::Array(inner)) = attributes.get_mut(":shadow") {
            inner.iter_mut().for_each(|node| link(node, document, sheet));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frames_and_style_sheets_are_linked_also_in_shadow_roots() {
        let frame = json!(["iframe", { ":frame": 7 }]);
        let mut node = json!(["div", { ":shadow": [frame], ":sheets": ["a", "gone"] }, ["iframe", { ":frame": 9 }]]);
        link(&mut node, &|owner| (owner == 7).then_some(2), &mut |key| (key == "a").then_some(0));
        let expected = json!(["div", { ":shadow": [["iframe", { ":frame": 2 }]], ":sheets": [0] }, ["iframe", {}]]);
        assert_eq!(node, expected);
    }
}
