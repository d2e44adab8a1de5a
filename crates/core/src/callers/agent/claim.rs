//! What a statement says in words of states and amounts: that something is disabled, or that there are at least ten. What is not
//! clear is nobody's claim: an assertion about it is doubtful then, which costs a request.

use std::fmt;

/// The words of a state, in the languages that have them in common use.
struct StateWords {
    /// The argument of the assertion.
    flag: &'static str,
    yes: &'static str,
    no: &'static str,
}

const STATES: [StateWords; 5] = [
    StateWords {
        flag: "enabled",
        yes: "enabled active clickable tappable available usable can aktiv aktiviert activé activo habilitado attivo ativo",
        no: "disabled inactive greyed grayed unavailable unusable cannot inaktiv deaktiviert ausgegraut désactivé inactivo \
             deshabilitado disattivo inativo",
    },
    StateWords {
        flag: "checked",
        yes: "checked ticked on angehakt coché marcado",
        no: "unchecked unticked off abgehakt décoché desmarcado",
    },
    StateWords {
        flag: "selected",
        yes: "selected chosen current ausgewählt sélectionné seleccionado selezionato selecionado",
        no: "unselected deselected abgewählt désélectionné deseleccionado",
    },
    StateWords { flag: "focused", yes: "focus focused fokussiert", no: "unfocused blurred" },
    StateWords { flag: "inView", yes: "view viewport", no: "offscreen" },
];

/// Words directly before or after a word of a state that turn it into its opposite.
const NOT: &str = "not no never isnt longer neither nicht kein nie pas no non não niet";

/// Whether a statement says that something has a state, by the name of the argument for it; `None` if it does not clearly say
/// either.
pub fn claimed_state(statement: &str, flag: &str) -> Option<bool> {
    let state = STATES.iter().find(|state| state.flag == flag)?;
    let words = words(statement);
    let is_not = |at: usize| words.get(at).is_some_and(|word| is_one(word, NOT));
    let mut claims = words.iter().enumerate().filter_map(|(at, word)| {
        let is_so = match (is_one(word, state.yes), is_one(word, state.no)) {
            (true, false) => true,
            (false, true) => false,
            _ => return None,
        };
        let before = at.saturating_sub(2)..at;
        let is_negated = before.into_iter().any(is_not) || is_not(at + 1);
        Some(is_so != is_negated)
    });
    let first = claims.next()?;
    claims.all(|claim| claim == first).then_some(first)
}

/// How a number compares with another.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Bound {
    Equals,
    AtLeast,
    AtMost,
    MoreThan,
    LessThan,
}

/// Phrases before or after a number, the longer ones first.
const BOUNDS: &[(&str, Bound)] = &[
    ("no fewer than", Bound::AtLeast),
    ("no less than", Bound::AtLeast),
    ("not less than", Bound::AtLeast),
    ("no more than", Bound::AtMost),
    ("not more than", Bound::AtMost),
    ("at least", Bound::AtLeast),
    ("or more", Bound::AtLeast),
    ("or above", Bound::AtLeast),
    ("minimum", Bound::AtLeast),
    ("mindestens", Bound::AtLeast),
    ("au moins", Bound::AtLeast),
    ("al menos", Bound::AtLeast),
    ("at most", Bound::AtMost),
    ("or fewer", Bound::AtMost),
    ("or less", Bound::AtMost),
    ("or below", Bound::AtMost),
    ("up to", Bound::AtMost),
    ("maximum", Bound::AtMost),
    ("höchstens", Bound::AtMost),
    ("au plus", Bound::AtMost),
    ("como máximo", Bound::AtMost),
    ("more than", Bound::MoreThan),
    ("greater than", Bound::MoreThan),
    ("larger than", Bound::MoreThan),
    ("higher than", Bound::MoreThan),
    ("exceeds", Bound::MoreThan),
    ("above", Bound::MoreThan),
    ("over", Bound::MoreThan),
    ("mehr als", Bound::MoreThan),
    ("plus de", Bound::MoreThan),
    ("más de", Bound::MoreThan),
    ("less than", Bound::LessThan),
    ("fewer than", Bound::LessThan),
    ("smaller than", Bound::LessThan),
    ("lower than", Bound::LessThan),
    ("below", Bound::LessThan),
    ("under", Bound::LessThan),
    ("weniger als", Bound::LessThan),
    ("moins de", Bound::LessThan),
    ("menos de", Bound::LessThan),
];

const COUNTED: [&str; 11] =
    ["two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve"];

/// How large a statement says that a number is, or what an assertion proved of it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Amount {
    pub bound: Bound,
    pub number: f64,
}

impl Amount {
    /// Whether every number of which this holds is one of which the other one holds too.
    pub fn implies(self, other: Amount) -> bool {
        let (mine, theirs) = (self.number, other.number);
        #[expect(clippy::float_cmp, reason = "equal decimal texts are equal numbers")]
        match (self.bound, other.bound) {
            (Bound::Equals, Bound::Equals) => mine == theirs,
            (Bound::Equals, Bound::AtLeast) => mine >= theirs,
            (Bound::Equals, Bound::AtMost) => mine <= theirs,
            (Bound::Equals, Bound::MoreThan) => mine > theirs,
            (Bound::Equals, Bound::LessThan) => mine < theirs,
            (Bound::AtLeast | Bound::MoreThan, Bound::AtLeast) | (Bound::MoreThan, Bound::MoreThan) => mine >= theirs,
            (Bound::AtLeast, Bound::MoreThan) => mine > theirs,
            (Bound::AtMost | Bound::LessThan, Bound::AtMost) | (Bound::LessThan, Bound::LessThan) => mine <= theirs,
            (Bound::AtMost, Bound::LessThan) => mine < theirs,
            _ => false,
        }
    }
}

