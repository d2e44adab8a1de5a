//! Pages that misbehave: each gets bounded time and clear words, and no browser is left.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::process::{Child, Command, Stdio};

use crate::browser::web::shop::{Shop, calls};
use crate::support::{skip, wait_until};

/// A server whose addresses do what they are called. It ends with the test.
fn server() -> String {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = format!("http://{}", listener.local_addr().expect("an address"));
    std::thread::spawn(move || {
        // What is never answered is kept open.
        let mut kept: Vec<TcpStream> = Vec::new();
        for stream in listener.incoming().flatten() {
            kept.extend(answer(stream));
        }
    });
    address
}

fn answer(mut stream: TcpStream) -> Option<TcpStream> {
    let mut request = [0; 4096];
    let n = stream.read(&mut request).unwrap_or(0);
    let text = String::from_utf8_lossy(&request[..n]).into_owned();
    let path = text.split(' ').nth(1).unwrap_or("/").to_string();
    let send = |stream: &mut TcpStream, head: &str, body: &str| {
        let length = body.len();
        let _ = write!(stream, "HTTP/1.1 {head}\r\nContent-Length: {length}\r\nConnection: close\r\n\r\n{body}");
    };
    match path.as_str() {
        "/never" => return Some(stream),
        "/loop" => send(&mut stream, "302 Found\r\nLocation: /loop", ""),
        "/bare" => drop(stream),
        _ => send(&mut stream, "404 Not Found\r\nContent-Type: text/html", "<p>Not here</p>"),
    }
    None
}

/// Runs a trail that opens a page of this markup, then makes calls; what it says must be said.
#[track_caller]
pub fn check(markup: &str, made: &[&str], code: i32, said: &[&str]) {
    let open = "web_navigate: {url: page.html}";
    let Some(shop) = Shop::open(&calls(&[&[open], made].concat())) else { return };
    shop.project.write("trails/page.html", format!("<!doctype html><title>Trouble</title>{markup}"));
    let ran = shop.run(&[], code);
    for words in said {
        assert!(ran.stdout.contains(words), "expected `{words}` in\n{}", ran.stdout);
    }
}

/// A page that says so when the browser has asked for the icon of its site, which is not there.
const ICON: &str = "<!doctype html><p></p><script>const ask = async () => { \
                    const asked = await (await fetch('/asked')).text(); document.querySelector('p').textContent = asked; \
                    if (asked !== 'Asked') setTimeout(ask, 20); }; ask();</script>";

#[test]
fn an_icon_that_is_not_there_is_no_warning() {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = listener.local_addr().expect("an address");
    std::thread::spawn(move || {
        let mut is_asked = false;
        for mut stream in listener.incoming().flatten() {
            let mut request = [0; 4096];
            let n = stream.read(&mut request).unwrap_or(0);
            let text = String::from_utf8_lossy(&request[..n]).into_owned();
            let path = text.split(' ').nth(1).unwrap_or("/");
            is_asked |= path == "/favicon.ico";
            let (head, body) = match path {
                "/" => ("200 OK\r\nContent-Type: text/html", ICON),
                "/asked" => ("200 OK\r\nContent-Type: text/plain", if is_asked { "Asked" } else { "Not yet" }),
                _ => ("404 Not Found", ""),
            };
            let length = body.len();
            let _ = write!(stream, "HTTP/1.1 {head}\r\nContent-Length: {length}\r\nConnection: close\r\n\r\n{body}");
        }
    });
    let open = format!("web_navigate: {{url: 'http://{address}/'}}");
    let made = [open.as_str(), "waitUntilVisible: {text: Asked, timeoutMs: 20000}", "captureScreen: {}"];
    // The build without windows asks for no icons.
    let Some(shop) = Shop::with_own_browser(&calls(&made)) else { return };
    shop.run(&[], 0);
    assert_eq!(shop.project.last_run().warnings(), Vec::<String>::new());
}

#[test]
fn addresses_that_lead_nowhere_are_named() {
    let base = server();
    let check = |path: &str, words: &str| {
        let call = format!("web_navigate: {{url: '{path}'}}");
        let Some(shop) = Shop::open(&calls(&[&call])) else { return };
        let ran = shop.run(&[], 1);
        assert!(ran.stdout.contains(words), "expected `{words}` in\n{}", ran.stdout);
    };
    check(&format!("{base}/loop"), "net::ERR_TOO_MANY_REDIRECTS");
    check(&format!("{base}/bare"), "net::ERR_EMPTY_RESPONSE");
    check(&base.replace("http", "https"), "net::ERR_");
    check(&format!("{base}/never"), "nothing answered within ");
    check("http://name.invalid/", "cannot open `http://name.invalid/`: net::ERR_");
}

