//! A window manager for a screen that has none: it shows windows, gives the newest one the keys, and says which there are.
//!
//! It draws nothing. Windows get the place and size that they ask for; one with the keys is above the others.

use trailblaze_protocol::geometry::Rect;
use x11rb::protocol::Event;
use x11rb::protocol::xproto::{
    Atom, AtomEnum, ChangeWindowAttributesAux, ClientMessageEvent, ConfigureRequestEvent, ConfigureWindowAux,
    ConnectionExt, EventMask, InputFocus, MapState, PropMode, StackMode, Window,
};
use x11rb::wrapper::ConnectionExt as _;

use super::connection::{XConnection, XServerError};

/// How far a window is from the corner of the one before.
const STEP: i32 = 32;

/// The windows that are managed.
pub struct WindowManager {
    /// In the order in which they had the keys, the current one last.
    clients: Vec<Window>,
    /// In the order in which they appeared.
    order: Vec<Window>,
    n_placed: i32,
}

impl WindowManager {
    /// Becomes the manager of the screen. `window` is one of ours that says so.
    pub fn start(x: &XConnection, window: Window) -> Result<WindowManager, XServerError> {
        let mask = EventMask::SUBSTRUCTURE_REDIRECT | EventMask::SUBSTRUCTURE_NOTIFY;
        let attributes = ChangeWindowAttributesAux::new().event_mask(mask);
        x.x.change_window_attributes(x.root, &attributes)?.check()?;
        let atoms = &x.atoms;
        x.x.set_selection_owner(window, atoms.WM_S0, x11rb::CURRENT_TIME)?;
        for place in [x.root, window] {
            set(x, place, atoms._NET_SUPPORTING_WM_CHECK, AtomEnum::WINDOW.into(), &[window])?;
        }
        x.x.change_property8(PropMode::REPLACE, window, atoms._NET_WM_NAME, atoms.UTF8_STRING, b"trailblaze")?;
        let supported = [
            atoms._NET_ACTIVE_WINDOW,
            atoms._NET_CLIENT_LIST,
            atoms._NET_CLIENT_LIST_STACKING,
            atoms._NET_CLOSE_WINDOW,
            atoms._NET_FRAME_EXTENTS,
            atoms._NET_REQUEST_FRAME_EXTENTS,
            atoms._NET_SUPPORTING_WM_CHECK,
            atoms._NET_WM_STATE,
            atoms._NET_WM_STATE_FULLSCREEN,
            atoms._NET_WM_STATE_MAXIMIZED_HORZ,
            atoms._NET_WM_STATE_MAXIMIZED_VERT,
        ];
        set(x, x.root, atoms._NET_SUPPORTED, AtomEnum::ATOM.into(), &supported)?;
        let area = [0, 0, x.width.into(), x.height.into()];
        set(x, x.root, atoms._NET_WORKAREA, AtomEnum::CARDINAL.into(), &area)?;
        let mut manager = WindowManager { clients: Vec::new(), order: Vec::new(), n_placed: 0 };
        for window in x.x.query_tree(x.root)?.reply()?.children {
            let attributes = x.x.get_window_attributes(window)?.reply();
            if attributes.is_ok_and(|it| !it.override_redirect && it.map_state == MapState::VIEWABLE) {
                manager.show(x, window)?;
            }
        }
        manager.publish(x)?;
        Ok(manager)
    }

    pub fn handle(&mut self, x: &XConnection, event: &Event) -> Result<(), XServerError> {
        match event {
            Event::MapRequest(event) => self.show(x, event.window),
            Event::ConfigureRequest(event) => configure(x, event),
            Event::UnmapNotify(event) => self.forget(x, event.window),
            Event::DestroyNotify(event) => self.forget(x, event.window),
            Event::ClientMessage(event) => self.asked(x, event),
            _ => Ok(()),
        }
    }

