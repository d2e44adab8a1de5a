//! `trailblaze tool`: a single call on a fresh device, and the commands for tool authors.

use clap::{Args, Subcommand};
use serde_json::{Value, json};
use trailblaze_core::engine::registry::{MissingTool, Registry};
use trailblaze_core::engine::tool::Tool;
use trailblaze_core::schema::is_required;
use trailblaze_protocol::exit::Exit;

use super::batch::show_last;
use super::in_session::{self, SessionArgs};
use super::interrupt::told_to_stop;
use super::shell::{OnDeviceArgs, on_device, show};
use super::{Context, Refusal, pairs, tool_bundle, tool_doctor, tool_install, tool_lint, tool_new, tool_test};
use crate::output::print;
use crate::project::loaded::Loaded;
use crate::servers::tool_servers::ServerMode;
use crate::sessions::arguments::typed;
use crate::sessions::editor_schema;
use crate::sessions::interactive::{CallArguments, CommandReply, InteractiveCommand, Usage};
use crate::sessions::wiring::{self};

/// Call one tool in a session; create, test and check your own tools
#[derive(Args)]
#[command(
    args_conflicts_with_subcommands = true,
    subcommand_negates_reqs = true,
    subcommand_value_name = "COMMAND",
    override_usage = "trailblaze tool [OPTIONS] <NAME> [NAME=VALUE]...\n       trailblaze tool <COMMAND>",
    after_help = "A first word that is a command is never a tool name. To call a tool of that name, use a trail or `trailblaze shell`."
)]
pub struct ToolArgs {
    #[command(subcommand)]
    verb: Option<ToolVerb>,
    #[command(flatten)]
    call: CallArgs,
}

#[derive(Subcommand)]
enum ToolVerb {
    New(tool_new::NewArgs),
    Test(tool_test::TestArgs),
    Lint(tool_lint::LintArgs),
    Doctor(tool_doctor::ToolDoctorArgs),
    Bundle(tool_bundle::BundleArgs),
    Install(tool_install::ToolInstallArgs),
}

/// The commands. `tool new` refuses these names.
pub const VERBS: [&str; 7] = ["new", "test", "lint", "doctor", "bundle", "install", "help"];

#[derive(Args)]
struct CallArgs {
    /// The tool
    #[arg(required = true)]
    name: Option<String>,
    /// Its arguments, as name=value
    #[arg(value_name = "NAME=VALUE")]
    args: Vec<String>,
    /// Show the tool's parameters without calling it
    #[arg(long)]
    help_tool: bool,
    /// Start this app first, by its id
    #[arg(long, value_name = "APP")]
    launch: Option<String>,
    #[command(flatten)]
    session: SessionArgs,
    /// Use a fresh device in this process, and close it afterwards
    #[arg(long, env = "TRAILBLAZE_FRESH", value_parser = clap::builder::BoolishValueParser::new(), action = clap::ArgAction::SetTrue)]
    fresh: bool,
    #[command(flatten)]
    on: OnDeviceArgs,
    /// Print the answer as JSON
    #[arg(long)]
    json: bool,
}

pub async fn tool(context: &Context, args: ToolArgs) -> Result<Exit, Refusal> {
    match args.verb {
        Some(ToolVerb::New(args)) => {
            let exit = tool_new::new(context, &args)?;
            editor_schema::refresh(&context.load(None)?, &context.host(None)).await;
            Ok(exit)
        }
        Some(ToolVerb::Test(args)) => tool_test::test(context, &args).await,
        Some(ToolVerb::Lint(args)) => tool_lint::lint(context, &args).await,
        Some(ToolVerb::Doctor(args)) => tool_doctor::doctor(context, &args).await,
        Some(ToolVerb::Bundle(args)) => tool_bundle::bundle(context, &args).await,
        Some(ToolVerb::Install(args)) => tool_install::install(context, &args).await,
        None => call(context, args.call).await,
    }
}

/// Calls a tool in a session of the daemon.
async fn call_in_session(context: &Context, args: CallArgs) -> Result<Exit, Refusal> {
    let name = args.name.clone().unwrap_or_default();
    let given = CallArguments::Words(pairs("", &args.args)?);
    let launch = args.launch.as_ref().map(InteractiveCommand::launch);
    let call = InteractiveCommand::Call { tool: name, args: given };
    let commands = launch.into_iter().chain([call]).collect();
    let replies = in_session::execute(context, &args.on, &args.session, commands).await?;
    Ok(show_last(&replies, args.json))
}

