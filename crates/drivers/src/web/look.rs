//! Builds a screen from what the walkers of a page's frames saw.

use std::collections::HashMap;

use serde::Deserialize;
use serde_json::{Value, json};
use trailblaze_core::driver::Offset;
use trailblaze_core::screen::{Field, Node, Props, Screen, Shape, SnapshotId};
use trailblaze_protocol::geometry::{Point, Rect, Size};

/// The answer of a walker. Node keys are short because there are many nodes.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct WalkerAnswer {
    /// Different for each load of each page.
    pub document: u64,
    url: String,
    /// `null` if it is like no other.
    origin: String,
    title: String,
    width: u32,
    height: u32,
    left: i32,
    top: i32,
    full_width: u32,
    full_height: u32,
    pub nodes: Vec<Seen>,
    /// Where to touch the element, if just one may match.
    pub ready: Option<Ready>,
    /// Elements that may have a closed shadow root.
    #[serde(default)]
    pub shut: Vec<u64>,
    /// Whether an animation is about to end.
    #[serde(default)]
    moves: bool,
}

#[derive(Debug, Deserialize)]
pub struct Seen {
    /// The document of the frame that it is in; `None` in the main frame.
    #[serde(skip)]
    document: Option<u64>,
    pub i: u64,
    r: String,
    b: [i32; 4],
    /// Where the frame's document begins.
    g: Option<[i32; 2]>,
    /// The origin of the frame's document.
    #[serde(skip)]
    frame_origin: Option<String>,
    n: Option<String>,
    t: Option<String>,
    /// Its text equals its name.
    #[serde(default)]
    m: u8,
    v: Option<String>,
    q: Option<String>,
    /// Its id.
    j: Option<String>,
    /// A CSS selector that it matches; `#` and its id if not set.
    s: Option<String>,
    a: Option<String>,
    h: Option<i64>,
    k: Option<u8>,
    /// 1 if it is interactive, 2 if all that is known is that it takes the focus.
    #[serde(default)]
    x: u8,
    #[serde(default)]
    d: u8,
    #[serde(default)]
    l: u8,
    #[serde(default)]
    e: u8,
    #[serde(default)]
    f: u8,
    #[serde(default)]
    w: u8,
    #[serde(default)]
    p: u8,
    #[serde(default)]
    o: u8,
    /// It is scrolled out of, or cut off by, the box or frame that contains it.
    #[serde(default)]
    z: u8,
    /// It is reported only to a search for text.
    #[serde(default)]
    u: u8,
    /// What hides it.
    y: Option<String>,
    #[serde(default)]
    c: Vec<Seen>,
}

/// What an element is made ready for.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum ElementUse {
    /// A touch in its middle, unless there is an offset.
    Touch { at: Option<Offset> },
    /// Something is dropped on its middle, unless there is an offset.
    Drop { at: Option<Offset> },
    /// It receives the focus, even if it is covered.
    Focus,
}

impl ElementUse {
    pub fn name(self) -> &'static str {
        match self {
            ElementUse::Touch { .. } => "touch",
            ElementUse::Drop { .. } => "drop",
            ElementUse::Focus => "focus",
        }
    }

    /// In the format of the walker.
    pub fn json(self) -> Value {
        match self {
            ElementUse::Touch { at: Some(Offset { x, y }) } | ElementUse::Drop { at: Some(Offset { x, y }) } => {
                json!({"how": self.name(), "at": [x, y]})
            }
            _ => json!({"how": self.name()}),
        }
    }
}

/// What the pointer did to the element that it was aimed at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Contact {
    Press,
    Hover,
    None,
}

impl Contact {
    pub fn name(self) -> &'static str {
        match self {
            Contact::Press => "press",
            Contact::Hover => "hover",
            Contact::None => "none",
        }
    }
}

/// Whether an element is ready for its use, and where it is.
#[derive(Debug, Clone, Deserialize)]
pub struct Ready {
    pub id: Option<u64>,
    pub why: Option<String>,
    #[serde(default)]
    pub by: String,
    #[serde(default)]
    pub x: f64,
    #[serde(default)]
    pub y: f64,
    pub b: Option<[i32; 4]>,
    #[serde(default, rename = "isScrolled")]
    pub is_scrolled: bool,
}

impl Ready {
    pub fn point(&self) -> Point {
        Point { x: self.x.round() as i32, y: self.y.round() as i32 }
    }
}

