//! Suggestions for misspelled names.

/// The known word that `word` is most likely a misspelling of: they differ in a letter or two, in case or in separators.
pub fn misspelled<'a>(word: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let plain = |word: &str| word.to_lowercase().replace(['_', '-'], "");
    let distance = |candidate: &str| strsim::damerau_levenshtein(&plain(word), &plain(candidate));
    // In a short word, a letter more makes another word.
    let most = if plain(word).chars().count() < 5 { 1 } else { 2 };
    let near = known.into_iter().filter(|candidate| *candidate != word && distance(candidate) <= most);
    near.min_by_key(|candidate| distance(candidate))
}

/// The known word that is most similar to `word`.
pub fn nearest<'a>(word: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let lower = word.to_lowercase();
    known
        .into_iter()
        .map(|candidate| (strsim::jaro_winkler(&lower, &candidate.to_lowercase()), candidate))
        .filter(|(score, _)| *score > 0.82)
        .max_by(|a, b| a.0.total_cmp(&b.0))
        .map(|(_, candidate)| candidate)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_misspelling_differs_in_a_letter_or_two() {
        let known = ["email", "orderId", "user", "memoryDelta"];
        for (word, expected) in [
            ("emial", Some("email")),
            ("order_id", Some("orderId")),
            ("usr", Some("user")),
            ("memorydelta", Some("memoryDelta")),
            ("MemoryDeltas", Some("memoryDelta")),
            ("username", None),
            ("email", None),
            ("id", None),
        ] {
            assert_eq!(misspelled(word, known), expected, "{word}");
        }
    }
}
