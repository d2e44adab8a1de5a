//! Predicates and class chains are passed to WebDriverAgent.

use serde_json::{Value, json};
use trailblaze_core::driver::{Action, ActionTarget, DeviceSetting, DriverError, LaunchMode, Orientation};
use trailblaze_core::query::{Checks, Find, Found, Query, QueryTarget};
use trailblaze_core::selector::Selector;

use crate::support::{Connected, budget};

async fn try_search(iphone: &Connected, selector: Value) -> Result<Find, DriverError> {
    let selector = Selector::parse(&selector).expect("a selector");
    let query = Query { what: QueryTarget::Selector(Box::new(selector)), index: None };
    iphone.driver.find(&budget(), &query, Checks::Actionable).await
}

async fn search(iphone: &Connected, selector: Value) -> Option<Found> {
    match try_search(iphone, selector).await.expect("a search") {
        Find::Found(found) => Some(found),
        Find::Not(_) => None,
    }
}

#[tokio::test]
async fn elements_are_found_by_predicates_and_class_chains() {
    let iphone = Connected::open().await;
    iphone.launch(LaunchMode::Resume).await.expect("it is launched");
    iphone.id("email").await;
    let by_id = |found: Option<Found>| found.expect("it is found").summary;
    let field = by_id(search(&iphone, json!({"ios": {"predicate": "name == 'email'"}})).await);
    let chain = json!({"ios": {"classChain": "**/XCUIElementTypeTextField[`name == 'email'`]"}});
    assert_eq!(by_id(search(&iphone, chain.clone()).await), field);
    assert!(search(&iphone, json!({"ios": {"predicate": "label == 'nowhere'"}})).await.is_none());
    let beneath = json!({
        "ios": {"predicate": "type == 'XCUIElementTypeSecureTextField'"}, "below": {"ios": {"predicate": "name == 'email'"}},
    });
    assert_eq!(search(&iphone, beneath).await.expect("it is found").summary, iphone.id("pin").await.summary);
    let refused = try_search(&iphone, json!({"ios": {"predicate": "label LIKES 'x'"}})).await.expect_err("not valid");
    assert!(refused.to_string().contains("`ios: {predicate: …}` is not valid"), "{refused}");
    let turn = trailblaze_core::driver::DeviceCommand::Change(DeviceSetting::Orientation(Orientation::Landscape));
    turn.carry_out(&*iphone.driver, &budget()).await.expect("it turns");
    let found = search(&iphone, chain).await.expect("it is found on a screen that is turned");
    iphone.try_act(ActionTarget::Element(found), Action::InputText { text: "ada".to_string() }).await.expect("typed");
    assert_eq!(iphone.id("email").await.text.as_deref(), Some("ada"));
}
