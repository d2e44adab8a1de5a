//! What to look for on a screen, and what looking came to.

mod description;
mod near;
mod search;
mod stable;
mod whereabouts;
mod words;

use trailblaze_protocol::geometry::{Point, Rect};

pub use self::description::{Description, NoDescription};
pub use self::stable::{Stable, alternatives, stable};
use crate::screen::SnapshotId;
use crate::selector::Selector;

#[derive(Debug, Clone, PartialEq)]
pub struct Query {
    pub what: What,
    /// Which of several matches, from 0: on a page as a snapshot lists them, elsewhere and for selectors in reading order;
    /// `None` asks for exactly one.
    pub index: Option<usize>,
}

#[derive(Debug, Clone, PartialEq)]
pub enum What {
    /// By what every platform has; all that is given must hold.
    Element(Element),
    Selector(Box<Selector>),
    /// In the words of a snapshot.
    Described(Box<Description>),
    /// By the reference that a snapshot showed.
    Reference(String),
    /// By the number of a node in the last snapshot that was shown.
    Node(u64),
}

#[derive(Debug, Clone, PartialEq, Default)]
pub struct Element {
    pub text: Option<TextMatch>,
    pub id: Option<String>,
    pub enabled: Option<bool>,
    pub selected: Option<bool>,
}

#[derive(Debug, Clone, PartialEq)]
pub enum TextMatch {
    /// The whole text, white space folded.
    Exact(String),
    Contains(String),
    /// A regular expression or literal, as in selectors.
    Pattern(String),
}

/// What must hold besides the match.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Checks {
    /// It is on the screen, or can be scrolled there where the driver scrolls by itself.
    Visible,
    /// The screen shows it as it is now.
    InView,
    /// It is visible and enabled, whatever covers it.
    Enabled,
    /// It is in view, enabled, and would get the touch.
    Actionable,
}

#[derive(Debug, Clone, PartialEq)]
pub enum Find {
    Found(Found),
    Not(WhyNot),
}

/// An element as it was found, and where to touch it.
#[derive(Debug, Clone, PartialEq)]
pub struct Found {
    pub snapshot: SnapshotId,
    pub node: u64,
    pub reference: Option<String>,
    pub bounds: Rect,
    pub point: Point,
    /// For people: `Button "Pay"`.
    pub summary: String,
    pub text: Option<String>,
    /// How many matched before `index` chose.
    pub count: usize,
}

/// Why there is no element to act on.
#[derive(Debug, Clone, PartialEq)]
pub struct WhyNot {
    pub snapshot: SnapshotId,
    pub asked: Query,
    pub reason: Reason,
}

#[derive(Debug, Clone, PartialEq)]
pub enum Reason {
    /// `near` are elements on the screen that resemble what was asked for, in words.
    NoMatch {
        near: Vec<String>,
    },
    /// Several match, and no index says which. `candidates` are the first of them, in words.
    Several {
        candidates: Vec<String>,
        count: usize,
    },
    OutOfRange {
        index: usize,
        count: usize,
    },
    Offscreen {
        element: String,
    },
    /// It is there, but cannot be seen; `how` says what hides it.
    Hidden {
        element: String,
        how: String,
    },
    Disabled {
        element: String,
    },
    Covered {
        element: String,
        by: String,
    },
    /// It moves, and goes on moving.
    Restless {
        element: String,
    },
    StaleReference {
        reference: String,
    },
}
