//! Numbers in texts, such as `1,234.50 €`, and comparisons with them.

use std::fmt;

use super::super::row::{ParamRow, ParamType, optional};
use crate::engine::fault::Stop;
use crate::engine::tool::{Args, Need};

pub const EQUALS: ParamRow = optional("equals", ParamType::Number, "The expected number.");
pub const AT_LEAST: ParamRow = optional("atLeast", ParamType::Number, "The number is this or more.");
pub const AT_MOST: ParamRow = optional("atMost", ParamType::Number, "The number is this or less.");
pub const MORE_THAN: ParamRow = optional("moreThan", ParamType::Number, "The number is more than this.");
pub const LESS_THAN: ParamRow = optional("lessThan", ParamType::Number, "The number is less than this.");
pub const COMPARED: Need = Need {
    one_of: &["equals", "atLeast", "atMost", "moreThan", "lessThan"],
    otherwise: "nothing to compare with: pass `equals`, `atLeast`, `atMost`, `moreThan` or `lessThan`",
};

/// What a number must be. All that is given must hold.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct ExpectedNumber {
    equals: Option<f64>,
    at_least: Option<f64>,
    at_most: Option<f64>,
    more_than: Option<f64>,
    less_than: Option<f64>,
}

impl ExpectedNumber {
    pub fn of(args: &Args) -> Result<ExpectedNumber, Stop> {
        let expected = ExpectedNumber {
            equals: args.number("equals"),
            at_least: args.number("atLeast"),
            at_most: args.number("atMost"),
            more_than: args.number("moreThan"),
            less_than: args.number("lessThan"),
        };
        if expected == ExpectedNumber::default() {
            return Err(COMPARED.stop());
        }
        Ok(expected)
    }

    pub fn holds(&self, number: f64) -> bool {
        // Both are decimal numbers of few digits, read by the same parser.
        #[expect(clippy::float_cmp, reason = "equal decimal texts are equal numbers")]
        let equals = self.equals.is_none_or(|wanted| number == wanted);
        equals
            && self.at_least.is_none_or(|least| number >= least)
            && self.at_most.is_none_or(|most| number <= most)
            && self.more_than.is_none_or(|bound| number > bound)
            && self.less_than.is_none_or(|bound| number < bound)
    }
}

impl fmt::Display for ExpectedNumber {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let bounds = [
            ("", self.equals),
            ("at least ", self.at_least),
            ("at most ", self.at_most),
            ("more than ", self.more_than),
            ("less than ", self.less_than),
        ];
        let all = bounds.into_iter().filter_map(|(words, bound)| bound.map(|bound| format!("{words}{bound}")));
        f.write_str(&all.collect::<Vec<_>>().join(" and "))
    }
}

/// Why a text is not one number.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum NoNumber {
    #[error("it has no number")]
    None,
    #[error("it has several numbers; name the one that counts with `pattern`, as in `of (\\d+) items`")]
    Several,
    #[error("`{0}` can be read in two ways; say with `decimal` which of `.` and `,` is before the decimals")]
    Ambiguous(String),
}

/// The only number in a text. Digits may be grouped with `,`, `.`, `'`, `’`, `_` or spaces that do not break.
pub fn number_in(text: &str, decimal: Option<char>) -> Result<f64, NoNumber> {
    let mut found = numbers(text);
    match (found.pop(), found.is_empty()) {
        (None, _) => Err(NoNumber::None),
        (Some(_), false) => Err(NoNumber::Several),
        (Some(number), true) => value(&number, decimal),
    }
}

/// The runs of digits and separators in a text, each with its sign.
fn numbers(text: &str) -> Vec<String> {
    let chars: Vec<char> = text.chars().collect();
    let is_digit = |at: usize| chars.get(at).is_some_and(char::is_ascii_digit);
    let mut found = Vec::new();
    let mut at = 0;
    while at < chars.len() {
        if !is_digit(at) {
            at += 1;
            continue;
        }
        let start = at;
        while is_digit(at) || (chars.get(at).is_some_and(|c| is_separator(*c)) && is_digit(at + 1)) {
            at += 1;
        }
        let digits: String = chars[start..at].iter().collect();
        found.push(if is_negative(&chars[..start]) { format!("-{digits}") } else { digits });
    }
    found
}

fn is_separator(c: char) -> bool {
    matches!(c, '.' | ',' | '\'' | '’' | '_' | '\u{a0}' | '\u{202f}' | '\u{2009}')
}

