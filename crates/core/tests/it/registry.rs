//! Which tools a session has, and which of them are offered to models.

use std::collections::BTreeMap;

use serde_json::json;
use trailblaze_core::config::{TargetConfig, ToolsetConfig};
use trailblaze_core::driver::Driver;
use trailblaze_core::engine::registry::{Batch, Registry, ToolGroup, ToolScope};
use trailblaze_core::names::ToolOrigin;
use trailblaze_core::testing::{FakeDriver, FakeSource, TestPage, args, scope};
use trailblaze_core::yaml::decode;
use trailblaze_core::yaml::{Problems, Source};
use trailblaze_protocol::driver::{AgentMode, DriverKey, Platform};
use trailblaze_protocol::outcome::Outcome;

const ON_DEVICE: &str = "android-ondevice-accessibility";

/// An Android session without built-in tools.
fn android() -> ToolScope {
    let phone = FakeDriver::new("android/one", [TestPage::new("home", [])]);
    ToolScope { toolsets: Vec::new(), ..scope(phone.describe()) }
}

fn source(name: &str, tools: &[&str]) -> FakeSource {
    tools.iter().fold(FakeSource::new(name), |source, tool| source.answering(tool, Outcome::default()))
}

fn from(origin: ToolOrigin, tools: &[&str]) -> Batch {
    tools
        .iter()
        .fold(FakeSource::from("acme", origin), |source, tool| source.answering(tool, Outcome::default()))
        .batch()
}

fn read<T: trailblaze_core::yaml::Decode>(text: &str) -> T {
    let source = Source::new("a.yaml", text);
    let mut problems = Problems::new(&source);
    let value = decode(&source, &mut problems);
    value.unwrap_or_else(|| panic!("{:?}", problems.into_vec()))
}

fn target(text: &str) -> Option<trailblaze_core::config::PlatformEntry> {
    let target: TargetConfig = read(&format!("id: shop\nplatforms: {{android: {text}}}"));
    target.on(Platform::Android).cloned()
}

/// Compares the offered tools, and why the others are not: filtered tools, refused batches, hidden tools.
fn check(batches: &[Batch], scope: &ToolScope, offered: &[&str], others: &[&str]) {
    let registry = Registry::build(1, batches, scope);
    let seen: Vec<&str> = registry.offered().map(|tool| tool.name.as_str()).collect();
    assert_eq!(seen, offered);
    let filtered =
        registry.filtered.iter().map(|out| format!("{} of {}: {}", out.tool, out.contributor.label, out.reason));
    let refused = registry.refused.iter().map(|out| format!("{}: {}", out.contributor.label, out.reason));
    let hidden = registry
        .tools()
        .filter_map(|tool| registry.why_not_offered(&tool.name).map(|reason| format!("{}: {reason}", tool.name)));
    let all: Vec<String> = filtered.chain(refused).chain(registry.warnings.iter().cloned()).chain(hidden).collect();
    assert_eq!(all, others);
}

#[test]
fn a_name_is_registered_unchanged() {
    check(&[source("acme", &["shop_login", "pay"]).batch()], &android(), &["pay", "shop_login"], &[]);
}

#[test]
fn a_duplicate_name_refuses_the_whole_second_batch_and_names_both() {
    check(
        &[
            source("acme", &["login"]).batch(),
            source("other", &["fine", "login"]).batch(),
            source("third", &["pay"]).batch(),
        ],
        &android(),
        &["login", "pay"],
        &["server other: the tool `login` is offered twice: by server acme and by server other"],
    );
    check(
        &[source("acme", &["login", "login"]).batch()],
        &android(),
        &[],
        &["server acme: server acme offers the tool `login` twice"],
    );
}

#[test]
fn a_refused_batch_leaves_no_warnings_or_groups_behind() {
    let mut twice = source("other", &["Loud", "login"]).batch();
    twice.groups = groups(&[("beta", false)]);
    let beta = source("acme", &["login"]).marked(|tool| tool.groups = vec!["beta".into()]).batch();
    check(
        &[beta, twice],
        &android(),
        &["login"],
        &["server other: the tool `login` is offered twice: by server acme and by server other"],
    );
}

