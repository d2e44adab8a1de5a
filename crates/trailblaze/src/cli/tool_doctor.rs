//! `trailblaze tool doctor`: starts and stops one tool server by itself, in both generations of the protocol.

use std::path::Path;
use std::sync::Arc;

use clap::Args;
use parking_lot::Mutex;
use trailblaze_core::engine::registry::Batch;
use trailblaze_core::engine::source::SourceError;
use trailblaze_core::engine::tool::Tool;
use trailblaze_core::ids;
use trailblaze_core::names::ToolOrigin;
use trailblaze_core::record::events::{EventSink, Redacted};
use trailblaze_core::yaml::{Severity, nearest};
use trailblaze_protocol::event::{Event, Level};
use trailblaze_protocol::exit::Exit;
use trailblaze_toolhost::CONTEXT_ARGUMENT;
use trailblaze_toolhost::listing::{RawListing, silently_strict, without_context};

use super::device::DeviceArgs;
use super::findings::{self, Finding, FindingState};
use super::{Context, Refusal};
use crate::kit::lint;
use crate::output::print;
use crate::project::devices::DeviceSpec;
use crate::servers::entries::{Named, entries};
use crate::servers::tool_servers::{Outlets, ServerMode};
use crate::sessions::wiring::Wiring;

/// The newest version of each generation.
const OLDER: &str = "2025-11-25";
const NEWER: &str = "2026-07-28";

/// Start one tool server, shake hands in both generations of the protocol, list and check its tools, and stop it; or check
/// a tool that needs no server
#[derive(Args)]
pub struct ToolDoctorArgs {
    /// The server, by its name in the configuration, or a tool of a file
    server: String,
    #[command(flatten)]
    devices: DeviceArgs,
    /// Print the findings as JSON
    #[arg(long)]
    json: bool,
}

pub async fn doctor(context: &Context, args: &ToolDoctorArgs) -> Result<Exit, Refusal> {
    let loaded = context.load(None)?;
    Refusal::unless_sound(&loaded.problems)?;
    let device = loaded.devices(&args.devices.device)?.remove(0);
    let wiring = context.wiring(&loaded, None);
    let names: Vec<&str> = wiring.servers.names().collect();
    if !names.contains(&args.server.as_str()) {
        let has_tool = |batch: &&Batch| batch.tools.iter().any(|tool| tool.name == args.server);
        if let Some(batch) = loaded.batches.iter().find(has_tool) {
            return Ok(tool_of_file(batch, &loaded.project.reserved_prefixes, args));
        }
        let near = nearest(&args.server, names.iter().copied()).map(|near| format!("did you mean `{near}`?"));
        let hint = near.or_else(|| (!names.is_empty()).then(|| format!("known servers: {}", names.join(", "))));
        return Err(Refusal::Usage { message: format!("the project has no tool server `{}`", args.server), hint });
    }
    let entries: Vec<Named> = entries(&loaded).into_iter().filter(|named| named.name == args.server).collect();
    let entry_decides = entries.iter().any(|named| named.entry.context.is_some());
    let is_embedded = entries.iter().any(|named| named.is_embedded(&device.driver));
    let first = Visit::make(&wiring, &device, &args.server, None).await;
    let mut findings = Vec::new();
    let exit = match &first.listed {
        Err(error) => {
            findings.push(first.failure(error));
            Exit::Environment
        }
        Ok((batch, _)) if is_embedded => {
            findings.push(Finding::good("start", "it runs in the script engine of this process".to_string()));
            let exit = tools(batch, &loaded.project.reserved_prefixes, &mut findings);
            findings.extend(first.warnings());
            exit
        }
        Ok((batch, raw)) => {
            let version = first.version();
            findings
                .push(Finding::good("start", format!("it starts, and negotiates version {version} of the protocol")));
            let other = if version == NEWER { OLDER } else { NEWER };
            findings.push(Visit::make(&wiring, &device, &args.server, Some(other)).await.other_generation(other));
            let exit = tools(batch, &loaded.project.reserved_prefixes, &mut findings);
            findings.extend(context_finding(raw, entry_decides));
            let scripts = entries.iter().filter_map(|named| named.entry.script.as_ref());
            findings.extend(scripts.filter_map(|script| stripped_context(raw, &loaded.root.join(script))));
            findings.extend(first.conduct());
            exit
        }
    };
    wiring.close().await;
    findings::print(("server", &args.server), &findings, args.json);
    Ok(exit)
}

