//! Touch input: the topmost element at a point receives the touch.

use tokio::time::Instant;
use trailblaze_core::driver::Direction;
use trailblaze_protocol::geometry::Point;

use super::app::{Effects, Item, Role};
use super::device::{Installed, SimDevice};
use super::layout::{Placed, PlacedKind};

/// What a touch landed on, detached from the scene so that the device can change.
struct Landed {
    what: PlacedKind,
    id: Option<String>,
    item: Option<Item>,
    tap: Effects,
    double_tap: Effects,
    long_press: Effects,
    change: Effects,
}

impl Landed {
    fn on(placed: &Placed<'_>) -> Landed {
        let effects =
            |pick: fn(&super::app::Element) -> &Effects| placed.element.map(pick).cloned().unwrap_or_default();
        Landed {
            what: placed.what,
            id: placed.id.clone(),
            item: placed.item.cloned(),
            tap: effects(|element| &element.tap),
            double_tap: effects(|element| &element.double_tap),
            long_press: effects(|element| &element.long_press),
            change: effects(|element| &element.change),
        }
    }
}

impl SimDevice {
    pub fn tap(&mut self, point: Point, now: Instant) {
        if let Some(landed) = self.landed(point) {
            self.tap_on(landed, now);
        }
    }

    fn tap_on(&mut self, landed: Landed, now: Instant) {
        match (landed.what, &landed.id) {
            (PlacedKind::Up, _) => self.back(now),
            (PlacedKind::Element(Role::Field), Some(id)) => {
                self.shown_mut().focus = Some(id.clone());
                self.run(&landed.tap.0, landed.item.as_ref(), now);
            }
            (PlacedKind::Element(role), Some(id)) if role.is_toggle() => {
                let Installed { app, state } = &mut self.apps[self.front];
                state.toggle(app, id);
                self.run(&landed.change.0, landed.item.as_ref(), now);
                self.run(&landed.tap.0, landed.item.as_ref(), now);
            }
            _ => self.run(&landed.tap.0, landed.item.as_ref(), now),
        }
    }

    /// Two taps, unless the element has a double-tap effect.
    pub fn double_tap(&mut self, point: Point, now: Instant) {
        match self.landed(point) {
            Some(landed) if !landed.double_tap.is_empty() => {
                self.run(&landed.double_tap.0, landed.item.as_ref(), now);
            }
            _ => {
                self.tap(point, now);
                self.tap(point, now);
            }
        }
    }

    /// The second tap of a double tap, whose first was performed already.
    pub fn tap_again(&mut self, point: Point, now: Instant) {
        match self.landed(point) {
            Some(landed) if !landed.double_tap.is_empty() => {
                self.run(&landed.double_tap.0, landed.item.as_ref(), now);
            }
            _ => self.tap(point, now),
        }
    }

    pub fn long_press(&mut self, point: Point, now: Instant) {
        match self.landed(point) {
            Some(landed) if landed.what == PlacedKind::Element(Role::Field) => self.tap_on(landed, now),
            Some(landed) => self.run(&landed.long_press.0, landed.item.as_ref(), now),
            None => {}
        }
    }

    /// The innermost element at a point that responds to touch, if it is enabled.
    fn landed(&self, point: Point) -> Option<Landed> {
        let scene = self.scene();
        let path = scene.at(point);
        let touched = path.into_iter().rev().find(|placed| placed.is_touchable())?;
        touched.is_enabled.then(|| Landed::on(touched))
    }

    /// Applies the swipe effects of the elements at the start; otherwise scrolls what can be scrolled there. Returns
    /// whether anything responded.
    pub fn swipe(&mut self, from: Point, to: Point, now: Instant) -> bool {
        let (dx, dy) = (to.x.saturating_sub(from.x), to.y.saturating_sub(from.y));
        let direction = match (dx.unsigned_abs() > dy.unsigned_abs(), dx > 0, dy > 0) {
            (true, true, _) => Direction::Right,
            (true, false, _) => Direction::Left,
            (false, _, true) => Direction::Down,
            (false, _, false) => Direction::Up,
        };
        let own = {
            let scene = self.scene();
            let path = scene.at(from);
            path.iter().rev().find_map(|placed| {
                let effects = toward(&placed.element?.swipe, direction);
                (!effects.is_empty()).then(|| (effects.clone(), placed.item.cloned()))
            })
        };
        if let Some((effects, item)) = own {
            self.run(&effects.0, item.as_ref(), now);
            return true;
        }
        let is_vertical = matches!(direction, Direction::Up | Direction::Down);
        if is_vertical && self.scroll_at(from, dy.saturating_neg()) {
            return true;
        }
        let front = &self.apps[self.front];
        let effects = toward(&front.state.scope(&front.app, None).screen().swipe, direction).clone();
        self.run(&effects.0, None, now);
        !effects.is_empty()
    }

    /// Scrolls the innermost scrollable container at a point; returns whether it moved.
    pub fn scroll_at(&mut self, point: Point, by: i32) -> bool {
        let moved = {
            let scene = self.scene();
            let path = scene.at(point);
            path.iter().rev().find_map(|placed| moved(placed, by))
        };
        self.apply_scroll(moved)
    }

    /// Scrolls the first scrollable container on the screen.
    pub fn scroll_any(&mut self, by: i32) -> bool {
        let moved = self.scene().walk().find_map(|placed| moved(placed, by));
        self.apply_scroll(moved)
    }

    fn apply_scroll(&mut self, moved: Option<(u64, i32)>) -> bool {
        let Some((key, offset)) = moved else { return false };
        self.shown_mut().scrolls.insert(key, offset);
        true
    }

    pub fn back(&mut self, now: Instant) {
        let Installed { app, state } = &mut self.apps[self.front];
        let own = &state.scope(app, None).screen().back;
        let leave = if state.shown.dialogs.is_empty() && !own.is_empty() {
            let own = own.clone();
            state.run(app, &own.0, None, now)
        } else {
            state.back(app, now)
        };
        self.leave(leave, now);
    }
}

fn moved(placed: &Placed<'_>, by: i32) -> Option<(u64, i32)> {
    let scroll = placed.scroll.filter(|_| placed.can_scroll())?;
    let offset = scroll.offset.saturating_add(by).clamp(0, placed.scroll_end());
    (offset != scroll.offset).then_some((scroll.key, offset))
}

fn toward(swipes: &super::app::Swipes, direction: Direction) -> &Effects {
    match direction {
        Direction::Up => &swipes.up,
        Direction::Down => &swipes.down,
        Direction::Left => &swipes.left,
        Direction::Right => &swipes.right,
    }
}
