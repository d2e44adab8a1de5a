//! Performs one action: by the element's own action where it has one, otherwise with the pointer and the keyboard.

use std::time::Duration;

use trailblaze_core::driver::{
    Action, ActionOutput, ActionTarget, Budget, ClickOptions, Direction, DriverError, Key, Modifier, Offset,
};
use trailblaze_core::query::Found;
use trailblaze_protocol::geometry::{Point, Rect};

use super::atspi::AccessibleApp;
use super::driver::{DesktopDriver, SeenElement, unsupported};
use super::x11::{KeyChord, KeyStroke, PointerStep, XDisplay, chord_of};
use crate::gesture::{self, Gesture, LONG_PRESS};

const LEFT: u8 = 1;
const CONTROL: u32 = 0xffe3;
const BACKSPACE: u32 = 0xff08;
/// How far one notch of the wheel scrolls in most toolkits, in pixels.
const NOTCH: u32 = 50;
const MOST_NOTCHES: u32 = 400;
/// The most keys that are pressed to erase a text.
const MOST_ERASED: u32 = 5_000;
/// Into how many pieces a movement of the pointer is cut, so that programs see a movement.
const PIECES: u32 = 12;

impl DesktopDriver {
    pub(super) async fn perform(
        &self,
        budget: &Budget,
        target: &ActionTarget,
        action: &Action,
    ) -> Result<ActionOutput, DriverError> {
        match action {
            Action::Tap => self.tap(budget, target).await?,
            Action::DoubleTap => self.click(budget, target, action, &clicks(2)).await?,
            Action::LongPress => {
                let at = self.aim(budget, target, action).await?;
                let steps =
                    [PointerStep::to(at), PointerStep::press(LEFT), PointerStep::release(LEFT).after(LONG_PRESS)];
                self.x(action.name())?.point(budget, steps.to_vec()).await?;
            }
            Action::Click(options) => self.click(budget, target, action, options).await?,
            Action::Hover { at } => {
                self.bring_to_front(budget, target).await?;
                let place = place_in(target, *at).ok_or_else(|| needs_a_place(action))?;
                self.x(action.name())?.point(budget, vec![PointerStep::to(place)]).await?;
            }
            Action::InputText { text } => self.input_text(budget, target, text).await?,
            Action::SetText { text } => self.set_text(budget, target, text).await?,
            Action::EraseText { count } => self.erase(budget, target, *count).await?,
            Action::PressKey { key } => self.press_key(budget, *key).await?,
            Action::PressChord { chord, count, repeats } => {
                self.focus_target(budget, target).await?;
                self.press_chord(budget, chord, count.saturating_add(*repeats)).await?;
            }
            // There is no keyboard on the screen.
            Action::HideKeyboard => {}
            Action::Swipe { from, to, duration } => self.drag(budget, action, *from, *to, *duration).await?,
            Action::Drag { at, to } => {
                self.bring_to_front(budget, target).await?;
                let gesture = gesture::drag(target, *at, to).ok_or_else(|| needs_a_place(action))?;
                let Gesture::Drag { from, to } = gesture else { return Err(needs_a_place(action)) };
                self.drag(budget, action, from, to, Duration::from_millis(400)).await?;
            }
            Action::Scroll { direction, amount } => self.scroll(budget, target, action, *direction, *amount).await?,
            Action::ScrollIntoView => self.scroll_into_view(budget, target).await?,
            Action::Choose { values } => self.choose(budget, target, values).await?,
            Action::SetChecked { checked } => {
                let element = self.element(target).ok_or_else(|| needs_a_place(action))?;
                if element.is_checked != Some(*checked) {
                    self.tap(budget, target).await?;
                }
            }
            Action::Attribute { name } => return self.attribute(budget, target, name.as_deref()).await,
            Action::Pinch { .. } | Action::Twist { .. } | Action::Upload { .. } => {
                return Err(unsupported(action.name()));
            }
        }
        Ok(ActionOutput::default())
    }

    /// The element of a target, as it was seen last.
    pub(super) fn element(&self, target: &ActionTarget) -> Option<SeenElement> {
        let ActionTarget::Element(found) = target else { return None };
        self.seen.lock().elements.get(&found.node).cloned()
    }

