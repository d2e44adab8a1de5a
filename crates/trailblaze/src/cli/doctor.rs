//! `trailblaze doctor`: whether everything is there that this project needs.

use std::net::{Ipv4Addr, TcpListener};
use std::path::Path;

use clap::Args;
use trailblaze_core::yaml::Severity;
use trailblaze_protocol::exit::Exit;
use trailblaze_supervise::{Launch, Supervisor};
use trailblaze_toolhost::build::ServerBuild;
use trailblaze_toolhost::launch::{LaunchPlace, Runtimes, launch};

use super::findings::{self, Finding, FindingState};
use super::{Context, Refusal};
use crate::api::PORT;
use crate::output::print;
use crate::project::devices::DeviceSpec;
use crate::project::loaded::{Loaded, PROJECT_FILE};
use crate::project::models::{self, ModelChoiceReason, ModelOptions, Models};
use crate::project::server_entry::missing_files;
use crate::servers::entries::{Named, entries};
use crate::sessions::service::{ServiceAnswer, ServiceRequest};

/// What findings about the project's files are about.
const PROJECT: &str = "project";
/// The variable that sets the port.
const PORT_VARIABLE: &str = "TRAILBLAZE_PORT";

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
    let wiring = context.wiring(&loaded, None);
    let doctor = Doctor { context, loaded: &loaded, supervisor: Supervisor::new() };
    let mut all = vec![Finding::good("program", doctor.program()), doctor.project()];
    let devices = loaded.all_devices().unwrap_or_else(|error| {
        all.push(Finding::bad(PROJECT, error.to_string()));
        Vec::new()
    });
    all.extend(wiring.devices.check(&devices).await);
    all.extend(doctor.servers(&devices).await);
    all.push(doctor.model());
    all.push(doctor.daemon().await);
    findings::print(("project", &loaded.root.display().to_string()), &all, args.json);
    Ok(all.iter().map(exit_of).fold(Exit::Passed, Exit::worst))
}

