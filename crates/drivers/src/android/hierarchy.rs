//! The tree of elements that `uiautomator dump` prints, as a screen has it.

use quick_xml::XmlVersion;
use quick_xml::events::{BytesStart, Event};
use trailblaze_core::screen::{Field as F, Node, Props, Shape};
use trailblaze_protocol::geometry::{Rect, Size};

/// The most elements that a screen may have.
const MOST_ELEMENTS: usize = 20_000;
/// The deepest nesting of elements.
const DEEPEST: usize = 400;

/// What is around all elements.
const HIERARCHY: &[u8] = b"hierarchy";

/// What a phone shows: the elements of its active window.
#[derive(Debug, Clone, PartialEq)]
pub struct ViewHierarchy {
    pub root: Node,
    /// The package of the window.
    pub package: Option<String>,
    /// Whether the device is turned on its side.
    pub is_sideways: bool,
    /// The size of the screen as it is turned, if that is said.
    pub screen: Option<Size>,
}

/// Why there is no tree.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum DumpFault {
    #[error(
        "the screen keeps changing, so `uiautomator dump` gives up (\"could not get idle state\"); a video, an animation or a countdown may be running"
    )]
    NotIdle,
    #[error("no window has the focus, so `uiautomator dump` finds none (\"null root node\")")]
    NoWindow,
    #[error(
        "another program uses `uiautomator` on this phone (\"already registered\"); end it: Appium, uiautomator2 or Layout Inspector"
    )]
    Busy,
    #[error("the output of `uiautomator dump` is cut off after {bytes} bytes")]
    Truncated { bytes: usize },
    #[error("`uiautomator dump` printed no tree: {printed}")]
    Other { printed: String },
    #[error("the tree of `uiautomator dump` cannot be read: {why}")]
    Invalid { why: String },
}

impl ViewHierarchy {
    /// Reads what `uiautomator dump /dev/tty` prints: a document, with other lines before or after it.
    pub fn read(printed: &[u8], shape: Shape) -> Result<ViewHierarchy, DumpFault> {
        let text = String::from_utf8_lossy(printed);
        let Some(start) = text.find("<hierarchy") else { return Err(complaint(&text)) };
        let document = &text[start..];
        let Some(end) = document.rfind("</hierarchy>") else {
            let is_empty = document.split_once('>').is_some_and(|(tag, _)| tag.ends_with('/'));
            return Err(if is_empty { DumpFault::NoWindow } else { DumpFault::Truncated { bytes: printed.len() } });
        };
        Reading::new(shape).read(&document[..end + "</hierarchy>".len()])
    }

    /// Reads a page source of Appium's `uiautomator2`, which names each element by its class.
    pub fn read_source(document: &str, shape: Shape) -> Result<ViewHierarchy, String> {
        let read = Reading { takes_any_name: true, ..Reading::new(shape) }.read(document);
        read.map_err(|fault| match fault {
            DumpFault::NoWindow => "it has no elements".to_string(),
            DumpFault::Invalid { why } => why,
            fault => fault.to_string(),
        })
    }

    /// The size of the screen as it is turned.
    pub fn size(&self, upright: Size) -> Size {
        match self.is_sideways {
            true => Size { width: upright.height, height: upright.width },
            false => upright,
        }
    }
}

/// What the command says instead of a tree. It has no other signal: its exit code is 0.
fn complaint(text: &str) -> DumpFault {
    if text.contains("could not get idle state") {
        return DumpFault::NotIdle;
    }
    if text.contains("null root node") {
        return DumpFault::NoWindow;
    }
    if text.contains("already registered") {
        return DumpFault::Busy;
    }
    let lines = text.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with("<?xml"));
    let printed = lines.take(2).collect::<Vec<_>>().join(" ");
    DumpFault::Other { printed: if printed.is_empty() { "nothing".to_string() } else { printed } }
}

/// The elements that are open while a document is read.
struct Reading {
    shape: Shape,
    /// Whether elements have the names of their classes, not all the same.
    takes_any_name: bool,
    open: Vec<Node>,
    roots: Vec<Node>,
    count: usize,
    package: Option<String>,
    is_sideways: bool,
    screen: Option<Size>,
}

