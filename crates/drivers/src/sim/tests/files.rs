//! App files: what is wrong with them, and where.

use super::*;

#[test]
fn all_problems_of_a_broken_file_are_reported() {
    let yaml = "\
app: {id: a, name: A, accent: bleu}
start: ten
screens:
  one:
    elemnts: []
    elements:
      - {id: x, role: buton}
      - {id: y, tap: {toast: hi, goto: two}}
      - {tap: {when: {a: b}}}
      - {only: [andriod]}
";
    let (app, problems) = read(yaml);
    assert_eq!(app, None);
    let expected = [
        "a.app.yaml:1:31: unknown colour `bleu` (did you mean `blue`?)",
        "a.app.yaml:5:5: unknown key `elemnts` (did you mean `elements`?)",
        "a.app.yaml:7:23: unknown value `buton` (did you mean `button`?)",
        "a.app.yaml:8:22: the effect does several things (write each as its own item of the list)",
        "a.app.yaml:9:15: the effect does nothing (add one of: goto, back, home, set, add, toggle, dialog, dismiss, \
         toast, append, empty, open)",
        "a.app.yaml:10:17: unknown platform `andriod` (did you mean `android`?)",
        "a.app.yaml:2:8: unknown screen `ten` (expected one of: one)",
    ];
    assert_eq!(problems, expected);
}

#[test]
fn unknown_names_are_found() {
    let yaml = "\
app: {id: a, name: A}
start: won
links: {/x: one.}
screens:
  one:
    arrive: {dialog: hello}
    elements:
      - {id: x, tap: {goto: twoo}}
      - {id: x, repeat: rows}
      - {role: field}
  two: {}
";
    let (app, problems) = read(yaml);
    assert_eq!(app, None);
    let expected = [
        "a.app.yaml:2:8: unknown screen `won` (expected one of: one, two)",
        "a.app.yaml:3:13: unknown screen `one.` (did you mean `one`?)",
        "a.app.yaml:6:22: unknown dialog `hello`: the file has no dialogs",
        "a.app.yaml:8:29: unknown screen `twoo` (did you mean `two`?)",
        "a.app.yaml:9:14: the id `x` is used twice on this screen (the first is in line 8)",
        "a.app.yaml:9:25: unknown list `rows`: the file has no lists",
        "a.app.yaml:10:9: a field needs an `id` under which its value is stored",
    ];
    assert_eq!(problems, expected);
}

#[test]
fn a_value_that_nothing_sets_is_reported() {
    let yaml = "\
app: {id: a, name: A}
start: one
state: {balance: 1}
screens:
  one:
    elements:
      - {id: pin, role: field, change: {set: {error: ''}}}
      - {text: '{{balence}} {{pin}} {{item.x}} {{permission.camera}} {{zoom}}'}
      - {text: hi, unless: {eror: ''}}
";
    let expected = [
        "a.app.yaml:8:9: unknown value of the state `balence` (did you mean `balance`?)",
        "a.app.yaml:9:29: unknown value of the state `eror` (did you mean `error`?)",
    ];
    assert_eq!(read(yaml).1, expected);
}

#[test]
fn an_empty_file_is_a_problem() {
    assert_eq!(read("").1, ["a.app.yaml:1:1: the file is empty; expected a simulated app"]);
}

#[test]
fn the_schema_describes_nested_elements_and_effects() {
    let schema = SimApp::schema();
    assert_eq!(schema["$defs"]["element"]["properties"]["elements"]["items"]["$ref"], "#/$defs/element");
    assert_eq!(schema["properties"]["screens"]["additionalProperties"]["type"], "object");
    assert!(schema["$defs"]["effect"]["anyOf"][1]["properties"]["goto"].is_object());
}

#[test]
fn the_example_of_the_documentation_can_be_read() {
    let page = include_str!("../../../../../docs/simulated-devices.md");
    let yaml = page.split("```yaml").nth(1).and_then(|rest| rest.split("```").next()).unwrap();
    assert_eq!(read(yaml).1, [] as [String; 0]);
}
