//! Effects of a touch, a key, a text or the passing of time.

use serde_json::{Value, json};
use trailblaze_core::table;
use trailblaze_core::yaml::{Decode, Millis, Problems, Span, Spanned, YamlNode};

use super::value::Values;

/// One effect and its condition.
#[derive(Debug, Clone, PartialEq)]
pub struct AppEffect {
    pub conditions: Conditions,
    pub after: Option<Millis>,
    pub does: Does,
}

#[derive(Debug, Clone, PartialEq)]
pub enum Does {
    Goto(Spanned<String>),
    Back,
    Home,
    Set(Values),
    Add(Values),
    Toggle(String),
    Dialog(Spanned<String>),
    Dismiss,
    Toast(String),
    Append(Append),
    Empty(Spanned<String>),
    Open(String),
}

/// The condition under which something is shown, enabled or done.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Conditions {
    /// All of them must hold.
    pub when: Values,
    /// None of them may hold.
    pub unless: Values,
}

table! {
    /// A row to add to a list.
    pub struct Append {
        /// The list.
        "to" => to: Spanned<String>,
        /// The values of the new row, which is added at the top.
        "item" => item: Values,
    }
}

table! {
    /// An effect: one thing to do, and when to do it.
    pub struct EffectRow {
        /// Only if the state has all of these values.
        "when" => when: Values = Values::default(),
        /// Only if the state has none of these values.
        "unless" => unless: Values = Values::default(),
        /// Delay, after which the effect happens if the app is still on the same screen.
        "after" => after: Option<Millis> = None,
        /// Opens a screen.
        "goto" => goto: Option<Spanned<String>> = None,
        /// Goes back to the previous screen.
        "back" => back: bool = false,
        /// Leaves the app for the home screen.
        "home" => home: bool = false,
        /// Sets values of the state.
        "set" => set: Option<Values> = None,
        /// Adds a number, which may be negative, to values of the state.
        "add" => add: Option<Values> = None,
        /// Toggles a value of the state between `true` and `false`.
        "toggle" => toggle: Option<String> = None,
        /// Shows a dialog.
        "dialog" => dialog: Option<Spanned<String>> = None,
        /// Closes the top dialog.
        "dismiss" => dismiss: bool = false,
        /// Shows a short message for two seconds.
        "toast" => toast: Option<String> = None,
        /// Adds a row to a list.
        "append" => append: Option<Append> = None,
        /// Removes all rows of a list.
        "empty" => empty: Option<Spanned<String>> = None,
        /// Opens another app by its id, or one of its screens by a URL.
        "open" => open: Option<String> = None,
    }
}

const VERBS: &str = "goto, back, home, set, add, toggle, dialog, dismiss, toast, append, empty, open";

impl Decode for AppEffect {
    fn decode(node: &YamlNode, problems: &mut Problems) -> Option<Self> {
        if let Some(word) = node.raw() {
            let does = match word {
                "back" => Does::Back,
                "home" => Does::Home,
                "dismiss" => Does::Dismiss,
                _ => {
                    problems.unknown(node.span, "effect", word, ["back", "home", "dismiss"]);
                    return None;
                }
            };
            return Some(AppEffect { conditions: Conditions::default(), after: None, does });
        }
        let row = EffectRow::decode(node, problems)?;
        let conditions = Conditions { when: row.when.clone(), unless: row.unless.clone() };
        Some(AppEffect { conditions, after: row.after, does: verb(row, node.span, problems)? })
    }

    fn schema() -> Value {
        json!({"anyOf": [{"enum": ["back", "home", "dismiss"]}, EffectRow::schema()]})
    }
}

fn verb(row: EffectRow, span: Span, problems: &mut Problems) -> Option<Does> {
    let mut verbs: Vec<Does> = [
        row.goto.map(Does::Goto),
        row.back.then_some(Does::Back),
        row.home.then_some(Does::Home),
        row.set.map(Does::Set),
        row.add.map(Does::Add),
        row.toggle.map(Does::Toggle),
        row.dialog.map(Does::Dialog),
        row.dismiss.then_some(Does::Dismiss),
        row.toast.map(Does::Toast),
        row.append.map(Does::Append),
        row.empty.map(Does::Empty),
        row.open.map(Does::Open),
    ]
    .into_iter()
    .flatten()
    .collect();
    match verbs.len() {
        1 => verbs.pop(),
        0 => {
            problems.error_with_hint(span, "the effect does nothing", format!("add one of: {VERBS}"));
            None
        }
        _ => {
            problems.error_with_hint(span, "the effect does several things", "write each as its own item of the list");
            None
        }
    }
}

/// A list of effects, or a single one.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Effects(pub Vec<AppEffect>);

impl Effects {
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Whether one of them opens this screen.
    pub fn lead_to(&self, screen: &str) -> bool {
        self.0.iter().any(|effect| matches!(&effect.does, Does::Goto(to) if to.value == screen))
    }
}

impl Decode for Effects {
    fn decode(node: &YamlNode, problems: &mut Problems) -> Option<Self> {
        if node.items().is_some() {
            return Vec::decode(node, problems).map(Effects);
        }
        AppEffect::decode(node, problems).map(|effect| Effects(vec![effect]))
    }

    fn schema() -> Value {
        let one = json!({"$ref": "#/$defs/effect"});
        json!({"anyOf": [one, {"type": "array", "items": one}]})
    }
}
