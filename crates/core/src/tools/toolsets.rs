//! The built-in toolsets: groups of tools that are offered to models together.

use trailblaze_protocol::driver::Platform;

use crate::config::ToolsetConfig;
use crate::yaml::{Span, Spanned};

struct ToolsetRow {
    id: &'static str,
    about: &'static str,
    platforms: &'static [Platform],
    is_always_enabled: bool,
    tools: &'static [&'static str],
}

const ROWS: &[ToolsetRow] = &[
    ToolsetRow {
        id: "meta",
        about: "Report the status of a step; reload tools.",
        platforms: &[],
        is_always_enabled: true,
        tools: &["objectiveStatus", "reloadTools"],
    },
    ToolsetRow {
        id: "core_interaction",
        about: "Tap, type and press keys.",
        platforms: &[],
        is_always_enabled: true,
        tools: &[
            "tap",
            "longPress",
            "tapOnPoint",
            "tapOnElementWithText",
            "inputText",
            "inputTextRandom",
            "clearText",
            "eraseText",
            "hideKeyboard",
            "pressKey",
            "pressBack",
            "swipe",
            "scroll",
            "scrollUntilTextIsVisible",
            "wait",
            "waitForChange",
        ],
    },
    ToolsetRow {
        id: "navigation",
        about: "Start and stop apps; open links.",
        platforms: &[],
        is_always_enabled: false,
        tools: &["launchApp", "stopApp", "clearAppData", "openUrl", "pressHome"],
    },
    ToolsetRow {
        id: "observation",
        about: "Look at the screen.",
        platforms: &[],
        is_always_enabled: false,
        tools: &["captureScreen", "isVisible", "hasText", "getElementText", "getElementCount", "takeSnapshot"],
    },
    ToolsetRow {
        id: "verification",
        about: "Assert what is on the screen.",
        platforms: &[],
        is_always_enabled: false,
        tools: &[
            "assertVisible",
            "waitUntilVisible",
            "assertVisibleWithText",
            "assertNotVisibleWithText",
            "waitUntilNotVisible",
            "assertNotVisible",
            "assertText",
            "assertNumber",
            "assertValue",
            "assertAttribute",
            "assertState",
            "assertCount",
            "assertOrder",
            "verifyVisually",
        ],
    },
    ToolsetRow {
        id: "memory",
        about: "Remember, compare and forget values.",
        platforms: &[],
        is_always_enabled: false,
        tools: &["remember", "rememberElementText", "forget", "dumpMemory", "assertEquals", "assertNotEquals"],
    },
    ToolsetRow {
        id: "mobile_primitives",
        about: "Use features that only phones have.",
        platforms: &[Platform::Android, Platform::Ios],
        is_always_enabled: false,
        tools: &[
            "pinch",
            "networkConnection",
            "mobile_setClipboard",
            "mobile_pasteClipboard",
            "mobile_listInstalledApps",
            "mobile_currentApp",
            "mobile_getAppState",
            "mobile_lock",
            "mobile_unlock",
            "mobile_twist",
        ],
    },
    ToolsetRow {
        id: "ios_core",
        about: "Answer alerts, and use features that only iPhones have.",
        platforms: &[Platform::Ios],
        is_always_enabled: false,
        tools: &["ios_launchApp", "ios_getAlert", "ios_acceptAlert", "ios_dismissAlert", "mobile_getClipboard"],
    },
    ToolsetRow {
        id: "desktop_core",
        about: "Use windows, menus, the pointer and the keyboard of a desktop.",
        platforms: &[Platform::Desktop],
        is_always_enabled: false,
        tools: &[
            "windows",
            "activateWindow",
            "close",
            "menu",
            "pressKeys",
            "getClipboard",
            "setClipboard",
            "desktop_click",
            "desktop_hover",
            "desktop_drag",
            "desktop_check",
            "desktop_selectOption",
            "desktop_captureWindow",
        ],
    },
    ToolsetRow {
        id: "web_core",
        about: "Use features that only browsers have.",
        platforms: &[Platform::Web],
        is_always_enabled: false,
        tools: super::web::CORE,
    },
    ToolsetRow {
        id: "web_verification",
        about: "Assert what is on a page.",
        platforms: &[Platform::Web],
        is_always_enabled: false,
        tools: super::web::VERIFICATION,
    },
    ToolsetRow {
        id: "web_world",
        about: "Mock, slow down and wait for requests of pages; set their clock, place, permissions and storage.",
        platforms: &[Platform::Web],
        is_always_enabled: false,
        tools: super::web::WORLD,
    },
];

pub fn toolsets() -> Vec<ToolsetConfig> {
    let spanned = |text: &str| Spanned { value: text.to_string(), span: Span::default() };
    ROWS.iter()
        .map(|row| ToolsetConfig {
            id: spanned(row.id),
            description: row.about.to_string(),
            platforms: row.platforms.to_vec(),
            drivers: Vec::new(),
            always_enabled: row.is_always_enabled,
            tools: row.tools.iter().map(|tool| spanned(tool)).collect(),
            span: Span::default(),
        })
        .collect()
}
