//! Twenty actions on the checkout page of the example shop, one call each, by an agent that sees the page after every action.

use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::place::{Missing, Place, Shop};
use crate::support::mcp::Client;
use crate::support::{Measure, Row, quantile};

/// How many fresh browsers each side gets.
const FRESH: usize = 3;
/// How often the order is placed in each.
const ROUNDS: usize = 4;

enum Act {
    Type(&'static str),
    Choose(&'static [&'static str]),
    Click,
}

struct Action {
    role: &'static str,
    name: &'static str,
    act: Act,
}

const fn action(role: &'static str, name: &'static str, act: Act) -> Action {
    Action { role, name, act }
}

/// An order, with a few changes of mind.
const ACTIONS: [Action; 20] = [
    action("textbox", "Full name", Act::Type("Ada Lovelace")),
    action("textbox", "Email", Act::Type("ada@example")),
    action("spinbutton", "How many bags", Act::Type("3")),
    action("textbox", "Deliver on", Act::Type("2026-12-24")),
    action("combobox", "Country", Act::Choose(&["Austria"])),
    action("listbox", "Extras", Act::Choose(&["Gift wrap", "Greeting card"])),
    action("radio", "Card", Act::Click),
    action("textbox", "Note to the driver", Act::Type("Ring twice")),
    action("textbox", "Gift message", Act::Type("Happy birthday")),
    action("slider", "Tip in percent", Act::Type("5")),
    action("checkbox", "I accept the terms", Act::Click),
    action("textbox", "Email", Act::Type("ada@example.com")),
    action("radio", "Invoice", Act::Click),
    action("combobox", "Country", Act::Choose(&["France"])),
    action("spinbutton", "How many bags", Act::Type("2")),
    action("textbox", "Note to the driver", Act::Type("Ring once")),
    action("checkbox", "I accept the terms", Act::Click),
    action("slider", "Tip in percent", Act::Type("10")),
    action("checkbox", "I accept the terms", Act::Click),
    action("button", "Place order", Act::Click),
];

/// What the last page shows.
const RECEIVED: [&str; 5] = ["Thank you, Ada Lovelace", "ada@example.com", "2026-12-24", "Ring once", "Happy birthday"];

pub fn rows() -> Result<(), Missing> {
    let shop = Shop::start()?;
    let place = Place::new("devices: [{id: web/chromium}]\n")?;
    let (mut own, mut peer) = (Rounds::default(), Rounds::default());
    for _ in 0..FRESH {
        let mut client = Client::start(place.own(&["mcp"]));
        client.initialize();
        own.add(&mut Own { client: &mut client, seen: Vec::new() }, &shop);
        client.call("session", json!({"action": "close"}));
        let mut client = Client::start(place.playwright()?);
        client.initialize();
        peer.add(&mut Playwright { client: &mut client, seen: String::new() }, &shop);
    }
    let row = |what: &str, measured: Measure, against: Measure, most: Option<f64>| {
        let goal = most.map(|most| format!("≤ {most} ×")).unwrap_or_default();
        let is_met = most.map(|most| measured.number() <= against.number() * most);
        Row { what, measured, against: Some(against), goal: &goal, is_met }.print();
    };
    let count = |number: usize| Measure::Count(number as f64);
    row("20 actions: characters of the answers | @playwright/mcp", count(own.answers), count(peer.answers), Some(0.4));
    row("the first look: characters | @playwright/mcp", count(own.look), count(peer.look), None);
    let (first, peer_first) = (quantile(&mut own.firsts, 0.5), quantile(&mut peer.firsts, 0.5));
    let (later, peer_later) = (quantile(&mut own.laters, 0.5), quantile(&mut peer.laters, 0.5));
    let row =
        |what: &str, own: Duration, peer: Duration, most| row(what, Measure::Time(own), Measure::Time(peer), most);
    row("20 actions: time | @playwright/mcp", later, peer_later, Some(0.5));
    row("the same in a fresh browser | @playwright/mcp's", first, peer_first, Some(0.5));
    row("20 actions in a fresh browser | later ones", first, later, None);
    Ok(())
}

