//! What a browser can do about the world of its pages: hold requests, slow the network down, and tell pages where and when they are.
//! A backend has these capabilities, or has not.

use async_trait::async_trait;
use trailblaze_core::driver::{AbortReason, MediaFeatures, NetworkSpeed, PermissionState};

use super::backend::BackendError;

/// Requests of all tabs go through us.
#[async_trait]
pub trait Routing: Send + Sync {
    /// From now on, reports each request ([`super::backend::BrowserEvent::Held`]) and each question for a name and a password
    /// ([`super::backend::BrowserEvent::CredentialsAsked`]), and holds it until it is answered; or stops doing so.
    async fn hold(&self, is_on: bool) -> Result<(), BackendError>;
    /// Answers what is held, once.
    async fn answer(&self, held: &str, answer: RequestAnswer) -> Result<(), BackendError>;
    /// The body of a response that is held.
    async fn held_body(&self, held: &str) -> Result<Vec<u8>, BackendError>;
    /// The body of a response that has come. `Refused` if the browser does not have it any more.
    async fn body(&self, traffic: &str) -> Result<Vec<u8>, BackendError>;
}

/// A request that waits for an answer; with its response, if [`RequestAnswer::Continue`] has asked for that.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct HeldRequest {
    pub id: String,
    /// The id of the same request in [`TrafficEvent`].
    pub traffic: String,
    pub method: String,
    pub url: String,
    pub headers: Vec<(String, String)>,
    pub body: String,
    pub response: Option<ResponseHead>,
}

#[derive(Debug, Clone, PartialEq, Default)]
pub struct ResponseHead {
    pub status: u16,
    pub status_text: String,
    pub headers: Vec<(String, String)>,
    pub mime: String,
}

#[derive(Debug, Clone, PartialEq)]
pub enum RequestAnswer {
    /// As if it had not been held. Its response is held if that is wanted.
    Continue {
        holds_response: bool,
    },
    Respond {
        status: u16,
        headers: Vec<(String, String)>,
        body: Vec<u8>,
    },
    Fail(AbortReason),
    /// To a question for a name and a password.
    Credentials {
        username: String,
        password: String,
    },
    /// Then the page shows what the server answered.
    NoCredentials,
}

/// A server asks who is there.
#[derive(Debug, Clone, PartialEq)]
pub struct CredentialsQuestion {
    pub id: String,
    /// Such as `https://shop.example`.
    pub origin: String,
    /// Whether it is a proxy that asks.
    pub is_proxy: bool,
}

/// A request as it goes on, with what [`super::backend::RequestEvent`] leaves out.
#[derive(Debug, Clone, PartialEq)]
pub struct TrafficEvent {
    /// The id of the request. A redirect has that of the request that it answers.
    pub id: String,
    /// What [`Routing::body`] wants to know.
    pub body_id: String,
    /// In seconds of the browser's clock.
    pub at: f64,
    pub stage: TrafficStage,
}

#[derive(Debug, Clone, PartialEq)]
pub enum TrafficStage {
    Sent {
        /// In milliseconds since 1970.
        sent_at: f64,
        method: String,
        url: String,
        /// `Document`, `XHR`, `Fetch` and the like.
        kind: String,
        headers: Vec<(String, String)>,
        body: String,
        /// The answer of the request before it, which redirected.
        redirect: Option<ResponseHead>,
    },
    Answered(ResponseHead),
    Finished {
        n_bytes: u64,
    },
    Failed {
        why: String,
    },
}

/// What pages are told about where they are, and how fast the network is. Holds for all tabs, also those that come later.
#[async_trait]
pub trait PageConditions: Send + Sync {
    async fn set_conditions(&self, conditions: &NetworkConditions) -> Result<(), BackendError>;
    /// `None` for where the browser really is.
    async fn set_location(&self, location: Option<GeoLocation>) -> Result<(), BackendError>;
    /// For one origin, or for all of the session.
    async fn set_permission(
        &self,
        permission: &str,
        state: PermissionState,
        origin: Option<&str>,
    ) -> Result<(), BackendError>;
    async fn reset_permissions(&self) -> Result<(), BackendError>;
    /// What is not given is as the device is set up.
    async fn set_media(&self, media: &MediaFeatures) -> Result<(), BackendError>;
    /// Runs a script in the page's own world, in all present documents and before the scripts of later ones, in place of the one
    /// that had this name. Without a script, later documents have none.
    async fn set_page_script(&self, name: &'static str, script: Option<&str>) -> Result<(), BackendError>;
    /// Lets a tab believe that it has the focus.
    async fn pretend_focus(&self, tab: &str, is_focused: bool) -> Result<(), BackendError>;
    /// Prints a tab.
    async fn pdf(&self, tab: &str, is_landscape: bool) -> Result<Vec<u8>, BackendError>;
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct NetworkConditions {
    pub is_offline: bool,
    pub speed: NetworkSpeed,
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub struct GeoLocation {
    pub latitude: f64,
    pub longitude: f64,
    pub accuracy: f64,
}

/// The local storage of origins, whether a document of them is open or not.
#[async_trait]
pub trait OriginStorage: Send + Sync {
    async fn local_storage(&self, origin: &str) -> Result<Vec<(String, String)>, BackendError>;
    /// Changes items; `None` removes one.
    async fn set_local_storage(&self, origin: &str, items: &[(String, Option<String>)]) -> Result<(), BackendError>;
}