    fn show(&mut self, x: &XConnection, window: Window) -> Result<(), XServerError> {
        if !self.clients.contains(&window) {
            self.place(x, window)?;
            self.clients.push(window);
            self.order.push(window);
        }
        set(x, window, x.atoms.WM_STATE, x.atoms.WM_STATE, &[1, 0])?;
        set(x, window, x.atoms._NET_FRAME_EXTENTS, AtomEnum::CARDINAL.into(), &[0; 4])?;
        x.x.map_window(window)?;
        self.activate(x, window)
    }

    /// A dialog is in the middle of its window, and others are where they want to be, or one below the other. None is larger than the screen.
    fn place(&mut self, x: &XConnection, window: Window) -> Result<(), XServerError> {
        let Some(bounds) = bounds(x, window)? else { return Ok(()) };
        let (screen_width, screen_height) = (i32::from(x.width), i32::from(x.height));
        let (width, height) = (bounds.width().min(screen_width), bounds.height().min(screen_height));
        let parent = x.numbers(window, AtomEnum::WM_TRANSIENT_FOR.into())?.first().copied();
        let parent = match parent {
            Some(parent) if parent != x.root => self::bounds(x, parent)?,
            _ => None,
        };
        let kinds = x.numbers(window, x.atoms._NET_WM_WINDOW_TYPE)?;
        let is_dialog = kinds.contains(&x.atoms._NET_WM_WINDOW_TYPE_DIALOG);
        let center = parent.map(|parent| parent.center());
        let (left, top) = match center {
            Some(center) => (center.x - width / 2, center.y - height / 2),
            None if is_dialog => ((screen_width - width) / 2, (screen_height - height) / 2),
            // Where a person said, or the program.
            None if x
                .numbers(window, AtomEnum::WM_NORMAL_HINTS.into())?
                .first()
                .is_some_and(|flags| flags & 5 != 0)
                && (bounds.left, bounds.top) != (0, 0) =>
            {
                (bounds.left, bounds.top)
            }
            None => {
                let step = STEP * (self.n_placed % 8);
                self.n_placed += 1;
                (step, step)
            }
        };
        let left = left.clamp(0, screen_width - width);
        let top = top.clamp(0, screen_height - height);
        let place = ConfigureWindowAux::new().x(left).y(top).width(width as u32).height(height as u32);
        x.x.configure_window(window, &place)?;
        Ok(())
    }

    /// Gives a window the keys, and brings it and its dialogs to the front.
    fn activate(&mut self, x: &XConnection, window: Window) -> Result<(), XServerError> {
        if !self.clients.contains(&window) {
            return Ok(());
        }
        self.clients.retain(|client| *client != window);
        self.clients.push(window);
        let above = ConfigureWindowAux::new().stack_mode(StackMode::ABOVE);
        x.x.configure_window(window, &above)?;
        let mut front = window;
        // The dialogs of a window stay above it.
        for other in self.clients.clone() {
            let parent = x.numbers(other, AtomEnum::WM_TRANSIENT_FOR.into())?.first().copied();
            if other != window && parent == Some(window) {
                x.x.configure_window(other, &above)?;
                self.clients.retain(|client| *client != other);
                self.clients.push(other);
                front = other;
            }
        }
        self.focus(x, front)?;
        self.publish(x)
    }

    fn focus(&self, x: &XConnection, window: Window) -> Result<(), XServerError> {
        let hints = x.numbers(window, AtomEnum::WM_HINTS.into())?;
        // Flag 1 says that the second number tells whether it wants the keys.
        let wants_keys = !matches!(hints.as_slice(), [flags, 0, ..] if flags & 1 == 1);
        if wants_keys {
            x.x.set_input_focus(InputFocus::PARENT, window, x11rb::CURRENT_TIME)?;
        }
        if x.numbers(window, x.atoms.WM_PROTOCOLS)?.contains(&x.atoms.WM_TAKE_FOCUS) {
            let data = [x.atoms.WM_TAKE_FOCUS, x11rb::CURRENT_TIME, 0, 0, 0];
            let event = ClientMessageEvent::new(32, window, x.atoms.WM_PROTOCOLS, data);
            x.x.send_event(false, window, EventMask::NO_EVENT, event)?;
        }
        Ok(())
    }

