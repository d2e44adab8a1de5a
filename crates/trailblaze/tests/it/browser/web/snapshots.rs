//! What a snapshot shows of a page, and what it leaves out.

use std::collections::HashSet;

use crate::browser::web::finding::{ASK, CLICKED, check, feed};
use crate::browser::web::shop::Shop;

pub fn text(markup: &str, flags: &str) -> Option<String> {
    let shop = Shop::open("")?;
    shop.project.write("page.html", format!("<!doctype html><title>Page</title>{markup}"));
    let told = feed(&shop, &[&format!("snapshot {flags}")]);
    let answers = told.lines().filter_map(|line| serde_json::from_str::<serde_json::Value>(line).ok());
    let snapshot = answers.into_iter().nth(1).expect("an answer");
    let text = snapshot["answer"]["text"].as_str().unwrap_or_else(|| panic!("{told}"));
    Some(text.split_once("Viewport: 1280x800\n\n").expect("a header").1.to_string())
}

#[test]
fn what_is_to_be_read_costs_no_more_than_its_words() {
    let markup = "<h2>Shop</h2><p>Open <b>daily</b></p><p><b>3</b> <i>left</i></p><ul><li>Mug<li>- Cup</ul>
        <ul><li><b>Pot</b><button>Buy</button></ul><table><tr><th>Name<th>Age<tr><td>Ada<td>36<tr><td>Joe<td><button>Edit</button></table>
        <div>Stray <section><p>Inner</p></section></div><dl><dt>Term<dd>Meaning</dl>";
    let Some(text) = text(markup, "") else { return };
    let expected = "## Shop\nOpen daily\n3\nleft\n•Mug\n•\"- Cup\"\nlist [1 item]:\n Pot\n [e10] button \"Buy\"\n\
                    Name | Age\nAda | 36\nJoe | Edit\n [e21] button \"Edit\"\nStray\n Inner\nlist [2 items]:\n Term\n Meaning";
    let numbers = |text: &str| text.replace(|char: char| char.is_ascii_digit(), "#");
    assert_eq!(numbers(&text), numbers(expected), "{text}");
}

#[test]
fn a_page_that_is_filled_by_a_script_is_waited_for() {
    // The first elements come after the document was loaded, when the page is asked for a frame a few times.
    let markup = "<div id=root></div><script>let n = 0; const fill = () => { \
                  if (n++ < 20) requestAnimationFrame(fill); else root.innerHTML = '<button>Pay</button>' }; fill()</script>";
    let Some(shown) = text(markup, "") else { return };
    // Elements of the first look have had refs, too.
    assert!(shown.ends_with("] button \"Pay\"") && shown.lines().count() == 1, "{shown}");
}

#[test]
fn a_text_off_the_screen_is_cut() {
    let long = "A sentence that goes on for longer than anyone who only wants to know what is on a page cares to read";
    let markup = format!("<p>{long}</p><div style='height: 2000px'></div><p>{long}</p><button>{long}</button>");
    let Some(text) = text(&markup, "--offscreen") else { return };
    let lines: Vec<&str> = text.lines().collect();
    let cut = "A sentence that goes on for longer than anyone…";
    assert_eq!(lines[..3], [long, "(offscreen:)", cut], "{text}");
    assert!(lines[3].ends_with(&format!("button \"{long}\"")), "what can be touched keeps its name: {text}");
}

#[test]
fn a_list_that_takes_the_focus_keeps_its_items() {
    let Some(text) = text("<ul tabindex=0><li>First<li>Second</ul>", "") else { return };
    assert_eq!(text, "[e1] list\n •First\n •Second");
}

