//! Tools about the project: devices, trails, tools and reports.

use serde_json::Value;
use trailblaze_core::trail::Merge;
use trailblaze_protocol::exit::Exit;

use super::super::answer::{McpCallError, McpCallResult, text};
use super::super::arguments::{DevicesArgs, McpReportArgs, McpToolboxArgs, MergeWord, TrailAction, TrailArgs};
use super::{McpRequest, last, said};
use crate::sessions::interactive::{InteractiveCommand, Save};
use crate::sessions::service::{
    CheckRequest, Checked, DevicesRequest, EditRequest, Edited, Ran, ReportRequest, RunRequest, ServiceAnswer,
    ServiceRequest, ToolboxRequest,
};

impl McpRequest<'_> {
    pub(super) async fn devices(&self, args: DevicesArgs) -> McpCallResult {
        let client = self.place(args.session.as_deref()).await?;
        match self.request(ServiceRequest::Devices(DevicesRequest { client })).await? {
            ServiceAnswer::Devices(devices) => {
                let lines = devices.iter().map(|device| {
                    let used = match device.sessions.as_slice() {
                        [] => String::new(),
                        names => format!(", used by session {}", names.join(", ")),
                    };
                    format!("{}: {} ({}×{}){used}", device.id, device.summary, device.width, device.height)
                });
                Ok(text(lines.collect::<Vec<_>>().join("\n")))
            }
            other => Err(McpCallError::unexpected(&other)),
        }
    }

    pub(super) async fn toolbox(&self, args: McpToolboxArgs) -> McpCallResult {
        let session = args.session.as_deref();
        let request = ToolboxRequest {
            client: self.place(session).await?,
            session: self.choice(session),
            search: args.search,
            tool: args.tool,
            ..ToolboxRequest::default()
        };
        match self.request(ServiceRequest::Toolbox(request)).await? {
            ServiceAnswer::Toolbox(listed) if listed.text.is_empty() => {
                Ok(text("no tool has these words in its name or description\nhint: fewer words find more"))
            }
            ServiceAnswer::Toolbox(listed) => Ok(text(listed.text)),
            other => Err(McpCallError::unexpected(&other)),
        }
    }

    pub(super) async fn report(&self, args: McpReportArgs) -> McpCallResult {
        let client = self.place(args.session.as_deref()).await?;
        match self.request(ServiceRequest::Report(ReportRequest { client, run: args.run })).await? {
            ServiceAnswer::Report(summary) => Ok(text(result_of_run(&summary))),
            other => Err(McpCallError::unexpected(&other)),
        }
    }

    pub(super) async fn trail(&self, args: TrailArgs) -> McpCallResult {
        let session = args.session.as_deref();
        let need = |what: &str| McpCallError::failed(format!("`{what}` is needed for this action"));
        match args.action {
            TrailAction::Save => {
                let save = Save {
                    path: args.path.ok_or_else(|| need("path"))?,
                    merge: args.merge.map(|word| match word {
                        MergeWord::Append => Merge::Append,
                        MergeWord::Replace => Merge::Replace,
                    }),
                    title: args.title,
                    from: args.from,
                    to: args.to,
                    is_own: true,
                };
                Ok(text(said(last(self.execute_open(session, vec![InteractiveCommand::Save(save)]).await?)?)?))
            }
            TrailAction::Run => {
                let request = RunRequest {
                    client: self.place(session).await?,
                    paths: args.path.into_iter().collect(),
                    devices: args.device.into_iter().collect(),
                    target: self.server.options.target.clone(),
                    records: args.record,
                    secrets: self.server.secrets.lock().iter().cloned().collect(),
                    allowed_secrets: Some(self.server.options.allowed_secrets.clone()),
                    ..RunRequest::default()
                };
                match self.request(ServiceRequest::Run(Box::new(request))).await? {
                    ServiceAnswer::Ran(ran) => outcome(&ran),
                    other => Err(McpCallError::unexpected(&other)),
                }
            }
            TrailAction::Check => {
                let client = self.place(session).await?;
                let paths = args.path.into_iter().collect();
                match self.request(ServiceRequest::Check(CheckRequest { client, paths })).await? {
                    ServiceAnswer::Checked(checked) if checked.errors == 0 => Ok(text(problems(&checked))),
                    ServiceAnswer::Checked(checked) => Err(McpCallError::failed(problems(&checked))),
                    other => Err(McpCallError::unexpected(&other)),
                }
            }
            TrailAction::List | TrailAction::Read | TrailAction::Edit => {
                let mut request = EditRequest { client: self.place(session).await?, ..EditRequest::default() };
                match args.action {
                    TrailAction::List => {}
                    TrailAction::Read => request.path = Some(args.path.ok_or_else(|| need("path"))?),
                    _ => {
                        request.path = Some(args.path.ok_or_else(|| need("path"))?);
                        match (args.text, args.old, args.new) {
                            (Some(text), None, None) => request.text = Some(text),
                            (None, Some(old), Some(new)) => request.replace = Some((old, new)),
                            _ => {
                                return Err(McpCallError::failed("to edit, give `old` and `new`, or the whole `text`"));
                            }
                        }
                    }
                }
                match self.request(ServiceRequest::Edit(request)).await? {
                    ServiceAnswer::Trail(edited) => Ok(text(described(&edited))),
                    other => Err(McpCallError::unexpected(&other)),
                }
            }
        }
    }
}

