//! A fake device with a few pages. It records the actions and fails on request.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use parking_lot::{Mutex, MutexGuard};
use serde_json::Value;
use tokio::sync::Notify;
use tokio::time::Instant;
use trailblaze_protocol::device_event::DeviceEvent;
use trailblaze_protocol::driver::{DriverKey, Platform};
use trailblaze_protocol::geometry::{Rect, Size};
use trailblaze_protocol::ids::DeviceId;

use crate::driver::{
    AccessibilityAuditor, Action, ActionOutput, ActionTarget, AppControl, AppInventory, Browse, BrowserControl, Budget,
    ClipboardControl, DeviceCommand, DeviceDescription, DeviceEvents, DeviceShell, Driver, DriverError, LaunchMode,
    NetworkControl, NetworkExchange, ObserveOptions, PageWorldCommand, PermissionControl, PhoneAbilities, ShellOutput,
    WorldControl,
};
use crate::screen::{Field, Node, Picture, Pixels, Props, Screen, Shape, SnapshotId};

const SIZE: Size = Size { width: 400, height: 800 };
const ROW: i32 = 50;

pub struct FakeDriver {
    description: DeviceDescription,
    links: Vec<(String, String)>,
    answers: Vec<(String, Value)>,
    mishap: Option<Mishap>,
    origin: Option<String>,
    events: Option<DeviceEvents>,
    state: Mutex<FakeDriverState>,
    changed: Notify,
}

/// One screen of the device: elements below each other.
pub struct TestPage {
    name: String,
    root: Node,
}

/// The failures to simulate.
#[derive(Debug, Clone, PartialEq)]
pub enum Mishap {
    /// The device is lost after this many actions.
    LostAfter(usize),
    /// Actions never return by themselves.
    Hangs,
    /// Actions are rejected for this reason.
    Refuses(String),
}

struct FakeDriverState {
    pages: Vec<TestPage>,
    current: usize,
    snapshot: u64,
    /// Pages that appear by themselves.
    scheduled: Vec<(Instant, String)>,
    done: Vec<String>,
}

pub fn button(id: &str, text: &str) -> Node {
    element("Button", id, text).with_flag(Field::IsClickable)
}

pub fn label(id: &str, text: &str) -> Node {
    element("TextView", id, text)
}

/// A text field. Text is typed into the field that was tapped last, or into the first one.
pub fn field(id: &str) -> Node {
    element("EditText", id, "").with_flag(Field::IsEditable).with_flag(Field::IsClickable)
}

fn element(class: &str, id: &str, text: &str) -> Node {
    let mut props = Props::new(Shape::AndroidAccessibility).with(Field::ClassName, format!("android.widget.{class}"));
    if !id.is_empty() {
        props.set(Field::ResourceId, format!("com.example:id/{id}"));
    }
    if !text.is_empty() {
        props.set(Field::Text, text);
    }
    Node::new(0, props)
}

trait WithFlag {
    fn with_flag(self, field: Field) -> Self;
}

impl WithFlag for Node {
    fn with_flag(mut self, field: Field) -> Node {
        self.props.set(field, true);
        self
    }
}

impl TestPage {
    pub fn new(name: &str, elements: impl IntoIterator<Item = Node>) -> TestPage {
        let mut root = element("FrameLayout", "", "");
        root.bounds = Some(Rect::new(0, 0, 400, 800));
        root.children = elements.into_iter().collect();
        for (row, node) in (0..).zip(&mut root.children) {
            node.id = u64::try_from(row).unwrap_or_default() + 1;
            node.bounds = Some(Rect::new(0, row * ROW, 400, ROW));
        }
        TestPage { name: name.to_string(), root }
    }
}

impl FakeDriver {
    /// An Android phone that shows the first page.
    pub fn new(id: &str, pages: impl IntoIterator<Item = TestPage>) -> FakeDriver {
        let state = FakeDriverState {
            pages: pages.into_iter().collect(),
            current: 0,
            snapshot: 1,
            scheduled: vec![],
            done: vec![],
        };
        FakeDriver {
            description: DeviceDescription {
                id: DeviceId::new(id),
                platform: Platform::Android,
                driver: DriverKey::default_for(Platform::Android),
                shape: Shape::AndroidAccessibility,
                size: SIZE,
                classifiers: vec!["android".into(), "phone".into()],
                summary: "fake phone".into(),
                knows_elements: false,
            },
            links: Vec::new(),
            answers: Vec::new(),
            mishap: None,
            origin: None,
            events: None,
            state: Mutex::new(state),
            changed: Notify::new(),
        }
    }

