//! What is drawn.

use super::*;
use trailblaze_core::screen::{Picture, Pixels};
use trailblaze_protocol::geometry::Size;

async fn picture(hand: &Hand) -> (Size, Arc<[u8]>) {
    let screen = hand.sim.observe(&hand.budget(), ObserveOptions::PICTURE).await.unwrap();
    match screen.picture {
        Some(Picture { size, pixels: Pixels::Rgba(pixels) }) => (size, pixels),
        other => panic!("{other:?}"),
    }
}

#[tokio::test(start_paused = true)]
async fn a_picture_shows_the_screen_and_changes_with_it() {
    for platform in Platform::ALL {
        let hand = Hand::in_wallet(platform).await;
        let (size, before) = picture(&hand).await;
        let whole = hand.sim.describe().size;
        let scale = if platform.is_mobile() { 2 } else { 1 };
        assert_eq!((size.width * scale, size.height * scale), (whole.width, whole.height));
        assert_eq!(before.len(), (size.width * size.height * 4) as usize);
        let colours: std::collections::HashSet<&[u8]> = before.chunks_exact(4).collect();
        assert!(colours.len() > 50, "{platform}: {} colours", colours.len());
        assert!(before.chunks_exact(4).all(|pixel| pixel[3] == 255), "{platform} is opaque");
        assert_eq!(picture(&hand).await.1, before, "{platform}: the same screen looks the same");
        hand.fill("pin", "1").await;
        assert_ne!(picture(&hand).await.1, before, "{platform}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_dialog_darkens_what_it_covers() {
    let hand = Hand::in_wallet(Platform::Android).await;
    hand.sign_in().await;
    let before = picture(&hand).await.1;
    hand.wait(400).await;
    let after = picture(&hand).await.1;
    assert!(after[0] < before[0]);
}

#[tokio::test(start_paused = true)]
async fn a_text_that_is_too_long_for_its_field_is_drawn_as_far_as_it_fits() {
    let hand = Hand::in_wallet(Platform::Ios).await;
    hand.fill("email", &"é long text ".repeat(20_000)).await;
    picture(&hand).await;
}
