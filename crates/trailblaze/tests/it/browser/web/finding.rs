//! Finding elements on a page: by what a snapshot prints, by texts, by ids, and what is said when that does not work.

use crate::browser::web::shop::Shop;

/// Opens a page of this markup in a shell and feeds it these lines; what they answered, in order.
pub fn explore(markup: &str, lines: &[&str]) -> Option<String> {
    let shop = Shop::open("")?;
    shop.project.write("page.html", page_of(markup));
    Some(feed(&shop, lines))
}

fn page_of(markup: &str) -> String {
    format!("<!doctype html><title>Page</title>{markup}")
}

pub fn feed(shop: &Shop, lines: &[&str]) -> String {
    let address = format!("web_navigate url=file://{}/page.html", shop.project.root().display());
    let lines = [&[address.as_str()], lines, &["quit"]].concat().join("\n");
    let ran = shop.project.feed(&["shell", "-d", "web/chromium", "--json"], &format!("{lines}\n"));
    format!("{}{}", ran.stdout, ran.stderr)
}

/// The answer to each line on the page of a shop: what it says, or why it failed.
pub fn ask(shop: &Shop, lines: &[&str]) -> Vec<Result<String, String>> {
    let told = feed(shop, lines);
    let answers = told.lines().filter_map(|line| serde_json::from_str::<serde_json::Value>(line).ok());
    let answers = answers.map(|answer| match (answer["ok"].as_bool(), &answer["answer"]) {
        (Some(true), answer) => Ok(answer["text"].as_str().map_or_else(|| answer.to_string(), str::to_string)),
        _ => Err(answer["error"].as_str().unwrap_or_default().to_string()),
    });
    // The first one opens the page.
    answers.skip(1).collect()
}

/// Checks what each line answers: text that must be in it, or in the reason why it failed.
#[track_caller]
pub fn check(markup: &str, lines: &[(&str, Result<&str, &str>)]) {
    let asked: Vec<&str> = lines.iter().map(|(line, _)| *line).collect();
    let Some(shop) = Shop::open("") else { return };
    shop.project.write("page.html", page_of(markup));
    let answers = ask(&shop, &asked);
    assert_eq!(answers.len(), lines.len(), "{answers:#?}");
    for ((line, expected), answer) in lines.iter().zip(&answers) {
        let is_so = match (expected, answer) {
            (Ok(part), Ok(whole)) | (Err(part), Err(whole)) => whole.contains(part),
            _ => false,
        };
        assert!(is_so, "{line}\nexpected {expected:?}\ngot {answer:?}");
    }
}

/// Tells the number of the last element that was clicked.
pub const CLICKED: &str = "<script>let clicked = ''; addEventListener('click', (event) => {
    clicked = event.composedPath().find((one) => one.dataset?.n)?.dataset.n ?? 'nothing'; event.preventDefault();
}, true)</script>";
pub const ASK: &str = "web_evaluate script=clicked";

#[test]
fn what_a_snapshot_prints_can_be_pasted_back() {
    let Some(shop) = Shop::open("") else { return };
    let markup = r#"
        <button data-n=1>Sign in</button> <a data-n=2 href='#'>Sign in with a key</a>
        <input data-n=3 value="New Tiddler"> <label>City <input data-n=4 value="Rome"></label>
        <label>Size <select data-n=5><option>Small<option>Large</select></label>
        <label><input type=checkbox data-n=6 checked> News</label>
        <button data-n=7 aria-label="Close &quot;it&quot; \ now">×</button>
        <button data-n=8 id="a.b:c">Odd</button>
        <div data-n=9 style="cursor: pointer"><h3>Card</h3><p>About it</p></div>
        <div data-n=10 tabindex=0 id=box style="width: 20px; height: 20px"></div>
        <p>One <span data-n=11 onclick="">beta</span> three</p>
        <ul data-n=12 tabindex=0 aria-label="Choices"><li>First<li>Second</ul>
        <textarea data-n=13 placeholder="Say more"></textarea>
        <input data-n=14 type=range aria-label=Volume value=40>"#;
    shop.project.write("page.html", format!("<!doctype html><title>Page</title>{markup}{CLICKED}"));
    let told = feed(&shop, &["snapshot"]);
    let told: serde_json::Value =
        told.lines().filter_map(|line| serde_json::from_str(line).ok()).nth(1).expect("a snapshot");
    let snapshot = told["answer"]["text"].as_str().expect("its text");
    let printed: Vec<&str> = snapshot.lines().map(str::trim).filter(|line| line.starts_with('[')).collect();
    assert_eq!(printed.len(), 14, "{snapshot}");
    let mut lines = Vec::new();
    for line in &printed {
        let (_, described) = line.split_once("] ").expect("a ref");
        lines.extend([format!("web_click ref='{described}'"), ASK.to_string()]);
    }
    // With its ref, the whole line means the element that it was printed for.
    lines.push("snapshot".to_string());
    for line in &printed {
        lines.extend([format!("web_click ref='{line}'"), ASK.to_string()]);
    }
    let told = feed(&shop, &lines.iter().map(String::as_str).collect::<Vec<_>>());
    let clicked: Vec<String> = told
        .lines()
        .filter_map(|line| serde_json::from_str::<serde_json::Value>(line).ok())
        .filter_map(|answer| answer["answer"]["structured"].as_str().map(str::to_string))
        .collect();
    let expected: Vec<String> = (1..=14).chain(1..=14).map(|n: i32| n.to_string()).collect();
    assert_eq!(clicked, expected, "{told}\n{snapshot}");
}

