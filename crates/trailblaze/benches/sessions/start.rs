//! From the start of an MCP server to its list of tools, and how long that list is.

use std::process::Command;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::place::{Missing, Place, timed};
use crate::support::mcp::Client;
use crate::support::{Measure, Row, quantile};

const RUNS: usize = 15;

pub fn rows() -> Result<(), Missing> {
    let place = Place::new("platform: web\n")?;
    let (mut own, mut peer, mut version, mut nothing) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    let (mut own_list, mut peer_list) = (Listed::default(), Listed::default());
    for _ in 0..RUNS {
        own_list = Listed::by(place.own(&["mcp"]));
        peer_list = Listed::by(place.playwright()?);
        own.push(own_list.took);
        peer.push(peer_list.took);
        version.push(timed(place.own(&["--version"])).0);
        nothing.push(timed(Command::new("/bin/true")).0);
    }
    let (first, peer_first) = (own[0], peer[0]);
    let [own, peer, version, nothing] = [own, peer, version, nothing].map(|mut times| quantile(&mut times, 0.5));
    let row = |what: &str, measured: Duration, against: Duration, most: Option<Duration>| {
        let (measured, against) = (Measure::Time(measured), Some(Measure::Time(against)));
        let goal = most.map(|most| format!("≤ {} ms", most.as_millis())).unwrap_or_default();
        Row { what, measured, against, goal: &goal, is_met: most.map(|most| own <= most) }.print();
    };
    let most = Some(Duration::from_millis(50));
    row("`trailblaze mcp`, spawn to tools/list | @playwright/mcp", own, peer, most);
    row("the first of these | @playwright/mcp's first", first, peer_first, None);
    row("spawn to tools/list | `trailblaze --version`, to its end", own, version, None);
    row("`trailblaze --version` | `/bin/true`", version, nothing, None);
    println!("a daemon was started for the list: {}", if place.key_file().exists() { "yes" } else { "no" });
    let row = |what: &str, own: usize, peer: Option<usize>, most: usize, unit: &str| {
        let (measured, against) = (Measure::Count(own as f64), peer.map(|peer| Measure::Count(peer as f64)));
        Row { what, measured, against, goal: &format!("≤ {most} {unit}"), is_met: Some(own <= most) }.print();
    };
    row("list of tools, characters | @playwright/mcp", own_list.characters, Some(peer_list.characters), 8_000, "");
    row("instructions, bytes", own_list.instructions, None, 2_000, "");
    println!("tools: {}, @playwright/mcp: {}", own_list.tools, peer_list.tools);
    Ok(())
}

/// A list of tools, as a model is sent it.
#[derive(Default)]
struct Listed {
    took: Duration,
    tools: usize,
    characters: usize,
    instructions: usize,
}

impl Listed {
    fn by(command: Command) -> Listed {
        let started = Instant::now();
        let mut client = Client::start(command);
        let about = client.initialize();
        let tools = client.tools();
        let took = started.elapsed();
        let sent = tools.iter().map(|tool| {
            json!({"name": tool["name"], "description": tool["description"], "inputSchema": tool["inputSchema"]})
        });
        let sent = Value::Array(sent.collect()).to_string();
        let instructions = about["instructions"].as_str().unwrap_or_default().len();
        Listed { took, tools: tools.len(), characters: sent.chars().count(), instructions }
    }
}
