//! All texts that a page displays, and where: also what is no element of its own or not meant for assistive technology, such
//! as labels, markers of lists, and the content of `::before` and `::after`. The browser itself tells where it has laid them
//! out.

use std::collections::HashMap;

use serde::Deserialize;
use serde_json::{Value, json};
use trailblaze_core::driver::DisplayedText;
use trailblaze_protocol::geometry::Rect;

use super::super::backend::BackendError;
use super::{DevTools, TargetPlace};

/// What lies between the box of a frame and its document.
const STYLES: [&str; 4] = ["border-left-width", "padding-left", "border-top-width", "padding-top"];
/// Attributes whose value a browser displays.
const ATTRIBUTES: [&str; 4] = ["placeholder", "value", "alt", "label"];

/// A snapshot of the documents that one process of the browser shows. Texts are indices into `strings`, or negative.
#[derive(Debug, Deserialize)]
struct LayoutSnapshot {
    documents: Vec<LayoutDocument>,
    strings: Vec<String>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct LayoutDocument {
    frame_id: i64,
    nodes: Nodes,
    layout: LayoutTree,
    text_boxes: TextBoxes,
    #[serde(default)]
    scroll_offset_x: f64,
    #[serde(default)]
    scroll_offset_y: f64,
}

/// One list for each property of nodes.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct Nodes {
    parent_index: Vec<i64>,
    node_name: Vec<i64>,
    node_value: Vec<i64>,
    backend_node_id: Vec<i64>,
    /// Names and values in turn.
    attributes: Vec<Vec<i64>>,
    text_value: Rare,
    input_value: Rare,
    content_document_index: Rare,
}