/// Checks a tool that needs no server.
fn tool_of_file(batch: &Batch, reserved_prefixes: &[String], args: &ToolDoctorArgs) -> Exit {
    let place = match batch.contributor.origin {
        ToolOrigin::BuiltIn => "is built in".to_string(),
        _ => format!("is defined in {}", batch.contributor.label),
    };
    let mut findings = vec![Finding::good("start", format!("it {place}, and needs no server"))];
    let tool = batch.tools.iter().filter(|tool| tool.name == args.server).map(|tool| Tool::clone(tool)).collect();
    let exit = linted(&Batch::new(batch.contributor.clone(), tool), reserved_prefixes, &mut findings);
    findings::print(("tool", &args.server), &findings, args.json);
    exit
}

/// Runs the server once, and returns what it reported.
struct Visit {
    listed: Result<(Batch, RawListing), SourceError>,
    events: Vec<Event>,
}

impl Visit {
    async fn make(wiring: &Wiring, device: &DeviceSpec, server: &str, protocol: Option<&str>) -> Visit {
        let notes = Arc::new(Notes::default());
        let record = Redacted::new(Arc::clone(&notes) as _, Arc::clone(&wiring.secrets));
        let outlets = Outlets { events: Some(Arc::new(record)), ..Outlets::default() };
        let servers = wiring.tool_servers(ServerMode::Start).with_outlets(outlets);
        let session = ids::session();
        let listed = servers.visit(server, protocol, (&session, &device.description()), &wiring.secrets).await;
        servers.close().await;
        let events = std::mem::take(&mut *notes.0.lock());
        Visit { listed, events }
    }

    fn version(&self) -> &str {
        let version = self.events.iter().find_map(|event| match event {
            Event::ServerStarted { protocol, .. } => Some(protocol.as_str()),
            _ => None,
        });
        version.unwrap_or("unknown")
    }

    fn failure(&self, error: &SourceError) -> Finding {
        let (about, hint) = match error {
            SourceError::NotStarted { .. } => {
                ("start", "if Trailblaze starts it: run its command by hand in the same folder and read its output")
            }
            SourceError::NotListed { .. } => ("tools", "an MCP inspector shows its response to `tools/list`"),
            SourceError::NotAnswered { .. } => ("start", "check that it is running and that `url` points to it"),
            SourceError::Died { .. } => ("start", "its stderr is shown above; it must run until its stdin closes"),
        };
        Finding { state: FindingState::Bad, about, message: error.to_string(), hint: Some(hint.to_string()) }
    }

    /// The same server, started with the other generation of the protocol.
    fn other_generation(&self, version: &str) -> Finding {
        let (state, message) = match &self.listed {
            Ok((batch, _)) => (
                FindingState::Good,
                format!(
                    "it also supports version {version}, and lists {} in it",
                    print::count(batch.tools.len(), "tool")
                ),
            ),
            Err(error) => {
                let first = error.evidence().lines().next().unwrap_or_default();
                (FindingState::Note, format!("it does not support version {version}, which is fine: {first}"))
            }
        };
        Finding { state, about: "generations", message, hint: None }
    }

    /// What it did wrong while it ran.
    fn warnings(&self) -> Vec<Finding> {
        let warning = |event: &Event| match event {
            Event::Noted { level: Level::Warning | Level::Error, text, .. } => {
                Some(Finding { state: FindingState::Warning, about: "conduct", message: text.clone(), hint: None })
            }
            _ => None,
        };
        self.events.iter().filter_map(warning).collect()
    }

