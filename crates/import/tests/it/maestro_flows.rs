//! Flows of Maestro, command by command.

use trailblaze_import::{ForeignFile, Imported, StatementFate, maestro};

use crate::support::only_trail;

fn import(text: &str, others: &[(&str, &str)]) -> Imported {
    let others: Vec<ForeignFile> = others.iter().map(|(path, text)| ForeignFile::new(*path, *text)).collect();
    maestro::import(&[ForeignFile::new("flow.yaml", text)], &others)
}

#[test]
fn a_flow_becomes_a_trail_with_steps_in_words() {
    let imported = import(
        "appId: com.a\nname: Sign in\ntags: [smoke]\nenv:\n  PIN: \"1234\"\n---\n- launchApp:\n    clearState: true\n\
         # Sign in as Ada\n- tapOn: Email\n- inputText: ${PIN}\n- assertVisible: €120\\.00\n- travel:\n    speed: 5\n",
        &[],
    );
    assert_eq!(
        only_trail(&imported),
        "# Imported from flow.yaml, a flow of Maestro.\nconfig:\n  title: Sign in\n  tags:\n    - smoke\n  memory:\n    PIN: '1234'\n\n\
         trailhead:\n  step: Start the app\n  tools:\n    - launchApp: {packageId: com.a, launchMode: REINSTALL}\n\n\
         trail:\n  - step: Sign in as Ada\n    tools:\n      - tap: {text: Email}\n      - inputText: {text: '{{PIN}}'}\n\n\
         \x20 - verify: '\"€120.00\" is visible'\n    tools:\n      - assertVisible: {text: '€120.00'}\n      \
         # Not imported, flow.yaml:13:3: there is no tool for it:\n      #   - travel:\n      #       speed: 5\n"
    );
    let kept: Vec<_> = imported.statements.iter().filter(|statement| statement.note().is_some()).collect();
    assert_eq!((kept.len(), kept[0].line, kept[0].column), (1, 13, 3));
    assert_eq!(kept[0].fate, StatementFate::Kept("there is no tool for it".to_string()));
}

#[test]
fn a_flow_that_others_run_becomes_a_tool_with_parameters() {
    let imported = import(
        "appId: com.a.wallet\n---\n- runFlow:\n    file: login.yaml\n    env:\n      PIN: \"1\"\n",
        &[(
            "login.yaml",
            "appId: com.a.wallet\nenv: {EMAIL: a@b.c}\n---\n- inputText: ${EMAIL}\n- inputText: ${PIN}\n",
        )],
    );
    assert!(only_trail(&imported).contains("      - wallet_login: {PIN: '1'}\n"), "{}", only_trail(&imported));
    let tool =
        &imported.files.iter().find(|file| file.path == "trailblaze-config/tools/wallet_login.yaml").unwrap().text;
    assert!(tool.contains("  - {name: PIN, type: string, description: PIN}\n"), "{tool}");
    assert!(tool.contains("  - {name: EMAIL, type: string, default: a@b.c, description: EMAIL}\n"), "{tool}");
    assert!(tool.ends_with("tools:\n  - inputText: {text: '{{EMAIL}}'}\n  - inputText: {text: '{{PIN}}'}\n"), "{tool}");
}

#[test]
fn conditions_and_repetitions_become_keys_of_steps() {
    let imported = import(
        "appId: com.a\n---\n- runFlow:\n    when: {visible: Not now}\n    commands:\n      - tapOn: Not now\n\
         - repeat:\n    while: {notVisible: End}\n    times: 7\n    commands:\n      - scroll\n\
         - retry:\n    maxRetries: 2\n    commands:\n      - tapOn: Again\n- tapOn: {text: Rate, optional: true}\n",
        &[],
    );
    let text = only_trail(&imported);
    for part in [
        "    when: {assertVisible: {text: Not now}}\n    tools:\n      - tap: {text: Not now}\n",
        "    repeat:\n      until: {assertVisible: {text: End, timeoutMs: 0}}\n      times: 7\n",
        "    maxRetries: 2\n    tools:\n      - tap: {text: Again}\n",
        "    optional: true\n    tools:\n      - tap: {text: Rate}\n",
    ] {
        assert!(text.contains(part), "{part}\n{text}");
    }
}

