//! Secrets in a real browser: its page may do anything with them, and the record tells none of it.

use std::process::Stdio;

use crate::browser::web::shop::{Shop, calls};
use crate::support::files;

const SECRET: &str = "p\"w\\ö/& 1<x>";
/// As an address, a script and a form spell it.
const SPELLED: [&str; 6] = [
    SECRET,
    "p%22w\\%C3%B6/&%201%3Cx%3E",
    "p%22w%5C%C3%B6%2F%26%201%3Cx%3E",
    "p%22w%5C%C3%B6%2F%26+1%3Cx%3E",
    "p\\\"w\\\\ö/& 1<x>",
    "cCJ3XMO2LyYgMTx4P",
];

const PAGE: &str = "<!doctype html><meta charset=utf-8><p id=a></p><p id=b></p><p id=c></p><p id=d></p><a id=e>Link</a><input aria-label=Code>
<script>
  const secret = decodeURIComponent(location.search.slice(6)), encoded = encodeURIComponent(secret);
  const all = [secret, encoded, new URLSearchParams({q: secret}).toString(), JSON.stringify({q: secret})];
  all.push(btoa(unescape(encodeURIComponent(secret))));
  document.title = 'Title ' + secret;
  [a.textContent, b.textContent, c.textContent, d.textContent] = all;
  e.href = '/' + encoded;
  e.title = all[3];
  document.querySelector('input').value = secret;
  all.forEach((one) => console.error('said ' + one));
  fetch('http://127.0.0.1:9/' + encoded + '?' + all[2]).catch(() => {});
  setTimeout(() => { throw new Error('thrown ' + all.join(' , ')) });
  history.replaceState(null, '', location.search + '#' + secret);
  alert(secret);
</script>";

#[test]
fn what_a_page_does_with_a_secret_is_not_told() {
    let Some(shop) = Shop::open("") else { return };
    let address = format!("file://{}/page.html", shop.project.root().display());
    let open = format!("openUrl: {{url: '{address}?code={{{{PIN}}}}'}}");
    let made = calls(&[
        &open,
        "web_waitForUrl: {pattern: '*?code={{PIN}}*', timeoutMs: 5000}",
        "web_currentUrl: {}",
        "web_console: {}",
        "captureScreen: {}",
        "web_evaluate: {script: 'JSON.stringify([location.href, secret, all])'}",
        "web_verifyTextVisible: {text: '{{PIN}}'}",
        "rememberElementText: {id: a, variable: seen}",
        "dumpMemory: {}",
        "waitUntilVisible: {text: 'Nowhere {{PIN}}', timeoutMs: 100}",
    ]);
    shop.project.write("page.html", PAGE);
    shop.project.write("trails/shop.trail.yaml", format!("trail:\n  - step: Shop\n    tools:\n{made}"));
    let mut command = shop.command(&["run", "--pictures", "action", "--secret", "PIN"]);
    command.env("PIN", SECRET);
    let ran = shop.project.finish(command).exits(1);
    let said = format!("{}{}", ran.stdout, ran.stderr);
    assert!(said.contains("Nowhere {{PIN}}"), "the last call is the one that fails: {said}");
    let run = shop.project.last_run();
    assert!(run.mentions("code={{PIN}}") > 0 && run.mentions("said {{PIN}}") > 0, "{}", run.text("events.jsonl"));
    let trees: String =
        files(&run.path.join("trees")).iter().map(|file| std::fs::read_to_string(file).unwrap()).collect();
    assert!(trees.contains("?code={{PIN}}#{{PIN}}"), "{trees}");
    for file in files(&run.path) {
        let bytes = std::fs::read(&file).unwrap();
        let text = String::from_utf8_lossy(&bytes);
        for spelled in SPELLED {
            assert!(!text.contains(spelled), "{spelled} in {}", file.display());
            // Within the JSON of a record or a page.
            let quoted = serde_json::to_string(spelled).unwrap();
            assert!(!text.contains(&quoted[1..quoted.len() - 1]), "{quoted} in {}", file.display());
        }
    }
    assert!(!SPELLED.iter().any(|spelled| said.contains(spelled)), "{said}");
}