    async fn tap(&self, budget: &Budget, target: &ActionTarget) -> Result<(), DriverError> {
        if let Some(element) = self.element(target).filter(|element| self.acts_by_itself(element)) {
            self.bring_to_front(budget, target).await?;
            if self.do_action(budget, &element).await? {
                return Ok(());
            }
        }
        match (&self.x, self.element(target)) {
            // Without a pointer, a field can at least get the keys.
            (None, Some(element)) => self.grab_focus(budget, &element).await,
            _ => self.click(budget, target, &Action::Tap, &clicks(1)).await,
        }
    }

    /// Whether the element's own action is performed, in place of a click.
    fn acts_by_itself(&self, element: &SeenElement) -> bool {
        // A program of GTK 3 answers nothing while its action waits for a dialog that it has opened.
        let is_gtk3 = || {
            let seen = self.seen.lock();
            seen.programs.get(&element.at.app).is_some_and(AccessibleApp::is_gtk3)
        };
        has_own_action(element) && (self.x.is_none() || !is_gtk3())
    }

    async fn click(
        &self,
        budget: &Budget,
        target: &ActionTarget,
        action: &Action,
        options: &ClickOptions,
    ) -> Result<(), DriverError> {
        use trailblaze_core::driver::Button;
        let x = self.x(action.name())?;
        self.bring_to_front(budget, target).await?;
        let at = place_in(target, options.at).ok_or_else(|| needs_a_place(action))?;
        let button = match options.button {
            Button::Left => LEFT,
            Button::Middle => 2,
            Button::Right => 3,
        };
        let mut steps = vec![PointerStep::to(at)];
        for _ in 0..options.count.clamp(1, 10) {
            steps.extend([PointerStep::press(button), PointerStep::release(button)]);
        }
        let held: Vec<KeyStroke> = options.modifiers.iter().map(|modifier| key_of(*modifier)).collect();
        match held.is_empty() {
            true => x.point(budget, steps).await,
            false => x.point_holding(budget, held, steps).await,
        }
    }

    /// Brings the window of the target to the front, as a person does before using it.
    pub(super) async fn bring_to_front(&self, budget: &Budget, target: &ActionTarget) -> Result<(), DriverError> {
        let (Some(x), ActionTarget::Element(found)) = (&self.x, target) else { return Ok(()) };
        let Some(window) = self.seen.lock().elements.get(&found.node).and_then(|element| element.window) else {
            return Ok(());
        };
        let windows = x.windows(budget).await?;
        let Some(place) = windows.iter().position(|known| known.id == window) else {
            return Err(DriverError::Evaded { how: format!("the window of {} was closed", found.summary) });
        };
        let is_in_front = windows[place].is_active || windows[place].is_popup;
        if is_in_front && !is_covered(&windows[place + 1..], found) {
            return Ok(());
        }
        // Its manager may keep another in front, such as the dialog of the window.
        let windows = self.activate(budget, window).await?;
        let above = windows.iter().skip_while(|known| known.id != window).skip(1);
        match above.clone().find(|other| other.bounds.contains(found.point) && !other.is_popup) {
            Some(other) => {
                let how = format!("the window \"{}\" is in front of {}", other.title, found.summary);
                Err(DriverError::Evaded { how })
            }
            None => Ok(()),
        }
    }

    async fn aim(&self, budget: &Budget, target: &ActionTarget, action: &Action) -> Result<Point, DriverError> {
        self.bring_to_front(budget, target).await?;
        target.point().ok_or_else(|| needs_a_place(action))
    }

    pub(super) async fn press_chord(&self, budget: &Budget, chord: &str, count: u32) -> Result<(), DriverError> {
        let chord = chord_of(chord).map_err(|name| {
            let reason = format!("there is no key `{name}`; write keys as `Control+S`, `F5`, `PageDown` or `a`");
            DriverError::Refused { reason }
        })?;
        self.x("pressKeys")?.press(budget, chord, count.clamp(1, MOST_ERASED)).await
    }

    async fn press_key(&self, budget: &Budget, key: Key) -> Result<(), DriverError> {
        match key {
            Key::Enter | Key::Backspace | Key::Tab | Key::Escape => self.press_chord(budget, key.name(), 1).await,
            Key::Back | Key::Home | Key::VolumeUp | Key::VolumeDown | Key::Power | Key::AppSwitch => {
                Err(unsupported(&format!("pressKey {}", key.name())))
            }
        }
    }