#[test]
fn a_description_that_fits_several_elements_is_refused_with_what_tells_them_apart() {
    let markup = format!(
        "<h2>Cart</h2><ul><li><b>Mug</b> <button data-n=1>Delete</button><li><b>Cup</b> <button data-n=2>Delete</button></ul>
         <form aria-label=Danger><button data-n=3 id=all>Delete</button></form>{CLICKED}"
    );
    let told = "several elements match button \"delete\": 0: button \"Delete\" in listitem \"Mug\", \
                1: button \"Delete\" in listitem \"Cup\", 2: button \"Delete\" [id=all] in form \"Danger\"; choose one with `index`";
    check(
        &markup,
        &[
            ("web_verifyElementVisible ref='button \"delete\"' timeoutMs=100", Err(told)),
            (
                "web_verifyElementVisible ref=css=button timeoutMs=100",
                Err("several elements match css=button: 0: button"),
            ),
            ("web_click ref='button \"Delete\"' index=1", Ok("")),
            (ASK, Ok("2")),
            ("web_click ref='button \"Delete\" [id=all]'", Ok("")),
            (ASK, Ok("3")),
            ("web_click ref='css=li button' index=0", Ok("")),
            (ASK, Ok("1")),
            ("web_click ref='button \"Delete\"' index=3", Err("index 3 is out of range: 3 match")),
            ("web_click ref='button \"Delete\"' index=-1", Err("`index` must be a non-negative integer, got -1")),
            // The tools of every platform take descriptions too.
            ("tap ref='button \"Delete\"' index=1", Ok("")),
            (ASK, Ok("2")),
            ("longPress ref='button \"Delete\" [id=all]'", Ok("")),
            (ASK, Ok("3")),
            ("assertVisible ref='button \"delete\" [id=all]'", Ok("visible")),
            // What recordings and the other tools say takes the first, as ever.
            ("tapOnElementWithText text=Delete", Ok("")),
            (ASK, Ok("1")),
            ("web_click nodeSelector='{\"web\": {\"cssSelector\": \"button\"}}'", Ok("")),
            (ASK, Ok("1")),
        ],
    );
}

#[test]
fn css_may_be_narrowed_by_a_text() {
    let markup = format!(
        "<ul><li data-n=1><b>Oat</b> <i>milk</i><li data-n=2>Butter<li data-n=3>Oats</ul><p>Oat milk is white</p>{CLICKED}"
    );
    check(
        &markup,
        &[
            ("web_click ref='css=li \"oat milk\"'", Ok("")),
            (ASK, Ok("1")),
            ("web_click ref='css=li:nth-child(n + 2) \"BUTTER\"'", Ok("")),
            (ASK, Ok("2")),
            ("web_verifyValue ref='css=li' index=0 type=TEXT expected='Oat milk'", Ok("")),
            ("web_verifyElementVisible ref='css=li \"Milk\"' timeoutMs=100", Ok("")),
            (
                "web_verifyElementVisible ref='css=li \"Cheese\"' timeoutMs=100",
                Err("nothing on the screen matches css=li"),
            ),
            ("web_verifyElementVisible ref='css=li \"Oat\"' timeoutMs=100", Err("1: listitem \"Oats\"")),
        ],
    );
}

