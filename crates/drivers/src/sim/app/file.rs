//! The app file, and the two apps that ship with Trailblaze.

use std::sync::{Arc, LazyLock};

use serde_json::Value;
use trailblaze_core::table;
use trailblaze_core::yaml::{Decode, Entries, Problems, Source, Spanned, read};
use trailblaze_protocol::driver::Platform;

use super::check::check;
use super::colour::Colour;
use super::effect::{AppEffect, Effects};
use super::element::{Children, Element, Swipes};
use super::uses::check_uses;
use super::value::Values;

table! {
    /// A simulated app.
    pub struct SimApp {
        /// The app's names.
        "app" => about: About,
        /// The screen that the app starts with.
        "start" => start: Spanned<String>,
        /// The values that the app stores, as in a fresh install.
        "state" => state: Values = Values::default(),
        /// Rows for elements that repeat.
        "lists" => lists: Entries<Vec<Item>> = Entries::default(),
        /// The lists that the app's server keeps: they are the same on all simulated devices of a run.
        "shared" => shared: Vec<Spanned<String>> = Vec::new(),
        "screens" => screens: Entries<AppScreen>,
        /// Dialogs, shown over a screen, which cannot be touched meanwhile.
        "dialogs" => dialogs: Entries<AppScreen> = Entries::default(),
        /// The tab bar of the screens that have one.
        "tabs" => tabs: Children = Children::default(),
        /// URLs, or paths below the app's web address, and the screens that they open.
        "links" => links: Entries<Spanned<String>> = Entries::default(),
    }
}

/// One row of a list.
pub type Item = Values;

table! {
    /// The names of the app on each platform.
    pub struct About {
        /// The app's id on platforms without an id of their own.
        "id" => id: Spanned<String>,
        "android" => android: Option<String> = None,
        "ios" => ios: Option<String> = None,
        /// The web address of the app.
        "web" => web: Option<String> = None,
        "desktop" => desktop: Option<String> = None,
        /// The name shown to users.
        "name" => name: String,
        /// The colour of buttons and links.
        "accent" => accent: Option<Colour> = None,
    }
}

table! {
    /// A screen or a dialog.
    pub struct AppScreen {
        "title" => title: Option<String> = None,
        /// Whether the tab bar is shown.
        "tabs" => tabs: bool = false,
        /// Whether BACK leaves the app here instead of going to the previous screen.
        "root" => root: bool = false,
        "elements" => elements: Children = Children::default(),
        /// Effects when the screen is opened.
        "arrive" => arrive: Effects = Effects::default(),
        /// Effects of BACK on this screen, instead of going back.
        "back" => back: Effects = Effects::default(),
        /// Effects of ENTER on this screen, if no field handles it.
        "enter" => enter: Effects = Effects::default(),
        /// Effects of a swipe, if no element handles it.
        "swipe" => swipe: Swipes = Swipes::none(),
    }
}

impl SimApp {
    /// Parses an app file. `None`, or a problem that is an error, means that it cannot be used.
    pub fn read(source: &Arc<Source>, problems: &mut Problems) -> Option<SimApp> {
        let Some(node) = read(source, problems) else {
            if !problems.has_errors() {
                let start = trailblaze_core::yaml::Span { line: 1, column: 1, ..Default::default() };
                problems.error(start, "the file is empty; expected a simulated app");
            }
            return None;
        };
        let app = SimApp::decode(&node, problems);
        check(&node, problems);
        if let Some(app) = &app {
            check_uses(app, problems);
        }
        app.filter(|_| !problems.has_errors())
    }

    /// The JSON Schema of an app file.
    pub fn schema() -> Value {
        let mut schema = <SimApp as Decode>::schema();
        schema["$schema"] = "https://json-schema.org/draft/2020-12/schema".into();
        schema["$defs"] = serde_json::json!({"element": Element::schema(), "effect": AppEffect::schema()});
        schema
    }

    /// Whether all devices of a run have the same rows of a list.
    pub fn is_shared(&self, list: &str) -> bool {
        self.shared.iter().any(|shared| shared.value == list)
    }

    pub fn accent(&self) -> Option<Colour> {
        self.about.accent
    }

    pub fn name(&self) -> &str {
        &self.about.name
    }

    /// The app's identifier on a platform: a package, a bundle or an address.
    pub fn id_for(&self, platform: Platform) -> &str {
        let own = match platform {
            Platform::Android => &self.about.android,
            Platform::Ios => &self.about.ios,
            Platform::Web => &self.about.web,
            Platform::Desktop => &self.about.desktop,
        };
        own.as_deref().unwrap_or(&self.about.id.value)
    }

    /// The screen that a URL opens, if it belongs to this app.
    pub fn screen_for_link(&self, url: &str, platform: Platform) -> Option<&str> {
        let exact = self.links.get(url).map(|screen| screen.value.as_str());
        let home = self.id_for(platform).trim_end_matches('/');
        let path = url.strip_prefix(home).filter(|rest| rest.is_empty() || rest.starts_with(['/', '?', '#']));
        exact.or_else(|| {
            let path = path?.split(['?', '#']).next().unwrap_or_default();
            match path {
                "" | "/" => Some(self.start.value.as_str()),
                path => self.links.get(path).map(|screen| screen.value.as_str()),
            }
        })
    }

    /// The URL of a screen in a browser.
    pub fn address_of(&self, screen: &str) -> String {
        let home = self.id_for(Platform::Web).trim_end_matches('/');
        let mut paths = self.links.iter().filter(|(path, to)| path.starts_with('/') && to.value == screen);
        match paths.next() {
            Some((path, _)) => format!("{home}{path}"),
            None => format!("{home}/"),
        }
    }
}

/// The app of the wallet example, for trying Trailblaze without anything else.
pub fn demo_app() -> Arc<SimApp> {
    static DEMO: LazyLock<Arc<SimApp>> =
        LazyLock::new(|| embedded("wallet.app.yaml", include_str!("../../../../../examples/wallet/wallet.app.yaml")));
    Arc::clone(&DEMO)
}

/// The home screen, itself an app; each device fills its list `apps`.
pub fn launcher() -> Arc<SimApp> {
    static LAUNCHER: LazyLock<Arc<SimApp>> =
        LazyLock::new(|| embedded("launcher.app.yaml", include_str!("launcher.app.yaml")));
    Arc::clone(&LAUNCHER)
}

fn embedded(name: &str, text: &str) -> Arc<SimApp> {
    let source = Source::new(name, text);
    let mut problems = Problems::new(&source);
    match SimApp::read(&source, &mut problems) {
        Some(app) => Arc::new(app),
        None => panic!("the embedded {name} is checked by a test: {problems:?}"),
    }
}
