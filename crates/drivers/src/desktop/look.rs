//! What is on the desktop: the windows that X knows, and in each of them what its program says about it.

use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::Arc;
use std::time::Duration;

use futures::future::join_all;
use trailblaze_core::driver::{Budget, DriverError, ObserveOptions};
use trailblaze_core::screen::{Field, Node, Props, Screen, Shape};
use trailblaze_protocol::geometry::{Rect, Size};

use super::atspi::{
    AccessibleApp, AccessibleNode, AccessibleRef, Asking, AtspiError, AtspiStates, Coordinates, RoleKind, TreeWalk,
};
use super::dbus::DBusValue;
use super::driver::{DesktopDriver, SeenElement};
use super::place::DesktopPlace;
use super::props::props;
use super::x11::XWindow;

/// How long a program may take to answer one question.
const ANSWER: Duration = Duration::from_secs(4);
/// The same for one that did not answer the last time.
const SECOND_ANSWER: Duration = Duration::from_millis(300);
const APPLICATION: &str = "org.a11y.atspi.Application";
const ACCESSIBLE: &str = "org.a11y.atspi.Accessible";

/// What a program shows.
struct AppWindows {
    app: AccessibleApp,
    /// `None` if it does not answer.
    windows: Option<Vec<AccessibleNode>>,
}

impl DesktopDriver {
    pub(super) async fn look(&self, budget: &Budget, want: ObserveOptions) -> Result<Screen, DriverError> {
        self.check_alive()?;
        self.notice_crashes();
        let picture = async {
            match (&self.x, want.picture) {
                (Some(x), true) => x.picture(budget).await.map(Some),
                _ => Ok(None),
            }
        };
        let looked = async { futures::join!(self.windows_here(budget), self.programs(), picture) };
        let (windows, apps, picture) = budget.run("the desktop did not answer", looked).await?;
        // If the X server is gone, so are the programs and what lists them, and that is the reason.
        let (windows, picture) = (windows?, picture?);
        if apps.is_err() {
            self.windows_here(budget).await?;
        }
        let apps = apps?;
        let walked = budget.run("the programs did not describe their windows", self.walk(apps, want.all)).await??;
        self.check_answers(&walked, &windows)?;
        let active = windows.iter().find(|window| window.is_active);
        let app = active.map(|window| self.app_of(window, &walked));
        let app = app.or_else(|| Some(walked.first()?.app.name.clone()));
        let size = self.size();
        let screen = Rect::new(0, 0, size.width as i32, size.height as i32);
        let mut assembly = Assembly { elements: HashMap::new(), screen: self.x.is_some().then_some(screen) };
        let root = assembly.desktop(walked, &windows);
        self.seen.lock().elements = assembly.elements;
        // How large a screen of Wayland is, is not known: as large as what is on it.
        let size = if self.x.is_some() { size } else { extent(&root) };
        let snapshot = self.number(&root);
        Ok(Screen { snapshot, size, app, root, picture, is_moving: false })
    }

    fn size(&self) -> Size {
        trailblaze_core::driver::Driver::describe(self).size
    }

    /// The windows of the desktop. In the user's session, only those of our programs, if we know which these are.
    pub(super) async fn windows_here(&self, budget: &Budget) -> Result<Vec<XWindow>, DriverError> {
        let Some(x) = &self.x else { return Ok(Vec::new()) };
        let mut windows = x.windows(budget).await?;
        if self.is_choosy() {
            windows.retain(|window| window.pid.is_some_and(|pid| self.apps.of_process(pid).is_some()));
        }
        Ok(windows)
    }

    /// Whether the desktop also shows programs that are none of ours.
    fn is_choosy(&self) -> bool {
        self.settings.place == DesktopPlace::Own && !self.apps.all().is_empty()
    }

    /// The programs that have a tree.
    async fn programs(&self) -> Result<Vec<AccessibleApp>, DriverError> {
        let roots = self.bus.apps().await.map_err(lost)?;
        let known = roots.into_iter().map(|root| self.program(root));
        let mut apps: Vec<AccessibleApp> = join_all(known).await.into_iter().flatten().collect();
        if self.is_choosy() {
            apps.retain(|app| self.apps.of_process(app.pid).is_some());
        }
        let names: Vec<Arc<str>> = apps.iter().map(|app| Arc::clone(&app.root.app)).collect();
        let mut seen = self.seen.lock();
        seen.programs.retain(|name, _| names.contains(name));
        seen.asking.retain(|name, _| names.contains(name));
        drop(seen);
        Ok(apps)
    }

