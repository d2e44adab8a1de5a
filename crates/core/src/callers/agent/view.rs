//! What the model sees of a screen: its text, and a picture if the text is not enough.

use std::collections::HashMap;

use crate::engine::ask::{ModelAccess, Vision};
use crate::engine::cx::Cx;
use crate::engine::fault::Stop;
use crate::model::EncodedPicture;
use crate::query::{Checks, ElementDescription, Find, Query, QueryTarget};
use crate::refs;
use crate::screen::{Node, Screen};
use crate::snapshot;

/// The longest side of a picture, unless the project sets another.
const LONGEST_SIDE: u32 = 1_024;

/// Words of steps that are about how something looks.
const LOOKS: &[&str] = &[
    "color",
    "colour",
    "look",
    "icon",
    "image",
    "picture",
    "photo",
    "logo",
    "screenshot",
    "red",
    "green",
    "blue",
    "yellow",
    "grey",
    "gray",
    "align",
    "overlap",
    "chart",
    "graph",
    "map",
    "canvas",
    "draw",
    "layout",
    "bold",
    "dark mode",
];

/// A screen, as it was shown to the model.
pub struct ModelView {
    pub text: String,
    pub picture: Option<EncodedPicture>,
    /// The URL or app in front.
    pub app: Option<String>,
    /// The line of each ref.
    lines: HashMap<String, String>,
    screen: Screen,
}

/// Looks at the screen, and makes its refs usable in calls. `text` is what the model is asked to do.
pub async fn look(cx: &Cx, access: &ModelAccess, text: &str) -> Result<ModelView, Stop> {
    look_with(cx, access, text, access.settings.vision).await
}

/// The same with a picture, if the model accepts pictures.
pub async fn with_picture(cx: &Cx, access: &ModelAccess) -> Result<ModelView, Stop> {
    look_with(cx, access, "", Vision::Always).await
}

/// The same without a picture.
pub async fn as_text(cx: &Cx, access: &ModelAccess) -> Result<ModelView, Stop> {
    look_with(cx, access, "", Vision::Never).await
}

async fn look_with(cx: &Cx, access: &ModelAccess, text: &str, vision: Vision) -> Result<ModelView, Stop> {
    let info = access.model.describe();
    let vision = if info.has_vision { vision } else { Vision::Never };
    let details = snapshot::Details::default();
    let device = &cx.session.device;
    let (screen, masks) = match vision {
        Vision::Always => device.show_pictured(cx, &details).await?,
        Vision::Auto if is_about_looks(text) => device.show_pictured(cx, &details).await?,
        Vision::Never => (device.show_with(cx, &details).await?, Vec::new()),
        Vision::Auto => {
            let screen = device.show_with(cx, &details).await?;
            match is_text_enough(&screen) {
                true => (screen, Vec::new()),
                false => device.show_pictured(cx, &details).await?,
            }
        }
    };
    let longest = info.max_picture.unwrap_or(LONGEST_SIDE);
    let encoded = screen
        .picture
        .as_ref()
        .and_then(|picture| cx.session.artifacts.encode_within(picture, &masks, screen.size, longest));
    let picture = encoded.map(|bytes| EncodedPicture { media_type: "image/png".to_string(), bytes });
    // The snapshot addresses people at a command line.
    let text = snapshot::text(&screen, &details).replace(" hidden — use --offscreen to show)", "; scroll to see them)");
    let lines = lines(&text);
    Ok(ModelView { text, picture, app: screen.app.clone(), lines, screen })
}

impl ModelView {
    /// The ref of the one element that a description means, such as `button "Pay"`. `None` for a ref, and for what is not there or
    /// not unique: the tool then waits for it, or says what is wrong.
    pub fn described(&self, text: &str) -> Option<String> {
        let key = refs::of_line(text).unwrap_or(text.trim());
        if self.lines.contains_key(key) {
            return None;
        }
        let description = ElementDescription::parse(text).ok()?;
        let query = Query { what: QueryTarget::Described(Box::new(description)), index: None };
        match query.search(&self.screen, Checks::Visible) {
            Find::Found(found) if found.count == 1 => found.reference.filter(|found| self.lines.contains_key(found)),
            Find::Found(_) | Find::Not(_) => None,
        }
    }

    /// The line of the element with this ref.
    pub fn line(&self, reference: &str) -> Option<&str> {
        self.lines.get(refs::of_line(reference).unwrap_or(reference.trim())).map(String::as_str)
    }

    /// The text that the element with this ref shows, if it only shows something.
    pub fn shown_text(&self, reference: &str) -> Option<String> {
        let key = refs::of_line(reference).unwrap_or(reference.trim());
        let node = self.screen.root.walk().find(|node| node.reference.as_deref() == Some(key))?;
        if node.is_interactive() || node.is_editable() {
            return None;
        }
        node.text().map(str::trim).filter(|text| !text.is_empty()).map(str::to_string)
    }

    /// A ref whose element is no longer what the model saw.
    pub fn changed_ref<'a>(&self, newer: &ModelView, refs: Vec<&'a str>) -> Option<&'a str> {
        refs.into_iter().find(|reference| {
            let key = refs::of_line(reference).unwrap_or(reference.trim());
            let is_same = |line| newer.lines.get(key) == Some(line) && newer.document_of(key) == self.document_of(key);
            self.lines.get(key).is_some_and(|line| !is_same(line))
        })
    }

    fn document_of(&self, reference: &str) -> Option<u64> {
        self.screen.root.walk().find(|node| node.reference.as_deref() == Some(reference))?.document
    }
}

fn lines(text: &str) -> HashMap<String, String> {
    text.lines()
        .filter_map(|line| refs::split_line(line).map(|(reference, rest)| (reference.to_string(), rest.to_string())))
        .collect()
}

fn is_about_looks(text: &str) -> bool {
    let text = text.to_lowercase();
    let words: Vec<&str> = text.split(|c: char| !c.is_alphanumeric()).collect();
    LOOKS.iter().any(|look| {
        let is_word = |word: &&str| word.strip_prefix(look).is_some_and(|rest| matches!(rest, "" | "s" | "ed" | "ing"));
        if look.contains(' ') { text.contains(look) } else { words.iter().any(is_word) }
    })
}

/// Whether everything that can be used has a name, and nothing is drawn.
fn is_text_enough(screen: &Screen) -> bool {
    let is_visible = |node: &&Node| screen.visible_part(node).is_some();
    let is_canvas = |node: &Node| node.class().is_some_and(|class| class.eq_ignore_ascii_case("canvas"));
    let is_nameless = |node: &Node| {
        let is_named = |node: &Node| node.text().is_some() || node.label().is_some() || node.developer_id().is_some();
        node.is_interactive() && !node.walk().any(is_named)
    };
    !screen.root.walk().filter(is_visible).any(|node| is_canvas(node) || is_nameless(node))
}

#[cfg(test)]
mod tests {
    use super::is_about_looks;

    #[test]
    fn a_step_about_looks_is_recognized_by_whole_words() {
        for text in ["The button is red", "The logo is shown", "The chart's bars overlap", "It looks right"] {
            assert!(is_about_looks(text), "{text}");
        }
        for text in ["Pay Fred", "Sign in as redford", "Tap Send money", "Greenland is selected"] {
            assert!(!is_about_looks(text), "{text}");
        }
    }
}
