//! What a text says, apart from how it is written. No language is known here: any word, number or sign that is added, removed
//! or changed says something else.

use super::steady::steady;
use crate::screen::fold;

/// Signs that structure a text and say nothing by themselves.
const DECORATION: &str = ".,;:!?¡¿…\"“”„‟«»‹›()[]{}_-‐‑–—―·•|/\\*\u{3002}\u{3001}\u{ff0c}\u{ff0e}\u{ff01}\u{ff1f}\u{ff1a}\u{ff1b}「」『』（）【】・";
/// Signs that belong to a number if they are between digits: `10.00` is not `1000`.
const IN_NUMBERS: &str = ".,:/-'";
/// Signs that belong to the number that they begin.
const BEFORE_NUMBERS: &str = ".,-";

/// The words, numbers and symbols of a text, in lower case and without punctuation. A text without any is its only word.
pub fn words(text: &str) -> Vec<String> {
    let signs: Vec<char> = text.chars().map(|sign| if sign == '’' { '\'' } else { sign }).collect();
    let is_digit =
        |place: Option<usize>| place.and_then(|place| signs.get(place)).is_some_and(|sign| sign.is_numeric());
    let is_apart =
        |place: Option<usize>| !place.and_then(|place| signs.get(place)).is_some_and(|sign| sign.is_alphanumeric());
    let separates = |place: usize| {
        let (sign, before) = (signs[place], place.checked_sub(1));
        let is_in_number = is_digit(Some(place + 1))
            && (is_digit(before) && IN_NUMBERS.contains(sign) || is_apart(before) && BEFORE_NUMBERS.contains(sign));
        sign.is_whitespace() || DECORATION.contains(sign) && !is_in_number
    };
    let mut words: Vec<String> = vec![String::new()];
    for (place, sign) in signs.iter().enumerate() {
        match (separates(place), words.last_mut()) {
            (false, Some(word)) => word.extend(sign.to_lowercase()),
            _ => words.push(String::new()),
        }
    }
    let words = words.iter().map(|word| word.trim_matches('\'').to_string()).filter(|word| !word.is_empty());
    let words: Vec<String> = words.collect();
    if words.is_empty() { vec![fold(text)] } else { words }
}

/// Whether two texts say the same.
pub fn is_same(one: &str, other: &str) -> bool {
    words(one) == words(other)
}

/// Whether a text says what was noted, which may have `#` for numbers.
pub fn says(text: &str, noted: &str) -> bool {
    is_same(text, noted) || steady(text).is_some_and(|text| is_same(&text, noted))
}

/// The numbers in a text, with their signs and units: `$10.00`.
pub fn numbers(text: &str) -> Vec<String> {
    words(text).into_iter().filter(|word| word.chars().any(char::is_numeric)).collect()
}

/// Whether two lists of texts say the same, in any order.
pub fn are_same(some: &[String], others: &[String]) -> bool {
    let sorted = |texts: &[String]| {
        let mut all: Vec<Vec<String>> = texts.iter().map(|text| words(text)).collect();
        all.sort();
        all.dedup();
        all
    };
    sorted(some) == sorted(others)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn case_punctuation_and_spaces_say_nothing() {
        for (one, other) in [
            ("Pay", "PAY…"),
            ("Save as", "  save  as... "),
            ("Sign-in", "Sign in"),
            ("Don't save", "Don’t save!"),
            ("Email *", "Email:"),
            ("Löschen", "LÖSCHEN"),
            ("保存", "「保存」"),
            ("Pay $10.00", "Pay  $10.00."),
            ("Cart (3)", "Cart: 3"),
        ] {
            assert!(is_same(one, other), "{one} {other}: {:?} {:?}", words(one), words(other));
        }
    }

    #[test]
    fn a_word_a_number_a_sign_or_a_letter_says_something() {
        for (one, other) in [
            ("Follow", "Unfollow"),
            ("Save", "Don't save"),
            ("Speichern", "Nicht speichern"),
            ("保存する", "保存しない"),
            ("Pay Alice", "Pay Alicia"),
            ("Pay $10", "Pay $1000"),
            ("Pay $10.00", "Pay $1000"),
            ("Pay $10", "Pay €10"),
            ("Pay 10", "Pay -10"),
            ("Pay 5", "Pay .5"),
            ("10:45", "1045"),
            ("Discount 50%", "Discount 50"),
            ("+", "-"),
            ("Move →", "Move ←"),
            ("Log in", "Login"),
            ("ข้าว", "ขาว"),
            ("Résumé", "Resume"),
            ("C++", "C"),
        ] {
            assert!(!is_same(one, other), "{one} {other}: {:?} {:?}", words(one), words(other));
        }
        assert_eq!(numbers("Pay $10.00 for 2 mugs"), ["$10.00", "2"]);
    }

    #[test]
    fn the_order_of_texts_does_not_matter_and_the_texts_do() {
        let texts = |texts: &[&str]| texts.iter().map(|text| text.to_string()).collect::<Vec<_>>();
        assert!(are_same(&texts(&["Bob", "Engineer"]), &texts(&["engineer", "BOB"])));
        assert!(!are_same(&texts(&["Bob"]), &texts(&["Mallory"])));
        assert!(!are_same(&texts(&["Bob"]), &texts(&["Bob", "Mallory"])));
        assert!(are_same(&[], &[]));
        assert!(says("Total: $12", "Total: #") && says("Total: $12", "total $12") && !says("Total: $12", "Total: $13"));
    }
}