#[test]
fn filters_run_before_names() {
    let ios = source("iosTools", &["login"]).marked(|tool| tool.supported_platforms = vec![Platform::Ios]);
    let android_only =
        source("androidTools", &["login"]).marked(|tool| tool.supported_platforms = vec![Platform::Android]);
    check(
        &[ios.batch(), android_only.batch()],
        &android(),
        &["login"],
        &["login of server iosTools: it is for ios, not android"],
    );
}

#[test]
fn a_tool_can_be_limited_to_drivers_by_key_spelling_or_platform() {
    let tools = source("acme", &["byKey"])
        .marked(|tool| tool.supported_drivers = vec!["ANDROID_ONDEVICE_ACCESSIBILITY".into()])
        .answering("byPlatform", Outcome::default())
        .marked(|tool| tool.supported_drivers = vec!["ios-host".into(), "android".into()])
        .answering("forOthers", Outcome::default())
        .marked(|tool| tool.supported_drivers = vec!["ios-host".into(), "android-host".into()]);
    check(
        &[tools.batch()],
        &android(),
        &["byKey", "byPlatform"],
        &[
            "forOthers of server acme: it only supports the drivers ios-host, android-host, not android-ondevice-accessibility",
        ],
    );
}

#[test]
fn a_tool_that_requires_the_host_is_filtered_only_if_the_agent_is_on_the_device() {
    let tools = || [source("acme", &["hostOnly"]).marked(|tool| tool.requires_host = true).batch()];
    let on =
        |agent_mode: AgentMode, driver: &str| ToolScope { agent_mode, driver: DriverKey::new(driver), ..android() };
    check(&tools(), &on(AgentMode::Host, ON_DEVICE), &["hostOnly"], &[]);
    check(&tools(), &on(AgentMode::OnDevice, "android-host"), &["hostOnly"], &[]);
    check(
        &tools(),
        &on(AgentMode::OnDevice, ON_DEVICE),
        &[],
        &["hostOnly of server acme: it requires the host, but the agent runs on the device"],
    );
}

#[test]
fn the_origin_of_a_tool_decides_how_its_name_is_checked() {
    let safe = "`a.b` is not a valid tool name: use 1 to 64 of the characters a-z, A-Z, 0-9, _ and -";
    let convention = "the name `Login` does not follow the convention: camelCase words joined by _";
    let reserved = "the name `web_login` starts with the reserved prefix `web_`; to allow it, add `reservedPrefixes: [web_]` to trailblaze.yaml";
    let ours = [ToolOrigin::Yaml, ToolOrigin::Script, ToolOrigin::InProcess];
    for origin in ours {
        check(&[from(origin, &["a.b", "fine"])], &android(), &[], &[&format!("server acme: {safe}")]);
    }
    let left_out = [&*format!("a.b of server acme: {safe}"), &format!("server acme: a tool was left out: {safe}")];
    check(&[from(ToolOrigin::ProjectServer, &["a.b", "fine"])], &android(), &["fine"], &left_out);
    for (name, objection) in [("Login", convention), ("web_login", reserved)] {
        for origin in ours {
            check(&[from(origin, &[name])], &android(), &[], &[&format!("server acme: {objection}")]);
        }
    }
    let server = |name: &str| [from(ToolOrigin::ProjectServer, &[name, "fine"])];
    check(&server("Login"), &android(), &["Login", "fine"], &[&format!("server acme: {convention}")]);
    let reserved = format!("{reserved}, or `allowReserved: true` to the server's entry");
    let left_out =
        [&*format!("web_login of server acme: {reserved}"), &format!("server acme: a tool was left out: {reserved}")];
    check(&server("web_login"), &android(), &["fine"], &left_out);
    let granting = ToolScope { reserved_prefixes: vec!["web_".into()], ..android() };
    check(&[from(ToolOrigin::Yaml, &["web_login"])], &granting, &["web_login"], &[]);
}