    /// What is known about a program. `None` if it has just ended.
    async fn program(&self, root: AccessibleRef) -> Option<AccessibleApp> {
        if let Some(known) = self.seen.lock().programs.get(&root.app) {
            return Some(known.clone());
        }
        let pid = self.bus.pid(&root.app).await.ok()?;
        let limit = self.limit(&root.app);
        let (name, toolkit, version) = futures::join!(
            self.bus.property(&root, ACCESSIBLE, "Name", limit),
            self.bus.property(&root, APPLICATION, "ToolkitName", limit),
            self.bus.property(&root, APPLICATION, "Version", limit),
        );
        if let Err(AtspiError::Silent(_)) = &name {
            let process = std::fs::read_to_string(format!("/proc/{pid}/comm")).unwrap_or_default();
            let (toolkit, coordinates) = (String::new(), Coordinates::Screen);
            return Some(AccessibleApp { root, name: process.trim().to_string(), toolkit, pid, coordinates });
        }
        let words =
            |value: Result<DBusValue, AtspiError>| value.ok().and_then(DBusValue::into_text).unwrap_or_default();
        let (name, toolkit, version) = (words(name), words(toolkit), words(version));
        // GTK 4 does not know where its windows are.
        let is_gtk4 = toolkit.eq_ignore_ascii_case("gtk") && version.starts_with('4');
        let coordinates = if is_gtk4 { Coordinates::Window } else { Coordinates::Screen };
        let app = AccessibleApp { root: root.clone(), name, toolkit: toolkit.to_lowercase(), pid, coordinates };
        self.seen.lock().programs.insert(root.app, app.clone());
        Some(app)
    }

    fn limit(&self, app: &Arc<str>) -> Duration {
        if self.seen.lock().hanging.contains(app) { SECOND_ANSWER } else { ANSWER }
    }

    async fn walk(&self, apps: Vec<AccessibleApp>, all: bool) -> Result<Vec<AppWindows>, DriverError> {
        let walks = apps.into_iter().map(|app| async move {
            let name = &app.root.app;
            let asking = self.seen.lock().asking.get(name).copied().unwrap_or(Asking::ForAll);
            let mut walk = TreeWalk::new(&self.bus, &app, self.limit(name), all);
            let walked = walk.windows(asking).await;
            if walked.is_ok() && asking == Asking::ForAll {
                self.seen.lock().asking.insert(Arc::clone(name), walk.next_asking());
            }
            let windows = match walked {
                Ok(windows) => Some(windows),
                // It has just ended.
                Err(AtspiError::Refused(_)) => Some(Vec::new()),
                Err(AtspiError::Silent(_)) => None,
                Err(error @ AtspiError::Gone(_)) => return Err(lost(error)),
            };
            Ok(AppWindows { app, windows })
        });
        let walked: Vec<AppWindows> = join_all(walks).await.into_iter().collect::<Result<_, _>>()?;
        let silent = walked.iter().filter(|app| app.windows.is_none());
        self.seen.lock().hanging = silent.map(|app| Arc::clone(&app.app.root.app)).collect();
        Ok(walked)
    }

    /// Fails if the program in front, or the only one, does not answer.
    fn check_answers(&self, walked: &[AppWindows], windows: &[XWindow]) -> Result<(), DriverError> {
        let active = windows.iter().find(|window| window.is_active).and_then(|window| window.pid);
        let is_in_front = |app: &AppWindows| walked.len() == 1 || active == Some(app.app.pid);
        match walked.iter().find(|app| app.windows.is_none() && is_in_front(app)) {
            Some(app) => Err(DriverError::Refused { reason: silence(&app.app) }),
            None => Ok(()),
        }
    }

    /// What the program of a window is called: as it was started here, or as it calls itself.
    fn app_of(&self, window: &XWindow, walked: &[AppWindows]) -> String {
        let started = window.pid.and_then(|pid| self.apps.of_process(pid));
        let named = || walked.iter().find(|app| Some(app.app.pid) == window.pid).map(|app| app.app.name.clone());
        let app = started.or_else(named).filter(|name| !name.is_empty()).unwrap_or_else(|| window.class.clone());
        // Of a command line, the program.
        let program = app.split_whitespace().next().unwrap_or_default();
        program.rsplit('/').next().unwrap_or_default().to_string()
    }
}

pub(super) fn lost(error: AtspiError) -> DriverError {
    match error {
        AtspiError::Gone(_) => DriverError::Lost { evidence: error.to_string() },
        AtspiError::Silent(_) | AtspiError::Refused(_) => DriverError::Refused { reason: error.to_string() },
    }
}

