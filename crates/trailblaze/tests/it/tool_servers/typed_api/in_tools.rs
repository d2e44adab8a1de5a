//! What a tool does inside a tool server is recorded as what is done over the wire, nested in the tool's call.

use std::collections::HashMap;

use serde_json::json;
use trailblaze_protocol::event::{CallOrigin, Event};
use trailblaze_protocol::ids::Parent;

use super::cases::{Case, DEVICES, cases, project, without_times};
use super::served::Served;
use super::wire::{Caller, Protocol};
use crate::support::{Project, RunFolder, repository, skip};

const PYTHON: &str = r#"
from fastmcp import Context, FastMCP
from parity_cases import call, cases_on, is_possible
from trailblaze import TrailblazeClient

server = FastMCP("parity")


@server.tool
async def parity_answers(ctx: Context) -> str:
    tb = TrailblazeClient.from_context(ctx)
    for case in filter(is_possible, cases_on(tb.device_id)):
        try:
            await call(tb, case)
        except Exception:
            pass
    return "done"


server.run(show_banner=False)
"#;

/// A call: the tools that it is nested in and its own, its origin, its arguments, and its result.
type Line = (Vec<String>, CallOrigin, String, String);

/// All calls of a run, in the order in which they were made.
fn tree(run: &RunFolder) -> Vec<Line> {
    let (mut lines, mut index_of) = (Vec::<Line>::new(), HashMap::<_, usize>::new());
    for event in run.events() {
        match event {
            Event::Called(called) => {
                let above = match &called.parent {
                    Parent::Call(parent) => lines[index_of[parent]].0.clone(),
                    _ => Vec::new(),
                };
                let path = above.into_iter().chain([called.tool.clone()]).collect();
                index_of.insert(called.call.clone(), lines.len());
                lines.push((path, called.origin, format!("{:?}", called.args), String::new()));
            }
            Event::Answered { call, answer, .. } => {
                lines[index_of[&call]].3 = without_times(&format!("{answer:?}"));
            }
            _ => {}
        }
    }
    lines
}

/// The same calls as those of the tool: one level deeper, and made by it.
fn nested(lines: Vec<Line>, tool: &str) -> Vec<Line> {
    let nest = |(path, origin, args, answer): Line| {
        let origin = if path.len() == 1 { CallOrigin::Callback } else { origin };
        (std::iter::once(tool.to_string()).chain(path).collect(), origin, args, answer)
    };
    lines.into_iter().map(nest).collect()
}

#[tokio::test]
async fn what_tools_do_is_recorded_as_what_is_done_over_the_wire() {
    let root = repository();
    let parts = root.join(".parts");
    let [python, node, bun] = ["python/bin/python", "node/node_modules/node/bin/node", "node/node_modules/.bin/bun"]
        .map(|program| parts.join(program));
    let packages = ["client", "scripting"].map(|name| root.join("sdks/typescript").join(name).join("dist"));
    if ![&python, &node, &bun].into_iter().chain(&packages).all(|part| part.exists()) {
        return skip::without_part("the runtimes and packages of tool servers; `scripts/parts` installs them");
    }
    let path = format!("{0}/src:{0}/tests", root.join("sdks/python").display());
    let script = root.join("sdks/typescript/scripting/test/parity-server.ts");
    let servers = [
        ("FastMCP", json!({"command": python, "args": ["server.py"], "env": {"PYTHONPATH": path}})),
        ("Node", json!({"command": node, "args": ["--experimental-strip-types", "--no-warnings", script]})),
        ("Bun", json!({"command": bun, "args": [script]})),
    ];
    for device in DEVICES {
        let mut recorded = Vec::new();
        let expected = {
            let project = project();
            let served = Served::on(&project, device);
            let caller = Caller::of(&served, Protocol::ConnectJson);
            for Case { method, params, .. } in cases().iter().filter(|case| case.device == device) {
                let _ = caller.call(method, params.clone()).await;
            }
            served.end(&project).exits(0);
            nested(tree(&project.last_run()), "parity_answers")
        };
        for (name, entry) in &servers {
            // In Python, a required argument cannot be left out.
            let is_made = |line: &&Line| *name != "FastMCP" || !line.3.contains("missing argument");
            let expected: Vec<&Line> = expected.iter().filter(is_made).collect();
            let project = project();
            let run = run_tool(&project, device, entry);
            let got = tree(&run);
            assert!(!expected.is_empty() && got[0].0 == ["parity_answers"], "{name} on {device}: {got:?}");
            for (got, expected) in got[1..].iter().zip(expected.iter().copied()) {
                assert_eq!(got, expected, "{name} on {device}");
            }
            assert_eq!(got.len() - 1, expected.len(), "{name} on {device}");
            recorded.push(run.text("recording.trail.yaml"));
        }
        assert!(recorded[0].contains("parity_answers"), "{}", recorded[0]);
        assert!(recorded.iter().all(|recording| *recording == recorded[0]), "{device}: {recorded:?}");
    }
}

/// Calls the tool of a server in a shell.
fn run_tool(project: &Project, device: &str, entry: &serde_json::Value) -> RunFolder {
    project.write("server.py", PYTHON);
    let settings = project.read("trailblaze.yaml");
    project.write("trailblaze.yaml", format!("{settings}\nmcpServers: {}\n", json!({"parity": entry})));
    project.run(&["tool", "parity_answers", "-d", device]).exits(0);
    project.last_run()
}