#[test]
fn a_tool_that_is_not_for_models_is_registered_but_not_offered() {
    let tools = source("acme", &["hidden"]).marked(|tool| tool.is_for_llm = false);
    check(&[tools.batch()], &android(), &[], &["hidden: it is not for models"]);
}

#[test]
fn toolsets_contain_declared_tools_and_tools_that_name_them() {
    let tools = || {
        let pushed = source("acme", &["pulled", "free"]).answering("pushed", Outcome::default());
        [pushed.marked(|tool| tool.toolset = Some("shop".into())).batch()]
    };
    let shop: ToolsetConfig = read("id: shop\ndescription: Shopping.\ntools: [pulled]");
    let with = |toolsets: Vec<ToolsetConfig>, target_text: &str| ToolScope {
        toolsets,
        target: target(target_text),
        ..android()
    };
    let all = ["free", "pulled", "pushed"];
    check(&tools(), &with(vec![shop.clone()], "{}"), &all, &[]);
    let registry = Registry::build(1, &tools(), &with(vec![shop.clone()], "{}"));
    assert_eq!(registry.toolsets["shop"].description, "Shopping.");
    assert_eq!(registry.toolsets["shop"].tools.iter().collect::<Vec<_>>(), ["pulled", "pushed"]);
    // A toolset that no file declares is created by its first tool.
    check(&tools(), &with(vec![], "{}"), &all, &[]);
    check(&tools(), &with(vec![], "{tool_sets: [shop]}"), &all, &[]);
    let gone = "none of its toolsets (shop) is in this session";
    check(
        &tools(),
        &with(vec![shop], "{tool_sets: [other]}"),
        &["free"],
        &[
            "the target lists the toolset `other`, which is not declared anywhere",
            &format!("pulled: {gone}"),
            &format!("pushed: {gone}"),
        ],
    );
}

#[test]
fn platforms_drivers_and_always_enabled_decide_about_a_toolset() {
    let gate = |keys: &str, offered: &[&str]| {
        let shop: ToolsetConfig = read(&format!("id: shop\ntools: [pulled]\n{keys}"));
        let pushed = source("acme", &["pulled"]).answering("pushed", Outcome::default());
        let batch = pushed.marked(|tool| tool.toolset = Some("shop".into())).batch();
        let scope = ToolScope { toolsets: vec![shop], target: target("{tool_sets: [other]}"), ..android() };
        let registry = Registry::build(1, &[batch], &scope);
        assert_eq!(registry.offered().map(|tool| tool.name.as_str()).collect::<Vec<_>>(), offered, "{keys}");
    };
    gate("always_enabled: true", &["pulled", "pushed"]);
    gate("always_enabled: false", &[]);
    gate("always_enabled: true\nplatforms: [ANDROID, web]", &["pulled", "pushed"]);
    gate("always_enabled: true\nplatforms: [ios]", &[]);
    gate("always_enabled: true\ndrivers: [android-ondevice-accessibility]", &["pulled", "pushed"]);
    gate("always_enabled: true\ndrivers: [android-host]", &[]);
}

#[test]
fn servers_of_a_target_only_offer_tools_through_toolsets() {
    let tools = [from(ToolOrigin::TargetServer, &["login", "pay", "refund"])];
    let shop: ToolsetConfig = read("id: shop\ntools: [login]");
    let scope = ToolScope { toolsets: vec![shop], target: target("{tool_sets: [shop], tools: [pay]}"), ..android() };
    check(
        &tools,
        &scope,
        &["login", "pay"],
        &["refund: tools of a target's servers are only offered through toolsets, and it is in none"],
    );
}

#[test]
fn a_target_can_exclude_tools() {
    let scope = ToolScope { target: target("{excluded_tools: [pay]}"), ..android() };
    check(&[source("acme", &["login", "pay"]).batch()], &scope, &["login"], &["pay: the target excludes it"]);
}

