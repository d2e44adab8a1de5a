//! `trailblaze toolbox`.

use std::collections::BTreeSet;
use std::sync::Arc;

use clap::{Args, Subcommand, ValueEnum};
use futures::future::join_all;
use serde_json::json;
use trailblaze_core::callers::agent::offer;
use trailblaze_core::engine::registry::{Offer, RefusedBatch as Refused, Registry};
use trailblaze_core::engine::tool::Tool;
use trailblaze_core::yaml::nearest;
use trailblaze_protocol::driver::AgentMode;
use trailblaze_protocol::exit::Exit;

use super::device::DeviceArgs;
use super::{Context, Refusal, toolbox_budget};
use crate::output::print;
use crate::output::progress::Progress;
use crate::project::devices::DeviceSpec;
use crate::run::preflight::in_order;
use crate::servers::tool_servers::{Outlets, ServerMode};
use crate::sessions::toolbox::signature;
use crate::sessions::wiring::Wiring;

/// List the tools available for a device and a target
#[derive(Args)]
pub struct ToolboxArgs {
    #[command(subcommand)]
    verb: Option<ToolboxVerb>,
    #[command(flatten)]
    devices: DeviceArgs,
    /// The app under test, by its id in trailblaze-config/targets [default: the project's target]
    #[arg(long, global = true, env = "TRAILBLAZE_TARGET")]
    target: Option<String>,
    /// Show the tools for this driver, such as android-host [default: the driver of the device]
    #[arg(long, global = true, value_name = "KEY")]
    driver: Option<String>,
    /// Show the tools for an agent that runs there [default: the project's agentMode]
    #[arg(long, global = true, value_name = "MODE")]
    agent_mode: Option<AgentModeArg>,
    /// List only tools whose name or description contains this
    #[arg(long, value_name = "WORD")]
    search: Option<String>,
    /// Use these groups instead of the default ones
    #[arg(long = "group", value_name = "GROUP")]
    groups: Vec<String>,
    /// List only tools whose name begins with this, such as myapp_*
    #[arg(long = "prefix", value_name = "PREFIX")]
    prefixes: Vec<String>,
    /// Also list tools that are not offered to models
    #[arg(long)]
    all: bool,
    /// Print the tools as JSON, exactly as a model is sent them; steps and checks get the same
    #[arg(long, value_name = "KIND", num_args = 0..=1, default_missing_value = "step", conflicts_with_all = ["all", "search"])]
    for_model: Option<ForModel>,
    /// Start no tool servers; use the tools they listed when last started
    #[arg(long, global = true)]
    offline: bool,
    /// Print as JSON, with schemas
    #[arg(long, global = true)]
    json: bool,
}

#[derive(ValueEnum, Clone, Copy)]
enum ForModel {
    Step,
    Verify,
}

/// Spelled as in `agentMode:`.
#[derive(ValueEnum, Clone, Copy)]
enum AgentModeArg {
    Host,
    #[value(name = "onDevice", alias = "on-device")]
    OnDevice,
}

impl From<AgentModeArg> for AgentMode {
    fn from(mode: AgentModeArg) -> AgentMode {
        match mode {
            AgentModeArg::Host => AgentMode::Host,
            AgentModeArg::OnDevice => AgentMode::OnDevice,
        }
    }
}

#[derive(Subcommand)]
enum ToolboxVerb {
    /// Show which source offers a tool, which filter removed it, and what its schema costs
    Why {
        /// The tool's name
        name: String,
        #[command(flatten)]
        devices: DeviceArgs,
    },
    Budget(toolbox_budget::BudgetArgs),
}

