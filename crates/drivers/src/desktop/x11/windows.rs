//! The windows of a desktop.

use trailblaze_protocol::geometry::Rect;
use x11rb::errors::ReplyError;
use x11rb::protocol::xproto::{
    AtomEnum, ConfigureWindowAux, ConnectionExt, InputFocus, MapState, StackMode, Window, WindowClass,
};

use super::connection::{XConnection, XServerError};

/// A window that is shown.
#[derive(Debug, Clone, PartialEq)]
pub struct XWindow {
    pub id: u32,
    pub title: String,
    /// The process that it belongs to, if it says so.
    pub pid: Option<u32>,
    /// What kind of program it is, such as `Mousepad`.
    pub class: String,
    pub bounds: Rect,
    /// The invisible border that belongs to it: left, right, top, bottom.
    pub border: [i32; 4],
    pub is_active: bool,
    /// Whether no manager handles it: menus, tooltips.
    pub is_popup: bool,
}

impl XConnection {
    /// All windows that are shown, from the bottom to the top.
    pub fn windows(&self) -> Result<Vec<XWindow>, XServerError> {
        let clients = self.numbers(self.root, self.atoms._NET_CLIENT_LIST_STACKING)?;
        let active = self.active_window()?;
        let children = self.x.query_tree(self.root)?.reply()?.children;
        let mut found = Vec::new();
        for window in children.iter().copied().filter(|child| !clients.contains(child)) {
            let is_managed = !clients.is_empty() || self.is_managed()?;
            found.extend(self.window(window, active, is_managed)?);
        }
        let mut all = Vec::new();
        for window in clients {
            all.extend(self.window(window, active, false)?);
        }
        // Popups are above the windows that they belong to.
        all.extend(found);
        Ok(all)
    }

    /// A window, unless it is gone or not shown. With `only_popups`, only one that no manager handles.
    fn window(&self, id: Window, active: Window, only_popups: bool) -> Result<Option<XWindow>, XServerError> {
        let attributes = self.x.get_window_attributes(id)?;
        let geometry = self.x.get_geometry(id)?;
        let place = self.x.translate_coordinates(id, self.root, 0, 0)?;
        let property = |atom: u32, kind: u32| self.x.get_property(false, id, atom, kind, 0, 1024);
        let name = property(self.atoms._NET_WM_NAME, self.atoms.UTF8_STRING)?;
        let old_name = property(AtomEnum::WM_NAME.into(), AtomEnum::ANY.into())?;
        let class = property(AtomEnum::WM_CLASS.into(), AtomEnum::STRING.into())?;
        let pid = property(self.atoms._NET_WM_PID, AtomEnum::CARDINAL.into())?;
        let border = property(self.atoms._GTK_FRAME_EXTENTS, AtomEnum::CARDINAL.into())?;
        let replies = (|| {
            Ok((
                attributes.reply()?,
                geometry.reply()?,
                place.reply()?,
                name.reply()?,
                old_name.reply()?,
                class.reply()?,
                pid.reply()?,
                border.reply()?,
            ))
        })();
        let (attributes, geometry, place, name, old_name, class, pid, border) = match replies {
            Ok(replies) => replies,
            Err(ReplyError::X11Error(_)) => return Ok(None),
            Err(error) => return Err(error.into()),
        };
        let is_shown = attributes.map_state == MapState::VIEWABLE && attributes.class == WindowClass::INPUT_OUTPUT;
        let bounds = Rect::new(place.dst_x.into(), place.dst_y.into(), geometry.width.into(), geometry.height.into());
        let is_popup = attributes.override_redirect;
        // Toolkits keep windows of one pixel for themselves.
        if !is_shown || only_popups && !is_popup || bounds.width() <= 1 || bounds.height() <= 1 {
            return Ok(None);
        }
        let words = |bytes: &[u8]| String::from_utf8_lossy(bytes).trim_end_matches('\0').to_string();
        let title = if name.value.is_empty() { words(&old_name.value) } else { words(&name.value) };
        // The name of the instance, then that of the class.
        let class = words(&class.value).rsplit('\0').next().unwrap_or_default().to_string();
        let sides: Vec<i32> =
            border.value32().into_iter().flatten().filter_map(|side| i32::try_from(side).ok()).collect();
        let border = <[i32; 4]>::try_from(sides).unwrap_or_default();
        let pid = pid.value32().and_then(|mut numbers| numbers.next());
        Ok(Some(XWindow { id, title, pid, class, bounds, border, is_active: id == active, is_popup }))
    }

    pub fn active_window(&self) -> Result<Window, XServerError> {
        Ok(self.numbers(self.root, self.atoms._NET_ACTIVE_WINDOW)?.first().copied().unwrap_or(0))
    }

    /// Whether something manages the windows.
    fn is_managed(&self) -> Result<bool, XServerError> {
        Ok(!self.numbers(self.root, self.atoms._NET_SUPPORTING_WM_CHECK)?.is_empty())
    }

    /// Brings a window to the front.
    pub fn activate(&self, window: Window) -> Result<(), XServerError> {
        if self.is_managed()? {
            // On behalf of a person, so that it is not taken for one that pushes itself to the front.
            self.ask_manager(window, self.atoms._NET_ACTIVE_WINDOW, [2, x11rb::CURRENT_TIME, 0, 0, 0])?;
        } else {
            self.x.configure_window(window, &ConfigureWindowAux::new().stack_mode(StackMode::ABOVE))?;
            self.x.set_input_focus(InputFocus::PARENT, window, x11rb::CURRENT_TIME)?;
        }
        self.finish()
    }

    /// Asks a window to close, as its button for that does.
    pub fn close_window(&self, window: Window) -> Result<(), XServerError> {
        if self.is_managed()? {
            self.ask_manager(window, self.atoms._NET_CLOSE_WINDOW, [x11rb::CURRENT_TIME, 2, 0, 0, 0])?;
        } else {
            self.ask_to_close(window)?;
        }
        self.finish()
    }

    /// Sends a window the request to close, or ends its program if it does not understand it.
    pub fn ask_to_close(&self, window: Window) -> Result<(), XServerError> {
        use x11rb::protocol::xproto::{ClientMessageEvent, EventMask};
        let protocols = self.numbers(window, self.atoms.WM_PROTOCOLS)?;
        if protocols.contains(&self.atoms.WM_DELETE_WINDOW) {
            let data = [self.atoms.WM_DELETE_WINDOW, x11rb::CURRENT_TIME, 0, 0, 0];
            let event = ClientMessageEvent::new(32, window, self.atoms.WM_PROTOCOLS, data);
            self.x.send_event(false, window, EventMask::NO_EVENT, event)?;
        } else {
            self.x.kill_client(window)?;
        }
        Ok(())
    }
}
