//! How a device starts: what a trail, or `launchApp`, finds of what was before, and what hostile pages leave.

use std::io::{Read, Write};
use std::net::TcpListener;
use std::process::{Command, Stdio};

use trailblaze_protocol::event::{Event, Verdict};

use crate::browser::web::acting::holds;
use crate::browser::web::shop::{Shop, calls};
use crate::support::{Running, wait_until};

/// A server of one page, and of an empty service worker. Reached under two names, it is two origins.
fn server(page: &'static str) -> [String; 2] {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let port = listener.local_addr().expect("an address").port();
    std::thread::spawn(move || {
        for mut stream in listener.incoming().flatten() {
            let mut request = [0; 4096];
            let n = stream.read(&mut request).unwrap_or(0);
            let is_worker = String::from_utf8_lossy(&request[..n]).starts_with("GET /worker.js");
            let (kind, body) = match is_worker {
                true => ("text/javascript", "onfetch = (e) => e.respondWith(new Response('Spoiled'))"),
                false => ("text/html", page),
            };
            let length = body.len();
            let _ = write!(
                stream,
                "HTTP/1.1 200 OK\r\nContent-Type: {kind}\r\nContent-Length: {length}\r\nConnection: close\r\n\r\n{body}"
            );
        }
    });
    [format!("http://127.0.0.1:{port}"), format!("http://localhost:{port}")]
}

/// A project with two trails, which run in this order on one device.
fn two_trails(first: &[&str], second: &[&str]) -> Option<Shop> {
    let shop = Shop::open("")?;
    for (name, made) in [("a", first), ("b", second)] {
        let trail = format!("trail:\n  - step: Shop\n    tools:\n{}", calls(made));
        shop.project.write(&format!("trails/{name}.trail.yaml"), trail);
    }
    std::fs::remove_file(shop.project.root().join("trails/shop.trail.yaml")).expect("it was there");
    Some(shop)
}

const STORED: &str = "document.cookie.includes('who=ada') && localStorage.visits === '41'";

#[test]
fn launching_starts_with_the_storage_state_of_the_device_and_nothing_else() {
    let [one, two] = server("<!doctype html><p>Here</p>");
    let go = |url: &str| format!("web_navigate: {{url: '{url}'}}");
    let launch = |mode: &str| format!("launchApp: {{packageId: '{one}', launchMode: {mode}}}");
    let leave = "web_evaluate: {script: 'localStorage.left = document.cookie = \"left=1\"'}";
    let is_left = holds("localStorage.left && document.cookie.includes('left')");
    let is_clean = holds("!localStorage.left && !document.cookie.includes('left')");
    let (go_one, go_two, is_stored) = (go(&one), go(&two), holds(STORED));
    let launches = ["FORCE_RESTART", "RESUME", "REINSTALL"].map(launch);
    let (is_small, is_reset) = (holds("innerWidth === 500"), holds("innerWidth === 800 && innerHeight === 600"));
    let made: Vec<&str> = vec![
        &go_one,
        &is_stored,
        leave,
        &go_two,
        leave,
        "web_resize: {width: 500, height: 400}",
        &launches[0],
        &is_left,
        &launches[1],
        &is_left,
        &is_small,
        &launches[2],
        &is_clean,
        &is_stored,
        &is_reset,
        &go_two,
        &is_clean,
    ];
    let Some(shop) = Shop::open(&calls(&made)) else { return };
    let state = format!(
        r#"{{"cookies": [{{"name": "who", "value": "ada", "domain": "127.0.0.1", "path": "/", "expires": -1}}],
        "origins": [{{"origin": "{one}", "localStorage": [{{"name": "visits", "value": "41"}}]}}]}}"#
    );
    shop.project.write("state.json", state);
    shop.device("[{id: web/chromium, storageState: state.json, viewport: 800x600}]");
    shop.run(&[], 0);
}

