//! What a person does in the window of a browser is reported, element by element.

use std::time::Duration;

use serde_json::json;
use tokio::time::timeout;
use trailblaze_core::driver::{
    Action, ActionTarget, Button, ClickOptions, DeviceCommand, Driver, ObservedAction, Person, PersonAction,
};

use crate::browser::web::live::{Bare, budget};
use crate::support::PATIENCE;
use crate::support::hand::{Hand, after_the_driver, free_port};

struct Watched {
    bare: Bare,
    hand: Hand,
    person: Person,
}

impl Watched {
    async fn open(html: &str) -> Option<Watched> {
        let port = free_port();
        let bare = Bare::open(&[&format!("--remote-debugging-port={port}")])?;
        bare.show(html).await;
        let hand = Hand::connect(port).await;
        let person = bare.web.follow_person(&budget()).await.expect("a browser has people in front of it");
        after_the_driver().await;
        Some(Watched { bare, hand, person })
    }

    /// The next action.
    async fn next(&mut self) -> ObservedAction {
        let next = timeout(PATIENCE, self.person.actions.recv()).await;
        next.expect("an action in time").expect("the window is open")
    }

    /// The next actions, each with the element that it was done to.
    async fn expect(&mut self, expected: &[&str]) {
        for expected in expected {
            let observed = self.next().await;
            assert_eq!(words(&observed), *expected);
        }
    }

    /// Lets unfinished actions be reported, and expects no others.
    async fn expect_last(&mut self, expected: &[&str]) {
        let (done, is_done) = tokio::sync::oneshot::channel();
        self.person.flush.send(done).await.expect("it is followed");
        is_done.await.expect("it was flushed");
        self.expect(expected).await;
        let more = self.person.actions.try_recv().ok();
        assert!(more.is_none(), "{:?}", more.map(|observed| words(&observed)));
    }

    async fn close(self) {
        self.bare.close().await;
    }
}

fn words(observed: &ObservedAction) -> String {
    let node = observed.node.and_then(|id| observed.screen.root.walk().find(|node| node.id == id));
    let node = node.map_or("nothing".to_string(), |node| node.summary());
    match &observed.what {
        PersonAction::Click { click: ClickOptions { button: Button::Left, count: 1, modifiers, .. }, .. }
            if modifiers.is_empty() =>
        {
            format!("click {node}")
        }
        PersonAction::Click { click, .. } => {
            format!("click {} {} {:?} {node}", click.button.name(), click.count, click.modifiers)
        }
        PersonAction::Drag { onto, .. } => {
            let onto = observed.screen.root.walk().find(|node| Some(node.id) == onto.map(|onto| onto.node));
            format!("drag {node} onto {}", onto.map_or("nothing".to_string(), |onto| onto.summary()))
        }
        PersonAction::Type { text } => format!("type {text:?} {node}"),
        PersonAction::TypeSecret => format!("secret {node}"),
        PersonAction::Press { chord } => format!("press {chord} {node}"),
        PersonAction::Choose { values } => format!("choose {values:?} {node}"),
        PersonAction::SetChecked { checked } => format!("check {checked} {node}"),
        PersonAction::Upload { names } => format!("upload {names:?} {node}"),
        other => format!("{other:?}"),
    }
}

#[tokio::test]
async fn a_form_that_a_person_fills_in_is_reported_field_by_field() {
    let Some(mut watched) = Watched::open(
        "<form onsubmit='event.preventDefault(); out.textContent = \"Sent\"'>
         <label>Name <input id=name></label>
         <label>Password <input type=password id=secret></label>
         <label><input type=checkbox id=news> News</label>
         <label for=b>Blue</label><input type=radio name=colour id=b>
         <select aria-label=Drink id=drink><option>Coffee<option>Tea</select>
         <textarea aria-label=Notes id=notes></textarea>
         <input type=number aria-label=Bags id=bags value=1>
         <button>Send <b id=bold>now</b></button></form><p id=out></p>",
    )
    .await
    else {
        return;
    };
    let tab = watched.hand.recorded_tab("page.html").await;
    tab.click("#name").await;
    tab.type_text("Ada").await;
    tab.press("Tab", 9).await;
    tab.type_text("hunter2").await;
    tab.click("#news").await;
    tab.click("label[for=b]").await;
    tab.click("#notes").await;
    tab.type_text("one").await;
    tab.press("Enter", 13).await;
    tab.type_text("two").await;
    tab.click("#drink").await;
    tab.press("ArrowDown", 40).await;
    tab.press("Enter", 13).await;
    tab.click("#bags").await;
    tab.press("ArrowUp", 38).await;
    tab.press("ArrowUp", 38).await;
    tab.press_with_control("l").await;
    tab.click("#bold").await;
    tab.click("#name").await;
    tab.type_text(" L").await;
    tab.press("Enter", 13).await;
    tab.until("document.querySelector('#out').textContent === 'Sent'").await;
    drop(tab);
    watched
        .expect_last(&[
            "type \"Ada\" textbox \"Name\"",
            "secret textbox \"Password\"",
            "check true checkbox \"News\"",
            "check true radio \"Blue\"",
            "type \"one\\ntwo\" textbox \"Notes\"",
            "choose [\"Tea\"] combobox \"Drink\"",
            "type \"3\" spinbutton \"Bags\"",
            "click button \"Send now\"",
            "type \"Ada L\" textbox \"Name\"",
            "press Enter textbox \"Name\"",
        ])
        .await;
    watched.close().await;
}