pub async fn toolbox(context: &Context, args: ToolboxArgs) -> Result<Exit, Refusal> {
    let mut loaded = context.read(None)?;
    Refusal::unless_sound(&loaded.problems)?;
    loaded.project.agent_mode = args.agent_mode.map_or(loaded.project.agent_mode, AgentMode::from);
    let loaded = Arc::new(loaded);
    let mut wiring = context.wiring(&loaded, args.target.clone());
    wiring.check_target()?;
    wiring.groups.clone_from(&args.groups);
    wiring.prefixes.clone_from(&args.prefixes);
    let named = match &args.verb {
        Some(ToolboxVerb::Why { devices, .. }) if !devices.device.is_empty() => &devices.device,
        Some(ToolboxVerb::Budget(budget)) if !budget.devices.device.is_empty() => &budget.devices.device,
        _ => &args.devices.device,
    };
    let devices = match &args.driver {
        Some(driver) => loaded.devices_with(named, driver)?,
        None => loaded.devices(named)?,
    };
    let mode = if args.offline { ServerMode::Remember } else { ServerMode::Start };
    let outlets = Outlets { console: Some(Arc::new(Progress::new(args.json))), ..Outlets::default() };
    wiring.servers = wiring.tool_servers(mode).with_outlets(outlets).for_devices(devices.len()).into();
    let registries = registries(&wiring, devices).await?;
    // `why` is used when something is wrong; all other commands use the tools that a run would use.
    if !matches!(args.verb, Some(ToolboxVerb::Why { .. })) {
        let problems = registries.iter().flat_map(|(_, registry)| loaded.refused_tools(registry)).collect();
        Refusal::unless_sound(&in_order(problems))?;
    }
    match &args.verb {
        Some(ToolboxVerb::Budget(budget)) => Ok(toolbox_budget::budget(&registries, budget, args.json)),
        Some(ToolboxVerb::Why { name, .. }) => why(name, &registries, &wiring, args.json),
        None if args.for_model.is_some() => {
            for_model(&registries);
            Ok(Exit::Passed)
        }
        None => {
            list(&registries, &wiring, &args);
            Ok(Exit::Passed)
        }
    }
}

/// Starts the servers of every device, lists their tools, and stops them. No tool is called.
pub(super) async fn registries(
    wiring: &Wiring,
    devices: Vec<DeviceSpec>,
) -> Result<Vec<(DeviceSpec, Registry)>, Refusal> {
    let target = wiring.target.as_deref();
    let prepared = join_all(devices.iter().map(|device| wiring.prepare_whole(device, target))).await;
    let mut registries = Vec::new();
    let mut failed = None;
    let mut said = BTreeSet::new();
    for (device, prepared) in devices.into_iter().zip(prepared) {
        match prepared {
            Ok(prepared) => {
                let unknown = prepared.unknown_servers.iter().map(|name| {
                    format!("the tools of server `{name}` are not known; run without `--offline` to query it")
                });
                for warning in prepared.registry.warnings.iter().cloned().chain(unknown) {
                    if said.insert(warning.clone()) {
                        print::warning(warning);
                    }
                }
                registries.push((device, prepared.discard().await));
            }
            Err(error) => failed = failed.or(Some(error)),
        }
    }
    wiring.close().await;
    failed.map_or(Ok(registries), |error| Err(error.into()))
}

fn list(registries: &[(DeviceSpec, Registry)], wiring: &Wiring, args: &ToolboxArgs) {
    let is_wanted = |tool: &Tool| {
        args.search.as_ref().is_none_or(|word| {
            let word = word.to_lowercase();
            tool.name.to_lowercase().contains(&word) || tool.description.to_lowercase().contains(&word)
        })
    };
    if args.json {
        let devices: Vec<_> = registries
            .iter()
            .map(|(device, registry)| {
                let tools: Vec<_> = registry
                    .tools()
                    .filter(|tool| (args.all || registry.is_offered(&tool.name)) && is_wanted(tool))
                    .map(|tool| as_json(tool, registry))
                    .collect();
                json!({"device": device.id, "target": wiring.target, "tools": tools})
            })
            .collect();
        return print::json(&devices);
    }
    for (device, registry) in registries {
        let target = wiring.target.as_deref().unwrap_or("no target");
        print::data(format!("# {} ({target})", device.id));
        for (id, toolset) in &registry.toolsets {
            let tools: Vec<_> =
                toolset.tools.iter().filter_map(|name| registry.get(name)).filter(|tool| is_wanted(tool)).collect();
            if tools.is_empty() {
                continue;
            }
            print::data(format!("\n## {id}: {}", toolset.description));
            tools.iter().for_each(|tool| print::data(line(tool)));
        }
        let in_a_set = |name: &str| registry.toolsets.values().any(|toolset| toolset.tools.contains(name));
        let own: Vec<_> = registry.offered().filter(|tool| !in_a_set(&tool.name) && is_wanted(tool)).collect();
        if !own.is_empty() {
            print::data("\n## defined by the project");
            own.iter().for_each(|tool| print::data(line(tool)));
        }
        let rest: Vec<_> =
            registry.tools().filter(|tool| !registry.is_offered(&tool.name) && is_wanted(tool)).collect();
        if args.all {
            print::data("\n## not offered to models");
            rest.iter().for_each(|tool| print::data(line(tool)));
        } else if !rest.is_empty() {
            print::data(format!(
                "\n({} more can be called but are not offered to models; `--all` lists them)",
                rest.len()
            ));
        }
        print::data("");
    }
}

