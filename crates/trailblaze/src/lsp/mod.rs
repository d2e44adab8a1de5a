//! The language server: problems, definitions, descriptions, completion and lenses for trails, in any editor.

mod calls;
mod knowledge;
mod running;
mod text;
mod wire;

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use lsp_server::{ErrorCode, Message, Notification, Request, Response};
use percent_encoding::percent_decode_str;
use serde_json::{Value, json};
use tokio::sync::mpsc;
use tokio::time::{Instant, sleep_until};
use trailblaze_core::trail::{StretchDocument, Trail, is_trail};
use trailblaze_core::yaml::{Problem, Severity, Source};

use crate::files::in_address;
use crate::project::environment::Environment;
use crate::project::source::read_source;
use crate::project::stretches;
use crate::sessions::host::SessionHost;
use knowledge::Knowledge;
use running::EditorRuns;
use text::{LspPosition, offset, range};

/// How long the files must rest before they are checked.
const QUIET: Duration = Duration::from_millis(200);
/// How many messages of the editor wait.
const WAITING: usize = 256;
/// How long the last messages may take to be written.
const END_GRACE: Duration = Duration::from_secs(2);
/// The command of lenses.
const RUN: &str = "trailblaze.run";

/// Sends a message to the editor.
type Out = Arc<dyn Fn(Message) + Send + Sync>;

/// Where the server works.
pub struct LspContext<'p> {
    pub root: PathBuf,
    /// The root of the project that a folder is in.
    pub root_of: &'p (dyn Fn(&Path) -> PathBuf + Sync),
    pub environment: Arc<Environment>,
    pub host: SessionHost,
}

/// Serves one editor on stdin and stdout until it says goodbye or is gone. Fails if it sends what is not a message.
pub async fn serve(place: LspContext<'_>) -> std::io::Result<()> {
    let (sender, mut messages) = mpsc::channel(WAITING);
    wire::read_all(sender);
    // An editor that does not read its answers keeps only itself waiting, and each is small.
    let (writer, written) = std::sync::mpsc::channel();
    let writing = wire::write_all(written);
    // An editor that is gone is noticed by its messages.
    let out: Out = Arc::new(move |message| drop(writer.send(message)));
    let mut server = LanguageServer {
        runs: EditorRuns::new(place.environment.program().map(Path::to_path_buf), Arc::clone(&out)),
        place,
        out,
        documents: HashMap::new(),
        knowledge: None,
        published: BTreeSet::new(),
        due: None,
        is_ending: false,
    };
    let ended = loop {
        tokio::select! {
            message = messages.recv() => match message {
                None => break Ok(()),
                Some(Err(error)) => break Err(error),
                Some(Ok(message)) => {
                    if !server.take(message).await {
                        break Ok(());
                    }
                }
            },
            () = sleep_until(server.due.unwrap_or_else(Instant::now)), if server.due.is_some() => server.check().await,
        }
    };
    server.runs.stop();
    // What was said last is written when nobody can say more.
    drop(server);
    let _ = tokio::time::timeout(END_GRACE, tokio::task::spawn_blocking(move || writing.join())).await;
    ended
}

struct LanguageServer<'p> {
    place: LspContext<'p>,
    out: Out,
    /// The texts of open files, by their paths.
    documents: HashMap<PathBuf, String>,
    /// `None` if files have changed since it was read.
    knowledge: Option<Knowledge>,
    /// Files whose problems the editor shows.
    published: BTreeSet<PathBuf>,
    /// When to check the files.
    due: Option<Instant>,
    is_ending: bool,
    runs: EditorRuns,
}

