//! The checks that all platforms have: each waits, and says what was expected and what was seen.

use std::time::Duration;

use serde_json::{Value, json};
use trailblaze_core::screen::{Field, Node};
use trailblaze_core::testing::{FakeDriver, TestPage, TestSession, TestWiring, button, field, label};
use trailblaze_protocol::driver::Platform;
use trailblaze_protocol::outcome::{Outcome, Variant};

fn with(mut node: Node, field: Field, value: bool) -> Node {
    node.props.set(field, value);
    node
}

fn form() -> TestPage {
    let mut name = field("name");
    name.props.set(Field::Text, "Ada  Lovelace");
    let mut hint = field("city");
    hint.props.set(Field::HintText, "City");
    let mut below = label("below", "Far below");
    below.is_clipped = true;
    let news = with(with(button("news", "News"), Field::IsCheckable, true), Field::IsChecked, true);
    TestPage::new(
        "form",
        [
            label("total", "Total: 1,234.50 €"),
            label("count", "3 of 12 items"),
            label("big", "1,234"),
            label("", "Apples"),
            label("", "Pears"),
            label("", "Pears"),
            with(button("pay", "Pay"), Field::IsEnabled, false),
            news,
            name,
            hint,
            with(label("tab", "Home"), Field::IsSelected, true),
            below,
        ],
    )
}

fn session() -> TestSession {
    TestWiring::new(FakeDriver::new("android/one", [form()])).open()
}

async fn holds(tool: &str, args: Value, told: &str) {
    let outcome = session().call(tool, args.clone()).await.unwrap();
    assert_eq!((outcome.variant.clone(), outcome.text.as_str()), (Variant::Success, told), "{tool} {args}");
}

/// Asserts what a check expected and what it saw.
async fn fails(tool: &str, args: Value, expected: &str, saw: &str) {
    let outcome = session().call(tool, args.clone()).await.unwrap();
    assert_eq!(outcome.variant, Variant::AssertionFailed, "{tool} {args}: {}", outcome.text);
    let facts = outcome.structured.unwrap();
    assert_eq!((facts["expected"].as_str(), facts["saw"].as_str()), (Some(expected), Some(saw)), "{tool} {args}");
}

async fn refused(tool: &str, args: Value, why: &str) {
    let text = match session().call(tool, args.clone()).await {
        Ok(outcome) => outcome.text,
        Err(fault) => fault.to_string(),
    };
    assert!(text.contains(why), "{tool} {args}: {text}");
}

#[tokio::test(start_paused = true)]
async fn a_text_is_compared_as_a_whole_in_part_or_by_a_pattern() {
    let total = "TextView \"Total: 1,234.50 €\"";
    for how in
        [json!({"is": "Total:  1,234.50 €"}), json!({"contains": "1,234"}), json!({"matches": "Total: [0-9,.]+ €"})]
    {
        let mut args = how;
        args["id"] = "total".into();
        holds("assertText", args, &format!("{total} has the text \"Total: 1,234.50 €\"")).await;
    }
    let saw = "\"Total: 1,234.50 €\"";
    fails("assertText", json!({"id": "total", "is": "Total"}), &format!("{total} with the text \"Total\""), saw).await;
    let expected = format!("{total} with a text containing \"Total\" and matching `x.*`");
    fails("assertText", json!({"id": "total", "contains": "Total", "matches": "x.*"}), &expected, saw).await;
    refused("assertText", json!({"id": "total"}), "pass `is`, `contains` or `matches`").await;
    refused("assertText", json!({"is": "x"}), "no element: pass `text`, `id`, `ref` or `nodeSelector`").await;
    refused("assertText", json!({"id": "total", "text": "x", "ref": "a1", "is": "x"}), "pass only one of").await;
    refused("assertText", json!({"id": "total", "matches": "("}), "(").await;
    fails(
        "assertText",
        json!({"id": "nowhere", "is": "x"}),
        "id \"nowhere\" with the text \"x\"",
        "nothing on the screen has the id \"nowhere\"",
    )
    .await;
}

