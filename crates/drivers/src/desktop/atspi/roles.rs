//! The roles of elements: their numbers in AT-SPI, and what we call them.

/// What an element is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AtspiRole {
    /// Its class in snapshots and selectors, such as `Button`.
    pub class: &'static str,
    pub kind: RoleKind,
}

/// How an element of a role is treated.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RoleKind {
    /// Only a container.
    Box,
    /// Only to be read.
    Plain,
    /// Reacts to clicks.
    Control,
    /// Has a text that may be edited.
    Text,
    /// Has a number as its value.
    Range,
    /// May have thousands of children.
    List,
    Window,
    Dialog,
    /// Opens others below it.
    Menu,
}

use RoleKind::{Box, Control, Dialog, List, Menu, Plain, Range, Text, Window};

pub const PASSWORD: u32 = 40;

/// What AT-SPI calls a role by this number.
pub fn role_of(number: u32) -> AtspiRole {
    let (class, kind) = ROLES.get(number as usize).copied().unwrap_or(("Group", Box));
    AtspiRole { class, kind }
}

/// In the order of their numbers.
const ROLES: [(&str, RoleKind); 131] = [
    ("Group", Box),
    ("Text", Plain),
    ("Dialog", Dialog),
    ("Image", Plain),
    ("Arrow", Control),
    ("Calendar", Control),
    ("Canvas", Plain),
    ("Checkbox", Control),
    ("CheckMenuItem", Control),
    ("FileChooser", Dialog),
    ("ColumnHeader", Control),
    ("DropdownList", Control),
    ("DateField", Text),
    ("Icon", Control),
    ("Desktop", Box),
    ("Dial", Range),
    ("Dialog", Dialog),
    ("Group", Box),
    ("Canvas", Plain),
    ("FileChooser", Dialog),
    ("Group", Box),
    ("Group", Box),
    ("FileChooser", Dialog),
    ("Window", Window),
    ("Group", Box),
    ("Document", Box),
    ("Icon", Control),
    ("Image", Plain),
    ("Group", Box),
    ("Text", Plain),
    ("Group", Box),
    ("ListView", List),
    ("ListItem", Control),
    ("Menu", Menu),
    ("MenuBar", Plain),
    ("MenuItem", Control),
    ("Group", Box),
    ("Tab", Control),
    ("TabList", Plain),
    ("Group", Box),
    ("TextField", Text),
    ("PopupMenu", Plain),
    ("ProgressBar", Range),
    ("Button", Control),
    ("RadioButton", Control),
    ("RadioMenuItem", Control),
    ("Group", Box),
    ("RowHeader", Plain),
    ("ScrollBar", Range),
    ("Group", Box),
    ("Separator", Plain),
    ("Slider", Range),
    ("SpinButton", Text),
    ("Group", Box),
    ("StatusBar", Plain),
    ("Table", List),
    ("Cell", Control),
    ("ColumnHeader", Control),
    ("RowHeader", Plain),
    ("MenuItem", Control),
    ("Terminal", Text),
    ("TextField", Text),
    ("ToggleButton", Control),
    ("ToolBar", Plain),
    ("Tooltip", Plain),
    ("Tree", List),
    ("Table", List),
    ("Group", Box),
    ("Group", Box),
    ("Window", Window),
    ("Group", Box),
    ("Header", Plain),
    ("Footer", Plain),
    ("Text", Text),
    ("Ruler", Plain),
    ("Application", Box),
    ("TextField", Text),
    ("TextField", Text),
    ("Group", Box),
    ("TextField", Text),
    ("Chart", Plain),
    ("Text", Plain),
    ("Document", Box),
    ("Heading", Plain),
    ("Page", Box),
    ("Group", Box),
    ("Group", Box),
    ("Form", Box),
    ("Link", Control),
    ("Group", Box),
    ("Row", Control),
    ("TreeItem", Control),
    ("Document", Box),
    ("Document", Box),
    ("Document", Text),
    ("Document", Box),
    ("Document", Box),
    ("Text", Plain),
    ("ListView", List),
    ("Group", Box),
    ("Image", Plain),
    ("Notification", Plain),
    ("InfoBar", Plain),
    ("LevelBar", Range),
    ("TitleBar", Plain),
    ("Group", Box),
    ("Audio", Plain),
    ("Video", Plain),
    ("Group", Box),
    ("Group", Box),
    ("Group", Box),
    ("Log", Box),
    ("Marquee", Plain),
    ("Math", Plain),
    ("Rating", Range),
    ("Timer", Plain),
    ("Text", Plain),
    ("Math", Plain),
    ("Math", Plain),
    ("Text", Plain),
    ("Text", Plain),
    ("Group", Box),
    ("Text", Plain),
    ("Text", Plain),
    ("Text", Plain),
    ("Text", Plain),
    ("Text", Plain),
    ("Text", Plain),
    ("Text", Plain),
    ("Button", Control),
    ("Switch", Control),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn roles_have_their_numbers() {
        for (number, class) in [
            (7, "Checkbox"),
            (16, "Dialog"),
            (23, "Window"),
            (29, "Text"),
            (35, "MenuItem"),
            (37, "Tab"),
            (43, "Button"),
            (55, "Table"),
            (61, "TextField"),
            (79, "TextField"),
            (88, "Link"),
            (98, "ListView"),
            (116, "Text"),
            (130, "Switch"),
            (9999, "Group"),
        ] {
            assert_eq!(role_of(number).class, class, "role {number}");
        }
    }
}