fn described(edited: &Edited) -> String {
    match edited {
        Edited::List(trails) if trails.is_empty() => "the project has no trails".to_string(),
        Edited::List(trails) => trails.iter().map(trail_line).collect::<Vec<_>>().join("\n"),
        Edited::Text { text, .. } => text.clone(),
        Edited::Written { path, warnings } => {
            let lines = std::iter::once(format!("wrote {}", path.display())).chain(warnings.iter().cloned());
            lines.collect::<Vec<_>>().join("\n")
        }
    }
}

fn trail_line(trail: &Value) -> String {
    match (trail["path"].as_str(), trail["title"].as_str()) {
        (Some(path), Some(title)) => format!("{path}: {title}"),
        (Some(path), None) => path.to_string(),
        (None, _) => trail.as_str().map_or_else(|| trail.to_string(), str::to_string),
    }
}

fn problems(checked: &Checked) -> String {
    let mut lines: Vec<String> = Vec::new();
    for problem in &checked.problems {
        let word = |name: &str| problem[name].as_str();
        let place: Vec<String> = [word("file").map(str::to_string)]
            .into_iter()
            .chain(["line", "column"].map(|name| problem[name].as_u64().map(|number| number.to_string())))
            .flatten()
            .collect();
        let severity = word("severity").unwrap_or("error");
        lines.push(format!("{}: {severity}: {}", place.join(":"), word("message").unwrap_or_default()));
        lines.extend(word("hint").map(|hint| format!("  hint: {hint}")));
    }
    let trails = if checked.trails == 1 { "1 trail".to_string() } else { format!("{} trails", checked.trails) };
    let errors = match checked.errors {
        0 => "no errors".to_string(),
        1 => "1 error".to_string(),
        n_errors => format!("{n_errors} errors"),
    };
    lines.push(format!("checked {trails}: {errors}"));
    lines.join("\n")
}

/// The answer to a run: it failed if a trail did.
pub fn outcome(ran: &Ran) -> McpCallResult {
    let mut lines = vec![ran.text.trim_end().to_string()];
    let failures = failures(&ran.summary);
    lines.extend(failures.into_iter().filter(|line| !ran.text.contains(line.trim())));
    let report = ran.report.as_ref().map(|report| report.display().to_string());
    lines.extend(report.filter(|report| !ran.text.contains(report)).map(|report| format!("report: {report}")));
    let said = lines.into_iter().filter(|line| !line.is_empty()).collect::<Vec<_>>().join("\n");
    match ran.exit {
        Exit::Passed => Ok(text(said)),
        _ => Err(McpCallError::failed(said)),
    }
}

/// A run in words, from its summary.
fn result_of_run(summary: &Value) -> String {
    let counts = summary["counts"].as_object().into_iter().flatten();
    let counts: Vec<String> = counts
        .filter(|(_, count)| count.as_u64().is_some_and(|count| count > 0))
        .map(|(name, count)| format!("{count} {name}"))
        .collect();
    let run = summary["run"].as_str().unwrap_or("?");
    let ended = match (summary["isFinished"].as_bool(), summary["exit"].as_str()) {
        (Some(false), _) => "not finished",
        (_, Some(exit)) => exit,
        _ => "?",
    };
    let mut lines = vec![format!("run {run}: {ended} ({})", counts.join(", "))];
    for attempt in summary["attempts"].as_array().into_iter().flatten() {
        let word = |name: &str| attempt[name].as_str().unwrap_or("?");
        let trail = &attempt["trail"];
        let trail = trail["path"].as_str().filter(|path| !path.is_empty()).or(trail["id"].as_str()).unwrap_or("?");
        lines.push(format!("{}: {trail} on {}", word("verdict"), word("device")));
    }
    lines.extend(failures(summary));
    lines.join("\n")
}

/// Why trails failed: the step, the call, and what was seen instead.
fn failures(summary: &Value) -> Vec<String> {
    let run = summary["run"].as_str().unwrap_or_default();
    let mut lines = Vec::new();
    for attempt in summary["attempts"].as_array().into_iter().flatten() {
        let failure = &attempt["failure"];
        if !failure.is_object() {
            continue;
        }
        let trail = attempt["trail"]["id"].as_str().unwrap_or("?");
        lines.push(format!("why {trail} failed: {}", failure["message"].as_str().unwrap_or_default()));
        for (name, words) in [("step", "step"), ("tool", "tool"), ("expected", "expected"), ("saw", "saw")] {
            lines.extend(failure[name].as_str().map(|value| format!("  {words}: {value}")));
        }
        let just_before = failure["justBefore"].as_array().into_iter().flatten().filter_map(Value::as_str);
        lines.extend(just_before.map(|sign| format!("  just before: {sign}")));
        let place = &failure["place"];
        lines.extend(place["file"].as_str().map(|file| format!("  at {file}:{}", place["line"])));
        let pictures = failure["pictures"].as_array().into_iter().flatten().filter_map(Value::as_str);
        lines.extend(pictures.map(|file| format!("  picture: trailblaze://pictures/{run}/{file}")));
    }
    lines
}
