//! The corpus: how apps change, on simulated phones and in Chromium. Honest changes are healed, nothing else is touched, and a
//! repaired trail passes again and again.

use std::fmt::Write as _;

use serde_json::Value;
use trailblaze_core::yaml::{Problems, Source, loose, read};

use crate::support::{Project, Ran, chromium};

/// In CI, every n-th case of a kind; with SOAK=1, all.
const STRIDE: usize = 3;

pub struct Case {
    /// Whether its element means the same after the change, so that it should be healed.
    pub is_honest: bool,
    /// The name of its trail, and of its app or page.
    pub name: String,
    pub before: String,
    pub after: String,
    /// What the recorded call acts on, and by which property it names it.
    pub facts: Value,
}

#[derive(Clone, Copy)]
pub enum On {
    Sim,
    Chromium,
}

/// An element of a screen.
struct Line<'s> {
    depth: usize,
    role: &'s str,
    id: Option<&'s str>,
    name: &'s str,
    leads_to: Option<&'s str>,
    is_disabled: bool,
    is_hidden: bool,
}

fn cases() -> Vec<Case> {
    let source = Source::new("corpus.yaml", include_str!("corpus.yaml"));
    let mut problems = Problems::new(&source);
    let corpus = loose(&read(&source, &mut problems).expect("the corpus is YAML"));
    let kinds = ["moved", "newId", "newRole", "renamed", "decoys"];
    let stride = if crate::support::is_full_tier() { 1 } else { STRIDE };
    let mut cases = Vec::new();
    for kind in kinds {
        let of_kind = corpus[kind].as_array().unwrap_or_else(|| panic!("no {kind}"));
        for (number, facts) in of_kind.iter().enumerate().step_by(stride) {
            let before = corpus["screens"][facts["screen"].as_str().expect("a screen")].as_str().expect("its lines");
            let changes = facts["change"].as_object().expect("changes");
            let after = changes.iter().fold(before.to_string(), |screen, (old, new)| {
                assert!(screen.contains(old.as_str()), "{kind} {number}: no {old:?} in {screen}");
                screen.replacen(old.as_str(), new.as_str().expect("a text"), 1)
            });
            let (is_honest, name) =
                (!["renamed", "decoys"].contains(&kind), format!("{kind}-{:02}", number + 1).to_lowercase());
            cases.push(Case { is_honest, name, before: before.to_string(), after, facts: facts.clone() });
        }
    }
    cases
}

fn lines(screen: &str) -> Vec<Line<'_>> {
    screen.lines().filter(|text| !text.trim().is_empty()).map(line).collect()
}

fn line(line: &str) -> Line<'_> {
    let text = line.trim_start();
    let (head, rest) = text.split_once('"').unwrap_or((text, ""));
    let (name, tail) = rest.rsplit_once('"').unwrap_or(("", ""));
    let mut words = head.split_whitespace();
    Line {
        depth: (line.len() - text.len()) / 2,
        role: words.next().expect("a role"),
        id: words.next().and_then(|word| word.strip_prefix('#')),
        name,
        leads_to: tail.split_once("-> ").and_then(|(_, rest)| rest.split_whitespace().next()),
        is_disabled: tail.contains("disabled"),
        is_hidden: tail.contains("hidden"),
    }
}

/// Where elements lead to: the heading and a text.
const ENDS: [(&str, &str, &str); 4] = [
    ("done", "It is done", "Everything went well"),
    ("saved", "It was saved", "You find it in your list"),
    ("help", "How can we help?", "Ask us anything"),
    ("other", "Something else", "This is not what you were looking for"),
];

fn sim_app(case: &Case, screen: &str) -> String {
    let mut app = format!(
        "app: {{id: com.example.{}, name: Example}}\nstart: main\nstate: {{never: ''}}\nscreens:\n  main:\n    title: Example\n    elements:\n",
        case.name.replace('-', "")
    );
    for line in lines(screen) {
        if line.is_hidden {
            continue;
        }
        let indent = "  ".repeat(3 + line.depth * 2);
        let mut parts = vec![format!("role: {}", line.role)];
        parts.extend(line.id.map(|id| format!("id: '{id}'")));
        let name = if line.role == "field" { "hint" } else { "text" };
        parts.extend((!line.name.is_empty()).then(|| format!("{name}: {}", quoted(line.name))));
        parts.extend(line.leads_to.map(|to| format!("tap: {{goto: {to}}}")));
        parts.extend(line.is_disabled.then(|| "enabledWhen: {never: 'yes'}".to_string()));
        if line.role == "card" {
            let _ = writeln!(app, "{indent}- {}\n{indent}  elements:", parts.join(&format!("\n{indent}  ")));
        } else {
            let _ = writeln!(app, "{indent}- {{{}}}", parts.join(", "));
        }
    }
    for (name, heading, text) in ENDS {
        let _ = write!(
            app,
            "  {name}:\n    title: {name}\n    elements:\n      - {{role: heading, text: '{heading}'}}\n      - {{text: '{text}'}}\n      - {{id: back, role: button, text: Back to the start, tap: {{goto: main}}}}\n"
        );
    }
    app
}