/// Whether a minus belongs to the number after it: `-5`, `−€5`, but not `A-5`.
fn is_negative(before: &[char]) -> bool {
    let mut before = before.iter().rev().skip_while(|c| "€$£¥₹ \u{a0}\u{202f}".contains(**c));
    let is_minus = before.next().is_some_and(|c| matches!(c, '-' | '−' | '–'));
    is_minus && before.next().is_none_or(|c| !c.is_alphanumeric())
}

fn value(number: &str, decimal: Option<char>) -> Result<f64, NoNumber> {
    let decimal = match decimal {
        Some(decimal) => Some(decimal),
        None => decimal_of(number)?,
    };
    // Groups have three digits, or two in India. Anything else, such as a version, is not one number.
    let whole = decimal.and_then(|mark| number.rsplit_once(mark)).map_or(number, |(whole, _)| whole);
    if whole.split(is_separator).skip(1).any(|group| !matches!(group.len(), 2 | 3)) {
        return Err(NoNumber::Ambiguous(number.to_string()));
    }
    let plain: String = number
        .chars()
        .filter_map(|c| match c {
            c if Some(c) == decimal => Some('.'),
            c if is_separator(c) => None,
            '−' => Some('-'),
            c => Some(c),
        })
        .collect();
    plain.parse().map_err(|_| NoNumber::Ambiguous(number.to_string()))
}

/// The character before the decimals; `None` if there are no decimals.
fn decimal_of(number: &str) -> Result<Option<char>, NoNumber> {
    let marks: Vec<(usize, char)> = number.char_indices().filter(|(_, c)| matches!(c, '.' | ',')).collect();
    let Some(&(at, last)) = marks.last() else { return Ok(None) };
    let times = |mark: char| marks.iter().filter(|(_, c)| *c == mark).count();
    if times(last) > 1 {
        return Ok(None);
    }
    let (before, after) = (&number[..at], &number[at + 1..]);
    let has_other_groups = before.chars().any(is_separator);
    let digits = before.trim_start_matches('-');
    let may_group = after.len() == 3 && (1..=3).contains(&digits.len()) && digits != "0" && !has_other_groups;
    if may_group { Err(NoNumber::Ambiguous(number.trim_start_matches('-').to_string())) } else { Ok(Some(last)) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, decimal: Option<char>, expected: Result<f64, &str>) {
        let found = number_in(text, decimal).map_err(|why| why.to_string());
        match (&found, expected) {
            (Err(why), Err(part)) => assert!(why.contains(part), "{text}: {why}"),
            _ => assert_eq!(found, expected.map_err(str::to_string), "{text}"),
        }
    }

    #[test]
    fn a_number_is_read_as_people_of_any_country_write_it() {
        for (text, number) in [
            ("12", 12.0),
            ("Balance: € 12.50", 12.5),
            ("12,5 kg", 12.5),
            ("1,234.50 €", 1234.5),
            ("1.234,50 €", 1234.5),
            ("1\u{a0}234,50", 1234.5),
            ("1'234'567", 1_234_567.0),
            ("1,234,567", 1_234_567.0),
            ("0.125", 0.125),
            ("-3 °C", -3.0),
            ("−€5.00", -5.0),
            ("Room A-5", 5.0),
            ("12.5000", 12.5),
            ("100%.", 100.0),
        ] {
            check(text, None, Ok(number));
        }
    }

    #[test]
    fn a_number_that_can_be_read_in_two_ways_is_no_number() {
        check("1,234", None, Err("`1,234` can be read in two ways"));
        check("1.234", None, Err("can be read in two ways"));
        check("1,234", Some('.'), Ok(1234.0));
        check("1,234", Some(','), Ok(1.234));
        check("-1.234", Some(','), Ok(-1234.0));
        check("nothing", None, Err("it has no number"));
        check("3 of 12", None, Err("several numbers"));
        check("Version 1.2.3", None, Err("can be read in two ways"));
        check("1,00,000", None, Ok(100_000.0));
    }

    #[test]
    fn bounds_are_checked_together() {
        let between = ExpectedNumber { at_least: Some(10.0), less_than: Some(20.0), ..ExpectedNumber::default() };
        assert_eq!(between.to_string(), "at least 10 and less than 20");
        assert_eq!([9.9, 10.0, 19.9, 20.0].map(|number| between.holds(number)), [false, true, true, false]);
    }
}
