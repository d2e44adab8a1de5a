//! Dialogs that a command meets. Classic WebDriver does not report them: the next command fails, and says what the dialog says.

use std::collections::HashSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use parking_lot::Mutex;
use tokio::sync::oneshot;
use tokio::time::timeout;

use super::super::backend::{BrowserEvent, BrowserEventSink, Dialog};

/// How long the page half may take to say how a dialog is answered.
const DECIDING: Duration = Duration::from_secs(5);
/// The most dialogs that warnings are given for.
const MOST_WARNED: usize = 100;

/// Dialogs that a warning was given for. Shared by the sessions of a device.
#[derive(Default)]
pub struct WarnedDialogs(Mutex<HashSet<String>>);

impl WarnedDialogs {
    pub fn is_new(&self, dialog: &str) -> bool {
        let mut warned = self.0.lock();
        warned.len() < MOST_WARNED && warned.insert(dialog.to_string())
    }
}

/// Asks the page half how dialogs are answered.
pub struct DialogDesk {
    sink: Arc<dyn BrowserEventSink>,
    last: AtomicU64,
    open: Mutex<Option<OpenDialog>>,
}

struct OpenDialog {
    id: String,
    answer: oneshot::Sender<DialogDecision>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DialogDecision {
    pub accept: bool,
    pub text: String,
}

impl DialogDesk {
    pub fn new(sink: Arc<dyn BrowserEventSink>) -> DialogDesk {
        DialogDesk { sink, last: AtomicU64::new(0), open: Mutex::default() }
    }

    /// Reports a dialog, and returns how it is answered: it is accepted if nobody decides.
    pub async fn ask(&self, tab: Option<&str>, message: &str) -> DialogDecision {
        let id = self.last.fetch_add(1, Ordering::Relaxed).to_string();
        let (answer, decided) = oneshot::channel();
        *self.open.lock() = Some(OpenDialog { id: id.clone(), answer });
        self.sink.take(BrowserEvent::DialogOpened(Dialog {
            id,
            tab: tab.map(str::to_string),
            // The protocol does not tell an alert from a question.
            kind: "dialog".to_string(),
            message: message.to_string(),
            default_text: String::new(),
        }));
        let decided = timeout(DECIDING, decided).await.ok().and_then(Result::ok);
        decided.unwrap_or(DialogDecision { accept: true, text: String::new() })
    }

    pub fn decide(&self, dialog: &str, decision: DialogDecision) {
        if let Some(open) = self.open.lock().take_if(|open| open.id == dialog) {
            let _ = open.answer.send(decision);
        }
    }

    pub fn has_closed(&self, decision: DialogDecision) {
        let DialogDecision { accept, text } = decision;
        self.sink.take(BrowserEvent::DialogClosed { is_accepted: accept, text });
    }
}
