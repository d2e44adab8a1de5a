//! The state of the phone around the simulated apps: screen, lock, keyboard, settings, processes, dialogs of the system.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

use parking_lot::{Mutex, MutexGuard};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;
use trailblaze_core::driver::{
    Action, ActionTarget, Budget, DeviceCommand, Driver, DriverError, Key, LaunchMode, ObserveOptions,
};
use trailblaze_core::screen::{Field, Node, Screen};
use trailblaze_drivers::sim::{Options, Sim, SimApp};
use trailblaze_protocol::driver::{DriverKey, Platform};
use trailblaze_protocol::geometry::{Point, Rect, Size};
use trailblaze_protocol::ids::DeviceId;

use crate::control::{Control, PhoneBehaviour};
use crate::hierarchy::{DumpedView, window};
use crate::keycodes::KeyPress;
use crate::log::PhoneLog;
use crate::web_view::ShownWebView;

pub const LAUNCHER: &str = "com.android.launcher3";
pub const KEYBOARD: &str = "com.android.inputmethod.latin/.LatinIME";

/// The process of the system itself.
pub const SYSTEM_PID: u32 = 1311;

/// A finger that stays at least this long is a long press, as `ViewConfiguration` says.
const LONG_PRESS: Duration = Duration::from_millis(400);

/// Two taps are a double tap if no more time and space is between them. On a phone it is 300 ms, but a busy machine takes longer to
/// start two commands.
const DOUBLE_TAP: Duration = Duration::from_secs(1);
const DOUBLE_TAP_SLOP: u32 = 275;

/// A finger that moves less than this does not scroll.
const TOUCH_SLOP: u32 = 22;

pub struct SimulatedPhone {
    sim: Sim,
    state: Mutex<PhoneState>,
    pub log: PhoneLog,
    /// Only one process at a time may use the interface for automation.
    pub automation: tokio::sync::Mutex<()>,
}

pub struct PhoneState {
    pub behaviour: PhoneBehaviour,
    pub packages: Vec<InstalledPackage>,
    pub settings: BTreeMap<(String, String), String>,
    pub properties: BTreeMap<String, String>,
    pub is_awake: bool,
    pub is_locked: bool,
    pub has_keyboard: bool,
    pub input_method: String,
    pub is_night: bool,
    pub is_airplane: bool,
    /// The languages that were set for apps.
    pub locales: BTreeMap<String, String>,
    /// The sources of locations that were made for tests, with where they say the phone is.
    pub test_locations: BTreeMap<String, Option<String>>,
    pub may_mock_locations: bool,
    pub size: Option<Size>,
    pub density: Option<u32>,
    clipboard: String,
    /// The next key replaces the text of the field.
    is_all_selected: bool,
    finger: Option<(Point, Point, Instant)>,
    last_tap: Option<(Point, Instant)>,
    dialog: Option<SystemDialog>,
    web_view: Option<Arc<ShownWebView>>,
    processes: BTreeMap<String, u32>,
    next_pid: u32,
}

pub struct InstalledPackage {
    pub id: String,
    pub label: String,
    pub is_system: bool,
    pub is_removed: bool,
    pub permissions: BTreeSet<String>,
}

/// A dialog of the system about an app: its title, and what its buttons are called.
#[derive(Clone)]
struct SystemDialog {
    title: String,
    buttons: &'static [(&'static str, &'static str)],
    package: String,
}