#[test]
fn a_trail_finds_nothing_of_the_one_before_it() {
    let [one, _] = server("<!doctype html><p>Fresh</p>");
    let go = format!("web_navigate: {{url: '{one}/page'}}");
    let spoil = "web_evaluate: {script: 'navigator.serviceWorker.register(\"/worker.js\").then(() => navigator.serviceWorker.ready).then(() => { localStorage.left = 1; open(\"/other\"); return 1 })'}";
    let check = holds("!localStorage.left");
    let one_tab = "web_tabs: {action: CLOSE}";
    let Some(shop) = two_trails(
        &[
            &go,
            spoil,
            "web_dialogs: {answer: DISMISS}",
            "web_evaluate: {script: 'onbeforeunload = (e) => e.preventDefault(); 1'}",
        ],
        &[&go, "assertVisible: {text: Fresh}", &check, one_tab],
    ) else {
        return;
    };
    let ran = shop.run(&[], 1);
    assert!(ran.stdout.contains("it is the only tab"), "only the last call fails: {}", ran.stdout);
}

/// Signs in with a cookie and local storage, as a server and an app of pages do.
const SIGN_IN: &str = "web_evaluate: {script: 'document.cookie = \"who=ada; path=/\"; localStorage.visits = 41'}";

#[test]
fn a_device_whose_storage_is_shared_keeps_it_for_the_next_trail() {
    let [one, _] = server("<!doctype html><p>Shared</p>");
    let go = format!("web_navigate: {{url: '{one}/page'}}");
    let (is_stored, one_tab) = (holds(STORED), "web_tabs: {action: CLOSE}");
    let Some(shop) = two_trails(&[&go, SIGN_IN, "web_tabs: {action: NEW}"], &[&go, &is_stored, one_tab]) else {
        return;
    };
    shop.device("[{id: web/chromium, storage: shared}]");
    let ran = shop.run(&[], 1);
    assert!(ran.stdout.contains("it is the only tab"), "only the last call fails: {}", ran.stdout);
    shop.device("[{id: web/chromium, storage: mine}]");
    let ran = shop.run(&[], 3);
    assert!(ran.stderr.contains("unknown value `mine`"), "{}", ran.stderr);
}

#[test]
fn one_trail_signs_in_and_another_starts_signed_in() {
    let [one, _] = server("<!doctype html><p>Signed in</p>");
    let go = format!("web_navigate: {{url: '{one}/page'}}");
    let launch = format!("launchApp: {{packageId: '{one}/page'}}");
    let (is_stored, is_fresh) = (holds(STORED), holds("!document.cookie && !localStorage.visits"));
    let save = "web_saveStorageState: {file: state/ada.json}";
    let Some(shop) = two_trails(&[&go, &is_fresh, SIGN_IN, save], &[&go, &is_stored, &launch, &is_stored]) else {
        return;
    };
    let trail = shop.project.read("trails/b.trail.yaml");
    let named = |file: &str| format!("config: {{storageState: {file}}}\n{trail}");
    shop.project.write("trails/b.trail.yaml", named("state/ada.json"));
    let third = format!("trail:\n  - step: Shop\n    tools:\n{}", calls(&[&go, &is_fresh]));
    shop.project.write("trails/c.trail.yaml", third);
    let told = |expected: i32| {
        let checked = shop.project.run(&["check"]).exits(expected);
        format!("{}{}", checked.stdout, checked.stderr)
    };
    assert!(told(0).contains("there is no file `state/ada.json` yet"), "{}", told(0));
    shop.run(&[], 0);
    assert!(!told(0).contains("ada.json"), "{}", told(0));
    let state = shop.project.root().join("trails/state/ada.json");
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        let mode = std::fs::metadata(&state).expect("it was saved").permissions().mode();
        assert_eq!(mode & 0o777, 0o600, "only this user may read it");
    }
    let record = shop.project.last_run().text("events.jsonl");
    assert!(record.contains("saved 1 cookie and the local storage of 1 origin"), "{record}");
    // A state that is lost in the meantime fails the trail, and is not left out.
    std::fs::remove_file(&state).expect("it was there");
    shop.run(&["trails/b.trail.yaml"], 2);
    std::fs::write(&state, "{}").expect("it is written");
    assert!(told(3).contains("`state/ada.json` is no storage state"), "{}", told(3));
    shop.project.write("trails/b.trail.yaml", named("../../elsewhere.json"));
    assert!(told(3).contains("`../../elsewhere.json` is not in the project"), "{}", told(3));
}

#[test]
fn a_new_project_of_a_web_app_passes() {
    let [one, _] = server("<!doctype html><p>Hello</p>");
    let Some(shop) = Shop::open("") else { return };
    shop.project.run(&["init", "--web", &format!("{one}/start?a=b"), "site"]).exits(0);
    shop.project.run(&["-C", "site", "check"]).exits(0);
    let ran = shop.project.finish(shop.command(&["-C", "site", "run", "--pictures", "off"])).exits(0);
    assert!(ran.stdout.contains("1 passed"), "{}", ran.stdout);
}

