//! What a text must be: the whole text, a part of it, or a pattern.

use super::super::row::{ParamRow, ParamType, optional};
use crate::engine::cx::Cx;
use crate::engine::fault::Stop;
use crate::engine::tool::{Args, Need};
use crate::screen::fold;
use crate::selector::{Case, Pattern, invalid_pattern};

pub const IS: ParamRow = optional("is", ParamType::Text, "The whole expected text.");
pub const CONTAINS: ParamRow = optional("contains", ParamType::Text, "A part of the expected text.");
pub const MATCHES: ParamRow =
    optional("matches", ParamType::Pattern, "A regular expression that matches the whole expected text.");
pub const COMPARED: Need = Need {
    one_of: &["is", "contains", "matches"],
    otherwise: "nothing to compare with: pass `is`, `contains` or `matches`",
};

/// What a text must be. All that is given must hold.
pub struct ExpectedText {
    is: Option<Wording>,
    contains: Option<Wording>,
    matches: Option<(String, Pattern)>,
    /// Whether whitespace is as it is. Otherwise, as on screens, it is collapsed.
    is_exact: bool,
}

/// A text that may contain a secret, which a screen shows and an observation hides.
struct Wording {
    real: String,
    shown: String,
}

impl ExpectedText {
    pub fn of(cx: &Cx, args: &Args) -> Result<ExpectedText, Stop> {
        let secrets = &cx.session.secrets;
        let wording = |text: &str| Wording { real: secrets.reveal(text), shown: secrets.redact(text).into_owned() };
        let (is, contains, matches) = (args.text("is"), args.text("contains"), args.text("matches"));
        if is.is_none() && contains.is_none() && matches.is_none() {
            return Err(COMPARED.stop());
        }
        let pattern = |source: &str| Pattern::new(secrets.reveal_in_pattern(source), Case::Sensitive);
        let matches = matches.map(|source| (secrets.redact(source).into_owned(), pattern(source)));
        // A text that is no expression would only match itself.
        if let Some((source, _)) = matches.as_ref().filter(|(_, pattern)| pattern.is_invalid()) {
            return Err(Stop::failed(invalid_pattern(source)));
        }
        Ok(ExpectedText { is: is.map(wording), contains: contains.map(wording), matches, is_exact: false })
    }

    /// The same for a text in which whitespace counts, such as the value of a field.
    pub fn exact(self) -> ExpectedText {
        ExpectedText { is_exact: true, ..self }
    }

    pub fn holds(&self, saw: &str) -> bool {
        let read = |text: &str| if self.is_exact { text.to_string() } else { fold(text) };
        let saw = read(saw);
        let is = |wording: &Wording| saw == read(&wording.real) || saw == read(&wording.shown);
        let contains = |wording: &Wording| saw.contains(&read(&wording.real)) || saw.contains(&read(&wording.shown));
        self.is.as_ref().is_none_or(is)
            && self.contains.as_ref().is_none_or(contains)
            && self.matches.as_ref().is_none_or(|(_, pattern)| pattern.matches(&saw))
    }

    /// What is expected of something, as in `the text "Pay"` or `a text containing "Pay"`.
    pub fn of_a(&self, named: &str) -> String {
        let article = if named.starts_with('a') { "an" } else { "a" };
        let whole = match &self.is {
            Some(text) => format!("the {named} \"{}\"", text.shown),
            None => format!("{article} {named}"),
        };
        let contains = self.contains.as_ref().map(|text| format!("containing \"{}\"", text.shown));
        let matches = self.matches.as_ref().map(|(source, _)| format!("matching `{source}`"));
        let parts: Vec<String> = [contains, matches].into_iter().flatten().collect();
        if parts.is_empty() { whole } else { format!("{whole} {}", parts.join(" and ")) }
    }
}
