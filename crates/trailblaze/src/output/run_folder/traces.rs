//! The traces of attempts: `traces/<attempt>/trace.js` and its pictures, and the style sheets that all of them share. They are collected in
//! memory, and written by a thread when an attempt ends whose trace is kept. What is in them is described in `docs/events.md`.

use std::collections::{HashMap, HashSet};
use std::fmt::Write;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::thread::JoinHandle;

use parking_lot::Mutex;
use serde_json::{Map, Value, json};
use sha2::{Digest, Sha256};
use trailblaze_core::driver::{DocumentContent, NetworkExchange};
use trailblaze_core::record::trace::{TraceEntry, TraceStore};
use trailblaze_protocol::event::Moment;
use trailblaze_protocol::geometry::Size;
use trailblaze_protocol::ids::{AttemptId, CallId};

use super::hash;
use super::writer::{Writer, write_file};

/// How many pictures of an attempt are kept, and their bytes. Of more, every second one goes.
const FRAMES: usize = 200;
const FRAME_BYTES: usize = 4 << 20;
/// The bytes of documents and style sheets of an attempt.
const DOCUMENT_BYTES: usize = 16 << 20;
/// The bytes of requests and responses of an attempt.
const EXCHANGE_BYTES: usize = 2 << 20;
/// The least length of a node that others can refer to.
const SHARED: usize = 48;

/// Which traces are kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum TracePolicy {
    Off,
    /// Those of attempts that did not pass.
    #[default]
    Failure,
    On,
}

pub struct RunTraces {
    policy: TracePolicy,
    folder: PathBuf,
    writer: Arc<Writer>,
    collected: Mutex<HashMap<AttemptId, CollectedTrace>>,
    /// The style sheets that are on disk.
    sheets: Arc<Mutex<HashSet<String>>>,
    writing: Mutex<Vec<JoinHandle<()>>>,
}

/// The trace of an attempt that runs.
#[derive(Default)]
struct CollectedTrace {
    frames: Vec<KeptFrame>,
    frame_bytes: usize,
    /// Each as JSON.
    documents: Vec<String>,
    nodes: SharedNodes,
    /// By their files.
    sheets: HashMap<String, Arc<str>>,
    document_bytes: usize,
    /// Each as an entry of a HAR file.
    exchanges: Vec<String>,
    exchange_bytes: usize,
}

struct KeptFrame {
    at: u64,
    size: Size,
    jpeg: Arc<[u8]>,
}

impl RunTraces {
    pub fn new(policy: TracePolicy, folder: PathBuf, writer: Arc<Writer>) -> RunTraces {
        let (collected, sheets, writing) = (Mutex::default(), Arc::default(), Mutex::default());
        RunTraces { policy, folder, writer, collected, sheets, writing }
    }

    /// Waits until the traces that are kept are on disk.
    pub fn finish(&self) {
        for thread in self.writing.lock().drain(..) {
            if thread.join().is_err() {
                self.writer.failed(&self.folder.join("traces"), &io::Error::other("the thread panicked"));
            }
        }
    }
}

impl TraceStore for RunTraces {
    fn add(&self, attempt: &AttemptId, entry: TraceEntry) {
        let at = self.writer.micros();
        let mut collected = self.collected.lock();
        let trace = collected.entry(attempt.clone()).or_default();
        match entry {
            TraceEntry::Frame(frame) => trace.add_frame(KeptFrame { at, size: frame.size, jpeg: frame.jpeg }),
            TraceEntry::Exchanges(exchanges) => exchanges.iter().for_each(|exchange| trace.add_exchange(exchange)),
            TraceEntry::Document { call, moment, content } => trace.add_document(at, &call, moment, content),
        }
    }

    fn end(&self, attempt: &AttemptId, has_passed: bool) {
        let Some(trace) = self.collected.lock().remove(attempt) else { return };
        if has_passed && self.policy != TracePolicy::On {
            return;
        }
        let (folder, sheets, writer) = (self.folder.clone(), Arc::clone(&self.sheets), Arc::clone(&self.writer));
        let attempt = attempt.clone();
        let write = move || {
            if let Err((path, error)) = trace.write(&folder, &attempt, &sheets) {
                writer.failed(&path, &error);
            }
        };
        match std::thread::Builder::new().name("trace".to_string()).spawn(write) {
            Ok(thread) => {
                let mut writing = self.writing.lock();
                writing.retain(|thread| !thread.is_finished());
                writing.push(thread);
            }
            Err(error) => self.writer.failed(&self.folder.join("traces"), &error),
        }
    }

    fn keeps_all(&self) -> bool {
        self.policy == TracePolicy::On
    }
}

