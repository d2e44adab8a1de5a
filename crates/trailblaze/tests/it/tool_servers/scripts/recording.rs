//! What a script does is recorded beneath its call, and replayed.

use trailblaze_protocol::event::CallOrigin;

use super::{call, value, with_tool};
use crate::support::Project;

/// The pre-processing that a list of calls cannot express.
const TAP_LITERAL: &str = r"id: tapOnElementWithTextLiterally
description: Tap on an element that contains the text.
parameters:
  - {name: text, type: string, description: The text}
  - {name: index, type: integer, default: 0, description: Which of several}
  - {name: timeoutMs, type: integer, default: 5000, description: How long to wait for it}
script:
  source: |
    const escaped = args.text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
    const commands = [{ tapOn: { text: `.*${escaped}.*`, index: args.index } }];
    await tools.maestro({ commands, timeoutMs: args.timeoutMs });
    memory.set('tapped', escaped);
    return `tapped ${args.text}`;
";
const TRAIL: &str = "\
trail:
  - step: Start
    tools: [{launchApp: {packageId: com.example.counter}}]
  - step: Count
    tools: [{tapOnElementWithTextLiterally: {text: Add}}]
  - verify: It counted
    tools: [{assertVisible: {text: 'Count: 1'}}]
";

fn project() -> Project {
    let tool = "trailblaze-config/tools/tapOnElementWithTextLiterally.yaml";
    Project::counter().with(tool, TAP_LITERAL).with("trails/a.trail.yaml", TRAIL)
}

#[test]
fn text_is_escaped_before_it_is_used_as_a_pattern() {
    let project = project();
    let ran = project.feed(&["shell", "-d", "android/sim-1"], "launchApp packageId=com.example.counter\ntapOnElementWithTextLiterally text='Add one'\nassertVisible text='Count: 1'\n").exits(0);
    assert!(ran.stdout.contains("tapped Add one\n"), "{}", ran.stdout);
    // `.` is a character, not a pattern.
    let ran = project
        .run(&[
            "tool",
            "tapOnElementWithTextLiterally",
            "text=Add.one",
            "timeoutMs=50",
            "--launch",
            "com.example.counter",
            "-d",
            "android/sim-1",
        ])
        .exits(1);
    assert!(ran.stderr.contains(r"nothing on the screen has the text matching"), "{}", ran.stderr);
}

#[test]
fn a_script_is_recorded_as_one_call_with_its_calls_beneath() {
    let project = project();
    project.run(&["run", "--pictures", "off", "--record", "effects"]).exits(0);
    let run = project.last_run();
    run.assert_calls_have_parents();
    let calls = run.calls();
    let own = calls.iter().find(|call| call.tool == "tapOnElementWithTextLiterally").expect("called");
    assert!(own.is_recordable && own.is_custom && !own.is_delegating);
    let beneath = calls.iter().find(|call| call.tool == "maestro").expect("called");
    assert_eq!(beneath.origin, CallOrigin::Expansion);
    let kept = project.read("trails/a.effects.yaml");
    assert!(kept.contains("tapOnElementWithTextLiterally") && kept.contains("digest:"), "{kept}");
    let (_, effects) = kept.split_once("effects:\n").expect("effects");
    assert!(effects.contains(".*Add.*") && effects.contains("tapped"), "{effects}");
    // What it did is played without the script.
    project.run(&["run", "--pictures", "off", "--replay", "effects"]).exits(0);
    project.run(&["run", "--pictures", "off", "--replay", "verify"]).exits(0);
}

#[test]
fn a_script_that_changed_since_recording_is_reported() {
    let project = project();
    project.run(&["run", "--pictures", "off", "--record", "effects"]).exits(0);
    let tool = "trailblaze-config/tools/tapOnElementWithTextLiterally.yaml";
    project.write(tool, TAP_LITERAL.replace("'tapped'", "'touched'"));
    let ran = project.run(&["run", "--pictures", "off"]).exits(0);
    assert!(
        ran.stderr.contains("the tool `tapOnElementWithTextLiterally` changed since this was recorded"),
        "{}",
        ran.stderr
    );
    project.run(&["run", "--pictures", "off", "--strict"]).exits(3);
    let ran = project.run(&["run", "--pictures", "off", "--replay", "effects"]).exits(3);
    assert!(ran.stderr.contains("the effects are out of date"), "{}", ran.stderr);
}

