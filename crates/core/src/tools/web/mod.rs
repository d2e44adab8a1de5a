//! Tools for browsers, named as in the Kotlin version of Trailblaze.

mod aim;
mod asking;
mod checking;
mod form;
mod going;
mod network;
mod touching;
mod world;

use super::row::Row;

pub fn rows() -> impl Iterator<Item = &'static Row> {
    [touching::ROWS, form::ROWS, going::ROWS, checking::ROWS, asking::ROWS, network::ROWS, world::ROWS]
        .into_iter()
        .flatten()
}

/// The actions and queries that models are offered by default.
pub const CORE: &[&str] = &[
    "web_navigate",
    "web_click",
    "web_type",
    "web_fillForm",
    "web_check",
    "web_selectOption",
    "web_hover",
    "web_drag",
    "web_upload",
    "web_scroll",
    "web_pressKey",
    "web_wait",
    "web_waitForUrl",
    "web_resize",
    "web_tabs",
    "web_dialogs",
    "web_download",
    "web_console",
    "web_snapshot",
    "web_requestDetails",
    "web_currentUrl",
    "web_getStorageState",
    "web_applyCookies",
    "web_fillSecret",
];

/// What changes the world that pages see. Offered to models that ask for it.
pub const WORLD: &[&str] = &[
    "web_mockRequest",
    "web_abortRequest",
    "web_delayRequest",
    "web_changeResponse",
    "web_removeNetworkRules",
    "web_throttle",
    "web_setOffline",
    "web_recordHar",
    "web_saveHar",
    "web_replayHar",
    "web_waitForRequest",
    "web_waitForResponse",
    "web_setClock",
    "web_advanceClock",
    "web_setGeolocation",
    "web_setPermissions",
    "web_setMedia",
    "web_getClipboard",
    "web_setClipboard",
    "web_setCredentials",
    "web_savePdf",
    "web_getLocalStorage",
    "web_setLocalStorage",
];

pub const VERIFICATION: &[&str] = &[
    "web_verifyTextVisible",
    "web_verifyElementVisible",
    "web_verifyListVisible",
    "web_verifyValue",
    "web_assertNetworkEvent",
    "web_assertUrl",
    "web_assertTitle",
];
