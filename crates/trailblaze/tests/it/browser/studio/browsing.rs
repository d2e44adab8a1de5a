//! The studio on a web device: gestures by pointing, what the page's console and network say, and a person in the browser's window.

use serde_json::{Value, json};

use crate::browser::studio::opening::{address, on_session, open};
use crate::browser::studio::page::{element, has};
use crate::support::Project;
use crate::support::chromium;
use crate::support::hand::{Hand, after_the_driver, free_port};
use crate::support::home::Home;

const LAB: &str = "<!doctype html><title>Lab</title>
<h1 id=said>ready</h1>
<button id=twice ondblclick=\"said.textContent = 'double'\">Twice</button>
<button id=menu onmouseenter=\"said.textContent = 'hovered'\">Menu</button>
<label>Password <input type=password id=password></label>
<label><input type=checkbox id=news> News</label>
<label>Size <select id=size><option value=s>Small<option value=l>Large</select></label>
<label>Empty <input id=empty placeholder='Nothing yet'></label>
<button disabled>Off</button>
<ul aria-label=Vegetables><li>Leek<li>Kale</ul>
<ul><li id=apple draggable=true ondragstart=\"event.dataTransfer.setData('text', 'apple')\">Apple</li></ul>
<div role=region aria-label=Basket id=basket ondragover=\"event.preventDefault()\" ondrop=\"event.preventDefault(); said.textContent = 'dropped'\">Basket</div>
<button id=plain onclick=\"said.textContent = 'clicked'\">Once</button>
<div style='height: 3000px'></div>
<p>The end</p>
<script>
console.warn('the lab is old');
fetch('data:text/plain,hello');
addEventListener('scroll', () => { document.title = scrollY > 100 ? 'Scrolled' : 'Lab'; });
</script>";

/// A project with the browser that tests share, or one with this configuration, and the page above. Returns the address of the page.
pub fn lab(config: &str) -> (Home, String) {
    let home = Home::new(Project::empty());
    let config = match config {
        "" => chromium::devices("[{id: web/chromium}]"),
        own => format!("devices: [{{id: web/chromium}}]\n{own}"),
    };
    home.project.write("trailblaze.yaml", config);
    home.project.write("lab.html", LAB);
    let url = format!("file://{}/lab.html", home.project.root().display());
    (home, url)
}

/// A session in which the page at this address is used, in a window as wide as a phone.
pub fn person_at(address: &str) -> Home {
    let person = Home::new(Project::copy_of("examples/studio"));
    let devices = chromium::devices("[{id: web/chromium, viewport: 390x844}]");
    person.project.write("trailblaze.yaml", format!("platform: web\n{devices}"));
    person.run(&["device", "connect", "-d", "web/chromium", "--launch", address]).exits(0);
    person
}

#[test]
fn gestures_on_a_web_page_are_done_and_become_steps() {
    if chromium::find().is_none() {
        return;
    }
    let (home, url) = lab("");
    let (page, session) = on_session(&home, &["-d", "web/chromium", "--launch", &url]);
    let mut screens = page.watch("screen", &session);
    let act = |screen: &Value, name: Option<&str>, more: Value| {
        let index = name.map_or(json!(-1), |name| element(screen, name)["index"].clone());
        let mut params = json!({"session": session, "generation": screen["generation"], "element": index});
        params.as_object_mut().expect("an object").extend(more.as_object().cloned().expect("an object"));
        let done = page.call("Act", params);
        assert_eq!(done["isDone"], true, "{done:#}");
    };
    let screen = screens.until("the page", |screen| has(screen, "Twice") && has(screen, "ready"));
    let search = |selector: &str| page.call("TrySelector", json!({"session": session, "selector": selector}));
    let buttons = ["Twice", "Menu", "Off", "Once"].map(|name| element(&screen, name)["index"].clone());
    for selector in ["{web: {cssSelector: button}}", "css=button"] {
        let found = search(selector);
        assert_eq!((&found["elements"], &found["unlisted"]), (&json!(buttons), &json!(0)), "{selector}: {found:#}");
    }
    assert_eq!(search("css=button#menu")["elements"], json!([buttons[1]]));
    assert_eq!(search("css=nav")["elements"], json!([]));
    // What is typed into a password field would be in the recording.
    let field = element(&screen, "Password")["index"].clone();
    let fill = json!({"session": session, "generation": screen["generation"], "element": field, "action": "fill", "text": "hunter2"});
    let refused = page.call("Act", fill);
    assert_eq!(refused["isDone"], false);
    assert!(
        refused["text"].as_str().is_some_and(|text| text.contains("start the studio with `--secret NAME`")),
        "{refused:#}"
    );
    act(&screen, Some("Twice"), json!({"action": "doubleTap"}));
    let screen = screens.until("a double click", |screen| has(screen, "double"));
    act(&screen, Some("Menu"), json!({"action": "hover"}));
    let screen = screens.until("the mouse over the menu", |screen| has(screen, "hovered"));
    act(&screen, None, json!({"action": "scroll", "text": "down", "x": 600, "y": 400}));
    let screen = screens.until("the page further down", |screen| has(screen, "Scrolled"));
    act(&screen, None, json!({"action": "swipe", "x": 600, "y": 100, "toX": 600, "toY": 700}));
    let shown = page
        .watch("steps", &session)
        .until("all steps", |steps| steps["steps"].as_array().is_some_and(|steps| steps.len() == 5));
    let texts: Vec<&str> =
        shown["steps"].as_array().expect("steps").iter().map(|step| step["text"].as_str().expect("text")).collect();
    assert_eq!(
        texts,
        ["Open the page", "Double-click \"Twice\"", "Move the pointer over \"Menu\"", "Scroll down", "Swipe down"]
    );
    let save = json!({"session": session, "path": "trails/gestures.trail.yaml", "title": "Gestures"});
    assert_eq!(page.call("SaveTrail", save)["exists"], false);
    home.run(&["run", "trails/gestures.trail.yaml"]).exits(0);
}

