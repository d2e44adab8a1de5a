//! An agent that knows only what the server says about itself tests the example shop in a real browser: from nothing to a saved trail
//! that replays.

use std::path::Path;

use serde_json::json;

use crate::command_line::mcp::client::{Client, Daemon, Generation, reference};
use crate::support::chromium;
use crate::support::lab::{Lab, Runtime};
use crate::support::web_shop::Shop;

#[test]
fn an_agent_tests_the_shop_and_saves_a_trail_that_replays() {
    let Some(lab) = Lab::under(Runtime::Node) else { return };
    if chromium::find().is_none() {
        return;
    }
    lab.example("web-shop");
    let shop = Shop::open(Path::new(&lab.path("bin/node")), lab.project.root());
    let _daemon = Daemon(&lab.project);
    let mut agent = Client::program(&lab.project, &[], Generation::Initialize);
    // What the server says about itself names everything that is used below.
    let told = agent.hello["instructions"].as_str().expect("instructions").to_string();
    for word in
        ["`session` {\"action\":\"open\",\"url\"", "`act`", "web_type", "assertVisible", "`trail` {\"action\":\"save\""]
    {
        assert!(told.contains(word), "{word} is not in\n{told}");
    }
    let devices = agent.call("devices", json!({}));
    assert!(devices.contains("web/chromium"), "{devices}");
    let url = format!("{}/checkout", shop.address);
    let page = agent.call("session", json!({"action": "open", "url": url}));
    assert!(page.contains("offscreen"), "it says that there is more: {page}");
    let whole = agent.call("snapshot", json!({"offscreen": true}));
    let field = |name: &str| reference(&whole, name);
    let calls = json!([
        {"tool": "web_type", "args": {"ref": field("Full name"), "text": "Ada Lovelace"}},
        {"tool": "web_type", "args": {"ref": field("Email"), "text": "ada@example.com"}},
    ]);
    let filled = agent.call("act", json!({"step": "Fill in the recipient", "calls": calls}));
    assert!(filled.contains("Ada Lovelace") && filled.len() < page.len(), "{filled}");
    let calls = json!([{"tool": "tap", "args": {"ref": field("Invoice")}}, {"tool": "tap", "args": {"ref": field("I accept the terms")}}]);
    agent.call("act", json!({"step": "Pay by invoice and accept the terms", "calls": calls}));
    let calls = json!([{"tool": "tap", "args": {"ref": field("Place order")}}]);
    let ordered = agent.call("act", json!({"step": "Order", "calls": calls}));
    assert!(ordered.contains("Thank you, Ada Lovelace"), "{ordered}");
    let text = "Thank you, Ada Lovelace. This is what we received:";
    let calls = json!([{"tool": "assertVisible", "args": {"text": text, "timeoutMs": 60_000}}]);
    agent.call("act", json!({"verify": "The order was received", "calls": calls}));
    let steps = agent.call("session", json!({"action": "steps"}));
    assert!(steps.contains("3. Order") && steps.contains("4. verify: The order was received"), "{steps}");
    agent.call("trail", json!({"action": "save", "path": "trails/agent.trail.yaml"}));
    let ran = agent.call("trail", json!({"action": "run", "path": "trails/agent.trail.yaml"}));
    assert!(ran.contains("1 of 1 trail passed"), "{ran}");
    // A page that is different now: the answer says what failed and where.
    for (old, new) in [("Thank you, Ada Lovelace.", "Thank you, Bob."), ("timeoutMs: 60000", "timeoutMs: 100")] {
        agent.call("trail", json!({"action": "edit", "path": "trails/agent.trail.yaml", "old": old, "new": new}));
    }
    let failed = agent.failure("trail", json!({"action": "run", "path": "trails/agent.trail.yaml"}));
    assert!(failed.contains("The order was received") && failed.contains("agent.trail.yaml:"), "{failed}");
    assert!(agent.call("session", json!({"action": "close"})).starts_with("closed session"));
    assert_eq!(agent.close(), Some(0));
}
