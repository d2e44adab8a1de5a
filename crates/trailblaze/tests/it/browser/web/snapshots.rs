//! What a snapshot shows of a page, and what it leaves out.

use std::collections::HashSet;

use crate::browser::web::finding::feed;
use crate::browser::web::shop::Shop;

fn text(markup: &str, flags: &str) -> Option<String> {
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
    assert_eq!(text, "[e1] list\n \"First\"\n \"Second\"");
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
    // Where a script listens cannot be seen, but there is a ref for each.
    let Some(all) = text(markup, "--all") else { return };
    let boxes = all.lines().filter(|line| line.trim().ends_with("] generic")).count();
    assert_eq!(boxes, 3, "{all}");
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