#[test]
fn a_text_that_is_split_over_elements_is_one_text() {
    let markup = "<p><strong>3</strong> <span>items left</span></p>
        <footer><span class=count><b>4</b><span> tasks </span><a href=#>to do</a></span></footer>
        <div><div>Not</div><div>one</div></div><div><span class=block>Nor</span><span class=block>this</span></div>
        <style>.block { display: block } .none { display: contents }</style>
        <div><b>5</b> <x-p>apples left</x-p></div><div><x-p class=block>No</x-p> <x-p class=block>line</x-p></div>
        <div class=none>Without a box</div><p>It is <span class=none>so <x-p>very</x-p></span> near</p>";
    check(
        markup,
        &[
            ("web_verifyTextVisible text='3 items left'", Ok("visible")),
            ("assertVisible text='3 items left'", Ok("visible")),
            ("assertVisible text='items left'", Ok("visible")),
            ("hasText text='3 items left'", Ok("true")),
            ("assertVisibleWithText text='\\d items left'", Ok("visible")),
            ("assertVisible text='4 tasks to do'", Ok("visible")),
            ("web_verifyTextVisible text='tasks to'", Ok("visible")),
            ("hasText text='Not one'", Ok("false")),
            ("hasText text='Nor this'", Ok("false")),
            ("getElementCount text='3 items left'", Ok("1")),
            ("assertVisible text='5 apples left'", Ok("visible")),
            ("hasText text='No line'", Ok("false")),
            ("assertVisible text='Without a box'", Ok("visible")),
            ("tap text='Without a box'", Ok("")),
            ("assertVisible text='It is so very near'", Ok("visible")),
            ("snapshot", Ok("\nWithout a box\nIt is so very near")),
        ],
    );
}

#[test]
fn the_innermost_element_that_has_a_text_is_touched() {
    let markup = format!(
        "<p data-n=p style='width: 600px'>One <span data-n=beta onclick=''>beta</span> three, <b data-n=gamma>gamma</b> and \
         many words more</p><p>Please <b data-n=word>Pay</b> today</p><button data-n=pay>Pay</button>{CLICKED}"
    );
    check(
        &markup,
        &[
            ("tap text=beta", Ok("")),
            (ASK, Ok("beta")),
            ("tap text=gamma", Ok("")),
            (ASK, Ok("gamma")),
            ("tapOnElementWithText text=bet", Ok("")),
            (ASK, Ok("beta")),
            ("tapOnElementWithText text='amm'", Ok("")),
            (ASK, Ok("gamma")),
            ("web_click ref='gamma'", Ok("")),
            (ASK, Ok("gamma")),
            // A word in a text does not compete with an element of its own.
            ("tap text=Pay", Ok("")),
            (ASK, Ok("pay")),
        ],
    );
}

#[test]
fn ids_are_taken_as_they_are() {
    let markup = format!(
        "<button data-n=1 id='a.b:c'>One</button><button data-n=2 id=7up>Two</button><button data-n=3 id='x y'>Three</button>\
         <form id=form aria-label=Form><input name=id value=Named></form>{CLICKED}"
    );
    check(
        &markup,
        &[
            ("tap id=a.b:c", Ok("")),
            (ASK, Ok("1")),
            ("tap id=7up", Ok("")),
            (ASK, Ok("2")),
            ("tap id='x y'", Ok("")),
            (ASK, Ok("3")),
            ("tap id='#7up'", Ok("")),
            ("assertVisible id=form timeoutMs=100", Ok("form \"Form\"")),
            ("assertVisible id=a.b.c timeoutMs=100", Err("the nearest is button \"One\" [id=a.b:c]")),
            ("snapshot", Ok("[id=7up]")),
            // By ref it is recorded as what finds it again.
            ("tap ref=e2", Ok("")),
            (ASK, Ok("2")),
            ("web_click ref=e1", Ok("")),
            (ASK, Ok("1")),
        ],
    );
}

