//! Regular expressions for all spellings of a value in other programs' texts: raw, escaped for JSON, a URL, a form or
//! HTML, nested or mixed, and in base64.
//!
//! Encoders disagree about which characters they escape, so each character may be escaped or not, independently of the
//! others. Letters and digits are never escaped. No text can make the search slow: a repetition is never at the start of
//! a pattern, where each repeated character could start another match.

use std::fmt::Write;

use base64::Engine;
use base64::alphabet::{STANDARD, URL_SAFE};
use base64::engine::GeneralPurpose;
use base64::engine::general_purpose::NO_PAD;

use super::invisible::Stripped;

/// The shortest value, in bytes, that is searched for within longer base64. What remains of a shorter one after cutting
/// its ends would match by chance.
const LONG_ENOUGH_FOR_BASE64: usize = 8;
/// The shortest line of a multi-line secret that counts as a secret by itself.
const LONG_ENOUGH_FOR_LINE: usize = 8;

/// How much of a long value is searched for in base64. The base64 text that follows is redacted as well.
const BASE64_CHARS: usize = 32;

/// Any whitespace, since pages and forms convert one kind into another.
const BLANKS: &str = r"(?:[ \t\r\n\x{a0}+]|%(?:25)*(?:20|0[9aAdD]|[cC]2%(?:25)*[aA]0)|\\+(?:[ntr]|u00(?:20|0[9aAdD]|[aA]0))|&(?:amp;)*(?:nbsp|#[xX]?[0-9aAdD]{1,6});)+";

/// The patterns for one value.
pub fn patterns(value: &str) -> Vec<String> {
    // A value that was read from a file often ends in a newline, which is usually not displayed.
    let trimmed = value.trim();
    let mut patterns = vec![spelled(trimmed)];
    // Texts are searched without their invisible characters.
    if let Some(visible) = Stripped::of(trimmed) {
        patterns.push(spelled(&visible.text));
    }
    patterns.extend(in_base64(value.as_bytes()));
    patterns.extend(lines(value).map(spelled));
    patterns
}

/// The lines of a value that are secret by themselves, because logs are read line by line.
pub fn lines(value: &str) -> impl Iterator<Item = &str> {
    let trimmed = value.trim();
    trimmed.lines().map(str::trim).filter(move |line| line.len() >= LONG_ENOUGH_FOR_LINE && *line != trimmed)
}

/// A pattern that matches a text literally.
pub fn literal(text: &str) -> String {
    text.chars().fold(String::new(), |mut pattern, c| {
        let _ = write!(pattern, r"\x{{{:x}}}", u32::from(c));
        pattern
    })
}

fn spelled(text: &str) -> String {
    let mut pattern = String::new();
    let mut was_blank = false;
    for c in text.chars() {
        let is_blank = matches!(c, ' ' | '\t' | '\r' | '\n' | '\u{a0}');
        match is_blank {
            true if was_blank => {}
            true => pattern.push_str(BLANKS),
            false => push_spelled(&mut pattern, c),
        }
        was_blank = is_blank;
    }
    pattern
}

fn push_spelled(pattern: &mut String, c: char) {
    let raw = literal(c.encode_utf8(&mut [0; 4]));
    if c.is_ascii_alphanumeric() {
        return pattern.push_str(&raw);
    }
    // JSON within JSON is escaped repeatedly.
    let (any, some) = if pattern.is_empty() { ("", r"\\") } else { (r"\\*", r"\\+") };
    let code = u32::from(c);
    let digits = hex(code, 1);
    // Longer spellings first, because some start with a shorter one.
    pattern.push_str("(?:");
    for byte in c.encode_utf8(&mut [0; 4]).bytes() {
        let _ = write!(pattern, "%(?:25)*{}", hex(u32::from(byte), 2));
    }
    let named = match c {
        '&' => "|amp",
        '<' => "|lt",
        '>' => "|gt",
        '"' => "|quot",
        '\'' => "|apos",
        _ => "",
    };
    let _ = write!(pattern, "|&(?:amp;)*(?:#0*{code}|#[xX]0*{digits}{named});");
    let units: Vec<String> = c.encode_utf16(&mut [0; 2]).iter().map(|unit| hex(u32::from(*unit), 4)).collect();
    let _ = write!(pattern, r"|{some}(?:u{}|u\x{{7b}}0*{digits}\x{{7d}}", units.join(r"\\+u"));
    if code < 0x100 {
        let _ = write!(pattern, "|x{}", hex(code, 2));
    }
    let _ = match c {
        '\\' => write!(pattern, ")|{some})"),
        _ => write!(pattern, ")|{any}{raw})"),
    };
}

/// A pattern for the number in hexadecimal digits of either case.
fn hex(number: u32, width: usize) -> String {
    let digit =
        |c: char| if c.is_ascii_alphabetic() { format!("[{c}{}]", c.to_ascii_uppercase()) } else { c.to_string() };
    format!("{number:0width$x}").chars().map(digit).collect()
}

