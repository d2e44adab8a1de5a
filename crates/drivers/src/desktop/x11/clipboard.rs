//! The clipboard: a program that owns it hands out its text when another asks.

use std::sync::Arc;
use std::sync::mpsc::Sender;

use parking_lot::Mutex;
use x11rb::protocol::xproto::{
    Atom, AtomEnum, ConnectionExt, EventMask, PropMode, SELECTION_NOTIFY_EVENT, SelectionNotifyEvent,
    SelectionRequestEvent, Window,
};
use x11rb::wrapper::ConnectionExt as _;

use super::connection::{XConnection, XServerError};

/// The longest text that is handed out in one piece, in bytes: what a request of X holds.
const LONGEST: usize = 200_000;

/// Where the text of the clipboard is kept while it is ours, and who waits for that of another.
#[derive(Default)]
pub struct Clipboard {
    text: Mutex<Option<Arc<str>>>,
    waiting: Mutex<Vec<Sender<Option<String>>>>,
}

impl Clipboard {
    /// Asks the owner of the clipboard for its text.
    pub fn ask(&self, x: &XConnection, window: Window, answer: Sender<Option<String>>) -> Result<(), XServerError> {
        self.waiting.lock().push(answer);
        let (selection, property) = (x.atoms.CLIPBOARD, x.atoms._TRAILBLAZE_CLIPBOARD);
        x.x.convert_selection(window, selection, x.atoms.UTF8_STRING, property, x11rb::CURRENT_TIME)?;
        Ok(())
    }

    /// Our text, if the clipboard is ours.
    pub fn own_text(&self) -> Option<Arc<str>> {
        self.text.lock().clone()
    }

    /// Takes the clipboard with a text.
    pub fn own(&self, x: &XConnection, window: Window, text: Arc<str>) -> Result<(), XServerError> {
        *self.text.lock() = Some(text);
        x.x.set_selection_owner(window, x.atoms.CLIPBOARD, x11rb::CURRENT_TIME)?;
        x.finish()
    }

    /// Another program took the clipboard. We may have taken it back since.
    pub fn lost(&self, x: &XConnection, window: Window) -> Result<(), XServerError> {
        if x.x.get_selection_owner(x.atoms.CLIPBOARD)?.reply()?.owner != window {
            *self.text.lock() = None;
        }
        Ok(())
    }

    /// The answer to what we asked.
    pub fn answered(&self, x: &XConnection, window: Window, event: &SelectionNotifyEvent) -> Result<(), XServerError> {
        let text = match event.property {
            x11rb::NONE => None,
            property => {
                let reply = x.x.get_property(true, window, property, AtomEnum::ANY, 0, u32::MAX / 4)?.reply()?;
                // A text that comes in pieces is longer than any that a test needs.
                (reply.type_ != x.atoms.INCR).then(|| String::from_utf8_lossy(&reply.value).into_owned())
            }
        };
        for waiting in self.waiting.lock().drain(..) {
            let _ = waiting.send(text.clone());
        }
        Ok(())
    }

    /// Gives our text to another program.
    pub fn serve(&self, x: &XConnection, event: &SelectionRequestEvent) -> Result<(), XServerError> {
        let property = if event.property == x11rb::NONE { event.target } else { event.property };
        let is_given = self.give(x, event.requestor, property, event.target)?;
        let answer = SelectionNotifyEvent {
            response_type: SELECTION_NOTIFY_EVENT,
            sequence: 0,
            time: event.time,
            requestor: event.requestor,
            selection: event.selection,
            target: event.target,
            property: if is_given { property } else { x11rb::NONE },
        };
        x.x.send_event(false, event.requestor, EventMask::NO_EVENT, answer)?;
        x.finish()
    }

    fn give(&self, x: &XConnection, to: Window, property: Atom, target: Atom) -> Result<bool, XServerError> {
        let Some(text) = self.text.lock().clone() else { return Ok(false) };
        let atoms = &x.atoms;
        if target == atoms.TARGETS {
            let targets = [atoms.TARGETS, atoms.UTF8_STRING, atoms.STRING];
            x.x.change_property32(PropMode::REPLACE, to, property, AtomEnum::ATOM, &targets)?;
        } else if (target == atoms.UTF8_STRING || target == atoms.STRING) && text.len() <= LONGEST {
            x.x.change_property8(PropMode::REPLACE, to, property, target, text.as_bytes())?;
        } else {
            return Ok(false);
        }
        Ok(true)
    }
}
