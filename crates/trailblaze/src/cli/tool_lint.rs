//! `trailblaze tool lint`: checks the project's own tools as models see them.

use std::sync::Arc;

use clap::Args;
use serde_json::{Value, json};
use trailblaze_core::engine::registry::{Batch, Registry};
use trailblaze_core::engine::session::stop_own;
use trailblaze_core::ids;
use trailblaze_core::names::ToolOrigin;
use trailblaze_core::yaml::{Problem, Severity, nearest};
use trailblaze_protocol::exit::Exit;

use super::device::DeviceArgs;
use super::{Context, Refusal};
use crate::kit::lint::{self, LintFinding};
use crate::output::print;
use crate::output::progress::Progress;
use crate::servers::tool_servers::{Needed, Outlets, ServerMode};

/// Check the project's own tools: names, schemas, descriptions, size for models, metadata
#[derive(Args)]
pub struct LintArgs {
    /// Check only these tools
    names: Vec<String>,
    #[command(flatten)]
    devices: DeviceArgs,
    /// Also check the tool servers of this app [default: the project's target]
    #[arg(long, env = "TRAILBLAZE_TARGET")]
    target: Option<String>,
    /// Treat warnings as errors
    #[arg(long)]
    strict: bool,
    /// Start no tool servers; use the tools they listed when last started
    #[arg(long)]
    offline: bool,
    /// Print the findings as JSON
    #[arg(long)]
    json: bool,
}

pub async fn lint(context: &Context, args: &LintArgs) -> Result<Exit, Refusal> {
    let loaded = context.load(None)?;
    let device = loaded.devices(&args.devices.device)?.remove(0);
    let mut wiring = context.wiring(&loaded, args.target.clone());
    wiring.check_target()?;
    let mode = if args.offline { ServerMode::Remember } else { ServerMode::Start };
    let outlets = Outlets { console: Some(Arc::new(Progress::new(args.json))), ..Outlets::default() };
    wiring.servers = wiring.tool_servers(mode).with_outlets(outlets).into();
    let target = wiring.target.clone();
    let session = ids::session();
    // No tool is called: servers are started, queried and stopped.
    let mut servers =
        wiring.servers.of_session(target.as_deref(), (&session, &device.description()), &wiring.secrets).await?;
    wiring.servers.start(&mut servers, &Needed::All).await;
    stop_own(&servers.sources()).await;
    wiring.close().await;
    if let Some(error) = servers.absent.errors.first() {
        return Err(error.clone().into());
    }
    for name in &servers.unknown {
        print::warning(format!("the tools of server `{name}` are not known; run without `--offline` to query it"));
    }
    let own: Vec<&Batch> = loaded
        .batches
        .iter()
        .filter(|batch| batch.contributor.origin != ToolOrigin::BuiltIn)
        .chain(servers.batches())
        .collect();
    let tools: Vec<&str> = own.iter().flat_map(|batch| &batch.tools).map(|tool| tool.name.as_str()).collect();
    let unusable = own.iter().flat_map(|batch| &batch.unusable).map(|(name, _)| name.as_str());
    let known: Vec<&str> = tools.iter().copied().chain(unusable).collect();
    if let Some(unknown) = args.names.iter().find(|name| !known.contains(&name.as_str())) {
        let hint = nearest(unknown, known.iter().copied()).map(|near| format!("did you mean `{near}`?"));
        return Err(Refusal::Usage { message: format!("the project defines no tool `{unknown}`"), hint });
    }
    let is_wanted = |tool: Option<&str>| {
        args.names.is_empty() || tool.is_some_and(|tool| args.names.iter().any(|name| name == tool))
    };
    let granted = &loaded.project.reserved_prefixes;
    let mut findings: Vec<LintFinding> = own.iter().flat_map(|batch| lint::lint(batch, granted)).collect();
    findings.retain(|finding| is_wanted(finding.tool.as_deref()));
    let all = loaded.batches.iter().chain(servers.batches());
    let registry = Registry::build(1, all, &wiring.scope(&device, target.as_deref()));
    findings.extend(refused(&registry, &findings, &is_wanted));
    // Problems in files are reported at their place in the file.
    let problems: &[Problem] = if args.names.is_empty() { &loaded.problems } else { &[] };
    let n_tools = tools.iter().filter(|tool| is_wanted(Some(tool))).count();
    Ok(show(&findings, problems, n_tools, args))
}

/// Tools that were refused for a reason outside the tool itself, such as a name that two sources claim.
fn refused(registry: &Registry, found: &[LintFinding], is_wanted: &dyn Fn(Option<&str>) -> bool) -> Vec<LintFinding> {
    let is_new = |reason: &str| !found.iter().any(|finding| finding.message == reason);
    let refused = registry.refused.iter().filter(|refused| is_new(&refused.reason));
    let finding = |refused: &trailblaze_core::engine::registry::RefusedBatch| LintFinding {
        severity: Severity::Error,
        rule: "name",
        tool: refused.tools.first().cloned(),
        source: refused.contributor.label.to_string(),
        message: refused.reason.clone(),
        hint: None,
    };
    refused.map(finding).filter(|finding| is_wanted(finding.tool.as_deref())).collect()
}

fn show(findings: &[LintFinding], problems: &[Problem], n_tools: usize, args: &LintArgs) -> Exit {
    let severities =
        findings.iter().map(|finding| finding.severity).chain(problems.iter().map(|problem| problem.severity));
    let n_errors = severities.filter(|severity| args.strict || *severity == Severity::Error).count();
    let exit = if n_errors == 0 { Exit::Passed } else { Exit::Invalid };
    if args.json {
        let of_files = problems.iter().map(|problem| {
            json!({
                "severity": word(problem.severity), "rule": "file", "tool": null, "source": problem.source.path,
                "line": problem.span.line, "column": problem.span.column, "message": problem.message, "hint": problem.hint,
            })
        });
        let all: Vec<Value> = of_files.chain(findings.iter().map(as_json)).collect();
        print::json(&json!({"tools": n_tools, "errors": n_errors, "findings": all}));
        return exit;
    }
    print::problems(problems);
    for finding in findings {
        let text = format!("{} ({}, {})", finding.message, finding.source, finding.rule);
        match finding.severity {
            Severity::Error => print::error(text),
            Severity::Warning => print::warning(text),
        }
        finding.hint.iter().for_each(print::hint);
    }
    let found = match findings.len() + problems.len() {
        0 => "no problems".to_string(),
        n => print::count(n, "problem"),
    };
    print::data(format!("{}, {found}", print::count(n_tools, "tool")));
    exit
}

pub fn as_json(finding: &LintFinding) -> Value {
    json!({
        "severity": word(finding.severity), "rule": finding.rule, "tool": finding.tool, "source": finding.source,
        "message": finding.message, "hint": finding.hint,
    })
}

fn word(severity: Severity) -> &'static str {
    match severity {
        Severity::Error => "error",
        Severity::Warning => "warning",
    }
}