    /// Imitates another platform and driver.
    pub fn posing_as(mut self, platform: Platform, driver: &str) -> FakeDriver {
        self.description.platform = platform;
        self.description.driver = DriverKey::new(driver);
        self.description.classifiers = vec![platform.name().to_string()];
        self
    }

    /// A tap on the element with this id opens a page.
    pub fn link(mut self, id: &str, page: &str) -> FakeDriver {
        self.links.push((id.to_string(), page.to_string()));
        self
    }

    /// An action of this name returns a value.
    pub fn answering(mut self, action: &str, value: Value) -> FakeDriver {
        self.answers.push((action.to_string(), value));
        self
    }

    /// The device says something by itself.
    pub fn saying(mut self, event: DeviceEvent) -> FakeDriver {
        self.events.get_or_insert_default().add(event);
        self
    }

    /// Its fields belong to this origin.
    pub fn of_origin(mut self, origin: &str) -> FakeDriver {
        self.origin = Some(origin.to_string());
        self
    }

    /// A page appears by itself after this time.
    pub fn later(self, delay: Duration, page: &str) -> FakeDriver {
        self.state().scheduled.push((Instant::now() + delay, page.to_string()));
        self
    }

    pub fn with(mut self, mishap: Mishap) -> FakeDriver {
        self.mishap = Some(mishap);
        self
    }

    pub fn share(self) -> Arc<FakeDriver> {
        Arc::new(self)
    }

    /// The actions, in order: `Tap on Button "Pay"`, `InputText { text: "Ada" }`, with ` within 2s` if the budget sets how
    /// long to wait.
    pub fn done(&self) -> Vec<String> {
        self.state().done.clone()
    }

    fn state(&self) -> MutexGuard<'_, FakeDriverState> {
        let mut state = self.state.lock();
        state.catch_up();
        state
    }

    /// Fails as it was told to.
    async fn mishap(&self, budget: &Budget, name: &str) -> Result<(), DriverError> {
        match &self.mishap {
            Some(Mishap::LostAfter(n_actions)) if self.done().len() >= *n_actions => {
                Err(DriverError::Lost { evidence: "the cable was pulled".into() })
            }
            Some(Mishap::Hangs) => budget.run(name, std::future::pending()).await,
            Some(Mishap::Refuses(reason)) => Err(DriverError::Refused { reason: reason.clone() }),
            _ => Ok(()),
        }
    }

    /// Notes a command, and answers it.
    pub(super) async fn take(&self, budget: &Budget, command: &DeviceCommand) -> Result<ActionOutput, DriverError> {
        self.mishap(budget, command.name()).await?;
        self.state().note(budget, format!("{command:?}"));
        Ok(self.answer(command.name()))
    }

    fn answer(&self, name: &str) -> ActionOutput {
        self.changed.notify_waiters();
        let answer = self.answers.iter().find(|(of, _)| of == name).map(|(_, value)| value.clone());
        let text = answer.as_ref().and_then(Value::as_str).unwrap_or_default().to_string();
        ActionOutput { text, value: answer, ..ActionOutput::default() }
    }

    fn carry_out(&self, budget: &Budget, target: &ActionTarget, action: &Action) {
        let mut state = self.state();
        let summary = match target {
            ActionTarget::Element(found) => format!("{action:?} on {}", found.summary),
            ActionTarget::Point(point) => format!("{action:?} at {},{}", point.x, point.y),
            ActionTarget::Device => format!("{action:?}"),
        };
        state.note(budget, summary);
        match (action, target.point()) {
            (Action::Tap, Some(point)) => {
                let hit = state
                    .page()
                    .root
                    .children
                    .iter()
                    .position(|node| node.bounds.is_some_and(|bounds| bounds.contains(point)));
                let Some(hit) = hit else { return };
                state.focus(hit);
                let node = &state.page().root.children[hit];
                let page = self.links.iter().find(|(id, _)| node.has_id(id)).map(|(_, page)| page.clone());
                if let Some(page) = page {
                    state.show(&page);
                }
            }
            (Action::InputText { text }, _) => state.edit(|old| old.push_str(text)),
            (Action::SetText { text }, _) => state.edit(|old| old.clone_from(text)),
            (Action::EraseText { count }, _) => state.edit(|old| {
                let keep = count.map_or(0, |count| old.chars().count().saturating_sub(count as usize));
                *old = old.chars().take(keep).collect();
            }),
            _ => {}
        }
    }
}