/// What to say about a program that hangs.
pub(super) fn silence(app: &AccessibleApp) -> String {
    let seconds = ANSWER.as_secs();
    format!(
        "`{}` (process {}) does not answer: it said nothing over AT-SPI for {seconds} s, as a program that hangs",
        app.name, app.pid
    )
}

/// Puts the screen together.
struct Assembly {
    elements: HashMap<u64, SeenElement>,
    screen: Option<Rect>,
}

/// Where an element is.
#[derive(Clone, Copy)]
struct Surroundings {
    /// From the coordinates of the program to those of the screen.
    shift: (i32, i32),
    /// The part of the screen that shows it.
    clip: Option<Rect>,
    window: Option<u32>,
}

impl Assembly {
    /// All windows, from the bottom to the top.
    fn desktop(&mut self, walked: Vec<AppWindows>, windows: &[XWindow]) -> Node {
        let mut root = Node::new(0, Props::new(Shape::Compose));
        root.bounds = self.screen;
        let mut claimed = vec![false; windows.len()];
        let mut placed: Vec<(usize, Node)> = Vec::new();
        for AppWindows { app, windows: tops } in walked {
            let Some(tops) = tops else {
                for (index, window) in windows.iter().enumerate().filter(|(_, window)| window.pid == Some(app.pid)) {
                    claimed[index] = true;
                    placed.push((index, bare(window, &silence(&app))));
                }
                continue;
            };
            for top in tops {
                let found = match_window(&app, &top, windows, &claimed);
                // A window that is hidden or minimized is not on the screen.
                let is_shown = top.states.has(AtspiStates::SHOWING) || found.is_some();
                if !is_shown {
                    continue;
                }
                if let Some(index) = found {
                    claimed[index] = true;
                }
                let window = found.map(|index| &windows[index]);
                let is_placed = window.is_some_and(|window| window.is_active);
                let order = found.unwrap_or(windows.len());
                let mut node = self.window(&app, top, window);
                if is_placed {
                    node.props.set(Field::StateDescription, "active");
                }
                placed.push((order, node));
            }
        }
        let bare_ones = windows.iter().enumerate().filter(|(index, window)| !claimed[*index] && !window.is_popup);
        const NO_TREE: &str = "it exposes no accessibility tree; use points and pictures";
        placed.extend(bare_ones.map(|(index, window)| (index, bare(window, NO_TREE))));
        placed.sort_by_key(|(order, _)| *order);
        root.children = placed.into_iter().map(|(_, node)| node).collect();
        root
    }

    fn window(&mut self, app: &AccessibleApp, mut top: AccessibleNode, window: Option<&XWindow>) -> Node {
        let shift = window.map_or((0, 0), |window| shift_of(app, &top, window));
        if let Some(window) = window {
            // Some toolkits leave out the title.
            if top.name.trim().is_empty() {
                top.name.clone_from(&window.title);
            }
        }
        let clip = match (window.map(|window| window.bounds), self.screen) {
            (Some(bounds), Some(screen)) => Some(bounds.intersect(&screen).unwrap_or(bounds)),
            (bounds, screen) => bounds.or(screen),
        };
        let around = Surroundings { shift, clip: None, window: window.map(|window| window.id) };
        let bounds = top.bounds;
        let mut node = self.element(top, Surroundings { clip, ..around });
        node.bounds = window.map(|window| window.bounds).or(bounds);
        node
    }

    fn element(&mut self, node: AccessibleNode, around: Surroundings) -> Node {
        let id = number_of(&node.at);
        let bounds = node.bounds.map(|bounds| {
            let (x, y) = around.shift;
            Rect::new(bounds.left.saturating_add(x), bounds.top.saturating_add(y), bounds.width(), bounds.height())
        });
        let visible = match (bounds, around.clip) {
            (Some(bounds), Some(clip)) => bounds.intersect(&clip),
            (bounds, _) => bounds,
        };
        let mut element = Node::new(id, props(&node));
        let is_clipped = bounds.is_some() && visible.is_none() || !node.states.has(AtspiStates::SHOWING);
        element.is_clipped = is_clipped;
        element.bounds = visible.or(bounds);
        self.elements.insert(
            id,
            SeenElement {
                at: node.at.clone(),
                class: node.role.class,
                is_editable: node.states.has(AtspiStates::EDITABLE),
                is_checked: element.is_checked(),
                window: around.window,
            },
        );
        let clip = match node.role.kind {
            RoleKind::List if bounds.is_some() => visible.or(around.clip),
            // Open menus reach out of their windows.
            RoleKind::Menu => self.screen,
            _ => around.clip,
        };
        let inner = Surroundings { clip, ..around };
        element.children = node.children.into_iter().map(|child| self.element(child, inner)).collect();
        if let Some(left_out) = &node.left_out {
            let mut remark = Node::new(
                id ^ 1,
                Props::new(Shape::Compose).with(Field::Role, "Text").with(Field::Text, left_out.as_str()),
            );
            remark.bounds = element.bounds;
            element.children.push(remark);
        }
        element
    }
}