fn groups(names: &[(&str, bool)]) -> BTreeMap<String, ToolGroup> {
    let group = |is_default| ToolGroup { description: String::new(), is_default };
    names.iter().map(|(name, is_default)| (name.to_string(), group(*is_default))).collect()
}

#[test]
fn requested_groups_replace_the_default_ones() {
    let tools = || {
        let mut batch = source("acme", &["ungrouped"])
            .answering("basic", Outcome::default())
            .marked(|tool| tool.groups = vec!["base".into()])
            .answering("extra", Outcome::default())
            .marked(|tool| tool.groups = vec!["beta".into()])
            .answering("both", Outcome::default())
            .marked(|tool| tool.groups = vec!["beta".into(), "base".into()])
            .answering("undeclared", Outcome::default())
            .marked(|tool| tool.groups = vec!["nobody".into()])
            .batch();
        batch.groups = groups(&[("base", true), ("beta", false)]);
        [batch]
    };
    check(
        &tools(),
        &android(),
        &["basic", "both", "undeclared", "ungrouped"],
        &["extra: none of its groups (beta) is enabled"],
    );
    check(
        &tools(),
        &ToolScope { groups: vec!["beta".into()], ..android() },
        &["both", "extra", "undeclared", "ungrouped"],
        &["basic: none of its groups (base) is enabled"],
    );
}

#[test]
fn prefixes_limit_the_offered_tools() {
    let scope = ToolScope { prefixes: vec!["shop_*".into()], ..android() };
    check(
        &[source("acme", &["shop_pay", "other_pay"]).batch()],
        &scope,
        &["shop_pay"],
        &["other_pay: only tools whose names start with shop_* were requested"],
    );
}

#[tokio::test(start_paused = true)]
async fn any_registered_tool_can_be_called_by_name() {
    let hidden = source("acme", &["hidden"]).marked(|tool| tool.is_for_llm = false);
    let phone = FakeDriver::new("android/one", [TestPage::new("home", [])]);
    let session = trailblaze_core::testing::TestWiring::new(phone).with(hidden.batch()).open();
    assert_eq!(session.call("hidden", json!({})).await, Ok(Outcome::default()));
}

#[tokio::test(start_paused = true)]
async fn each_call_uses_the_registry_it_started_with() {
    let swapping = FakeSource::new("acme").tool("swap", |cx, _| async move {
        cx.session.replace_registry(Registry::build(2, &[], &android()));
        Outcome::success(cx.call("tap", args(json!({}))).await.unwrap_err().to_string())
    });
    let phone = FakeDriver::new("android/one", [TestPage::new("home", [])]);
    let session = trailblaze_core::testing::TestWiring::new(phone).with(swapping.batch()).open();
    assert_eq!(session.call("swap", json!({})).await, Ok(Outcome::success("unknown tool `tap`")));
    assert_eq!((session.inner.registry().generation, session.inner.registry().len()), (2, 0));
}

#[test]
fn ten_thousand_tools_are_registered_quickly() {
    let names: Vec<String> = (0..10_000).map(|n| format!("tool{n}")).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let registry = Registry::build(1, &[source("acme", &names).batch()], &android());
    assert_eq!((registry.len(), registry.offered().count()), (10_000, 10_000));
    assert_eq!(trailblaze_core::callers::preflight::check_tools(&registry), []);
}

#[test]
fn built_in_tools_do_not_conflict_on_any_platform() {
    for platform in Platform::ALL {
        let driver = FakeDriver::new("a/b", []).posing_as(platform, DriverKey::default_for(platform).as_str());
        let registry = Registry::build(1, &trailblaze_core::tools::batches(), &scope(driver.describe()));
        assert_eq!((registry.refused.len(), registry.warnings.len()), (0, 0), "{platform}");
        assert!(registry.is_offered("tap") && !registry.is_offered("maestro"), "{platform}");
        assert_eq!(trailblaze_core::callers::preflight::check_tools(&registry), [], "{platform}");
    }
}
