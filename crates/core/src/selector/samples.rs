//! Small and random trees and selectors for tests.

use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;
use proptest::sample::select;
use trailblaze_protocol::geometry::{Rect, Size};

use super::{Case, FieldMatch, Match, Pattern, Selector};
use crate::refs;
use crate::screen::{Field, FieldKind, Node, Prop, Props, Screen, Shape, SnapshotId};

pub const SIZE: Size = Size { width: 400, height: 800 };

pub fn node(shape: Shape) -> Node {
    Node::new(0, Props::new(shape))
}

/// An Android element with a class and a text.
pub fn android(class: &str, text: &str) -> Node {
    let node = node(Shape::AndroidAccessibility).with(Field::ClassName, format!("android.widget.{class}"));
    if text.is_empty() { node } else { node.with(Field::Text, text) }
}

pub trait Build {
    fn with(self, field: Field, value: impl Into<Prop>) -> Node;
    fn at(self, left: i32, top: i32, width: i32, height: i32) -> Node;
    fn holding(self, children: impl IntoIterator<Item = Node>) -> Node;
}

impl Build for Node {
    fn with(mut self, field: Field, value: impl Into<Prop>) -> Node {
        self.props.set(field, value);
        self
    }

    fn at(mut self, left: i32, top: i32, width: i32, height: i32) -> Node {
        self.bounds = Some(Rect::new(left, top, width, height));
        self
    }

    fn holding(mut self, children: impl IntoIterator<Item = Node>) -> Node {
        self.children.extend(children);
        self
    }
}

/// A screen of 400 by 800 whose nodes are numbered from 0 in document order.
pub fn screen(mut root: Node) -> Screen {
    let mut todo = vec![&mut root];
    let mut next = 0;
    while let Some(node) = todo.pop() {
        node.id = next;
        next += 1;
        todo.extend(node.children.iter_mut().rev());
    }
    refs::assign(&mut root, false);
    Screen {
        snapshot: SnapshotId(1),
        size: SIZE,
        app: Some("com.example".into()),
        root,
        picture: None,
        is_moving: false,
    }
}

/// Few words, so that elements collide.
fn word() -> impl Strategy<Value = String> {
    select(vec!["", "Pay", "pay", "Pay now", "$5.00", "a.b", "{{x}}", r"\Q", "com.x:id/pay", "#pay", " ", "x\ny"])
        .prop_map(str::to_string)
}

fn prop(field: Field) -> BoxedStrategy<Prop> {
    match field.kind() {
        FieldKind::Text => word().prop_map(Prop::Text).boxed(),
        FieldKind::Flag => any::<bool>().prop_map(Prop::Flag).boxed(),
        FieldKind::Number => (0..3_i64).prop_map(Prop::Number).boxed(),
    }
}

fn any_node(shape: Shape) -> impl Strategy<Value = Node> {
    let known: Vec<Field> = shape.matchable().iter().chain(shape.text_fields()).copied().collect();
    let field = select(known).prop_flat_map(|field| prop(field).prop_map(move |prop| (field, prop)));
    let bounds = option::weighted(0.9, (0..8_i32, 0..17_i32, 0..4_i32, 0..4_i32));
    (vec(field, 0..4), bounds).prop_map(move |(fields, bounds)| {
        let node = fields.into_iter().fold(node(shape), |node, (field, prop)| node.with(field, prop));
        match bounds {
            Some((left, top, width, height)) => node.at(left * 50, top * 50, width * 50, height * 50),
            None => node,
        }
    })
}

pub fn any_shape() -> impl Strategy<Value = Shape> {
    select(Shape::ALL.to_vec())
}

pub fn any_screen() -> impl Strategy<Value = Screen> {
    any_shape().prop_flat_map(|shape| {
        any_node(shape)
            .prop_recursive(4, 24, 5, move |inner| {
                (any_node(shape), vec(inner, 0..5)).prop_map(|(node, children)| node.holding(children))
            })
            .prop_map(screen)
    })
}

fn any_match() -> impl Strategy<Value = Match> {
    any_shape().prop_flat_map(|shape| {
        let field = select(shape.matchable().to_vec());
        let want = (field, word(), any::<(bool, bool)>(), 0..3_i64).prop_map(move |(field, word, flags, number)| {
            let want = match field.kind() {
                FieldKind::Text if flags.0 => FieldMatch::Pattern(Pattern::new(word, Case::of(shape))),
                FieldKind::Text => FieldMatch::Exact(word),
                FieldKind::Flag => FieldMatch::Flag(flags.1),
                FieldKind::Number => FieldMatch::Number(number),
            };
            (field, want)
        });
        vec(want, 1..3).prop_map(move |mut wants| {
            // A mapping has each key once.
            wants.dedup_by_key(|(field, _)| *field);
            Match { shape, wants }
        })
    })
}

pub fn any_selector() -> impl Strategy<Value = Selector> {
    let leaf = (any_match(), option::of(0..3_usize)).prop_map(|(matcher, index)| Selector {
        matcher: Some(matcher),
        index,
        ..Selector::default()
    });
    leaf.prop_recursive(3, 12, 3, |inner| {
        let relations = vec(option::weighted(0.3, inner.clone().prop_map(Box::new)), 6);
        (inner.clone(), relations, vec(inner, 0..2)).prop_map(|(selector, mut relations, contains_descendants)| {
            let mut relation = || relations.pop().flatten();
            Selector {
                below: relation(),
                above: relation(),
                left_of: relation(),
                right_of: relation(),
                child_of: relation(),
                contains_child: relation(),
                contains_descendants,
                ..selector
            }
        })
    })
}