    /// Erases from the end of the target, or of the field with the keys.
    async fn erase(&self, budget: &Budget, target: &ActionTarget, count: Option<u32>) -> Result<(), DriverError> {
        self.focus_target(budget, target).await?;
        let x = self.x("eraseText")?;
        let key = |key: u32| KeyChord { held: Vec::new(), key: KeyStroke(key) };
        match count {
            Some(count) => x.press(budget, key(BACKSPACE), count.min(MOST_ERASED)).await,
            None => {
                select_all(x, budget).await?;
                x.press(budget, key(BACKSPACE), 1).await
            }
        }
    }

    async fn drag(
        &self,
        budget: &Budget,
        action: &Action,
        from: Point,
        to: Point,
        duration: Duration,
    ) -> Result<(), DriverError> {
        let pause = gesture::bounded(duration) / PIECES;
        let mut steps = vec![PointerStep::to(from), PointerStep::press(LEFT).after(Duration::from_millis(20))];
        for piece in 1..=PIECES {
            let part = |from: i32, to: i32| from + (to - from) * piece as i32 / PIECES as i32;
            steps.push(PointerStep::to(Point { x: part(from.x, to.x), y: part(from.y, to.y) }).after(pause));
        }
        // A program takes what is dropped where the pointer rests.
        steps.push(PointerStep::to(to).after(pause));
        steps.push(PointerStep::release(LEFT).after(Duration::from_millis(50)));
        self.x(action.name())?.point(budget, steps).await
    }

    async fn scroll(
        &self,
        budget: &Budget,
        target: &ActionTarget,
        action: &Action,
        direction: Direction,
        amount: Option<u32>,
    ) -> Result<(), DriverError> {
        let x = self.x(action.name())?;
        self.bring_to_front(budget, target).await?;
        let windows = x.windows(budget).await?;
        let screen = Rect::new(0, 0, x.size.width as i32, x.size.height as i32);
        let active = windows.iter().find(|window| window.is_active).map_or(screen, |window| window.bounds);
        let at = target.point().unwrap_or_else(|| active.center());
        let (button, length) = match direction {
            Direction::Up => (4, active.height()),
            Direction::Down => (5, active.height()),
            Direction::Left => (6, active.width()),
            Direction::Right => (7, active.width()),
        };
        let pixels = amount.unwrap_or(u32::try_from(length).unwrap_or(0) / 5 * 3);
        let notches = pixels.div_ceil(NOTCH).clamp(1, MOST_NOTCHES);
        let mut steps = vec![PointerStep::to(at)];
        for _ in 0..notches {
            steps.extend([PointerStep::press(button), PointerStep::release(button)]);
        }
        x.point(budget, steps).await
    }
}

/// Selects all text of the field that has the keys.
pub(super) async fn select_all(x: &XDisplay, budget: &Budget) -> Result<(), DriverError> {
    x.press(budget, KeyChord { held: vec![KeyStroke(CONTROL)], key: KeyStroke(u32::from('a')) }, 1).await
}

/// Elements whose own action does what a click does. That of an item of a list is a double click in some toolkits.
fn has_own_action(element: &SeenElement) -> bool {
    const CLASSES: [&str; 13] = [
        "Button",
        "CheckMenuItem",
        "Checkbox",
        "ColumnHeader",
        "DropdownList",
        "Link",
        "Menu",
        "MenuItem",
        "RadioButton",
        "RadioMenuItem",
        "Switch",
        "Tab",
        "ToggleButton",
    ];
    CLASSES.contains(&element.class)
}

fn clicks(count: u32) -> ClickOptions {
    ClickOptions { button: trailblaze_core::driver::Button::Left, count, modifiers: Vec::new(), at: None }
}

fn key_of(modifier: Modifier) -> KeyStroke {
    KeyStroke(match modifier {
        Modifier::Alt => 0xffe9,
        Modifier::Control | Modifier::ControlOrMeta => CONTROL,
        Modifier::Meta => 0xffeb,
        Modifier::Shift => 0xffe1,
    })
}

/// Whether a window above is at the place of the element.
fn is_covered(above: &[super::x11::XWindow], found: &Found) -> bool {
    above.iter().any(|window| !window.is_popup && window.bounds.contains(found.point))
}

fn place_in(target: &ActionTarget, at: Option<Offset>) -> Option<Point> {
    match (target, at) {
        (ActionTarget::Element(found), Some(at)) => {
            let (x, y) = (found.bounds.left.saturating_add(at.x), found.bounds.top.saturating_add(at.y));
            Some(Point { x, y })
        }
        _ => target.point(),
    }
}

fn needs_a_place(action: &Action) -> DriverError {
    DriverError::Refused { reason: format!("`{}` needs an element or a point", action.name()) }
}
