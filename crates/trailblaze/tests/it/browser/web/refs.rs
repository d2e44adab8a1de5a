//! Which element a ref means after the page has changed.

use crate::browser::web::finding::check;

const STALE: Result<&str, &str> = Err("is no longer on the screen; take a new snapshot");

/// Two pages whose elements have the same refs.
const PAGES: &str = "<p>Page</p><script>document.write(location.search ? '<a href=page.html>Back</a>' : '<button>Alert me</button>')</script>";

#[test]
fn a_ref_does_not_mean_an_element_of_a_page_that_came_by_itself() {
    check(
        PAGES,
        &[
            ("snapshot", Ok("[e2] button \"Alert me\"")),
            ("web_evaluate script=\"setTimeout(() => { location.href = 'page.html?2' }, 20); 1\"", Ok("1")),
            ("web_waitForUrl pattern=page.html?2", Ok("")),
            ("tap ref=e2", Err("ref e2 is no longer on the screen; take a new snapshot")),
            ("web_click ref=e2", STALE),
            ("web_click ref='[e2] button \"Alert me\"'", STALE),
            ("web_fillForm fields='[{\"ref\": \"e2\", \"value\": \"Ada\"}]'", STALE),
            ("snapshot", Ok("[e2] link \"Back\"")),
            ("tap ref=e2", Ok("")),
            ("assertVisible text='Alert me'", Ok("")),
            // The call before led to this page, which nobody was shown.
            ("tap ref=e2", STALE),
        ],
    );
}

#[test]
fn a_ref_of_a_page_that_was_reloaded_is_stale() {
    check(
        "<button>Pay</button>",
        &[
            ("snapshot", Ok("[e1] button \"Pay\"")),
            ("web_navigate action=RELOAD", Ok("")),
            ("tap ref=e1", STALE),
            ("snapshot", Ok("[e1] button \"Pay\"")),
            ("tap ref=e1", Ok("")),
        ],
    );
}

#[test]
fn a_ref_of_a_frame_means_the_document_that_was_shown_in_it() {
    let replace =
        "document.querySelector('iframe').srcdoc = '<p>Second</p><button onclick=\\'this.append(2)\\'>Pay</button>'";
    check(
        "<button>Outside</button><iframe srcdoc=\"<button onclick='this.append(1)'>Pay</button><p>First</p>\"></iframe>",
        &[
            ("snapshot", Ok("[f1e1] button \"Pay\"")),
            ("tap ref=f1e1", Ok("")),
            ("tap ref=f1e1", Ok("")),
            ("assertVisible text=Pay11", Ok("")),
            (&format!("web_evaluate script=\"{replace}; 1\""), Ok("1")),
            ("assertVisible text=Second", Ok("")),
            ("tap ref=f1e1", STALE),
            ("tap ref=e1", Ok("")),
            ("snapshot", Ok("[f1e2] button \"Pay\"")),
            ("tap ref=f1e2", Ok("")),
            ("assertVisible text=Pay2", Ok("")),
        ],
    );
}

#[test]
fn a_ref_of_one_tab_means_nothing_in_another() {
    check(
        PAGES,
        &[
            ("snapshot", Ok("button \"Alert me\"")),
            ("web_evaluate script=\"window.open('page.html?2'); 1\"", Ok("1")),
            ("web_waitForUrl pattern=page.html?2", Ok("")),
            ("tap ref=e2", STALE),
            ("web_tabs action=CLOSE", Ok("")),
            ("assertVisible text='Alert me'", Ok("")),
            ("tap ref=e2", Ok("")),
        ],
    );
}

#[test]
fn a_ref_lasts_while_its_page_changes() {
    check(
        "<button onclick='this.textContent = `Add (${++n})`'>Add (0)</button><input aria-label=Name>
            <input type=checkbox aria-label=News><script>let n = 0</script>",
        &[
            ("snapshot", Ok("[e1] button \"Add (0)\"")),
            ("tap ref=e1", Ok("")),
            ("tap ref=e1", Ok("")),
            ("assertVisible text='Add (2)'", Ok("")),
            ("web_type ref=e2 text=Ada", Ok("")),
            ("web_type ref=e2 text=Grace", Ok("")),
            ("web_verifyValue ref=e2 expected=Grace", Ok("")),
            ("web_check ref=e3 checked=true", Ok("")),
            ("web_check ref=e3 checked=false", Ok("")),
            (
                "web_evaluate script=\"document.body.prepend(document.createElement('hr'), 'New'); history.pushState(0, '', '#new'); 1\"",
                Ok("1"),
            ),
            ("tap ref=e1", Ok("")),
            ("web_verifyValue ref=e2 expected=Grace", Ok("")),
            ("assertVisible text='Add (3)'", Ok("")),
        ],
    );
}

#[test]
fn a_selector_that_is_no_css_is_said_to_be_wrong() {
    const WRONG: Result<&str, &str> = Err("`button[` is not a valid CSS selector");
    check(
        "<button id=pay>Pay</button>",
        &[
            ("tap ref='css=button['", WRONG),
            ("assertVisible ref='css=button['", WRONG),
            ("web_click ref='css=button['", WRONG),
            ("assertText is=Pay ref='css=button['", WRONG),
            ("assertVisible ref='css=#pay'", Ok("")),
            ("tap ref='css=#pay'", Ok("")),
        ],
    );
}