#[test]
fn a_secret_in_the_title_masks_nothing() {
    let Some(shop) = Shop::open(&calls(&["web_navigate: {url: page.html}", "tap: {text: Press}"])) else { return };
    let page = "<!doctype html><title>hunter22</title><body style='background: #ff0000'><button>Press</button>";
    shop.project.write("trails/page.html", page);
    let mut command = shop.command(&["run", "--pictures", "action", "--secret", "PIN"]);
    command.env("PIN", "hunter22");
    shop.project.finish(command).exits(0);
    let is_red = |file: &std::path::PathBuf| {
        let file = std::io::BufReader::new(std::fs::File::open(file).expect("a picture"));
        let mut reader = png::Decoder::new(file).read_info().expect("a PNG");
        let mut pixels = vec![0; reader.output_buffer_size().expect("a size")];
        let info = reader.next_frame(&mut pixels).expect("a picture");
        let row = &pixels[info.line_size * (info.height as usize / 2)..];
        row.starts_with(&[255, 0, 0])
    };
    let pictures = files(&shop.project.last_run().path.join("pictures"));
    assert!(pictures.iter().any(is_red), "the page is as it was drawn: {pictures:?}");
}

/// Ways to display a secret, each in a color of its own, so that one that is left in a picture can be named.
const DISPLAYED: [&str; 20] = [
    "<p style='COLOR'>hunter22</p>",
    "<label style='COLOR'><input type=checkbox> hunter22</label>",
    "<input type=checkbox id=box><label for=box style='COLOR'>hunter22</label>",
    "<p>Code <span aria-hidden=true style='COLOR'>hunter22</span></p>",
    "<div inert style='COLOR'>hunter22</div>",
    "<div style='display: contents; COLOR'>hunter22</div>",
    "<style>.a::before { content: 'hunter22'; COLOR }</style><div class=a></div>",
    "<style>.b::after { content: attr(data-code); position: absolute; left: 500px; COLOR }</style><div class=b data-code=hunter22></div>",
    "<style>.c::marker { COLOR }</style><ul><li class=c style='list-style-type: \"hunter22 \"'>x</ul>",
    "<div style='width: 5px; height: 24px; white-space: nowrap; COLOR'>hunter22</div>",
    "<div style='COLOR'><b>h</b><b>u</b><b>n</b><b>t</b><b>e</b><b>r</b><b>2</b><b>2</b></div>",
    "<div style='display: flex; COLOR'><p>h</p> <p>u</p> <p>n</p> <p>t</p> <p>e</p> <p>r</p> <p>2</p> <p>2</p></div>",
    "<p style='COLOR'>hun&shy;ter22</p>",
    "<p style='COLOR'>hunt&#8203;er22</p>",
    "<p style='text-transform: uppercase; COLOR'>hunter22</p>",
    "<div aria-hidden=true><input value=hunter22 style='COLOR'></div>",
    "<div inert><select style='COLOR'><option>hunter22</select></div>",
    "<svg width=200 height=30><text x=5 y=24 style='fill: currentColor; COLOR'>hunter22</text></svg>",
    "<div style='transform: translateX(300px) rotate(4deg); width: 150px; COLOR'>hunter22</div>",
    "<iframe width=300 height=40 style='border: 3px solid; padding: 4px' srcdoc='<body style=\"margin: 0; COLOR\" aria-hidden=true>hunter22'></iframe>",
];