/// Prints what a model is sent, one list per device.
fn for_model(registries: &[(DeviceSpec, Registry)]) {
    let sent = |registry| json!(offer::offered(registry, &Offer::default()));
    match registries {
        [(_, registry)] => print::json(&sent(registry)),
        several => {
            let devices = several.iter().map(|(device, registry)| (device.id.to_string(), sent(registry)));
            print::json(&devices.collect::<serde_json::Map<_, _>>());
        }
    }
}

fn line(tool: &Tool) -> String {
    let about = tool.description.lines().next().unwrap_or_default();
    format!("{:<28} {about}", signature(tool))
}

fn as_json(tool: &Tool, registry: &Registry) -> serde_json::Value {
    let toolsets: Vec<&String> =
        registry.toolsets.iter().filter(|(_, set)| set.tools.contains(&tool.name)).map(|(id, _)| id).collect();
    json!({
        "name": tool.name, "description": tool.description, "source": &*tool.contributor.label, "kind": tool.kind,
        "isForLlm": tool.is_for_llm, "isRecordable": tool.is_recordable, "isDelegating": tool.is_delegating,
        "requiresHost": tool.requires_host, "requiresContext": tool.requires_context,
        "supportedPlatforms": tool.supported_platforms, "supportedDrivers": tool.supported_drivers,
        "toolset": tool.toolset, "groups": tool.groups, "offered": registry.is_offered(&tool.name), "toolsets": toolsets,
        "inputSchema": tool.schema.json(),
    })
}

fn why(name: &str, registries: &[(DeviceSpec, Registry)], wiring: &Wiring, as_json: bool) -> Result<Exit, Refusal> {
    let tools = || wiring.loaded.batches.iter().flat_map(|batch| &batch.tools).map(|tool| tool.name.as_str());
    let registered = || registries.iter().flat_map(|(_, registry)| registry.tools()).map(|tool| tool.name.as_str());
    let filtered = || registries.iter().flat_map(|(_, registry)| &registry.filtered).map(|tool| tool.tool.as_str());
    let refused = || {
        let refused = registries.iter().flat_map(|(_, registry)| &registry.refused);
        refused.flat_map(|refused| &refused.tools).map(String::as_str)
    };
    if !tools().chain(registered()).chain(filtered()).chain(refused()).any(|known| known == name) {
        let names = tools().chain(registered());
        let hint = nearest(name, names).map(|near| format!("did you mean `{near}`?"));
        return Err(Refusal::Usage { message: format!("unknown tool `{name}`"), hint });
    }
    let mut answers = Vec::new();
    for (device, registry) in registries {
        let mut facts = Vec::new();
        for filtered in registry.filtered.iter().filter(|filtered| filtered.tool == name) {
            facts.push(format!("{} offers it, but {}", filtered.contributor.label, filtered.reason));
        }
        for refused in registry.refused.iter().filter(|refused| refused.tools.iter().any(|tool| tool == name)) {
            let Refused { contributor, reason, .. } = refused;
            facts.push(format!("{} offers it, but none of its tools can be used: {reason}", contributor.label));
        }
        if let Some(tool) = registry.get(name) {
            facts.push(format!("{} offers it; it can be called by name", tool.contributor.label));
            let permissions = tool.code().map(|code| code.permissions()).unwrap_or_default();
            facts.extend(permissions.iter().map(|permission| format!("its script {permission}")));
            facts.push(match registry.why_not_offered(name).or(offer::why_omitted(registry, tool)) {
                Some(reason) => format!("it is not offered to models: {reason}"),
                None => {
                    let sets: Vec<&str> = registry
                        .toolsets
                        .iter()
                        .filter(|(_, set)| set.tools.contains(name))
                        .map(|(id, _)| id.as_str())
                        .collect();
                    match sets.as_slice() {
                        [] => "it is offered to models".to_string(),
                        sets => format!("it is offered to models, through {}", sets.join(", ")),
                    }
                }
            });
            let offered = offer::for_model(tool);
            let schema = offered.parameters.to_string().chars().count();
            let about = offered.description.chars().count();
            facts.push(format!(
                "it costs a model {} characters: {schema} of schema, {about} of description",
                schema + about
            ));
        }
        if as_json {
            let schema = registry.get(name).map(|tool| tool.schema.json().to_string().chars().count());
            answers.push(json!({"device": device.id, "tool": name, "registered": registry.get(name).is_some(), "offered": registry.is_offered(name), "schemaCharacters": schema, "facts": facts}));
            continue;
        }
        print::data(format!("`{name}` on {}", device.id));
        facts.iter().for_each(|fact| print::data(format!("  {fact}")));
    }
    if as_json {
        print::json(&answers);
    }
    Ok(Exit::Passed)
}
