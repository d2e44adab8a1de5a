//! The windows of the phone as `uiautomator dump` writes them.

use std::fmt::Write;

use trailblaze_core::screen::{Field, Node, Screen};
use trailblaze_protocol::geometry::Rect;

/// A view, with what the dump says about it.
#[derive(Debug, Clone, PartialEq)]
pub struct DumpedView {
    pub text: String,
    pub resource_id: String,
    pub class: String,
    pub package: String,
    pub content_desc: String,
    pub is_checkable: bool,
    pub is_checked: bool,
    pub is_clickable: bool,
    pub is_enabled: bool,
    pub is_focused: bool,
    pub is_scrollable: bool,
    pub is_editable: bool,
    pub is_password: bool,
    pub is_selected: bool,
    pub bounds: Rect,
    pub children: Vec<DumpedView>,
}

impl DumpedView {
    /// A view that only has a place.
    pub fn new(class: &str, package: &str, bounds: Rect) -> DumpedView {
        DumpedView {
            text: String::new(),
            resource_id: String::new(),
            class: class.to_string(),
            package: package.to_string(),
            content_desc: String::new(),
            is_checkable: false,
            is_checked: false,
            is_clickable: false,
            is_enabled: true,
            is_focused: false,
            is_scrollable: false,
            is_editable: false,
            is_password: false,
            is_selected: false,
            bounds,
            children: Vec::new(),
        }
    }

    fn is_focusable(&self) -> bool {
        self.is_clickable || self.is_editable || self.is_scrollable
    }

    pub fn walk(&self) -> Box<dyn Iterator<Item = &DumpedView> + '_> {
        Box::new(std::iter::once(self).chain(self.children.iter().flat_map(DumpedView::walk)))
    }

    /// Whether an accessibility service is told of the view also without the flag for unimportant ones.
    fn is_important(&self) -> bool {
        self.is_focusable() || self.is_checkable || !self.text.is_empty() || !self.content_desc.is_empty()
    }

    /// The tree without views that only hold others, as `--compressed` writes it.
    pub fn compressed(mut self) -> DumpedView {
        let children = std::mem::take(&mut self.children);
        for child in children.into_iter().map(DumpedView::compressed) {
            if child.is_important() {
                self.children.push(child);
            } else {
                self.children.extend(child.children);
            }
        }
        self
    }
}

/// The active window of an app. A dialog is a window of its own, and a toast belongs to none.
pub fn window(screen: &Screen, package: &str) -> DumpedView {
    let is_dialog = |node: &&Node| node.walk().any(|inner| inner.props.text(Field::PaneTitle).is_some());
    let root = screen.root.children.iter().rev().find(is_dialog).unwrap_or(&screen.root);
    view(root, screen, package)
        .unwrap_or_else(|| DumpedView::new("android.widget.FrameLayout", package, screen.frame()))
}

/// `None` if nobody can see it.
fn view(node: &Node, screen: &Screen, package: &str) -> Option<DumpedView> {
    let bounds = screen.visible_part(node)?;
    let text = |field| node.props.text(field).unwrap_or_default().to_string();
    let flag = |field| node.props.flag(field).unwrap_or_default();
    let class = text(Field::ClassName);
    if class == "android.widget.Toast" {
        return None;
    }
    // An empty field says what its hint is as its text.
    let shown = Some(text(Field::Text)).filter(|text| !text.is_empty()).unwrap_or_else(|| text(Field::HintText));
    Some(DumpedView {
        text: shown,
        resource_id: text(Field::ResourceId),
        content_desc: text(Field::ContentDescription),
        is_checkable: flag(Field::IsCheckable),
        is_checked: flag(Field::IsChecked),
        is_clickable: flag(Field::IsClickable),
        is_enabled: node.props.flag(Field::IsEnabled).unwrap_or(true),
        is_focused: flag(Field::IsFocused),
        is_scrollable: flag(Field::IsScrollable),
        is_editable: flag(Field::IsEditable),
        is_password: flag(Field::IsPassword),
        is_selected: flag(Field::IsSelected),
        children: node.children.iter().filter_map(|child| view(child, screen, package)).collect(),
        ..DumpedView::new(&class, package, bounds)
    })
}

/// The file that the dump writes: one line, without a line break at its end.
pub fn xml(root: &DumpedView) -> String {
    let mut xml = "<?xml version='1.0' encoding='UTF-8' standalone='yes' ?><hierarchy rotation=\"0\">".to_string();
    write_view(&mut xml, root, 0);
    xml.push_str("</hierarchy>");
    xml
}

