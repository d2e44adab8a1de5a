//! What the clients do is recorded as if the wire had been used directly.

use std::path::Path;
use std::process::{Command, Stdio};

use serde_json::json;

use super::cases::{Case, DEVICES, cases, project};
use super::parity::record;
use super::served::Served;
use super::wire::{Caller, Protocol};
use crate::support::{repository, skip};

const PYTHON: &str = "
import json, sys
from parity_cases import call, cases_on, is_possible
from trailblaze import SyncTrailblazeClient

for address, key, device in json.loads(sys.argv[1]):
    with SyncTrailblazeClient(address, key=key) as tb:
        for case in filter(is_possible, cases_on(device)):
            try:
                call(tb, case)
            except Exception:
                pass
";

const ASYNC_PYTHON: &str = "
import asyncio, json, sys
from parity_cases import call, cases_on, is_possible
from trailblaze import TrailblazeClient

async def main():
    for address, key, device in json.loads(sys.argv[1]):
        async with TrailblazeClient(address, key=key) as tb:
            for case in filter(is_possible, cases_on(device)):
                try:
                    await call(tb, case)
                except Exception:
                    pass

asyncio.run(main())
";

const TYPESCRIPT: &str = "
import { TrailblazeClient } from '@trailblaze/client';
import { answerOf, casesOn } from './test/parity-cases.ts';

for (const [address, key, device] of JSON.parse(process.argv.at(-1)!)) {
  const tb = new TrailblazeClient(address, { key });
  for (const one of casesOn(device)) {
    if (!JSON.stringify(one.answer).includes('missing argument')) {
      await answerOf(tb, one);
    }
  }
}
process.exit(0);
";

/// Whether every client can make the call: in a typed language, a required argument cannot be left out.
fn is_possible(case: &&Case) -> bool {
    !case.answer["message"].as_str().unwrap_or_default().contains("missing argument")
}

#[tokio::test]
async fn what_clients_do_is_recorded_as_what_is_done_over_the_wire() {
    let root = repository();
    let (parts, client) = (root.join(".parts"), root.join("sdks/typescript/client"));
    let [python, node, bun] =
        ["sdk-python/bin/python", "node/node_modules/node/bin/node", "node/node_modules/.bin/bun"]
            .map(|program| parts.join(program));
    if ![&python, &node, &bun].iter().all(|program| program.exists()) || !client.join("dist").exists() {
        return skip::without_part("the runtimes and packages of the clients; `scripts/parts` installs them");
    }
    let path = format!("{0}/src:{0}/tests", root.join("sdks/python").display());
    let command = |program: &Path, args: &[&str]| {
        let mut command = Command::new(program);
        command.args(args).current_dir(&client).env("PYTHONPATH", &path).env("PYTHONDONTWRITEBYTECODE", "1");
        command
    };
    let typescript =
        ["--input-type=module-typescript", "--experimental-strip-types", "--no-warnings", "-e", TYPESCRIPT, "--"];
    let mut expected = Vec::new();
    for device in DEVICES {
        let project = project();
        let served = Served::on(&project, device);
        let caller = Caller::of(&served, Protocol::ConnectBinary);
        for Case { method, params, .. } in cases().iter().filter(|case| case.device == device).filter(is_possible) {
            let _ = caller.call(method, params.clone()).await;
        }
        served.end(&project).exits(0);
        expected.push(record(&project.last_run()));
    }
    let clients = [
        ("Python", command(&python, &["-c", PYTHON])),
        ("Python, async", command(&python, &["-c", ASYNC_PYTHON])),
        ("Node", command(&node, &typescript)),
        ("Bun", command(&bun, &["-e", TYPESCRIPT])),
    ];
    for (name, mut command) in clients {
        let sessions = DEVICES.map(|device| {
            let project = project();
            (Served::on(&project, device), project, device)
        });
        let told = sessions.each_ref().map(|(served, _, device)| json!([served.address, served.key, device]));
        let output = command.arg(json!(told).to_string()).stdin(Stdio::null()).output().expect("the client starts");
        assert!(output.status.success(), "{name}: {}", String::from_utf8_lossy(&output.stderr));
        for ((served, project, device), expected) in sessions.into_iter().zip(&expected) {
            served.end(&project).exits(0);
            assert_eq!(record(&project.last_run()), *expected, "{name} on {device}");
        }
    }
}
