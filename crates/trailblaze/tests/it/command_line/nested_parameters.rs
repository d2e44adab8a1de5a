//! Tools in YAML and scripts whose parameters are lists and mappings.

use serde_json::{Value, json};

use crate::support::Project;

const TRAIL: &str = "trails/a.trail.yaml";

/// A script, and a tool of calls that passes a list on to it.
const JOIN: &str = "\
id: acme_join
description: Write the lines of an order in one.
parameters:
  - name: lines
    type: array
    description: What is ordered
    items:
      type: object
      properties:
        product: string
        count: {type: integer, required: false, description: How many}
        tags: {type: array, items: string, required: false}
  - name: options
    type: object
    properties: {separator: string}
    default: {separator: ', '}
script:
  source: |
    const { lines, options } = args;
    return lines.map(({ product, count = 1 }) => `${count} ${product}`).join(options.separator);
";
const ORDER: &str = "\
id: acme_order
description: Order what is in the lines.
parameters:
  - {name: lines, type: array, items: {type: object, properties: {product: string, count: {type: integer, required: false}}}}
tools:
  - remember: {variable: first, value: 'the first is {{lines.0.product}}'}
  - acme_join: {lines: '{{lines}}', options: {separator: ' + '}}
    as: joined
";

fn project(call: &str) -> Project {
    let trail = format!("trail:\n  - step: Order\n    tools:\n      - {call}\n");
    Project::counter()
        .with("trailblaze-config/tools/acme_join.yaml", JOIN)
        .with("trailblaze-config/tools/acme_order.yaml", ORDER)
        .with(TRAIL, trail)
}

#[test]
fn lists_of_mappings_reach_the_calls_of_a_tool_and_the_code_of_a_script() {
    let check = "      - assertEquals: {actual: '{{joined}}', expected: 2 Socks + 1 Hat}
      - assertEquals: {actual: '{{first}}', expected: the first is Socks}
      - acme_join: {lines: [{product: '{{what}}'}]}
        as: own
      - assertEquals: {actual: '{{own}}', expected: 1 Shoe}
";
    let call = "acme_order: {lines: [{product: Socks, count: 2}, {product: Hat}]}";
    let project = project(call);
    let trail = format!("config: {{memory: {{what: Shoe}}}}\n{}{check}", project.read(TRAIL));
    let project = project.with(TRAIL, trail);
    project.run(&["check"]).exits(0);
    project.run(&["run", "-d", "android/sim-1", "--record"]).exits(0);
    project.run(&["run", "-d", "android/sim-1"]).exits(0);
}

#[test]
fn what_a_list_consists_of_is_checked_and_known_everywhere() {
    let refused = |call: &str, expected: &str| {
        let ran = project(call).run(&["check", TRAIL]).exits(3);
        assert!(ran.stderr.contains(expected), "expected {expected:?} in:\n{}", ran.stderr);
    };
    refused("acme_order: {lines: Socks}", "trails/a.trail.yaml:4:");
    refused("acme_order: {lines: [{product: Socks, count: many}]}", "`many` is not");
    refused("acme_order: {lines: [{count: 2}]}", "product");
    let project = project("acme_order: {lines: []}");
    let types = project.run(&["types", "-d", "android/sim-1", "-o", "-"]).exits(0).stdout;
    assert!(types.contains("product: string") && types.contains("count?: number"), "{types}");
    let listed = project.run(&["toolbox", "-d", "android/sim-1", "--all", "--json"]).exits(0).json();
    let tools = listed[0]["tools"].as_array().expect("tools");
    let is_order = |tool: &&Value| tool["name"] == "acme_order";
    let schema = &tools.iter().find(is_order).expect("the tool")["inputSchema"]["properties"]["lines"];
    assert_eq!(schema["items"]["required"], json!(["product"]), "{schema}");
    assert_eq!(schema["items"]["properties"]["count"]["type"], "integer");
    let schema = project.run(&["schema", "trail", "--tools"]).exits(0).json().to_string();
    assert!(schema.contains("\"product\":{\"type\":\"string\"}"), "editors know it too");
}

#[test]
fn a_declaration_that_does_not_fit_its_type_is_refused() {
    let refused = |parameter: &str, expected: &str| {
        let tool = format!(
            "id: acme_one\ndescription: One.\nparameters:\n  - {parameter}\ntools: [{{remember: {{variable: a, value: b}}}}]\n"
        );
        let ran = Project::counter().with("trailblaze-config/tools/acme_one.yaml", tool).run(&["check"]).exits(3);
        assert!(ran.stderr.contains(expected), "expected {expected:?} in:\n{}", ran.stderr);
    };
    refused("{name: a, type: string, items: string}", "only an `array` has `items`");
    refused("{name: a, type: array, properties: {b: string}}", "only an `object` has `properties`");
    refused("{name: a, type: array, items: text}", "unknown value `text`");
    refused("{name: a, type: array, default: one}", "the default must be a list");
    refused("{name: a, type: object, properties: {b: string}, default: {c: d}}", "the default does not fit");
}