impl SimulatedPhone {
    /// Needs a Tokio runtime, whose clock the simulated device uses.
    pub fn new(apps: Vec<Arc<SimApp>>) -> SimulatedPhone {
        let package = |id: &str, label: &str, is_system| InstalledPackage {
            id: id.to_string(),
            label: label.to_string(),
            is_system,
            is_removed: false,
            permissions: BTreeSet::new(),
        };
        let mut packages = vec![
            package("android", "Android System", true),
            package("com.android.systemui", "System UI", true),
            package("com.android.settings", "Settings", true),
            package("com.android.inputmethod.latin", "Android Keyboard (AOSP)", true),
            package(LAUNCHER, "Launcher3", true),
        ];
        packages.extend(apps.iter().map(|app| package(app.id_for(Platform::Android), app.name(), false)));
        let driver = DriverKey::default_for(Platform::Android);
        let sim = Sim::open(DeviceId::new("android/stand-in"), Platform::Android, driver, apps, Options::default());
        let text = |pairs: &[(&str, &str)]| -> BTreeMap<String, String> {
            pairs.iter().map(|(key, value)| (key.to_string(), value.to_string())).collect()
        };
        let settings = DEFAULT_SETTINGS.iter().map(|(namespace, key, value)| {
            let key = (namespace.to_string(), key.to_string());
            (key, value.to_string())
        });
        let state = PhoneState {
            behaviour: PhoneBehaviour::default(),
            packages,
            settings: settings.collect(),
            properties: text(DEFAULT_PROPERTIES),
            is_awake: true,
            is_locked: false,
            has_keyboard: false,
            input_method: KEYBOARD.to_string(),
            is_night: false,
            is_airplane: false,
            locales: BTreeMap::new(),
            test_locations: BTreeMap::new(),
            may_mock_locations: false,
            size: None,
            density: None,
            clipboard: String::new(),
            is_all_selected: false,
            finger: None,
            last_tap: None,
            dialog: None,
            web_view: None,
            processes: BTreeMap::new(),
            next_pid: 2417,
        };
        let phone = SimulatedPhone {
            sim,
            state: Mutex::new(state),
            log: PhoneLog::new(),
            automation: tokio::sync::Mutex::default(),
        };
        phone.log.write(SYSTEM_PID, 'I', "SystemServer", "Boot is finished");
        phone
    }

