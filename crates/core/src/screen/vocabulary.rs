//! The vocabularies of the platforms: which properties elements have, and what each platform calls them.

use trailblaze_protocol::driver::{DriverKey, Platform};

macro_rules! fields {
    ($($variant:ident $name:literal $kind:ident,)*) => {
        /// A property of an element, of any platform.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        pub enum Field { $($variant,)* }

        impl Field {
            pub const ALL: &[Field] = &[$(Field::$variant,)*];

            pub fn name(self) -> &'static str {
                match self { $(Field::$variant => $name,)* }
            }

            pub fn kind(self) -> FieldKind {
                match self { $(Field::$variant => FieldKind::$kind,)* }
            }
        }
    };
}

/// The type of a property.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FieldKind {
    /// Matched by `<name>Regex`, or exactly by `<name>`.
    Text,
    Flag,
    Number,
}

fields! {
    ClassName "className" Text,
    ResourceId "resourceId" Text,
    UniqueId "uniqueId" Text,
    ComposeTestTag "composeTestTag" Text,
    Text "text" Text,
    ContentDescription "contentDescription" Text,
    AccessibilityText "accessibilityText" Text,
    HintText "hintText" Text,
    LabeledByText "labeledByText" Text,
    StateDescription "stateDescription" Text,
    PaneTitle "paneTitle" Text,
    RoleDescription "roleDescription" Text,
    IsEnabled "isEnabled" Flag,
    IsClickable "isClickable" Flag,
    IsCheckable "isCheckable" Flag,
    IsChecked "isChecked" Flag,
    IsSelected "isSelected" Flag,
    IsFocused "isFocused" Flag,
    IsEditable "isEditable" Flag,
    IsScrollable "isScrollable" Flag,
    IsPassword "isPassword" Flag,
    IsHeading "isHeading" Flag,
    IsMultiLine "isMultiLine" Flag,
    InputType "inputType" Number,
    CollectionItemRowIndex "collectionItemRowIndex" Number,
    CollectionItemColumnIndex "collectionItemColumnIndex" Number,
    Enabled "enabled" Flag,
    Clickable "clickable" Flag,
    Checked "checked" Flag,
    Selected "selected" Flag,
    Focused "focused" Flag,
    AriaRole "ariaRole" Text,
    AriaName "ariaName" Text,
    AriaDescriptor "ariaDescriptor" Text,
    HeadingLevel "headingLevel" Number,
    CssSelector "cssSelector" Text,
    ElementId "elementId" Text,
    DataTestId "dataTestId" Text,
    NthIndex "nthIndex" Number,
    IsInteractive "isInteractive" Flag,
    IsLandmark "isLandmark" Flag,
    IsCovered "isCovered" Flag,
    IsUnlisted "isUnlisted" Flag,
    IsFocusOnly "isFocusOnly" Flag,
    Hidden "hidden" Text,
    FrameOrigin "frameOrigin" Text,
    Options "options" Text,
    Role "role" Text,
    Subrole "subrole" Text,
    Label "label" Text,
    Value "value" Text,
    Type "type" Text,
    Title "title" Text,
    CustomAction "customAction" Text,
    TestTag "testTag" Text,
    EditableText "editableText" Text,
    ToggleableState "toggleableState" Text,
}

impl Field {
    /// The value of a flag that the driver does not report.
    pub fn default_flag(self) -> bool {
        matches!(self, Field::IsEnabled | Field::Enabled)
    }
}

/// The vocabulary in which a driver describes elements. A selector in one never matches an element in another.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Shape {
    AndroidAccessibility,
    AndroidMaestro,
    IosMaestro,
    IosAxe,
    Web,
    Compose,
}

