//! What `uiautomator dump` prints, as a tree.

use trailblaze_core::screen::{Field, Node, Shape};
use trailblaze_protocol::geometry::{Rect, Size};

use super::FORM;
use crate::android::hierarchy::{DumpFault, ViewHierarchy};

fn read(text: &str) -> Result<ViewHierarchy, DumpFault> {
    ViewHierarchy::read(text.as_bytes(), Shape::AndroidAccessibility)
}

fn one(attributes: &str) -> Node {
    read(&format!("<hierarchy rotation=\"0\"><node {attributes} /></hierarchy>")).expect("a tree").root
}

#[test]
fn a_tree_has_the_vocabulary_of_a_simulated_phone() {
    let screen = read(FORM).expect("a tree");
    assert_eq!(screen.package.as_deref(), Some("com.example.wallet"));
    let field = &screen.root.children[0];
    assert_eq!((screen.root.id, field.id), (1, 2));
    assert_eq!(field.bounds, Some(Rect { left: 40, top: 200, right: 1040, bottom: 320 }));
    assert_eq!(field.props.text(Field::Text), Some("Ada & 😀"));
    assert_eq!(field.props.text(Field::ResourceId), Some("com.example.wallet:id/name"));
    assert_eq!(field.props.text(Field::ContentDescription), Some("Name"));
    assert!(field.is_editable() && field.is_focused() && field.is_enabled() && field.is_clickable());
    assert_eq!(field.props.get(Field::IsCheckable), None);
    assert_eq!(field.props.get(Field::IsSelected), None);
}

#[test]
fn the_shape_of_a_driver_decides_about_names() {
    let screen = ViewHierarchy::read(FORM.as_bytes(), Shape::AndroidMaestro).expect("a tree");
    let field = &screen.root.children[0];
    assert_eq!(field.props.text(Field::AccessibilityText), Some("Name"));
    assert_eq!((field.props.flag(Field::Enabled), field.props.flag(Field::IsEnabled)), (Some(true), None));
    assert!(field.is_focused());
}

#[test]
fn a_password_is_dots_whatever_the_phone_says() {
    let field = one("text=\"hunter2\" class=\"android.widget.EditText\" password=\"true\"");
    assert_eq!(field.props.text(Field::Text), Some("•••••••"));
    assert!(field.is_password());
}

#[test]
fn a_hint_is_not_the_text_of_a_field() {
    let empty = one("text=\"Search\" hint=\"Search\" class=\"android.widget.EditText\"");
    assert_eq!((empty.props.text(Field::Text), empty.props.text(Field::HintText)), (None, Some("Search")));
    let typed = one("text=\"shoes\" hint=\"Search\" class=\"android.widget.EditText\"");
    assert_eq!(typed.props.text(Field::Text), Some("shoes"));
}

#[test]
fn a_switch_says_whether_it_is_on() {
    let on = one("class=\"android.widget.Switch\" checkable=\"true\" checked=\"true\"");
    assert_eq!((on.is_checked(), on.props.flag(Field::IsCheckable)), (Some(true), Some(true)));
    assert_eq!(one("class=\"android.widget.TextView\" checked=\"false\"").is_checked(), None);
}

#[test]
fn a_device_on_its_side_has_its_size_turned() {
    let screen = read("<hierarchy rotation=\"1\"><node bounds=\"[0,0][2400,1080]\"/></hierarchy>").expect("a tree");
    assert_eq!(screen.size(Size { width: 1080, height: 2400 }), Size { width: 2400, height: 1080 });
}

#[test]
fn several_windows_have_one_root_around_them() {
    let text = "<hierarchy rotation=\"0\"><node bounds=\"[0,0][10,10]\"/><node bounds=\"[5,5][20,30]\"/></hierarchy>";
    let root = read(text).expect("a tree").root;
    assert_eq!(root.children.len(), 2);
    assert_eq!(root.bounds, Some(Rect { left: 0, top: 0, right: 20, bottom: 30 }));
}

#[test]
fn what_is_no_tree_is_named() {
    let cases = [
        ("ERROR: could not get idle state.\n", DumpFault::NotIdle),
        ("ERROR: null root node returned by UiTestAutomationBridge.\n", DumpFault::NoWindow),
        ("<?xml version='1.0'?><hierarchy rotation=\"0\" />UI hierchary dumped to: /dev/tty", DumpFault::NoWindow),
        ("<hierarchy rotation=\"0\"><node text=\"a", DumpFault::Truncated { bytes: 37 }),
        ("java.lang.IllegalStateException: UiAutomationService x already registered!\n", DumpFault::Busy),
        ("", DumpFault::Other { printed: "nothing".to_string() }),
        ("Killed\n", DumpFault::Other { printed: "Killed".to_string() }),
    ];
    for (printed, expected) in cases {
        assert_eq!(read(printed).expect_err(printed), expected, "{printed}");
    }
    assert!(matches!(read("<hierarchy><node></hierarchy>"), Err(DumpFault::Invalid { .. })));
}

#[test]
fn a_tree_that_is_nested_without_end_is_refused() {
    let text = format!("<hierarchy>{}{}</hierarchy>", "<node>".repeat(5000), "</node>".repeat(5000));
    let fault = read(&text).expect_err("it is too deep").to_string();
    assert!(fault.contains("nested more than 400 deep"), "{fault}");
}

#[test]
fn every_start_of_what_a_phone_printed_is_a_tree_or_a_fault() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fuzz/corpus/android_tree");
    let files: Vec<_> = std::fs::read_dir(folder).expect("the corpus is there").collect();
    assert!(files.len() >= 5);
    for file in files {
        let printed = std::fs::read(file.expect("a file").path()).expect("its content");
        for end in 0..=printed.len() {
            let _ = ViewHierarchy::read(&printed[..end], Shape::AndroidAccessibility);
        }
    }
}

#[test]
fn bytes_that_are_no_text_do_no_harm() {
    let mut printed = b"<hierarchy><node text=\"".to_vec();
    printed.extend([0xff, 0xfe, b'&', b'#', b'x']);
    printed.extend(b"\" bounds=\"[1,2]\"/></hierarchy>\xff");
    let root = ViewHierarchy::read(&printed, Shape::AndroidAccessibility).expect("a tree").root;
    assert_eq!(root.bounds, None);
    assert!(root.text().is_some());
}
