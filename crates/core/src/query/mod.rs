//! What to search for on a screen, and the result of a search.

mod about;
mod description;
mod end_state;
mod identity;
mod library_ids;
pub mod meaning;
mod near;
mod search;
mod stable;
mod state;
mod steady;
mod whereabouts;
mod words;

use trailblaze_protocol::geometry::{Point, Rect};

pub(crate) use self::description::is_mark;
pub use self::description::{ElementDescription, NoDescription};
pub use self::end_state::{EndState, end_state};
pub use self::identity::{Surroundings, described, identity};
pub use self::stable::{Stable, alternatives, descriptions, stable};
pub use self::state::{ElementState, element_state};
use crate::screen::SnapshotId;
use crate::selector::{NativeCondition, Selector};

#[derive(Debug, Clone, PartialEq)]
pub struct Query {
    pub what: QueryTarget,
    /// Which of several matches, from 0: on a page as a snapshot lists them, elsewhere and for selectors in reading order;
    /// `None` requires exactly one match.
    pub index: Option<usize>,
}

impl Query {
    /// Whether the device must evaluate a part of it in its own language.
    pub fn is_native(&self) -> bool {
        matches!(&self.what, QueryTarget::Selector(selector) if selector.is_native())
    }

    /// The conditions that the device evaluates.
    pub fn native_conditions(&mut self) -> Vec<&mut NativeCondition> {
        match &mut self.what {
            QueryTarget::Selector(selector) => selector.native_conditions(),
            _ => Vec::new(),
        }
    }
}

#[derive(Debug, Clone, PartialEq)]
pub enum QueryTarget {
    /// By properties that every platform has; all given ones must match.
    Element(ElementProperties),
    Selector(Box<Selector>),
    /// By a description, as in a snapshot.
    Described(Box<ElementDescription>),
    /// By a ref from a snapshot.
    Reference(String),
    /// By a node id from the last snapshot that was shown.
    Node(u64),
}

#[derive(Debug, Clone, PartialEq, Default)]
pub struct ElementProperties {
    pub text: Option<TextMatch>,
    pub id: Option<String>,
    pub enabled: Option<bool>,
    pub selected: Option<bool>,
}

#[derive(Debug, Clone, PartialEq)]
pub enum TextMatch {
    /// The full text, with whitespace collapsed.
    Exact(String),
    Contains(String),
    /// A regular expression or literal text, as in selectors.
    Pattern(String),
}

/// What is checked in addition to the match.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Checks {
    /// The element is on the screen or can be scrolled into view, even if nobody can see it because it is transparent.
    Present,
    /// The element is visible, or can be scrolled into view if the driver scrolls by itself.
    Visible,
    /// The element is visible on the current screen without scrolling.
    InView,
    /// The element is visible and enabled, even if it is covered.
    Enabled,
    /// The element is visible, enabled, and would receive the touch.
    Actionable,
}

#[derive(Debug, Clone, PartialEq)]
pub enum Find {
    Found(Found),
    Not(WhyNot),
}

/// A found element, and where to touch it.
#[derive(Debug, Clone, PartialEq)]
pub struct Found {
    pub snapshot: SnapshotId,
    pub node: u64,
    pub reference: Option<String>,
    pub bounds: Rect,
    pub point: Point,
    /// Where to touch it exactly, from the left and top edges, if a driver knows that.
    pub exact: Option<(f64, f64)>,
    /// A description for people: `Button "Pay"`.
    pub summary: String,
    pub text: Option<String>,
    /// How many elements matched before `index` was applied.
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
    /// `near` describes elements on the screen that are similar to the requested one.
    NoMatch {
        near: Vec<String>,
    },
    /// Several match, and there is no index. `candidates` describes the first of them.
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
    /// The element exists but is hidden; `how` describes what hides it.
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
    /// The element keeps moving.
    Restless {
        element: String,
    },
    StaleReference {
        reference: String,
    },
}
