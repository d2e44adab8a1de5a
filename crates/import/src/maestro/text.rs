//! Texts of flows: expressions in them, and whether a pattern is a plain text.

use crate::naming::value_name;

/// A text with `${name}` as templates of ours, or the expression that is none.
pub fn template(raw: &str) -> Result<String, String> {
    let mut out = String::new();
    let mut rest = raw;
    while let Some(at) = rest.find("${") {
        if rest[..at].ends_with('\\') {
            out.push_str(&rest[..at - 1]);
            out.push_str("${");
            rest = &rest[at + 2..];
            continue;
        }
        out.push_str(&rest[..at]);
        let end = rest[at..].find('}').map(|end| at + end).ok_or_else(|| rest[at..].to_string())?;
        let inside = rest[at + 2..end].trim();
        match (name(inside), literal(inside)) {
            (Some(name), _) => out.push_str(&format!("{{{{{name}}}}}")),
            (None, Some(text)) => out.push_str(&text),
            (None, None) => return Err(rest[at..=end].to_string()),
        }
        rest = &rest[end + 1..];
    }
    out.push_str(rest);
    Ok(out)
}

/// The name under which a value is remembered here: `output.order.id` is the part `id` of `output_order`.
pub fn name(expression: &str) -> Option<String> {
    let is_word = |word: &str| {
        word.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
            && word.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
    };
    let words: Vec<&str> = expression.split('.').collect();
    if !words.iter().all(|word| is_word(word)) {
        return None;
    }
    match words.as_slice() {
        ["maestro", "copiedText"] => Some("maestro.copiedText".to_string()),
        ["maestro", ..] => None,
        ["output", first, rest @ ..] => {
            let rest: String = rest.iter().map(|word| format!(".{word}")).collect();
            Some(format!("output_{first}{rest}"))
        }
        ["true" | "false" | "null" | "undefined"] => None,
        [one] => Some(value_name(one)),
        _ => None,
    }
}

/// The text of a literal of JavaScript.
pub fn literal(expression: &str) -> Option<String> {
    let expression = expression.trim();
    for quote in ['\'', '"', '`'] {
        let inner = expression.strip_prefix(quote).and_then(|rest| rest.strip_suffix(quote));
        if let Some(inner) = inner.filter(|inner| !inner.contains([quote, '\\', '$', '{', '}'])) {
            return Some(inner.to_string());
        }
    }
    let is_number =
        expression.parse::<f64>().is_ok() && expression.starts_with(|c: char| c.is_ascii_digit() || c == '-');
    (is_number || matches!(expression, "true" | "false")).then(|| expression.to_string())
}

/// One side of a comparison, as a text of ours.
pub fn operand(expression: &str) -> Option<String> {
    let expression = expression.trim();
    literal(expression).or_else(|| name(expression).map(|name| format!("{{{{{name}}}}}")))
}

/// The plain text that a pattern stands for. Maestro also accepts an element whose text is the pattern itself, so that what has signs of
/// patterns by accident, such as `Sure?` or `Total (2)`, is meant as it is.
pub fn plain(pattern: &str) -> Option<String> {
    // The names of templates are no part of the pattern.
    let bare: String = pattern.replace("{{", "").replace("}}", "");
    let mut text = String::new();
    let mut signs = pattern.chars();
    let mut is_escaped = String::new();
    while let Some(c) = signs.next() {
        if c != '\\' {
            text.push(c);
            continue;
        }
        match signs.next() {
            Some(next) if !next.is_alphanumeric() => {
                text.push(next);
                is_escaped.push(next);
            }
            _ => return None,
        }
    }
    let has = |sign: &str| bare.replace("\\", "").contains(sign) && !is_escaped.contains(sign);
    let repeats = [".*", ".+", ".?", ")*", ")+", ")?", "]*", "]+", "]?"].into_iter().any(|sign| bare.contains(sign));
    let is_class = bare.contains('[') && bare.contains(']') && !is_escaped.contains('[');
    let is_counted = bare.contains('{') && !is_escaped.contains('{') && bare.contains('}');
    let is_anchored = (bare.starts_with('^') || bare.ends_with('$')) && bare.len() > 1 && is_escaped.is_empty();
    (!repeats && !is_class && !is_counted && !is_anchored && !has("|") && !bare.starts_with("(?")).then_some(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn expressions_become_templates_if_they_are_names_or_literals() {
        for (raw, expected) in [
            ("${PIN}", Ok("{{PIN}}")),
            ("a ${output.order.id} b", Ok("a {{output_order.id}} b")),
            ("${'x'}", Ok("x")),
            (r"\${x}", Ok("${x}")),
            ("${maestro.copiedText}", Ok("{{maestro.copiedText}}")),
            ("${a + 1}", Err("${a + 1}")),
            ("${maestro.platform}", Err("${maestro.platform}")),
            ("${a", Err("${a")),
        ] {
            assert_eq!(template(raw).as_deref().map_err(String::as_str), expected, "{raw}");
        }
    }

    #[test]
    fn patterns_are_told_from_plain_texts() {
        for (pattern, expected) in [
            ("Pay", Some("Pay")),
            (r"€120\.00", Some("€120.00")),
            ("Sure?", Some("Sure?")),
            ("Total (2)", Some("Total (2)")),
            ("{{name}}", Some("{{name}}")),
            ("Pay.*", None),
            (r"\d+", None),
            ("[0-9]+ items", None),
            ("a|b", None),
            ("^a$", None),
        ] {
            assert_eq!(plain(pattern).as_deref(), expected, "{pattern}");
        }
    }
}
