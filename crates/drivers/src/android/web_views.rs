//! Web views of the app in front. Android's tree has what a page tells screen readers, and often nothing until one asks. If an app lets its
//! pages be inspected, as debug builds do, the page itself is read instead, by the walker of the web driver, and shown in Android's
//! vocabulary. Touches and keys are those of the phone in either case.

use std::time::Duration;

use parking_lot::Mutex;
use tokio::time::Instant;
use trailblaze_core::driver::{Budget, DriverError};
use trailblaze_core::screen::{Field, Node, Screen, Shape};
use trailblaze_protocol::geometry::Rect;

use super::adb::quote;
use super::hierarchy::{ViewHierarchy, view};
use super::phone::Phone;
use crate::web::{InspectablePage, InspectedPage};

/// How long the pages of an app may take to be read. Without them, the screen is as Android describes it.
const READING: Duration = Duration::from_secs(5);
/// The name of the socket of a process whose web views can be inspected, before the number of the process.
const SOCKET: &str = "webview_devtools_remote_";
/// How far the edges of a web view and of its page may be apart, in pixels.
const EDGE: u32 = 2;

/// The pages that were looked into last.
#[derive(Default)]
pub struct WebViews {
    open: Mutex<Vec<OpenPage>>,
}

struct OpenPage {
    socket: String,
    id: String,
    page: InspectedPage,
}

/// A page that belongs to a web view.
struct PlacedPage {
    /// Which node of the tree the web view is.
    node: u64,
    area: Rect,
    page: OpenPage,
}

impl WebViews {
    /// Replaces what web views contain by what their pages say, where these can be inspected.
    pub async fn fill(
        &self,
        (phone, shape): (&Phone, Shape),
        budget: &Budget,
        hierarchy: &mut ViewHierarchy,
    ) -> Result<(), DriverError> {
        let views = web_views(&hierarchy.root);
        let package = hierarchy.package.clone().filter(|_| !views.is_empty());
        let Some(package) = package else { return Ok(()) };
        let limit = Budget::new(budget.deadline.min(Instant::now() + READING), budget.cancel.clone());
        let placed = match self.place(phone, &limit, &package, &views).await {
            Ok(placed) => placed,
            Err(DriverError::Cancelled) => return Err(DriverError::Cancelled),
            Err(error) => {
                tracing::debug!(target: "trailblaze::android", %error, "the pages of web views cannot be inspected");
                return Ok(());
            }
        };
        let mut next = hierarchy.root.walk().map(|node| node.id).max().unwrap_or(0) + 1;
        for PlacedPage { node, area, page } in placed {
            match limit.run("the page of a web view", page.page.look()).await {
                Ok(Ok(screen)) => {
                    let children = elements(&screen, area, shape, &mut next);
                    if let Some(web_view) = find(&mut hierarchy.root, node) {
                        web_view.children = children;
                    }
                    self.open.lock().push(page);
                }
                Err(DriverError::Cancelled) => return Err(DriverError::Cancelled),
                looked => {
                    let why = looked.err().map(|error| error.to_string()).unwrap_or_default();
                    tracing::debug!(target: "trailblaze::android", why, "the page of a web view cannot be read");
                }
            }
        }
        Ok(())
    }

    /// The pages of an app, each with the web view that shows it.
    async fn place(
        &self,
        phone: &Phone,
        budget: &Budget,
        package: &str,
        views: &[(u64, Rect)],
    ) -> Result<Vec<PlacedPage>, DriverError> {
        let mut open = std::mem::take(&mut *self.open.lock());
        let mut placed = Vec::new();
        for socket in sockets(phone, budget, package).await? {
            let service = format!("localabstract:{socket}");
            let stream = phone.device.connect(budget, &service).await?.into_stream();
            let listed = budget.run("the pages of web views", InspectablePage::list(stream)).await?;
            let mut pages = listed.map_err(|reason| DriverError::Refused { reason })?;
            pages.retain(|page| page.is_shown);
            for (node, area, id) in matched(views, &pages) {
                let known = open.iter().position(|known| known.socket == socket && known.id == id);
                let known = known.map(|at| open.swap_remove(at)).filter(|known| !known.page.is_gone());
                let page = match known {
                    Some(known) => known,
                    None => {
                        let stream = phone.device.connect(budget, &service).await?.into_stream();
                        let page = budget.run("the page of a web view", InspectedPage::open(stream, id)).await?;
                        let page = page.map_err(|reason| DriverError::Refused { reason })?;
                        OpenPage { socket: socket.clone(), id: id.to_string(), page }
                    }
                };
                placed.push(PlacedPage { node, area, page });
            }
        }
        Ok(placed)
    }