#[test]
fn lists_checkboxes_and_drags_are_handled_by_pointing() {
    if chromium::find().is_none() {
        return;
    }
    let (home, url) = lab("");
    let (page, session) = on_session(&home, &["-d", "web/chromium", "--launch", &url]);
    let mut screens = page.watch("screen", &session);
    let place = |screen: &Value, name: &str| json!({"session": session, "generation": screen["generation"], "element": element(screen, name)["index"]});
    let act = |screen: &Value, name: &str, more: Value| {
        let mut params = place(screen, name);
        params.as_object_mut().expect("an object").extend(more.as_object().cloned().expect("an object"));
        let done = page.call("Act", params);
        assert_eq!(done["isDone"], true, "{done:#}");
    };
    let assertions = |screen: &Value, name: &str| -> Vec<String> {
        let found = page.call("Inspect", place(screen, name));
        let texts = found["assertions"].as_array().expect("assertions").iter();
        texts.map(|one| one["text"].as_str().expect("text").to_string()).collect()
    };
    let verify = |screen: &Value, name: &str, words: &str| {
        let nth = assertions(screen, name).iter().position(|text| text == words);
        let nth = nth.unwrap_or_else(|| panic!("no {words}: {:?}", assertions(screen, name)));
        act(screen, name, json!({"action": "assert", "assertion": nth}));
    };
    let screen = screens.until("the page", |screen| has(screen, "News"));
    verify(&screen, "News", "\"News\" is not checked");
    verify(&screen, "Empty", "\"Empty\" is empty");
    verify(&screen, "Off", "\"Off\" is disabled");
    verify(&screen, "Vegetables", "what is in \"Vegetables\"");
    act(&screen, "News", json!({"action": "tap"}));
    let screen = screens.until("a check", |screen| {
        has(screen, "News") && element(screen, "News")["state"].as_str().is_some_and(|state| state.contains("checked"))
    });
    verify(&screen, "News", "\"News\" is checked");
    let size = element(&screen, "Size");
    assert_eq!((&size["options"], &size["value"]), (&json!(["Small", "Large"]), &json!("Small")), "{size:#}");
    act(&screen, "Size", json!({"action": "choose", "text": "Large"}));
    let screen =
        screens.until("the choice", |screen| has(screen, "Size") && element(screen, "Size")["value"] == "Large");
    verify(&screen, "Size", "\"Size\" contains \"Large\"");
    let basket = element(&screen, "Basket");
    let (x, y) = (basket["x"].as_i64().expect("x") + 10, basket["y"].as_i64().expect("y") + 5);
    act(&screen, "Apple", json!({"action": "swipe", "x": 60, "y": 60, "toX": x, "toY": y}));
    screens.until("the drop", |screen| has(screen, "dropped"));
    let shown = page
        .watch("steps", &session)
        .until("all steps", |steps| steps["steps"].as_array().is_some_and(|steps| steps.len() == 10));
    assert_eq!(shown["steps"][9]["text"], "Drag \"Apple\" onto \"Basket\"", "{shown:#}");
    let save = json!({"session": session, "path": "trails/form.trail.yaml", "title": "Form"});
    assert_eq!(page.call("SaveTrail", save)["exists"], false);
    home.run(&["run", "trails/form.trail.yaml"]).exits(0);
}