    pub fn state(&self) -> MutexGuard<'_, PhoneState> {
        self.state.lock()
    }

    pub fn size(&self) -> Size {
        self.sim.describe().size
    }

    fn budget() -> Budget {
        Budget::new(Instant::now() + Duration::from_secs(600), CancellationToken::new())
    }

    pub async fn screen(&self, want: ObserveOptions) -> Screen {
        let screen = self
            .sim
            .observe(&SimulatedPhone::budget(), want)
            .await
            .expect("a simulated device without faults is never lost");
        let mut state = self.state();
        // An app may have opened another.
        if let Some(app) = &screen.app {
            state.process_of(app);
        }
        let has_focus = screen.root.walk().any(|node| node.props.flag(Field::IsFocused) == Some(true));
        state.has_keyboard &= has_focus;
        screen
    }

    async fn act(&self, target: ActionTarget, action: Action) -> Result<(), DriverError> {
        self.sim.act(&SimulatedPhone::budget(), &target, &action).await.map(drop)
    }

    async fn send(&self, command: DeviceCommand) -> Result<(), DriverError> {
        command.carry_out(&self.sim, &SimulatedPhone::budget()).await.map(drop)
    }

    /// The package of the active window.
    pub async fn front(&self) -> String {
        self.screen(ObserveOptions::TREE).await.app.unwrap_or_else(|| LAUNCHER.to_string())
    }

    /// The active window; `None` while the screen is off.
    pub async fn window(&self) -> Option<DumpedView> {
        let screen = self.screen(ObserveOptions::TREE).await;
        let state = self.state();
        if !state.is_awake {
            return None;
        }
        if state.is_locked {
            return Some(lock_screen(screen.frame()));
        }
        match &state.dialog {
            Some(dialog) => Some(dialog.window(screen.frame())),
            None => {
                let package = screen.app.as_deref().unwrap_or(LAUNCHER);
                let mut window = window(&screen, package);
                window.children.extend(state.web_view.iter().map(|web_view| web_view.view(package)));
                Some(window)
            }
        }
    }

    pub async fn tap(&self, point: Point) {
        if self.tap_system(point) {
            return;
        }
        if let Some(web_view) = self.web_view()
            && web_view.tap(point).await
        {
            return;
        }
        let is_second = {
            let mut state = self.state();
            state.is_all_selected = false;
            let last = state.last_tap.take();
            let is_second = last.is_some_and(|(at, since)| {
                since.elapsed() < DOUBLE_TAP && at.x.abs_diff(point.x).max(at.y.abs_diff(point.y)) < DOUBLE_TAP_SLOP
            });
            state.last_tap = (!is_second).then(|| (point, Instant::now()));
            is_second
        };
        match is_second {
            true => self.sim.tap_again(point),
            false => drop(self.act(ActionTarget::Point(point), Action::Tap).await),
        }
        // A touched field shows the keyboard, also if it had the focus already.
        let screen = self.screen(ObserveOptions::TREE).await;
        let is_focused = |bounds: Rect| bounds.contains(point);
        let on_field = screen
            .root
            .walk()
            .any(|node| node.props.flag(Field::IsFocused) == Some(true) && node.bounds.is_some_and(is_focused));
        self.state().has_keyboard |= on_field;
    }

    /// Whether the system itself took the touch: nothing reaches an app behind it or on a dark screen.
    fn tap_system(&self, point: Point) -> bool {
        let frame = Rect::new(0, 0, self.size().width as i32, self.size().height as i32);
        let mut state = self.state();
        if !state.is_awake || state.is_locked {
            return true;
        }
        let Some(dialog) = state.dialog.clone() else { return false };
        let window = dialog.window(frame);
        if window.walk().any(|view| view.is_clickable && view.bounds.contains(point)) {
            state.dialog = None;
        }
        true
    }

    async fn long_press(&self, point: Point) {
        if !self.tap_system(point) {
            let _ = self.act(ActionTarget::Point(point), Action::LongPress).await;
        }
    }

    /// A finger that goes from one point to another.
    pub async fn swipe(&self, from: Point, to: Point, duration: Duration) {
        let distance = from.x.abs_diff(to.x).max(from.y.abs_diff(to.y));
        if distance <= TOUCH_SLOP {
            match duration >= LONG_PRESS {
                true => self.long_press(from).await,
                false => self.tap(from).await,
            }
            return;
        }
        {
            let mut state = self.state();
            if !state.is_awake || state.dialog.is_some() {
                return;
            }
            if state.is_locked {
                // A swipe up unlocks a phone without a PIN.
                state.is_locked = to.y > from.y;
                return;
            }
        }
        let _ = self.act(ActionTarget::Device, Action::Swipe { from, to, duration }).await;
    }

    pub async fn finger(&self, motion: &str, point: Point) {
        let down = {
            let mut state = self.state();
            match motion {
                "DOWN" => {
                    state.finger = Some((point, point, Instant::now()));
                    None
                }
                "MOVE" => {
                    if let Some((_, last, _)) = &mut state.finger {
                        *last = point;
                    }
                    None
                }
                "UP" => state.finger.take(),
                _ => {
                    state.finger = None;
                    None
                }
            }
        };
        if let Some((from, _, since)) = down {
            self.swipe(from, point, since.elapsed()).await;
        }
    }

    /// Types into the focused field. Keys that nothing takes are lost, as on a phone.
    pub async fn type_text(&self, text: &str) {
        if !self.takes_keys() {
            return;
        }
        if let Some(web_view) = self.web_view()
            && web_view.type_text(text).await
        {
            return;
        }
        for (index, part) in text.split('\n').enumerate() {
            if index > 0 {
                let _ = self.act(ActionTarget::Device, Action::PressKey { key: Key::Enter }).await;
            }
            if !part.is_empty() {
                let text = part.to_string();
                let is_all_selected = std::mem::take(&mut self.state().is_all_selected);
                let action = if is_all_selected { Action::SetText { text } } else { Action::InputText { text } };
                let _ = self.act(ActionTarget::Device, action).await;
            }
        }
    }

    /// Whether a field has the focus.
    pub async fn has_field(&self) -> bool {
        let screen = self.screen(ObserveOptions::TREE).await;
        let is_field = |node: &Node| node.is_focused() && node.is_editable();
        self.takes_keys() && screen.root.walk().any(is_field)
    }

    /// Puts a text into the focused field.
    pub async fn set_text(&self, text: &str) {
        let _ = self.act(ActionTarget::Device, Action::SetText { text: text.to_string() }).await;
    }

    /// Two fingers that make what they hold so much larger.
    pub async fn pinch(&self, scale: f64) {
        if self.takes_keys() {
            let _ = self.act(ActionTarget::Device, Action::Pinch { scale }).await;
        }
    }

    fn web_view(&self) -> Option<Arc<ShownWebView>> {
        self.state().web_view.clone()
    }

    fn takes_keys(&self) -> bool {
        let state = self.state();
        state.is_awake && !state.is_locked && state.dialog.is_none()
    }

    pub async fn press(&self, press: KeyPress, held: &[KeyPress]) {
        match press {
            KeyPress::Power => {
                let is_awake = self.state().is_awake;
                self.power(!is_awake);
            }
            KeyPress::Wake => self.power(true),
            KeyPress::Sleep => self.power(false),
            KeyPress::Menu => {
                let mut state = self.state();
                state.is_locked &= !state.is_awake;
            }
            KeyPress::Type('a') if held.contains(&KeyPress::Control) => self.state().is_all_selected = true,
            KeyPress::Type('v') if held.contains(&KeyPress::Control) => self.paste().await,
            KeyPress::Type(c) if held.contains(&KeyPress::Shift) => self.type_text(&c.to_uppercase().to_string()).await,
            KeyPress::Type(c) => self.type_text(&c.to_string()).await,
            KeyPress::Paste => self.paste().await,
            KeyPress::Device(key) => self.press_key(key).await,
            KeyPress::Control | KeyPress::Shift | KeyPress::Nothing => {}
        }
    }

    async fn paste(&self) {
        let text = self.state().clipboard.clone();
        self.type_text(&text).await;
    }

    async fn press_key(&self, key: Key) {
        if !self.takes_keys() {
            if matches!(key, Key::Back | Key::Home) {
                self.state().dialog = None;
            }
            return;
        }
        if let Some(web_view) = self.web_view()
            && web_view.press(key).await
        {
            return;
        }
        // The keyboard takes the key that closes it.
        if matches!(key, Key::Back | Key::Escape) && std::mem::take(&mut self.state().has_keyboard) {
            return;
        }
        let is_all_selected = std::mem::take(&mut self.state().is_all_selected);
        let action = match key {
            Key::Backspace if is_all_selected => Action::EraseText { count: None },
            key => Action::PressKey { key },
        };
        let _ = self.act(ActionTarget::Device, action).await;
    }

    fn power(&self, on: bool) {
        let mut state = self.state();
        state.is_awake = on;
        state.has_keyboard &= on;
    }

    /// Shows an app, and starts it if it does not run. Returns whether it ran already; `None` if it is not installed.
    pub async fn launch(&self, package: &str) -> Option<bool> {
        if package == LAUNCHER {
            self.press_key(Key::Home).await;
            return Some(true);
        }
        let was_running = {
            let mut state = self.state();
            state.installed(package).filter(|package| !package.is_system)?;
            state.has_keyboard = false;
            state.processes.contains_key(package)
        };
        let mode = LaunchMode::Resume;
        self.send(DeviceCommand::LaunchApp { app: package.to_string(), mode }).await.ok()?;
        let pid = self.state().process_of(package);
        let activity = format!("{package}/.MainActivity");
        if !was_running {
            self.log.write(
                SYSTEM_PID,
                'I',
                "ActivityManager",
                &format!("Start proc {pid}:{package}/u0a123 for next-top-activity {{{activity}}}"),
            );
        }
        self.log.write(SYSTEM_PID, 'I', "ActivityTaskManager", &format!("Displayed {activity} for user 0: +123ms"));
        Some(was_running)
    }

    /// Opens a URL; returns the package that shows it.
    pub async fn open_url(&self, url: &str) -> Option<String> {
        self.send(DeviceCommand::OpenUrl { url: url.to_string() }).await.ok()?;
        Some(self.front().await)
    }

    pub async fn stop(&self, package: &str) {
        let pid = self.state().processes.remove(package);
        let _ = self.send(DeviceCommand::StopApp { app: package.to_string() }).await;
        if let Some(pid) = pid {
            let message = format!("Force stopping {package} appid=10123 user=0: from pid {pid}");
            self.log.write(SYSTEM_PID, 'I', "ActivityManager", &message);
        }
    }

    /// Whether the app is installed; its data is removed.
    pub async fn clear(&self, package: &str) -> bool {
        self.state().processes.remove(package);
        self.send(DeviceCommand::ClearAppData { app: package.to_string() }).await.is_ok()
    }

    pub async fn set_airplane(&self, is_on: bool) {
        {
            let mut state = self.state();
            state.is_airplane = is_on;
            let key = ("global".to_string(), "airplane_mode_on".to_string());
            state.settings.insert(key, u8::from(is_on).to_string());
        }
        let _ = self.send(DeviceCommand::SetNetwork { connected: !is_on }).await;
    }

    pub async fn control(&self, control: Control) -> String {
        match control {
            Control::Behave(behaviour) => self.state().behaviour = behaviour,
            Control::Crash { exception } => {
                let package = self.front().await;
                let pid = self.state().process_of(&package);
                let trace = format!(
                    "FATAL EXCEPTION: main\nProcess: {package}, PID: {pid}\n{exception}\n\tat {package}.MainActivity.onClick(MainActivity.java:42)\n\tat android.view.View.performClick(View.java:7659)"
                );
                self.log.write(pid, 'E', "AndroidRuntime", &trace);
                self.stop(&package).await;
                self.show_dialog(
                    &package,
                    "keeps stopping",
                    &[("aerr_app_info", "App info"), ("aerr_close", "Close app")],
                );
            }
            Control::StopResponding => {
                let package = self.front().await;
                let pid = self.state().process_of(&package);
                let reason = "Input dispatching timed out (Waited 5001ms for MotionEvent)";
                let message = format!("ANR in {package} ({package}/.MainActivity)\nPID: {pid}\nReason: {reason}");
                self.log.write(SYSTEM_PID, 'E', "ActivityManager", &message);
                self.show_dialog(&package, "isn't responding", &[("aerr_close", "Close app"), ("aerr_wait", "Wait")]);
            }
            Control::Log { level, tag, message, count } => {
                let package = self.front().await;
                let pid = self.state().process_of(&package);
                for number in 0..count {
                    self.log.write(pid, level, &tag, &message.replace("{}", &number.to_string()));
                }
            }
            Control::Sleep { locked } => {
                self.power(false);
                self.state().is_locked = locked;
            }
            Control::ShowWebView { area } => {
                let package = self.front().await;
                let pid = self.state().process_of(&package);
                match ShownWebView::show(area, pid).await {
                    Ok(web_view) => self.state().web_view = Some(Arc::new(web_view)),
                    Err(error) => return format!("there is no web view: {error}"),
                }
            }
            Control::SetClock { ahead } => self.log.set_clock(ahead),
            Control::Clipboard => return self.state().clipboard.clone(),
            Control::Settings => {
                let state = self.state();
                let lines =
                    state.settings.iter().map(|((namespace, key), value)| format!("{namespace} {key}={value}\n"));
                let locales = state.locales.iter().map(|(app, tags)| format!("locale {app}={tags}\n"));
                let places = state
                    .test_locations
                    .iter()
                    .map(|(name, place)| format!("location {name}={}\n", place.as_deref().unwrap_or_default()));
                let night = [format!("night={}\n", state.is_night), format!("mock={}\n", state.may_mock_locations)];
                return lines.chain(locales).chain(places).chain(night).collect();
            }
            Control::Permissions { package } => {
                let state = self.state();
                let granted = state.installed(&package).into_iter().flat_map(|package| &package.permissions);
                return granted.map(|name| format!("{name}\n")).collect();
            }
        }
        String::new()
    }

    fn show_dialog(&self, package: &str, what: &str, buttons: &'static [(&'static str, &'static str)]) {
        let mut state = self.state();
        let label = state.installed(package).map_or_else(|| package.to_string(), |package| package.label.clone());
        state.dialog = Some(SystemDialog { title: format!("{label} {what}"), buttons, package: package.to_string() });
    }
}

