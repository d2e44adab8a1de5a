//! Names that other test tools use for what our tools do. Only used for hints; they cannot be called.

/// Our tools for the name that another test tool uses, best match first. Web tools come first, because only web sessions
/// have them.
pub fn ours(name: &str) -> &'static [&'static str] {
    let plain: String = name.chars().filter(char::is_ascii_alphanumeric).collect::<String>().to_ascii_lowercase();
    let plain = plain.strip_prefix("browser").unwrap_or(&plain);
    let row = ALIASES.iter().find(|(theirs, _)| theirs.contains(&plain));
    row.map_or(&[], |(_, ours)| ours)
}

/// Names from Maestro, Playwright, Cypress, Selenium, Appium and Espresso, in lower case, and ours.
const ALIASES: &[(&[&str], &[&str])] = &[
    (&["click", "clickon", "clickelement", "tapon", "tapelement", "tapontext", "clickontext"], &["web_click", "tap"]),
    (&["doubleclick", "dblclick", "doubletap", "doubletapon"], &["web_click", "tap"]),
    (&["longclick", "longpresson", "longtap", "touchandhold"], &["longPress"]),
    (
        &["type", "typetext", "entertext", "sendkeys", "presssequentially", "keyboardtype", "input", "settext"],
        &["web_type", "inputText"],
    ),
    (&["fill", "fillin", "setvalue", "replacetext"], &["web_type", "inputText"]),
    (&["clear", "cleartextfield", "clearfield"], &["clearText"]),
    (&["press", "keypress", "presskeycode", "keyboardpress"], &["web_pressKey", "pressKey"]),
    (&["back", "goback", "navigateback", "pressback", "pressbackbutton"], &["web_navigate", "pressBack"]),
    (&["home", "gohome"], &["pressHome"]),
    (&["goto", "visit", "navigateto", "gotourl", "openlink", "openurl", "get"], &["web_navigate", "openUrl"]),
    (&["openapp", "startapp", "activateapp", "runapp"], &["launchApp"]),
    (&["killapp", "closeapp", "terminateapp"], &["stopApp"]),
    (&["clearstate", "clearapp", "resetapp"], &["clearAppData"]),
    (
        &[
            "see",
            "shouldsee",
            "isdisplayed",
            "tobevisible",
            "expectvisible",
            "assertisvisible",
            "asserttext",
            "contains",
        ],
        &["assertVisible"],
    ),
    (&["dontsee", "tobehidden", "asserthidden", "assertgone", "nottobevisible"], &["assertNotVisible"]),
    (&["tohavetext", "tocontaintext", "shouldhavetext", "verifytext", "asserttextequals"], &["assertText"]),
    (&["tohavevalue", "inputvalue"], &["assertValue"]),
    (&["tohaveattribute", "getattribute"], &["assertAttribute"]),
    (&["tohavecount", "shouldhavelength", "assertelementcount"], &["assertCount"]),
    (
        &[
            "tobeenabled",
            "tobedisabled",
            "tobechecked",
            "tobefocused",
            "tobeinviewport",
            "isenabled",
            "ischecked",
            "isselected",
            "assertenabled",
            "assertdisabled",
            "assertchecked",
            "assertselected",
            "assertfocused",
        ],
        &["assertState"],
    ),
    (&["tohaveurl", "asserturl"], &["web_assertUrl"]),
    (&["tohavetitle", "asserttitle"], &["web_assertTitle"]),
    (&["waitfor", "waitforelement", "waitforvisible", "waitfortext", "extendedwaituntil"], &["waitUntilVisible"]),
    (&["sleep", "pause", "delay", "waitfortimeout"], &["wait"]),
    (&["scrollto", "scrollintoview", "scrolluntilvisible", "scrolltotext"], &["scrollUntilTextIsVisible"]),
    (&["screenshot", "takescreenshot"], &["takeSnapshot"]),
    (&["select", "selectoption", "selectoptions"], &["web_selectOption"]),
    (&["hover", "mouseover"], &["web_hover"]),
    (&["check", "uncheck"], &["web_check"]),
    (&["drag", "draganddrop", "dragto"], &["web_drag"]),
    (&["upload", "uploadfile", "setinputfiles", "selectfile", "fileupload"], &["web_upload"]),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_other_tools_map_to_ours() {
        for (theirs, expected) in [
            ("clickOn", "web_click"),
            ("send_keys", "web_type"),
            ("browser_click", "web_click"),
            ("goto", "web_navigate"),
        ] {
            assert_eq!(ours(theirs).first(), Some(&expected), "{theirs}");
        }
        assert!(ours("wallet_signIn").is_empty());
    }

    #[test]
    fn every_suggested_name_is_a_tool() {
        let batches = crate::tools::batches();
        let names: Vec<&str> = batches.iter().flat_map(|batch| &batch.tools).map(|tool| tool.name.as_str()).collect();
        for ours in ALIASES.iter().flat_map(|(_, ours)| *ours) {
            assert!(names.contains(ours), "{ours}");
        }
    }
}