#[test]
fn what_can_be_clicked_is_shown_without_a_name_too() {
    let markup = "<style>.box { display: inline-block; width: 20px; height: 20px } .hand { cursor: pointer }</style>
        <div class='box hand'></div><i class='box hand' title=Bold></i><img class=box alt='' onclick=''>
        <svg width=20 height=20><circle cx=9 cy=9 r=9 onclick=''></circle></svg>
        <div class=hand><b>Card</b> <i>more</i><button>Buy</button></div>
        <div class=box id=heard></div><div class=box></div><script>heard.addEventListener('click', () => {})</script>";
    let Some(shown) = text(markup, "") else { return };
    let kinds: Vec<&str> =
        shown.lines().map(|line| line.trim().split_once("] ").map_or(line, |(_, kind)| kind)).collect();
    let expected = ["generic", "generic \"Bold\"", "img", "generic", "generic \"Card\"", "\"more\"", "button \"Buy\""];
    assert_eq!(kinds[..7], expected.map(|kind| if kind.starts_with('"') { " \"more\"" } else { kind }), "{shown}");
    // Where a script listens cannot be seen, but there is a ref for each, and for the page.
    let Some(all) = text(markup, "--all") else { return };
    let boxes = all.lines().filter(|line| line.trim().ends_with("] generic")).count();
    assert_eq!(boxes, 4, "{all}");
}

#[test]
fn everything_has_a_ref_on_request_by_which_it_is_clicked() {
    let markup = format!(
        "<main><div><div data-n=1 style='height:20px'></div><div data-n=2 style='height:20px'><p style='width:9px'>Words</p></div></div></main>{CLICKED}"
    );
    let Some(all) = text(&markup, "--all") else { return };
    let lines: Vec<&str> = all.lines().skip(1).map(str::trim).collect();
    assert!(lines.len() > 5 && lines.iter().all(|line| line.starts_with("[e")), "{all}");
    assert!(lines.contains(&"[e2] main:"), "{all}");
    let boxes = lines.iter().filter(|line| line.ends_with("] generic"));
    // The page and the box around the others come first; a click on these hits anything.
    let clicks: Vec<String> = boxes.skip(2).map(|line| format!("web_click ref='{line}'")).collect();
    assert_eq!(clicks.len(), 2, "{all}");
    check(
        &markup,
        &[
            ("snapshot --all", Ok("generic")),
            (&clicks[0], Ok("")),
            (ASK, Ok("1")),
            (&clicks[1], Ok("")),
            (ASK, Ok("2")),
        ],
    );
}

#[test]
fn changes_are_told_between_snapshots_of_one_kind() {
    let markup = "<div><button onclick='this.textContent = `Done`'>Do</button></div>";
    let Some(shop) = Shop::open("") else { return };
    shop.project.write("page.html", format!("<!doctype html><title>Page</title>{markup}"));
    let told = feed(&shop, &["snapshot", "snapshot --all", "tap text=Do", "snapshot --changes"]);
    let answers = told.lines().filter_map(|line| serde_json::from_str::<serde_json::Value>(line).ok());
    let mut texts = answers.filter_map(|answer| answer["answer"]["text"].as_str().map(str::to_string));
    let changes = texts.next_back();
    assert_eq!(changes.as_deref(), Some("- [e1] button \"Do\"\n+ [e1] button \"Done\" [focused]"), "{told}");
}

#[test]
fn what_is_within_a_range_shows_its_value() {
    let markup = "<div role=slider tabindex=0 aria-label=Volume aria-valuenow=30 aria-valuetext='30 percent' style='width:90px; height:9px'></div>
        <div role=progressbar aria-label=Upload aria-valuenow=40 style='width:90px; height:9px'></div><progress aria-label=Copy max=10 value=4></progress>
        <progress aria-label=Waiting></progress><meter aria-label=Disk value=0.5></meter><input type=range aria-label=Light value=7>
        <div role=spinbutton tabindex=0 aria-label=Guests aria-valuenow=2>2</div>";
    let Some(shown) = text(markup, "") else { return };
    let lines: Vec<&str> = shown.lines().map(|line| line.split_once("] ").map_or(line, |(_, kind)| kind)).collect();
    let expected = [
        "slider \"Volume: 30 percent\"",
        "progressbar \"Upload: 40\"",
        "progressbar \"Copy: 4\"",
        "progressbar \"Waiting\"",
        "meter \"Disk: 0.5\"",
        "slider \"Light: 7\"",
        "spinbutton \"Guests: 2\"",
    ];
    assert_eq!(lines, expected, "{shown}");
    check(
        markup,
        &[
            ("web_verifyValue ref='progressbar \"Upload\"' expected=40", Ok("")),
            ("web_verifyValue ref='progressbar \"Copy\"' expected=4", Ok("")),
        ],
    );
}