fn write_view(xml: &mut String, view: &DumpedView, index: usize) {
    xml.push_str("<node");
    if is_unfriendly(view) {
        attribute(xml, "NAF", "true");
    }
    attribute(xml, "index", &index.to_string());
    attribute(xml, "text", &view.text);
    attribute(xml, "resource-id", &view.resource_id);
    attribute(xml, "class", &view.class);
    attribute(xml, "package", &view.package);
    attribute(xml, "content-desc", &view.content_desc);
    for (name, value) in [
        ("checkable", view.is_checkable),
        ("checked", view.is_checked),
        ("clickable", view.is_clickable),
        ("enabled", view.is_enabled),
        ("focusable", view.is_focusable()),
        ("focused", view.is_focused),
        ("scrollable", view.is_scrollable),
        ("long-clickable", view.is_editable),
        ("password", view.is_password),
        ("selected", view.is_selected),
    ] {
        attribute(xml, name, if value { "true" } else { "false" });
    }
    let Rect { left, top, right, bottom } = view.bounds;
    attribute(xml, "bounds", &format!("[{left},{top}][{right},{bottom}]"));
    if view.children.is_empty() {
        xml.push_str(" />");
        return;
    }
    xml.push('>');
    for (index, child) in view.children.iter().enumerate() {
        write_view(xml, child, index);
    }
    xml.push_str("</node>");
}

/// "Not accessibility friendly": it can be clicked, but neither it nor anything inside says what it is.
fn is_unfriendly(view: &DumpedView) -> bool {
    let is_excluded = ["GridView", "GridLayout", "ListView", "TableLayout"].iter().any(|end| view.class.ends_with(end));
    let says = |view: &DumpedView| !view.text.is_empty() || !view.content_desc.is_empty();
    !is_excluded && view.is_clickable && view.is_enabled && !view.walk().any(says)
}

/// As Android's serializer writes it: in single quotes if the value has double ones, characters beyond the first 65,536 as numbers.
fn attribute(xml: &mut String, name: &str, value: &str) {
    let quote = if value.contains('"') { '\'' } else { '"' };
    let _ = write!(xml, " {name}={quote}");
    for c in value.chars() {
        match c {
            '&' => xml.push_str("&amp;"),
            '<' => xml.push_str("&lt;"),
            '>' => xml.push_str("&gt;"),
            '\'' if quote == '\'' => xml.push_str("&apos;"),
            '\n' | '\r' | '\t' => drop(write!(xml, "&#{};", u32::from(c))),
            // The dumper replaces what XML cannot have.
            '\0'..='\x1f' | '\x7f'..='\u{84}' | '\u{86}'..='\u{9f}' | '\u{fdd0}'..='\u{fddf}' => xml.push('.'),
            '\u{10000}'.. => drop(write!(xml, "&#{};", u32::from(c))),
            c => xml.push(c),
        }
    }
    xml.push(quote);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_escaped_as_on_a_phone() {
        let written = |value| {
            let mut xml = String::new();
            attribute(&mut xml, "text", value);
            xml
        };
        assert_eq!(written("a < b & c > d"), " text=\"a &lt; b &amp; c &gt; d\"");
        assert_eq!(written("say \"it's\""), " text='say \"it&apos;s\"'");
        assert_eq!(written("it's"), " text=\"it's\"");
        assert_eq!(written("one\ntwo\u{1}"), " text=\"one&#10;two.\"");
        assert_eq!(written("€ü😀"), " text=\"€ü&#128512;\"");
    }

    #[test]
    fn what_can_be_clicked_and_says_nothing_is_marked() {
        let bounds = Rect::new(0, 0, 10, 20);
        let mut button =
            DumpedView { is_clickable: true, ..DumpedView::new("android.widget.ImageButton", "a", bounds) };
        assert!(xml(&button).contains("<node NAF=\"true\" index=\"0\""));
        button
            .children
            .push(DumpedView { text: "Send".to_string(), ..DumpedView::new("android.widget.TextView", "a", bounds) });
        assert!(!xml(&button).contains("NAF"));
        assert!(xml(&button).ends_with("bounds=\"[0,0][10,20]\" /></node></hierarchy>"));
    }

    #[test]
    fn a_compressed_tree_has_no_views_that_only_hold_others() {
        let bounds = Rect::new(0, 0, 10, 20);
        let text = DumpedView { text: "Send".to_string(), ..DumpedView::new("android.widget.TextView", "a", bounds) };
        let mut layout = DumpedView::new("android.widget.LinearLayout", "a", bounds);
        layout.children = vec![text.clone()];
        let mut root = DumpedView::new("android.widget.FrameLayout", "a", bounds);
        root.children = vec![layout];
        assert_eq!(root.compressed().children, [text]);
    }
}
