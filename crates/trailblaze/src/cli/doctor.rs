//! `trailblaze doctor`: whether everything is there that this project needs.

use std::net::{Ipv4Addr, TcpListener};
use std::path::Path;
use std::time::Duration;

use clap::Args;
use serde_json::json;
use tokio::io::AsyncReadExt;
use trailblaze_core::yaml::Severity;
use trailblaze_drivers::web::find_browser;
use trailblaze_protocol::driver::Platform;
use trailblaze_protocol::exit::Exit;
use trailblaze_supervise::{Launch, Supervisor};
use trailblaze_toolhost::launch::{Place, Runtimes, launch};

use super::signs::{self, Sign, State};
use super::{Context, Refusal};
use crate::api::PORT;
use crate::output::print;
use crate::project::devices::{DeviceKind, DeviceSpec};
use crate::project::loaded::{Loaded, PROJECT_FILE};
use crate::project::models::{self, Reason};
use crate::servers::entries::entries;
use crate::sessions::service::{Answer, Request};
use crate::sessions::wiring::browser_options;

/// How long a program may take to print its version.
const VERSION: Duration = Duration::from_secs(10);

/// Check that everything is there that the project needs, and say what to do about what is not
///
/// It looks at the project's files, the browser, adb, the programs of tool servers, the model's key, the port and the daemon. Nothing
/// is installed or started; `trailblaze tool doctor NAME` starts one tool server and checks it.
///
/// Exit codes: 0 all is well · 2 something that this project needs is missing · 3 the project has errors
#[derive(Args)]
pub struct DoctorArgs {
    /// Print the findings as JSON
    #[arg(long)]
    json: bool,
}

pub async fn doctor(context: &Context, args: DoctorArgs) -> Result<Exit, Refusal> {
    let loaded = context.load(None)?;
    let doctor = Doctor { context, loaded: &loaded, supervisor: Supervisor::new() };
    let mut all: Vec<Sign> = vec![Sign::good("program", doctor.program())];
    let (project, n_errors) = doctor.project();
    all.push(project);
    all.extend(doctor.devices().await);
    all.extend(doctor.servers().await);
    all.push(doctor.model());
    all.push(doctor.daemon().await);
    let is_missing = |sign: &Sign| sign.state == State::Bad && sign.about != "project";
    let exit = match n_errors {
        _ if all.iter().any(is_missing) => Exit::Environment,
        0 => Exit::Passed,
        _ => Exit::Invalid,
    };
    match args.json {
        true => print::json(&json!({"project": loaded.root, "signs": signs::json(&all)})),
        false => {
            print::data(format!("project `{}`", loaded.root.display()));
            signs::show(&all);
        }
    }
    Ok(exit)
}

struct Doctor<'c> {
    context: &'c Context,
    loaded: &'c Loaded,
    supervisor: Supervisor,
}