impl Reading {
    fn new(shape: Shape) -> Reading {
        let (open, roots) = Default::default();
        let (takes_any_name, is_sideways) = (false, false);
        Reading { shape, takes_any_name, open, roots, count: 0, package: None, is_sideways, screen: None }
    }

    fn is_element(&self, name: &[u8]) -> bool {
        if self.takes_any_name { name != HIERARCHY } else { name == b"node" }
    }

    fn read(mut self, document: &str) -> Result<ViewHierarchy, DumpFault> {
        let mut reader = quick_xml::Reader::from_str(document);
        loop {
            match reader.read_event().map_err(invalid)? {
                Event::Start(tag) => self.begin(&tag)?,
                Event::Empty(tag) => {
                    self.begin(&tag)?;
                    self.end(tag.name().as_ref());
                }
                Event::End(tag) => self.end(tag.name().as_ref()),
                Event::Eof => break,
                _ => {}
            }
        }
        self.finish()
    }

    fn begin(&mut self, tag: &BytesStart<'_>) -> Result<(), DumpFault> {
        let attributes = Attributes::read(tag)?;
        match tag.name().as_ref() {
            HIERARCHY => {
                self.is_sideways = matches!(attributes.get("rotation"), "1" | "3");
                let side = |name: &str| attributes.get(name).parse::<u32>().ok();
                self.screen = side("width").zip(side("height")).map(|(width, height)| Size { width, height });
            }
            name if self.is_element(name) => {
                self.count += 1;
                if self.count > MOST_ELEMENTS || self.open.len() >= DEEPEST {
                    let why =
                        format!("it has more than {MOST_ELEMENTS} elements, or is nested more than {DEEPEST} deep");
                    return Err(invalid(why));
                }
                if self.package.is_none() {
                    self.package = attributes.text("package").map(str::to_string);
                }
                let mut node = Node::new(self.count as u64, attributes.props(self.shape));
                node.bounds = bounds(attributes.get("bounds"));
                node.is_clipped = attributes.get("displayed") == "false";
                self.open.push(node);
            }
            _ => {}
        }
        Ok(())
    }

    fn end(&mut self, name: &[u8]) {
        if !self.is_element(name) {
            return;
        }
        if let Some(node) = self.open.pop() {
            self.open.last_mut().map_or(&mut self.roots, |parent| &mut parent.children).push(node);
        }
    }

    fn finish(mut self) -> Result<ViewHierarchy, DumpFault> {
        let root = match self.roots.len() {
            0 => return Err(DumpFault::NoWindow),
            1 => self.roots.remove(0),
            _ => self.around_all(),
        };
        Ok(ViewHierarchy { root, package: self.package, is_sideways: self.is_sideways, screen: self.screen })
    }

    /// Several windows in one tree.
    fn around_all(&mut self) -> Node {
        let props = Props::new(self.shape).with(F::ClassName, "android.widget.FrameLayout");
        let mut root = Node::new(self.count as u64 + 1, props);
        let all = self.roots.iter().filter_map(|node| node.bounds);
        root.bounds = all.reduce(|a, b| Rect {
            left: a.left.min(b.left),
            top: a.top.min(b.top),
            right: a.right.max(b.right),
            bottom: a.bottom.max(b.bottom),
        });
        root.children = std::mem::take(&mut self.roots);
        root
    }
}

fn invalid(why: impl ToString) -> DumpFault {
    DumpFault::Invalid { why: why.to_string() }
}

/// An element that is in no dump, with attributes as a dump has them.
pub fn view(id: u64, attributes: Vec<(&str, String)>, bounds: Rect, shape: Shape) -> Node {
    let attributes = attributes.into_iter().map(|(name, value)| (name.to_string(), value));
    let mut node = Node::new(id, Attributes(attributes.collect()).props(shape));
    node.bounds = Some(bounds);
    node
}

/// The attributes of one element.
struct Attributes(Vec<(String, String)>);

