//! W3C WebDriver as a backend: any endpoint, such as chromedriver, a Selenium Grid or a farm. Only this folder knows the names of the
//! protocol.
//!
//! A session is a device's own, and each trail gets a new one. Its commands follow each other; what the page half asks is one script
//! each, so that most requests are `execute/sync`.

mod actions;
mod artifacts;
mod backend;
mod connector;
mod dialogs;
mod endings;
mod error;
mod http;
mod new_session;
mod scripts;
mod session;
mod settings;
mod upload;

pub use artifacts::{AT_A_TIME, SessionArtifacts};
pub use backend::{SessionOwner, WebDriverBackend};
pub use connector::WebDriverConnector;
pub use dialogs::WarnedDialogs;
pub use endings::{SessionEndings, end_sessions_main};
pub use error::EndpointError;
pub use http::{EndpointAddress, WebDriverHttp, WebDriverRequest};
pub use new_session::new_session;
pub use session::{ELEMENT, end_session};
pub use settings::{EXPLAINING, EndpointCredentials, EndpointEntry, SESSION_WAIT, SLOTS, proxies};
