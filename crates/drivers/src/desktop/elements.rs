//! What is done with one element through accessibility, and typing.

use std::time::Duration;

use serde_json::json;
use tokio::time::Instant;
use trailblaze_core::driver::{ActionOutput, ActionTarget, Budget, DriverError};

use super::act::select_all;
use super::atspi::{AccessibleNode, AccessibleRef, AtspiError, AtspiStates, TreeWalk};
use super::dbus::{DBusArguments, DBusValue};
use super::driver::{DesktopDriver, SeenElement, unsupported};
use super::look::{lost, silence};
use super::x11::strokes_of;

const ACCESSIBLE: &str = "org.a11y.atspi.Accessible";
const ACTION: &str = "org.a11y.atspi.Action";
const COMPONENT: &str = "org.a11y.atspi.Component";
const EDITABLE_TEXT: &str = "org.a11y.atspi.EditableText";
const SELECTION: &str = "org.a11y.atspi.Selection";
const TEXT: &str = "org.a11y.atspi.Text";
/// How long a program may take to answer.
const ANSWER: Duration = Duration::from_secs(4);
/// A program whose action opens a dialog may not return before the dialog is closed.
const ACTING: Duration = Duration::from_millis(1500);
/// How long a field may take to get the keys.
const FOCUS: Duration = Duration::from_secs(2);
const TICK: Duration = Duration::from_millis(20);
/// What toolkits call the action that a click performs, the best first.
const CLICK: [&str; 8] = ["click", "press", "activate", "toggle", "showmenu", "jump", "select", "open"];

impl DesktopDriver {
    async fn ask(
        &self,
        at: &AccessibleRef,
        interface: &str,
        member: &str,
        arguments: DBusArguments,
    ) -> Result<DBusValue, AtspiError> {
        let values = self.bus.call(at, interface, member, &arguments, ANSWER).await?;
        Ok(values.into_iter().next().unwrap_or(DBusValue::Bool(true)))
    }

    /// An error of a program, with its name.
    fn at_fault(&self, at: &AccessibleRef, error: AtspiError) -> DriverError {
        let app = self.seen.lock().programs.get(&at.app).cloned();
        match (error, app) {
            (AtspiError::Silent(_), Some(app)) => DriverError::Refused { reason: silence(&app) },
            (AtspiError::Refused(_), _) => DriverError::Evaded { how: "the element is not there any more".to_string() },
            (error, _) => lost(error),
        }
    }

    /// Performs the element's own action. Returns whether it has one.
    pub(super) async fn do_action(&self, budget: &Budget, element: &SeenElement) -> Result<bool, DriverError> {
        let actions =
            budget.run("an action", self.ask(&element.at, ACTION, "GetActions", DBusArguments::new())).await?;
        let actions = match actions {
            Ok(actions) => actions,
            Err(AtspiError::Refused(_)) => return Ok(false),
            Err(error) => return Err(self.at_fault(&element.at, error)),
        };
        let names: Vec<String> = actions
            .items()
            .iter()
            .map(|action| action.items().first().and_then(DBusValue::text).unwrap_or_default().to_lowercase())
            .collect();
        let index = CLICK.iter().find_map(|wanted| names.iter().position(|name| name == wanted));
        match index.and_then(|index| i32::try_from(index).ok()) {
            Some(index) => self.do_numbered_action(budget, element, index).await,
            None => Ok(false),
        }
    }

    async fn do_numbered_action(
        &self,
        budget: &Budget,
        element: &SeenElement,
        index: i32,
    ) -> Result<bool, DriverError> {
        let arguments = DBusArguments::new().int(index);
        let done = self.bus.call(&element.at, ACTION, "DoAction", &arguments, ACTING);
        match budget.run("an action", done).await? {
            Ok(values) => Ok(values.first().and_then(DBusValue::bool).unwrap_or(true)),
            Err(AtspiError::Silent(_)) => {
                // It may wait for a dialog; a program that hangs does not answer this either.
                let alive =
                    budget.run("a program", self.bus.property(&element.at, ACCESSIBLE, "ChildCount", ANSWER)).await?;
                match alive {
                    Err(error @ AtspiError::Silent(_)) => Err(self.at_fault(&element.at, error)),
                    _ => Ok(true),
                }
            }
            Err(error) => Err(self.at_fault(&element.at, error)),
        }
    }

    pub(super) async fn grab_focus(&self, budget: &Budget, element: &SeenElement) -> Result<(), DriverError> {
        let asked = self.ask(&element.at, COMPONENT, "GrabFocus", DBusArguments::new());
        match budget.run("the focus", asked).await? {
            Ok(_) => Ok(()),
            Err(AtspiError::Refused(_)) => Err(unsupported("tap")),
            Err(error) => Err(self.at_fault(&element.at, error)),
        }
    }