#[tokio::test(start_paused = true)]
async fn the_number_in_a_text_is_compared() {
    let told =
        "1234.5 in the text \"Total: 1,234.50 €\" of TextView \"Total: 1,234.50 €\" is at least 10 and less than 1235";
    holds("assertNumber", json!({"id": "total", "atLeast": 10, "lessThan": 1235}), told).await;
    holds(
        "assertNumber",
        json!({"id": "total", "equals": 1234.5}),
        &told.replace("at least 10 and less than 1235", "1234.5"),
    )
    .await;
    let expected = "TextView \"Total: 1,234.50 €\" with a number that is more than 1234.5";
    fails(
        "assertNumber",
        json!({"id": "total", "moreThan": 1234.5}),
        expected,
        "1234.5 in the text \"Total: 1,234.50 €\"",
    )
    .await;
    let of = json!({"id": "count", "pattern": "of (\\d+)", "equals": 12});
    holds("assertNumber", of, "12 in the text \"3 of 12 items\" of TextView \"3 of 12 items\" is 12").await;
    refused("assertNumber", json!({"id": "count", "atMost": 12}), "it has several numbers; name the one that counts")
        .await;
    refused("assertNumber", json!({"id": "count", "atMost": 12, "pattern": "of"}), "needs a group around the number")
        .await;
    refused("assertNumber", json!({"id": "big", "atMost": 12}), "`1,234` can be read in two ways").await;
    refused("assertNumber", json!({"id": "big", "equals": 1234, "decimal": "."}), "1234 in the text").await;
    refused("assertNumber", json!({"id": "big"}), "nothing to compare with").await;
}

#[tokio::test(start_paused = true)]
async fn the_value_of_a_field_and_a_property_are_compared() {
    holds(
        "assertValue",
        json!({"id": "name", "is": "Ada  Lovelace"}),
        "EditText \"Ada Lovelace\" has the value \"Ada  Lovelace\"",
    )
    .await;
    let expected = "EditText \"Ada Lovelace\" with the value \"Ada Lovelace\"";
    fails("assertValue", json!({"id": "name", "is": "Ada Lovelace"}), expected, "\"Ada  Lovelace\"").await;
    holds("assertValue", json!({"id": "city", "is": ""}), "EditText \"City\" has the value \"\"").await;
    let told = "EditText \"City\" has the attribute `hintText` \"City\"";
    holds("assertAttribute", json!({"id": "city", "name": "hintText", "is": "City"}), told).await;
    refused(
        "assertAttribute",
        json!({"id": "city", "name": "hint", "is": "City"}),
        "no such property; it has className, resourceId",
    )
    .await;
}

#[tokio::test(start_paused = true)]
async fn the_state_of_an_element_is_checked_in_all_its_parts() {
    holds("assertState", json!({"text": "Pay", "enabled": false}), "Button \"Pay\" is disabled").await;
    fails("assertState", json!({"text": "Pay", "enabled": true}), "Button \"Pay\" enabled", "disabled").await;
    let news = json!({"id": "news", "enabled": true, "checked": true, "focused": false, "inView": true});
    holds("assertState", news, "Button \"News\" is enabled and checked and not focused and in view").await;
    let news = json!({"id": "news", "checked": false, "selected": false});
    fails("assertState", news, "Button \"News\" not checked and not selected", "checked and not selected").await;
    fails(
        "assertState",
        json!({"id": "tab", "checked": true}),
        "TextView \"Home\" checked",
        "an element that cannot be checked",
    )
    .await;
    holds("assertState", json!({"id": "tab", "selected": true}), "TextView \"Home\" is selected").await;
    holds("assertState", json!({"id": "below", "inView": false}), "id \"below\" is not in view").await;
    refused("assertState", json!({"id": "below", "inView": true}), "expected id \"below\" in view, saw").await;
    fails("assertState", json!({"id": "tab", "inView": false}), "TextView \"Home\" not in view", "it is in view").await;
    refused("assertState", json!({"id": "nowhere", "inView": false}), "nothing on the screen has the id").await;
    refused("assertState", json!({"id": "tab"}), "nothing to check").await;
}

#[tokio::test(start_paused = true)]
async fn elements_are_counted_and_their_order_is_checked() {
    holds("assertCount", json!({"text": "Pears", "equals": 2}), "text \"Pears\" is there 2 times").await;
    holds("assertCount", json!({"text": "Plums", "equals": 0}), "text \"Plums\" is there 0 times").await;
    fails(
        "assertCount",
        json!({"text": "Pears", "atLeast": 3, "atMost": 4}),
        "text \"Pears\" at least 3 and at most 4 times",
        "2",
    )
    .await;
    refused("assertCount", json!({"text": "Pears"}), "nothing to compare with").await;
    holds("assertOrder", json!({"items": ["Apples", "Pears", "Pay"]}), "all items are visible, in this order").await;
    fails("assertOrder", json!({"items": ["Pay", "Apples"]}), "\"Apples\"", "no such item after \"Pay\"").await;
    refused("assertOrder", json!({"items": ["Pay"]}), "needs two texts or more").await;
}