#[test]
fn the_log_has_what_the_console_and_the_network_of_a_page_say() {
    if chromium::find().is_none() {
        return;
    }
    let (home, url) = lab("");
    let (page, session) = on_session(&home, &["-d", "web/chromium", "--launch", &url]);
    let mut log = page.watch("log", &session);
    let mut seen: Vec<Value> = Vec::new();
    let found = |seen: &[Value], kind: &str, words: &str| {
        seen.iter()
            .any(|entry| entry["kind"] == kind && entry["title"].as_str().is_some_and(|title| title.contains(words)))
    };
    while !(found(&seen, "console", "the lab is old")
        && found(&seen, "request", "data:text/plain")
        && found(&seen, "call", "launchApp"))
    {
        let more = log.next().unwrap_or_else(|| panic!("the log ended: {seen:#?}"));
        seen.extend(more["entries"].as_array().cloned().unwrap_or_default());
    }
    let warning = seen.iter().find(|entry| entry["kind"] == "console").expect("it was found");
    assert_eq!(warning["level"], "warning", "{warning:#}");
}

#[test]
fn a_trail_is_opened_in_the_editor_of_the_user() {
    let home = Home::counter();
    home.project.write("trails/my first.trail.yaml", "- step: Start\n");
    let page = open(&home, &[]);
    let file = home.project.root().canonicalize().expect("a folder").join("trails/my%20first.trail.yaml");
    let opened = page.call("OpenInEditor", json!({"path": "trails/my first.trail.yaml", "line": 3}));
    assert_eq!(opened["value"]["url"], format!("vscode://file{}:3", file.display()), "{opened:#}");
    for path in ["/etc/passwd", "../x.trail.yaml", "trailblaze.yaml"] {
        let (code, message) = page.try_call("OpenInEditor", json!({"path": path})).expect_err(path);
        assert!(code == "invalid_argument" || code == "failed_precondition", "{path}: {code}: {message}");
    }
    drop(page);
    home.run(&["daemon", "stop"]).exits(0);
    let address = home.run_with(&["studio", "--json"], &[("TRAILBLAZE_EDITOR", "ed")]).exits(0).json();
    let mut page = crate::browser::studio::page::Page::at(address["address"].as_str().expect("an address"));
    assert_eq!(page.enter(), 204);
    let opened = page.call("OpenInEditor", json!({"path": "trails/my first.trail.yaml"}));
    assert_eq!(opened["isDone"], false);
    assert!(
        opened["text"].as_str().is_some_and(|text| text.contains("`ed`") && text.contains("zed or idea")),
        "{opened:#}"
    );
}

#[test]
fn what_a_person_does_in_the_window_becomes_steps_of_the_page() {
    if chromium::find().is_none() {
        return;
    }
    let port = free_port();
    // Without a display, the window is drawn nowhere; all else is as with one.
    let (home, url) = lab(&format!("browser: {{args: ['--remote-debugging-port={port}', '--headless']}}\n"));
    let (page, session) = on_session(&home, &["-d", "web/chromium", "--headed", "--launch", &url]);
    let mut steps = page.watch("steps", &session);
    steps.until("the first step", |steps| steps["steps"].as_array().is_some_and(|steps| steps.len() == 1));
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().expect("a runtime");
    runtime.block_on(async {
        let hand = Hand::connect(port).await;
        let tab = hand.recorded_tab("lab.html").await;
        after_the_driver().await;
        tab.drag("#apple", "#basket").await;
        tab.until("said.textContent === 'dropped'").await;
        tab.click("#plain").await;
    });
    let shown = steps.until("the click", |steps| steps["steps"].as_array().is_some_and(|steps| steps.len() == 3));
    assert_eq!(shown["steps"][1]["text"], "Drag \"Apple\" onto \"Basket\"", "{shown:#}");
    assert_eq!(shown["steps"][2]["text"], "Click \"Once\"", "{shown:#}");
    // Pointing goes on beside it.
    let screen = page.watch("screen", &session).until("what the click did", |screen| has(screen, "clicked"));
    let place = json!({"session": session, "generation": screen["generation"], "element": element(&screen, "Twice")["index"], "action": "doubleTap"});
    assert_eq!(page.call("Act", place)["isDone"], true);
    let shown = steps.until("both", |steps| steps["steps"].as_array().is_some_and(|steps| steps.len() >= 4));
    assert_eq!(shown["steps"].as_array().map(Vec::len), Some(4), "what pointing does is recorded once: {shown:#}");
    let save = json!({"session": session, "path": "trails/both.trail.yaml", "title": "Both"});
    assert_eq!(page.call("SaveTrail", save)["exists"], false);
    drop(runtime);
    home.run(&["session", "close", &session]);
    home.run(&["run", "trails/both.trail.yaml"]).exits(0);
}