impl CollectedTrace {
    fn add_frame(&mut self, frame: KeptFrame) {
        self.frame_bytes += frame.jpeg.len();
        self.frames.push(frame);
        while self.frames.len() > FRAMES || self.frame_bytes > FRAME_BYTES && self.frames.len() > 2 {
            let last = self.frames.len() - 1;
            let mut nth = 0;
            self.frames.retain(|_| {
                nth += 1;
                nth % 2 == 1 || nth > last
            });
            self.frame_bytes = self.frames.iter().map(|frame| frame.jpeg.len()).sum();
        }
    }

    /// Adds a request and its response; without their bodies if these are no text, or if there were many.
    fn add_exchange(&mut self, exchange: &NetworkExchange) {
        let mut entry = exchange.har_entry();
        let is_text = entry.pointer("/response/content/encoding").is_none();
        let text = entry.to_string();
        let text = if is_text && self.exchange_bytes + text.len() <= EXCHANGE_BYTES {
            text
        } else {
            entry["request"].as_object_mut().map(|request| request.remove("postData"));
            if let Some(content) = entry.pointer_mut("/response/content").and_then(Value::as_object_mut) {
                content.retain(|name, _| !matches!(name.as_str(), "text" | "encoding"));
            }
            entry.to_string()
        };
        if self.exchange_bytes <= 2 * EXCHANGE_BYTES {
            self.exchange_bytes += text.len();
            self.exchanges.push(text);
        }
    }

    fn add_document(&mut self, at: u64, call: &CallId, moment: Moment, content: DocumentContent) {
        let DocumentContent { url, title, width, height, frames, sheets } = content;
        if self.document_bytes > DOCUMENT_BYTES {
            return;
        }
        let mut files = Vec::new();
        for text in sheets {
            let file = format!("traces/sheets/{}.css", hash(text.as_bytes()));
            if !self.sheets.contains_key(&file) {
                self.document_bytes += text.len();
                self.sheets.insert(file.clone(), text);
            }
            files.push(file);
        }
        let moment = if moment == Moment::Before { "before" } else { "after" };
        let head = json!({"at": at, "call": call, "moment": moment, "url": url, "title": title, "width": width, "height": height});
        let mut text = head.to_string();
        text.pop();
        text.push_str(",\"root\":0,\"frames\":[");
        for (nth, frame) in frames.into_iter().enumerate() {
            let Value::Object(mut frame) = frame else { continue };
            let node = frame.remove("node").unwrap_or_default();
            name_sheets(&mut frame, "sheets", &files);
            let mut frame = Value::Object(frame).to_string();
            frame.pop();
            let node = self.nodes.pack(&node, &files).text;
            let separator = if nth == 0 { "" } else { "," };
            write!(text, "{separator}{frame},\"node\":{node}}}").expect("a string takes any text");
        }
        text.push_str("]}");
        self.document_bytes += text.len();
        self.documents.push(text);
    }

    fn write(
        self,
        folder: &Path,
        attempt: &AttemptId,
        written: &Mutex<HashSet<String>>,
    ) -> Result<(), (PathBuf, io::Error)> {
        let put = |file: &str, bytes: &[u8]| {
            let path = folder.join(file);
            write_file(&path, bytes).map_err(|error| (path, error))
        };
        for (file, text) in &self.sheets {
            if written.lock().insert(file.clone()) {
                put(file, text.as_bytes())?;
            }
        }
        let mut frames = Vec::new();
        for (nth, KeptFrame { at, size, jpeg }) in self.frames.iter().enumerate() {
            let file = format!("traces/{attempt}/{nth}.jpg");
            put(&file, jpeg)?;
            frames.push(json!({"at": at, "file": file, "width": size.width, "height": size.height}));
        }
        let id = Value::from(attempt.as_str());
        let text = format!(
            "trailblazeTrace({id}, {{\"frames\":{},\"documents\":[{}],\"exchanges\":[{}]}});\n",
            Value::from(frames),
            self.documents.join(",\n"),
            self.exchanges.join(",\n")
        );
        // Last, so that all that it names is there.
        put(&trace_file(attempt), text.as_bytes())
    }
}

/// The file of a trace, relative to the run folder.
pub fn trace_file(attempt: &AttemptId) -> String {
    format!("traces/{attempt}/trace.js")
}

/// Replaces the numbers of style sheets by their files.
fn name_sheets(object: &mut Map<String, Value>, key: &str, files: &[String]) {
    if let Some(Value::Array(sheets)) = object.get_mut(key) {
        let file = |number: &Value| files.get(usize::try_from(number.as_u64()?).ok()?);
        *sheets = sheets.iter().filter_map(file).map(|file| Value::from(file.as_str())).collect();
    }
}

/// The nodes that occurred before, so that one that did not change is only referred to.
#[derive(Default)]
struct SharedNodes(HashMap<[u8; 16], usize>);

/// A node as JSON.
struct PackedNode {
    /// What is written: nodes that occur for the first time are defined in it.
    text: String,
    /// The same with references only. It says whether two nodes are the same.
    canonical: String,
}