/// The size of a screen that shows all of a tree.
fn extent(root: &Node) -> Size {
    let bounds = || root.walk().filter_map(|node| node.bounds);
    let most =
        |edges: &mut dyn Iterator<Item = i32>| edges.max().and_then(|edge| u32::try_from(edge).ok()).unwrap_or(0);
    Size {
        width: most(&mut bounds().map(|bounds| bounds.right)),
        height: most(&mut bounds().map(|bounds| bounds.bottom)),
    }
}

/// A window about whose content nothing is known.
fn bare(window: &XWindow, why: &str) -> Node {
    let title = if window.title.is_empty() { &window.class } else { &window.title };
    let props = Props::new(Shape::Compose)
        .with(Field::Role, "Window")
        .with(Field::Text, title.as_str())
        .with(Field::StateDescription, why);
    let mut node = Node::new(u64::from(window.id) | 1 << 40, props);
    node.bounds = Some(window.bounds);
    node
}

/// The window of X that a window of a program is.
fn match_window(app: &AccessibleApp, top: &AccessibleNode, windows: &[XWindow], claimed: &[bool]) -> Option<usize> {
    let score = |window: &XWindow| {
        let is_of_app = window.pid.is_none_or(|pid| pid == app.pid);
        let is_titled = !top.name.is_empty() && window.title == top.name;
        let near = |one: i32, other: i32, most: i32| (one - other).abs() <= most;
        let is_sized = top.bounds.is_some_and(|bounds| {
            near(bounds.width(), window.bounds.width(), 64) && near(bounds.height(), window.bounds.height(), 64)
        });
        let is_placed = top
            .bounds
            .is_some_and(|bounds| near(bounds.left, window.bounds.left, 1) && near(bounds.top, window.bounds.top, 1));
        let points = i32::from(is_titled) * 4 + i32::from(is_sized) * 2 + i32::from(is_placed);
        let is_enough = is_titled || is_sized;
        (is_of_app && is_enough).then_some(points)
    };
    let free = windows.iter().enumerate().filter(|(index, _)| !claimed[*index]);
    let scored = free.filter_map(|(index, window)| Some((score(window)?, index)));
    // Of equal ones, the one in front.
    scored.max().map(|(_, index)| index)
}

/// How far the elements of a window are from where its program says they are.
fn shift_of(app: &AccessibleApp, top: &AccessibleNode, window: &XWindow) -> (i32, i32) {
    let Some(bounds) = top.bounds else { return (window.bounds.left, window.bounds.top) };
    match app.coordinates {
        Coordinates::Window => {
            let [left, _, up, _] = window.border;
            // A border that is not said is as wide on all sides.
            let rest = |whole: i32, part: i32| (whole - part).max(0) / 2;
            let left = if left > 0 { left } else { rest(window.bounds.width(), bounds.width()) };
            let up = if up > 0 { up } else { rest(window.bounds.height(), bounds.height()) };
            (window.bounds.left + left - bounds.left, window.bounds.top + up - bounds.top)
        }
        // The manager of a user's desktop draws borders around windows, which some toolkits count and others do not.
        Coordinates::Screen => {
            let corner = trailblaze_protocol::geometry::Point { x: bounds.left, y: bounds.top };
            let is_right = window.bounds.contains(corner) || has_border(&bounds, &window.bounds);
            if is_right { (0, 0) } else { (window.bounds.left - bounds.left, window.bounds.top - bounds.top) }
        }
    }
}

/// Whether a place is that of a window with a border around it.
fn has_border(place: &Rect, window: &Rect) -> bool {
    const WIDEST: i32 = 100;
    let sides =
        [window.left - place.left, window.top - place.top, place.right - window.right, place.bottom - window.bottom];
    sides.iter().all(|side| (0..=WIDEST).contains(side))
}

/// A number for an element, which is the same as long as the element exists.
fn number_of(at: &AccessibleRef) -> u64 {
    // As many bits as a number in JSON keeps.
    const BITS: u32 = 53;
    let mut hasher = DefaultHasher::new();
    at.hash(&mut hasher);
    hasher.finish() >> (u64::BITS - BITS)
}