#[test]
fn the_tabs_of_a_browser_are_selected_and_closed_in_a_strip() {
    if chromium::find().is_none() {
        return;
    }
    let (home, url) = lab("");
    let address = address(&home, &["-d", "web/chromium", "--launch", &url]);
    let person = person_at(&address);
    person.run(&["tool", "assertVisible", "text=Live"]).exits(0);
    person.run(&["tool", "assertNotVisible", "ref=group \"Tabs of the browser\""]).exits(0);
    home.run(&["tool", "web_tabs", "action=NEW", "url=about:blank"]).exits(0);
    person.run(&["tool", "assertVisible", "ref=css=.browser-tab:nth-child(2) [aria-pressed=true]"]).exits(0);
    person.run(&["tool", "assertVisible", "ref=button \"New tab\""]).exits(0);
    person.run(&["tool", "tap", "ref=css=.browser-tab:first-child [aria-pressed]"]).exits(0);
    person.run(&["tool", "assertVisible", "ref=css=.browser-tab:nth-child(2) [aria-pressed=false]"]).exits(0);
    person.run(&["tool", "tap", "ref=button \"Close tab 2\""]).exits(0);
    person.run(&["tool", "assertNotVisible", "ref=group \"Tabs of the browser\""]).exits(0);
    let steps = home.run(&["session", "show"]).exits(0).stdout;
    assert!(steps.contains("Go to tab 1") && steps.contains("Close tab 2"), "{steps}");
}

#[test]
fn the_page_is_readable_and_operable_by_keyboard_at_the_width_of_a_phone() {
    if chromium::find().is_none() {
        return;
    }
    let home = Home::counter();
    let address = address(&home, &["-d", "android/sim-1", "--launch", "com.example.counter"]);
    let example = person_at(&address);
    example.run(&["tool", "assertVisible", "text=Replay all"]).exits(0);
    let evaluate = |script: &str| {
        let ran = example.run(&["tool", "web_evaluate", &format!("script={script}"), "--json"]).exits(0);
        ran.json()
    };
    for (tab, words) in [("Tree", "Try a selector"), ("Tools", "Search tools"), ("Steps", "Replay all")] {
        example.run(&["tool", "tap", &format!("text={tab}")]).exits(0);
        example.run(&["tool", "assertVisible", &format!("text={words}")]).exits(0);
        let wide = evaluate("document.documentElement.scrollWidth <= innerWidth");
        assert!(wide.to_string().contains("true"), "{tab}: nothing is cut off at the side: {wide:#}");
    }
    let unnamed = evaluate(
        "[...document.querySelectorAll('button, input, select, textarea, a[href]')].filter((control) => control.offsetParent && !(control.ariaLabel || control.textContent.trim() || control.labels?.length || control.title)).map((control) => control.outerHTML).join()",
    );
    assert!(!unnamed.to_string().contains('<'), "every control has a name: {unnamed:#}");
    // Tab reaches the picture and its modes, and a key of the page changes the mode.
    example.run(&["tool", "web_pressKey", "key=2"]).exits(0);
    let snapshot = example.run(&["snapshot"]).exits(0).stdout;
    assert!(snapshot.contains("Assert") && snapshot.contains("Steps"), "{snapshot}");
    let mode = evaluate(
        "[...document.querySelectorAll('[aria-pressed=true], [aria-checked=true]')].map((one) => one.textContent.trim()).join()",
    );
    assert!(mode.to_string().contains("Assert"), "{mode:#}");
}