#[tokio::test]
async fn clicks_of_every_kind_are_reported_with_what_was_there_before() {
    let Some(mut watched) = Watched::open(
        "<h1>Shop</h1><button id=a onclick='this.remove()'>Remove me</button>
         <ul><li id=todo ondblclick='this.textContent += \"!\"'>Buy milk</li></ul>
         <div id=menu oncontextmenu='event.preventDefault()'>Menu</div>
         <div id=down onmousedown='this.replaceWith(\"gone\")'>Press me</div>
         <button id=key>By key</button>
         <a id=link href='other.html'>Go</a>",
    )
    .await
    else {
        return;
    };
    watched.bare.page("other.html", "<h1>Other</h1>");
    let tab = watched.hand.recorded_tab("page.html").await;
    tab.click("#a").await;
    tab.click_with(None, "#todo", ("left", 2)).await;
    tab.click_with(None, "#menu", ("right", 1)).await;
    tab.click("#down").await;
    watched
        .expect(&[
            "click button \"Remove me\"",
            "click LEFT 2 [] listitem \"Buy milk\"",
            "click RIGHT 1 [] generic \"Menu\"",
            "click generic \"Press me\"",
        ])
        .await;
    tab.script("document.querySelector('#key').focus()").await;
    tab.press("Enter", 13).await;
    tab.press("Escape", 27).await;
    tab.press_with_control("k").await;
    tab.click("#link").await;
    watched.hand.tab("other.html").await;
    drop(tab);
    watched
        .expect(&["click button \"By key\"", "press Escape button \"By key\"", "press Control+k button \"By key\""])
        .await;
    let left = watched.next().await;
    assert_eq!(words(&left), "click link \"Go\"");
    assert!(left.screen.app.as_ref().is_some_and(|app| app.ends_with("page.html")), "{:?}", left.screen.app);
    assert!(left.screen.root.walk().any(|node| node.text() == Some("Shop")), "the whole page is there");
    watched.expect_last(&[]).await;
    watched.close().await;
}

#[tokio::test]
async fn what_a_component_library_draws_is_reported_by_role_and_name() {
    let Some(mut watched) = Watched::open(
        "<style>.tiny { position: absolute; width: 1px; height: 1px; overflow: hidden; clip: rect(0, 0, 0, 0) } #sub { display: none }</style>
         <div id=stars style='cursor:pointer; width:90px'><span class=tiny><input type=radio aria-label='4 stars'></span><b>****</b></div>
         <table><tr><th tabindex=0 id=price style='width:300px; text-align:left; cursor:pointer'><span>Price</span></th></tr></table>
         <div style='position:relative; height:20px'><div role=slider tabindex=0 aria-label=Volume id=thumb
              style='position:absolute; left:50px; width:20px; height:20px'></div></div>
         <ul role=menu><li role=menuitem id=new aria-expanded=false onmouseenter=\"this.ariaExpanded = 'true'; sub.style.display = 'block'\">New
              <ul role=menu id=sub><li role=menuitem id=folder>Folder</li></ul></li></ul>
         <div role=combobox tabindex=0 aria-label=City id=city onmousedown='cover.hidden = false'>Rome</div>
         <div id=cover hidden style='position:fixed; inset:0'></div>",
    )
    .await
    else {
        return;
    };
    let tab = watched.hand.recorded_tab("page.html").await;
    tab.click("#stars").await;
    tab.click("#price").await;
    tab.slide("#thumb", 80.0).await;
    tab.hover("#new").await;
    tab.click("#folder").await;
    tab.click("#city").await;
    drop(tab);
    watched
        .expect(&["click radio \"4 stars\"", "click columnheader \"Price\"", "drag slider \"Volume\" onto nothing"])
        .await;
    // The pointer has opened the menu.
    let click = watched.next().await;
    assert_eq!(words(&click), "click menuitem \"Folder\"");
    let over = click.screen.root.walk().find(|node| click.over == [node.id]).map(|node| node.summary());
    assert!(over.as_ref().is_some_and(|over| over.starts_with("menuitem \"New")), "{over:?}");
    watched.expect_last(&["click combobox \"City\""]).await;
    watched.close().await;
}

