//! The thread that answers requests.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, mpsc};
use std::thread::JoinHandle;

use parking_lot::Mutex;
use serde_json::{Value, json};
use tokio::net::{TcpListener, TcpStream};
use tokio::runtime::Handle;
use tokio_util::sync::CancellationToken;
use trailblaze_core::driver::DeviceCommand;
use trailblaze_core::yaml::{Problems, Source};
use trailblaze_drivers::sim::{SimApp, demo_app};

use crate::answer::{WebDriverError, envelope};
use crate::behaviour::{Behaviour, use_up};
use crate::http::{HttpRequest, RequestReader};
use crate::iphone::Iphone;
use crate::system_alert::SystemAlert;
use crate::{mjpeg, routes};

/// A stand-in that answers until it is dropped.
pub struct StandIn {
    port: u16,
    mjpeg_port: u16,
    shared: Arc<Shared>,
    runtime: Handle,
    ended: CancellationToken,
    thread: Option<JoinHandle<()>>,
}

struct Shared {
    iphone: Iphone,
    behaviour: Mutex<Behaviour>,
    requests: Mutex<Vec<String>>,
    /// WebDriverAgent does one thing at a time.
    turn: tokio::sync::Mutex<()>,
}

/// Starts a stand-in whose device has these apps; without any, the app that is built in.
pub fn start(apps: &[PathBuf]) -> io::Result<StandIn> {
    start_at(apps, 0)
}

/// The same at a port, such as that of one that ended.
pub fn start_at(apps: &[PathBuf], port: u16) -> io::Result<StandIn> {
    let mut apps = apps.iter().map(|file| read_app(file)).collect::<io::Result<Vec<_>>>()?;
    if apps.is_empty() {
        apps.push(demo_app());
    }
    let ended = CancellationToken::new();
    let until = ended.clone();
    let (ready, is_ready) = mpsc::channel();
    // Of its own, so that those who have a runtime can start one as well.
    let thread = std::thread::spawn(move || run(apps, port, &until, &ready));
    let started = is_ready.recv().unwrap_or_else(|_| Err(io::Error::other("its thread ended")));
    let ([port, mjpeg_port], shared, runtime) = started?;
    Ok(StandIn { port, mjpeg_port, shared, runtime, ended, thread: Some(thread) })
}

type Started = io::Result<([u16; 2], Arc<Shared>, Handle)>;

/// Says when it is ready, and answers until it is ended.
fn run(apps: Vec<Arc<SimApp>>, port: u16, until: &CancellationToken, ready: &mpsc::Sender<Started>) {
    let serving = async {
        let listener = TcpListener::bind(("127.0.0.1", port)).await?;
        let pictures = TcpListener::bind(("127.0.0.1", 0)).await?;
        let ports = [listener.local_addr()?.port(), pictures.local_addr()?.port()];
        let (behaviour, requests, turn) = (Mutex::default(), Mutex::default(), tokio::sync::Mutex::default());
        let shared = Arc::new(Shared { iphone: Iphone::new(apps), behaviour, requests, turn });
        let _ = ready.send(Ok((ports, Arc::clone(&shared), Handle::current())));
        let serving = async { tokio::join!(serve(listener, Arc::clone(&shared)), serve_pictures(pictures, shared)) };
        until.run_until_cancelled(serving).await;
        Ok::<(), io::Error>(())
    };
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    if let Err(error) = runtime.and_then(|runtime| runtime.block_on(serving)) {
        let _ = ready.send(Err(error));
    }
}

fn read_app(file: &Path) -> io::Result<Arc<SimApp>> {
    let source = Source::new(file.display().to_string(), std::fs::read_to_string(file)?);
    let mut problems = Problems::new(&source);
    let app = SimApp::read(&source, &mut problems);
    app.map(Arc::new).ok_or_else(|| io::Error::other(format!("{} is not a simulated app", file.display())))
}

impl StandIn {
    /// Where it answers: `http://127.0.0.1:49152`.
    pub fn address(&self) -> String {
        format!("http://127.0.0.1:{}", self.port)
    }

    pub fn port(&self) -> u16 {
        self.port
    }

    /// Where it streams pictures of the screen.
    pub fn mjpeg_address(&self) -> String {
        format!("http://127.0.0.1:{}", self.mjpeg_port)
    }

    /// Replaces how it misbehaves.
    pub fn behave(&self, behaviour: Behaviour) {
        *self.shared.behaviour.lock() = behaviour;
    }

    /// Shows an alert of the system in front of the app, until one of its buttons is tapped.
    pub fn show_alert(&self, text: &str, buttons: &[&str]) {
        self.shared.iphone.state().alert = Some(SystemAlert::new(text, buttons));
    }

    pub fn has_alert(&self) -> bool {
        self.shared.iphone.state().alert.is_some()
    }

    /// Locks the screen.
    pub fn lock(&self) {
        self.shared.iphone.state().is_locked = true;
    }

    /// The requests so far, such as `POST /session`, oldest first.
    pub fn requests(&self) -> Vec<String> {
        self.shared.requests.lock().clone()
    }

    /// Whether a client has a session.
    pub fn has_session(&self) -> bool {
        self.shared.iphone.state().session.is_some()
    }

    /// Whether the screen is turned to the side.
    pub fn is_landscape(&self) -> bool {
        self.shared.iphone.state().is_landscape
    }

    pub fn is_dark(&self) -> bool {
        self.shared.iphone.state().is_dark
    }