    /// Gives the target the keys, if it is an element.
    pub(super) async fn focus_target(&self, budget: &Budget, target: &ActionTarget) -> Result<(), DriverError> {
        let Some(element) = self.element(target) else {
            return match target.point() {
                Some(_) => {
                    Box::pin(self.perform(budget, target, &trailblaze_core::driver::Action::Tap)).await.map(drop)
                }
                None => Ok(()),
            };
        };
        self.bring_to_front(budget, target).await?;
        if self.is_focused(budget, &element).await? {
            return Ok(());
        }
        Box::pin(self.perform(budget, target, &trailblaze_core::driver::Action::Tap)).await?;
        let until = budget.until(FOCUS);
        while Instant::now() < until {
            if self.is_focused(budget, &element).await? {
                return Ok(());
            }
            budget.run("the focus", tokio::time::sleep(TICK)).await?;
        }
        // Some do not say that they have the focus, such as the inner part of a field.
        match (element.is_editable, self.active_title(budget).await?) {
            (true, Some(title)) if !self.is_in_active_window(budget, &element).await? => Err(DriverError::Evaded {
                how: format!("the field did not get the keys: the window \"{title}\" took them"),
            }),
            _ => Ok(()),
        }
    }

    async fn is_focused(&self, budget: &Budget, element: &SeenElement) -> Result<bool, DriverError> {
        if !self.is_in_active_window(budget, element).await? {
            return Ok(false);
        }
        let states =
            budget.run("the focus", self.ask(&element.at, ACCESSIBLE, "GetState", DBusArguments::new())).await?;
        let states = states.map_err(|error| self.at_fault(&element.at, error))?;
        Ok(AtspiStates::read(&states).has(AtspiStates::FOCUSED))
    }

    async fn is_in_active_window(&self, budget: &Budget, element: &SeenElement) -> Result<bool, DriverError> {
        let (Some(x), Some(window)) = (&self.x, element.window) else { return Ok(true) };
        let windows = x.windows(budget).await?;
        let of_window = windows.iter().find(|known| known.id == window);
        Ok(of_window.is_some_and(|window| window.is_active || window.is_popup))
    }

    async fn active_title(&self, budget: &Budget) -> Result<Option<String>, DriverError> {
        let Some(x) = &self.x else { return Ok(None) };
        Ok(x.windows(budget).await?.into_iter().find(|window| window.is_active).map(|window| window.title))
    }

    /// Types a text with the keyboard. Without one, it is added to the text of the field.
    pub(super) async fn input_text(
        &self,
        budget: &Budget,
        target: &ActionTarget,
        text: &str,
    ) -> Result<(), DriverError> {
        match (&self.x, self.element(target)) {
            (Some(x), _) => {
                self.focus_target(budget, target).await?;
                x.type_keys(budget, strokes_of(text)).await
            }
            (None, Some(element)) => {
                let end = budget.run("a text", self.bus.property(&element.at, TEXT, "CharacterCount", ANSWER)).await?;
                let end = end.ok().and_then(|count| count.small()).unwrap_or(0);
                let length = i32::try_from(text.chars().count()).unwrap_or(i32::MAX);
                let arguments = DBusArguments::new().int(end).string(text).int(length);
                let typed = budget.run("a text", self.ask(&element.at, EDITABLE_TEXT, "InsertText", arguments)).await?;
                typed.map(drop).map_err(|error| self.at_fault(&element.at, error))
            }
            (None, None) => Err(unsupported("inputText")),
        }
    }

    /// Replaces the text of a field: at once where the field lets us, otherwise with the keyboard.
    pub(super) async fn set_text(&self, budget: &Budget, target: &ActionTarget, text: &str) -> Result<(), DriverError> {
        self.focus_target(budget, target).await?;
        if let Some(element) = self.element(target) {
            let arguments = DBusArguments::new().string(text);
            let set = budget.run("a text", self.ask(&element.at, EDITABLE_TEXT, "SetTextContents", arguments)).await?;
            match set {
                Ok(DBusValue::Bool(true)) if self.has_length(budget, &element, text).await? => return Ok(()),
                Ok(_) | Err(AtspiError::Refused(_)) => {}
                Err(error) => return Err(self.at_fault(&element.at, error)),
            }
        }
        let x = self.x("fill")?;
        select_all(x, budget).await?;
        match text.is_empty() {
            true => x.type_keys(budget, strokes_of("\u{8}")).await,
            false => x.type_keys(budget, strokes_of(text)).await,
        }
    }

    /// Whether a field has as many characters as a text: that of a password field cannot be read.
    async fn has_length(&self, budget: &Budget, element: &SeenElement, text: &str) -> Result<bool, DriverError> {
        let count = budget.run("a text", self.bus.property(&element.at, TEXT, "CharacterCount", ANSWER)).await?;
        Ok(count.ok().and_then(|count| count.small()) == i32::try_from(text.chars().count()).ok())
    }