impl LanguageServer<'_> {
    /// Handles a message. False if it was the last.
    async fn take(&mut self, message: Message) -> bool {
        match message {
            Message::Request(request) => self.answer(request).await,
            Message::Notification(note) if note.method == "exit" => return false,
            Message::Notification(note) => self.note(&note),
            Message::Response(_) => {}
        }
        true
    }

    fn send(&self, message: Message) {
        (self.out)(message);
    }

    async fn answer(&mut self, Request { id, method, params }: Request) {
        let result = match method.as_str() {
            "initialize" => {
                self.enter(&params);
                Ok(abilities())
            }
            "shutdown" => {
                self.is_ending = true;
                Ok(Value::Null)
            }
            _ if self.is_ending => Err((ErrorCode::InvalidRequest, "the server is shutting down".to_string())),
            "textDocument/hover" => Ok(self.hover(&params).await.unwrap_or_default()),
            "textDocument/definition" => Ok(self.definition(&params).await.unwrap_or_default()),
            "textDocument/completion" => Ok(self.completion(&params).await.unwrap_or_default()),
            "textDocument/codeLens" => Ok(self.lenses(&params).unwrap_or_else(|| json!([]))),
            "workspace/executeCommand" => self.execute(&params),
            method => Err((ErrorCode::MethodNotFound, format!("unknown method `{method}`"))),
        };
        self.send(Message::Response(match result {
            Ok(result) => Response::new_ok(id, result),
            Err((code, message)) => Response::new_err(id, code as i32, message),
        }));
    }

    /// Works in the folder that the editor has open: not every editor starts the server in it.
    fn enter(&mut self, params: &Value) {
        let first = params.pointer("/workspaceFolders/0/uri").and_then(Value::as_str);
        let folder = first.or_else(|| params["rootUri"].as_str()).and_then(path_of).filter(|folder| folder.is_dir());
        if let Some(folder) = folder {
            self.place.root = (self.place.root_of)(&folder);
        }
    }

    fn note(&mut self, Notification { method, params }: &Notification) {
        let path = params.pointer("/textDocument/uri").and_then(Value::as_str).and_then(path_of);
        match (method.as_str(), path) {
            ("textDocument/didOpen", Some(path)) => {
                let text = params.pointer("/textDocument/text").and_then(Value::as_str).unwrap_or_default();
                self.documents.insert(path, text.to_string());
                self.files_changed();
            }
            ("textDocument/didChange", Some(path)) => {
                // The server asks for whole texts.
                let last = params["contentChanges"].as_array().and_then(|changes| changes.last());
                if let Some(text) = last.and_then(|change| change["text"].as_str()) {
                    self.documents.insert(path.clone(), text.to_string());
                    self.check_text(&path);
                }
            }
            ("textDocument/didSave", Some(_)) | ("workspace/didChangeWatchedFiles", _) => self.files_changed(),
            ("textDocument/didClose", Some(path)) => {
                self.documents.remove(&path);
                self.files_changed();
            }
            _ => {}
        }
    }

    fn files_changed(&mut self) {
        self.knowledge = None;
        self.due = Some(Instant::now() + QUIET);
    }

    async fn knowledge(&mut self) -> Option<&Knowledge> {
        if self.knowledge.is_none() {
            self.knowledge = Knowledge::read(&self.place.root, &self.place.environment, &self.place.host).await;
        }
        self.knowledge.as_ref()
    }

    /// Checks the project and the open trails as they are on disk, as `check` does.
    async fn check(&mut self) {
        self.due = None;
        let trails: Vec<PathBuf> = self.documents.keys().filter(|path| is_trail(path)).cloned().collect();
        let trails: Vec<PathBuf> = trails.into_iter().filter(|path| path.is_file()).collect();
        let host = self.place.host.clone();
        let Some(knowledge) = self.knowledge().await else { return };
        let found = knowledge.problems(&host, trails).await;
        let mut by_file: BTreeMap<PathBuf, Vec<Problem>> = BTreeMap::new();
        for problem in found {
            by_file.entry(self.place.root.join(&problem.source.path)).or_default().push(problem);
        }
        // A file that has no problems any more is published once more, without any.
        let all: BTreeSet<PathBuf> = by_file.keys().cloned().chain(std::mem::take(&mut self.published)).collect();
        for path in all {
            self.publish(&path, by_file.get(&path).map(Vec::as_slice).unwrap_or_default());
        }
    }

    /// Checks a trail as it is in the editor: only what can be known from its text alone.
    fn check_text(&mut self, path: &Path) {
        if !is_trail(path) {
            return;
        }
        let Some(source) = self.source(path) else { return };
        let (_, problems) = Trail::read_in_part(&source);
        self.publish(path, &problems);
    }

    fn publish(&mut self, path: &Path, problems: &[Problem]) {
        if !problems.is_empty() {
            self.published.insert(path.to_path_buf());
        }
        let one = |problem: &Problem| {
            let message = match &problem.hint {
                Some(hint) => format!("{}\n{hint}", problem.message),
                None => problem.message.clone(),
            };
            let severity = if problem.severity == Severity::Error { 1 } else { 2 };
            json!({
                "range": range(&problem.source.text, problem.span), "severity": severity,
                "source": "trailblaze", "message": message,
            })
        };
        let diagnostics: Vec<Value> = problems.iter().map(one).collect();
        let params = json!({"uri": uri_of(path), "diagnostics": diagnostics});
        self.send(Message::Notification(Notification::new("textDocument/publishDiagnostics".to_string(), params)));
    }

    /// The text of an open file.
    fn source(&self, path: &Path) -> Option<Arc<Source>> {
        let shown = path.strip_prefix(&self.place.root).unwrap_or(path);
        Some(Source::new(shown.display().to_string(), self.documents.get(path)?.as_str()))
    }

    /// The file and the byte offset that a request is about.
    fn aimed(&self, params: &Value) -> Option<(Arc<Source>, usize)> {
        let path = path_of(params.pointer("/textDocument/uri")?.as_str()?)?;
        let position: LspPosition = serde_json::from_value(params.get("position")?.clone()).ok()?;
        let source = self.source(&path)?;
        let offset = offset(&source.text, position);
        Some((source, offset))
    }

    async fn hover(&mut self, params: &Value) -> Option<Value> {
        let (source, offset) = self.aimed(params)?;
        let call = calls::at(&source, offset)?;
        let text = self.knowledge().await?.describe(&call.tool)?;
        Some(json!({"contents": {"kind": "markdown", "value": text}, "range": range(&source.text, call.span)}))
    }

    async fn definition(&mut self, params: &Value) -> Option<Value> {
        let (source, offset) = self.aimed(params)?;
        if let Some(used) = calls::used_at(&source, offset) {
            let file = stretches::file(&self.place.root, &source.path, &used)?;
            let start = json!({"line": 0, "character": 0});
            return Some(json!({"uri": uri_of(&file), "range": {"start": start, "end": start}}));
        }
        let call = calls::at(&source, offset)?;
        let (file, source, span) = self.knowledge().await?.definition(&call.tool)?;
        Some(json!({"uri": uri_of(&file), "range": range(&source.text, span)}))
    }

    async fn completion(&mut self, params: &Value) -> Option<Value> {
        let (source, offset) = self.aimed(params)?;
        if calls::is_use_begun(&source.text, offset) {
            let files = stretches::files(&self.place.root, &source.path);
            return Some(files.iter().map(|file| json!({"label": file, "kind": 17})).collect());
        }
        if let Some(used) = calls::parameter_begun(&source.text, offset) {
            let file = stretches::file(&self.place.root, &source.path, &used)?;
            let open = self.source(&file);
            let stretch = open.or_else(|| read_source(&self.place.root, &file, &mut Vec::new()))?;
            let parameters = StretchDocument::parameters_of(&stretch);
            let item = |(name, about): (String, String)| json!({"label": name, "kind": 5, "detail": about, "insertText": format!("{name}: ")});
            return Some(parameters.into_iter().map(item).collect());
        }
        calls::begun(&source.text, offset)?;
        let knowledge = self.knowledge().await?;
        let item = |tool: &trailblaze_core::engine::tool::Tool| {
            let first = tool.description.lines().next().unwrap_or_default();
            json!({"label": tool.name, "kind": 3, "detail": first, "insertText": format!("{}: ", tool.name)})
        };
        Some(Value::Array(knowledge.tools().map(item).collect()))
    }

    /// Above a trail and above each of its steps.
    fn lenses(&self, params: &Value) -> Option<Value> {
        let path = path_of(params.pointer("/textDocument/uri")?.as_str()?).filter(|path| is_trail(path))?;
        let source = self.source(&path)?;
        let (trail, _) = Trail::read_in_part(&source);
        let lens = |line: usize, title: &str, until: Option<usize>| {
            let place = LspPosition { line: u32::try_from(line.saturating_sub(1)).unwrap_or_default(), character: 0 };
            let command = json!({"title": title, "command": RUN, "arguments": [{"file": path, "until": until}]});
            json!({"range": {"start": place, "end": place}, "command": command})
        };
        let steps = trail.iter().flat_map(|trail| trail.steps.iter().zip(1..));
        // Parts that run at the same time are one place to run up to.
        let is_followed = |number: usize| {
            let steps = trail.iter().flat_map(|trail| &trail.steps).skip(number - 1);
            let mut two = steps.take(2).map(|step| &step.group);
            matches!((two.next(), two.next()), (Some(Some(group)), Some(next)) if next.as_ref() == Some(group))
        };
        let steps = steps.filter(|(_, number)| !is_followed(*number));
        let steps = steps.map(|(step, number)| lens(step.text.span.line, "Run up to here", Some(number)));
        Some(Value::Array(std::iter::once(lens(1, "Run trail", None)).chain(steps).collect()))
    }

    fn execute(&mut self, params: &Value) -> Result<Value, (ErrorCode, String)> {
        let invalid = |message: &str| (ErrorCode::InvalidParams, message.to_string());
        if params["command"] != RUN {
            return Err(invalid(&format!("unknown command; `{RUN}` is the only one")));
        }
        let wanted = params.pointer("/arguments/0").ok_or_else(|| invalid("a file is missing"))?;
        let file = wanted["file"].as_str().map(PathBuf::from).filter(|file| is_trail(file) && file.is_file());
        let file = file.ok_or_else(|| invalid("`file` must be the path of a trail"))?;
        let until = wanted["until"].as_u64();
        self.runs.start(&self.place.root, file, until).map_err(|message| invalid(&message))?;
        Ok(Value::Null)
    }
}

/// What the server can do.
fn abilities() -> Value {
    json!({
        "serverInfo": {"name": "trailblaze", "version": env!("CARGO_PKG_VERSION")},
        "capabilities": {
            "positionEncoding": "utf-16",
            "textDocumentSync": {"openClose": true, "change": 1, "save": true},
            "hoverProvider": true,
            "definitionProvider": true,
            "completionProvider": {"triggerCharacters": [" "]},
            "codeLensProvider": {"resolveProvider": false},
            "executeCommandProvider": {"commands": [RUN]},
        },
    })
}

fn path_of(uri: &str) -> Option<PathBuf> {
    let path = uri.strip_prefix("file://")?;
    Some(PathBuf::from(percent_decode_str(path).decode_utf8().ok()?.into_owned()))
}

fn uri_of(path: &Path) -> String {
    format!("file://{}", in_address(path))
}
