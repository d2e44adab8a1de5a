//! The properties of one element in the vocabulary of a driver, limited to what a real driver reports.

use trailblaze_core::screen::{Field as F, Prop, Props, Shape};

use super::names::names_of;
use crate::sim::app::{Look, Role};
use crate::sim::layout::{Placed, PlacedKind};

pub fn props(placed: &Placed<'_>, shape: Shape, app: &str) -> Props {
    let mut teller = Teller { props: Props::new(shape), placed };
    match shape {
        Shape::AndroidAccessibility => teller.android_accessibility(app),
        Shape::AndroidMaestro => teller.android_maestro(app),
        Shape::IosMaestro => teller.ios_maestro(),
        Shape::IosAxe => teller.ios_axe(),
        Shape::Web => teller.web(),
        Shape::Compose => teller.compose(),
    }
    teller.props
}

struct Teller<'a, 'p> {
    props: Props,
    placed: &'a Placed<'p>,
}

impl Teller<'_, '_> {
    fn text(&mut self, field: F, text: &str) {
        if !text.is_empty() {
            self.props.set(field, text);
        }
    }

    fn flag_if(&mut self, field: F, holds: bool) {
        if holds {
            self.props.set(field, true);
        }
    }

    fn set(&mut self, field: F, value: impl Into<Prop>) {
        self.props.set(field, value);
    }

    fn label(&self) -> String {
        self.placed.label.clone().unwrap_or_default()
    }

    fn hint(&self) -> String {
        self.placed.hint.clone().unwrap_or_default()
    }

    fn id(&self) -> String {
        self.placed.id.clone().unwrap_or_default()
    }

    fn is_field(&self) -> bool {
        self.placed.role() == Some(Role::Field)
    }

    fn is_heading(&self) -> bool {
        matches!(self.placed.what, PlacedKind::Title | PlacedKind::Element(Role::Heading))
    }

    /// A dialog is a container whose title is a separate element; the letters in a picture are not text.
    fn own_text(&self) -> &str {
        match self.placed.what {
            PlacedKind::Dialog | PlacedKind::Element(Role::Image) => "",
            _ => &self.placed.text,
        }
    }

    fn android_accessibility(&mut self, app: &str) {
        let placed = self.placed;
        let own_text = self.own_text().to_string();
        self.set(F::ClassName, names_of(placed.what, placed.is_password).android);
        if let Some(id) = &placed.id {
            self.set(F::ResourceId, format!("{app}:id/{id}"));
        }
        self.text(F::Text, &own_text);
        self.text(F::ContentDescription, &self.label());
        self.text(F::HintText, &self.hint());
        if placed.what == PlacedKind::Dialog {
            self.text(F::PaneTitle, &placed.text);
        }
        self.set(F::IsEnabled, placed.is_enabled);
        self.set(F::IsClickable, placed.is_touchable());
        self.flag_if(F::IsEditable, self.is_field());
        self.flag_if(F::IsPassword, placed.is_password);
        self.flag_if(F::IsFocused, placed.is_focused);
        self.flag_if(F::IsSelected, placed.is_selected);
        self.flag_if(F::IsHeading, self.is_heading());
        self.flag_if(F::IsScrollable, placed.can_scroll());
        if let Some(checked) = placed.checked {
            self.set(F::IsCheckable, true);
            self.set(F::IsChecked, checked);
        }
        if let Some(row) = placed.row {
            self.set(F::CollectionItemRowIndex, row as i64);
        }
    }

    fn android_maestro(&mut self, app: &str) {
        let placed = self.placed;
        self.set(F::ClassName, names_of(placed.what, placed.is_password).android);
        if let Some(id) = &placed.id {
            self.set(F::ResourceId, format!("{app}:id/{id}"));
        }
        self.maestro();
    }

    fn ios_maestro(&mut self) {
        let placed = self.placed;
        self.set(F::ClassName, names_of(placed.what, placed.is_password).ios);
        self.text(F::ResourceId, &self.id());
        self.maestro();
    }

    fn maestro(&mut self) {
        let placed = self.placed;
        let own_text = self.own_text().to_string();
        self.text(F::Text, &own_text);
        self.text(F::AccessibilityText, &self.label());
        self.text(F::HintText, &self.hint());
        self.set(F::Enabled, placed.is_enabled);
        self.set(F::Clickable, placed.is_touchable());
        self.flag_if(F::Focused, placed.is_focused);
        self.flag_if(F::Selected, placed.is_selected);
        self.flag_if(F::IsEditable, self.is_field());
        self.flag_if(F::IsPassword, placed.is_password);
        if let Some(checked) = placed.checked {
            self.set(F::Checked, checked);
        }
    }

