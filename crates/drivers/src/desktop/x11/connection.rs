//! A connection to an X server, and what goes wrong with it.

use std::os::unix::net::UnixStream;

use x11rb::connection::Connection;
use x11rb::errors::{ConnectError, ConnectionError, ReplyError, ReplyOrIdError};
use x11rb::protocol::xproto::{Atom, Window};
use x11rb::rust_connection::{DefaultStream, RustConnection};

/// Where an X server is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum XAddress {
    /// One of ours: its number, and the cookie that it asks for.
    Own { number: u32, cookie: Vec<u8> },
    /// Another's, such as `:0`.
    Display(String),
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum XServerError {
    #[error("the X server is gone: {0}")]
    Gone(String),
    #[error("the X server cannot be reached: {0}")]
    Unreachable(String),
    #[error("the X server refused it: {0}")]
    Refused(String),
    #[error("{0}")]
    Wrong(String),
}

impl From<ConnectionError> for XServerError {
    fn from(error: ConnectionError) -> XServerError {
        XServerError::Gone(error.to_string())
    }
}

impl From<ReplyError> for XServerError {
    fn from(error: ReplyError) -> XServerError {
        match error {
            ReplyError::ConnectionError(error) => error.into(),
            ReplyError::X11Error(error) => XServerError::Refused(format!("{:?}", error.error_kind)),
        }
    }
}

impl From<ReplyOrIdError> for XServerError {
    fn from(error: ReplyOrIdError) -> XServerError {
        match error {
            ReplyOrIdError::ConnectionError(error) => error.into(),
            ReplyOrIdError::X11Error(error) => XServerError::Refused(format!("{:?}", error.error_kind)),
            ReplyOrIdError::IdsExhausted => XServerError::Wrong("the X server has no more ids".to_string()),
        }
    }
}

impl From<ConnectError> for XServerError {
    fn from(error: ConnectError) -> XServerError {
        XServerError::Unreachable(error.to_string())
    }
}

x11rb::atom_manager! {
    /// The names that windows and their managers agree on.
    pub Atoms: AtomsCookie {
        ATOM, CARDINAL, CLIPBOARD, INCR, STRING, TARGETS, UTF8_STRING, WINDOW,
        WM_DELETE_WINDOW, WM_PROTOCOLS, WM_S0, WM_STATE, WM_TAKE_FOCUS,
        _GTK_FRAME_EXTENTS, _NET_ACTIVE_WINDOW, _NET_CLIENT_LIST, _NET_CLIENT_LIST_STACKING, _NET_CLOSE_WINDOW, _NET_FRAME_EXTENTS,
        _NET_REQUEST_FRAME_EXTENTS, _NET_SUPPORTED, _NET_SUPPORTING_WM_CHECK, _NET_WM_NAME, _NET_WM_PID, _NET_WM_STATE,
        _NET_WM_STATE_FULLSCREEN, _NET_WM_STATE_MAXIMIZED_HORZ, _NET_WM_STATE_MAXIMIZED_VERT, _NET_WM_WINDOW_TYPE,
        _NET_WM_WINDOW_TYPE_DIALOG, _NET_WORKAREA,
        _TRAILBLAZE_CLIPBOARD, _TRAILBLAZE_ORDER,
    }
}

/// A connection, with what every request needs.
pub struct XConnection {
    pub x: RustConnection,
    pub root: Window,
    pub width: u16,
    pub height: u16,
    pub atoms: Atoms,
}

impl XConnection {
    pub fn open(address: &XAddress) -> Result<XConnection, XServerError> {
        let (x, screen) = match address {
            XAddress::Own { number, cookie } => {
                let unreachable = |error: std::io::Error| XServerError::Unreachable(error.to_string());
                let stream = UnixStream::connect(format!("/tmp/.X11-unix/X{number}")).map_err(unreachable)?;
                let (stream, _) = DefaultStream::from_unix_stream(stream).map_err(unreachable)?;
                let name = b"MIT-MAGIC-COOKIE-1".to_vec();
                (RustConnection::connect_to_stream_with_auth_info(stream, 0, name, cookie.clone())?, 0)
            }
            XAddress::Display(display) => RustConnection::connect(Some(display))?,
        };
        let (root, width, height) = {
            let screen = &x.setup().roots[screen];
            (screen.root, screen.width_in_pixels, screen.height_in_pixels)
        };
        let atoms = Atoms::new(&x)?.reply()?;
        Ok(XConnection { x, root, width, height, atoms })
    }

    /// The numbers of a property; none if the window does not have it.
    pub fn numbers(&self, window: Window, property: Atom) -> Result<Vec<u32>, XServerError> {
        use x11rb::protocol::xproto::{AtomEnum, ConnectionExt};
        let reply = self.x.get_property(false, window, property, AtomEnum::ANY, 0, 4096)?.reply();
        match reply {
            Ok(reply) => Ok(reply.value32().map(Iterator::collect).unwrap_or_default()),
            // The window is gone.
            Err(ReplyError::X11Error(_)) => Ok(Vec::new()),
            Err(error) => Err(error.into()),
        }
    }

    /// Asks the window manager to do something.
    pub fn ask_manager(&self, window: Window, what: Atom, data: [u32; 5]) -> Result<(), XServerError> {
        use x11rb::protocol::xproto::{ClientMessageEvent, ConnectionExt, EventMask};
        let event = ClientMessageEvent::new(32, window, what, data);
        let mask = EventMask::SUBSTRUCTURE_REDIRECT | EventMask::SUBSTRUCTURE_NOTIFY;
        self.x.send_event(false, self.root, mask, event)?;
        Ok(())
    }

    /// Waits until the server has done all that was asked of it.
    pub fn finish(&self) -> Result<(), XServerError> {
        use x11rb::protocol::xproto::ConnectionExt;
        self.x.get_input_focus()?.reply()?;
        Ok(())
    }
}
