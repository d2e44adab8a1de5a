//! An X server as the driver uses it. Each request has a limit, so that a server that hangs does not stop a session.

use std::sync::Arc;
use std::sync::mpsc;
use std::time::Duration;

use tokio::sync::oneshot;
use trailblaze_core::driver::{Budget, DriverError};
use trailblaze_core::screen::Picture;
use trailblaze_protocol::geometry::Size;

use super::clipboard::Clipboard;
use super::connection::{XAddress, XConnection, XServerError};
use super::events::{EventLoop, Order, wake};
use super::keymap::Keymap;
use super::keys::{KeyChord, KeyStroke};
use super::pointer::PointerStep;
use super::windows::XWindow;

/// How long a program may take to hand out the text of the clipboard.
const CLIPBOARD: Duration = Duration::from_secs(5);

/// What the thread that asks the server works with.
struct Hands {
    x: XConnection,
    keymap: Option<Keymap>,
    is_own: bool,
    /// The window of the other thread.
    window: u32,
    orders: mpsc::Sender<Order>,
}

type Job = Box<dyn FnOnce(&mut Hands) + Send>;

/// An X server.
pub struct XDisplay {
    pub size: Size,
    jobs: mpsc::Sender<Job>,
    clipboard: Arc<Clipboard>,
}

impl XDisplay {
    /// Connects. With `is_own`, nobody else manages the windows, so that we do.
    pub async fn open(address: XAddress, is_own: bool) -> Result<XDisplay, XServerError> {
        let (opened, result) = oneshot::channel();
        // At most one job for each call of the session, which waits for its end.
        let (jobs, todo) = mpsc::channel::<Job>();
        let clipboard = Arc::new(Clipboard::default());
        let shared = Arc::clone(&clipboard);
        // A thread, because a server that hangs would block one of the runtime for as long.
        std::thread::spawn(move || {
            let mut hands = match start(&address, is_own, shared) {
                Ok(hands) => hands,
                Err(error) => return drop(opened.send(Err(error))),
            };
            let size = Size { width: hands.x.width.into(), height: hands.x.height.into() };
            if opened.send(Ok(size)).is_err() {
                return;
            }
            while let Ok(job) = todo.recv() {
                job(&mut hands);
            }
            hands.end();
        });
        let size = result.await.map_err(|_| XServerError::Unreachable("it does not answer".to_string()))??;
        Ok(XDisplay { size, jobs, clipboard })
    }

