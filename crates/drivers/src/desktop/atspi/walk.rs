//! Reads the tree of a program. What costs is the time that the program needs for each answer: it is first asked for what it says about all
//! elements at once, and then all elements of a level are asked at once for the rest.

use std::collections::HashSet;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use futures::future::{BoxFuture, join_all};
use parking_lot::Mutex;
use trailblaze_protocol::geometry::Rect;

use super::bus::{ACCESSIBLE, AccessibleRef, AtspiBus, AtspiError};
use super::gtk4;
use super::items::{ListedItem, ListedItems};
use super::roles::{AtspiRole, PASSWORD, RoleKind, role_of};
use super::states::AtspiStates;
use crate::desktop::dbus::{DBusArguments, DBusValue};

const COMPONENT: &str = "org.a11y.atspi.Component";
const TEXT: &str = "org.a11y.atspi.Text";
const VALUE: &str = "org.a11y.atspi.Value";
/// The most children of a list that are read if it cannot be asked which are in view.
const FIRST_OF_MANY: usize = 100;
/// A list with more children than this is read lazily.
const MANY: usize = 200;
/// The most elements of a program.
const MOST: usize = 10_000;
/// A program is no longer asked about all elements at once if it has this many times more than are shown, and more than a few.
const MOST_UNSEEN: usize = 20;
const FEW: usize = 100;
/// The longest text that is read, in characters.
const LONGEST_TEXT: i32 = 20_000;
/// How deeply elements are nested, at most.
const DEEPEST: usize = 200;

/// A program with a tree.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AccessibleApp {
    pub root: AccessibleRef,
    pub name: String,
    /// What draws its windows, such as `gtk` or `Qt`, in lower case.
    pub toolkit: String,
    pub pid: u32,
    pub coordinates: Coordinates,
}

impl AccessibleApp {
    pub fn is_gtk3(&self) -> bool {
        self.toolkit == "gtk" && self.coordinates == Coordinates::Screen
    }
}

/// What positions of elements are relative to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Coordinates {
    Screen,
    Window,
}

/// An element as its program describes it.
#[derive(Debug, Clone, PartialEq)]
pub struct AccessibleNode {
    pub at: AccessibleRef,
    pub role: AtspiRole,
    pub is_password: bool,
    pub name: String,
    pub description: String,
    /// The id that its developer gave it.
    pub id: String,
    pub states: AtspiStates,
    pub bounds: Option<Rect>,
    pub text: Option<String>,
    pub value: Option<f64>,
    pub children: Vec<AccessibleNode>,
    /// What is not among its children: all that there are, and which were read.
    pub left_out: Option<String>,
}

/// How a program is asked about its elements.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Asking {
    /// About all at once, also those that are not shown.
    ForAll,
    /// About each of them that is shown.
    ForEach,
}

/// One look at the tree of a program.
pub struct TreeWalk<'a> {
    bus: &'a AtspiBus,
    app: &'a AccessibleApp,
    limit: Duration,
    /// What the program says about all elements at once; nothing if it was not asked.
    listed: ListedItems,
    is_too_long: bool,
    /// Also what is not shown.
    all: bool,
    count: AtomicUsize,
    /// A program may name an element twice, or below itself.
    seen: Mutex<HashSet<AccessibleRef>>,
}