impl Attributes {
    fn read(tag: &BytesStart<'_>) -> Result<Attributes, DumpFault> {
        let mut all = Vec::new();
        for attribute in tag.attributes().with_checks(false) {
            let attribute = attribute.map_err(invalid)?;
            let name = String::from_utf8_lossy(attribute.key.as_ref()).into_owned();
            // A text that is no XML is shown as it came.
            let raw = || String::from_utf8_lossy(&attribute.value).into_owned();
            let value =
                attribute.normalized_value(XmlVersion::Implicit1_0).map_or_else(|_| raw(), |text| text.into_owned());
            all.push((name, value));
        }
        Ok(Attributes(all))
    }

    fn get(&self, name: &str) -> &str {
        self.0.iter().find(|(key, _)| key == name).map_or("", |(_, value)| value)
    }

    fn text(&self, name: &str) -> Option<&str> {
        Some(self.get(name)).filter(|text| !text.is_empty())
    }

    fn is(&self, name: &str) -> bool {
        self.get(name) == "true"
    }

    /// The visible text. A password is shown as dots, whatever the phone says; an empty field shows its hint.
    fn own_text(&self) -> Option<String> {
        let text = self.text("text")?;
        if self.is("password") {
            return Some("•".repeat(text.chars().count()));
        }
        (self.text("hint") != Some(text)).then(|| text.to_string())
    }

    /// The command does not say whether an element takes text, but such elements are of this class, also those of Compose.
    fn is_editable(&self) -> bool {
        let class = self.get("class").rsplit('.').next().unwrap_or_default();
        class.ends_with("EditText") || class.ends_with("AutoCompleteTextView") || class.ends_with("SearchAutoComplete")
    }

    fn props(&self, shape: Shape) -> Props {
        let mut props = Props::new(shape);
        let names = if shape == Shape::AndroidMaestro { &MAESTRO } else { &ACCESSIBILITY };
        let own_text = self.own_text();
        let texts = [
            (F::ClassName, self.text("class")),
            (F::ResourceId, self.text("resource-id")),
            (F::Text, own_text.as_deref()),
            (names.description, self.text("content-desc")),
            (F::HintText, self.text("hint")),
        ];
        for (field, text) in texts {
            if let Some(text) = text {
                props.set(field, text);
            }
        }
        props.set(names.enabled, self.is("enabled"));
        props.set(names.clickable, self.is("clickable"));
        if self.is("checkable") {
            props.set(names.checked, self.is("checked"));
        }
        let flags = [
            (Some(F::IsEditable), self.is_editable()),
            (Some(F::IsPassword), self.is("password")),
            (Some(names.focused), self.is("focused")),
            (Some(names.selected), self.is("selected")),
            (names.scrollable, self.is("scrollable")),
            (names.checkable, self.is("checkable")),
        ];
        for (field, holds) in flags {
            if let (Some(field), true) = (field, holds) {
                props.set(field, true);
            }
        }
        props
    }
}

/// What the shapes call the same.
struct Names {
    description: F,
    enabled: F,
    clickable: F,
    checked: F,
    focused: F,
    selected: F,
    scrollable: Option<F>,
    checkable: Option<F>,
}

const ACCESSIBILITY: Names = Names {
    description: F::ContentDescription,
    enabled: F::IsEnabled,
    clickable: F::IsClickable,
    checked: F::IsChecked,
    focused: F::IsFocused,
    selected: F::IsSelected,
    scrollable: Some(F::IsScrollable),
    checkable: Some(F::IsCheckable),
};

const MAESTRO: Names = Names {
    description: F::AccessibilityText,
    enabled: F::Enabled,
    clickable: F::Clickable,
    checked: F::Checked,
    focused: F::Focused,
    selected: F::Selected,
    scrollable: None,
    checkable: None,
};

/// `[left,top][right,bottom]`.
fn bounds(text: &str) -> Option<Rect> {
    let (first, second) = text.strip_prefix('[')?.strip_suffix(']')?.split_once("][")?;
    let point = |text: &str| text.split_once(',').and_then(|(x, y)| Some((x.parse().ok()?, y.parse().ok()?)));
    let ((left, top), (right, bottom)) = (point(first)?, point(second)?);
    Some(Rect { left, top, right, bottom })
}
