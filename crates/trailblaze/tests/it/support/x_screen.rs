//! An X server without a screen, and a person's pointer and keyboard on it: programs cannot tell their input from that of hardware.

use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};

use x11rb::connection::Connection;
use x11rb::protocol::xproto::{
    BUTTON_PRESS_EVENT, BUTTON_RELEASE_EVENT, ConnectionExt as _, InputFocus, KEY_PRESS_EVENT, KEY_RELEASE_EVENT,
    MOTION_NOTIFY_EVENT, MapState, Window,
};
use x11rb::protocol::xtest::ConnectionExt as _;
use x11rb::rust_connection::RustConnection;

use super::webdriver::on_path;
use super::{Running, skip, wait_until};

/// The symbol of the shift key.
const SHIFT: u32 = 0xffe1;

pub struct XScreen {
    /// Such as `:7`.
    pub display: String,
    x: RustConnection,
    root: Window,
    _server: Running,
}

impl XScreen {
    /// `None` if there is no Xvfb, which skips the test locally and fails it in CI.
    pub fn start() -> Option<XScreen> {
        if on_path("Xvfb").is_none() {
            skip::without_part("there is no Xvfb: `scripts/parts` installs it");
            return None;
        }
        let mut command = Command::new("Xvfb");
        command.args(["-displayfd", "1", "-nolisten", "tcp", "-noreset", "-screen", "0", "1400x1000x24"]);
        let mut server = command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().expect("an X server");
        let mut number = String::new();
        BufReader::new(server.stdout.take().expect("its output")).read_line(&mut number).expect("its number");
        let (server, display) = (Running::of(server), format!(":{}", number.trim()));
        let (x, screen) = RustConnection::connect(Some(&display)).expect("a connection");
        let root = x.setup().roots[screen].root;
        Some(XScreen { display, x, root, _server: server })
    }

    /// Gives the largest window the keys, as a window manager would, once it is shown.
    pub fn focus_largest(&self) {
        let window = wait_until("a window is shown", || {
            let all = self.x.query_tree(self.root).ok()?.reply().ok()?.children;
            let area = |window: &Window| {
                let shown = self.x.get_window_attributes(*window).ok()?.reply().ok()?.map_state == MapState::VIEWABLE;
                let place = self.x.get_geometry(*window).ok()?.reply().ok()?;
                let area = u32::from(place.width) * u32::from(place.height);
                (shown && area > 100 * 100).then_some((area, *window))
            };
            all.iter().filter_map(area).max()
        });
        let set = self.x.set_input_focus(InputFocus::POINTER_ROOT, window.1, x11rb::CURRENT_TIME);
        set.expect("a request").check().expect("the window takes the keys");
    }

    pub fn click(&self, (x, y): (i16, i16)) {
        self.fake(MOTION_NOTIFY_EVENT, 0, (x, y));
        self.fake(BUTTON_PRESS_EVENT, 1, (0, 0));
        self.fake(BUTTON_RELEASE_EVENT, 1, (0, 0));
    }

    /// Types letters.
    pub fn type_text(&self, text: &str) {
        for sign in text.chars() {
            let code = self.code(u32::from(sign.to_ascii_lowercase()));
            let shift = sign.is_ascii_uppercase().then(|| self.code(SHIFT));
            shift.inspect(|shift| self.fake(KEY_PRESS_EVENT, *shift, (0, 0)));
            self.fake(KEY_PRESS_EVENT, code, (0, 0));
            self.fake(KEY_RELEASE_EVENT, code, (0, 0));
            shift.inspect(|shift| self.fake(KEY_RELEASE_EVENT, *shift, (0, 0)));
        }
    }

    /// The key that types a symbol.
    fn code(&self, symbol: u32) -> u8 {
        let setup = self.x.setup();
        let (first, last) = (setup.min_keycode, setup.max_keycode);
        let map = self.x.get_keyboard_mapping(first, last - first + 1).expect("a request").reply().expect("a map");
        let per_key = usize::from(map.keysyms_per_keycode);
        let index = map.keysyms.chunks(per_key).position(|symbols| symbols[0] == symbol);
        first + u8::try_from(index.unwrap_or_else(|| panic!("no key types {symbol:#x}"))).expect("a number of a key")
    }

    fn fake(&self, kind: u8, detail: u8, (x, y): (i16, i16)) {
        let sent = self.x.xtest_fake_input(kind, detail, x11rb::CURRENT_TIME, self.root, x, y, 0);
        sent.expect("a request").check().expect("it is carried out");
    }
}
