//! The size that an element needs.

use crate::sim::app::{Look, Role};

use super::metrics::Metrics;
use super::place::Wanted;

impl Metrics {
    /// The preferred width of an element in a row.
    pub fn natural_width(&self, wanted: &Wanted<'_>) -> i32 {
        let text = || self.type_of(wanted.role, wanted.look()).width(&wanted.text).ceil() as i32 + 1;
        match wanted.role {
            Role::Button => text() + self.px(48.0),
            Role::Link => text() + self.px(8.0),
            Role::Image | Role::Spinner => self.px(40.0),
            Role::Switch => text() + self.px(68.0),
            Role::Checkbox => text() + self.px(36.0),
            Role::Divider => self.px(1.0),
            Role::Field | Role::Column | Role::Card | Role::List | Role::Row => self.px(160.0),
            Role::Text | Role::Heading | Role::Icon | Role::Tab => text(),
        }
    }

    /// The height of an element with this many lines of text, unless its contents decide it.
    pub fn height_of(&self, wanted: &Wanted<'_>, lines: usize) -> i32 {
        let line = self.type_of(wanted.role, wanted.look()).line_height();
        let text = (line * lines as f32).ceil() as i32;
        match wanted.role {
            Role::Button if wanted.look() == Look::Small => self.px(40.0),
            Role::Button | Role::Switch | Role::Checkbox => self.px(48.0),
            Role::Link => self.px(40.0),
            Role::Field => self.px(56.0),
            Role::Icon => self.px(72.0),
            Role::Image if wanted.is_in_row => self.px(40.0),
            Role::Image => self.px(96.0),
            Role::Spinner => self.px(56.0),
            Role::Divider => self.px(1.0).max(1),
            _ => text,
        }
    }
}

impl Role {
    /// Whether it takes the remaining width in a row.
    pub fn stretches(self) -> bool {
        matches!(self, Role::Field | Role::Column | Role::Card | Role::List | Role::Row)
    }
}