/// A pattern for a value in base64, by itself or within something longer: the characters that encode it depend on its
/// offset in a group of three bytes.
fn in_base64(value: &[u8]) -> Vec<String> {
    let mut found = Vec::new();
    for alphabet in [&STANDARD, &URL_SAFE] {
        let engine = GeneralPurpose::new(alphabet, NO_PAD);
        if value.len() < LONG_ENOUGH_FOR_BASE64 {
            found.push(engine.encode(value));
            continue;
        }
        for n_before in 0..3 {
            let encoded = engine.encode([&[0; 2][..n_before], value].concat());
            // Only the characters that encode nothing but the value.
            let (first, end) = ((n_before * 8).div_ceil(6), (n_before + value.len()) * 8 / 6);
            found.push(encoded[first..end].to_string());
        }
    }
    found.sort();
    found.dedup();
    let pattern = |encoded: &String| match encoded.get(..BASE64_CHARS) {
        Some(beginning) => format!("{}[A-Za-z0-9+/_=%-]*", spelled(beginning)),
        None => spelled(encoded),
    };
    found.iter().map(pattern).collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use crate::values::secret::Secrets;

    /// Checks that every spelling of the value is redacted.
    fn check(value: &str, texts: &[&str]) {
        let secrets = Secrets::new([("KEY".to_string(), value.to_string())]);
        for text in texts {
            let framed = format!("before {text} after");
            assert_eq!(secrets.redact(&framed), "before {{KEY}} after", "{value:?} spelled {text:?}");
        }
    }

    #[test]
    fn a_value_is_found_however_it_is_escaped() {
        check(
            r#"p"a\s/s wörd&1"#,
            &[
                r#"p"a\s/s wörd&1"#,
                r#"p\"a\\s/s wörd&1"#,
                r#"p\"a\\s\/s wörd&1"#,
                r#"p\\\"a\\\\s/s w\\u00f6rd&1"#,
                r#"p\"a\\s/s w\u00F6rd\u00261"#,
                "p%22a%5Cs%2Fs%20w%C3%B6rd%261",
                "p%22a%5cs/s+w%c3%b6rd%261",
                "p%2522a%255Cs%252Fs%2520w%25C3%25B6rd%25261",
                "p&quot;a&#92;s/s w&#xf6;rd&amp;1",
                "p&#34;a\\s/s&nbsp;w&#246;rd&amp;amp;1",
                "p\"a\\s/s\n\t wörd&1",
            ],
        );
        check("100%_sure", &["100%_sure", "100%25_sure", r"100%\_sure", "100&#37;_sure"]);
        check("%2541", &["%2541", "%252541"]);
        check("a😀b1", &["a😀b1", r"a\ud83d\ude00b1", r"a\u{1f600}b1", "a%F0%9F%98%80b1", "a&#128512;b1"]);
    }

    /// Escapes everything but letters and digits.
    fn escaped(text: &str, escape: impl Fn(char) -> String) -> String {
        text.chars().map(|c| if c.is_ascii_alphanumeric() { c.to_string() } else { escape(c) }).collect()
    }

    fn percent(c: char, digits: impl Fn(u8) -> String) -> String {
        c.to_string().bytes().map(|byte| format!("%{}", digits(byte))).collect()
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(ProptestConfig::default().cases / 4))]

        #[test]
        fn any_value_is_found_in_any_spelling(value in "[!-~äß€😀][ -~äß€😀]{2,22}[!-~äß€😀]") {
            let json = |text: &str| {
                let text = serde_json::to_string(text).unwrap();
                text[1..text.len() - 1].to_string()
            };
            let upper = escaped(&value, |c| percent(c, |byte| format!("{byte:02X}")));
            let spellings = [
                value.clone(),
                json(&value),
                json(&json(&json(&value))),
                escaped(&value, |c| c.encode_utf16(&mut [0; 2]).iter().map(|unit| format!("\\u{unit:04x}")).collect()),
                escaped(&value, |c| percent(c, |byte| format!("{byte:02x}"))),
                upper.replace("%20", "+"),
                upper.replace('%', "%25"),
                escaped(&value, |c| format!("&#{};", u32::from(c))),
                escaped(&value, |c| format!("&amp;#x{:X};", u32::from(c))),
                upper,
            ];
            let secrets = Secrets::new([("KEY".to_string(), value.clone())]);
            for spelling in spellings {
                let redacted = secrets.redact(&spelling).into_owned();
                prop_assert!(redacted.contains("{{KEY}}"), "{value:?} as {spelling} is {redacted}");
                // A backslash before the first character may stay.
                prop_assert!(redacted.trim_matches('\\').len() <= 7, "{value:?} as {spelling} is {redacted}");
            }
        }
    }

    #[test]
    fn a_value_is_found_in_base64_wherever_it_starts() {
        let secrets = Secrets::new([("KEY".to_string(), "hunter2+hunter2?".to_string())]);
        for before in ["", "u", "us", "user:"] {
            for after in ["", "x", "xy", "\n"] {
                let text = super::GeneralPurpose::new(&super::STANDARD, super::NO_PAD);
                let text = super::Engine::encode(&text, format!("{before}hunter2+hunter2?{after}"));
                assert!(secrets.redact(&text).contains("{{KEY}}"), "{before} {after} {text}");
            }
        }
        check("4711", &["NDcxMQ"]);
    }

    #[test]
    fn each_line_of_a_value_is_secret() {
        let secrets = Secrets::new([("KEY".to_string(), "-----BEGIN KEY-----\nMIIEvQIBADAN\nend\n".to_string())]);
        assert_eq!(secrets.redact("log: MIIEvQIBADAN"), "log: {{KEY}}");
        assert_eq!(secrets.redact("-----BEGIN KEY-----\\nMIIEvQIBADAN\\nend"), "{{KEY}}");
        assert_eq!(secrets.redact("the end"), "the end");
    }

    #[test]
    fn ordinary_text_stays() {
        let secrets = Secrets::new([("KEY".to_string(), "a+b/c".to_string())]);
        for text in ["a b/c", "ab/c", "a+b", "%41+b/c", "A+B/C", ""] {
            assert_eq!(secrets.redact(text), text);
        }
    }
}