impl FakeDriverState {
    fn note(&mut self, budget: &Budget, summary: String) {
        let wait = budget.wait.map(|wait| format!(" within {wait:?}")).unwrap_or_default();
        self.done.push(summary + &wait);
    }

    fn page(&mut self) -> &mut TestPage {
        &mut self.pages[self.current]
    }

    fn show(&mut self, name: &str) {
        let page = self.pages.iter().position(|page| page.name == name);
        self.current = page.unwrap_or_else(|| panic!("the fake device has no page `{name}`"));
        self.snapshot += 1;
    }

    fn catch_up(&mut self) {
        let now = Instant::now();
        let (due, rest) = std::mem::take(&mut self.scheduled).into_iter().partition(|(at, _)| *at <= now);
        self.scheduled = rest;
        let due: Vec<(Instant, String)> = due;
        for (_, page) in due {
            self.show(&page);
        }
    }

    fn focus(&mut self, at: usize) {
        for (index, node) in self.page().root.children.iter_mut().enumerate() {
            node.props.set(Field::IsFocused, index == at);
        }
    }

    fn edit(&mut self, change: impl FnOnce(&mut String)) {
        let fields = self.page().root.children.iter_mut().filter(|node| node.is_editable());
        let Some(node) = fields.max_by_key(|node| (node.is_focused(), std::cmp::Reverse(node.id))) else { return };
        let mut text = node.props.text(Field::Text).unwrap_or_default().to_string();
        change(&mut text);
        node.props.set(Field::Text, text);
        self.snapshot += 1;
    }
}

#[async_trait]
impl Driver for FakeDriver {
    fn describe(&self) -> &DeviceDescription {
        &self.description
    }

    async fn observe(&self, _: &Budget, want: ObserveOptions) -> Result<Screen, DriverError> {
        let mut state = self.state();
        let pixels = Pixels::Rgba(Arc::from([0u8; 4]));
        Ok(Screen {
            snapshot: SnapshotId(state.snapshot),
            size: SIZE,
            app: Some("com.example".into()),
            root: state.page().root.clone(),
            picture: want.picture.then_some(Picture { size: Size { width: 1, height: 1 }, pixels }),
            is_moving: false,
        })
    }

    async fn origin(&self, _: &Budget, _: &ActionTarget) -> Result<Option<String>, DriverError> {
        Ok(self.origin.clone())
    }

    async fn act(&self, budget: &Budget, target: &ActionTarget, action: &Action) -> Result<ActionOutput, DriverError> {
        self.mishap(budget, action.name()).await?;
        self.carry_out(budget, target, action);
        Ok(self.answer(action.name()))
    }

    fn apps(&self) -> Option<&dyn AppControl> {
        Some(self)
    }

    fn app_inventory(&self) -> Option<&dyn AppInventory> {
        Some(self)
    }

    fn permissions(&self) -> Option<&dyn PermissionControl> {
        Some(self)
    }

    fn clipboard(&self) -> Option<&dyn ClipboardControl> {
        Some(self)
    }

    fn events(&self) -> Option<&DeviceEvents> {
        self.events.as_ref()
    }

    fn network(&self) -> Option<&dyn NetworkControl> {
        Some(self)
    }

    fn shell(&self) -> Option<&dyn DeviceShell> {
        Some(self)
    }

    fn browser(&self) -> Option<&dyn BrowserControl> {
        Some(self)
    }

    fn phone(&self) -> Option<&dyn PhoneAbilities> {
        Some(self)
    }

    fn world(&self) -> Option<&dyn WorldControl> {
        Some(self)
    }

    fn auditor(&self) -> Option<&dyn AccessibilityAuditor> {
        Some(self)
    }