/// What a finding means for the whole.
fn exit_of(finding: &Finding) -> Exit {
    match finding.state {
        FindingState::Bad if finding.about == PROJECT => Exit::Invalid,
        FindingState::Bad => Exit::Environment,
        FindingState::Good | FindingState::Note | FindingState::Warning => Exit::Passed,
    }
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

    fn project(&self) -> Finding {
        if !self.loaded.root.join(PROJECT_FILE).is_file() {
            let finding =
                Finding::note(PROJECT, format!("there is no {PROJECT_FILE} here or above; defaults are used"));
            return finding.hint("`trailblaze init` makes a project");
        }
        match self.loaded.problems.iter().filter(|problem| problem.severity == Severity::Error).count() {
            0 => Finding::good(PROJECT, format!("{PROJECT_FILE} and the files beside it can be read")),
            n_errors => Finding::bad(PROJECT, format!("the project has {}", print::count(n_errors, "error")))
                .hint("`trailblaze check` lists them with their places"),
        }
    }

    /// Whether the tool servers could be started for these devices.
    async fn servers(&self, devices: &[DeviceSpec]) -> Vec<Finding> {
        let runtimes = Runtimes::new(self.loaded.environment.path().to_os_string(), self.supervisor.clone());
        let place = LaunchPlace { root: &self.loaded.root, base_url: "", session: None };
        let mut findings = Vec::new();
        for named in entries(self.loaded) {
            let name = &named.name;
            if let Some(url) = &named.entry.url {
                findings.push(Finding::note("server", format!("server `{name}` at `{url}` was not contacted")));
                continue;
            }
            if let Some((key, path)) = missing_files(&self.loaded.root, &named.entry).first() {
                let message = format!("server `{name}` cannot start: `{path}` does not exist");
                let hint = format!("correct `{key}` {}", named.at(key, path));
                findings.push(Finding::bad("server", message).hint(hint));
                continue;
            }
            let script = named.entry.script.as_deref();
            let is_embedded = !devices.is_empty() && devices.iter().all(|device| named.is_embedded(&device.driver));
            findings.push(match script.filter(|_| is_embedded) {
                Some(script) => {
                    Finding::good("server", format!("server `{name}` runs inside Trailblaze, from `{script}`"))
                }
                None => match launch(&named.entry, &place, &runtimes).await {
                    Err(error) => Finding::bad("server", format!("server `{name}` cannot start: {error}")),
                    Ok(found) => self.server(&named, &found),
                },
            });
        }
        findings
    }

    fn server(&self, named: &Named, found: &Launch) -> Finding {
        let (name, build) = (&named.name, ServerBuild::of(&named.entry, &self.loaded.root));
        let build = build.as_ref();
        if let Some((build, missing)) = build.and_then(|build| Some((build, build.missing()?))) {
            let finding = Finding::bad("server", format!("server `{name}` cannot start: {missing}"));
            return finding.hint(named.build_advice(build));
        }
        let program = Path::new(&found.program).display();
        if !self.is_program(&found.program) {
            let command = named.entry.command.as_deref().unwrap_or_default();
            return Finding::bad("server", format!("server `{name}` cannot start: there is no program `{program}`"))
                .hint(format!("install it, or correct `command` {}", named.at("command", command)));
        }
        if let Some((build, stale)) = build.and_then(|build| Some((build, build.stale()?))) {
            return Finding::warning("server", format!("server `{name}`: {}", stale.what))
                .hint(named.build_advice(build));
        }
        Finding::good("server", format!("server `{name}` can be started with `{program}`"))
            .hint(format!("`trailblaze tool doctor {name}` starts it and checks its tools"))
    }

    fn is_program(&self, program: &std::ffi::OsStr) -> bool {
        let path = Path::new(program);
        if path.components().count() > 1 {
            return path.is_file();
        }
        self.loaded.environment.find_program(program).is_some()
    }

    fn model(&self) -> Finding {
        let Some((model, reason)) = models::choice(self.loaded, None) else {
            return Finding::note("model", "no model is chosen: steps without recordings cannot run")
                .hint("`trailblaze model list` lists the models that `--model` accepts");
        };
        match Models::resolve(self.loaded, &ModelOptions::default()) {
            Ok(_) => Finding::good("model", format!("`{model}`, from {reason}"))
                .hint("`trailblaze model test` sends it one small request"),
            Err(error) => {
                // Without a model, recordings still replay; but here the project says that it uses one.
                let is_needed = matches!(reason, ModelChoiceReason::Config(_)) || !error.is_environment();
                let make = if is_needed { Finding::bad } else { Finding::warning };
                Finding { hint: error.hint(), ..make("model", error.to_string()) }
            }
        }
    }

    /// The port that a daemon would listen on.
    fn port(&self) -> Finding {
        let chosen = self.context.environment.text(PORT_VARIABLE).filter(|text| !text.is_empty());
        let port = match chosen.map(str::parse) {
            None => PORT,
            Some(Ok(port)) => port,
            Some(Err(_)) => {
                let message = format!("{PORT_VARIABLE} is `{}`, which is no port", chosen.unwrap_or_default());
                return Finding::bad("daemon", message).hint("set it to a number from 1 to 65535, or unset it");
            }
        };
        match TcpListener::bind((Ipv4Addr::LOCALHOST, port)) {
            Ok(_) => Finding::good("daemon", format!("the daemon is not running, and port {port} is free")),
            Err(error) => {
                let finding = Finding::warning("daemon", format!("port {port} cannot be used: {error}"));
                finding.hint(match chosen {
                    Some(_) => format!("{PORT_VARIABLE} names it; choose another, or unset it"),
                    None => format!("the daemon and `serve` take another port; {PORT_VARIABLE} chooses one"),
                })
            }
        }
    }

    /// The daemon, or whether it could listen.
    async fn daemon(&self) -> Finding {
        let client = match self.context.daemon() {
            Ok(client) => client,
            Err(refusal) => return Finding::bad("daemon", refusal.to_string()),
        };
        match client.ask_running(ServiceRequest::Status).await {
            Some(Ok(ServiceAnswer::Status(status))) if status.version != self.context.version.0 => {
                let message = format!("a daemon of version {} runs at {}", status.version, status.address);
                Finding::note("daemon", message).hint("the next command replaces it, once its sessions are closed")
            }
            Some(Ok(ServiceAnswer::Status(status))) => {
                let n = print::count(status.sessions.len(), "session");
                Finding::good("daemon", format!("the daemon runs at {}, with {n}", status.address))
            }
            Some(Ok(_)) => Finding::warning("daemon", "the daemon gave an unexpected answer")
                .hint("`trailblaze daemon stop` ends it"),
            Some(Err(error)) => Finding::warning("daemon", error.to_string()).hint("`trailblaze daemon stop` ends it"),
            None => self.port(),
        }
    }
}
