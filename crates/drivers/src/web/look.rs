//! From what the walker saw to a screen.

use serde::Deserialize;
use trailblaze_core::screen::{Field, Node, Props, Screen, Shape, SnapshotId};
use trailblaze_protocol::geometry::{Rect, Size};

/// What the walker answers. Keys are short because there are many of them.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Look {
    pub url: String,
    width: u32,
    height: u32,
    left: i32,
    top: i32,
    full_width: u32,
    full_height: u32,
    nodes: Vec<Seen>,
}

#[derive(Debug, Deserialize)]
struct Seen {
    i: u64,
    r: String,
    b: [i32; 4],
    #[serde(default)]
    n: Option<String>,
    #[serde(default)]
    t: Option<String>,
    #[serde(default)]
    v: Option<String>,
    #[serde(default)]
    q: Option<String>,
    #[serde(default)]
    s: Option<String>,
    #[serde(default)]
    h: Option<i64>,
    #[serde(default)]
    x: u8,
    #[serde(default)]
    d: u8,
    #[serde(default)]
    l: u8,
    #[serde(default)]
    k: Option<u8>,
    #[serde(default)]
    e: u8,
    #[serde(default)]
    f: u8,
    #[serde(default)]
    w: u8,
    #[serde(default)]
    p: u8,
    c: Vec<Seen>,
}

/// The part of a page that a screen is of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Part {
    /// What the window shows.
    Window,
    /// All of it: an element that is scrolled away can be scrolled back.
    Whole,
}

impl Look {
    pub fn screen(self, snapshot: SnapshotId, part: Part) -> Screen {
        let (size, by) = match part {
            Part::Window => (Size { width: self.width, height: self.height }, (0, 0)),
            Part::Whole => (Size { width: self.full_width, height: self.full_height }, (self.left, self.top)),
        };
        let bounds = Rect {
            left: 0,
            top: 0,
            right: i32::try_from(size.width).unwrap_or(i32::MAX),
            bottom: i32::try_from(size.height).unwrap_or(i32::MAX),
        };
        let mut root = Node::new(0, Props::new(Shape::Web).with(Field::AriaRole, "document"));
        root.bounds = Some(bounds);
        root.children = self.nodes.into_iter().map(|seen| seen.node(by)).collect();
        Screen { snapshot, size, app: Some(self.url), root, picture: None }
    }
}

impl Seen {
    fn node(self, by: (i32, i32)) -> Node {
        let mut props = Props::new(Shape::Web);
        let descriptor = match &self.n {
            Some(name) => format!("{} \"{name}\"", self.r),
            None => self.r.clone(),
        };
        props.set(Field::AriaDescriptor, descriptor);
        props.set(Field::AriaRole, self.r);
        let texts = [
            (Field::AriaName, self.n),
            (Field::Text, self.t),
            (Field::Value, self.v),
            (Field::DataTestId, self.q),
            (Field::CssSelector, self.s),
        ];
        for (field, text) in texts {
            if let Some(text) = text {
                props.set(field, text);
            }
        }
        if let Some(level) = self.h {
            props.set(Field::HeadingLevel, level);
        }
        props.set(Field::IsInteractive, self.x == 1);
        props.set(Field::IsEnabled, self.d == 0);
        if let Some(checked) = self.k {
            props.set(Field::IsChecked, checked == 1);
        }
        let flags = [
            (Field::IsLandmark, self.l),
            (Field::IsSelected, self.e),
            (Field::IsFocused, self.f),
            (Field::IsEditable, self.w),
            (Field::IsPassword, self.p),
        ];
        for (field, flag) in flags {
            if flag == 1 {
                props.set(field, true);
            }
        }
        let [left, top, right, bottom] = self.b;
        let (dx, dy) = by;
        let mut node = Node::new(self.i, props);
        node.bounds = Some(Rect { left: left + dx, top: top + dy, right: right + dx, bottom: bottom + dy });
        node.children = self.c.into_iter().map(|child| child.node(by)).collect();
        node
    }
}