#[test]
fn what_is_hidden_is_said_to_be() {
    let markup = "<button id=save style='display: none'>Save</button><p style='visibility: hidden'>Soon</p>
        <div aria-hidden=true><button>Icon</button></div><div inert><button>Frozen</button></div>
        <details><summary>More</summary><button>Folded</button></details>
        <div style='visibility: hidden'>Around <b style='visibility: visible'>Shown</b></div>";
    check(
        markup,
        &[
            ("assertVisible id=save timeoutMs=100", Err("button \"Save\" exists, but is hidden: `display: none`")),
            (
                "assertVisible text=Soon timeoutMs=100",
                Err("paragraph \"Soon\" exists, but is hidden: `visibility: hidden`"),
            ),
            ("web_verifyElementVisible ref='button \"icon\"' timeoutMs=100", Err("hidden: `aria-hidden`")),
            ("web_verifyElementVisible ref=css=[inert] timeoutMs=100", Err("hidden: `inert`")),
            (
                "assertVisible text=Folded timeoutMs=100",
                Err("button \"Folded\" exists, but is hidden: its `details` are closed"),
            ),
            ("assertVisible text=Shown timeoutMs=100", Ok("visible")),
            ("assertNotVisibleWithText text=Save timeoutMs=100", Ok("")),
            ("isVisible text=Save", Ok("false")),
            (
                "web_evaluate script=\"document.body.insertAdjacentHTML('beforeend', '<div role=dialog aria-modal=true aria-label=Day>5 May</div>')\"",
                Ok(""),
            ),
            ("assertVisible text=Icon timeoutMs=100", Err("hidden: `aria-hidden`, while dialog \"Day\" is open")),
        ],
    );
}

#[test]
fn what_a_page_without_height_holds_is_visible() {
    // An editor that fills the window.
    let markup = "<style>body { overflow: hidden; margin: 0 }</style>
        <div style='position: absolute; left: 10px; top: 10px'><h1>Editor</h1><button>Deploy</button></div>";
    check(
        markup,
        &[
            ("assertVisible text=Editor timeoutMs=0", Ok("visible")),
            ("assertVisible ref='button \"Deploy\"' timeoutMs=0", Ok("visible")),
        ],
    );
}

#[test]
fn what_nobody_can_see_is_not_visible() {
    let markup = "<style>.only { position: absolute; width: 1px; height: 1px; overflow: hidden } .clip { position: absolute; clip: rect(0, 0, 0, 0) }
            .path { clip-path: inset(50%) } .shut { height: 0; overflow: hidden } .clear { opacity: 0 } .way { position: absolute; top: 300px; left: 0 }</style>
        <p class=only>For readers</p><p class=clip>Cut</p><p class=path>Path</p><div class=shut><p>Folded</p><button>Deep</button><p class=way>Outside</p></div>
        <div class=clear><p>Faint</p><button>Reveal</button></div><p>Price <span class=only>in dollars</span> 5</p>
        <a href=#>More <span class=only>about cats</span></a><p>Plain</p>";
    let hidden = |how: &'static str| Err(how);
    check(
        markup,
        &[
            ("assertVisible text=Plain timeoutMs=0", Ok("visible")),
            ("assertVisible text=Outside timeoutMs=0", Ok("visible")),
            ("assertVisible text='For readers' timeoutMs=0", hidden("hidden: it is clipped to nothing")),
            ("assertVisible text=Cut timeoutMs=0", hidden("hidden: it is clipped to nothing")),
            ("assertVisible text=Path timeoutMs=0", hidden("hidden: it is clipped to nothing")),
            ("assertVisible text=Folded timeoutMs=0", hidden("hidden: it is clipped to nothing")),
            ("assertVisible text=Deep timeoutMs=0", hidden("hidden: it is clipped to nothing")),
            ("assertVisible text=Faint timeoutMs=0", hidden("hidden: `opacity: 0`")),
            ("web_verifyElementVisible ref=css=.clear timeoutMs=0", hidden("hidden: `opacity: 0`")),
            ("assertNotVisibleWithText text=Faint timeoutMs=0", Ok("")),
            ("assertVisible text='Price 5' timeoutMs=0", Ok("visible")),
            ("hasText text='in dollars'", Ok("false")),
            // A name is what a screen reader says, and a control that shows itself under the pointer can be used.
            ("web_verifyElementVisible ref='link \"More about cats\"' timeoutMs=0", Ok("")),
            ("web_click ref='button \"Reveal\"'", Ok("")),
        ],
    );
}

#[test]
fn what_is_nearest_is_told_with_its_role_and_place() {
    let markup =
        "<nav aria-label=Main><a href=#>Sign in</a></nav><form aria-label=Join><button>Sign up</button></form>";
    check(
        markup,
        &[(
            "web_verifyElementVisible ref='button \"Sign in\"' timeoutMs=100",
            Err("the nearest are link \"Sign in\" in navigation \"Main\", button \"Sign up\" in form \"Join\""),
        )],
    );
}