impl fmt::Display for Amount {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let words = match self.bound {
            Bound::Equals => "",
            Bound::AtLeast => "at least ",
            Bound::AtMost => "at most ",
            Bound::MoreThan => "more than ",
            Bound::LessThan => "less than ",
        };
        write!(f, "{words}{}", self.number)
    }
}

/// What a statement says about an amount.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum ClaimedAmount {
    /// It names no number.
    None,
    Is(Amount),
    /// It names several numbers or bounds, or denies one.
    Unclear,
}

pub fn claimed_amount(statement: &str) -> ClaimedAmount {
    let words = words(statement);
    let numbers: Vec<f64> = words.iter().filter_map(|word| number(word)).collect();
    let mut text = format!(" {} ", words.join(" "));
    let mut bounds = Vec::new();
    for (phrase, bound) in BOUNDS {
        let padded = format!(" {phrase} ");
        if text.contains(&padded) {
            text = text.replace(&padded, " ");
            bounds.push(*bound);
        }
    }
    let is_denied = words.iter().any(|word| is_one(word, NOT)) && text.split(' ').any(|word| is_one(word, NOT));
    match (numbers.as_slice(), bounds.as_slice()) {
        ([], []) => ClaimedAmount::None,
        (&[number], &[]) if !is_denied => ClaimedAmount::Is(Amount { bound: Bound::Equals, number }),
        (&[number], &[bound]) if !is_denied => ClaimedAmount::Is(Amount { bound, number }),
        _ => ClaimedAmount::Unclear,
    }
}

/// The words of a statement without what it quotes, in small letters.
fn words(statement: &str) -> Vec<String> {
    let mut is_quoted = false;
    let unquoted: String = statement
        .chars()
        .filter(|c| {
            let is_quote = matches!(c, '"' | '“' | '”' | '„' | '«' | '»');
            is_quoted ^= is_quote;
            !is_quote && !is_quoted
        })
        .collect();
    let separated = |c: char| !c.is_alphanumeric() && !matches!(c, '\'' | '’' | '.' | ',' | '-' | '−');
    let words = unquoted.split(separated).map(|word| word.trim_matches(|c: char| !c.is_alphanumeric() && c != '-'));
    let mut found = Vec::new();
    for word in words.filter(|word| !word.is_empty()) {
        let word = word.to_lowercase().replace('’', "'");
        match word.strip_suffix("n't") {
            Some("ca") => found.push("cannot".to_string()),
            Some(stem) => found.extend([stem.to_string(), "not".to_string()]),
            None => found.push(word),
        }
    }
    found
}

fn is_one(word: &str, words: &str) -> bool {
    words.split_whitespace().any(|own| own == word)
}

/// The number that a word is, with groups of digits or decimals.
fn number(word: &str) -> Option<f64> {
    if let Some(at) = COUNTED.iter().position(|name| *name == word) {
        return Some(f64::from(u8::try_from(at).ok()?) + 2.0);
    }
    let digits: String = word.chars().filter(|c| c.is_ascii_digit() || ".,-−'".contains(*c)).collect();
    if !digits.contains(|c: char| c.is_ascii_digit()) || word.chars().filter(|c| c.is_alphabetic()).count() > 0 {
        return None;
    }
    let last = digits.rfind(['.', ',']);
    let mark = last.filter(|at| {
        let (mark, after) = (digits.as_bytes()[*at], &digits[at + 1..]);
        let times = digits.bytes().filter(|byte| *byte == mark).count();
        times == 1 && (after.len() != 3 || digits[..*at].contains(['.', ',', '\'']))
    });
    let plain: String = digits
        .char_indices()
        .filter_map(|(at, c)| match c {
            '-' | '−' => Some('-'),
            '.' | ',' => (Some(at) == mark).then_some('.'),
            c => c.is_ascii_digit().then_some(c),
        })
        .collect();
    plain.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check_state(statement: &str, flag: &str, expected: Option<bool>) {
        assert_eq!(claimed_state(statement, flag), expected, "{statement}: {flag}");
    }

    fn check_amount(statement: &str, expected: &str) {
        let told = match claimed_amount(statement) {
            ClaimedAmount::None => "none".to_string(),
            ClaimedAmount::Is(amount) => amount.to_string(),
            ClaimedAmount::Unclear => "unclear".to_string(),
        };
        assert_eq!(told, expected, "{statement}");
    }

    #[test]
    fn a_state_is_read_with_its_denial() {
        check_state("Pay is disabled", "enabled", Some(false));
        check_state("Pay is not disabled", "enabled", Some(true));
        check_state("Pay isn't enabled yet", "enabled", Some(false));
        check_state("One can pay", "enabled", Some(true));
        check_state("One can't pay", "enabled", Some(false));
        check_state("The button \"Disabled items\" is enabled", "enabled", Some(true));
        check_state("Pay is enabled and Cancel is disabled", "enabled", None);
        check_state("Pay is there", "enabled", None);
        check_state("Der Knopf ist nicht aktiv", "enabled", Some(false));
        check_state("The box is unchecked", "checked", Some(false));
        check_state("The box has no focus", "focused", Some(false));
    }

    #[test]
    fn an_amount_is_read_with_its_bound() {
        check_amount("The balance is at least 10", "at least 10");
        check_amount("There are no more than three items", "at most 3");
        check_amount("It costs less than $1,200.50", "less than 1200.5");
        check_amount("It costs 1,200", "1200");
        check_amount("5 or more items are listed", "at least 5");
        check_amount("There are not 5 items", "unclear");
        check_amount("There are between 5 and 10 items", "unclear");
        check_amount("There are several items", "none");
    }
}