fn page(screen: &str) -> String {
    let mut body = String::new();
    let mut open: Vec<usize> = Vec::new();
    for line in lines(screen) {
        while open.last().is_some_and(|depth| *depth >= line.depth) {
            open.pop();
            body.push_str("</section>\n");
        }
        let id = line.id.map(|id| format!(" id=\"{id}\"")).unwrap_or_default();
        let hidden = if line.is_hidden { " style=\"display: none\"" } else { "" };
        let disabled = if line.is_disabled { " disabled" } else { "" };
        let go = line.leads_to.map(|to| format!(" onclick=\"go('{to}'); return false\"")).unwrap_or_default();
        let name = line.name;
        let element = match line.role {
            "heading" => format!("<h2{id}>{name}</h2>"),
            "text" => format!("<p{id}>{name}</p>"),
            "button" => format!("<button{id}{go}{hidden}{disabled}>{name}</button>"),
            "link" => format!("<a href=\"#\"{id}{go}{hidden}>{name}</a>"),
            "field" => format!("<label>{name} <input{id}></label>"),
            "checkbox" => format!("<label><input type=\"checkbox\"{id}> {name}</label>"),
            "card" => {
                open.push(line.depth);
                format!("<section{id}>")
            }
            role => panic!("no {role} in pages"),
        };
        let _ = writeln!(body, "{element}<br>");
    }
    open.iter().for_each(|_| body.push_str("</section>\n"));
    let ends: String = ENDS
        .iter()
        .map(|(name, heading, text)| format!("<template id=\"to-{name}\"><h2>{heading}</h2><p>{text}</p><button id=\"back\">Back to the start</button></template>\n"))
        .collect();
    format!(
        "<!doctype html><html><head><title>Example</title></head><body><main>\n{body}</main>\n{ends}<script>\
         function go(name) {{ document.querySelector('main').innerHTML = document.getElementById('to-' + name).innerHTML }}\
         </script></body></html>\n"
    )
}

/// How long a call waits for what is on the screen from the start, or never. A page may take a moment until it can be clicked.
fn brief(on: On) -> &'static str {
    match on {
        On::Sim => "timeoutMs: 50",
        On::Chromium => "timeoutMs: 300",
    }
}

/// In YAML.
fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', "''"))
}

/// The recorded call, which names its element by the property that changes.
fn call(case: &Case, on: On) -> String {
    let text = |name: &str| case.facts[name].as_str().unwrap_or_default();
    let (wait, name) = (brief(on), quoted(text("name")));
    match (text("by"), on) {
        ("text", _) => format!("tap: {{text: {name}, {wait}}}"),
        ("id", _) => format!("tap: {{id: '{}', {wait}}}", text("id")),
        ("container", On::Sim) => format!(
            "tapOnElementBySelector: {{nodeSelector: {{androidAccessibility: {{text: {name}}}, childOf: {{androidAccessibility: {{resourceIdRegex: '.*id/{}'}}}}}}, {wait}}}",
            text("in")
        ),
        ("container", On::Chromium) => format!(
            "web_click: {{nodeSelector: {{web: {{ariaName: {name}}}, childOf: {{web: {{cssSelector: '#{}'}}}}}}, {wait}}}",
            text("in")
        ),
        ("role", On::Sim) => {
            let class = if text("role") == "button" { "android.widget.Button" } else { "android.widget.TextView" };
            format!(
                "tapOnElementBySelector: {{nodeSelector: {{androidAccessibility: {{className: '{class}', text: {name}}}}}, {wait}}}"
            )
        }
        ("role", On::Chromium) => {
            format!("web_click: {{nodeSelector: {{web: {{ariaRole: '{}', ariaName: {name}}}}}, {wait}}}", text("role"))
        }
        (by, _) => panic!("no calls by {by}"),
    }
}

fn trail(case: &Case, on: On) -> String {
    let (open, classifier, config) = match on {
        On::Sim => {
            (format!("launchApp: {{packageId: com.example.{}}}", case.name.replace('-', "")), "android", String::new())
        }
        On::Chromium => (
            format!("web_navigate: {{url: ../{}.html}}", case.name),
            "web",
            ", devices: {web: playwright-native}".to_string(),
        ),
    };
    let call = call(case, on);
    // The screen that the element leads to in the recording.
    let name = case.facts["name"].as_str().unwrap_or_default();
    let known = lines(&case.before);
    let line = known.iter().find(|line| line.name == name).unwrap_or_else(|| panic!("{}: no {name}", case.name));
    let heading = match line.leads_to {
        Some(to) => ENDS.iter().find(|(name, ..)| *name == to).expect("a screen").1,
        None => known[0].name,
    };
    let step = if case.facts["isAssertion"] == true {
        format!(
            "  - verify: It is there\n    recording:\n      {classifier}:\n        - assertVisible: {{text: {}, {}}}\n",
            quoted(name),
            brief(on)
        )
    } else {
        format!(
            "  - step: Use it\n    recording:\n      {classifier}:\n        - {call}\n  - verify: It worked\n    tools:\n      - assertVisible: {{text: '{heading}'}}\n"
        )
    };
    format!(
        "config: {{id: {0}, title: {0}{config}}}\ntrailhead:\n  step: Open it\n  tools:\n    - {open}\ntrail:\n{step}",
        case.name
    )
}

