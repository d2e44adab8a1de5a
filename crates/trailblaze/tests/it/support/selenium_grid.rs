//! A real Selenium Grid: a hub and nodes, each a process with the ports that it was given. `scripts/parts full` installs it.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::sync::mpsc::channel;
use std::thread::JoinHandle;

use serde_json::{Value, json};
use tokio::io::AsyncReadExt;
use tokio_util::sync::CancellationToken;
use trailblaze_supervise::{Launch, Running, Supervisor};

use super::webdriver::{ask, on_path};
use super::{PROGRAM, chromium, firefox, repository, skip, wait_until};

/// A hub, and nodes with a slot for Chromium and one for Firefox each.
pub struct SeleniumGrid {
    pub address: String,
    nodes: BTreeMap<usize, GridProcess>,
    _hub: GridProcess,
    _folder: tempfile::TempDir,
}

/// A process of the grid, and all that it started: killed when this is dropped.
struct GridProcess {
    killed: CancellationToken,
    thread: Option<JoinHandle<()>>,
}

impl SeleniumGrid {
    /// Starts a grid, and waits until all nodes have told the hub. `None` if a part is missing, which skips the test locally and fails it
    /// in CI.
    pub fn start(n_nodes: usize) -> Option<SeleniumGrid> {
        let parts = repository().join(".parts");
        let (jars, geckodriver) = (parts.join("selenium-grid/jars"), parts.join("geckodriver/bin/geckodriver"));
        chromium::find()?;
        firefox::find()?;
        let (Some(java), Some(chromedriver)) = (on_path("java"), on_path("chromedriver")) else {
            skip::without_part("there is no Java or no chromedriver: `scripts/parts full` installs them");
            return None;
        };
        if !jars.is_dir() || !geckodriver.is_file() {
            skip::without_part("there is no Selenium Grid, or no geckodriver: `scripts/parts full` installs them");
            return None;
        }
        let folder = tempfile::tempdir().expect("a temporary folder");
        let classes = format!("{}/*", jars.display());
        let [hub, publish, subscribe] = free_ports();
        let bus = [
            "--publish-events".to_string(),
            format!("tcp://127.0.0.1:{publish}"),
            "--subscribe-events".to_string(),
            format!("tcp://127.0.0.1:{subscribe}"),
        ];
        let start = |name: &str, args: &[String]| {
            let mut all: Vec<String> =
                ["-Xmx256m", "-cp", &classes, "org.openqa.selenium.grid.Main"].map(String::from).to_vec();
            all.extend(args.iter().cloned());
            GridProcess::start(&java, &all, folder.path(), name)
        };
        let hub_port = hub.to_string();
        let hub_args = ["hub", "--host", "127.0.0.1", "--port", &hub_port, "--healthcheck-interval", "5"];
        let hub_args = hub_args.into_iter().chain(["--reject-unsupported-caps", "true"]).map(String::from).collect();
        let hub_process = start("hub", &[hub_args, bus.to_vec()].concat());
        let mut nodes = BTreeMap::new();
        for number in 0..n_nodes {
            let [port] = free_ports();
            let config = folder.path().join(format!("node-{number}.toml"));
            std::fs::write(&config, node_config(port, &chromedriver, &geckodriver)).expect("a file");
            let args =
                ["node", "--config"].map(String::from).into_iter().chain([config.display().to_string()]).collect();
            nodes.insert(number, start(&format!("node-{number}"), &[args, bus.to_vec()].concat()));
        }
        let grid =
            SeleniumGrid { address: format!("http://127.0.0.1:{hub}"), nodes, _hub: hub_process, _folder: folder };
        wait_until("the hub listens", || std::net::TcpStream::connect(("127.0.0.1", hub)).ok());
        wait_until("all nodes have told the hub", || (grid.slots().len() == 2 * n_nodes).then_some(()));
        Some(grid)
    }

