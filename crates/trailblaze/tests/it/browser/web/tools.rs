//! The tools that only browsers have, as an agent and a recording use them.

use crate::browser::web::shop::{Shop, calls};

#[test]
fn a_click_by_ref_is_recorded_as_something_that_lasts() {
    let Some(shop) = Shop::open("") else { return };
    let address = format!("file://{}/shop.html", shop.project.root().display());
    let lines = format!(
        "step \"Greet\"\nweb_navigate url={address}\nsnapshot\nweb_type ref=e7 text=Grace\nweb_click ref='button \"Greet\"'\n\
         web_click ref=e12\nweb_verifyTextVisible text=Agreed\nsnapshot --changes\nsave trails/kept.trail.yaml\nquit\n"
    );
    let ran = shop.project.feed(&["shell", "-d", "web/chromium"], &lines).exits(0);
    assert!(ran.stdout.contains("+ [e13] status \"Agreed\""), "what changed is shown: {}", ran.stdout);
    let kept = shop.project.read("trails/kept.trail.yaml");
    assert!(kept.contains("cssSelector: '#name'"), "{kept}");
    assert!(kept.contains("ref: 'button \"Greet\"'"), "a description lasts as it is: {kept}");
    assert!(!kept.contains("ref: e"), "no ref is kept: {kept}");
    // The other ways to name it are in the record, for repair.
    assert!(shop.project.last_run().mentions("alternatives") > 0);
    shop.run(&["trails/kept.trail.yaml"], 0);
}

#[test]
fn an_id_that_a_library_makes_up_is_not_recorded() {
    let Some(shop) = Shop::open("") else { return };
    let page = "<title>Page</title><label>Name <input></label><button onclick=\"document.title = 'Greeted'\">Greet</button>
        <script>for (const e of document.querySelectorAll('input, button')) e.id = 'mantine-' + Math.random().toString(36).slice(2, 11)</script>";
    shop.project.write("page.html", page);
    let lines = "step \"Greet\"\nweb_navigate url=page.html\nsnapshot\nweb_type ref=e1 text=Grace\nweb_click ref=e2\n\
                 save trails/kept.trail.yaml\nquit\n";
    shop.project.feed(&["shell", "-d", "web/chromium"], lines).exits(0);
    let kept = shop.project.read("trails/kept.trail.yaml");
    assert!(kept.contains("Regex: Greet") && !kept.contains("mantine-"), "{kept}");
    shop.run(&["trails/kept.trail.yaml"], 0);
}

#[test]
fn files_that_a_session_names_are_named_as_seen_from_the_saved_trail() {
    let Some(shop) = Shop::open("") else { return };
    let page = "<title>Page</title><input type=file id=file>";
    for (file, content) in [("page.html", page), ("notes.txt", "Notes"), ("trails/own/photo.txt", "A photo")] {
        shop.project.write(file, content);
    }
    let lines = "step \"Attach\"\nweb_navigate url=page.html\nweb_upload ref='css=#file' files='[\"notes.txt\"]'\n\
                 web_upload ref='css=#file' files='[\"trails/own/photo.txt\"]'\nsave trails/own/kept.trail.yaml\nquit\n";
    shop.project.feed(&["shell", "-d", "web/chromium"], lines).exits(0);
    let kept = shop.project.read("trails/own/kept.trail.yaml");
    for path in ["url: '../../page.html'", "- '../../notes.txt'", "- photo.txt"] {
        assert!(kept.contains(path), "{path} in {kept}");
    }
    shop.run(&["trails/own/kept.trail.yaml"], 0);
}

#[test]
fn a_ref_lasts_as_long_as_its_element() {
    let Some(shop) = Shop::open("") else { return };
    let address = format!("file://{}/shop.html", shop.project.root().display());
    let lines = format!(
        "web_navigate url={address}\nsnapshot\nweb_evaluate script=\"document.getElementById('ask').remove()\"\n\
         web_click ref=e14\nweb_click ref=e12\nquit\n"
    );
    let ran = shop.project.feed(&["shell", "-d", "web/chromium"], &lines);
    let all = format!("{}{}", ran.stdout, ran.stderr);
    assert!(all.contains("ref e12 is no longer on the screen; take a new snapshot"), "{all}");
    assert!(
        all.contains("web_click {\"nodeSelector\":{\"web\":{\"cssSelector\":\"#slow\"}}}"),
        "what is still there keeps its ref: {all}"
    );
}

#[test]
fn a_relative_address_is_a_file_beside_the_trail() {
    let Some(shop) = Shop::open(&calls(&["web_navigate: {url: page.html}", "web_verifyTextVisible: {text: Beside}"]))
    else {
        return;
    };
    shop.project.write("trails/page.html", "<title>A page</title><p>Beside the trail</p>");
    shop.run(&[], 0);
}

#[test]
fn the_promise_of_a_script_is_awaited() {
    let Some(shop) = Shop::open("") else { return };
    let scripts = [
        "new Promise(done => setTimeout(() => done({a: [1, null]}), 50))",
        "(async () => 2)()",
        "({then: done => done(3)})",
        "await Promise.resolve(4)",
        "Promise.reject(new Error(5))",
        "({b: 6})",
        "undefined",
        "throw new Error(7)",
    ];
    let lines: Vec<String> = scripts.iter().map(|script| format!("evaluateJs script=\"{script}\"")).collect();
    let ran = shop.project.feed(&["shell", "--json", "-d", "web/chromium"], &lines.join("\n"));
    let told: Vec<String> = ran
        .json_lines()
        .iter()
        .map(|told| match told["error"].as_str() {
            Some(error) => error.to_string(),
            None => told["answer"]["structured"].to_string(),
        })
        .collect();
    let expected = [
        r#"{"a":[1,null]}"#,
        "2",
        "3",
        "4",
        "the script threw: Error: 5",
        r#"{"b":6}"#,
        "null",
        "the script threw: Error: 7",
    ];
    assert_eq!(told, expected, "{}", ran.stdout);
}

