//! The profile of a Firefox that we start, as settings in its `user.js`.

use std::fmt::Write;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use super::super::emulation::Emulation;

/// What every device has. Firefox itself adds those that it recommends for browsers that are driven.
const SETTINGS: [(&str, Setting); 42] = [
    // No page but ours, and nothing in front of it.
    ("browser.startup.page", Setting::Number(0)),
    ("browser.startup.homepage", Setting::Text("about:blank")),
    ("browser.startup.homepage_override.mstone", Setting::Text("ignore")),
    ("browser.newtabpage.enabled", Setting::Flag(false)),
    ("browser.newtab.preload", Setting::Flag(false)),
    ("browser.aboutwelcome.enabled", Setting::Flag(false)),
    ("browser.shell.checkDefaultBrowser", Setting::Flag(false)),
    ("browser.translations.enable", Setting::Flag(false)),
    ("browser.tabs.warnOnClose", Setting::Flag(false)),
    ("browser.sessionstore.resume_from_crash", Setting::Flag(false)),
    ("browser.download.alwaysOpenPanel", Setting::Flag(false)),
    ("browser.download.always_ask_before_handling_new_types", Setting::Flag(false)),
    ("signon.rememberSignons", Setting::Flag(false)),
    ("signon.autofillForms", Setting::Flag(false)),
    ("extensions.formautofill.addresses.enabled", Setting::Flag(false)),
    ("extensions.formautofill.creditCards.enabled", Setting::Flag(false)),
    ("datareporting.policy.dataSubmissionEnabled", Setting::Flag(false)),
    ("datareporting.policy.dataSubmissionPolicyBypassNotification", Setting::Flag(true)),
    // Nothing is asked of a server that no page asked.
    ("app.normandy.enabled", Setting::Flag(false)),
    ("app.update.disabledForTesting", Setting::Flag(true)),
    ("browser.safebrowsing.downloads.enabled", Setting::Flag(false)),
    ("browser.region.network.url", Setting::Text("")),
    ("extensions.update.enabled", Setting::Flag(false)),
    ("extensions.getAddons.cache.enabled", Setting::Flag(false)),
    ("media.gmp-manager.updateEnabled", Setting::Flag(false)),
    ("network.captive-portal-service.enabled", Setting::Flag(false)),
    ("network.connectivity-service.enabled", Setting::Flag(false)),
    ("network.dns.disablePrefetch", Setting::Flag(true)),
    ("network.predictor.enabled", Setting::Flag(false)),
    ("network.prefetch-next", Setting::Flag(false)),
    ("network.trr.mode", Setting::Number(5)),
    ("services.settings.server", Setting::Text("data:,#remote-settings-dummy/v1")),
    // A page that is returned to is loaded again: nothing reports one that comes back from memory.
    ("fission.bfcacheInParent", Setting::Flag(false)),
    ("browser.sessionhistory.max_total_viewers", Setting::Number(0)),
    // Each move of a pointer reaches the page by itself.
    ("dom.events.coalesce.mousemove", Setting::Flag(false)),
    ("dom.events.coalesce.touchmove", Setting::Flag(false)),
    // What one trail was permitted, the next is not.
    ("permissions.isolateBy.userContext", Setting::Flag(true)),
    ("privacy.userContext.enabled", Setting::Flag(true)),
    // No process is kept ready for a tab that is never opened.
    ("dom.ipc.processPrelaunch.enabled", Setting::Flag(false)),
    // A new tab does not share the process of a page that never ends.
    ("dom.ipc.processCount.webIsolated", Setting::Number(8)),
    ("dom.ipc.processCount.file", Setting::Number(8)),
    ("browser.tabs.unloadOnLowMemory", Setting::Flag(false)),
];

enum Setting {
    Flag(bool),
    Number(i64),
    Text(&'static str),
}

impl Setting {
    fn json(&self) -> Value {
        match self {
            Setting::Flag(flag) => json!(flag),
            Setting::Number(number) => json!(number),
            Setting::Text(text) => json!(text),
        }
    }
}

/// What emulates a device where BiDi has no command for it.
fn emulated(emulation: &Emulation) -> Vec<(&'static str, Value)> {
    let mut settings = Vec::new();
    if let Some(is_dark) = emulation.is_dark {
        settings.push(("layout.css.prefers-color-scheme.content-override", json!(i32::from(!is_dark))));
    }
    if let Some(locale) = &emulation.locale {
        settings.push(("intl.accept_languages", json!(locale)));
    }
    if emulation.is_mobile {
        settings.extend([
            ("dom.w3c_touch_events.enabled", json!(1)),
            ("dom.w3c_touch_events.legacy_apis.enabled", json!(true)),
            ("dom.maxtouchpoints.testing.value", json!(5)),
            ("dom.meta-viewport.enabled", json!(true)),
            ("ui.useOverlayScrollbars", json!(1)),
            // A finger, which is coarse and does not hover.
            ("ui.primaryPointerCapabilities", json!(1)),
            ("ui.allPointerCapabilities", json!(1)),
        ]);
    }
    settings
}

/// A new folder that only this user can read, because it contains cookies, storage and downloads.
pub fn create(emulation: &Emulation) -> std::io::Result<PathBuf> {
    let name = format!("trailblaze-firefox-{}", trailblaze_core::ids::run_suffix());
    let folder = std::path::absolute(std::env::temp_dir())?.join(name);
    let mut builder = std::fs::DirBuilder::new();
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(&folder)?;
    let filled = fill(&folder, emulation);
    if filled.is_err() {
        let _ = std::fs::remove_dir_all(&folder);
    }
    filled.map(|()| folder)
}

fn fill(folder: &Path, emulation: &Emulation) -> std::io::Result<()> {
    std::fs::create_dir(downloads(folder))?;
    std::fs::write(folder.join("user.js"), user_js(emulation))
}

pub fn downloads(profile: &Path) -> PathBuf {
    profile.join("downloads")
}

fn user_js(emulation: &Emulation) -> String {
    let all = SETTINGS.iter().map(|(name, setting)| (*name, setting.json())).chain(emulated(emulation));
    all.fold(String::new(), |mut text, (name, value)| {
        let _ = writeln!(text, "user_pref({}, {value});", json!(name));
        text
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_phone_has_touch_and_a_viewport_of_its_own() {
        let phone = user_js(&Emulation::device("iPhone 14").unwrap());
        assert!(phone.contains("user_pref(\"dom.w3c_touch_events.enabled\", 1);\n"), "{phone}");
        assert!(phone.contains("user_pref(\"browser.startup.homepage\", \"about:blank\");\n"), "{phone}");
        let dark = user_js(&Emulation { is_dark: Some(true), ..Emulation::default() });
        assert!(dark.contains("content-override\", 0);"), "{dark}");
        assert!(!dark.contains("w3c_touch_events"), "{dark}");
    }
}