    fn ios_axe(&mut self) {
        let placed = self.placed;
        let kind = names_of(placed.what, placed.is_password).ios;
        let own_text = self.own_text().to_string();
        self.set(F::Type, kind);
        self.set(F::Role, format!("AX{kind}"));
        self.text(F::UniqueId, &self.id());
        if self.is_field() {
            let label = if self.label().is_empty() { self.hint() } else { self.label() };
            // The typed text is the element's text; the vocabulary prefers labels, so an empty field has one.
            self.text(F::Value, &own_text);
            self.text(if own_text.is_empty() { F::Label } else { F::Title }, &label);
        } else {
            let label = if self.label().is_empty() { own_text } else { self.label() };
            self.text(F::Label, &label);
        }
        if let Some(checked) = placed.checked {
            self.set(F::Value, if checked { "1" } else { "0" });
            self.set(F::Checked, checked);
        }
        self.set(F::Enabled, placed.is_enabled);
        self.set(F::Clickable, placed.is_touchable());
        self.flag_if(F::Focused, placed.is_focused);
        self.flag_if(F::Selected, placed.is_selected);
        self.flag_if(F::IsEditable, self.is_field());
        self.flag_if(F::IsPassword, placed.is_password);
    }

    fn web(&mut self) {
        let placed = self.placed;
        let role = match placed.what {
            // A clickable column of texts is a button in a browser.
            PlacedKind::Element(Role::Row | Role::Card | Role::Column)
                if placed.is_touchable() && placed.row.is_none() =>
            {
                "button"
            }
            PlacedKind::Element(Role::Row) if placed.row.is_none() => "",
            what => names_of(what, placed.is_password).web,
        };
        let own_text = self.own_text().to_string();
        let name = match placed.what {
            _ if !self.label().is_empty() => self.label(),
            PlacedKind::Dialog => placed.text.clone(),
            PlacedKind::Element(Role::Field) => self.hint(),
            _ => own_text.clone(),
        };
        self.text(F::AriaRole, role);
        self.text(F::AriaName, &name);
        if !role.is_empty() {
            let descriptor = if name.is_empty() { role.to_string() } else { format!("{role} \"{name}\"") };
            self.set(F::AriaDescriptor, descriptor);
        }
        self.text(F::Text, &own_text);
        if self.is_field() {
            self.text(F::Value, &own_text);
        }
        if let Some(id) = &placed.id {
            self.set(F::CssSelector, format!("#{id}"));
            self.set(F::ElementId, id.as_str());
            self.set(F::DataTestId, id.as_str());
        }
        if self.is_heading() {
            let is_first = placed.what == PlacedKind::Title || placed.look == Look::Large;
            self.set(F::HeadingLevel, if is_first { 1 } else { 2 });
        }
        self.set(F::IsEnabled, placed.is_enabled);
        self.set(F::IsInteractive, placed.is_touchable());
        self.flag_if(F::IsLandmark, matches!(placed.what, PlacedKind::Bar | PlacedKind::Body | PlacedKind::Tabs));
        self.flag_if(F::IsFocused, placed.is_focused);
        self.flag_if(F::IsSelected, placed.is_selected);
        self.flag_if(F::IsEditable, self.is_field());
        self.flag_if(F::IsPassword, placed.is_password);
        if let Some(checked) = placed.checked {
            self.set(F::IsChecked, checked);
        }
    }

    fn compose(&mut self) {
        let placed = self.placed;
        let own_text = self.own_text().to_string();
        self.text(F::TestTag, &self.id());
        self.text(F::Role, names_of(placed.what, placed.is_password).compose);
        self.text(F::ContentDescription, &self.label());
        if self.is_field() {
            self.text(F::EditableText, &own_text);
            self.text(F::Text, &self.hint());
        } else {
            self.text(F::Text, &own_text);
        }
        self.set(F::IsEnabled, placed.is_enabled);
        self.set(F::IsClickable, placed.is_touchable());
        self.flag_if(F::IsFocused, placed.is_focused);
        self.flag_if(F::IsSelected, placed.is_selected);
        self.flag_if(F::IsEditable, self.is_field());
        self.flag_if(F::IsPassword, placed.is_password);
        if let Some(checked) = placed.checked {
            self.set(F::ToggleableState, if checked { "On" } else { "Off" });
            self.set(F::IsChecked, checked);
        }
    }
}
