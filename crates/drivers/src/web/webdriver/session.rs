//! A session at an endpoint: its commands, one after the other, each in the window and frame that it is meant for.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use hyper::Method;
use parking_lot::Mutex;
use serde_json::{Value, json};
use tokio::sync::MutexGuard;
use tokio_util::sync::CancellationToken;

use super::dialogs::DialogDesk;
use super::error::EndpointError;
use super::http::{WebDriverHttp, WebDriverRequest};

/// The key of an element's id in JSON.
pub const ELEMENT: &str = "element-6066-11e4-a52e-4f735466cecf";
/// The most dialogs that follow each other before a command is given up.
const DIALOGS: usize = 20;
/// How long ending a session may take.
const ENDING: Duration = Duration::from_secs(15);

/// Where a command is carried out: a window, and the elements of the frames in it, outermost first.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct FramePath {
    pub window: String,
    pub frames: Vec<String>,
}

impl FramePath {
    pub fn of_window(window: &str) -> FramePath {
        FramePath { window: window.to_string(), frames: Vec::new() }
    }

    pub fn inside(&self, frame: &str) -> FramePath {
        let frames = self.frames.iter().cloned().chain([frame.to_string()]).collect();
        FramePath { window: self.window.clone(), frames }
    }
}

/// What becomes of a command that a dialog was in the way of, once the dialog is answered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AfterDialog {
    /// It is sent again.
    Again,
    /// It was carried out as far as the dialog let it.
    Done,
}

pub struct WebDriverSession {
    pub http: Arc<WebDriverHttp>,
    pub id: String,
    /// As the endpoint granted them.
    pub capabilities: Value,
    /// Where the endpoint carries out commands; `None` if that is not known. Held during each command.
    place: tokio::sync::Mutex<Option<FramePath>>,
    /// Answers dialogs, once the session has pages.
    pub desk: OnceLock<Arc<DialogDesk>>,
    n_evaluated: AtomicU64,
    /// The frames around the focus, where entering another frame would take it away.
    focus: Option<Mutex<Vec<String>>>,
    end: Mutex<Option<String>>,
    gone: CancellationToken,
}

impl WebDriverSession {
    pub fn new(http: Arc<WebDriverHttp>, id: String, capabilities: Value) -> WebDriverSession {
        WebDriverSession {
            http,
            id,
            capabilities,
            place: tokio::sync::Mutex::default(),
            desk: OnceLock::new(),
            n_evaluated: AtomicU64::new(0),
            focus: None,
            end: Mutex::default(),
            gone: CancellationToken::new(),
        }
    }

    /// With the focus kept where [`note_focus`](Self::note_focus) says, for WebKit, which gives the focus to each frame that is entered.
    pub fn keeping_focus(self) -> WebDriverSession {
        WebDriverSession { focus: Some(Mutex::default()), ..self }
    }

    pub fn keeps_focus(&self) -> bool {
        self.focus.is_some()
    }

    /// Notes which frames are around the focus, outermost first; none if the page itself has it.
    pub fn note_focus(&self, frames: Vec<String>) {
        if let Some(focus) = &self.focus {
            *focus.lock() = frames;
        }
    }

    /// The name of the browser, in lower case.
    pub fn browser(&self) -> String {
        let name = self.capabilities.get("browserName").and_then(Value::as_str);
        name.unwrap_or_default().to_ascii_lowercase()
    }

    pub fn end(&self) -> Option<String> {
        self.end.lock().clone()
    }

    pub async fn gone(&self) {
        self.gone.cancelled().await;
    }

    /// Notes that the session cannot be used any more.
    pub fn note_end(&self, why: String) {
        self.end.lock().get_or_insert(why);
        self.gone.cancel();
    }

    pub async fn get(&self, place: Option<&FramePath>, path: &str) -> Result<Value, EndpointError> {
        self.command(place, Method::GET, path, None, AfterDialog::Again).await
    }

    pub async fn post(
        &self,
        place: Option<&FramePath>,
        path: &str,
        body: Value,
        after: AfterDialog,
    ) -> Result<Value, EndpointError> {
        self.command(place, Method::POST, path, Some(body), after).await
    }

    pub async fn delete(&self, place: &FramePath, path: &str) -> Result<Value, EndpointError> {
        self.command(Some(place), Method::DELETE, path, None, AfterDialog::Again).await
    }

