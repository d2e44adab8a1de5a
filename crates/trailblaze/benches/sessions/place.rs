//! Where the programs run: folders of their own, so that nothing of the user is used or left behind.

use std::io::{BufRead, BufReader};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use tempfile::TempDir;

/// How long anything may take.
pub const PATIENCE: Duration = Duration::from_secs(30);

/// A program that the rows need.
#[derive(Debug, thiserror::Error)]
#[error("there is no {what}; {hint}")]
pub struct Missing {
    what: String,
    hint: &'static str,
}

/// A project, and a folder for the daemon's files. The daemon ends with it.
pub struct Place {
    folder: TempDir,
    pub chromium: PathBuf,
}

impl Place {
    pub fn new(project: &str) -> Result<Place, Missing> {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let place = Place { folder, chromium: chromium()? };
        for folder in [place.runtime(), place.project(), place.home()] {
            std::fs::create_dir(&folder).expect("a folder");
            std::fs::set_permissions(&folder, PermissionsExt::from_mode(0o700)).expect("a private folder");
        }
        std::fs::write(place.project().join("trailblaze.yaml"), project).expect("a project");
        Ok(place)
    }

    pub fn runtime(&self) -> PathBuf {
        self.folder.path().join("runtime")
    }

    pub fn project(&self) -> PathBuf {
        self.folder.path().join("project")
    }

    pub fn home(&self) -> PathBuf {
        self.folder.path().join("home")
    }

    /// The file with the address and the key of the daemon.
    pub fn key_file(&self) -> PathBuf {
        self.runtime().join("trailblaze/trailblaze.daemon.json")
    }

    pub fn own(&self, args: &[&str]) -> Command {
        self.in_project(Path::new(env!("CARGO_BIN_EXE_trailblaze")), args)
    }

    /// @playwright/mcp, with the same browser.
    pub fn playwright(&self) -> Result<Command, Missing> {
        let program = part("node/node_modules/@playwright/mcp/cli.js")?;
        let mut command = self.in_project(&part("node/node_modules/.bin/node")?, &[]);
        command.arg(program).args(["--headless", "--isolated", "--no-sandbox", "--viewport-size", "1280x800"]);
        command.arg("--executable-path").arg(&self.chromium).arg("--output-dir").arg(self.folder.path().join("output"));
        Ok(command)
    }

    /// The native program of agent-browser, with the same browser.
    pub fn agent_browser(&self, args: &[&str]) -> Result<Command, Missing> {
        let processor = if cfg!(target_arch = "aarch64") { "arm64" } else { "x64" };
        let system = if cfg!(target_os = "macos") { "darwin" } else { "linux" };
        let program = format!("bench/node_modules/agent-browser/bin/agent-browser-{system}-{processor}");
        let mut command = self.in_project(&part(&program)?, args);
        command.env("HOME", self.home()).env("AGENT_BROWSER_SOCKET_DIR", self.runtime());
        command.env("AGENT_BROWSER_EXECUTABLE_PATH", &self.chromium).env("AGENT_BROWSER_ARGS", "--no-sandbox");
        Ok(command)
    }

    fn in_project(&self, program: &Path, args: &[&str]) -> Command {
        let mut command = Command::new(program);
        command.args(args).current_dir(self.project()).env("XDG_RUNTIME_DIR", self.runtime());
        command.env("TRAILBLAZE_CHROMIUM", &self.chromium).env("PLAYWRIGHT_SKIP_BROWSER_DOWNLOAD", "1");
        for variable in ["TRAILBLAZE_SESSION", "TRAILBLAZE_DEVICE", "TRAILBLAZE_FRESH"] {
            command.env_remove(variable);
        }
        command
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        if self.key_file().exists() {
            let _ = self.own(&["daemon", "stop"]).output();
        }
    }
}

fn part(path: &str) -> Result<PathBuf, Missing> {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../.parts").join(path);
    match file.exists() {
        true => Ok(file),
        false => Err(Missing { what: format!("`.parts/{path}`"), hint: "`./scripts/parts bench` installs it" }),
    }
}

fn chromium() -> Result<PathBuf, Missing> {
    let named = ["TRAILBLAZE_TEST_CHROMIUM", "TRAILBLAZE_CHROMIUM"].iter().find_map(std::env::var_os);
    let folders = std::env::var_os("PATH").unwrap_or_default();
    let found = named.map(PathBuf::from).or_else(|| {
        let names = ["chromium", "chromium-browser", "google-chrome"];
        let mut places =
            names.iter().flat_map(|name| std::env::split_paths(&folders).map(move |folder| folder.join(name)));
        places.find(|place| place.is_file())
    });
    found.ok_or(Missing { what: "Chromium".to_string(), hint: "`./scripts/parts` installs it" })
}

/// From the start of a process to its end. It must succeed.
pub fn timed(mut command: Command) -> (Duration, String) {
    command.stdin(Stdio::null());
    let started = Instant::now();
    let output = command.output().expect("the program runs");
    let took = started.elapsed();
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(output.status.success(), "{command:?}: {text}{}", String::from_utf8_lossy(&output.stderr));
    (took, text)
}

/// The example shop.
pub struct Shop {
    child: Child,
    pub address: String,
}

impl Shop {
    pub fn start() -> Result<Shop, Missing> {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/web-shop");
        let mut command = Command::new(part("node/node_modules/.bin/node")?);
        command.args(["server.mjs", "0"]).current_dir(folder).stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.spawn().expect("the shop starts");
        let mut line = String::new();
        let output = child.stdout.take().expect("it is piped");
        BufReader::new(output).read_line(&mut line).expect("the shop says where it is");
        let address = line.trim().strip_prefix("listening on ").expect("an address").to_string();
        Ok(Shop { child, address })
    }

    pub fn checkout(&self) -> String {
        format!("{}/checkout", self.address)
    }
}

impl Drop for Shop {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