#[tokio::test(start_paused = true)]
async fn a_check_waits_until_it_holds() {
    let later = |id: &str, node: Node| {
        let pages = [TestPage::new("now", [label(id, "…")]), TestPage::new("later", [node])];
        TestWiring::new(FakeDriver::new("android/one", pages).later(Duration::from_millis(2500), "later")).open()
    };
    for (tool, args) in [
        ("assertText", json!({"id": "a", "is": "5"})),
        ("assertNumber", json!({"id": "a", "equals": 5})),
        ("assertValue", json!({"id": "a", "is": "5"})),
        ("assertAttribute", json!({"id": "a", "name": "text", "is": "5"})),
        ("assertState", json!({"id": "a", "selected": true})),
        ("assertCount", json!({"text": "5", "equals": 1})),
        ("assertNotVisible", json!({"text": "…"})),
    ] {
        let node = || with(label("a", "5"), Field::IsSelected, true);
        let outcome = later("a", node()).call(tool, args.clone()).await.unwrap();
        assert!(!outcome.is_error(), "{tool}: {}", outcome.text);
        let mut soon = args;
        soon["timeoutMs"] = 100.into();
        let outcome = later("a", node()).call(tool, soon).await.unwrap();
        assert_eq!(outcome.variant, Variant::AssertionFailed, "{tool}: {}", outcome.text);
    }
}

#[tokio::test(start_paused = true)]
async fn a_ref_becomes_a_description_that_holds_in_later_runs() {
    let delegate = async |tool: &str, args: Value| -> Outcome {
        let session = session();
        session.call("captureScreen", json!({})).await.unwrap();
        session.call(tool, args).await.unwrap()
    };
    let screen = session().call("captureScreen", json!({})).await.unwrap().text;
    let reference = |words: &str| {
        let line = screen.lines().find(|line| line.contains(words)).unwrap();
        line.split_once('[').unwrap().1.split_once(']').unwrap().0.to_string()
    };
    let outcome = delegate("assertState", json!({"ref": reference("Pay"), "enabled": false})).await;
    assert_eq!(outcome.delegates[0].args, *json!({"enabled": false, "id": "pay"}).as_object().unwrap());
    // A check of a text does not find its element by that text.
    let outcome = delegate("assertText", json!({"ref": reference("Apples"), "is": "Apples"})).await;
    let found = outcome.delegates.first().map(|delegate| Value::Object(delegate.args.clone()).to_string());
    assert!(found.as_ref().is_none_or(|args| args.matches("Apples").count() == 1), "{found:?} {}", outcome.text);
}

#[tokio::test(start_paused = true)]
async fn a_secret_is_compared_and_never_shown() {
    let page = TestPage::new("home", [label("code", "hunter22")]);
    let session = TestWiring::new(FakeDriver::new("android/one", [page])).secret("PIN", "hunter22").open();
    let outcome = session.call("assertText", json!({"id": "code", "is": "{{PIN}}"})).await.unwrap();
    assert_eq!(outcome.text, "TextView \"{{PIN}}\" has the text \"{{PIN}}\"");
    let outcome =
        session.call("assertText", json!({"id": "code", "matches": "{{PIN}}x", "timeoutMs": 0})).await.unwrap();
    let expected = "expected TextView \"{{PIN}}\" with a text matching `{{PIN}}x`, saw \"{{PIN}}\"";
    assert_eq!(outcome.text, expected);
}

#[tokio::test(start_paused = true)]
async fn the_address_and_the_title_of_a_page_are_compared() {
    let driver =
        || FakeDriver::new("web/fake", [TestPage::new("home", [])]).posing_as(Platform::Web, "playwright-native");
    let session = TestWiring::new(driver()).open();
    let outcome = session.call("web_assertUrl", json!({"contains": "example"})).await.unwrap();
    assert_eq!(outcome.text, "the address of the page is \"com.example\"");
    let outcome = session.call("web_assertUrl", json!({"is": "other", "timeoutMs": 0})).await.unwrap();
    assert_eq!(outcome.text, "expected the address \"other\", saw \"com.example\"");
    let outcome = session.call("web_assertTitle", json!({"is": "Shop", "timeoutMs": 0})).await.unwrap();
    assert_eq!(outcome.text, "expected the title \"Shop\", saw \"\"");
}