#[test]
fn a_script_without_requests_becomes_a_tool_and_another_one_is_kept() {
    let imported = import(
        "appId: com.a.shop\n---\n- runScript: {file: order.js, env: {COUNT: \"3\"}}\n- runScript: api.js\n- runScript: none.js\n\
         - inputText: ${output.order}\n",
        &[("order.js", "output.order = 'a' + COUNT;\n"), ("api.js", "output.x = http.get('x');\n")],
    );
    let text = only_trail(&imported);
    assert!(
        text.contains("- shop_order: {COUNT: '3'}\n") && text.contains("- inputText: {text: '{{output_order}}'}"),
        "{text}"
    );
    assert!(text.contains("`api.js` uses `http`") && text.contains("`none.js` could not be read"), "{text}");
}

#[test]
fn flows_that_run_each_other_end() {
    let own = "appId: com.a\n---\n- runFlow: other.yaml\n- tapOn: {text: A, optional: true}\n";
    let other = "appId: com.a\n---\n- runFlow: flow.yaml\n- tapOn: {text: B, optional: true}\n";
    let imported = import(own, &[("flow.yaml", own), ("other.yaml", other)]);
    assert!(only_trail(&imported).contains("runs itself"), "{}", only_trail(&imported));
}

#[test]
fn a_file_that_is_no_flow_is_refused_with_its_place() {
    for (text, expected) in [
        ("appId: com.a\n---\nflows: [a]\n", "flow.yaml:3:1: a flow is a list of commands, not a mapping"),
        ("appId: com.a\n---\n- tapOn: [a\n", "flow.yaml:"),
        ("- a\n---\n- back\n", "flow.yaml:1:1: the configuration of a flow is a mapping, not a list"),
    ] {
        let imported = import(text, &[]);
        assert!(imported.files.is_empty());
        assert!(imported.problems[0].to_string().starts_with(expected), "{}", imported.problems[0]);
    }
}

#[test]
fn what_concerns_the_phone_becomes_calls_of_tools() {
    let imported = import(
        "appId: com.a\n---\n- launchApp:\n    clearState: true\n    permissions: {camera: allow, sms: deny, all: deny}\n\
         - setLocation: {latitude: 52.5, longitude: -13.4}\n- setOrientation: LANDSCAPE_LEFT\n\
         - startRecording: drive\n- stopRecording\n- setPermissions:\n    permissions: {location: unset}\n\
         - setPermissions:\n    permissions: {all: deny}\n- setOrientation: UPSIDE_DOWN\n",
        &[],
    );
    let text = only_trail(&imported);
    let mut rest = text;
    for part in [
        "- clearAppData: {packageId: com.a}\n",
        "- grantPermission: {packageId: com.a, permission: CAMERA}\n",
        "- mobile_revokePermission: {appId: com.a, permission: READ_SMS}\n",
        "- launchApp: {packageId: com.a, launchMode: FORCE_RESTART}\n",
        "- mobile_setLocation: {latitude: 52.5, longitude: -13.4}\n",
        "- mobile_setOrientation: {orientation: LANDSCAPE}\n",
        "- mobile_startRecording: {}\n",
        "- mobile_stopRecording: {}\n",
        "- mobile_revokePermission: {appId: com.a, permission: ACCESS_FINE_LOCATION}\n",
    ] {
        rest = rest.split_once(part).unwrap_or_else(|| panic!("{part} is not there, in this order, in {text}")).1;
    }
    let notes: Vec<&str> = imported.statements.iter().filter_map(|statement| statement.note()).collect();
    let of_all = "without the permission `all: deny`";
    assert_eq!(notes, [of_all, of_all, "there is no orientation `UPSIDE_DOWN` here"]);
}
