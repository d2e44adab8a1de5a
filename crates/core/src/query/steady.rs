//! The part of a text that stays the same from run to run.

/// Words that belong to a date if there is a number next to them.
const DATES: [&str; 38] = [
    "mon",
    "tue",
    "wed",
    "thu",
    "fri",
    "sat",
    "sun",
    "monday",
    "tuesday",
    "wednesday",
    "thursday",
    "friday",
    "saturday",
    "sunday",
    "jan",
    "feb",
    "mar",
    "apr",
    "may",
    "jun",
    "jul",
    "aug",
    "sep",
    "oct",
    "nov",
    "dec",
    "january",
    "february",
    "march",
    "april",
    "june",
    "july",
    "august",
    "september",
    "october",
    "november",
    "december",
    "sept",
];

/// The text with `#` for numbers, amounts, times and dates, on one line; `None` if nothing else is left.
pub(super) fn steady(text: &str) -> Option<String> {
    let has_digit = |word: &str| word.chars().any(char::is_numeric);
    let has_number = text.split_whitespace().any(has_digit);
    let is_date = |word: &str| {
        let bare = word.trim_matches(|c: char| !c.is_alphanumeric()).to_lowercase();
        has_number && (DATES.contains(&bare.as_str()) || matches!(bare.as_str(), "am" | "pm" | "utc"))
    };
    let mut words: Vec<&str> = Vec::new();
    for word in text.split_whitespace() {
        let is_varying = has_digit(word) || is_date(word);
        match (is_varying, words.last()) {
            (true, Some(&"#")) => {}
            (true, _) => words.push("#"),
            (false, _) => words.push(word),
        }
    }
    let is_left = words.iter().any(|word| *word != "#" && word.chars().any(char::is_alphabetic));
    is_left.then(|| words.join(" "))
}

#[cfg(test)]
mod tests {
    use super::steady;

    #[test]
    fn numbers_amounts_times_and_dates_vary_and_words_do_not() {
        for (text, expected) in [
            ("Pay  now", Some("Pay now")),
            ("Balance: €120.00", Some("Balance: #")),
            ("Count: 1", Some("Count: #")),
            ("€120.00", None),
            ("10:45 AM", None),
            ("Mon, 16 Nov 2026", None),
            ("Updated Mon 16 Nov at 10:45", Some("Updated # at #")),
            ("March with us", Some("March with us")),
            ("1,234 results in 5 s", Some("# results in # s")),
            ("—", None),
            ("", None),
        ] {
            assert_eq!(steady(text).as_deref(), expected, "{text}");
        }
    }
}