    fn forget(&mut self, x: &XConnection, window: Window) -> Result<(), XServerError> {
        if !self.clients.contains(&window) {
            return Ok(());
        }
        let had_keys = self.clients.last() == Some(&window);
        self.clients.retain(|client| *client != window);
        self.order.retain(|client| *client != window);
        if self.clients.is_empty() {
            self.n_placed = 0;
        }
        match self.clients.last().copied() {
            Some(next) if had_keys => self.activate(x, next),
            _ => self.publish(x),
        }
    }

    /// What a program, or our own driver, asks of the manager.
    fn asked(&mut self, x: &XConnection, event: &ClientMessageEvent) -> Result<(), XServerError> {
        let (atoms, window) = (&x.atoms, event.window);
        match event.type_ {
            what if what == atoms._NET_ACTIVE_WINDOW => self.activate(x, window),
            what if what == atoms._NET_CLOSE_WINDOW => x.ask_to_close(window),
            what if what == atoms._NET_REQUEST_FRAME_EXTENTS => {
                set(x, window, atoms._NET_FRAME_EXTENTS, AtomEnum::CARDINAL.into(), &[0; 4])
            }
            what if what == atoms._NET_WM_STATE => fill_screen(x, event),
            _ => Ok(()),
        }
    }

    /// Says which windows there are, and which has the keys.
    fn publish(&self, x: &XConnection) -> Result<(), XServerError> {
        let active = self.clients.last().copied().unwrap_or(x11rb::NONE);
        let kind = AtomEnum::WINDOW.into();
        set(x, x.root, x.atoms._NET_CLIENT_LIST, kind, &self.order)?;
        set(x, x.root, x.atoms._NET_CLIENT_LIST_STACKING, kind, &self.clients)?;
        set(x, x.root, x.atoms._NET_ACTIVE_WINDOW, kind, &[active])
    }
}

fn set(x: &XConnection, window: Window, property: Atom, kind: Atom, values: &[u32]) -> Result<(), XServerError> {
    x.x.change_property32(PropMode::REPLACE, window, property, kind, values)?;
    Ok(())
}

fn bounds(x: &XConnection, window: Window) -> Result<Option<Rect>, XServerError> {
    let geometry = x.x.get_geometry(window)?.reply();
    // The window may be gone.
    Ok(geometry.ok().map(|it| Rect::new(it.x.into(), it.y.into(), it.width.into(), it.height.into())))
}

fn configure(x: &XConnection, event: &ConfigureRequestEvent) -> Result<(), XServerError> {
    x.x.configure_window(event.window, &ConfigureWindowAux::from_configure_request(event))?;
    Ok(())
}

/// A window that wants to fill the screen does; it is not made smaller again.
fn fill_screen(x: &XConnection, event: &ClientMessageEvent) -> Result<(), XServerError> {
    const REMOVE: u32 = 0;
    let [action, first, second, ..] = event.data.as_data32();
    let atoms = &x.atoms;
    let filling =
        [atoms._NET_WM_STATE_FULLSCREEN, atoms._NET_WM_STATE_MAXIMIZED_HORZ, atoms._NET_WM_STATE_MAXIMIZED_VERT];
    let states: Vec<u32> = [first, second].into_iter().filter(|state| filling.contains(state)).collect();
    if states.is_empty() {
        return Ok(());
    }
    let states = if action == REMOVE { Vec::new() } else { states };
    set(x, event.window, atoms._NET_WM_STATE, AtomEnum::ATOM.into(), &states)?;
    if action != REMOVE {
        let whole = ConfigureWindowAux::new().x(0).y(0).width(u32::from(x.width)).height(u32::from(x.height));
        x.x.configure_window(event.window, &whole)?;
    }
    Ok(())
}
