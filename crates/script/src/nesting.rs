//! An upper bound for how deeply a source is nested, found without parsing. The parser is recursive and has no limit of its own, so
//! that a source such as `((((…` would overflow the stack.

/// How deep brackets may be nested.
const BRACKETS: usize = 250;
/// How long a chain of operators, or of statements without a bracket or semicolon in between, may be.
const CHAIN: usize = 2_000;

/// The byte at which a source is nested too deeply.
pub fn too_deep(source: &str) -> Option<usize> {
    let bytes = source.as_bytes();
    // For each open bracket, the length of the chain in it. Strings, comments and regular expressions are not recognised: what
    // is in them counts too, up to the end of a line.
    let mut chains = vec![0_usize];
    let mut at = 0;
    while at < bytes.len() {
        let byte = bytes[at];
        let chain = chains.last_mut()?;
        match byte {
            b'(' | b'[' | b'{' => {
                *chain += 1;
                chains.push(0);
            }
            b')' | b']' | b'}' => {
                if chains.len() > 1 {
                    chains.pop();
                }
            }
            b';' | b',' => *chain = 0,
            b'a'..=b'z' | b'A'..=b'Z' | b'_' | b'$' | b'0'..=b'9' | 0x80.. => {
                let end = bytes[at..].iter().position(|byte| !is_word(*byte)).map_or(bytes.len(), |n| at + n);
                if is_nesting_word(&source[at..end]) {
                    *chain += 1;
                }
                at = end;
                if chains.last().is_some_and(|chain| *chain > CHAIN) {
                    return Some(at.min(source.len()));
                }
                continue;
            }
            b'\n' => {
                // A line that starts with a word is a new statement, unless the line before ended in the middle of one.
                let next = bytes[at + 1..].iter().find(|byte| !byte.is_ascii_whitespace());
                let last = bytes[..at].iter().rev().find(|byte| !byte.is_ascii_whitespace());
                let starts =
                    next.is_none_or(|byte| is_word(*byte) || matches!(byte, b'/' | b'}' | b'"' | b'\'' | b'`'));
                let ended = last.is_none_or(|byte| is_word(*byte) || b")]}\"'`;,/*".contains(byte));
                if starts && ended && !continues(source, at) {
                    *chain = 0;
                }
            }
            byte if byte.is_ascii_whitespace() => {}
            _ => *chain += 1,
        }
        if chains.len() > BRACKETS || chains.last().is_some_and(|chain| *chain > CHAIN) {
            return Some(at);
        }
        at += 1;
    }
    None
}

fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'$' || byte >= 0x80
}

/// Words after which a statement or an expression nests in the one before.
fn is_nesting_word(word: &str) -> bool {
    matches!(
        word,
        "if" | "else"
            | "for"
            | "while"
            | "do"
            | "with"
            | "new"
            | "typeof"
            | "void"
            | "delete"
            | "await"
            | "yield"
            | "async"
            | "in"
            | "of"
            | "instanceof"
            | "as"
            | "satisfies"
            | "keyof"
            | "infer"
            | "extends"
            | "function"
            | "class"
            | "import"
            | "unique"
            | "readonly"
            | "asserts"
            | "is"
            | "namespace"
            | "module"
            | "declare"
            | "export"
            | "throw"
            | "return"
    )
}

/// Whether the line after this line break belongs to a statement before it, as `else` and nested statements without braces do.
fn continues(source: &str, line_break: usize) -> bool {
    let before = source[..line_break].trim_end();
    let after = source[line_break..].trim_start();
    let last = &before[before.trim_end_matches(|c: char| c.is_alphanumeric() || c == '_' || c == '$').len()..];
    // `if (a)` and its like end with a bracket, which is also how calls end; only the keywords can tell them apart.
    let line = before.rsplit('\n').next().unwrap_or_default().trim_start();
    let opens =
        ["if", "for", "while", "else", "do", "with"].iter().any(|word| line.starts_with(word) || line.starts_with("}"));
    is_nesting_word(last) || after.starts_with("else") || (opens && !before.ends_with([';', '{', '}']))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ordinary_code_is_not_too_deep() {
        let semicolon_free = "const a = foo(1)\nif (a) {\n  b.c.d(a + 1)\n}\nfoo('x')\n".repeat(5_000);
        assert_eq!(too_deep(&semicolon_free), None);
        assert_eq!(too_deep(&"a.b(c => d ? e : f);".repeat(20_000)), None);
        assert_eq!(too_deep(&format!("const x = [{}]", "1, 2, {a: 3}, ".repeat(20_000))), None);
        assert_eq!(too_deep("const a = `…\nb…if\nc`"), None);
    }

    #[test]
    fn sources_that_would_overflow_the_parser_are_found() {
        let n = 100_000;
        let alone = [
            "(", "[", "{", "!", "-", "a=>", "a=", "a?b:", "a+", "a.b.", "new ", "typeof ", "if(1)", "if(1)\n", "a:",
            "`${", "a**",
        ];
        for piece in alone {
            assert!(too_deep(&piece.repeat(n)).is_some(), "{piece}");
        }
        assert!(too_deep(&format!("let a: {} = 1", "A<".repeat(n))).is_some());
        assert!(too_deep(&format!("if(1){{}}{}", "else if(1){}".repeat(n))).is_some());
        assert!(too_deep(&format!("let a: {}string", "keyof ".repeat(n))).is_some());
    }
}
