//! The fast way: a server of our own, which is copied to the phone and started there. `../server/README.md` describes it and its
//! requests.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use parking_lot::Mutex;
use tokio::time::Instant;
use trailblaze_core::driver::{Budget, DriverError};
use trailblaze_core::screen::{Picture, Shape};

use super::{Automation, PICTURE, TREE, TRIES, pause};
use crate::android::adb::{AdbConnection, AdbError, ShellSession};
use crate::android::hierarchy::ViewHierarchy;
use crate::android::phone::{Phone, with_hint};
use crate::android::readiness;
use crate::android::undo::UndoShell;
use crate::gesture::Gesture;
use crate::png::read_picture;

/// What is copied to the phone.
const PROGRAM: &[u8] = include_bytes!("../server/server.dex");
const FOLDER: &str = "/data/local/tmp";
const CLASS: &str = "dev.trailblaze.server.Main";
/// How long it may take to start, and how many lines it may print before it says that it is ready.
const STARTING: Duration = Duration::from_secs(15);
const LINES: usize = 20;

/// How long nothing on the screen must have changed before it is looked at, and how long that is awaited, in milliseconds.
const QUIET: u32 = 100;
const RESTLESS: u32 = 1000;

/// The largest answer to a request that has none but whether it was done, or why not.
const SMALL: usize = 64 * 1024;
const DONE: u8 = 0;

pub struct ServerAutomation {
    phone: Phone,
    undo: Arc<UndoShell>,
    shape: Shape,
    server: tokio::sync::Mutex<Option<RunningServer>>,
    fault: Mutex<Option<String>>,
}

/// A server that runs. It ends when this is dropped.
struct RunningServer {
    connection: AdbConnection,
    _process: ShellSession,
}

/// What a server answers.
enum ServerAnswer {
    Done(Vec<u8>),
    Refused(String),
}

impl ServerAutomation {
    pub fn new(phone: Phone, undo: Arc<UndoShell>, shape: Shape) -> ServerAutomation {
        ServerAutomation { phone, undo, shape, server: tokio::sync::Mutex::default(), fault: Mutex::default() }
    }

    /// Why the server cannot be started on this phone, if that is so.
    pub fn fault(&self) -> Option<String> {
        self.fault.lock().clone()
    }

    /// Starts the server, so that it is known whether it works.
    pub async fn start(&self, budget: &Budget) -> Result<(), DriverError> {
        let mut server = budget.run("the server on the phone", self.server.lock()).await?;
        *server = Some(self.started(budget).await?);
        Ok(())
    }

    /// A server that was just started. If that fails although the phone is there, it is not tried again.
    async fn started(&self, budget: &Budget) -> Result<RunningServer, DriverError> {
        let since = Instant::now();
        let limit = Budget::new(budget.deadline.min(since + STARTING), budget.cancel.clone());
        let why = match RunningServer::start(&self.phone, &self.undo, &limit).await {
            Ok(server) => {
                tracing::debug!(target: "trailblaze::android", took = ?since.elapsed(), "server started");
                return Ok(server);
            }
            Err(DriverError::Refused { reason }) => reason,
            Err(DriverError::TimedOut { .. }) if budget.remaining() > Duration::ZERO => {
                format!("it did not start within {} s", STARTING.as_secs())
            }
            Err(error) => return Err(error),
        };
        let why = format!("the server for phones does not run on `{}`: {why}", self.phone.device.serial());
        *self.fault.lock() = Some(why.clone());
        Err(DriverError::Refused { reason: why })
    }

    /// Sends a request. One that changes nothing is sent again if the server turns out to have ended.
    async fn ask(&self, budget: &Budget, request: &ServerRequest, limit: usize) -> Result<ServerAnswer, DriverError> {
        let mut server = budget.run("the server on the phone", self.server.lock()).await?;
        let mut is_old = server.is_some();
        loop {
            // It is put back only if its answer was read to the end.
            let mut running = match server.take() {
                Some(running) => running,
                None => self.started(budget).await?,
            };
            match running.exchange(budget, request, limit).await {
                Ok(answer) => {
                    *server = Some(running);
                    return Ok(answer);
                }
                Err(AdbError::Closed { .. }) if is_old && request.is_harmless() => is_old = false,
                Err(AdbError::Closed { .. }) => {
                    if let Some(error) = self.phone.device.why_not_ready(budget).await {
                        return Err(error.into());
                    }
                    let reason =
                        "the server on the phone ended during a request, which may or may not have been carried out";
                    return Err(DriverError::Refused { reason: reason.to_string() });
                }
                Err(error) => return Err(error.into()),
            }
        }
    }

    /// Sends a request that is done or refused.
    async fn tell(&self, budget: &Budget, request: &ServerRequest) -> Result<(), DriverError> {
        match self.ask(budget, request, SMALL).await? {
            ServerAnswer::Done(_) => Ok(()),
            ServerAnswer::Refused(reason) => Err(DriverError::Refused { reason: with_hint(&reason) }),
        }
    }
}

