//! Positions, touch and scrolling.

use super::*;
use trailblaze_core::driver::Direction;

/// Walks to each screen of the wallet and back again.
async fn screens(platform: Platform) -> Vec<(&'static str, Hand)> {
    let mut screens = vec![("signIn", Hand::in_wallet(platform).await)];
    for name in ["home", "activity", "settings", "send", "confirm", "prompt"] {
        let hand = match name {
            "prompt" => Hand::in_wallet(platform).await,
            _ => Hand::at_home(platform).await,
        };
        match name {
            "activity" => hand.tap("activityTab").await,
            "settings" => hand.tap("settingsTab").await,
            "send" => hand.tap("sendMoney").await,
            "confirm" => {
                hand.tap("sendMoney").await;
                hand.fill("recipient", "Ada").await;
                hand.fill("amount", "1").await;
                hand.tap("review").await;
            }
            "prompt" => {
                hand.sign_in().await;
                hand.wait(400).await;
            }
            _ => {}
        }
        screens.push((name, hand));
    }
    screens
}

#[tokio::test(start_paused = true)]
async fn touching_the_centre_of_an_element_hits_it_unless_a_dialog_is_in_front() {
    for platform in Platform::ALL {
        for (name, hand) in screens(platform).await {
            let device = hand.sim.device(tokio::time::Instant::now());
            let scene = device.scene();
            let dialog = scene.walk().find(|placed| placed.what == super::super::layout::PlacedKind::Scrim);
            let front = dialog.unwrap_or(&scene);
            let touchable: Vec<_> = front.walk().filter(|placed| placed.is_touchable()).collect();
            assert!(!touchable.is_empty());
            for placed in touchable {
                let Some(visible) = placed.visible else { continue };
                let hit = scene.at(visible.center()).into_iter().rev().find(|hit| hit.is_touchable()).unwrap();
                assert!(std::ptr::eq(hit, placed), "{platform} {name}: {:?} hides {:?}", hit.text, placed.text);
            }
        }
    }
}