/// The fields of a shape that hold the properties every platform has. The first field that is set wins.
pub(super) struct Vocabulary {
    key: &'static str,
    matchable: &'static [Field],
    /// The visible text.
    pub(super) text: &'static [Field],
    /// What a screen reader says in addition to the text.
    pub(super) label: &'static [Field],
    /// Ids assigned by developers.
    pub(super) id: &'static [Field],
    pub(super) class: &'static [Field],
    pub(super) enabled: &'static [Field],
    pub(super) clickable: &'static [Field],
    pub(super) checked: &'static [Field],
    pub(super) selected: &'static [Field],
    pub(super) focused: &'static [Field],
    pub(super) editable: &'static [Field],
    /// `false` if regular expressions ignore case.
    is_case_sensitive: bool,
}

use Field as F;

const ANDROID_ACCESSIBILITY: Vocabulary = Vocabulary {
    key: "androidAccessibility",
    matchable: &[
        F::UniqueId,
        F::ResourceId,
        F::ComposeTestTag,
        F::Text,
        F::ContentDescription,
        F::HintText,
        F::LabeledByText,
        F::ClassName,
        F::StateDescription,
        F::RoleDescription,
        F::PaneTitle,
        F::CollectionItemRowIndex,
        F::CollectionItemColumnIndex,
        F::InputType,
        F::IsMultiLine,
        F::IsHeading,
        F::IsPassword,
        F::IsScrollable,
        F::IsEditable,
        F::IsClickable,
        F::IsEnabled,
        F::IsCheckable,
        F::IsChecked,
        F::IsFocused,
        F::IsSelected,
    ],
    text: &[F::Text, F::HintText, F::ContentDescription],
    label: &[F::ContentDescription, F::LabeledByText, F::HintText],
    id: &[F::UniqueId, F::ResourceId, F::ComposeTestTag],
    class: &[F::ClassName],
    enabled: &[F::IsEnabled],
    clickable: &[F::IsClickable],
    checked: &[F::IsChecked],
    selected: &[F::IsSelected],
    focused: &[F::IsFocused],
    editable: &[F::IsEditable],
    is_case_sensitive: true,
};

const ANDROID_MAESTRO: Vocabulary = Vocabulary {
    key: "androidMaestro",
    matchable: &[
        F::ResourceId,
        F::Text,
        F::AccessibilityText,
        F::HintText,
        F::ClassName,
        F::Clickable,
        F::Enabled,
        F::Checked,
        F::Focused,
        F::Selected,
    ],
    text: &[F::Text, F::HintText, F::AccessibilityText],
    label: &[F::AccessibilityText, F::HintText],
    id: &[F::ResourceId],
    class: &[F::ClassName],
    enabled: &[F::Enabled],
    clickable: &[F::Clickable],
    checked: &[F::Checked],
    selected: &[F::Selected],
    focused: &[F::Focused],
    editable: &[F::IsEditable],
    is_case_sensitive: false,
};

const IOS_MAESTRO: Vocabulary = Vocabulary {
    key: "iosMaestro",
    matchable: &[
        F::ResourceId,
        F::Text,
        F::AccessibilityText,
        F::HintText,
        F::ClassName,
        F::Enabled,
        F::Focused,
        F::Selected,
    ],
    text: &[F::Text, F::AccessibilityText, F::HintText],
    label: &[F::AccessibilityText, F::HintText],
    id: &[F::ResourceId],
    class: &[F::ClassName],
    enabled: &[F::Enabled],
    clickable: &[F::Clickable],
    checked: &[F::Checked],
    selected: &[F::Selected],
    focused: &[F::Focused],
    editable: &[F::IsEditable],
    is_case_sensitive: false,
};

const IOS_AXE: Vocabulary = Vocabulary {
    key: "iosAxe",
    matchable: &[F::UniqueId, F::Label, F::Value, F::Title, F::Type, F::Role, F::Subrole, F::CustomAction, F::Enabled],
    text: &[F::Label, F::Value, F::Title],
    label: &[F::Label, F::Title],
    id: &[F::UniqueId],
    class: &[F::Type, F::Role],
    enabled: &[F::Enabled],
    clickable: &[F::Clickable],
    checked: &[F::Checked],
    selected: &[F::Selected],
    focused: &[F::Focused],
    editable: &[F::IsEditable],
    is_case_sensitive: true,
};