    async fn changed(&self, budget: &Budget, since: SnapshotId) -> Result<(), DriverError> {
        let notified = self.changed.notified();
        let until = {
            let state = self.state();
            if SnapshotId(state.snapshot) != since {
                return Ok(());
            }
            state.scheduled.iter().map(|(at, _)| *at).chain([budget.deadline]).min().unwrap_or(budget.deadline)
        };
        tokio::select! {
            () = budget.cancel.cancelled() => Err(DriverError::Cancelled),
            () = notified => Ok(()),
            () = tokio::time::sleep_until(until) => Ok(()),
        }
    }
}

#[async_trait]
impl AppControl for FakeDriver {
    async fn launch(&self, budget: &Budget, app: &str, mode: LaunchMode) -> Result<(), DriverError> {
        self.take(budget, &DeviceCommand::LaunchApp { app: app.to_string(), mode }).await.map(drop)
    }

    async fn stop(&self, budget: &Budget, app: &str) -> Result<(), DriverError> {
        self.take(budget, &DeviceCommand::StopApp { app: app.to_string() }).await.map(drop)
    }

    async fn clear_data(&self, budget: &Budget, app: &str) -> Result<(), DriverError> {
        self.take(budget, &DeviceCommand::ClearAppData { app: app.to_string() }).await.map(drop)
    }

    async fn open_url(&self, budget: &Budget, url: &str) -> Result<(), DriverError> {
        self.take(budget, &DeviceCommand::OpenUrl { url: url.to_string() }).await.map(drop)
    }
}

#[async_trait]
impl WorldControl for FakeDriver {
    async fn change(&self, budget: &Budget, command: &PageWorldCommand) -> Result<ActionOutput, DriverError> {
        self.take(budget, &DeviceCommand::World(command.clone())).await
    }

    fn exchanges(&self) -> Vec<NetworkExchange> {
        Vec::new()
    }
}

#[async_trait]
impl AppInventory for FakeDriver {
    async fn list(&self, budget: &Budget) -> Result<Vec<String>, DriverError> {
        let apps = self.take(budget, &DeviceCommand::ListApps).await?.value.unwrap_or_default();
        Ok(apps.as_array().into_iter().flatten().filter_map(Value::as_str).map(str::to_string).collect())
    }
}

#[async_trait]
impl PermissionControl for FakeDriver {
    async fn grant(&self, budget: &Budget, app: &str, permission: &str) -> Result<(), DriverError> {
        let (app, permission) = (app.to_string(), permission.to_string());
        self.take(budget, &DeviceCommand::GrantPermission { app, permission }).await.map(drop)
    }

    async fn revoke(&self, budget: &Budget, app: &str, permission: &str) -> Result<(), DriverError> {
        let (app, permission) = (app.to_string(), permission.to_string());
        self.take(budget, &DeviceCommand::RevokePermission { app, permission }).await.map(drop)
    }
}

#[async_trait]
impl ClipboardControl for FakeDriver {
    async fn set(&self, budget: &Budget, text: &str) -> Result<(), DriverError> {
        self.take(budget, &DeviceCommand::SetClipboard { text: text.to_string() }).await.map(drop)
    }

    async fn paste(&self, budget: &Budget) -> Result<(), DriverError> {
        self.take(budget, &DeviceCommand::PasteClipboard).await.map(drop)
    }
}

#[async_trait]
impl NetworkControl for FakeDriver {
    async fn set_connected(&self, budget: &Budget, connected: bool) -> Result<(), DriverError> {
        self.take(budget, &DeviceCommand::SetNetwork { connected }).await.map(drop)
    }
}

#[async_trait]
impl DeviceShell for FakeDriver {
    async fn run(&self, budget: &Budget, command: &str) -> Result<ShellOutput, DriverError> {
        let stdout = self.take(budget, &DeviceCommand::Shell { command: command.to_string() }).await?.text;
        Ok(ShellOutput { stdout, ..ShellOutput::default() })
    }
}

#[async_trait]
impl BrowserControl for FakeDriver {
    async fn browse(&self, budget: &Budget, command: &Browse) -> Result<ActionOutput, DriverError> {
        self.take(budget, &DeviceCommand::Browse(command.clone())).await
    }

    fn reports_pages(&self) -> bool {
        self.events.is_some()
    }

    async fn evaluate(&self, budget: &Budget, script: &str) -> Result<Value, DriverError> {
        let answer = self.take(budget, &DeviceCommand::EvaluateJs { script: script.to_string() }).await?;
        Ok(answer.value.unwrap_or_default())
    }
}
