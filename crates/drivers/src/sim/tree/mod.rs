//! The scene as an element tree, in the vocabulary of a real device of the platform.

mod names;
mod props;

use trailblaze_core::screen::{Field, Node, Shape};
use trailblaze_protocol::geometry::Rect;

use super::app::Role;
use super::layout::{Placed, PlacedKind};

/// The tree of a scene. `app` is the package that Android prefixes to ids.
pub fn tree(scene: &Placed<'_>, shape: Shape, app: &str) -> Node {
    let mut grower = Grower { shape, app, count: 0 };
    let mut root = grower.grow(scene);
    if shape == Shape::Web {
        number_alike(&mut root);
    }
    root
}

struct Grower<'a> {
    shape: Shape,
    app: &'a str,
    count: u64,
}

impl Grower<'_> {
    fn grow(&mut self, placed: &Placed<'_>) -> Node {
        self.count += 1;
        let mut node = Node::new(self.count, props::props(placed, self.shape, self.app));
        node.bounds = Some(bounds(placed));
        node.is_clipped = placed.visible.is_none();
        // Divider lines are only decoration.
        let children = placed.children.iter().filter(|child| child.what != PlacedKind::Element(Role::Divider));
        node.children = children.map(|child| self.grow(child)).collect();
        node
    }
}

/// The visible part of an element. An element out of view keeps its position but gets no height, so that it is not
/// taken for visible behind a bar.
fn bounds(placed: &Placed<'_>) -> Rect {
    let frame = placed.frame;
    placed.visible.unwrap_or(Rect { bottom: frame.top, ..frame })
}

/// Numbers a browser's elements that have no id and the same description.
fn number_alike(root: &mut Node) {
    fn number(node: &mut Node, seen: &mut std::collections::HashMap<String, i64>) {
        if let Some(descriptor) = node.props.text(Field::AriaDescriptor) {
            let next = seen.entry(descriptor.to_string()).or_default();
            node.props.set(Field::NthIndex, *next);
            *next += 1;
        }
        for child in &mut node.children {
            number(child, seen);
        }
    }
    number(root, &mut std::collections::HashMap::new());
}