    /// Ends the connections to pages.
    pub fn close(&self) {
        self.open.lock().clear();
    }
}

/// The sockets of an app's processes on which its web views can be inspected.
async fn sockets(phone: &Phone, budget: &Budget, package: &str) -> Result<Vec<String>, DriverError> {
    let command = format!(
        "for pid in $(pidof {}); do grep -q \"@{SOCKET}$pid$\" /proc/net/unix && echo {SOCKET}$pid; done; true",
        quote(package)
    );
    let printed = phone.must(budget, &command).await?;
    Ok(printed.lines().map(str::trim).filter(|line| line.starts_with(SOCKET)).map(str::to_string).collect())
}

/// The outermost web views that are on the screen.
fn web_views(root: &Node) -> Vec<(u64, Rect)> {
    let mut found = Vec::new();
    let mut todo = vec![root];
    while let Some(node) = todo.pop() {
        let is_web_view = node.props.text(Field::ClassName).is_some_and(|class| class.ends_with("WebView"));
        match node.bounds.filter(|bounds| is_web_view && bounds.width() > 0 && bounds.height() > 0) {
            Some(bounds) => found.push((node.id, bounds)),
            None => todo.extend(&node.children),
        }
    }
    found
}

/// Which page belongs to which web view, and where it is. Without a place, a page belongs to a web view if there is only one of each.
fn matched<'a>(views: &[(u64, Rect)], pages: &'a [InspectablePage]) -> Vec<(u64, Rect, &'a str)> {
    if let ([(node, bounds)], [page]) = (views, pages) {
        return vec![(*node, page.area.unwrap_or(*bounds), &*page.id)];
    }
    let is_close = |one: i32, other: i32| one.abs_diff(other) <= EDGE;
    let is_in = |bounds: &Rect, area: &Rect| is_close(bounds.left, area.left) && is_close(bounds.top, area.top);
    let of = |(node, bounds): &(u64, Rect)| {
        let mut there = pages.iter().filter(|page| page.area.is_some_and(|area| is_in(bounds, &area)));
        let page = there.next()?;
        // Which of several is on top is not known.
        there.next().is_none().then(|| (*node, page.area.unwrap_or(*bounds), &*page.id))
    };
    views.iter().filter_map(of).collect()
}

fn find(node: &mut Node, id: u64) -> Option<&mut Node> {
    match node.id == id {
        true => Some(node),
        false => node.children.iter_mut().find_map(|child| find(child, id)),
    }
}

/// The elements of a page, as Android describes those of an app. What is not in view is left out, as Android does.
fn elements(screen: &Screen, area: Rect, shape: Shape, next: &mut u64) -> Vec<Node> {
    let scale = f64::from(area.width()) / f64::from(screen.size.width.max(1));
    let place = |bounds: Rect| {
        let side = |start: i32, value: i32| start.saturating_add((f64::from(value) * scale).round() as i32);
        Rect {
            left: side(area.left, bounds.left),
            top: side(area.top, bounds.top),
            right: side(area.left, bounds.right),
            bottom: side(area.top, bounds.bottom),
        }
    };
    screen.root.children.iter().flat_map(|node| element(node, &place, area, shape, next)).collect()
}