const WEB: Vocabulary = Vocabulary {
    key: "web",
    matchable: &[
        F::DataTestId,
        F::CssSelector,
        F::AriaName,
        F::AriaRole,
        F::AriaDescriptor,
        F::HeadingLevel,
        F::NthIndex,
        F::Text,
    ],
    text: &[F::Text, F::Value, F::AriaName],
    label: &[F::AriaName],
    id: &[F::DataTestId, F::ElementId],
    class: &[F::AriaRole],
    enabled: &[F::IsEnabled],
    clickable: &[F::IsInteractive],
    checked: &[F::IsChecked],
    selected: &[F::IsSelected],
    focused: &[F::IsFocused],
    editable: &[F::IsEditable],
    is_case_sensitive: true,
};

const COMPOSE: Vocabulary = Vocabulary {
    key: "compose",
    matchable: &[
        F::TestTag,
        F::Text,
        F::ContentDescription,
        F::EditableText,
        F::Role,
        F::ToggleableState,
        F::IsPassword,
        F::IsEnabled,
        F::IsFocused,
        F::IsSelected,
    ],
    text: &[F::EditableText, F::Text, F::ContentDescription],
    // The hint of a field is its text; the typed value is separate.
    label: &[F::ContentDescription, F::Text],
    id: &[F::TestTag],
    class: &[F::Role],
    enabled: &[F::IsEnabled],
    clickable: &[F::IsClickable],
    checked: &[F::IsChecked],
    selected: &[F::IsSelected],
    focused: &[F::IsFocused],
    editable: &[F::IsEditable],
    is_case_sensitive: true,
};

impl Shape {
    pub const ALL: [Shape; 6] = [
        Shape::AndroidAccessibility,
        Shape::AndroidMaestro,
        Shape::IosMaestro,
        Shape::IosAxe,
        Shape::Web,
        Shape::Compose,
    ];

    /// The shape that a driver uses.
    pub fn for_driver(driver: &DriverKey, platform: Platform) -> Shape {
        match (driver.as_str(), platform) {
            ("android-ondevice-instrumentation", _) => Shape::AndroidMaestro,
            ("ios-axe", _) => Shape::IosAxe,
            (_, Platform::Android) => Shape::AndroidAccessibility,
            (_, Platform::Ios) => Shape::IosMaestro,
            (_, Platform::Web) => Shape::Web,
            (_, Platform::Desktop) => Shape::Compose,
        }
    }

    /// The key of this shape in a selector.
    pub fn key(self) -> &'static str {
        self.vocabulary().key
    }

    pub fn from_key(key: &str) -> Option<Shape> {
        Shape::ALL.into_iter().find(|shape| shape.key() == key)
    }

    /// The fields that a selector may use, most stable first.
    pub fn matchable(self) -> &'static [Field] {
        self.vocabulary().matchable
    }

    pub fn is_case_sensitive(self) -> bool {
        self.vocabulary().is_case_sensitive
    }

    pub fn id_fields(self) -> &'static [Field] {
        self.vocabulary().id
    }

    pub fn text_fields(self) -> &'static [Field] {
        self.vocabulary().text
    }

    pub fn class_fields(self) -> &'static [Field] {
        self.vocabulary().class
    }

    pub(super) fn vocabulary(self) -> &'static Vocabulary {
        match self {
            Shape::AndroidAccessibility => &ANDROID_ACCESSIBILITY,
            Shape::AndroidMaestro => &ANDROID_MAESTRO,
            Shape::IosMaestro => &IOS_MAESTRO,
            Shape::IosAxe => &IOS_AXE,
            Shape::Web => &WEB,
            Shape::Compose => &COMPOSE,
        }
    }
}
