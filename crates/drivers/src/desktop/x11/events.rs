//! The thread that waits for what the X server says.

use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender};

use x11rb::connection::Connection;
use x11rb::protocol::Event;
use x11rb::protocol::xproto::{ClientMessageEvent, ConnectionExt, CreateWindowAux, EventMask, Window, WindowClass};

use super::clipboard::Clipboard;
use super::connection::{XConnection, XServerError};
use super::manager::WindowManager;

/// What the thread is asked to do.
pub enum Order {
    /// Says when it is ours.
    OwnClipboard(Arc<str>, Sender<()>),
    AskClipboard(Sender<Option<String>>),
    End,
}

/// What the thread works with.
pub struct EventLoop {
    x: XConnection,
    /// A window that is never shown, for messages to us.
    window: Window,
    manager: Option<WindowManager>,
    clipboard: Arc<Clipboard>,
    orders: Receiver<Order>,
}

impl EventLoop {
    pub fn new(
        x: XConnection,
        manages: bool,
        clipboard: Arc<Clipboard>,
        orders: Receiver<Order>,
    ) -> Result<EventLoop, XServerError> {
        let window = x.x.generate_id()?;
        let only_input = WindowClass::INPUT_ONLY;
        let attributes = CreateWindowAux::new().override_redirect(1).event_mask(EventMask::PROPERTY_CHANGE);
        x.x.create_window(0, window, x.root, -10, -10, 1, 1, 0, only_input, 0, &attributes)?;
        let manager = if manages { Some(WindowManager::start(&x, window)?) } else { None };
        x.finish()?;
        Ok(EventLoop { x, window, manager, clipboard, orders })
    }

    pub fn window(&self) -> Window {
        self.window
    }

    /// Runs until it is asked to end, or the server is gone.
    pub fn run(mut self) {
        while let Ok(event) = self.x.x.wait_for_event() {
            match self.handle(&event) {
                Ok(true) => {}
                Ok(false) => return,
                Err(XServerError::Gone(_)) => return,
                // A window that is gone before it is handled.
                Err(error) => tracing::debug!(target: "trailblaze::desktop", %error, "an event of X was not handled"),
            }
        }
    }

    fn handle(&mut self, event: &Event) -> Result<bool, XServerError> {
        match event {
            Event::ClientMessage(message) if message.type_ == self.x.atoms._TRAILBLAZE_ORDER => {
                while let Ok(order) = self.orders.try_recv() {
                    match order {
                        Order::OwnClipboard(text, done) => {
                            self.clipboard.own(&self.x, self.window, text)?;
                            let _ = done.send(());
                        }
                        Order::AskClipboard(answer) => self.clipboard.ask(&self.x, self.window, answer)?,
                        Order::End => return Ok(false),
                    }
                }
            }
            Event::SelectionNotify(event) => self.clipboard.answered(&self.x, self.window, event)?,
            Event::SelectionRequest(event) => self.clipboard.serve(&self.x, event)?,
            Event::SelectionClear(event) if event.selection == self.x.atoms.CLIPBOARD => {
                self.clipboard.lost(&self.x, self.window)?;
            }
            event => {
                if let Some(manager) = &mut self.manager {
                    manager.handle(&self.x, event)?;
                }
            }
        }
        self.x.x.flush()?;
        Ok(true)
    }
}

/// Wakes the thread, so that it looks at its orders.
pub fn wake(x: &XConnection, window: Window) -> Result<(), XServerError> {
    let event = ClientMessageEvent::new(32, window, x.atoms._TRAILBLAZE_ORDER, [0; 5]);
    x.x.send_event(false, window, EventMask::NO_EVENT, event)?;
    x.finish()
}