    pub(super) async fn scroll_into_view(&self, budget: &Budget, target: &ActionTarget) -> Result<(), DriverError> {
        const ANYWHERE: u32 = 6;
        let Some(element) = self.element(target) else { return Ok(()) };
        let arguments = DBusArguments::new().uint(ANYWHERE);
        match budget.run("scrolling", self.ask(&element.at, COMPONENT, "ScrollTo", arguments)).await? {
            Ok(DBusValue::Bool(true)) => Ok(()),
            Ok(_) | Err(AtspiError::Refused(_)) => {
                let reason = "this element cannot be scrolled to by itself; scroll its list with `scroll`".to_string();
                Err(DriverError::Refused { reason })
            }
            Err(error) => Err(self.at_fault(&element.at, error)),
        }
    }

    /// Chooses options of a list, by their texts.
    pub(super) async fn choose(
        &self,
        budget: &Budget,
        target: &ActionTarget,
        values: &[String],
    ) -> Result<(), DriverError> {
        let element = self.element(target).ok_or_else(|| unsupported("select"))?;
        let app = self.seen.lock().programs.get(&element.at.app).cloned();
        let gone = || DriverError::Evaded { how: "the element is not there any more".to_string() };
        let app = app.ok_or_else(gone)?;
        let walk = TreeWalk::new(&self.bus, &app, ANSWER, true);
        let list = budget.run("a list", walk.node(element.at.clone())).await?;
        let list = list.map_err(|error| self.at_fault(&element.at, error))?.ok_or_else(gone)?;
        let mut options = Vec::new();
        collect_options(&list, None, &mut options);
        for value in values {
            let Some((option, place)) = options.iter().find(|(option, _)| option.name.trim() == value.trim()) else {
                let known =
                    options.iter().map(|(option, _)| format!("`{}`", option.name)).collect::<Vec<_>>().join(", ");
                let reason = format!("the list has no option `{value}`; it has {known}");
                return Err(DriverError::Refused { reason });
            };
            let seen = SeenElement { at: option.at.clone(), ..element.clone() };
            if self.do_action(budget, &seen).await? {
                continue;
            }
            let (parent, index) = place.clone().ok_or_else(|| unsupported("select"))?;
            let arguments = DBusArguments::new().int(index);
            let selected = budget.run("a list", self.ask(&parent, SELECTION, "SelectChild", arguments)).await?;
            let is_selected = match selected {
                Ok(selected) => selected.bool().unwrap_or(true),
                Err(AtspiError::Refused(_)) => false,
                Err(error) => return Err(self.at_fault(&parent, error)),
            };
            // Chromium does not name the actions of options; the first one chooses them.
            if !is_selected && !self.do_numbered_action(budget, &seen, 0).await? {
                let reason = format!("the list does not let its option `{value}` be chosen");
                return Err(DriverError::Refused { reason });
            }
        }
        Ok(())
    }

    /// An attribute of an element, or its value.
    pub(super) async fn attribute(
        &self,
        budget: &Budget,
        target: &ActionTarget,
        name: Option<&str>,
    ) -> Result<ActionOutput, DriverError> {
        let element = self.element(target).ok_or_else(|| unsupported("attribute"))?;
        let value = match name {
            None => {
                let ActionTarget::Element(found) = target else { return Err(unsupported("attribute")) };
                found.text.clone()
            }
            Some(name) => {
                let asked = self.ask(&element.at, ACCESSIBLE, "GetAttributes", DBusArguments::new());
                let attributes = budget.run("an attribute", asked).await?;
                let attributes = attributes.map_err(|error| self.at_fault(&element.at, error))?;
                attributes.entry(name).and_then(DBusValue::text).map(str::to_string)
            }
        };
        let text = value.clone().unwrap_or_default();
        Ok(ActionOutput { text, value: Some(json!(value)), ..ActionOutput::default() })
    }
}

/// The items of a list with their texts, and where each is among those beside it.
fn collect_options<'a>(
    node: &'a AccessibleNode,
    place: Option<(AccessibleRef, i32)>,
    found: &mut Vec<(&'a AccessibleNode, Option<(AccessibleRef, i32)>)>,
) {
    const ITEMS: [&str; 6] = ["Cell", "CheckMenuItem", "ListItem", "MenuItem", "RadioMenuItem", "TreeItem"];
    if ITEMS.contains(&node.role.class) && !node.name.trim().is_empty() {
        found.push((node, place));
    }
    for (index, child) in node.children.iter().enumerate() {
        let place = i32::try_from(index).ok().map(|index| (node.at.clone(), index));
        collect_options(child, place, found);
    }
}