#[async_trait]
impl Automation for ServerAutomation {
    async fn tree(&self, budget: &Budget) -> Result<ViewHierarchy, DriverError> {
        let started = Instant::now();
        let mut last = String::new();
        for number in 1..=TRIES {
            match self.ask(budget, &ServerRequest::Tree, TREE).await? {
                ServerAnswer::Done(document) => match ViewHierarchy::read(&document, self.shape) {
                    Ok(hierarchy) => {
                        tracing::debug!(target: "trailblaze::android", took = ?started.elapsed(), number, "tree");
                        return Ok(hierarchy);
                    }
                    Err(fault) => last = fault.to_string(),
                },
                ServerAnswer::Refused(reason) => last = reason,
            }
            if pause(budget, number).await.is_err() {
                break;
            }
        }
        let why = readiness::why_dark(&self.phone, budget).await;
        Err(DriverError::Refused { reason: why.unwrap_or_else(|| format!("the screen cannot be looked at: {last}")) })
    }

    async fn picture(&self, budget: &Budget) -> Result<Picture, DriverError> {
        let started = Instant::now();
        let reason = match self.ask(budget, &ServerRequest::Picture, PICTURE).await? {
            ServerAnswer::Done(bytes) => match read_picture(bytes) {
                Ok(picture) => {
                    tracing::debug!(target: "trailblaze::android", took = ?started.elapsed(), "picture");
                    return Ok(picture);
                }
                Err(part) => format!("{} bytes that are no picture", part.len()),
            },
            ServerAnswer::Refused(reason) => reason,
        };
        Err(DriverError::Refused { reason: format!("the screen cannot be pictured: {reason}") })
    }

    async fn touch(&self, budget: &Budget, gesture: &Gesture) -> Result<(), DriverError> {
        self.tell(budget, &ServerRequest::Touch(gesture.clone())).await
    }

    async fn press(&self, budget: &Budget, keys: &[&str]) -> Result<(), DriverError> {
        self.tell(budget, &ServerRequest::Press(keys.join(" "))).await
    }

    /// Every text can be put into a field, if not typed.
    fn check_text(&self, _: &str) -> Result<(), DriverError> {
        Ok(())
    }

    async fn type_text(&self, budget: &Budget, text: &str) -> Result<(), DriverError> {
        if text.is_empty() {
            return Ok(());
        }
        self.tell(budget, &ServerRequest::Insert(text.replace("\r\n", "\n"))).await
    }

    async fn replace_text(&self, budget: &Budget, text: &str) -> Result<bool, DriverError> {
        self.tell(budget, &ServerRequest::Replace(text.replace("\r\n", "\n"))).await?;
        Ok(true)
    }

    async fn close(&self) {
        // Nobody else has it: a device is closed once, after everything else.
        if let Ok(mut server) = self.server.try_lock() {
            server.take();
        }
    }
}

impl RunningServer {
    /// Copies the program to the phone, starts it and connects to it. Its file is deleted whatever happens.
    async fn start(phone: &Phone, undo: &UndoShell, budget: &Budget) -> Result<RunningServer, DriverError> {
        let name = format!("trailblaze-{}", random_name()?);
        let file = format!("{FOLDER}/{name}.dex");
        undo.keep(phone, budget, &format!("rm -f {file}")).await?;
        // Android refuses programs that could still be changed.
        phone.device.push(budget, &file, PROGRAM, 0o444).await?;
        let command = format!("CLASSPATH={file} exec app_process / {CLASS} {name}");
        let mut process = phone.device.start(budget, &command).await?;
        until_ready(&mut process, budget).await?;
        let connection = phone.device.connect(budget, &format!("localabstract:{name}")).await?;
        Ok(RunningServer { connection, _process: process })
    }

    async fn exchange(
        &mut self,
        budget: &Budget,
        request: &ServerRequest,
        limit: usize,
    ) -> Result<ServerAnswer, AdbError> {
        let connection = &mut self.connection;
        let exchange = async {
            connection.send(&request.encode()).await?;
            let header = connection.exact(5, "an answer of the server on the phone").await?;
            let length = u32::from_be_bytes([header[0], header[1], header[2], header[3]]);
            let length = usize::try_from(length).unwrap_or(usize::MAX);
            if length == 0 {
                return Err(AdbError::Protocol { what: "an empty answer of the server on the phone".to_string() });
            }
            if length > limit {
                return Err(AdbError::TooLarge { what: "an answer of the server on the phone".to_string(), limit });
            }
            let content = connection.exact(length - 1, "an answer of the server on the phone").await?;
            Ok(match header[4] {
                DONE => ServerAnswer::Done(content),
                _ => ServerAnswer::Refused(String::from_utf8_lossy(&content).into_owned()),
            })
        };
        match budget.run("the server on the phone", exchange).await {
            Ok(done) => done,
            Err(DriverError::Cancelled) => Err(AdbError::Cancelled),
            Err(_) => Err(AdbError::TimedOut { what: "the server on the phone".to_string() }),
        }
    }
}