async fn call(context: &Context, args: CallArgs) -> Result<Exit, Refusal> {
    if !args.fresh && !args.help_tool {
        return call_in_session(context, args).await;
    }
    let name = args.name.as_deref().unwrap_or_default();
    let loaded = context.load(None)?;
    Refusal::unless_sound(&loaded.problems)?;
    let device = match args.help_tool {
        true => args.on.first(&loaded)?,
        false => args.on.device(context, &loaded, "`trailblaze tool` uses").await?,
    };
    let mut wiring = context.wiring(&loaded, args.on.target.clone());
    wiring.check_target()?;
    let target = wiring.target.as_deref();
    let files = wiring.file_registry(&device, target);
    // Start the servers to report an unknown tool only if no file defines it.
    let may_be_foreign = files.get(name).is_none() && wiring.servers.any(target);
    if args.help_tool {
        return match may_be_foreign {
            false => help(&files, &args),
            true => {
                let cassettes = args.on.cassettes.open(&loaded)?;
                wiring.servers = wiring.tool_servers(ServerMode::Start).with_cassettes(cassettes).into();
                let target = wiring.target.as_deref();
                let registry = wiring.prepare_whole(&device, target).await?.discard().await;
                wiring.close().await;
                Refusal::unless_sound(&loaded.refused_tools(&registry))?;
                help(&registry, &args)
            }
        };
    }
    let given = pairs("", &args.args)?;
    if !may_be_foreign {
        check_call((&loaded, &files), &args, &given)?;
    }
    on_device(context, &loaded, &args.on, (Usage::Tool, device), async |session, _, cancel| {
        if may_be_foreign {
            check_call((&loaded, &session.registry()), &args, &given)?;
        }
        let calls = async {
            if let Some(app) = &args.launch {
                let launched = session.execute(InteractiveCommand::launch(app), cancel).await;
                if matches!(launched, CommandReply::Failed { .. }) {
                    return launched;
                }
            }
            let args = CallArguments::Words(given.clone());
            session.execute(InteractiveCommand::Call { tool: name.to_string(), args }, cancel).await
        };
        tokio::pin!(calls);
        let reply = loop {
            tokio::select! {
                reply = &mut calls => break reply,
                () = told_to_stop(), if !cancel.is_cancelled() => cancel.cancel(),
            }
        };
        show(&reply, args.json);
        Ok(match reply {
            CommandReply::Failed { exit, .. } => exit,
            _ => Exit::Passed,
        })
    })
    .await
}

fn known<'r>(registry: &'r Registry, name: &str) -> Result<&'r Tool, Refusal> {
    registry.get(name).map(AsRef::as_ref).ok_or_else(|| {
        let verb = || format!("`{name}` is a command and must come before any flag: trailblaze tool {name}");
        let MissingTool { message, hint } = registry.explain_missing(name);
        let hint = VERBS.contains(&name).then(verb).or(hint);
        let hint = hint.unwrap_or_else(|| "`trailblaze toolbox` lists the tools".to_string());
        Refusal::Usage { message, hint: Some(hint) }
    })
}

fn help(registry: &Registry, args: &CallArgs) -> Result<Exit, Refusal> {
    let tool = known(registry, args.name.as_deref().unwrap_or_default())?;
    match args.json {
        true => print::json(&json!({
            "name": tool.name, "description": tool.description, "inputSchema": tool.schema.json(),
        })),
        false => print::data(usage(tool)),
    }
    Ok(Exit::Passed)
}

/// Checks the call before anything is done.
fn check_call(
    (loaded, registry): (&Loaded, &Registry),
    args: &CallArgs,
    given: &[(String, String)],
) -> Result<(), Refusal> {
    let tool = known(registry, args.name.as_deref().unwrap_or_default())?;
    // The message may repeat the user's input.
    let secrets = wiring::secrets(loaded, &args.on.secret)?;
    let mut known = typed(tool, given).map_err(|error| Refusal::usage(secrets.redact(&error.to_string())))?;
    tool.schema.fill_defaults(&mut known);
    let is_missing = |name: &&str| is_required(tool.schema.json(), name) && !known.contains_key(*name);
    let missing: Vec<String> =
        tool.schema.property_names().filter(is_missing).map(|name| format!("`{name}`")).collect();
    if missing.is_empty() {
        return Ok(());
    }
    print::say(usage(tool));
    let unknown = known.keys().filter(|name| !tool.schema.property_names().any(|own| own == *name));
    let unknown: Vec<String> = unknown.map(|name| format!("`{name}`")).collect();
    let not_taken = match unknown.as_slice() {
        [] => String::new(),
        unknown => format!(" and does not take {}", unknown.join(" or ")),
    };
    Err(Refusal::usage(format!("`{}` needs {}{not_taken}", tool.name, missing.join(" and "))))
}

/// The help text of a tool, from its schema.
fn usage(tool: &Tool) -> String {
    let mut lines = vec![format!("{}: {}", tool.name, tool.description.trim_end())];
    let schema = tool.schema.json();
    let properties = schema.get("properties").and_then(Value::as_object).into_iter().flatten();
    for (name, property) in properties.filter(|(name, _)| *name != "reasoning") {
        let need = if is_required(schema, name) { ", required" } else { "" };
        let default = property.get("default").map(|default| format!(", default {default}")).unwrap_or_default();
        let about = property.get("description").and_then(Value::as_str).unwrap_or_default();
        let about = about.lines().next().unwrap_or_default();
        let kind = format!("{}{need}{default}", kind(property));
        lines.push(format!("  {name:<16} {about} ({kind})").replace("  (", " ("));
    }
    lines.join("\n")
}

/// `string`, or the allowed values.
fn kind(property: &Value) -> String {
    if let Some(words) = property.get("enum").and_then(Value::as_array) {
        return words
            .iter()
            .map(|word| word.as_str().map_or_else(|| word.to_string(), str::to_string))
            .collect::<Vec<_>>()
            .join(" | ");
    }
    match property.get("type") {
        Some(Value::String(kind)) => kind.clone(),
        Some(Value::Array(kinds)) => kinds.iter().filter_map(Value::as_str).collect::<Vec<_>>().join(" | "),
        _ => "any".to_string(),
    }
}