    /// Evaluates an expression, and awaits it if it is a promise. It is evaluated once, even if it opens dialogs or its answer is lost.
    pub async fn evaluate(&self, place: &FramePath, expression: &str, args: &[Value]) -> Result<Value, EndpointError> {
        let number = self.n_evaluated.fetch_add(1, Ordering::Relaxed);
        let args: Vec<Value> =
            [json!(format!("{}-{number}", self.id))].into_iter().chain(args.iter().cloned()).collect();
        let script = format!("{BEFORE}\n{expression}\n{AFTER}");
        let mut current = self.place.lock().await;
        let body = json!({"script": script, "args": args});
        let request =
            WebDriverRequest { is_repeatable: true, ..self.request(Method::POST, "/execute/sync", Some(body)) };
        for _ in 0..DIALOGS {
            let sent = self.send(&mut current, Some(place), request.clone(), AfterDialog::Again).await;
            self.give_focus_back(&mut current).await;
            let mut answer = sent?;
            if let Some(value) = answer.get_mut(0) {
                return Ok(value.take());
            }
        }
        Err(too_many_dialogs("/execute/sync"))
    }

    async fn command(
        &self,
        place: Option<&FramePath>,
        method: Method,
        path: &str,
        body: Option<Value>,
        after: AfterDialog,
    ) -> Result<Value, EndpointError> {
        let mut current = self.place.lock().await;
        let request = self.request(method, path, body);
        let sent = self.send(&mut current, place, request, after).await;
        self.give_focus_back(&mut current).await;
        sent
    }

    /// Moves the focus back to where it was, if a command has entered another frame.
    async fn give_focus_back(&self, current: &mut MutexGuard<'_, Option<FramePath>>) {
        let Some(focus) = self.focus.as_ref().map(|focus| focus.lock().clone()) else { return };
        let Some(at) = current.as_ref().filter(|at| !at.frames.is_empty()).cloned() else { return };
        let page = FramePath::of_window(&at.window);
        let is_back: Result<(), EndpointError> = async {
            if focus.is_empty() {
                // Going to a parent gives it the focus; going to the page at once does not.
                for _ in &at.frames {
                    self.send_bare(self.request(Method::POST, "/frame/parent", Some(json!({})))).await?;
                }
                **current = Some(page);
                return Ok(());
            }
            if at.frames != focus {
                self.switch(current, &page).await?;
                self.switch(current, &FramePath { frames: focus, ..page.clone() }).await?;
            }
            self.switch(current, &page).await
        }
        .await;
        // The frame is gone, or the page is.
        if is_back.is_err() {
            self.note_focus(Vec::new());
            **current = None;
        }
    }

    fn request(&self, method: Method, path: &str, body: Option<Value>) -> WebDriverRequest {
        let is_repeatable = method == Method::GET;
        let shown = match path.strip_prefix("/element/").and_then(|rest| rest.split_once('/')) {
            Some((_, what)) => format!("/element/…/{what}"),
            None => path.to_string(),
        };
        WebDriverRequest { method, path: format!("/session/{}{path}", self.id), shown, body, is_repeatable }
    }

    /// Sends a command where it is meant for. Dialogs in the way are answered.
    async fn send(
        &self,
        current: &mut MutexGuard<'_, Option<FramePath>>,
        place: Option<&FramePath>,
        request: WebDriverRequest,
        after: AfterDialog,
    ) -> Result<Value, EndpointError> {
        for _ in 0..DIALOGS {
            let sent = async {
                if let Some(place) = place {
                    self.switch(current, place).await?;
                }
                self.send_bare(request.clone()).await
            };
            let error = match sent.await {
                Ok(value) => return Ok(value),
                Err(error) => error,
            };
            let Some(message) = error.alert() else { return Err(error) };
            let was_sent = matches!(&error, EndpointError::Failed { doing, .. } if doing.ends_with(&request.shown));
            self.answer_dialog(current.as_ref().map(|place| place.window.clone()), message).await?;
            if was_sent && after == AfterDialog::Done {
                return Ok(Value::Null);
            }
        }
        Err(too_many_dialogs(&request.shown))
    }

    async fn send_bare(&self, request: WebDriverRequest) -> Result<Value, EndpointError> {
        let answer = self.http.send(request).await;
        if let Err(error) = &answer
            && let Some(why) = error.end_of_session()
        {
            self.note_end(why);
        }
        answer
    }