/// An agent's hands and eyes.
trait Agent {
    /// Opens the page and looks at all of it.
    fn open(&mut self, url: &str) -> String;
    /// Acts, and sees the page after it. Returns all that a model would read.
    fn act(&mut self, action: &Action) -> String;
}

#[derive(Default)]
struct Rounds {
    firsts: Vec<Duration>,
    laters: Vec<Duration>,
    answers: usize,
    look: usize,
}

impl Rounds {
    fn add(&mut self, agent: &mut dyn Agent, shop: &Shop) {
        for round in 0..ROUNDS {
            self.look = agent.open(&shop.checkout()).chars().count();
            let started = Instant::now();
            let answers: Vec<String> = ACTIONS.iter().map(|action| agent.act(action)).collect();
            let took = started.elapsed();
            match round {
                0 => self.firsts.push(took),
                _ => self.laters.push(took),
            }
            self.answers = answers.iter().map(|answer| answer.chars().count()).sum();
            let last = answers.last().expect("there are actions");
            RECEIVED.iter().for_each(|part| assert!(last.contains(part), "`{part}` is not in the order: {last}"));
        }
    }
}

struct Own<'a> {
    client: &'a mut Client,
    /// What was shown, the latest at the end: the first look and the changes since.
    seen: Vec<String>,
}

impl Agent for Own<'_> {
    fn open(&mut self, url: &str) -> String {
        match self.seen.is_empty() {
            true => self.client.call("session", json!({"action": "open", "url": url})),
            false => self.client.call("act", json!({"calls": [{"tool": "navigate", "args": {"url": url}}]})),
        };
        let text = self.client.call("snapshot", json!({"offscreen": true}));
        self.seen = vec![text.clone()];
        text
    }

    fn act(&mut self, action: &Action) -> String {
        // As in `+ [e7] radio "Card" [unchecked]`. A name may be followed by the value.
        let wanted = format!("] {} \"{}", action.role, action.name);
        let lines = self.seen.iter().rev().flat_map(|text| text.lines());
        let line = lines.filter(|line| !line.starts_with('-')).find(|line| line.contains(&wanted));
        let line = line.unwrap_or_else(|| panic!("no {wanted} in {:?}", self.seen));
        let reference = line.split_once('[').and_then(|(_, rest)| rest.split_once(']')).expect("a ref").0;
        let (tool, args) = match action.act {
            Act::Type(text) => ("web_type", json!({"ref": reference, "text": text})),
            Act::Choose(values) => ("web_selectOption", json!({"ref": reference, "values": values})),
            Act::Click => ("tap", json!({"ref": reference})),
        };
        let text = self.client.call("act", json!({"calls": [{"tool": tool, "args": args}]}));
        self.seen.push(text.clone());
        text
    }
}

struct Playwright<'a> {
    client: &'a mut Client,
    /// The last snapshot.
    seen: String,
}

impl Playwright<'_> {
    fn look(&mut self) -> String {
        self.seen = self.client.call("browser_snapshot", json!({}));
        self.seen.clone()
    }
}

impl Agent for Playwright<'_> {
    fn open(&mut self, url: &str) -> String {
        self.client.call("browser_navigate", json!({"url": url}));
        self.look()
    }

    fn act(&mut self, action: &Action) -> String {
        // As in `- radio "Card" [checked] [ref=e7]`.
        let wanted = format!("- {} \"{}\"", action.role, action.name);
        let line = self.seen.lines().find(|line| line.contains(&wanted));
        let line = line.unwrap_or_else(|| panic!("no {wanted} in {}", self.seen));
        let target = line.split_once("[ref=").and_then(|(_, rest)| rest.split_once(']')).expect("a ref").0;
        let (tool, args): (&str, Value) = match action.act {
            Act::Type(text) => ("browser_type", json!({"target": target, "text": text})),
            Act::Choose(values) => ("browser_select_option", json!({"target": target, "values": values})),
            Act::Click => ("browser_click", json!({"target": target})),
        };
        let mut text = self.client.call(tool, args);
        text += &self.look();
        text
    }
}
