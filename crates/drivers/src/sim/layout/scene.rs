//! Elements with their positions.

use trailblaze_protocol::geometry::{Point, Rect};

use crate::sim::app::{Colour, Element, Item, Look, Role};
use crate::sim::text::SizedFont;

/// An element on the screen at one moment.
#[derive(Debug)]
pub struct Placed<'a> {
    pub what: PlacedKind,
    /// Its definition in the file; `None` for the parts that every screen has.
    pub element: Option<&'a Element>,
    pub item: Option<&'a Item>,
    pub id: Option<String>,
    /// The displayed text: templates filled in, a password as dots.
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
    /// Its index among the rows of a list.
    pub row: Option<usize>,
    pub lines: Vec<String>,
    pub font: SizedFont,
    /// Its frame, including the parts out of view.
    pub frame: Rect,
    /// The visible part.
    pub visible: Option<Rect>,
    pub scroll: Option<ScrollState>,
    pub children: Vec<Placed<'a>>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PlacedKind {
    Element(Role),
    Screen,
    Bar,
    Title,
    /// The back button in the bar.
    Up,
    Body,
    Tabs,
    /// The scrim: the whole screen beneath a dialog.
    Scrim,
    Dialog,
    Toast,
}

/// The scroll offset of a container.
#[derive(Debug, Clone, Copy)]
pub struct ScrollState {
    pub key: u64,
    pub offset: i32,
    pub content: i32,
}

impl<'a> Placed<'a> {
    pub fn part(what: PlacedKind, font: SizedFont, frame: Rect) -> Placed<'a> {
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
            PlacedKind::Element(role) => Some(role),
            _ => None,
        }
    }

    /// Whether it responds to touch.
    pub fn is_touchable(&self) -> bool {
        match self.what {
            PlacedKind::Up => true,
            PlacedKind::Element(
                Role::Field | Role::Switch | Role::Checkbox | Role::Button | Role::Link | Role::Tab,
            ) => true,
            PlacedKind::Element(_) => self.element.is_some_and(|element| {
                !(element.tap.is_empty() && element.long_press.is_empty() && element.double_tap.is_empty())
            }),
            _ => false,
        }
    }

    pub fn can_scroll(&self) -> bool {
        self.scroll.is_some_and(|scroll| scroll.content > self.frame.height())
    }

    /// The largest useful offset.
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

    /// Computes the visible part of it and of everything inside, within `clip`.
    pub fn clip(&mut self, clip: Option<Rect>) {
        self.visible = clip.and_then(|clip| self.frame.intersect(&clip));
        // Only scrolling containers clip their contents; other frames are as large as their contents.
        let inner = if self.scroll.is_some() { self.visible } else { clip };
        for child in &mut self.children {
            child.clip(inner);
        }
    }

    /// Everything at a point, from the screen down to the topmost element.
    pub fn at(&self, point: Point) -> Vec<&Placed<'a>> {
        let mut path = vec![self];
        let mut here = self;
        let hit = |placed: &&Placed<'a>| {
            placed.what != PlacedKind::Toast && placed.visible.is_some_and(|visible| visible.contains(point))
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