    async fn run<T: Send + 'static>(
        &self,
        budget: &Budget,
        what: &str,
        job: impl FnOnce(&mut Hands) -> Result<T, XServerError> + Send + 'static,
    ) -> Result<T, DriverError> {
        let (done, result) = oneshot::channel();
        let gone = || DriverError::Lost { evidence: "the X server of the desktop is gone".to_string() };
        let job: Job = Box::new(move |hands| drop(done.send(job(hands))));
        self.jobs.send(job).map_err(|_| gone())?;
        let what = format!("the X server did not answer ({what})");
        match budget.run(&what, result).await? {
            Ok(Ok(value)) => Ok(value),
            Ok(Err(XServerError::Gone(why))) => {
                Err(DriverError::Lost { evidence: format!("the X server of the desktop is gone: {why}") })
            }
            Ok(Err(error)) => Err(DriverError::Refused { reason: error.to_string() }),
            Err(_) => Err(gone()),
        }
    }

    pub async fn windows(&self, budget: &Budget) -> Result<Vec<XWindow>, DriverError> {
        self.run(budget, "its windows", |hands| hands.x.windows()).await
    }

    pub async fn picture(&self, budget: &Budget) -> Result<Picture, DriverError> {
        self.run(budget, "a picture", |hands| hands.x.picture()).await
    }

    pub async fn activate(&self, budget: &Budget, window: u32) -> Result<(), DriverError> {
        self.run(budget, "activating a window", move |hands| hands.x.activate(window)).await
    }

    pub async fn close_window(&self, budget: &Budget, window: u32) -> Result<(), DriverError> {
        self.run(budget, "closing a window", move |hands| hands.x.close_window(window)).await
    }

    pub async fn point(&self, budget: &Budget, steps: Vec<PointerStep>) -> Result<(), DriverError> {
        self.run(budget, "the pointer", move |hands| hands.x.point(&steps)).await
    }

    pub async fn type_keys(&self, budget: &Budget, keys: Vec<KeyStroke>) -> Result<(), DriverError> {
        self.run(budget, "typing", move |hands| {
            let (x, keymap) = hands.keys()?;
            keymap.type_all(x, &keys)
        })
        .await
    }

    pub async fn press(&self, budget: &Budget, chord: KeyChord, count: u32) -> Result<(), DriverError> {
        self.run(budget, "keys", move |hands| {
            let (x, keymap) = hands.keys()?;
            keymap.press(x, &chord, count)
        })
        .await
    }

    /// Holds keys down while something is done with the pointer.
    pub async fn point_holding(
        &self,
        budget: &Budget,
        held: Vec<KeyStroke>,
        steps: Vec<PointerStep>,
    ) -> Result<(), DriverError> {
        self.run(budget, "the pointer", move |hands| {
            let (x, keymap) = hands.keys()?;
            keymap.hold(x, &held, true)?;
            let pointed = x.point(&steps);
            keymap.hold(x, &held, false)?;
            pointed
        })
        .await
    }

    pub async fn set_clipboard(&self, budget: &Budget, text: &str) -> Result<(), DriverError> {
        let text: Arc<str> = Arc::from(text);
        let own = move |hands: &mut Hands| {
            // One message.
            let (done, is_done) = mpsc::channel();
            hands.order(Order::OwnClipboard(text, done))?;
            let refused = "the X server does not hand over the clipboard";
            is_done.recv_timeout(CLIPBOARD).map_err(|_| XServerError::Wrong(refused.to_string()))
        };
        self.run(budget, "the clipboard", own).await
    }

    /// The text of the clipboard, if it has one.
    pub async fn clipboard(&self, budget: &Budget) -> Result<Option<String>, DriverError> {
        if let Some(own) = self.clipboard.own_text() {
            return Ok(Some(own.to_string()));
        }
        let ask = move |hands: &mut Hands| {
            // One message.
            let (answer, answered) = mpsc::channel();
            hands.order(Order::AskClipboard(answer))?;
            let silent = "the program that owns the clipboard does not hand out its text";
            answered.recv_timeout(CLIPBOARD).map_err(|_| XServerError::Wrong(silent.to_string()))
        };
        self.run(budget, "the clipboard", ask).await
    }
}

fn start(address: &XAddress, is_own: bool, clipboard: Arc<Clipboard>) -> Result<Hands, XServerError> {
    let x = XConnection::open(address)?;
    // Each order is waited for before the next one.
    let (orders, received) = mpsc::channel();
    let events = EventLoop::new(XConnection::open(address)?, is_own, clipboard, received)?;
    let window = events.window();
    std::thread::spawn(move || events.run());
    Ok(Hands { x, keymap: None, is_own, window, orders })
}

impl Hands {
    /// The keyboard. That of another's display is read again each time, because a person may change it.
    fn keys(&mut self) -> Result<(&XConnection, &mut Keymap), XServerError> {
        let keymap = match self.keymap.take() {
            Some(keymap) if self.is_own => keymap,
            Some(mut keymap) => {
                keymap.restore(&self.x)?;
                Keymap::read(&self.x)?
            }
            None => Keymap::read(&self.x)?,
        };
        Ok((&self.x, self.keymap.insert(keymap)))
    }

    fn order(&mut self, order: Order) -> Result<(), XServerError> {
        let gone = || XServerError::Gone("it closed the connection".to_string());
        self.orders.send(order).map_err(|_| gone())?;
        wake(&self.x, self.window)
    }

    fn end(mut self) {
        if let Some(mut keymap) = self.keymap.take() {
            let _ = keymap.restore(&self.x);
        }
        let _ = self.order(Order::End);
    }
}