impl<'a> TreeWalk<'a> {
    pub fn new(bus: &'a AtspiBus, app: &'a AccessibleApp, limit: Duration, all: bool) -> TreeWalk<'a> {
        let (listed, is_too_long) = (ListedItems::default(), false);
        TreeWalk { bus, app, limit, listed, is_too_long, all, count: AtomicUsize::new(0), seen: Mutex::default() }
    }

    /// The windows of the program, with all that is in them. An element that goes away meanwhile is left out.
    pub async fn windows(&mut self, asking: Asking) -> Result<Vec<AccessibleNode>, AtspiError> {
        let windows = self.bus.children(&self.app.root, self.limit).await?;
        if asking == Asking::ForAll {
            match self.bus.items(&self.app.root.app, self.limit).await {
                Ok(listed) => self.listed = listed,
                // It has none, or none yet.
                Err(AtspiError::Refused(_)) => {}
                // A program that has just answered does not hang: its list is too long.
                Err(AtspiError::Silent(_)) => self.is_too_long = true,
                Err(error) => return Err(error),
            }
        }
        self.nodes(windows, 0).await
    }

    /// How the program should be asked the next time.
    pub fn next_asking(&self) -> Asking {
        let n_read = self.count.load(Ordering::Relaxed);
        match self.is_too_long || self.listed.len() > n_read.max(FEW) * MOST_UNSEEN {
            true => Asking::ForEach,
            false => Asking::ForAll,
        }
    }

    /// An element with what is in it.
    pub async fn node(&self, at: AccessibleRef) -> Result<Option<AccessibleNode>, AtspiError> {
        Ok(self.nodes(vec![at], 1).await?.into_iter().next())
    }

    fn nodes(&self, refs: Vec<AccessibleRef>, depth: usize) -> BoxFuture<'_, Result<Vec<AccessibleNode>, AtspiError>> {
        Box::pin(async move {
            let fresh: Vec<AccessibleRef> = refs.into_iter().filter(|at| self.seen.lock().insert(at.clone())).collect();
            let read = join_all(fresh.into_iter().map(|at| self.read(at, depth))).await;
            let mut nodes = Vec::new();
            for node in read {
                match node {
                    Ok(node) => nodes.extend(node),
                    Err(AtspiError::Refused(_)) => {}
                    Err(error) => return Err(error),
                }
            }
            Ok(nodes)
        })
    }

    async fn read(&self, at: AccessibleRef, depth: usize) -> Result<Option<AccessibleNode>, AtspiError> {
        let listed = self.listed.get(&at);
        // GTK 4 does not say what is shown, only what is not hidden.
        let is_gtk4 = self.app.coordinates == Coordinates::Window;
        let is_hidden = |item: &ListedItem| !is_gtk4 && depth > 0 && !item.states.has(AtspiStates::SHOWING);
        if !self.all && listed.is_some_and(is_hidden) {
            return Ok(None);
        }
        if self.count.fetch_add(1, Ordering::Relaxed) >= MOST || depth > DEEPEST {
            return Ok(None);
        }
        let (item, bounds) = match listed {
            Some(item) => (item.clone(), self.bounds(&at).await?),
            None => {
                let (item, bounds) = futures::join!(self.item(&at), self.bounds(&at));
                (item?, bounds?)
            }
        };
        let mut states = item.states;
        if is_gtk4 && states.has(AtspiStates::VISIBLE) && bounds.is_some() {
            states = states.with(AtspiStates::SHOWING);
        }
        let role = refined(role_of(item.role), states, depth);
        let is_shown = depth == 0 || states.has(AtspiStates::SHOWING);
        if states.has(AtspiStates::DEFUNCT) || !is_shown && !self.all {
            return Ok(None);
        }
        let mut node = AccessibleNode {
            is_password: item.role == PASSWORD,
            role,
            name: item.name,
            description: String::new(),
            id: String::new(),
            states,
            bounds,
            text: None,
            value: None,
            children: Vec::new(),
            left_out: None,
            at,
        };
        let (children, details) =
            futures::join!(self.children(&node, item.count, depth), self.details(&node, item.description));
        (node.children, node.left_out) = children?;
        let details = details?;
        (node.text, node.value, node.description, node.id) =
            (details.text, details.value, details.description, details.id);
        if node.name.is_empty() {
            node.name = details.label;
        }
        if self.app.coordinates == Coordinates::Window {
            gtk4::clean(&mut node);
        }
        Ok(Some(node))
    }

    /// Asks an element for what the list of its program would say.
    async fn item(&self, at: &AccessibleRef) -> Result<ListedItem, AtspiError> {
        let (role, states, name, count) = futures::join!(
            self.call(at, ACCESSIBLE, "GetRole", DBusArguments::new()),
            self.call(at, ACCESSIBLE, "GetState", DBusArguments::new()),
            self.bus.property(at, ACCESSIBLE, "Name", self.limit),
            self.child_count(at),
        );
        Ok(ListedItem {
            role: role?.int().and_then(|role| u32::try_from(role).ok()).unwrap_or(0),
            states: AtspiStates::read(&states?),
            name: name.ok().and_then(DBusValue::into_text).unwrap_or_default(),
            description: None,
            count: Some(count),
        })
    }

    async fn child_count(&self, at: &AccessibleRef) -> usize {
        let count = self.bus.property(at, ACCESSIBLE, "ChildCount", self.limit).await;
        count.ok().and_then(|count| count.small()).unwrap_or(0).max(0) as usize
    }

    async fn children(
        &self,
        node: &AccessibleNode,
        count: Option<usize>,
        depth: usize,
    ) -> Result<(Vec<AccessibleNode>, Option<String>), AtspiError> {
        let count = match count {
            Some(count) => count,
            None => self.child_count(&node.at).await,
        };
        if count == 0 {
            return Ok((Vec::new(), None));
        }
        if count > MANY && node.role.kind == RoleKind::List {
            return self.children_in_view(node, count, depth).await;
        }
        let refs = match self.listed.children(&node.at) {
            Some(listed) => listed,
            None => self.bus.children(&node.at, self.limit).await?,
        };
        let n_before = refs.len();
        let children = self.nodes(refs, depth + 1).await?;
        let is_cut = self.count.load(Ordering::Relaxed) > MOST && children.len() < n_before;
        let left_out =
            is_cut.then(|| format!("some of {count} items were not read: the program has over {MOST} elements"));
        Ok((children, left_out))
    }

    /// The part of a long list that is in view: from the item at its upper left corner to that at its lower right one.
    async fn children_in_view(
        &self,
        node: &AccessibleNode,
        count: usize,
        depth: usize,
    ) -> Result<(Vec<AccessibleNode>, Option<String>), AtspiError> {
        let (mut first, mut last) = (0, FIRST_OF_MANY.min(count) - 1);
        if let Some(bounds) = node.bounds {
            let near = |from: i32, to: i32, part: i32| from + (to - from) * part / 100;
            let corner = |x: i32, y: i32| (near(bounds.left, bounds.right, x), near(bounds.top, bounds.bottom, y));
            let tries = [corner(2, 1), corner(2, 5), corner(2, 8), corner(98, 97), corner(2, 97), corner(50, 50)];
            let found = join_all(tries.into_iter().map(|(x, y)| self.index_at(node, x, y))).await;
            let found: Vec<usize> = found.into_iter().flatten().filter(|index| *index < count).collect();
            if let (Some(least), Some(most)) = (found.iter().min(), found.iter().max()) {
                (first, last) = (*least, (*most).min(*least + MANY * 4));
            }
        }
        let numbers = (first..=last).map(|index| DBusArguments::new().int(index as i32));
        let asked = numbers.map(|index| async move { self.call(&node.at, ACCESSIBLE, "GetChildAtIndex", index).await });
        let mut refs = Vec::new();
        for answer in join_all(asked).await {
            match answer {
                Ok(value) => refs.extend(AccessibleRef::read(&value)),
                Err(AtspiError::Refused(_)) => {}
                Err(error) => return Err(error),
            }
        }
        let children = self.nodes(refs, depth + 1).await?;
        let said = format!("items {} to {} of {count}; scroll to see others", first + 1, last + 1);
        Ok((children, Some(said)))
    }

    /// Which child of a list is at a place.
    async fn index_at(&self, list: &AccessibleNode, x: i32, y: i32) -> Option<usize> {
        let kind = self.app.coordinates.number();
        let place = DBusArguments::new().int(x).int(y).uint(kind);
        let mut at = AccessibleRef::read(&self.call(&list.at, COMPONENT, "GetAccessibleAtPoint", place).await.ok()?)?;
        // What is at the place may be inside of the item.
        for _ in 0..8 {
            let parent = self.bus.property(&at, ACCESSIBLE, "Parent", self.limit).await.ok()?;
            let parent = AccessibleRef::read(&parent)?;
            if parent == list.at {
                let index = self.call(&at, ACCESSIBLE, "GetIndexInParent", DBusArguments::new()).await.ok()?;
                return index.int().and_then(|index| usize::try_from(index).ok());
            }
            at = parent;
        }
        None
    }

    async fn bounds(&self, at: &AccessibleRef) -> Result<Option<Rect>, AtspiError> {
        let kind = DBusArguments::new().uint(self.app.coordinates.number());
        match self.call(at, COMPONENT, "GetExtents", kind).await {
            Ok(place) => {
                let sides: Vec<i32> = place.items().iter().filter_map(DBusValue::small).collect();
                let [left, top, width, height] = sides[..] else { return Ok(None) };
                // What is not shown is placed at the smallest number there is.
                let is_placed = width > 0 && height > 0 && left > i32::MIN / 2 && top > i32::MIN / 2;
                Ok(is_placed.then(|| Rect::new(left, top, width, height)))
            }
            Err(AtspiError::Refused(_)) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// `description` is what the list of the program says.
    async fn details(&self, node: &AccessibleNode, description: Option<String>) -> Result<Details, AtspiError> {
        let has_name = !node.name.trim().is_empty();
        let is_control = !matches!(node.role.kind, RoleKind::Box | RoleKind::Plain | RoleKind::Window);
        let text = async {
            match node.role.kind {
                RoleKind::Text => self.text(node).await.map(Some),
                _ => Ok(None),
            }
        };
        let value = async {
            match node.role.kind {
                RoleKind::Range => self.optional(self.bus.property(&node.at, VALUE, "CurrentValue", self.limit)).await,
                _ => Ok(None),
            }
        };
        let description = async {
            match (is_control || !has_name, description) {
                (true, Some(listed)) => Ok(Some(DBusValue::Text(listed))),
                (true, None) => self.optional(self.bus.property(&node.at, ACCESSIBLE, "Description", self.limit)).await,
                (false, _) => Ok(None),
            }
        };
        let id = async {
            match is_control {
                true => self.optional(self.bus.property(&node.at, ACCESSIBLE, "AccessibleId", self.limit)).await,
                false => Ok(None),
            }
        };
        let label = async {
            match is_control && !has_name {
                true => self.label(node).await,
                false => Ok(String::new()),
            }
        };
        let (text, value, description, id, label) = futures::try_join!(text, value, description, id, label)?;
        let words = |value: Option<DBusValue>| value.and_then(DBusValue::into_text).unwrap_or_default();
        let value = value.and_then(|value| value.float());
        Ok(Details { text, value, description: words(description), id: words(id), label })
    }

    /// What an element may lack.
    async fn optional(
        &self,
        asked: impl Future<Output = Result<DBusValue, AtspiError>>,
    ) -> Result<Option<DBusValue>, AtspiError> {
        match asked.await {
            Ok(value) => Ok(Some(value)),
            Err(AtspiError::Refused(_)) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// The text in a field. That of a password field is never asked for: as many dots stand for it.
    async fn text(&self, node: &AccessibleNode) -> Result<String, AtspiError> {
        let count = self.optional(self.bus.property(&node.at, TEXT, "CharacterCount", self.limit)).await?;
        let count = count.and_then(|count| count.small()).unwrap_or(0).max(0);
        if node.is_password {
            return Ok("•".repeat(count.min(LONGEST_TEXT) as usize));
        }
        if count == 0 {
            return Ok(String::new());
        }
        let end = count.min(LONGEST_TEXT);
        let range = DBusArguments::new().int(0).int(end);
        let text = self.optional(self.call(&node.at, TEXT, "GetText", range)).await?;
        let mut text = text.and_then(DBusValue::into_text).unwrap_or_default();
        if end < count {
            text.push('…');
        }
        Ok(text)
    }

    /// The text of the element that labels this one.
    async fn label(&self, node: &AccessibleNode) -> Result<String, AtspiError> {
        const LABELLED_BY: i64 = 2;
        let relations = self.call(&node.at, ACCESSIBLE, "GetRelationSet", DBusArguments::new());
        let Some(relations) = self.optional(relations).await? else { return Ok(String::new()) };
        let label = relations.items().iter().map(DBusValue::items).find_map(|relation| match relation {
            [kind, targets] if kind.int() == Some(LABELLED_BY) => AccessibleRef::read(targets.items().first()?),
            _ => None,
        });
        let Some(label) = label else { return Ok(String::new()) };
        let name = match self.listed.get(&label) {
            Some(item) => item.name.clone(),
            None => {
                let name = self.optional(self.bus.property(&label, ACCESSIBLE, "Name", self.limit)).await?;
                name.and_then(DBusValue::into_text).unwrap_or_default()
            }
        };
        Ok(name.trim_end_matches(':').to_string())
    }

    async fn call(
        &self,
        at: &AccessibleRef,
        interface: &str,
        member: &str,
        arguments: DBusArguments,
    ) -> Result<DBusValue, AtspiError> {
        let values = self.bus.call(at, interface, member, &arguments, self.limit).await?;
        values.into_iter().next().ok_or_else(|| AtspiError::Refused(format!("`{member}` returned nothing")))
    }
}

/// What only some elements have.
struct Details {
    text: Option<String>,
    value: Option<f64>,
    description: String,
    id: String,
    /// The text of the element that labels it.
    label: String,
}

impl Coordinates {
    fn number(self) -> u32 {
        match self {
            Coordinates::Screen => 0,
            Coordinates::Window => 1,
        }
    }
}

/// A role, with what the states say about it: a text that cannot be edited is only to be read.
fn refined(role: AtspiRole, states: AtspiStates, depth: usize) -> AtspiRole {
    let is_editable = states.has(AtspiStates::EDITABLE) && !states.has(AtspiStates::READ_ONLY);
    match role.class {
        // Qt calls a frame around anything a window, and the part of a dialog that shows folders is no dialog of its own.
        "Window" | "FileChooser" if depth > 0 => AtspiRole { class: "Group", kind: RoleKind::Box },
        "FileChooser" => AtspiRole { class: "Dialog", ..role },
        "TextField" if !is_editable => AtspiRole { class: "Text", ..role },
        "TextField" if states.has(AtspiStates::MULTI_LINE) => AtspiRole { class: "TextArea", ..role },
        _ => role,
    }
}
