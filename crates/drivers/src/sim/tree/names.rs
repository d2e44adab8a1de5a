//! The name of each kind of element on each platform.

use crate::sim::app::Role;
use crate::sim::layout::PlacedKind;

pub struct RoleNames {
    /// The class of an Android view.
    pub android: &'static str,
    /// The type of an iOS element.
    pub ios: &'static str,
    /// The ARIA role; empty for a plain container.
    pub web: &'static str,
    /// The role of a Compose node; empty for most.
    pub compose: &'static str,
}

const fn names(android: &'static str, ios: &'static str, web: &'static str, compose: &'static str) -> RoleNames {
    RoleNames { android, ios, web, compose }
}

pub fn names_of(what: PlacedKind, is_password: bool) -> RoleNames {
    match what {
        PlacedKind::Element(role) => match role {
            Role::Text => names("android.widget.TextView", "StaticText", "paragraph", ""),
            Role::Heading => names("android.widget.TextView", "StaticText", "heading", ""),
            Role::Button => names("android.widget.Button", "Button", "button", "Button"),
            Role::Link => names("android.widget.TextView", "Button", "link", "Button"),
            Role::Field if is_password => names("android.widget.EditText", "SecureTextField", "textbox", ""),
            Role::Field => names("android.widget.EditText", "TextField", "textbox", ""),
            Role::Switch => names("android.widget.Switch", "Switch", "switch", "Switch"),
            Role::Checkbox => names("android.widget.CheckBox", "Switch", "checkbox", "Checkbox"),
            Role::Image => names("android.widget.ImageView", "Image", "img", "Image"),
            Role::Icon => names("android.widget.TextView", "Icon", "link", "Button"),
            Role::List => names("androidx.recyclerview.widget.RecyclerView", "Table", "list", ""),
            Role::Row => names("android.widget.LinearLayout", "Cell", "listitem", ""),
            Role::Column => names("android.widget.LinearLayout", "Other", "", ""),
            Role::Card => names("androidx.cardview.widget.CardView", "Other", "group", ""),
            Role::Tab => names("android.widget.TextView", "Button", "tab", "Tab"),
            Role::Spinner => names("android.widget.ProgressBar", "ActivityIndicator", "progressbar", "ProgressBar"),
            Role::Divider => names("android.view.View", "Other", "separator", ""),
        },
        PlacedKind::Screen => names("android.widget.FrameLayout", "Application", "document", ""),
        PlacedKind::Bar => names("android.view.ViewGroup", "NavigationBar", "banner", ""),
        PlacedKind::Title => names("android.widget.TextView", "StaticText", "heading", ""),
        PlacedKind::Up => names("android.widget.ImageButton", "Button", "button", "Button"),
        PlacedKind::Body => names("android.widget.ScrollView", "ScrollView", "main", ""),
        PlacedKind::Tabs => names("android.widget.LinearLayout", "TabBar", "tablist", ""),
        PlacedKind::Scrim => names("android.widget.FrameLayout", "Other", "", ""),
        PlacedKind::Dialog => names("android.widget.LinearLayout", "Alert", "dialog", "Dialog"),
        PlacedKind::Toast => names("android.widget.Toast", "StaticText", "status", ""),
    }
}