    /// How it behaved while it ran, and how it exited.
    fn conduct(&self) -> Vec<Finding> {
        let mut findings = self.warnings();
        let ended = self.events.iter().find_map(|event| match event {
            Event::ServerEnded { message, .. } => Some(message.as_str()),
            _ => None,
        });
        let ended = ended.unwrap_or("ended in an unknown way");
        findings.push(match ended {
            "exited with code 0" => Finding::good("end", "it exits when its stdin closes".to_string()),
            other => Finding {
                state: FindingState::Warning,
                about: "end",
                message: format!("when its stdin closed, it {other}"),
                hint: Some("exit with code 0 within 5 s after stdin closes".to_string()),
            },
        });
        findings
    }
}

fn tools(batch: &Batch, granted: &[String], findings: &mut Vec<Finding>) -> Exit {
    let n_tools = batch.tools.len();
    match n_tools {
        0 => findings.push(Finding {
            state: FindingState::Warning,
            about: "tools",
            message: "it lists no tools".to_string(),
            hint: Some("declare the capability `tools`, and define the tools before the server connects".to_string()),
        }),
        _ => findings.push(Finding::good("tools", format!("it lists {}", print::count(n_tools, "tool")))),
    }
    linted(batch, granted, findings)
}

fn linted(batch: &Batch, granted: &[String], findings: &mut Vec<Finding>) -> Exit {
    let mut exit = Exit::Passed;
    for finding in lint::lint(batch, granted) {
        let state = match finding.severity {
            Severity::Error => FindingState::Bad,
            Severity::Warning => FindingState::Warning,
        };
        if state == FindingState::Bad {
            exit = Exit::Invalid;
        }
        findings.push(Finding { state, about: finding.rule, message: finding.message, hint: finding.hint });
    }
    exit
}

/// Tools that would refuse the context sent with every call, unless their server's entry states how to send it.
fn context_finding(raw: &RawListing, is_decided: bool) -> Option<Finding> {
    let tools: Vec<String> = silently_strict(raw).map(|name| format!("`{name}`")).collect();
    let strict = match tools.as_slice() {
        [] => return None,
        _ if is_decided => return None,
        [one] => format!("{one} refuses"),
        [first, rest @ ..] => format!("{first} and {} refuse", print::count(rest.len(), "other tool")),
    };
    Some(Finding {
        state: FindingState::Warning,
        about: "context",
        message: format!(
            "{strict} the argument `_trailblazeContext` although the schema allows it, as FastMCP 2 does: the first call of \
             each run is made twice"
        ),
        hint: Some("`context: meta` in the server's entry leaves the argument out".to_string()),
    })
}

/// A script that reads the context argument, written with a library that removes arguments that tools do not declare.
fn stripped_context(raw: &RawListing, script: &Path) -> Option<Finding> {
    let source = std::fs::read_to_string(script).ok()?;
    if !source.contains(CONTEXT_ARGUMENT) || !source.contains("McpServer") {
        return None;
    }
    let tools: Vec<String> = without_context(raw).map(|name| format!("`{name}`")).collect();
    let (first, rest) = tools.split_first()?;
    let others =
        if rest.is_empty() { String::new() } else { format!(" and {}", print::count(rest.len(), "other tool")) };
    Some(Finding {
        state: FindingState::Warning,
        about: "context",
        message: format!(
            "its script reads `{}`, but `McpServer` removes arguments that a tool does not declare, so {first}{others} \
             never gets it",
            CONTEXT_ARGUMENT
        ),
        hint: Some(
            "read `extra._meta.trailblaze`, declare the argument in `inputSchema`, or use `Server` of @trailblaze/scripting"
                .to_string(),
        ),
    })
}

/// Collects the events of a server.
#[derive(Default)]
struct Notes(Mutex<Vec<Event>>);

impl EventSink for Notes {
    fn emit(&self, event: Event) {
        self.0.lock().push(event);
    }
}