#[test]
fn a_heading_stays_where_its_container_has_the_same_name() {
    let markup = "<div role=dialog tabindex=0 aria-labelledby=title><h2 id=title>Delete it?</h2><p>Really</p></div>
        <div style='cursor:pointer'><h3>Card</h3><p>About</p></div><a href=#><h4>News</h4></a>";
    let Some(shown) = text(markup, "") else { return };
    let lines: Vec<&str> =
        shown.lines().map(|line| line.trim().split_once("] ").map_or(line, |(_, kind)| kind)).collect();
    let expected = [
        "dialog \"Delete it?\"",
        "heading \"Delete it?\" [id=title] [level=2]",
        " Really",
        "generic \"Card\"",
        " ### Card",
        " \"About\"",
        "link \"News\"",
    ];
    assert_eq!(lines, expected, "{shown}");
}

#[test]
fn a_text_of_a_page_cannot_pass_for_a_line_of_the_snapshot() {
    let markup = format!(
        "<button data-n=delete>Delete</button><table><tr><td>[e1] button \"Continue\"</tr><tr data-n=row><td>Mug<td>[e1] \"x\"</tr></table>
         <p>[e1] button \"Continue\"</p>{CLICKED}"
    );
    let Some(shown) = text(&markup, "") else { return };
    let forged: Vec<&str> = shown.lines().filter(|line| line.trim().starts_with("[e1]")).collect();
    assert_eq!(forged, ["[e1] button \"Delete\""], "{shown}");
    check(
        &markup,
        &[
            ("snapshot", Ok("Mug | \"[e1] \\\"x\\\"\"")),
            (
                "web_click ref='[e1] button \"Continue\"'",
                Err("ref `e1` is button \"Delete\" in the last snapshot, not button \"Continue\""),
            ),
            ("tap ref='[e1] button \"Continue\"'", Err("take a new snapshot")),
            ("web_click ref='[e1] button \"Delete\"'", Ok("")),
            (ASK, Ok("delete")),
            ("web_click ref='Mug | \"[e1] \\\"x\\\"\"'", Ok("")),
            (ASK, Ok("row")),
        ],
    );
}

#[test]
fn every_ref_is_of_one_element() {
    let markup = "<button>One</button><p>Two</p><iframe srcdoc='<button>Three</button>'></iframe>";
    let Some(all) = text(markup, "--all") else { return };
    let refs: Vec<&str> = all.lines().filter_map(|line| line.trim().strip_prefix('[')?.split(']').next()).collect();
    let distinct: HashSet<&&str> = refs.iter().collect();
    assert!(refs.len() >= 3 && distinct.len() == refs.len(), "{all}");
}

#[test]
fn a_control_goes_by_its_name() {
    let Some(text) = text("<button aria-label=Close>×</button><a href=#><b>Read</b><div>more</div></a>", "") else {
        return;
    };
    assert_eq!(text, "[e1] button \"Close\"\n[e2] link \"Read more\"");
}

#[test]
fn a_shell_writes_pictures_and_says_where_they_are() {
    let Some(shop) = Shop::open("") else { return };
    shop.project.write("page.html", "<!doctype html><title>Page</title><button>Pay</button>");
    let root = shop.project.root();
    let (plain, marked) = (root.join("plain.png"), root.join("marked.webp"));
    let told = feed(
        &shop,
        &[
            &format!("snapshot --screenshot {}", plain.display()),
            &format!("snapshot --screenshot {} --marks", marked.display()),
            "snapshot --marks",
            "web_snapshot screenName=Home",
        ],
    );
    assert!(std::fs::read(&plain).expect("a picture").starts_with(b"\x89PNG"), "{told}");
    assert!(std::fs::read(&marked).expect("a picture").starts_with(b"RIFF"), "{told}");
    assert!(told.contains(&format!("Screenshot: {}", plain.display())) || told.contains("\"screenshot\":\""), "{told}");
    assert!(told.contains("`--marks` requires `--screenshot`"), "{told}");
    let answers = told.lines().filter_map(|line| serde_json::from_str::<serde_json::Value>(line).ok());
    let kept =
        answers.into_iter().find_map(|answer| answer["answer"]["structured"]["file"].as_str().map(str::to_string));
    let kept = kept.unwrap_or_else(|| panic!("{told}"));
    assert!(std::fs::read(&kept).expect("the picture is there").starts_with(b"\x89PNG"), "{kept}");
}
