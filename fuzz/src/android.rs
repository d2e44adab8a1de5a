//! What phones print.

use trailblaze_core::screen::Shape;
use trailblaze_drivers::android::ViewHierarchy;

/// The output of `uiautomator dump`, with anything before, after and instead of the tree.
pub fn android_tree(data: &[u8]) {
    for shape in [Shape::AndroidAccessibility, Shape::AndroidMaestro] {
        if let Ok(screen) = ViewHierarchy::read(data, shape) {
            let mut ids: Vec<u64> = screen.root.walk().map(|node| node.id).collect();
            ids.sort_unstable();
            assert!(ids.windows(2).all(|pair| pair[0] < pair[1]), "an id is there twice");
        }
    }
}