impl SharedNodes {
    fn pack(&mut self, node: &Value, files: &[String]) -> PackedNode {
        let Value::Array(parts) = node else {
            let text = node.to_string();
            return PackedNode { canonical: text.clone(), text };
        };
        let (mut text, mut canonical) = (String::from("["), String::from("["));
        for (nth, part) in parts.iter().enumerate() {
            if nth > 0 {
                text.push(',');
                canonical.push(',');
            }
            let packed = match part {
                Value::Object(attributes) => self.attributes(attributes, files),
                part => self.pack(part, files),
            };
            text.push_str(&packed.text);
            canonical.push_str(&packed.canonical);
        }
        text.push(']');
        canonical.push(']');
        if canonical.len() < SHARED {
            return PackedNode { text, canonical };
        }
        let digest: [u8; 16] = Sha256::digest(&canonical)[..16].try_into().expect("a digest has 32 bytes");
        let next = self.0.len();
        match self.0.get(&digest) {
            Some(known) => {
                let reference = format!("[\"#\",{known}]");
                PackedNode { text: reference.clone(), canonical: reference }
            }
            None => {
                self.0.insert(digest, next);
                PackedNode { text: format!("[\"=\",{next},{text}]"), canonical: format!("[\"#\",{next}]") }
            }
        }
    }

    fn attributes(&mut self, attributes: &Map<String, Value>, files: &[String]) -> PackedNode {
        let mut plain = attributes.clone();
        name_sheets(&mut plain, ":sheets", files);
        let shadow = plain.remove(":shadow");
        let mut text = Value::Object(plain).to_string();
        let mut canonical = text.clone();
        if let Some(Value::Array(nodes)) = shadow {
            let nodes: Vec<PackedNode> = nodes.iter().map(|node| self.pack(node, files)).collect();
            for (into, part) in [
                (&mut text, nodes.iter().map(|node| node.text.as_str()).collect::<Vec<_>>()),
                (&mut canonical, nodes.iter().map(|node| node.canonical.as_str()).collect()),
            ] {
                into.pop();
                let separator = if into.len() > 1 { "," } else { "" };
                write!(into, "{separator}\":shadow\":[{}]}}", part.join(",")).expect("a string takes any text");
            }
        }
        PackedNode { text, canonical }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What a reader makes of a packed node.
    fn unpack(node: &Value, known: &mut HashMap<u64, Value>) -> Value {
        match node {
            Value::Array(parts) => match (parts[0].as_str(), parts.get(1).and_then(Value::as_u64)) {
                (Some("#"), Some(number)) => known[&number].clone(),
                (Some("="), Some(number)) => {
                    let node = unpack(&parts[2], known);
                    known.insert(number, node.clone());
                    node
                }
                _ => parts.iter().map(|part| unpack(part, known)).collect(),
            },
            Value::Object(attributes) => {
                let field = |(name, value): (&String, &Value)| match name.as_str() {
                    ":shadow" => {
                        let nodes = value.as_array().expect("nodes").iter();
                        (name.clone(), nodes.map(|node| unpack(node, known)).collect())
                    }
                    _ => (name.clone(), value.clone()),
                };
                Value::Object(attributes.iter().map(field).collect())
            }
            other => other.clone(),
        }
    }

    #[test]
    fn what_did_not_change_between_documents_is_written_once() {
        let long = "a paragraph that is long enough to be referred to by others";
        let row = |text: &str| json!(["li", { "class": "row", ":shadow": [["p", text]] }, ["p", text]]);
        let before = json!(["ul", { "id": "list" }, row(long), row("a"), row(long)]);
        let after = json!(["ul", { "id": "list" }, row(long), row("b"), row(long), "end"]);
        let mut nodes = SharedNodes::default();
        let packed: Vec<String> = [&before, &after].map(|node| nodes.pack(node, &[]).text).into();
        assert_eq!(packed.concat().matches(long).count(), 1, "{packed:?}");
        let mut known = HashMap::new();
        let read: Vec<Value> =
            packed.iter().map(|text| unpack(&serde_json::from_str(text).expect("JSON"), &mut known)).collect();
        assert_eq!(read, [before, after]);
    }

    #[test]
    fn of_many_pictures_the_first_the_last_and_some_between_stay() {
        let mut trace = CollectedTrace::default();
        let size = Size { width: 1, height: 1 };
        (0..1000).for_each(|at| trace.add_frame(KeptFrame { at, size, jpeg: Arc::from([0_u8; 10]) }));
        let kept: Vec<u64> = trace.frames.iter().map(|frame| frame.at).collect();
        assert!((FRAMES / 2..=FRAMES).contains(&kept.len()), "{}", kept.len());
        assert!(kept.is_sorted() && kept[0] == 0 && kept.last() == Some(&999), "{kept:?}");
    }
}