    async fn answer_dialog(&self, tab: Option<String>, message: &str) -> Result<(), EndpointError> {
        let Some(desk) = self.desk.get() else {
            return self.send_bare(self.request(Method::POST, "/alert/accept", Some(json!({})))).await.map(drop);
        };
        let decision = desk.ask(tab.as_deref(), message).await;
        if decision.accept && !decision.text.is_empty() {
            // What is no prompt takes no text.
            let text = json!({"text": decision.text});
            let _ = self.send_bare(self.request(Method::POST, "/alert/text", Some(text))).await;
        }
        let path = if decision.accept { "/alert/accept" } else { "/alert/dismiss" };
        match self.send_bare(self.request(Method::POST, path, Some(json!({})))).await {
            // The page closed it, or somebody else.
            Err(error) if error.is_code("no such alert") => {}
            answered => drop(answered?),
        }
        desk.has_closed(decision);
        Ok(())
    }

    /// Makes the endpoint carry out commands in a window and a frame, unless it does.
    async fn switch(
        &self,
        current: &mut MutexGuard<'_, Option<FramePath>>,
        to: &FramePath,
    ) -> Result<(), EndpointError> {
        if current.as_ref() == Some(to) {
            return Ok(());
        }
        // Not known if it fails on the way.
        let mut at = match current.take() {
            Some(at) if at.window == to.window => at,
            _ => {
                let body = json!({"handle": to.window});
                self.send_bare(self.request(Method::POST, "/window", Some(body))).await?;
                FramePath::of_window(&to.window)
            }
        };
        // From one frame into another, the way leads through the window.
        if !to.frames.starts_with(&at.frames) || at.frames.is_empty() {
            if !at.frames.is_empty() {
                self.send_bare(self.request(Method::POST, "/frame", Some(json!({"id": null})))).await?;
            }
            at.frames.clear();
        }
        for frame in &to.frames[at.frames.len()..] {
            let body = json!({"id": {ELEMENT: frame}});
            self.send_bare(self.request(Method::POST, "/frame", Some(body))).await?;
        }
        **current = Some(to.clone());
        Ok(())
    }

    /// Forgets where commands are carried out, because the window may be gone.
    pub async fn forget_place(&self) {
        *self.place.lock().await = None;
    }

    /// Ends the session. One that is gone is no error.
    pub async fn close(&self) -> Result<(), EndpointError> {
        let ended = end_session(&self.http, &self.id).await;
        self.note_end("the session was closed".to_string());
        ended
    }
}

fn too_many_dialogs(doing: &str) -> EndpointError {
    let message = format!("more than {DIALOGS} dialogs followed each other");
    let code = super::error::ALERT_OPEN.to_string();
    EndpointError::Failed { code, doing: doing.to_string(), message, alert: None }
}

/// Ends a session by its id. One that is gone is no error.
pub async fn end_session(http: &WebDriverHttp, id: &str) -> Result<(), EndpointError> {
    let request = WebDriverRequest {
        method: Method::DELETE,
        path: format!("/session/{id}"),
        shown: "/session/…".to_string(),
        body: None,
        is_repeatable: true,
    };
    let address = http.address().shown().to_string();
    let late = EndpointError::Hangs { address, doing: "DELETE /session/…".to_string(), seconds: ENDING.as_secs() };
    match tokio::time::timeout(ENDING, http.send(request)).await.unwrap_or(Err(late)) {
        Err(error) if error.is_code("invalid session id") => Ok(()),
        ended => ended.map(drop),
    }
}

/// Evaluates what is between them once for each id: the answer to a command that was sent again is that of the first one. The answer is a
/// list with the value, because an endpoint answers `null` if a dialog has opened meanwhile.
///
/// geckodriver gives each script a global object of its own, which is no window and is gone afterwards: what is kept is kept in the page's.
const BEFORE: &str = r#"const globalThis = window;
const kept = globalThis.trailblazeKept;
if (kept?.id === arguments[0]) return kept.value;
const now = { id: arguments[0] };
Object.defineProperty(globalThis, "trailblazeKept", { value: now, configurable: true, writable: true });
return now.value = (async () => [await ("#;
const AFTER: &str = ")])();";
