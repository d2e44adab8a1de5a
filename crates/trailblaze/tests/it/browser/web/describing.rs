//! Descriptions of elements: all that they say must hold, and what they cannot say is refused.

use crate::browser::web::finding::{ASK, CLICKED, check};

#[test]
fn a_mark_behind_a_name_is_a_state_that_must_hold() {
    let markup = "<label><input type=checkbox checked> Agree [really]</label><button disabled>Save</button><button>Send</button>";
    let verify = |described: &str| format!("web_verifyElementVisible timeoutMs=0 ref='{described}'");
    check(
        markup,
        &[
            (&verify("checkbox \"Agree [really]\" [checked]"), Ok("")),
            (&verify("checkbox \"Agree [really]\" [unchecked]"), Err("nothing on the screen matches checkbox")),
            (&verify("button \"Save\" [disabled]"), Ok("")),
            (&verify("button \"Send\" [disabled]"), Err("nothing on the screen matches button")),
            (&verify("button [disabled]"), Ok("")),
            (&verify("button \"Send\" [id=wrong]"), Err("nothing on the screen matches button")),
            (&verify("button \"Send\" [nonsense]"), Err("`[nonsense]` is not a mark of a snapshot")),
            ("tap ref='button \"Send\" [nonsense]'", Err("`[nonsense]` is not a mark of a snapshot")),
        ],
    );
}

#[test]
fn a_whole_name_comes_before_a_text() {
    let markup = format!("<button data-n=1 aria-label='5 May'>5</button><button data-n=2>5</button>{CLICKED}");
    check(&markup, &[("web_click ref='button \"5\"'", Ok("")), (ASK, Ok("2"))]);
}

#[test]
fn what_follows_a_name_is_honoured_or_refused() {
    let markup = format!(
        "<h2>Cart</h2><ul><li>Mug <button data-n=1>Remove</button></li><li>Cup <button data-n=2>Remove</button></li></ul>
         <section aria-label=Sidebar><button data-n=3>close</button></section><section aria-label=Main><button data-n=4>close all</button></section>
         <h2>Rest</h2><p><button data-n=5>Remove</button></p>{CLICKED}"
    );
    let click = |described: &str| format!("web_click timeoutMs=0 ref='{described}'");
    check(
        &markup,
        &[
            (
                &click("button \"Remove\""),
                Err(
                    "0: button \"Remove\" in listitem \"Mug Remove\", 1: button \"Remove\" in listitem \"Cup Remove\", 2: button \"Remove\" under heading \"Rest\"",
                ),
            ),
            (&click("button \"Remove\" in listitem \"Cup Remove\""), Ok("")),
            (ASK, Ok("2")),
            (&click("button \"Remove\" in listitem \"mug\""), Ok("")),
            (ASK, Ok("1")),
            (&click("button \"Remove\" under heading \"Rest\""), Ok("")),
            (ASK, Ok("5")),
            (
                &click("button \"Remove\" in listitem \"Nowhere\""),
                Err("nothing on the screen matches button \"Remove\" in listitem"),
            ),
            (&click("button \"close all\" in region \"Sidebar\""), Err("nothing on the screen matches button")),
            (&click("button \"close\" in region \"Main\""), Ok("")),
            (ASK, Ok("4")),
            (&click("css=li \"Cup\" button"), Err("`button` is not understood there")),
            (&click("button \"Remove\" of the cup"), Err("`of the cup` is not understood there")),
            ("tap ref='button \"Remove\" in listitem \"Cup Remove\"'", Ok("")),
            (ASK, Ok("2")),
            ("longPress ref='button \"Remove\" later'", Err("`later` is not understood there")),
        ],
    );
}

#[test]
fn lines_of_a_snapshot_are_pasted_back_without_a_snapshot_too() {
    let markup = format!(
        "<table><tr><th>Item<th>Count</tr><tr data-n=1><td>Mug<td>2</tr><tr data-n=2><td>Cup | big<td>3</tr></table>
         <p data-n=3>Press \"here\" [now]</p><nav aria-label=Main><a href=# data-n=4>Home</a></nav><button data-n=5>Pay</button>{CLICKED}"
    );
    check(
        &markup,
        &[
            ("web_click ref='[e99] button \"Pay\"'", Ok("")),
            (ASK, Ok("5")),
            ("tap ref='[e99] button \"Pay\"'", Ok("")),
            (ASK, Ok("5")),
            ("web_click ref=e99", Err("unknown ref `e99`: no snapshot has shown it")),
            ("snapshot", Ok("\"Press \\\"here\\\" [now]\"")),
            ("web_click ref='Mug | 2'", Ok("")),
            (ASK, Ok("1")),
            ("web_click ref='Cup | big | 3'", Ok("")),
            (ASK, Ok("2")),
            ("web_click ref='\"Press \\\"here\\\" [now]\"'", Ok("")),
            (ASK, Ok("3")),
            ("web_verifyElementVisible ref='navigation \"Main\":'", Ok("")),
        ],
    );
}

#[test]
fn an_index_counts_as_the_snapshot_lists() {
    // Reading from the top down, the second comes first.
    let markup = format!(
        "<button data-n=1 style='position:absolute; top:200px'>Go</button><button data-n=2 style='position:absolute; top:50px'>Go</button>{CLICKED}"
    );
    check(
        &markup,
        &[
            ("web_click timeoutMs=0 ref='button \"Go\"'", Err("0: button \"Go\" at")),
            ("web_click ref='button \"Go\"' index=0", Ok("")),
            (ASK, Ok("1")),
            ("tap text=Go index=1", Ok("")),
            (ASK, Ok("2")),
        ],
    );
}

#[test]
fn why_an_element_cannot_be_touched_is_said_plainly() {
    let markup = "<button style='position:absolute; left:-9999px'>Way Off</button>\
                  <button style='width:0; height:0; padding:0; border:0; overflow:hidden'>Flat</button><div role=tab>Open</div>";
    check(
        markup,
        &[
            (
                "web_click timeoutMs=0 ref='button \"Way Off\"'",
                Err("button \"Way Off\" exists, but is hidden: it lies outside the page"),
            ),
            (
                "web_click timeoutMs=0 ref='button \"Flat\"'",
                Err("button \"Flat\" exists, but is hidden: it has no size"),
            ),
            ("tap timeoutMs=0 text=Flat", Err("hidden: it has no size")),
            ("web_click timeoutMs=0 ref='button \"nope\"'", Err("nothing on the screen matches button \"nope\"")),
        ],
    );
    let told = crate::browser::web::finding::explore(markup, &["web_click timeoutMs=0 ref='button \"nope\"'"]);
    assert!(told.is_none_or(|told| !told.contains("nearest")), "nothing is near");
}