/// The part of a page that a screen covers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PagePart {
    /// What the window shows.
    Window,
    /// All of it: an element that is scrolled out of view can be scrolled back.
    Whole,
}

/// The id of an element: the number of its frame, then its id in the frame's walker.
pub fn node_id(frame: u64, element: u64) -> u64 {
    frame << 32 | element
}

/// The numbers of the frame and of the element in it.
pub fn parts_of(node: u64) -> (u64, u64) {
    (node >> 32, node & 0xffff_ffff)
}

impl WalkerAnswer {
    pub fn screen(self, snapshot: SnapshotId, part: PagePart) -> Screen {
        let (size, by) = match part {
            PagePart::Window => (Size { width: self.width, height: self.height }, (0, 0)),
            PagePart::Whole => (Size { width: self.full_width, height: self.full_height }, (self.left, self.top)),
        };
        let bounds = Rect {
            left: 0,
            top: 0,
            right: i32::try_from(size.width).unwrap_or(i32::MAX),
            bottom: i32::try_from(size.height).unwrap_or(i32::MAX),
        };
        let mut root = Node::new(0, Props::new(Shape::Web).with(Field::AriaRole, "document"));
        if !self.title.trim().is_empty() {
            root.props.set(Field::AriaName, self.title);
        }
        root.props.set(Field::FrameOrigin, self.origin);
        root.bounds = Some(bounds);
        root.document = Some(self.document);
        root.children = self.nodes.into_iter().map(|seen| seen.node(by, root.document)).collect();
        if part == PagePart::Whole {
            root.children.iter_mut().for_each(|child| bring_in(child, bounds));
        }
        number_the_alike(&mut root);
        Screen { snapshot, size, app: Some(self.url), root, picture: None, is_moving: self.moves }
    }

    /// Makes the ids of the document of a frame those of the whole page.
    pub fn number(&mut self, frame: u64) {
        let document = self.document;
        self.nodes.iter_mut().for_each(|node| node.shift(frame, document, (0, 0)));
    }

    /// Removes the hidden elements, which have no children.
    pub fn take_hidden(&mut self) -> Vec<Seen> {
        fn take(nodes: &mut Vec<Seen>, hidden: &mut Vec<Seen>) {
            hidden.extend(nodes.extract_if(.., |node| node.y.is_some()));
            nodes.iter_mut().for_each(|node| take(&mut node.c, hidden));
        }
        let mut hidden = Vec::new();
        take(&mut self.nodes, &mut hidden);
        hidden
    }

    /// Finds an element by id in the whole tree.
    pub fn find(&mut self, id: u64) -> Option<&mut Seen> {
        find(&mut self.nodes, id)
    }

    pub fn has_frames(&self) -> bool {
        fn any(nodes: &[Seen]) -> bool {
            nodes.iter().any(|node| node.g.is_some() || any(&node.c))
        }
        any(&self.nodes)
    }
}

/// A screen with just these elements.
pub fn screen_of(nodes: Vec<Seen>, snapshot: SnapshotId) -> Screen {
    let mut root = Node::new(0, Props::new(Shape::Web));
    root.children = nodes.into_iter().map(|seen| seen.node((0, 0), None)).collect();
    Screen { snapshot, size: Size { width: 0, height: 0 }, app: None, root, picture: None, is_moving: false }
}

fn find(nodes: &mut [Seen], id: u64) -> Option<&mut Seen> {
    for node in nodes {
        if node.i == id {
            return Some(node);
        }
        if let Some(found) = find(&mut node.c, id) {
            return Some(found);
        }
    }
    None
}

/// Elements that are scrolled out of view within the page are present: a touch scrolls them back.
fn bring_in(node: &mut Node, page: Rect) {
    node.is_clipped = false;
    if let Some(own) = &mut node.bounds {
        let by = |from: i32, to: i32, least: i32, most: i32| (least - to + 1).max(0) + (most - from - 1).min(0);
        let dx = by(own.left, own.right, page.left, page.right);
        let dy = by(own.top, own.bottom, page.top, page.bottom);
        *own = Rect { left: own.left + dx, top: own.top + dy, right: own.right + dx, bottom: own.bottom + dy };
    }
    node.children.iter_mut().for_each(|child| bring_in(child, page));
}