fn element(node: &Node, place: &impl Fn(Rect) -> Rect, area: Rect, shape: Shape, next: &mut u64) -> Vec<Node> {
    let id = *next;
    *next += 1;
    let children: Vec<Node> = node.children.iter().flat_map(|child| element(child, place, area, shape, next)).collect();
    let bounds = node.bounds.map(place).and_then(|bounds| bounds.intersect(&area));
    let Some(bounds) = bounds.filter(|_| !node.is_clipped) else { return children };
    let mut made = view(id, attributes(node), bounds, shape);
    made.children = children;
    vec![made]
}

/// As Chromium tells Android about an element of a page.
fn attributes(node: &Node) -> Vec<(&'static str, String)> {
    let text = |field| node.props.text(field).unwrap_or_default().to_string();
    let is = |field| node.props.flag(field) == Some(true);
    let (role, is_editable) = (text(Field::AriaRole), is(Field::IsEditable));
    let name = [Field::AriaName, Field::Text].map(text).into_iter().find(|text| !text.is_empty()).unwrap_or_default();
    let own = match (is_editable, node.props.text(Field::Value)) {
        (true, value) => value.unwrap_or_default().to_string(),
        (false, Some(value)) if name.is_empty() => value.to_string(),
        _ => name.clone(),
    };
    let checked = node.props.flag(Field::IsChecked);
    vec![
        ("class", class(&role, is_editable).to_string()),
        ("text", own),
        ("hint", if is_editable { name } else { String::new() }),
        ("resource-id", text(Field::ElementId)),
        ("enabled", is(Field::IsEnabled).to_string()),
        ("clickable", is(Field::IsInteractive).to_string()),
        ("checkable", checked.is_some().to_string()),
        ("checked", (checked == Some(true)).to_string()),
        ("focused", is(Field::IsFocused).to_string()),
        ("selected", is(Field::IsSelected).to_string()),
        ("password", is(Field::IsPassword).to_string()),
    ]
}

fn class(role: &str, is_editable: bool) -> &'static str {
    match role {
        _ if is_editable => "android.widget.EditText",
        "button" | "menuitem" => "android.widget.Button",
        "checkbox" | "menuitemcheckbox" => "android.widget.CheckBox",
        "radio" | "menuitemradio" => "android.widget.RadioButton",
        "switch" => "android.widget.ToggleButton",
        "combobox" => "android.widget.Spinner",
        "slider" => "android.widget.SeekBar",
        "progressbar" | "meter" => "android.widget.ProgressBar",
        "img" => "android.widget.Image",
        "list" | "listbox" => "android.widget.ListView",
        "table" | "grid" => "android.widget.GridView",
        "dialog" | "alertdialog" => "android.app.Dialog",
        "paragraph" | "heading" | "generic" => "android.widget.TextView",
        _ => "android.view.View",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn page(id: &str, area: Option<Rect>) -> InspectablePage {
        InspectablePage { id: id.to_string(), area, is_shown: true }
    }

    #[test]
    fn a_page_belongs_to_the_web_view_in_its_place() {
        let (top, bottom) = (Rect::new(0, 0, 1080, 500), Rect::new(0, 500, 1080, 900));
        let of = |views: &[(u64, Rect)], pages: &[InspectablePage]| -> Vec<(u64, String)> {
            matched(views, pages).into_iter().map(|(node, _, id)| (node, id.to_string())).collect()
        };
        assert_eq!(of(&[(7, top)], &[page("a", None)]), [(7, "a".to_string())]);
        let both = [page("a", Some(bottom)), page("b", Some(Rect::new(1, 1, 1078, 498)))];
        assert_eq!(of(&[(7, top), (8, bottom)], &both), [(7, "b".to_string()), (8, "a".to_string())]);
        assert_eq!(of(&[(7, top)], &[page("a", None), page("b", None)]), []);
        assert_eq!(of(&[(7, top)], &[page("a", Some(top)), page("b", Some(top))]), [], "one hides the other");
    }
}
