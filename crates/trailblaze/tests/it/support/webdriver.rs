//! WebDriver endpoints of the tests: chromedriver, and one that says what a test wants it to.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::PathBuf;
use std::sync::mpsc::{Sender, channel};
use std::sync::{Arc, Mutex, OnceLock};

use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, AsyncReadExt};
use trailblaze_supervise::{Launch, Running, Supervisor};

use super::{PATIENCE, PROGRAM, chromium, skip};

pub fn on_path(name: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path).map(|folder| folder.join(name)).find(|place| place.is_file())
}

/// The address of a chromedriver that tests share. Without one, the test is skipped locally and fails in CI.
pub fn chromedriver() -> Option<&'static str> {
    static ADDRESS: OnceLock<String> = OnceLock::new();
    chromium::find()?;
    let Some(program) = on_path("chromedriver") else {
        skip::without_part("there is no chromedriver: `scripts/parts` installs it");
        return None;
    };
    Some(ADDRESS.get_or_init(|| {
        let (told, address) = channel();
        std::thread::spawn(move || serve(program, told));
        address.recv_timeout(PATIENCE).expect("chromedriver starts")
    }))
}

/// Whether there is a WebKitWebDriver, and what it needs. Without one, the test is skipped locally and fails in CI.
pub fn has_webkit() -> bool {
    let missing = ["WebKitWebDriver", "Xvfb", "dbus-daemon"].into_iter().find(|name| on_path(name).is_none());
    if let Some(name) = missing {
        skip::without_part(&format!("there is no {name}: `scripts/parts` installs it"));
    }
    missing.is_none()
}

/// Keeps chromedriver, whose guardian ends it when this process ends.
fn serve(program: PathBuf, address: Sender<String>) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    runtime.block_on(async {
        let mut launch = Launch::new(program, std::env::temp_dir());
        launch.args = vec!["--port=0".into()];
        let running = Supervisor::with_guardian(PROGRAM).start(launch).await.expect("chromedriver starts");
        let Running { stdin: _stdin, stdout, mut stderr, child: _child } = running;
        let mut lines = tokio::io::BufReader::new(stdout).lines();
        let mut rest = Vec::new();
        let read = async {
            while let Ok(Some(line)) = lines.next_line().await {
                let port = line.split_once("on port ").map(|(_, port)| port.trim_end_matches('.'));
                if let Some(port) = port.filter(|port| line.contains("successfully") && port.parse::<u16>().is_ok()) {
                    let _ = address.send(format!("http://127.0.0.1:{port}"));
                }
            }
        };
        let _ = tokio::join!(read, stderr.read_to_end(&mut rest));
        std::future::pending::<()>().await;
    });
}

/// What is asked of chromedriver.
pub fn capabilities() -> Value {
    let program = chromium::find().expect("the test found Chromium");
    // The popup of the address bar is a page for each window, which costs more than the page under test.
    let features = "--disable-features=SpareRendererForSitePerProcess,WebUIOmniboxPopup,WebUIOmniboxAimPopup";
    let args =
        ["--headless=new", "--no-sandbox", "--disable-background-networking", "--disable-component-update", features];
    json!({"browserName": "chrome", "goog:chromeOptions": {"binary": program, "args": args}})
}

/// Sends a request to an endpoint, and returns the `value` of its answer.
pub fn ask(address: &str, method: &str, path: &str) -> Value {
    let (_, body) = forward(address, &format!("{method} {path}"), "");
    let mut answer: Value = serde_json::from_str(&body).expect("JSON");
    answer["value"].take()
}