#[test]
fn what_a_page_says_is_in_the_record() {
    let base = server();
    let Some(shop) = Shop::open(&calls(&[
        "web_navigate: {url: page.html}",
        "web_verifyTextVisible: {text: Loaded}",
        "web_console: {}",
        "web_assertNetworkEvent: {eventName: missing.json}",
    ])) else {
        return;
    };
    let page = format!(
        "<p>Loaded</p><script>console.error('a bad day'); fetch('{base}/missing.json', {{mode: 'no-cors'}}); throw new Error('thrown');</script>"
    );
    shop.project.write("trails/page.html", page);
    shop.run(&[], 0);
    let warnings = shop.project.last_run().warnings();
    for expected in ["console.error: a bad day", "the page threw: Error: thrown (at ", "missing.json answered 404"] {
        assert!(warnings.iter().any(|warning| warning.contains(expected)), "{expected} is not in {warnings:?}");
    }
}

#[test]
fn a_dialog_at_once_does_not_stop_the_page() {
    check("<p>Here</p><script>alert('At once'); confirm('Sure?')</script>", &["assertVisible: {text: Here}"], 0, &[]);
}

#[test]
fn fifty_thousand_nodes_are_a_page_like_any_other() {
    let markup = "<div id=all></div><button onclick=\"this.textContent='Pressed'\">Press</button><script>\
                  for (let n = 0; n < 50000; n++) all.append(Object.assign(document.createElement('i'), {textContent: n}))</script>";
    check(markup, &["tap: {text: Press}", "assertVisible: {text: Pressed}"], 0, &[]);
}

#[test]
fn what_never_rests_is_said_to_move_and_what_only_turns_is_touched() {
    let moving = "<style>#away { position: absolute } @keyframes turn { to { rotate: 1turn } } #turning { animation: turn 1s linear infinite; width: 9px; height: 9px }</style>\
                  <div id=turning></div><button id=still onclick=\"this.textContent='Pressed'\">Still</button><p><button id=away>Away</button>\
                  <script>(function go() { away.style.left = Math.random() * 500 + 'px'; requestAnimationFrame(go) })()</script>";
    check(moving, &["tap: {text: Still}", "assertVisible: {text: Pressed}"], 0, &[]);
    check(moving, &["tap: {text: Away}"], 1, &["button \"Away\" keeps moving"]);
}

#[test]
fn a_page_that_is_busy_for_a_while_is_waited_for() {
    let busy = "<button onclick=\"const end = Date.now() + 1500; while (Date.now() < end); this.textContent='Done'\">Work</button>";
    check(busy, &["tap: {text: Work}", "assertVisible: {text: Done}"], 0, &[]);
}

#[test]
fn what_gives_way_as_it_is_touched_is_not_mistaken() {
    // A veil falls as soon as the pointer comes near.
    let veiled = "<button onmouseover=\"veil.style.display='block'\" onclick=\"document.title='Wrong'\">Pay</button>\
                  <div id=veil style=\"display:none; position:fixed; inset:0; background:#eee\" onclick=\"document.title='Veil pressed'\">A veil</div>";
    check(veiled, &["tap: {text: Pay}"], 1, &["A veil"]);
    // An element that is replaced once is found again.
    let replaced = "<main><button onmousedown=\"if (!window.done) { done = 1; main.innerHTML = main.innerHTML }\" onclick=\"document.querySelector('main').innerHTML='Paid'\">Pay</button></main>\
                    <script>const main = document.querySelector('main')</script>";
    check(replaced, &["tap: {text: Pay}"], 0, &[]);
}

#[test]
fn what_cannot_be_done_is_said_with_its_reason() {
    let page = "<label>Name <input readonly value=Ada></label><p id=text>Words</p><label>Day <input type=date id=day></label>\
                <label>Size <select id=size><option>Small<option>Large</select></label><button>Pay</button><button>Pay</button><button>Pay</button>";
    let field = "{web: {ariaRole: textbox, ariaName: Name}}";
    check(
        page,
        &[&format!("web_type: {{nodeSelector: {field}, text: Eve}}")],
        1,
        &["cannot be filled: it is read-only"],
    );
    check(page, &["web_type: {ref: 'css=#text', text: Eve}"], 1, &["cannot be filled: it is not a text field"]);
    check(
        page,
        &["web_type: {ref: 'css=#day', text: soon}"],
        1,
        &["`soon` is not a valid value for a field of type date"],
    );
    check(
        page,
        &["web_selectOption: {ref: 'css=#size', values: [Huge]}"],
        1,
        &["it has no `Huge`, only `Small`, `Large`"],
    );
    check(page, &["web_click: {ref: 'css=#size >'}"], 1, &["`#size >` is not a valid CSS selector"]);
    check(
        page,
        &["web_click: {ref: 'button \"Pai\"'}"],
        1,
        &["could not tap button \"Pai\"", "the nearest is button \"Pay\""],
    );
    check(page, &["web_pressKey: {key: Contrl+K}"], 1, &["`Contrl` in `Contrl+K` is not a key"]);
    check(page, &["web_upload: {ref: 'css=#text', files: [nowhere.txt]}"], 1, &["there is no file `"]);
    check(page, &["web_tabs: {action: SELECT, index: 7}"], 1, &["there is no tab 7; there are 1, counted from 0"]);
    check(page, &["tap: {text: Pay}"], 1, &["several elements match text \"Pay\""]);
    check(page, &["web_download: {timeoutMs: 100}"], 1, &["no download finished in time"]);
}

