//! The whole file, and the two apps that come with Trailblaze.

use std::sync::{Arc, LazyLock};

use serde_json::Value;
use trailblaze_core::table;
use trailblaze_core::yaml::{Decode, Entries, Problems, Source, Spanned, read};
use trailblaze_protocol::driver::Platform;

use super::check::check;
use super::colour::Colour;
use super::effect::{Effect, Effects};
use super::element::{Children, Element, Swipes};
use super::uses::check_uses;
use super::value::Values;

table! {
    /// A simulated app.
    pub struct App {
        /// The app's names.
        "app" => about: About,
        /// The screen that the app starts with.
        "start" => start: Spanned<String>,
        /// What the app remembers, with the values of a fresh install.
        "state" => state: Values = Values::default(),
        /// Rows for elements that repeat.
        "lists" => lists: Entries<Vec<Item>> = Entries::default(),
        "screens" => screens: Entries<Screen>,
        /// Shown over a screen, which cannot be touched meanwhile.
        "dialogs" => dialogs: Entries<Screen> = Entries::default(),
        /// The tab bar of the screens that have one.
        "tabs" => tabs: Children = Children::default(),
        /// Addresses, or paths of the app's web address, and the screens that they open.
        "links" => links: Entries<Spanned<String>> = Entries::default(),
    }
}

/// One row of a list.
pub type Item = Values;

table! {
    /// What the app is called, on each platform.
    pub struct About {
        /// The app's id where a platform has none of its own.
        "id" => id: Spanned<String>,
        "android" => android: Option<String> = None,
        "ios" => ios: Option<String> = None,
        /// The address of the app.
        "web" => web: Option<String> = None,
        "desktop" => desktop: Option<String> = None,
        /// The name that people know.
        "name" => name: String,
        /// The colour of buttons and links.
        "accent" => accent: Option<Colour> = None,
    }
}

table! {
    /// A screen or a dialog.
    pub struct Screen {
        "title" => title: Option<String> = None,
        /// Whether the tab bar is shown.
        "tabs" => tabs: bool = false,
        /// Whether BACK leaves the app here rather than going to the screen before.
        "root" => root: bool = false,
        "elements" => elements: Children = Children::default(),
        /// What happens when the screen is opened.
        "arrive" => arrive: Effects = Effects::default(),
        /// What BACK does here, in place of going back.
        "back" => back: Effects = Effects::default(),
        /// What ENTER does here where no field has its own answer.
        "enter" => enter: Effects = Effects::default(),
        /// What a swipe does where no element has its own answer.
        "swipe" => swipe: Swipes = Swipes::none(),
    }
}

impl App {
    /// Reads an app file. `None`, or a problem that is an error, means that it cannot be used.
    pub fn read(source: &Arc<Source>, problems: &mut Problems) -> Option<App> {
        let Some(node) = read(source, problems) else {
            if !problems.has_errors() {
                let start = trailblaze_core::yaml::Span { line: 1, column: 1, ..Default::default() };
                problems.error(start, "the file is empty; expected a simulated app");
            }
            return None;
        };
        let app = App::decode(&node, problems);
        check(&node, problems);
        if let Some(app) = &app {
            check_uses(app, problems);
        }
        app.filter(|_| !problems.has_errors())
    }

    /// The JSON Schema of an app file.
    pub fn schema() -> Value {
        let mut schema = <App as Decode>::schema();
        schema["$schema"] = "https://json-schema.org/draft/2020-12/schema".into();
        schema["$defs"] = serde_json::json!({"element": Element::schema(), "effect": Effect::schema()});
        schema
    }

    pub fn accent(&self) -> Option<Colour> {
        self.about.accent
    }

    pub fn name(&self) -> &str {
        &self.about.name
    }

    /// What the app is called on a platform: a package, a bundle, an address.
    pub fn id_for(&self, platform: Platform) -> &str {
        let own = match platform {
            Platform::Android => &self.about.android,
            Platform::Ios => &self.about.ios,
            Platform::Web => &self.about.web,
            Platform::Desktop => &self.about.desktop,
        };
        own.as_deref().unwrap_or(&self.about.id.value)
    }

    /// The screen that an address opens, if it is one of this app's.
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

    /// The address of a screen in a browser.
    pub fn address_of(&self, screen: &str) -> String {
        let home = self.id_for(Platform::Web).trim_end_matches('/');
        let mut paths = self.links.iter().filter(|(path, to)| path.starts_with('/') && to.value == screen);
        match paths.next() {
            Some((path, _)) => format!("{home}{path}"),
            None => format!("{home}/"),
        }
    }
}

/// The app of the wallet example, for trying Trailblaze with nothing else at hand.
pub fn demo_app() -> Arc<App> {
    static DEMO: LazyLock<Arc<App>> =
        LazyLock::new(|| embedded("wallet.app.yaml", include_str!("../../../../../examples/wallet/wallet.app.yaml")));
    Arc::clone(&DEMO)
}

/// The home screen, itself an app whose list `apps` each device fills in.
pub fn launcher() -> Arc<App> {
    static LAUNCHER: LazyLock<Arc<App>> =
        LazyLock::new(|| embedded("launcher.app.yaml", include_str!("launcher.app.yaml")));
    Arc::clone(&LAUNCHER)
}

fn embedded(name: &str, text: &str) -> Arc<App> {
    let source = Source::new(name, text);
    let mut problems = Problems::new(&source);
    match App::read(&source, &mut problems) {
        Some(app) => Arc::new(app),
        None => panic!("the embedded {name} is checked by a test: {problems:?}"),
    }
}