    /// Whether each slot that the hub knows has a session.
    pub fn slots(&self) -> Vec<bool> {
        let status = ask(&self.address, "GET", "/status");
        let nodes = status["nodes"].as_array().into_iter().flatten();
        let slots = nodes.filter(|node| node["availability"] == "UP");
        let slots = slots.flat_map(|node| node["slots"].as_array().into_iter().flatten());
        slots.map(|slot| !slot["session"].is_null()).collect()
    }

    /// How many sessions the hub has, also those of a node that it cannot reach.
    pub fn n_sessions(&self) -> usize {
        let status = ask(&self.address, "GET", "/status");
        let slots = status["nodes"]
            .as_array()
            .into_iter()
            .flatten()
            .flat_map(|node| node["slots"].as_array().into_iter().flatten());
        slots.filter(|slot| !slot["session"].is_null()).count()
    }

    /// Ends a node as a machine ends that loses its power: with its drivers and browsers, and without a word.
    pub fn kill_node(&mut self, number: usize) {
        drop(self.nodes.remove(&number).expect("it runs"));
    }
}

/// What is asked of a slot with this browser.
pub fn capabilities(browser: &str) -> Value {
    match browser {
        "firefox" => {
            let program = firefox::find().expect("the test found Firefox");
            json!({"browserName": "firefox", "moz:firefoxOptions": {"binary": program, "args": ["-headless"]}})
        }
        _ => super::webdriver::capabilities(),
    }
}

/// It looks for nothing by itself, and downloads nothing.
fn node_config(port: u16, chromedriver: &Path, geckodriver: &Path) -> String {
    let slot = |name: &str, driver: &Path| {
        format!(
            "[[node.driver-configuration]]\ndisplay-name = \"{name}\"\nwebdriver-executable = \"{}\"\nmax-sessions = 1\n\
             stereotype = '{{\"browserName\": \"{name}\", \"platformName\": \"linux\"}}'\n",
            driver.display()
        )
    };
    format!(
        "[server]\nhost = \"127.0.0.1\"\nport = {port}\n[node]\ndetect-drivers = false\nselenium-manager = false\n\
         max-sessions = 2\noverride-max-sessions = true\n{}{}",
        slot("chrome", chromedriver),
        slot("firefox", geckodriver)
    )
}

fn free_ports<const N: usize>() -> [u16; N] {
    let listeners = [(); N].map(|()| TcpListener::bind("127.0.0.1:0").expect("a port"));
    listeners.map(|listener| listener.local_addr().expect("its address").port())
}

impl GridProcess {
    fn start(java: &Path, args: &[String], folder: &Path, name: &str) -> GridProcess {
        let mut launch = Launch::new(java.as_os_str().to_os_string(), PathBuf::from(folder));
        launch.args = args.iter().map(OsString::from).collect();
        // Nothing is downloaded.
        launch.set_env.push(("SE_OFFLINE".into(), "true".into()));
        let (killed, name) = (CancellationToken::new(), name.to_string());
        let (told, started) = channel();
        let order = killed.clone();
        let thread = std::thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
            runtime.block_on(async {
                let running = Supervisor::with_guardian(PROGRAM).start(launch).await.expect("it starts");
                let Running { stdin: _stdin, mut stdout, mut stderr, child } = running;
                told.send(()).expect("somebody waits");
                let (mut printed, mut complained) = (Vec::new(), Vec::new());
                let reading =
                    async { tokio::join!(stdout.read_to_end(&mut printed), stderr.read_to_end(&mut complained)) };
                tokio::select! {
                    _ = reading => {}
                    () = order.cancelled() => {}
                }
                if !order.is_cancelled() {
                    eprintln!("{name} ended by itself: {}", String::from_utf8_lossy(&[printed, complained].concat()));
                }
                child.kill().await;
            });
        });
        started.recv().expect("it starts");
        GridProcess { killed, thread: Some(thread) }
    }
}

impl Drop for GridProcess {
    fn drop(&mut self) {
        self.killed.cancel();
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}