#[tokio::test]
async fn text_that_is_typed_on_in_an_editor_is_reported_alone() {
    let Some(mut watched) = Watched::open(
        "<button id=bold onmousedown='event.preventDefault(); document.execCommand(\"bold\")'>Bold</button>
         <div contenteditable role=textbox aria-label=Letter id=letter style='height:60px'></div>",
    )
    .await
    else {
        return;
    };
    let tab = watched.hand.recorded_tab("page.html").await;
    tab.click("#letter").await;
    tab.type_text("Dear").await;
    tab.click("#bold").await;
    tab.type_text("Ada").await;
    drop(tab);
    let expected = ["type \"Dear\" textbox \"Letter\"", "click button \"Bold\"", "Append { text: \"Ada\" }"];
    watched.expect_last(&expected).await;
    watched.close().await;
}

#[tokio::test]
async fn what_is_dragged_onto_something_that_takes_it_is_reported() {
    let Some(mut watched) = Watched::open(
        "<ul><li draggable=true id=apple>Apple</li><li draggable=true id=pear>Pear</li></ul>
         <div role=region aria-label=Basket id=basket ondragover='event.preventDefault()' ondrop='event.preventDefault(); this.append(\" +1\")'>
         <p>Fruit</p></div><p id=wall>Wall</p>",
    )
    .await
    else {
        return;
    };
    let tab = watched.hand.recorded_tab("page.html").await;
    tab.drag("#apple", "#basket").await;
    tab.until("basket.textContent.includes('+1')").await;
    // Nothing takes it.
    tab.drag("#pear", "#wall").await;
    drop(tab);
    watched.expect_last(&["drag listitem \"Apple\" onto paragraph \"Fruit\""]).await;
    watched.close().await;
}

#[tokio::test]
async fn frames_and_shadow_roots_are_part_of_the_page() {
    let inner = "<button id=in>Inside</button><input aria-label=Deep id=deep>";
    let Some(mut watched) = Watched::open(&format!(
        "<h1>Outer</h1><div style='height: 40px'></div><iframe id=f srcdoc=\"{inner}\"></iframe><x-box></x-box>
         <script>customElements.define('x-box', class extends HTMLElement {{ constructor() {{ super();
           this.attachShadow({{mode: 'open'}}).innerHTML = '<button id=shadowed>In the shadow</button>'; }} }});</script>"
    ))
    .await
    else {
        return;
    };
    let tab = watched.hand.recorded_tab("page.html").await;
    tab.click_in("#f", "#in").await;
    tab.click_in("#f", "#deep").await;
    tab.type_text("x").await;
    let at = tab.script("(() => { const box = document.querySelector('x-box').shadowRoot.querySelector('button').getBoundingClientRect(); return [box.left + 5, box.top + 5]; })()").await;
    tab.click_at((at[0].as_f64().unwrap(), at[1].as_f64().unwrap()), ("left", 1)).await;
    drop(tab);
    let first = watched.next().await;
    assert_eq!(words(&first), "click button \"Inside\"");
    assert!(first.screen.root.walk().any(|node| node.text() == Some("Outer")), "the page around the frame is there");
    watched.expect_last(&["type \"x\" textbox \"Deep\"", "click button \"In the shadow\""]).await;
    watched.close().await;
}