/// Waits until the server says that it listens. Phones may print warnings before.
async fn until_ready(process: &mut ShellSession, budget: &Budget) -> Result<(), DriverError> {
    for _ in 0..LINES {
        let line = match process.next_line(budget).await {
            Ok(line) => line,
            Err(AdbError::Closed { .. }) => {
                let why = process.complaint().unwrap_or_else(|| "it ended without a word".to_string());
                return Err(DriverError::Refused { reason: why });
            }
            Err(error) => return Err(error.into()),
        };
        if line == "ready" {
            return Ok(());
        }
        if let Some(why) = line.strip_prefix("failed:") {
            return Err(DriverError::Refused { reason: why.trim().to_string() });
        }
    }
    Err(DriverError::Refused { reason: "it does not say that it is ready".to_string() })
}

/// Nobody else on the phone can guess it.
pub fn random_name() -> Result<String, DriverError> {
    let mut bytes = [0; 16];
    getrandom::fill(&mut bytes)
        .map_err(|error| DriverError::Refused { reason: format!("this machine gives no random bytes: {error}") })?;
    Ok(bytes.iter().map(|byte| format!("{byte:02x}")).collect())
}

enum ServerRequest {
    Tree,
    Picture,
    Touch(Gesture),
    Press(String),
    Insert(String),
    Replace(String),
}

impl ServerRequest {
    /// Whether it can be sent again.
    fn is_harmless(&self) -> bool {
        matches!(self, ServerRequest::Tree | ServerRequest::Picture)
    }

    /// Its length, its kind and its content.
    fn encode(&self) -> Vec<u8> {
        let (kind, content) = match self {
            ServerRequest::Tree => (b'T', [QUIET.to_be_bytes(), RESTLESS.to_be_bytes()].concat()),
            ServerRequest::Picture => (b'P', Vec::new()),
            ServerRequest::Touch(gesture) => (b'G', fingers(gesture)),
            ServerRequest::Press(keys) => (b'K', keys.clone().into_bytes()),
            ServerRequest::Insert(text) => (b'I', text.clone().into_bytes()),
            ServerRequest::Replace(text) => (b'R', text.clone().into_bytes()),
        };
        let length = u32::try_from(content.len() + 1).unwrap_or(u32::MAX);
        [length.to_be_bytes().as_slice(), &[kind], &content].concat()
    }
}

/// How often, how long the fingers rest and move, and where from and to.
fn fingers(gesture: &Gesture) -> Vec<u8> {
    let milliseconds = |time: Duration| u32::try_from(time.as_millis()).unwrap_or(u32::MAX).to_be_bytes();
    let motion = gesture.motion();
    let mut bytes = vec![motion.times];
    bytes.extend(milliseconds(motion.rest));
    bytes.extend(milliseconds(motion.duration));
    bytes.push(u8::try_from(motion.fingers.len()).unwrap_or(u8::MAX));
    for (from, to) in &motion.fingers {
        bytes.extend([from.x, from.y, to.x, to.y].into_iter().flat_map(i32::to_be_bytes));
    }
    bytes
}

#[cfg(test)]
mod tests {
    use trailblaze_protocol::geometry::Point;

    use super::*;

    #[test]
    fn requests_have_their_length_their_kind_and_their_content() {
        assert_eq!(ServerRequest::Picture.encode(), b"\0\0\0\x01P");
        assert_eq!(ServerRequest::Tree.encode(), b"\0\0\0\x09T\0\0\0\x64\0\0\x03\xe8");
        assert_eq!(ServerRequest::Insert("\u{fc}".to_string()).encode(), b"\0\0\0\x03I\xc3\xbc");
        let swipe = Gesture::Swipe {
            from: Point { x: 1, y: 2 },
            to: Point { x: 3, y: -1 },
            duration: Duration::from_millis(300),
        };
        let expected =
            b"\0\0\0\x1bG\x01\0\0\0\0\0\0\x01\x2c\x01\0\0\0\x01\0\0\0\x02\0\0\0\x03\xff\xff\xff\xff".as_slice();
        assert_eq!(ServerRequest::Touch(swipe).encode(), expected);
    }

    #[test]
    fn the_program_is_small_and_one_of_android() {
        assert!(PROGRAM.starts_with(b"dex\n") && PROGRAM.len() < 60 * 1024);
    }

    #[test]
    fn names_are_never_the_same() {
        let (one, other) = (random_name().expect("a name"), random_name().expect("a name"));
        assert!(one.len() == 32 && one != other);
    }
}
