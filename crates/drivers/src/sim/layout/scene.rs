//! Elements with their places.

use trailblaze_protocol::geometry::{Point, Rect};

use crate::sim::app::{Colour, Element, Item, Look, Role};
use crate::sim::text::Type;

/// An element as it is on the screen at one moment.
#[derive(Debug)]
pub struct Placed<'a> {
    pub what: What,
    /// Its description in the file; the parts that every screen has come without one.
    pub element: Option<&'a Element>,
    pub item: Option<&'a Item>,
    pub id: Option<String>,
    /// The text as it is read: templates filled in, a password as dots.
    pub text: String,
    pub label: Option<String>,
    pub hint: Option<String>,
    pub look: Look,
    pub colour: Option<Colour>,
    pub is_enabled: bool,
    pub checked: Option<bool>,
    pub is_selected: bool,
    pub is_focused: bool,
    pub is_password: bool,
    /// Its place among the rows of a list.
    pub row: Option<usize>,
    pub lines: Vec<String>,
    pub font: Type,
    /// Where it is, the parts out of sight included.
    pub frame: Rect,
    /// The part in sight.
    pub visible: Option<Rect>,
    pub scroll: Option<Scroll>,
    pub children: Vec<Placed<'a>>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum What {
    Element(Role),
    Screen,
    Bar,
    Title,
    /// The way back, in the bar.
    Up,
    Body,
    Tabs,
    /// All of the screen beneath a dialog.
    Scrim,
    Dialog,
    Toast,
}

/// How far the content of a container has moved up.
#[derive(Debug, Clone, Copy)]
pub struct Scroll {
    pub key: u64,
    pub offset: i32,
    pub content: i32,
}

impl<'a> Placed<'a> {
    pub fn part(what: What, font: Type, frame: Rect) -> Placed<'a> {
        Placed {
            what,
            element: None,
            item: None,
            id: None,
            text: String::new(),
            label: None,
            hint: None,
            look: Look::Plain,
            colour: None,
            is_enabled: true,
            checked: None,
            is_selected: false,
            is_focused: false,
            is_password: false,
            row: None,
            lines: Vec::new(),
            font,
            frame,
            visible: None,
            scroll: None,
            children: Vec::new(),
        }
    }

    pub fn role(&self) -> Option<Role> {
        match self.what {
            What::Element(role) => Some(role),
            _ => None,
        }
    }

    /// Whether a finger does something here.
    pub fn is_touchable(&self) -> bool {
        match self.what {
            What::Up => true,
            What::Element(Role::Field | Role::Switch | Role::Checkbox | Role::Button | Role::Link | Role::Tab) => true,
            What::Element(_) => self.element.is_some_and(|element| {
                !(element.tap.is_empty() && element.long_press.is_empty() && element.double_tap.is_empty())
            }),
            _ => false,
        }
    }

    pub fn can_scroll(&self) -> bool {
        self.scroll.is_some_and(|scroll| scroll.content > self.frame.height())
    }

    /// The greatest useful offset.
    pub fn scroll_end(&self) -> i32 {
        self.scroll.map_or(0, |scroll| (scroll.content - self.frame.height()).max(0))
    }

    pub fn move_by(&mut self, dx: i32, dy: i32) {
        let Rect { left, top, right, bottom } = self.frame;
        self.frame = Rect { left: left + dx, top: top + dy, right: right + dx, bottom: bottom + dy };
        for child in &mut self.children {
            child.move_by(dx, dy);
        }
    }

    /// Works out what is in sight of it and of everything inside, within `clip`.
    pub fn clip(&mut self, clip: Option<Rect>) {
        self.visible = clip.and_then(|clip| self.frame.intersect(&clip));
        // Only what scrolls cuts its content off; other frames are as large as what they hold.
        let inner = if self.scroll.is_some() { self.visible } else { clip };
        for child in &mut self.children {
            child.clip(inner);
        }
    }

    /// Everything at a point, from the screen down to the topmost element there.
    pub fn at(&self, point: Point) -> Vec<&Placed<'a>> {
        let mut path = vec![self];
        let mut here = self;
        let hit = |placed: &&Placed<'a>| {
            placed.what != What::Toast && placed.visible.is_some_and(|visible| visible.contains(point))
        };
        while let Some(child) = here.children.iter().rev().find(hit) {
            path.push(child);
            here = child;
        }
        path
    }

    pub fn walk(&self) -> impl Iterator<Item = &Placed<'a>> {
        let mut stack = vec![self];
        std::iter::from_fn(move || {
            let placed = stack.pop()?;
            stack.extend(placed.children.iter().rev());
            Some(placed)
        })
    }
}