#[tokio::test]
async fn addresses_history_and_tabs_are_reported_unless_a_page_causes_them() {
    let Some(mut watched) =
        Watched::open("<a id=go href='two.html'>Two</a><a id=new href='three.html' target=_blank rel=opener>Three</a>")
            .await
    else {
        return;
    };
    let two = watched.bare.page("two.html", "<h1>Two</h1>");
    let four = watched.bare.page("four.html", "<h1>Four</h1>");
    watched.bare.page("three.html", "<h1>Three</h1><button id=close onclick='window.close()'>Close</button>");
    let tab = watched.hand.recorded_tab("page.html").await;
    tab.click("#go").await;
    watched.hand.tab("two.html").await;
    watched.expect(&["click link \"Two\""]).await;
    // Right after the click: pages that react to a click do not hide what a person does next.
    tab.shows("Two").await;
    let history = tab.call("Page.getNavigationHistory", json!({})).await;
    let entry = |index: usize| json!({"entryId": history["entries"][index]["id"]});
    let last = history["entries"].as_array().map_or(0, Vec::len) - 1;
    tab.call("Page.navigateToHistoryEntry", entry(last - 1)).await;
    watched.expect(&["Back"]).await;
    tab.until("document.querySelector('#go') && document.readyState === 'complete'").await;
    tab.call("Page.navigateToHistoryEntry", entry(last)).await;
    watched.expect(&["Forward"]).await;
    tab.shows("Two").await;
    tab.script("document.querySelector('h1').remove()").await;
    tab.call("Page.reload", json!({})).await;
    watched.expect(&["Reload"]).await;
    tab.shows("Two").await;
    tab.call("Page.navigate", json!({"url": four})).await;
    watched.expect(&[&format!("Open {{ url: {four:?} }}")]).await;
    tab.shows("Four").await;
    tab.call("Page.navigateToHistoryEntry", entry(last - 1)).await;
    watched.expect(&["Back", "Back"]).await;
    tab.until("document.querySelector('#new') && document.readyState === 'complete'").await;
    // A page that goes forward and back by itself.
    tab.script("document.body.insertAdjacentHTML('beforeend', '<button id=on onclick=history.forward()>On</button>')")
        .await;
    tab.click("#on").await;
    tab.shows("Two").await;
    tab.script("history.back()").await;
    tab.until("document.querySelector('#new') && document.readyState === 'complete'").await;
    watched.expect(&["click button \"On\""]).await;
    // A tab that a page opens and closes is an effect of the click.
    tab.click("#new").await;
    let three = watched.hand.recorded_tab("three.html").await;
    three.until("document.querySelector('#close') && document.readyState === 'complete'").await;
    watched.expect(&["click link \"Three\""]).await;
    three.click("#close").await;
    watched.expect(&["click button \"Close\""]).await;
    // A tab that opens soon after a click may be the page's; after this time it is a person's.
    tokio::time::sleep(Duration::from_millis(1600)).await;
    // A person opens a tab, goes back to the first, and closes the second.
    let context = watched.hand.call(None, "Target.getTargetInfo", json!({"targetId": tab.target})).await;
    let context = context["targetInfo"]["browserContextId"].clone();
    let made = watched
        .hand
        .call(None, "Target.createTarget", json!({"url": "about:blank", "browserContextId": context}))
        .await;
    watched.expect(&["NewTab"]).await;
    let other = watched.hand.tab("about:blank").await;
    other.call("Page.navigate", json!({"url": two})).await;
    watched.expect(&[&format!("Open {{ url: {two:?} }}")]).await;
    tab.call("Page.bringToFront", json!({})).await;
    watched.expect(&["SelectTab { index: 0 }"]).await;
    watched.hand.call(None, "Target.closeTarget", json!({"targetId": made["targetId"]})).await;
    watched.expect(&["CloseTab { index: 1 }"]).await;
    watched.expect_last(&[]).await;
    // The last window closes.
    watched.hand.call(None, "Target.closeTarget", json!({"targetId": tab.target})).await;
    let end = timeout(PATIENCE, watched.person.actions.recv()).await;
    assert!(end.expect("it ends in time").is_none());
    watched.close().await;
}

#[tokio::test]
async fn what_the_driver_does_is_not_reported() {
    let Some(mut watched) =
        Watched::open("<label>Name <input id=name></label><button id=b onclick='name.focus()'>Go</button>").await
    else {
        return;
    };
    let find = trailblaze_core::query::Query {
        what: trailblaze_core::query::QueryTarget::Element(trailblaze_core::query::ElementProperties {
            id: Some("name".to_string()),
            ..trailblaze_core::query::ElementProperties::default()
        }),
        index: None,
    };
    let action = Action::InputText { text: "by the driver".to_string() };
    let found = watched.bare.web.find(&budget(), &find, action.checks()).await.expect("a look");
    let trailblaze_core::query::Find::Found(found) = found else { panic!("{found:?}") };
    watched.bare.web.act(&budget(), &ActionTarget::Element(found), &action).await.expect("it is typed");
    let url = watched.bare.page("two.html", "<button id=b>Two</button>");
    watched.bare.send(DeviceCommand::OpenUrl { url }).await;
    after_the_driver().await;
    let tab = watched.hand.recorded_tab("two.html").await;
    tab.click("#b").await;
    drop(tab);
    watched.expect_last(&["click button \"Two\""]).await;
    watched.close().await;
}