#[test]
fn a_picture_shows_no_secret_however_the_page_displays_it() {
    let Some(shop) = Shop::open(&calls(&["web_navigate: {url: page.html}", "captureScreen: {}", "tap: {text: Press}"]))
    else {
        return;
    };
    let color = |n: usize| [255, 10 * u8::try_from(n).unwrap(), 0];
    let styled = |(n, html): (usize, &&str)| {
        let [red, green, blue] = color(n);
        html.replace("COLOR", &format!("color: rgb({red}, {green}, {blue}); font: bold 24px sans-serif"))
    };
    let body: String = DISPLAYED.iter().enumerate().map(styled).collect();
    let style = "body { columns: 3 } * { margin: 0 } button { color: #0000ff; font: bold 24px sans-serif }";
    let page = format!("<!doctype html><meta charset=utf-8><style>{style}</style><button>Press</button>{body}");
    shop.project.write("trails/page.html", page);
    let mut command = shop.command(&["run", "--pictures", "action", "--secret", "PIN"]);
    command.env("PIN", "hunter22");
    shop.project.finish(command).exits(0);
    let run = shop.project.last_run();
    let mut is_drawn = false;
    for file in files(&run.path.join("pictures")) {
        let colors = colors_of(&file);
        is_drawn |= colors.contains(&[0, 0, 255]);
        let left: Vec<&str> =
            (0..DISPLAYED.len()).filter(|n| colors.contains(&color(*n))).map(|n| DISPLAYED[n]).collect();
        assert!(left.is_empty(), "{} shows {left:#?}", file.display());
    }
    assert!(is_drawn, "the rest of the page is as it was drawn");
    let record = run.text("events.jsonl");
    for hidden in ["hunter22", "hun\u{ad}ter22", "hunt\u{200b}er22"] {
        assert!(!record.contains(hidden), "{hidden:?} in {record}");
    }
    assert!(record.contains("{{PIN}}"), "{record}");
}

fn colors_of(file: &std::path::Path) -> std::collections::BTreeSet<[u8; 3]> {
    let file = std::io::BufReader::new(std::fs::File::open(file).expect("a picture"));
    let mut reader = png::Decoder::new(file).read_info().expect("a PNG");
    let mut pixels = vec![0; reader.output_buffer_size().expect("a size")];
    let info = reader.next_frame(&mut pixels).expect("a picture");
    let pixels = pixels.chunks_exact(info.line_size / info.width as usize);
    pixels.map(|pixel| [pixel[0], pixel[1], pixel[2]]).collect()
}

/// Secrets are not in the environment of a browser, and nothing of a killed one is left.
#[cfg(target_os = "linux")]
#[test]
fn a_browser_gets_no_secret_and_leaves_no_file_when_it_is_killed() {
    use crate::support::{Running, wait_until};

    let Some(shop) = Shop::with_own_browser(&calls(&["waitUntilVisible: {text: Nowhere, timeoutMs: 60000}"])) else {
        return;
    };
    let temp = shop.project.root().join("temp");
    std::fs::create_dir(&temp).unwrap();
    let mut command = shop.command(&["run", "--pictures", "off", "--secret", "PIN"]);
    command.env("PIN", SECRET).env("TMPDIR", &temp).stdout(Stdio::piped()).stderr(Stdio::piped());
    let running = Running::of(command.spawn().unwrap());
    wait_until("it waits", || (shop.project.runs().first()?.mentions("waitUntilVisible") > 0).then_some(()));
    let profile = std::fs::read_dir(&temp).unwrap().flatten().next().expect("a profile").path();
    let mode = std::os::unix::fs::PermissionsExt::mode(&profile.metadata().unwrap().permissions()) & 0o777;
    assert_eq!(mode, 0o700, "{}", profile.display());
    let all: Vec<String> = shop.mark.alive();
    let browsers: Vec<&String> =
        all.iter().filter(|line| line.contains("--user-data-dir") && !line.contains("(guardian)")).collect();
    let pid = |line: &str| line.split(' ').next().unwrap().to_string();
    for browser in &browsers {
        let environment = std::fs::read(format!("/proc/{}/environ", pid(browser))).unwrap_or_default();
        assert!(!String::from_utf8_lossy(&environment).contains("PIN="), "{browser}");
    }
    let main = browsers.iter().find(|line| !line.contains("--type=")).expect("a browser");
    assert!(std::process::Command::new("kill").args(["-9", &pid(main)]).status().unwrap().success());
    shop.project.ended(running).exits(2);
    shop.mark.wait_until_none_left_blocking();
    let left: Vec<_> = std::fs::read_dir(&temp).unwrap().flatten().map(|entry| entry.path()).collect();
    assert!(left.is_empty(), "{left:?}");
}