impl PhoneState {
    pub fn installed(&self, id: &str) -> Option<&InstalledPackage> {
        self.packages.iter().find(|package| package.id == id && !package.is_removed)
    }

    pub fn installed_mut(&mut self, id: &str) -> Option<&mut InstalledPackage> {
        self.packages.iter_mut().find(|package| package.id == id && !package.is_removed)
    }

    /// The process of a package, which has one from now on.
    pub fn process_of(&mut self, package: &str) -> u32 {
        let next = self.next_pid;
        let pid = *self.processes.entry(package.to_string()).or_insert(next);
        if pid == next {
            self.next_pid += 137;
        }
        pid
    }

    pub fn running(&self, package: &str) -> Option<u32> {
        match package {
            "system_server" => Some(SYSTEM_PID),
            package => self.processes.get(package).copied(),
        }
    }

    /// What the window that has the focus is called.
    pub fn focused_window(&self, front: &str) -> String {
        match &self.dialog {
            _ if !self.is_awake || self.is_locked => "NotificationShade".to_string(),
            Some(dialog) if dialog.title.ends_with("stopping") => format!("Application Error: {}", dialog.package),
            Some(dialog) => format!("Application Not Responding: {}", dialog.package),
            None => format!("{front}/{front}.MainActivity"),
        }
    }
}

