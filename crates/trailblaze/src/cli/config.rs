//! `trailblaze config`: the configuration that results from the project's files.

use clap::Args;
use serde_json::{Map, Value, json};
use trailblaze_core::config::{Servers, TargetConfig};
use trailblaze_core::yaml::{self, Problems, nearest};
use trailblaze_protocol::driver::Platform;
use trailblaze_protocol::exit::Exit;

use super::{Context, Refusal};
use crate::output::print;
use crate::project::loaded::{Loaded, PROJECT_FILE};
use crate::project::providers::project_schema;
use crate::project::source::read_source;

/// Show the project's configuration, with defaults filled in and the path of each file
#[derive(Args)]
pub struct ConfigArgs {
    /// Show only this part, such as target or targets.wallet
    key: Option<String>,
    /// Print the configuration as JSON
    #[arg(long)]
    json: bool,
}

pub fn config(context: &Context, args: ConfigArgs) -> Result<Exit, Refusal> {
    let loaded = context.load(None)?;
    // A warning quotes its line, which may contain values that are left out below.
    if loaded.has_errors() {
        Refusal::unless_sound(&loaded.problems)?;
    }
    let all = effective(&loaded)?;
    let part = match &args.key {
        Some(key) => part(&all, key)?,
        None => &all,
    };
    match (part, args.json) {
        (part, true) => print::json(part),
        // Scripts want the plain text, not YAML.
        (Value::String(text), false) => print::data(text),
        (part, false) => print::data(yaml::block(part, 0).trim_end()),
    }
    Ok(Exit::Passed)
}

fn effective(loaded: &Loaded) -> Result<Value, Refusal> {
    let project = &loaded.project;
    let file = Some(loaded.root.join(PROJECT_FILE)).filter(|file| file.is_file());
    let devices: Vec<Value> = loaded
        .devices(&[])?
        .iter()
        .map(|device| json!({"id": device.id, "driver": device.driver, "classifiers": device.classifiers}))
        .collect();
    let targets = loaded.targets.iter().map(|target| (target.id.value.clone(), as_json(loaded, target)));
    let toolsets = loaded.toolsets.iter().map(|toolset| {
        let id = &toolset.id.value;
        let tools: Vec<&str> = toolset.tools.iter().map(|tool| tool.value.as_str()).collect();
        let file = loaded.files.toolsets.get(id).map_or("built-in", String::as_str);
        (id.clone(), json!({"file": file, "tools": tools}))
    });
    let tools = loaded.batches.iter().flat_map(|batch| &batch.tools);
    let own = tools.filter(|tool| loaded.has_file(&tool.contributor.label));
    let resolved = json!({
        "root": loaded.root,
        "file": file,
        "target": project.target.as_ref().map(|target| &target.value),
        "platform": project.platform.unwrap_or(Platform::Android),
        "trailsDir": project.trails_dir,
        "agentMode": project.agent_mode,
        "devices": devices,
        "reservedPrefixes": project.reserved_prefixes,
        "strictResults": project.strict_results,
        "strictNames": project.strict_names,
        "servers": servers(&project.servers),
        "targets": targets.collect::<Map<_, _>>(),
        "toolsets": toolsets.collect::<Map<_, _>>(),
        "tools": own.map(|tool| (tool.name.clone(), json!({"file": &*tool.contributor.label}))).collect::<Map<_, _>>(),
    });
    let Value::Object(mut all) = resolved else { unreachable!("an object") };
    // Keys without a default are shown as they are written.
    for (key, value) in written(loaded) {
        all.entry(key).or_insert(value);
    }
    Ok(Value::Object(all))
}