#[test]
fn a_script_returns_what_any_tool_returns() {
    assert_eq!(value("return 'text'")["answer"]["text"], "text");
    let returned = value("return { a: [1, 2] }");
    assert_eq!(returned["answer"]["text"], r#"{"a":[1,2]}"#);
    assert_eq!(returned["answer"]["structured"], serde_json::json!({"a": [1, 2]}));
    assert_eq!(value("return")["ok"], true);
    let project = with_tool(
        "return { _trailblaze_delegates: [{ tool: 'launchApp', args: { packageId: 'com.example.counter' } }, { tool: 'assertVisible', args: { text: 'Counter' } }] }",
    );
    call(&project).exits(0);
    let delegated: Vec<String> = project
        .last_run()
        .calls()
        .into_iter()
        .filter(|call| call.origin == CallOrigin::Delegate)
        .map(|call| call.tool)
        .collect();
    assert_eq!(delegated, ["launchApp", "assertVisible"]);
    let project = with_tool(
        "return { content: [{ type: 'text', text: 'no luck' }], isError: true, _meta: { trailblaze: { variant: 'FatalError' } } }",
    );
    assert!(call(&project).exits(1).stderr.contains("no luck"));
}

#[test]
fn memory_is_shared_with_other_tools_and_kept_from_other_trails() {
    let project = with_tool("const n = (memory.get('n') ?? 0) + 1; globalThis.m = (globalThis.m ?? 0) + 1; memory.set('n', n); return `${n} ${m}`")
        .with("trails/a.trail.yaml", "trail:\n  - step: Twice\n    tools: [{tryIt: {}}, {tryIt: {}}]\n")
        .with("trails/b.trail.yaml", "trail:\n  - step: Twice\n    tools: [{tryIt: {}}, {tryIt: {}}]\n");
    project.run(&["run", "--pictures", "off", "-d", "android/sim-1"]).exits(0);
    let texts: Vec<String> = project
        .last_run()
        .events()
        .into_iter()
        .filter_map(|event| match event {
            trailblaze_protocol::event::Event::Answered {
                answer: trailblaze_protocol::event::CallResult::Outcome(outcome),
                ..
            } => Some(outcome.text),
            _ => None,
        })
        .collect();
    assert_eq!(texts, ["1 1", "2 2", "1 1", "2 2"], "what one trail leaves behind, another does not see");
}

#[test]
fn a_script_reads_the_screen_as_data() {
    let source = "await tools.launchApp({ packageId: 'com.example.counter' });\n\
                  const { elements, width } = await screen();\n\
                  const { left, right, top, bottom } = elements.find((one) => one.text === 'Add one').bounds;\n\
                  await tools.tap({ x: (left + right) / 2, y: Math.round((top + bottom) / 2) });\n\
                  await tools.assertVisible({ text: 'Count: 1' });\n\
                  return [width > 0, platform, device.driverType, await tools.isVisible({ text: 'Nowhere' }), await tools.getElementCount({ text: 'Add one' })]";
    let returned = value(source);
    assert_eq!(
        returned["answer"]["text"], r#"[true,"android","android-ondevice-accessibility",false,1]"#,
        "{returned}"
    );
}

#[test]
fn secrets_stay_templates_in_scripts() {
    let source = "id: tryIt\ndescription: Types.\nparameters: [{name: pin, type: string, description: The PIN}]\nscript:\n  source: |\n    await tools.launchApp({ packageId: 'com.example.counter' });\n    await tools.tap({ id: 'name' });\n    await tools.inputText({ text: args.pin });\n    await tools.assertVisible({ text: `Hello, ${args.pin}` });\n    memory.set('seen', args.pin); log(args.pin); return `typed ${args.pin}`\n";
    let project = Project::counter()
        .with("trailblaze-config/tools/tryIt.yaml", source)
        .with("trails/a.trail.yaml", "trail:\n  - step: Type\n    tools: [{tryIt: {pin: '{{PIN}}'}}]\n");
    let mut command = project.command(&["run", "--pictures", "off", "--secret", "PIN"]);
    command.env("PIN", "correct-horse-battery");
    project.finish(command).exits(0);
    assert_eq!(project.last_run().mentions("correct-horse-battery"), 0);
}

#[test]
fn a_tool_that_a_script_calls_may_be_any_tool() {
    let project = with_tool("return await tools.inner({ text: 'a' })")
        .with("trailblaze-config/tools/inner.yaml", "id: inner\ndescription: Inner.\nparameters: [{name: text, type: string, description: A text}]\nscript:\n  source: |\n    await tools.steps(); return `${args.text}b`\n")
        .with("trailblaze-config/tools/steps.yaml", "id: steps\ndescription: Steps.\nparameters: []\ntools: [{launchApp: {packageId: com.example.counter}}, {tap: {id: add}}]\n");
    assert_eq!(call(&project).exits(0).stdout, "ab\n");
}