impl SystemDialog {
    fn window(&self, frame: Rect) -> DumpedView {
        let at = |row: i32| Rect::new(120, frame.bottom / 2 - 200 + row * 150, frame.right - 240, 140);
        let text = |id: &str, class: &str, text: &str, row| DumpedView {
            text: text.to_string(),
            resource_id: format!("android:id/{id}"),
            ..DumpedView::new(class, "android", at(row))
        };
        let mut root = DumpedView::new("android.widget.FrameLayout", "android", frame);
        root.children.push(text("alertTitle", "android.widget.TextView", &self.title, 0));
        for (row, (id, label)) in (1..).zip(self.buttons) {
            let button = text(id, "android.widget.Button", label, row);
            root.children.push(DumpedView { is_clickable: true, ..button });
        }
        root
    }
}

fn lock_screen(frame: Rect) -> DumpedView {
    let view = |id: &str, class: &str, bounds| DumpedView {
        resource_id: format!("com.android.systemui:id/{id}"),
        ..DumpedView::new(class, "com.android.systemui", bounds)
    };
    let mut root = view("notification_shade_window_root", "android.widget.FrameLayout", frame);
    let mut panel = view("keyguard_root_view", "android.widget.FrameLayout", frame);
    let hint = Rect::new(0, frame.bottom - 200, frame.right, 80);
    panel.children.push(DumpedView {
        text: "Swipe up to open".to_string(),
        ..view("keyguard_indication_text", "android.widget.TextView", hint)
    });
    root.children.push(panel);
    root
}