/// A project with a trail for each case, as recorded.
fn project(cases: &[Case], on: On) -> Project {
    let project = Project::empty();
    for case in cases {
        project.write(&format!("trails/{}.trail.yaml", case.name), trail(case, on));
    }
    let apps: Vec<String> = cases.iter().map(|case| format!("{}.app.yaml", case.name)).collect();
    project.write(
        "trailblaze.yaml",
        match on {
            On::Sim => format!("sim:\n  apps: [{}]\n", apps.join(", ")),
            On::Chromium => chromium::devices("[{id: web/chromium}]"),
        },
    );
    show(&project, cases, on, |case| &case.before);
    project
}

fn show(project: &Project, cases: &[Case], on: On, screen: impl Fn(&Case) -> &String) {
    for case in cases {
        match on {
            On::Sim => project.write(&format!("{}.app.yaml", case.name), sim_app(case, screen(case))),
            On::Chromium => project.write(&format!("{}.html", case.name), page(screen(case))),
        }
    }
}

fn run(project: &Project, args: &[&str], code: i32) -> Ran {
    project.run(&[&["run", "--pictures", "off", "--workers", "2"], args].concat()).exits(code)
}

/// Heals a corpus on a driver. No decoy may be touched, and at most a part of the honest changes may be missed.
pub fn check(on: On, cases: &[Case], most_missed: f64) {
    let project = project(cases, on);
    run(&project, &["--record"], 0);
    show(&project, cases, on, |case| &case.after);
    run(&project, &["--heal", "apply"], 1);
    let summary = project.last_run().summary();
    let attempts = summary["attempts"].as_array().expect("attempts");
    let (mut missed, mut wrong) = (Vec::new(), Vec::new());
    let honest: Vec<&Case> = cases.iter().filter(|case| case.is_honest).collect();
    for case in cases {
        let of_case: Vec<&Value> =
            attempts.iter().filter(|attempt| attempt["trail"]["id"] == case.name.as_str()).collect();
        let heals: Vec<&Value> =
            of_case.iter().flat_map(|attempt| attempt["heals"].as_array().into_iter().flatten()).collect();
        let last = of_case.last().expect("it ran");
        let told = format!("{}: {}: {}\n{heals:#?}", case.name, last["verdict"], last["message"]);
        if case.is_honest {
            missed.extend((last["isHealed"] != true).then_some(told));
            continue;
        }
        let is_assertion = case.facts["isAssertion"] == true;
        let is_untouched = heals.iter().all(|heal| heal["result"] == "suggested");
        // Only an assertion is not searched for.
        let is_right = last["verdict"] == "failed" && is_untouched && heals.is_empty() == is_assertion;
        wrong.extend((!is_right).then_some(told));
    }
    assert!(wrong.is_empty(), "{} decoys were touched:\n{}", wrong.len(), wrong.join("\n"));
    let share = missed.len() as f64 / honest.len() as f64;
    assert!(share <= most_missed, "{} of {} were not healed:\n{}", missed.len(), honest.len(), missed.join("\n"));
    eprintln!(
        "healed {} of {}; {} decoys untouched",
        honest.len() - missed.len(),
        honest.len(),
        cases.len() - honest.len()
    );
    // What was healed passes as it is written from then on.
    project.run(&["heal", "--write"]).exits(0);
    let is_healed = |case: &&&Case| !missed.iter().any(|told| told.starts_with(&format!("{}:", case.name)));
    let healed: Vec<String> =
        honest.iter().filter(is_healed).map(|case| format!("trails/{}.trail.yaml", case.name)).collect();
    let paths: Vec<&str> = healed.iter().map(String::as_str).collect();
    run(&project, &[&["--heal", "off", "--repeat-each", "3"], paths.as_slice()].concat(), 0);
}

#[test]
fn changes_are_healed_and_decoys_are_not_touched_on_a_simulated_phone() {
    check(On::Sim, &cases(), 0.1);
}

#[test]
fn changes_are_healed_and_decoys_are_not_touched_in_chromium() {
    if chromium::find().is_none() {
        return;
    }
    check(On::Chromium, &cases(), 0.1);
}