impl Doctor<'_> {
    fn program(&self) -> String {
        let version = self.context.version.0.split('+').next().unwrap_or_default();
        format!("Trailblaze {version} on {} {}", std::env::consts::OS, std::env::consts::ARCH)
    }

    fn project(&self) -> (Sign, usize) {
        if !self.loaded.root.join(PROJECT_FILE).is_file() {
            let sign = Sign::note("project", format!("there is no {PROJECT_FILE} here or above; defaults are used"));
            return (sign.hint("`trailblaze init` makes a project"), 0);
        }
        let n_errors = self.loaded.problems.iter().filter(|problem| problem.severity == Severity::Error).count();
        let sign = match n_errors {
            0 => Sign::good("project", format!("{PROJECT_FILE} and the files beside it can be read")),
            _ => Sign::bad("project", format!("the project has {}", print::count(n_errors, "error")))
                .hint("`trailblaze check` lists them with their places"),
        };
        (sign, n_errors)
    }

    /// What the devices of the project need.
    async fn devices(&self) -> Vec<Sign> {
        let devices = match self.loaded.all_devices() {
            Ok(devices) => devices,
            Err(error) => return vec![Sign::bad("project", error.to_string())],
        };
        let is_web = |device: &&DeviceSpec| device.kind != DeviceKind::Simulated && device.platform == Platform::Web;
        let needs_browser = devices.iter().any(|device| is_web(&device));
        let needs_adb =
            devices.iter().any(|device| device.kind != DeviceKind::Simulated && device.platform == Platform::Android);
        vec![self.browser(needs_browser).await, self.adb(needs_adb).await]
    }

    async fn browser(&self, is_needed: bool) -> Sign {
        let options = browser_options(self.loaded, false);
        if let Some(address) = &options.attach {
            return Sign::note("browser", format!("a browser that runs at `{address}` is used; it was not contacted"));
        }
        let found = match find_browser(&options) {
            Ok(found) => found,
            Err(error) if is_needed => return Sign::bad("browser", error.to_string()),
            Err(error) => return Sign::note("browser", format!("{error}; this project does not need it")),
        };
        match self.version_of(&found, "--version").await {
            Ok(version) => Sign::good("browser", format!("{version}, {}", found.display())),
            Err(why) => {
                let message = format!("`{}` does not start: {why}", found.display());
                let sign = if is_needed { Sign::bad("browser", message) } else { Sign::warning("browser", message) };
                sign.hint("set TRAILBLAZE_CHROMIUM to the path of another browser")
            }
        }
    }

    async fn adb(&self, is_needed: bool) -> Sign {
        match self.loaded.environment.find_program("adb".as_ref()) {
            Some(adb) => match self.version_of(&adb, "version").await {
                Ok(version) => Sign::good("adb", format!("{version}, {}", adb.display())),
                Err(why) => Sign::warning("adb", format!("`{}` does not start: {why}", adb.display())),
            },
            None if is_needed => Sign::bad("adb", "adb is not on PATH")
                .hint("install the Android platform tools (`apt-get install adb`)"),
            None => Sign::note("adb", "adb is not on PATH; this project does not need it"),
        }
    }

    /// The first line that a program prints about its version.
    async fn version_of(&self, program: &Path, argument: &str) -> Result<String, String> {
        let mut launch = Launch::new(program.as_os_str().to_os_string(), self.loaded.root.clone());
        launch.args = vec![argument.into()];
        let told = async {
            let mut running = self.supervisor.start(launch).await.map_err(|error| error.to_string())?;
            let mut text = String::new();
            let read = running.stdout.read_to_string(&mut text).await.map(|_| text);
            let ended = running.child.ended().await;
            let text = read.map_err(|error| error.to_string())?;
            let first = text.lines().find(|line| !line.trim().is_empty()).map(|line| line.trim().to_string());
            first.ok_or_else(|| format!("it {ended}, and printed nothing"))
        };
        let told = tokio::time::timeout(VERSION, told).await;
        told.unwrap_or_else(|_| Err(format!("it printed no version within {} s", VERSION.as_secs())))
    }

    /// Whether the tool servers could be started.
    async fn servers(&self) -> Vec<Sign> {
        let runtimes = Runtimes::new(self.loaded.environment.path().to_os_string(), self.supervisor.clone());
        let place = Place { root: &self.loaded.root, base_url: "", session: None };
        let mut signs = Vec::new();
        for named in entries(self.loaded) {
            let name = &named.name;
            if let Some(url) = &named.entry.url {
                signs.push(Sign::note("server", format!("server `{name}` at `{url}` was not contacted")));
                continue;
            }
            signs.push(match launch(&named.entry, &place, &runtimes).await {
                Err(error) => Sign::bad("server", format!("server `{name}` cannot start: {error}")),
                Ok(found) if self.is_program(&found.program) => {
                    let program = Path::new(&found.program).display();
                    Sign::good("server", format!("server `{name}` can be started with `{program}`"))
                }
                Ok(found) => {
                    let program = Path::new(&found.program).display();
                    Sign::bad("server", format!("server `{name}` cannot start: there is no program `{program}`"))
                        .hint("install it, or correct `command` in the server's entry")
                }
            });
        }
        signs
    }

    fn is_program(&self, program: &std::ffi::OsStr) -> bool {
        let path = Path::new(program);
        if path.components().count() > 1 {
            return path.is_file();
        }
        self.loaded.environment.find_program(program).is_some()
    }

    fn model(&self) -> Sign {
        let Some((model, reason)) = models::choice(self.loaded, None) else {
            return Sign::note("model", "no model is chosen: steps without recordings cannot run")
                .hint("`trailblaze model list` lists the models that `--model` accepts");
        };
        let providers = models::providers(self.loaded.project.llm.as_ref());
        let id = model.split('/').next().unwrap_or_default();
        let Some(provider) = providers.iter().find(|provider| provider.id == id) else {
            return Sign::bad("model", format!("the provider of `{model}` is unknown, from {reason}"))
                .hint("`trailblaze model list` lists the providers");
        };
        let variable = provider.variable.as_ref().filter(|_| provider.needs_key);
        let is_set = |name: &&String| self.loaded.environment.text(name).is_some_and(|key| !key.trim().is_empty());
        match variable.filter(|name| !is_set(name)) {
            None => Sign::good("model", format!("`{model}`, from {reason}"))
                .hint("`trailblaze model test` sends it one small request"),
            Some(name) => {
                let message = format!("`{model}` needs a key, and {name} is not set");
                // Without a model, recordings still replay; but the project says that it uses one.
                let sign = match reason {
                    Reason::Config(_) => Sign::bad("model", message),
                    Reason::Flag | Reason::Variable => Sign::warning("model", message),
                };
                sign.hint(format!("set {name} in the environment"))
            }
        }
    }

    /// The daemon, or whether it could listen.
    async fn daemon(&self) -> Sign {
        let client = match self.context.daemon() {
            Ok(client) => client,
            Err(refusal) => return Sign::bad("daemon", refusal.to_string()),
        };
        match client.ask_running(Request::Status).await {
            Some(Ok(Answer::Status(status))) if status.version != self.context.version.0 => {
                let message = format!("a daemon of version {} runs at {}", status.version, status.address);
                Sign::note("daemon", message).hint("the next command replaces it, once its sessions are closed")
            }
            Some(Ok(Answer::Status(status))) => {
                let n = print::count(status.sessions.len(), "session");
                Sign::good("daemon", format!("the daemon runs at {}, with {n}", status.address))
            }
            Some(Ok(_)) => {
                Sign::warning("daemon", "the daemon gave an unexpected answer").hint("`trailblaze daemon stop` ends it")
            }
            Some(Err(error)) => Sign::warning("daemon", error.to_string()).hint("`trailblaze daemon stop` ends it"),
            None => match TcpListener::bind((Ipv4Addr::LOCALHOST, PORT)) {
                Ok(_) => Sign::good("daemon", format!("the daemon is not running, and port {PORT} is free")),
                Err(error) => Sign::warning("daemon", format!("port {PORT} cannot be used: {error}"))
                    .hint("the daemon and `serve` take another port; TRAILBLAZE_PORT chooses one"),
            },
        }
    }
}