/// The project file as it is written, without what may contain secrets.
fn written(loaded: &Loaded) -> Map<String, Value> {
    // Problems were reported when the project was loaded.
    let Some(source) = read_source(&loaded.root, &loaded.root.join(PROJECT_FILE), &mut Vec::new()) else {
        return Map::new();
    };
    let problems = &mut Problems::new(&source);
    let node = yaml::read(&source, problems);
    let json = node.and_then(|node| yaml::to_json(&node, &project_schema(), problems));
    let Some(Value::Object(mut keys)) = json else { return Map::new() };
    keys.retain(|key, _| !matches!(key.as_str(), "mcpServers" | "mcp_servers"));
    let providers = keys.get_mut("llm").and_then(|llm| llm.get_mut("providers")).and_then(Value::as_object_mut);
    for (_, provider) in providers.into_iter().flatten() {
        // As with servers, the names of headers only.
        if let Some(headers) = provider.get_mut("headers") {
            *headers = json!(headers.as_object().into_iter().flatten().map(|(name, _)| name).collect::<Vec<_>>());
        }
        for key in ["base_url", "chat_completions_path"] {
            if let Some(Value::String(url)) = provider.get_mut(key) {
                *url = url.split('?').next().unwrap_or_default().to_string();
            }
        }
    }
    if let Some(Value::Object(browser)) = keys.get_mut("browser") {
        // A proxy's password may be an argument, and a token may be part of an address.
        if let Some(Value::Array(args)) = browser.get_mut("args") {
            for arg in args {
                *arg = json!(arg.as_str().map_or("", |arg| arg.split_once('=').map_or(arg, |(name, _)| name)));
            }
        }
        if let Some(attach) = browser.get_mut("attach") {
            let uri = attach.as_str().and_then(|attach| attach.parse::<axum::http::Uri>().ok());
            let host = uri.as_ref().and_then(|uri| Some((uri.scheme_str()?, uri.host()?, uri.port())));
            *attach = json!(host.map(|(scheme, host, port)| match port {
                Some(port) => format!("{scheme}://{host}:{port}"),
                None => format!("{scheme}://{host}"),
            }));
        }
    }
    keys
}

fn as_json(loaded: &Loaded, target: &TargetConfig) -> Value {
    let platforms = target.platforms.0.iter().map(|(platform, entry)| {
        let sets = entry.tool_sets.as_ref();
        let sets = sets.map(|sets| sets.iter().map(|set| set.value.as_str()).collect::<Vec<_>>());
        (platform.to_string(), json!({"appIds": entry.app_ids, "toolSets": sets}))
    });
    json!({
        "file": loaded.files.targets.get(&target.id.value),
        "displayName": target.display_name,
        "servers": servers(&target.servers),
        "platforms": platforms.collect::<Map<_, _>>(),
    })
}

/// Names only: addresses, arguments, headers and variables may contain secrets.
fn servers(servers: &Servers) -> Value {
    let one = |name: &str, server: &trailblaze_core::config::ToolServerConfig| {
        let transport = if server.url.is_some() { "http" } else { "stdio" };
        let headers: Vec<&str> = server.headers.0.iter().map(|(name, _)| name.value.as_str()).collect();
        let env: Vec<&str> = server.env.0.iter().map(|(name, _)| name.value.as_str()).collect();
        (name.to_string(), json!({"transport": transport, "headers": headers, "env": env}))
    };
    Value::Object(servers.0.iter().map(|(name, server)| one(&name.value, server)).collect())
}

fn part<'v>(all: &'v Value, key: &str) -> Result<&'v Value, Refusal> {
    let mut part = all;
    for name in key.split('.') {
        let inner = match part {
            Value::Array(items) => name.parse::<usize>().ok().and_then(|index| items.get(index)),
            other => other.get(name),
        };
        part = inner.ok_or_else(|| {
            let known = part.as_object().into_iter().flat_map(|map| map.keys().map(String::as_str));
            let hint = match nearest(name, known.clone()) {
                Some(near) => Some(format!("did you mean `{near}`?")),
                None => Some(known.collect::<Vec<_>>().join(", "))
                    .filter(|known| !known.is_empty())
                    .map(|known| format!("known: {known}")),
            };
            Refusal::Usage { message: format!("the configuration has no `{name}`"), hint }
        })?;
    }
    Ok(part)
}