/// A property that few nodes have.
#[derive(Debug, Default, Deserialize)]
struct Rare {
    index: Vec<usize>,
    value: Vec<i64>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct LayoutTree {
    node_index: Vec<usize>,
    bounds: Vec<Vec<f64>>,
    text: Vec<i64>,
    styles: Vec<Vec<i64>>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct TextBoxes {
    layout_index: Vec<usize>,
    bounds: Vec<Vec<f64>>,
}

/// Where the corner of a document is in the window.
type Corner = (f64, f64);

/// Where the elements of placed documents show the documents of frames: by frame id of the document and backend id of the
/// element.
type Holders = HashMap<(String, i64), Corner>;

/// All texts that a tab displays.
pub async fn displayed(devtools: &DevTools, tab: &str) -> Result<Vec<DisplayedText>, BackendError> {
    let main = devtools.session(tab)?;
    let frames: HashMap<String, TargetPlace> = {
        let known = devtools.known.lock();
        let own = known.frames.iter().filter(|(_, place)| place.tab == tab);
        own.map(|(id, place)| (id.clone(), place.clone())).collect()
    };
    let mut found = FoundText::default();
    found.place(&snapshot(devtools, &main).await?, (0.0, 0.0));
    // Frames of other sites are in other processes. An outer one comes before those in it.
    let mut roots: Vec<(&String, &TargetPlace)> = frames.iter().filter(|(_, frame)| is_root(frame, &frames)).collect();
    roots.sort_by_key(|(_, frame)| depth(frame, &frames));
    for (id, frame) in roots {
        let Some(parent) = &frame.parent else { continue };
        let Some(outer) = frames.get(parent) else { continue };
        // One that was removed meanwhile is not shown.
        let owner = devtools.call_session(&outer.session, "DOM.getFrameOwner", json!({"frameId": id})).await;
        let owner = owner.ok().and_then(|owner| owner.get("backendNodeId")?.as_i64());
        let corner = owner.and_then(|owner| found.holders.get(&(parent.clone(), owner)).copied());
        if let Some(corner) = corner {
            found.place(&snapshot(devtools, &frame.session).await?, corner);
        }
    }
    Ok(found.texts)
}

/// Whether a frame is the outermost one of its process, but not of the tab.
fn is_root(frame: &TargetPlace, frames: &HashMap<String, TargetPlace>) -> bool {
    let parent = frame.parent.as_ref().and_then(|parent| frames.get(parent));
    parent.is_some_and(|parent| parent.session != frame.session)
}

fn depth(frame: &TargetPlace, frames: &HashMap<String, TargetPlace>) -> usize {
    std::iter::successors(Some(frame), |frame| frames.get(frame.parent.as_ref()?)).take(frames.len()).count()
}

async fn snapshot(devtools: &DevTools, session: &str) -> Result<LayoutSnapshot, BackendError> {
    let answer: Value =
        devtools.call_session(session, "DOMSnapshot.captureSnapshot", json!({"computedStyles": STYLES})).await?;
    LayoutSnapshot::deserialize(&answer)
        .map_err(|error| BackendError::Refused(format!("the browser returned an invalid snapshot: {error}")))
}

#[derive(Default)]
struct FoundText {
    texts: Vec<DisplayedText>,
    holders: Holders,
}

impl FoundText {
    /// Adds the documents of a snapshot, the first of which is shown at this corner.
    fn place(&mut self, snapshot: &LayoutSnapshot, corner: Corner) {
        let mut corners = vec![None; snapshot.documents.len()];
        if let Some(first) = corners.first_mut() {
            *first = Some(corner);
        }
        // A document comes before those of its frames.
        for (index, document) in snapshot.documents.iter().enumerate() {
            let Some((x, y)) = corners[index] else { continue };
            let origin = (x - document.scroll_offset_x, y - document.scroll_offset_y);
            self.add(document, &snapshot.strings, origin);
            for (node, corner) in document.frames(&snapshot.strings, origin) {
                let inner =
                    document.nodes.content_document_index.of(node).and_then(|inner| usize::try_from(inner).ok());
                if let Some(place) = inner.and_then(|inner| corners.get_mut(inner)) {
                    *place = Some(corner);
                }
                if let Some(backend) = document.nodes.backend_node_id.get(node) {
                    self.holders.insert((string(&snapshot.strings, document.frame_id).to_string(), *backend), corner);
                }
            }
        }
    }

    fn add(&mut self, document: &LayoutDocument, strings: &[String], origin: Corner) {
        let LayoutDocument { nodes, layout, text_boxes, .. } = document;
        let mut boxes: HashMap<usize, Vec<Rect>> = HashMap::new();
        for (index, bounds) in text_boxes.layout_index.iter().zip(&text_boxes.bounds) {
            boxes.entry(*index).or_default().extend(rect(bounds, origin));
        }
        let options = options(nodes, strings);
        for (index, node) in layout.node_index.iter().enumerate() {
            let whole = || layout.bounds.get(index).and_then(|bounds| rect(bounds, origin));
            let drawn = layout.text.get(index).map_or("", |text| string(strings, *text));
            let (text, boxes) = if drawn.is_empty() {
                let mut text = nodes.displayed_value(*node, strings);
                options.get(node).into_iter().for_each(|options| text.push_str(options));
                (text, whole().into_iter().collect())
            } else {
                // A text as it was written, before styles changed its letters; generated content has none.
                let written = nodes.node_value.get(*node).map_or("", |text| string(strings, *text));
                let text = if written.is_empty() { drawn } else { written };
                (text.to_string(), boxes.remove(&index).unwrap_or_else(|| whole().into_iter().collect()))
            };
            if !text.trim().is_empty() && !boxes.is_empty() {
                self.texts.push(DisplayedText { text, boxes });
            }
        }
    }
}

impl LayoutDocument {
    /// The nodes that are frames, and the corners of their documents.
    fn frames(&self, strings: &[String], origin: Corner) -> Vec<(usize, Corner)> {
        let corner = |(index, node): (usize, &usize)| {
            let name = string(strings, *self.nodes.node_name.get(*node)?);
            if !["IFRAME", "FRAME", "OBJECT", "EMBED"].contains(&name) {
                return None;
            }
            let [x, y, ..] = self.layout.bounds.get(index)?.as_slice() else { return None };
            let style = |n: usize| {
                let text = self.layout.styles.get(index).and_then(|styles| styles.get(n));
                let text = text.map_or("", |text| string(strings, *text));
                text.strip_suffix("px").and_then(|length| length.parse::<f64>().ok()).unwrap_or(0.0)
            };
            Some((*node, (x + style(0) + style(1) + origin.0, y + style(2) + style(3) + origin.1)))
        };
        self.layout.node_index.iter().enumerate().filter_map(corner).collect()
    }
}

impl Nodes {
    /// What the browser displays for an element in a way that is not part of the document: the value or the placeholder of a
    /// field, the alternative of a picture.
    fn displayed_value(&self, node: usize, strings: &[String]) -> String {
        let name = self.node_name.get(node).map_or("", |name| string(strings, *name));
        if !["INPUT", "TEXTAREA", "SELECT", "IMG", "OPTION", "OPTGROUP", "AREA"].contains(&name) {
            return String::new();
        }
        let own = [&self.input_value, &self.text_value].into_iter().filter_map(|rare| rare.of(node));
        let attributes = self.attributes.get(node).map(Vec::as_slice).unwrap_or_default();
        let is_displayed = |pair: &&[i64]| ATTRIBUTES.contains(&string(strings, pair[0]));
        let attributes = attributes.chunks_exact(2).filter(is_displayed).map(|pair| pair[1]);
        own.chain(attributes).map(|text| string(strings, text)).collect::<Vec<_>>().join(" ")
    }
}

/// The texts of the options of each list, which have no box of their own while it is closed.
fn options(nodes: &Nodes, strings: &[String]) -> HashMap<usize, String> {
    let mut options: HashMap<usize, String> = HashMap::new();
    let name = |node: usize| nodes.node_name.get(node).map_or("", |name| string(strings, *name));
    let parent = |node: usize| nodes.parent_index.get(node).and_then(|parent| usize::try_from(*parent).ok());
    for (node, value) in nodes.node_value.iter().enumerate() {
        let Some(option) = parent(node).filter(|option| name(*option) == "OPTION") else { continue };
        let list = parent(option).and_then(|outer| if name(outer) == "OPTGROUP" { parent(outer) } else { Some(outer) });
        if let Some(list) = list {
            let text = options.entry(list).or_default();
            text.push(' ');
            text.push_str(string(strings, *value));
        }
    }
    options
}

impl Rare {
    fn of(&self, node: usize) -> Option<i64> {
        // In the order of nodes.
        let at = self.index.binary_search(&node).ok()?;
        self.value.get(at).copied()
    }
}

fn string(strings: &[String], index: i64) -> &str {
    usize::try_from(index).ok().and_then(|index| strings.get(index)).map_or("", String::as_str)
}

/// A box of a document, in the window. `None` if nothing of it can be seen.
fn rect(bounds: &[f64], (x, y): Corner) -> Option<Rect> {
    let [left, top, width, height] = *bounds else { return None };
    let (left, top) = (left + x, top + y);
    let rect = Rect {
        left: left.floor() as i32,
        top: top.floor() as i32,
        right: (left + width).ceil() as i32,
        bottom: (top + height).ceil() as i32,
    };
    (width > 0.0 && height > 0.0).then_some(rect)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_where_their_frames_show_them() {
        let strings =
            ["", "BODY", "IFRAME", "#text", "hunter2", "::before", "3px", "0px", "top", "inner", "INPUT", "value"];
        let of = |text: &str| strings.iter().position(|known| *known == text).unwrap();
        let snapshot = json!({
            "strings": strings,
            "documents": [
                {
                    "frameId": of("top"), "scrollOffsetX": 0, "scrollOffsetY": 100,
                    "nodes": {
                        "parentIndex": [-1, 0, 0, 0], "nodeName": [of("BODY"), of("IFRAME"), of("::before"), of("INPUT")],
                        "nodeValue": [-1, -1, -1, -1], "backendNodeId": [1, 2, 3, 4],
                        "attributes": [[], [], [], [of("value"), of("hunter2")]],
                        "contentDocumentIndex": {"index": [1], "value": [1]},
                    },
                    "layout": {
                        "nodeIndex": [0, 1, 2, 3], "text": [-1, -1, of("hunter2"), -1],
                        "bounds": [[0, 0, 800, 600], [10, 120, 300, 150], [0, 100, 50, 20], [5, 300, 40, 10.5]],
                        "styles": [[], [of("3px"), of("0px"), of("3px"), of("0px")], [], []],
                    },
                    "textBoxes": {"layoutIndex": [2, 2], "bounds": [[0, 100, 50, 10], [0, 110, 20, 10]]},
                },
                {
                    "frameId": of("inner"), "scrollOffsetX": 0, "scrollOffsetY": 5,
                    "nodes": {"nodeName": [of("#text")], "nodeValue": [of("hunter2")], "backendNodeId": [1]},
                    "layout": {"nodeIndex": [0], "text": [of("hunter2")], "bounds": [[0, 0, 60, 19]]},
                    "textBoxes": {"layoutIndex": [0], "bounds": [[0, 0, 60, 19]]},
                },
            ],
        });
        let mut found = FoundText::default();
        found.place(&LayoutSnapshot::deserialize(&snapshot).unwrap(), (0.0, 0.0));
        let boxes: Vec<Vec<Rect>> = found.texts.iter().map(|text| text.boxes.clone()).collect();
        let expected = [
            vec![Rect::new(0, 0, 50, 10), Rect::new(0, 10, 20, 10)],
            vec![Rect::new(5, 200, 40, 11)],
            vec![Rect::new(13, 18, 60, 19)],
        ];
        assert_eq!(boxes, expected);
        assert!(found.texts.iter().all(|text| text.text.contains("hunter2")), "{:?}", found.texts);
        assert_eq!(found.holders.get(&("top".to_string(), 2)), Some(&(13.0, 23.0)));
    }
}