    pub fn is_locked(&self) -> bool {
        self.shared.iphone.state().is_locked
    }

    /// The place that it pretends to be at: latitude and longitude.
    pub fn location(&self) -> Option<(f64, f64)> {
        self.shared.iphone.state().location
    }

    /// The buttons of the device that were pressed.
    pub fn pressed(&self) -> Vec<String> {
        self.shared.iphone.state().pressed.clone()
    }

    /// How far two fingers turned, each time, in degrees.
    pub fn twists(&self) -> Vec<i32> {
        self.shared.iphone.state().twists.clone()
    }

    /// How many keys a second were to be typed last, if a client said so.
    pub fn typing_frequency(&self) -> Option<u64> {
        self.shared.iphone.state().typing_frequency
    }

    /// How the app was launched last: its `arguments` and its `environment`.
    pub fn launched_with(&self) -> Value {
        self.shared.iphone.state().launched_with.clone()
    }

    /// Adds a fault that an audit finds.
    pub fn add_fault(&self, kind: &str, text: &str, element: &str) {
        let fault =
            json!({"auditType": kind, "detailedDescription": text, "compactDescription": text, "element": element});
        self.shared.iphone.state().audit.push(fault);
    }

    /// Ends an app as a crash does.
    pub fn crash(&self, app: &str) {
        let shared = Arc::clone(&self.shared);
        let app = app.to_string();
        self.run(async move {
            shared.iphone.state().running.remove(&app);
            let _ = shared.iphone.send(DeviceCommand::StopApp { app }).await;
            let _ = crate::apps::go_home(&shared.iphone).await;
        });
    }

    /// Carries something out on the thread of the stand-in, whose clock the simulated device uses.
    fn run(&self, work: impl Future<Output = ()> + Send + 'static) {
        let (done, is_done) = mpsc::channel();
        // Detached: waited for below.
        self.runtime.spawn(async move {
            work.await;
            let _ = done.send(());
        });
        let _ = is_done.recv();
    }

    /// What is in the clipboard.
    pub fn clipboard(&self) -> String {
        self.shared.iphone.state().clipboard.clone()
    }
}

impl Drop for StandIn {
    fn drop(&mut self) {
        self.ended.cancel();
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

async fn serve(listener: TcpListener, shared: Arc<Shared>) {
    while let Ok((connection, _)) = listener.accept().await {
        let shared = Arc::clone(&shared);
        // Detached: ends when its connection does. A client that left no longer reads.
        tokio::spawn(async move { drop(shared.converse(connection).await) });
    }
}

async fn serve_pictures(listener: TcpListener, shared: Arc<Shared>) {
    while let Ok((connection, _)) = listener.accept().await {
        let shared = Arc::clone(&shared);
        // Detached: ends when its connection does. A client that left no longer reads.
        tokio::spawn(async move { drop(mjpeg::stream(&shared.iphone, connection).await) });
    }
}

impl Shared {
    async fn converse(&self, connection: TcpStream) -> io::Result<()> {
        connection.set_nodelay(true)?;
        let mut requests = RequestReader::new(connection);
        while let Some(request) = requests.next().await? {
            self.requests.lock().push(format!("{} {}", request.method, request.path));
            if use_up(&mut self.behaviour.lock().html_errors) {
                requests.answer(500, "text/html", "<html><body><h1>502 Bad Gateway</h1></body></html>").await?;
                continue;
            }
            let (status, body) = self.answer(&request).await;
            requests.answer(status, "application/json;charset=UTF-8", &body).await?;
        }
        Ok(())
    }

    async fn answer(&self, request: &HttpRequest) -> (u16, String) {
        let is_tree = request.path.ends_with("/source");
        if is_tree && self.behaviour.lock().has_no_trees {
            std::future::pending::<()>().await;
        }
        let _turn = self.turn.lock().await;
        if self.behaviour.lock().hangs {
            std::future::pending::<()>().await;
        }
        if is_tree {
            let slow = self.behaviour.lock().slow_tree;
            tokio::time::sleep(slow).await;
        }
        if request.path.starts_with("/session/") && use_up(&mut self.behaviour.lock().dropped_sessions) {
            self.iphone.state().session = None;
        }
        if request.path.contains("/element/") && use_up(&mut self.behaviour.lock().stale_elements) {
            self.iphone.state().elements.clear();
        }
        let behaviour = self.behaviour.lock().clone();
        if request.path.ends_with("/orientation") && request.method == "POST" {
            self.iphone.state().n_unturned = behaviour.unturned_trees;
        }
        let answer = match self.fault(request, &behaviour) {
            Some(error) => Err(error),
            None => routes::answer(&self.iphone, request, &behaviour).await,
        };
        let session = self.iphone.state().session.clone();
        let (status, body) = envelope(answer, session.as_deref());
        (status, body.to_string())
    }

    /// Why a request fails that could be carried out, if it does.
    fn fault(&self, request: &HttpRequest, behaviour: &Behaviour) -> Option<WebDriverError> {
        let ends = |ending: &str| request.path.ends_with(ending);
        if behaviour.refuses_beneath_alert && (ends("/value") || ends("/keys")) && self.iphone.state().alert.is_some() {
            return Some(WebDriverError::unexpected_alert());
        }
        let mut now = self.behaviour.lock();
        if ends("/source") && use_up(&mut now.timed_out_trees) {
            return Some(WebDriverError::timeout());
        }
        (ends("/screenshot") && use_up(&mut now.failed_pictures)).then(WebDriverError::unable_to_capture)
    }
}