#[tokio::test(start_paused = true)]
async fn no_two_elements_of_a_column_overlap() {
    for platform in Platform::ALL {
        for (name, hand) in screens(platform).await {
            let screen = hand.look().await;
            for parent in screen.root.walk().filter(|node| node.id != screen.root.id) {
                for pair in parent.children.windows(2) {
                    let (one, other) = (pair[0].bounds.unwrap(), pair[1].bounds.unwrap());
                    assert_eq!(one.intersect(&other), None, "{platform} {name}: {pair:#?}");
                }
            }
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_dialog_covers_everything_else() {
    let hand = Hand::in_wallet(Platform::Android).await;
    hand.sign_in().await;
    let send = hand.node("sendMoney").await.bounds.unwrap().center();
    hand.wait(400).await;
    hand.act_at(send, Action::Tap).await.unwrap();
    assert_eq!(hand.find("recipient").await, None, "the button beneath must not get the touch");
    hand.tap("notNow").await;
    hand.act_at(send, Action::Tap).await.unwrap();
    assert!(hand.find("recipient").await.is_some());
}

#[tokio::test(start_paused = true)]
async fn a_disabled_button_takes_a_tap_and_does_nothing() {
    let hand = Hand::in_wallet(Platform::Android).await;
    assert!(!hand.node("submit").await.is_enabled());
    let before = hand.look().await.snapshot;
    hand.tap("submit").await;
    assert_eq!(hand.look().await.snapshot, before);
}

#[tokio::test(start_paused = true)]
async fn rows_out_of_view_stay_in_the_tree_until_they_are_scrolled_to() {
    for platform in Platform::ALL {
        let hand = Hand::at_home(platform).await;
        let screen = hand.look().await;
        let whole = screen.root.bounds.unwrap();
        let last = |screen: &Screen| {
            let row = screen.root.walk().find(|node| node.text() == Some("Tony Hoare")).unwrap();
            row.bounds.unwrap().intersect(&whole)
        };
        assert_eq!(last(&screen), None, "{platform}");
        hand.act(Action::Scroll { direction: Direction::Down, amount: Some(4000) }).await.unwrap();
        let there = last(&hand.look().await).unwrap();
        let list = hand.node("payments").await.bounds.unwrap();
        assert_eq!(there.intersect(&list), Some(there), "{platform}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_swipe_moves_the_list_with_the_finger() {
    let hand = Hand::at_home(Platform::Android).await;
    let top = |node: &Node| node.bounds.unwrap().top;
    let list = hand.node("payments").await;
    let before = top(&list.children[2]);
    let from = list.bounds.unwrap().center();
    let to = Point { y: from.y - 100, ..from };
    hand.act(Action::Swipe { from, to, duration: Duration::from_millis(200) }).await.unwrap();
    let list = hand.node("payments").await;
    assert_eq!(top(&list.children[2]), before - 100);
    assert_eq!(top(&list.children[0]), top(&list), "a row that is partly in sight is cut off");
}

const GESTURES: &str = "
app: {id: a, name: A}
start: one
screens:
  one:
    swipe: {right: {set: {said: swiped}}}
    elements:
      - {id: said, text: '{{said}}'}
      - id: card
        role: card
        longPress: {set: {said: pressed long}}
        doubleTap: {set: {said: tapped twice}}
        swipe: {left: {set: {said: swiped away}}}
        elements: [{text: Card}]
";

#[tokio::test(start_paused = true)]
async fn gestures_have_effects_of_their_own() {
    let hand = Hand::in_app(GESTURES).await;
    let middle = hand.node("card").await.bounds.unwrap().center();
    let swipe = |dx: i32| {
        let to = Point { x: middle.x + dx, ..middle };
        Action::Swipe { from: middle, to, duration: Duration::from_millis(100) }
    };
    let gestures = [
        (Action::LongPress, "pressed long"),
        (Action::DoubleTap, "tapped twice"),
        (swipe(-300), "swiped away"),
        (swipe(300), "swiped"),
    ];
    for (action, expected) in gestures {
        hand.act_at(middle, action).await.unwrap();
        assert_eq!(hand.node("said").await.text(), Some(expected));
    }
}

#[tokio::test(start_paused = true)]
async fn scrolling_sideways_is_a_swipe_or_is_refused() {
    let hand = Hand::in_app(GESTURES).await;
    let scroll = |direction| Action::Scroll { direction, amount: None };
    // The view moves left when the finger moves right.
    hand.act(scroll(Direction::Left)).await.unwrap();
    assert_eq!(hand.node("said").await.text(), Some("swiped"));
    let card = hand.node("card").await.bounds.unwrap().center();
    hand.act_at(card, scroll(Direction::Right)).await.unwrap();
    assert_eq!(hand.node("said").await.text(), Some("swiped away"));
    let refused = Err(DriverError::Refused { reason: "nothing here scrolls sideways".to_string() });
    assert_eq!(hand.act(scroll(Direction::Right)).await, refused);
    let desktop = Hand::at_home(Platform::Desktop).await;
    assert_eq!(desktop.act(scroll(Direction::Left)).await, refused);
}

#[tokio::test(start_paused = true)]
async fn touches_far_outside_the_screen_do_nothing() {
    let hand = Hand::at_home(Platform::Android).await;
    let before = hand.look().await.snapshot;
    let (far, other) = (Point { x: i32::MIN, y: i32::MIN }, Point { x: i32::MAX, y: i32::MAX });
    for action in [
        Action::Tap,
        Action::DoubleTap,
        Action::LongPress,
        Action::Swipe { from: far, to: other, duration: Duration::ZERO },
        Action::Scroll { direction: Direction::Up, amount: Some(u32::MAX) },
    ] {
        hand.act_at(far, action).await.unwrap();
    }
    assert_eq!(hand.look().await.snapshot, before);
}