#[test]
fn a_hostile_page_does_not_hold_up_the_next_trail() {
    for hostile in [
        "setTimeout(() => { for (;;) alert('Again'); })",
        "setTimeout(() => { (function again() { Promise.resolve().then(again); })() })",
        "onbeforeunload = (e) => { e.preventDefault(); for (;;); }; setTimeout(() => { for (;;); })",
    ] {
        let hang = format!("web_evaluate: {{script: '{}; 1'}}", hostile.replace('\'', "''"));
        let first = ["web_navigate: {url: page.html}", hang.as_str()];
        let Some(shop) = two_trails(&first, &["web_navigate: {url: page.html}", "assertVisible: {text: Here}"]) else {
            return;
        };
        shop.project.write("trails/page.html", "<!doctype html><p>Here</p>");
        shop.run(&[], 0);
    }
}

fn verdicts(shop: &Shop) -> Vec<Verdict> {
    let verdict = |event: Event| match event {
        Event::AttemptEnded { verdict, .. } => Some(verdict),
        _ => None,
    };
    shop.project.last_run().events().into_iter().filter_map(verdict).collect()
}

#[test]
fn what_is_kept_of_a_page_is_bounded() {
    let page = "<!doctype html><body><script>const long = 'x'.repeat(6 << 20); document.title = long; console.error(long); \
                document.body.append(Object.assign(document.createElement('p'), {textContent: long + ' end'}), \
                Object.assign(document.createElement('button'), {textContent: 'Press'})); \
                for (let n = 0; n < 500; n++) console.log('line ' + n); for (let n = 0; n < 9999; n++) document.title = 'Title ' + n</script>";
    let made = ["web_navigate: {url: page.html}", "captureScreen: {}", "tap: {text: Press}", "web_console: {}"];
    let Some(shop) = Shop::open(&calls(&made)) else { return };
    shop.project.write("trails/page.html", page);
    shop.run(&[], 0);
    let length = shop.project.last_run().text("events.jsonl").len();
    assert!(length < 4 << 20, "{length} bytes of events");
}

#[cfg(target_os = "linux")]
#[test]
fn a_page_that_uses_too_much_memory_is_ended_by_name_and_a_browser_that_ended_is_replaced() {
    let open = "web_navigate: {url: page.html}";
    let Some(shop) = two_trails(
        &[open, "tap: {text: Eat}", "assertVisible: {text: Never, timeoutMs: 60000}"],
        &[open, "waitUntilVisible: {text: Nowhere, timeoutMs: 60000}"],
    ) else {
        return;
    };
    let third = format!("trail:\n  - step: Shop\n    tools:\n{}", calls(&[open, "assertVisible: {text: Eat}"]));
    shop.project.write("trails/c.trail.yaml", third);
    let page = "<!doctype html><button onclick='window.eaten = []; setInterval(() => window.eaten.push(new Uint8Array(50 << 20).fill(1)), 20)'>Eat</button>";
    shop.project.write("trails/page.html", page);
    shop.project.write("trailblaze.yaml", "devices: [{id: web/chromium}]\nbrowser: {memoryLimitMb: 400}\n");
    let mut command = shop.command(&["run", "--pictures", "off"]);
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    let running = Running::of(command.spawn().expect("the program starts"));
    wait_until("the second trail waits", || {
        (shop.project.runs().first()?.mentions("waitUntilVisible") > 0).then_some(())
    });
    let alive = shop.mark.alive();
    let is_browser = |line: &&String| {
        line.contains("--remote-debugging-pipe") && !line.contains("--type=") && !line.contains("(guardian)")
    };
    let browser = alive.iter().find(is_browser).and_then(|line| line.split_whitespace().next()).expect("a browser");
    Command::new("kill").args(["-9", browser]).status().expect("kill runs");
    let ran = shop.project.ended(running).exits(2);
    let said = ran.stdout.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(said.contains("page.html was ended: it used") && said.contains("400 MB are allowed"), "{}", ran.stdout);
    assert_eq!(verdicts(&shop), [Verdict::Errored, Verdict::Errored, Verdict::Passed]);
}
