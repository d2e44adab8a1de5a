//! The checks that all platforms have, on pages.

use super::finding::check;

#[test]
fn checks_of_all_platforms_hold_and_fail_on_pages() {
    let markup = "<h1 id=total>Total: <b>1,234.50</b> €</h1><ul><li>Mug<li>Tea<li>Tea</ul>
        <label>City <input id=city value='Rome '></label><button id=pay disabled aria-expanded=false>Pay</button>
        <label><input type=checkbox id=news checked> News</label><input id=name autofocus>
        <p style='margin-top: 3000px' id=below>Far below</p>";
    check(
        markup,
        &[
            ("assertText id=total is='Total: 1,234.50 €'", Ok("has the text")),
            ("assertText ref='css=li:nth-child(2)' contains=Te", Ok("has the text \"Tea\"")),
            ("assertText id=total matches='Total: .* €'", Ok("has the text")),
            ("assertText id=total is=Total timeoutMs=0", Err("saw \"Total: 1,234.50 €\"")),
            ("assertNumber id=total atLeast=10 lessThan=1235", Ok("1234.5 in the text")),
            ("assertNumber id=total moreThan=1234.5 timeoutMs=0", Err("saw 1234.5 in the text")),
            ("assertValue id=city is='Rome '", Ok("has the value \"Rome \"")),
            ("assertValue id=city is=Rome timeoutMs=0", Err("saw \"Rome \"")),
            ("assertAttribute id=pay name=aria-expanded is=false", Ok("has the attribute `aria-expanded` \"false\"")),
            ("assertAttribute id=pay name=title is=x timeoutMs=0", Err("saw no such attribute")),
            ("assertState id=pay enabled=false inView=true", Ok("is disabled and in view")),
            ("assertState id=pay enabled=true timeoutMs=0", Err("saw disabled")),
            ("assertState id=news checked=true", Ok("is checked")),
            ("assertState id=name focused=true", Ok("is focused")),
            ("assertState id=below inView=false", Ok("is not in view")),
            ("assertState id=below inView=true timeoutMs=0", Err("in view, saw")),
            ("assertCount text=Tea equals=2", Ok("2 times")),
            ("assertCount ref=listitem atLeast=4 timeoutMs=0", Err("saw 3")),
            ("assertOrder items='[\"Mug\", \"Tea\"]' ref=list", Ok("in this order")),
            ("assertOrder items='[\"Tea\", \"Mug\"]' timeoutMs=0", Err("no such item after \"Tea\"")),
            ("assertNotVisible text=Coffee", Ok("is not on the screen")),
            ("assertNotVisible text=Mug timeoutMs=0", Err("is still there")),
            ("web_assertUrl contains=page.html", Ok("the address of the page is")),
            ("web_assertUrl matches='.*/other' timeoutMs=0", Err("expected an address matching")),
            ("web_assertTitle is=Page", Ok("the title of the page is \"Page\"")),
            ("web_assertTitle is=Shop timeoutMs=0", Err("saw \"Page\"")),
        ],
    );
}