#[test]
fn a_browser_scrolls_and_swipes_by_name_and_says_how_to_go_back() {
    let Some(shop) = Shop::open("") else { return };
    let told = "scroll direction=DOWN\nswipe direction=UP\npressBack\n";
    let ran = shop.project.feed(&["shell", "--json", "-d", "web/chromium"], told);
    let told = ran.json_lines();
    assert_eq!((&told[0]["ok"], &told[1]["ok"]), (&true.into(), &true.into()), "{}", ran.stdout);
    let error = told[2]["error"].as_str().unwrap_or_default();
    assert_eq!(error, "`pressBack` is unsupported on web; did you mean `web_navigate`?");
}

#[test]
fn a_storage_state_is_kept_and_restored() {
    let Some(shop) = Shop::open(&calls(&["web_evaluate: {script: '`visits: ${localStorage.visits}`'}"])) else {
        return;
    };
    let state = r#"{"cookies": [{"name": "who", "value": "ada", "domain": "127.0.0.1", "path": "/", "expires": -1}],
        "origins": [{"origin": "file://", "localStorage": [{"name": "visits", "value": "41"}]}]}"#;
    shop.project.write("state.json", state);
    shop.device("[{id: web/chromium, storageState: state.json, viewport: 800x600}]");
    shop.run(&[], 0);
    assert_eq!(shop.project.last_run().mentions("\"text\":\"visits: 42\""), 1, "the shop counts on from there");
    shop.project.write("state.json", "{");
    let ran = shop.run(&[], 2);
    assert!(ran.stdout.contains("cannot restore `"), "{}", ran.stdout);
}

#[test]
fn a_browser_that_runs_already_is_attached_to_and_left_running() {
    let Some(shop) = Shop::open(&calls(&["web_click: {ref: 'button \"Ask me\"'}", "assertVisible: {text: Agreed}"]))
    else {
        return;
    };
    let profile = shop.project.root().join("profile");
    let mut browser = std::process::Command::new("chromium");
    browser.args(["--headless=new", "--no-sandbox", "--remote-debugging-port=0", "about:blank"]);
    browser.arg(format!("--user-data-dir={}", profile.display()));
    browser.stdout(std::process::Stdio::null()).stderr(std::process::Stdio::null());
    let mut browser = browser.spawn().expect("Chromium starts");
    let port = crate::support::wait_until("it listens", || {
        let told = std::fs::read_to_string(profile.join("DevToolsActivePort")).ok()?;
        told.lines().next().map(str::to_string).filter(|port| !port.is_empty())
    });
    let config = format!("devices: [{{id: web/chromium}}]\nbrowser: {{attach: 'http://127.0.0.1:{port}'}}\n");
    shop.project.write("trailblaze.yaml", config);
    shop.run(&[], 0);
    assert!(browser.try_wait().expect("it can be asked").is_none(), "it is not ours to end");
    browser.kill().expect("it ends");
    browser.wait().expect("it has ended");
    let ran = shop.run(&[], 2);
    assert!(ran.stdout.contains("no browser could be reached at `http://127.0.0.1:"), "{}", ran.stdout);
}

#[test]
fn the_selectors_of_a_detailed_look_find_their_elements() {
    let Some(shop) = Shop::open("") else { return };
    let page = "<!doctype html><ul id=list><li><button>Go</button><li><button onclick=\"document.title = 'second'\">Go</button></ul>";
    shop.project.write("page.html", page);
    let address = format!("file://{}/page.html", shop.project.root().display());
    let css = "#list > li:nth-of-type(2) > button";
    let lines = format!(
        "web_navigate url={address}\nweb_requestDetails include='[\"CSS_SELECTORS\"]'\nweb_click ref='css={css}'\nsnapshot\nquit\n"
    );
    let ran = shop.project.feed(&["shell", "-d", "web/chromium"], &lines).exits(0);
    assert!(ran.stdout.contains(&format!("button \"Go\" [css={css}]")), "{}", ran.stdout);
    assert!(ran.stdout.contains("Title: second"), "{}", ran.stdout);
}

#[test]
fn a_picture_has_marks_and_may_be_webp() {
    let Some(shop) = Shop::open("") else { return };
    let address = format!("file://{}/shop.html", shop.project.root().display());
    let shoot = |file: &str, more: &[&str]| {
        let args = ["snapshot", "-d", "web/chromium", "--launch", &address, "--screenshot", file];
        let command = shop.command(&[&args, more].concat());
        shop.project.finish(command).exits(0);
        std::fs::read(shop.project.root().join(file)).expect("a picture")
    };
    let (plain, marked) = (shoot("plain.png", &[]), shoot("marked.png", &["--marks"]));
    assert!(plain.starts_with(b"\x89PNG") && marked.starts_with(b"\x89PNG"));
    assert_ne!(plain, marked);
    let webp = shoot("page.webp", &["--marks"]);
    assert_eq!((&webp[..4], &webp[8..12]), (&b"RIFF"[..], &b"WEBP"[..]));
}