/// Numbers the elements that have the same description.
fn number_the_alike(root: &mut Node) {
    let mut counts: HashMap<String, (i64, i64)> = HashMap::new();
    let descriptor = |node: &Node| node.props.text(Field::AriaDescriptor).map(str::to_string);
    for found in root.walk().filter_map(descriptor) {
        counts.entry(found).or_default().0 += 1;
    }
    counts.retain(|_, (count, _)| *count > 1);
    if counts.is_empty() {
        return;
    }
    let mut todo = vec![root];
    while let Some(node) = todo.pop() {
        if let Some((_, next)) = descriptor(node).and_then(|descriptor| counts.get_mut(&descriptor)) {
            node.props.set(Field::NthIndex, *next);
            *next += 1;
        }
        todo.extend(node.children.iter_mut().rev());
    }
}

impl Seen {
    /// Where the document of the frame that this element contains begins.
    pub fn origin(&self) -> Option<[i32; 2]> {
        self.g
    }

    /// Adds the document of the frame that this element contains.
    pub fn hold(&mut self, frame: u64, inner: WalkerAnswer) {
        let Some([left, top]) = self.g else { return };
        self.c = inner.nodes;
        self.frame_origin = Some(inner.origin);
        self.c.iter_mut().for_each(|node| node.shift(frame, inner.document, (left, top)));
        let window = Rect { left: self.b[0], top: self.b[1], right: self.b[2], bottom: self.b[3] };
        let is_clipped = self.z == 1;
        self.c.iter_mut().for_each(|node| node.clip(window, is_clipped));
    }

    /// Clips the contents of a frame to what the frame shows.
    fn clip(&mut self, window: Rect, is_clipped: bool) {
        let [left, top, right, bottom] = self.b;
        if is_clipped || (Rect { left, top, right, bottom }).intersect(&window).is_none() {
            self.z = 1;
        }
        self.c.iter_mut().for_each(|child| child.clip(window, is_clipped));
    }

    fn shift(&mut self, frame: u64, document: u64, (dx, dy): (i32, i32)) {
        // Elements of nested frames already have their ids.
        if self.i >> 32 == 0 {
            self.i = node_id(frame, self.i);
            self.document = Some(document);
        }
        let [left, top, right, bottom] = self.b;
        self.b = [left + dx, top + dy, right + dx, bottom + dy];
        self.g = self.g.map(|[left, top]| [left + dx, top + dy]);
        self.c.iter_mut().for_each(|child| child.shift(frame, document, (dx, dy)));
    }

    fn node(self, by: (i32, i32), main: Option<u64>) -> Node {
        let mut props = Props::new(Shape::Web);
        let descriptor = match &self.n {
            Some(name) => format!("{} \"{name}\"", self.r),
            None => self.r.clone(),
        };
        props.set(Field::AriaDescriptor, descriptor);
        props.set(Field::AriaRole, self.r);
        let text = if self.m == 1 { self.n.clone() } else { self.t };
        let css = self.s.or_else(|| self.j.as_ref().map(|id| format!("#{id}")));
        let texts = [
            (Field::AriaName, self.n),
            (Field::Text, text),
            (Field::Value, self.v),
            (Field::DataTestId, self.q),
            (Field::ElementId, self.j),
            (Field::CssSelector, css),
            (Field::Hidden, self.y),
            (Field::Options, self.a),
            (Field::FrameOrigin, self.frame_origin),
        ];
        for (field, text) in texts {
            if let Some(text) = text {
                props.set(field, text);
            }
        }
        if let Some(level) = self.h {
            props.set(Field::HeadingLevel, level);
        }
        props.set(Field::IsInteractive, self.x > 0);
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
            (Field::IsCovered, self.o),
            (Field::IsUnlisted, self.u),
            (Field::IsFocusOnly, u8::from(self.x == 2)),
        ];
        for (field, flag) in flags {
            if flag == 1 {
                props.set(field, true);
            }
        }
        let [left, top, right, bottom] = self.b;
        let (dx, dy) = by;
        let mut node = Node::new(self.i, props);
        node.document = self.document.or(main);
        node.is_clipped = self.z == 1;
        node.reference = Some(match parts_of(self.i) {
            (0, element) => format!("e{element}"),
            (frame, element) => format!("f{frame}e{element}"),
        });
        node.bounds = Some(Rect { left: left + dx, top: top + dy, right: right + dx, bottom: bottom + dy });
        node.children = self.c.into_iter().map(|child| child.node(by, main)).collect();
        node
    }
}