#[test]
fn a_page_whose_scripts_never_end_holds_up_nobody_for_longer_than_they_like() {
    let made = ["web_navigate: {url: page.html}", "tap: {text: Hang}", "assertVisible: {text: Never}"];
    let Some(shop) = Shop::with_own_browser(&calls(&made)) else { return };
    shop.project.write("trails/page.html", "<!doctype html><button onclick='for (;;);'>Hang</button>");
    let ran = shop.run(&["--timeout", "4s"], 1);
    assert!(ran.stdout.contains("the trail took longer than 4s"), "{}", ran.stdout);
}

#[test]
fn a_page_that_hangs_is_left_for_another() {
    for hang in [
        "setTimeout(() => { for (;;); })",
        "function hang() { setTimeout(hang); for (;;); } setTimeout(hang)",
        "onbeforeunload = () => {}; setTimeout(() => { for (;;); })",
    ] {
        let server = server();
        let made = [
            format!("web_navigate: {{url: '{server}/first'}}"),
            format!("web_evaluate: {{script: '{hang}; 1'}}"),
            format!("web_navigate: {{url: '{server}/second'}}"),
            "web_verifyTextVisible: {text: Not here}".to_string(),
            "web_waitForUrl: {pattern: '*/second'}".to_string(),
            "web_tabs: {action: CLOSE}".to_string(),
        ];
        let made: Vec<&str> = made.iter().map(String::as_str).collect();
        let Some(shop) = Shop::with_own_browser(&calls(&made)) else { return };
        let ran = shop.run(&[], 1);
        assert!(ran.stdout.contains("it is the only tab"), "only the last call fails: {}", ran.stdout);
    }
}

#[test]
fn a_script_that_is_given_up_is_stopped() {
    // It keeps a core busy for as long as a command of a driver may take.
    if !crate::support::is_full_tier() {
        return;
    }
    let Some(shop) = Shop::with_own_browser("") else { return };
    shop.project.write("page.html", "<!doctype html><p>Here</p>");
    let told = crate::browser::web::finding::feed(
        &shop,
        &["web_evaluate script='for (;;);'", "web_verifyTextVisible text=Here"],
    );
    let answers: Vec<&str> = told.lines().filter(|line| line.starts_with('{')).collect();
    assert!(answers[1].contains("\"ok\":false") && answers[1].contains("the script to end"), "{told}");
    assert!(answers[2].contains("\"ok\":true"), "{told}");
}

/// A server with a certificate that nobody has signed; none where it cannot be made. It ends when it is dropped.
fn unsigned_server(folder: &Path) -> Option<(String, Child)> {
    let port = TcpListener::bind("127.0.0.1:0").ok()?.local_addr().ok()?.port();
    let mut openssl = Command::new("openssl");
    openssl.current_dir(folder).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    let made = openssl
        .args(["req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=127.0.0.1"])
        .args(["-keyout", "key.pem", "-out", "cert.pem"])
        .status();
    if !made.is_ok_and(|status| status.success()) {
        skip::without_part("there is no `openssl` to make a certificate with");
        return None;
    }
    std::fs::write(folder.join("page.html"), "<!doctype html><p>Behind the certificate</p>").ok()?;
    let server = Command::new("openssl")
        .current_dir(folder)
        .args(["s_server", "-quiet", "-WWW", "-key", "key.pem", "-cert", "cert.pem", "-port", &port.to_string()])
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .ok()?;
    wait_until("the server listens", || TcpStream::connect(("127.0.0.1", port)).ok());
    Some((format!("https://127.0.0.1:{port}/page.html"), server))
}

#[test]
fn a_certificate_that_nobody_signed_is_refused_unless_the_project_says_otherwise() {
    let folder = tempfile::tempdir().expect("a folder");
    let Some((address, mut server)) = unsigned_server(folder.path()) else { return };
    let made =
        [format!("web_navigate: {{url: '{address}'}}"), "assertVisible: {text: Behind the certificate}".to_string()];
    let Some(shop) = Shop::open(&calls(&[&made[0], &made[1]])) else { return };
    let ran = shop.run(&[], 1);
    assert!(ran.stdout.contains("net::ERR_CERT_AUTHORITY_INVALID"), "{}", ran.stdout);
    let config = "devices: [{id: web/chromium}]\nbrowser: {ignoreCertificateErrors: true}\n";
    shop.project.write("trailblaze.yaml", config);
    shop.run(&[], 0);
    server.kill().expect("the server ends");
    server.wait().expect("the server has ended");
}