/// Sends a request, such as `POST /session`, to an endpoint. Returns the status and the body of its answer.
pub fn forward(address: &str, request: &str, body: &str) -> (u16, String) {
    let host = address.trim_start_matches("http://");
    let mut stream = TcpStream::connect(host).expect("the endpoint listens");
    stream.set_read_timeout(Some(PATIENCE)).expect("a limit");
    let head = format!("{request} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\nContent-Type: application/json\r\n");
    write!(stream, "{head}Content-Length: {}\r\n\r\n{body}", body.len()).expect("a request");
    let mut reader = BufReader::new(stream);
    let mut first = String::new();
    reader.read_line(&mut first).expect("an answer");
    let status = first.split(' ').nth(1).and_then(|status| status.parse().ok()).expect("a status");
    let mut length = 0;
    // Not every endpoint closes the connection.
    loop {
        let mut line = String::new();
        reader.read_line(&mut line).expect("an answer");
        let (name, value) = line.split_once(':').unwrap_or_default();
        if name.eq_ignore_ascii_case("content-length") {
            length = value.trim().parse().expect("a length");
        }
        if line.trim().is_empty() {
            break;
        }
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body).expect("an answer");
    (status, String::from_utf8(body).expect("text"))
}

/// The ids of the sessions that chromedriver has.
pub fn sessions(address: &str) -> Vec<String> {
    let all = ask(address, "GET", "/sessions");
    all.as_array().into_iter().flatten().filter_map(|one| Some(one["id"].as_str()?.to_string())).collect()
}

/// What an endpoint answers: a status and a body, or nothing at all.
pub type ScriptedAnswer = Option<(u16, String)>;

/// An endpoint that answers as a test says, on a thread for each connection.
pub struct ScriptedEndpoint {
    pub address: String,
    asked: Arc<Mutex<Vec<String>>>,
}

impl ScriptedEndpoint {
    /// `answer` gets the method and path of a request, such as `POST /session`, and its body.
    pub fn start(answer: impl Fn(&str, &Value) -> ScriptedAnswer + Send + Sync + 'static) -> ScriptedEndpoint {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let address = format!("http://{}", listener.local_addr().expect("its address"));
        let asked: Arc<Mutex<Vec<String>>> = Arc::default();
        let (answer, noted) = (Arc::new(answer), Arc::clone(&asked));
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let (answer, noted) = (Arc::clone(&answer), Arc::clone(&noted));
                std::thread::spawn(move || answer_all(stream, &*answer, &noted));
            }
        });
        ScriptedEndpoint { address, asked }
    }

    /// The requests so far.
    pub fn asked(&self) -> Vec<String> {
        self.asked.lock().expect("no test panicked with it").clone()
    }
}

fn answer_all(stream: TcpStream, answer: &dyn Fn(&str, &Value) -> ScriptedAnswer, asked: &Mutex<Vec<String>>) {
    let mut writer = stream.try_clone().expect("a second handle");
    let mut reader = BufReader::new(stream);
    loop {
        let mut first = String::new();
        if reader.read_line(&mut first).unwrap_or(0) == 0 {
            return;
        }
        let mut length = 0;
        let mut authorization = String::new();
        loop {
            let mut line = String::new();
            if reader.read_line(&mut line).unwrap_or(0) == 0 || line.trim().is_empty() {
                break;
            }
            let (name, value) = line.split_once(':').unwrap_or_default();
            match name.to_ascii_lowercase().as_str() {
                "content-length" => length = value.trim().parse().unwrap_or(0),
                "authorization" => authorization = format!(" as {}", value.trim()),
                _ => {}
            }
        }
        let mut body = vec![0; length];
        if reader.read_exact(&mut body).is_err() {
            return;
        }
        let request = first.rsplit_once(' ').map(|(request, _)| request.to_string()).unwrap_or_default();
        asked.lock().expect("no test panicked with it").push(format!("{request}{authorization}"));
        let body: Value = serde_json::from_slice(&body).unwrap_or_default();
        let Some((status, text)) = answer(&request, &body) else {
            // Hangs until the other side gives up.
            let _ = reader.read_line(&mut String::new());
            return;
        };
        let head = format!("HTTP/1.1 {status} OK\r\nContent-Length: {}\r\n\r\n", text.len());
        if writer.write_all(format!("{head}{text}").as_bytes()).is_err() {
            return;
        }
    }
}