const DEFAULT_SETTINGS: &[(&str, &str, &str)] = &[
    ("global", "airplane_mode_on", "0"),
    ("global", "animator_duration_scale", "1.0"),
    ("global", "transition_animation_scale", "1.0"),
    ("global", "window_animation_scale", "1.0"),
    ("global", "device_name", "Trailblaze stand-in"),
    ("global", "stay_on_while_plugged_in", "0"),
    ("secure", "android_id", "3a5f0c1b2d4e6f78"),
    ("secure", "default_input_method", KEYBOARD),
    ("secure", "location_mode", "3"),
    ("secure", "enabled_input_methods", KEYBOARD),
    ("secure", "show_ime_with_hard_keyboard", "0"),
    ("secure", "user_setup_complete", "1"),
    ("system", "accelerometer_rotation", "1"),
    ("system", "font_scale", "1.0"),
    ("system", "screen_off_timeout", "60000"),
    ("system", "user_rotation", "0"),
];

const DEFAULT_PROPERTIES: &[(&str, &str)] = &[
    ("dev.bootcomplete", "1"),
    ("init.svc.bootanim", "stopped"),
    ("persist.sys.locale", "en-US"),
    ("persist.sys.timezone", "UTC"),
    ("ro.build.characteristics", "default"),
    ("ro.build.id", "UP1A.231005.007"),
    ("ro.build.type", "user"),
    ("ro.build.version.release", "14"),
    ("ro.build.version.sdk", "34"),
    ("ro.product.brand", "trailblaze"),
    ("ro.product.cpu.abi", "x86_64"),
    ("ro.product.cpu.abilist", "x86_64"),
    ("ro.product.device", "standin"),
    ("ro.product.locale", "en-US"),
    ("ro.product.manufacturer", "Trailblaze"),
    ("ro.product.model", "Stand-in"),
    ("ro.product.name", "standin"),
    ("ro.sf.lcd_density", "440"),
    ("sys.boot_completed", "1"),
];
