//! Ids that a library has given to elements of a web page. They differ from one visit to the next, so nothing is found by them.

/// How libraries begin the ids that they number.
const NUMBERED: [&str; 9] =
    ["ember", "ext-element-", "ext-gen", "gwt-uid-", "headlessui-", "radix-", "react-aria", "ui-id-", "yui_"];
/// A number with so many digits was not chosen by a person.
const DIGITS: usize = 5;

/// Whether an id was probably made up by a program.
pub fn is_generated(id: &str) -> bool {
    let n_digits = id.split(|sign: char| !sign.is_ascii_digit()).map(str::len).max().unwrap_or(0);
    let is_numbered =
        |prefix: &str| id.strip_prefix(prefix).is_some_and(|rest| rest.contains(|sign: char| sign.is_ascii_digit()));
    // React: `:r1:`, `«r1»`, `_r_1_`. Closure: `:4`.
    let is_react = id.starts_with([':', '«']) || id.contains(":r") && id.ends_with(':') || id.starts_with("_r_");
    n_digits >= DIGITS || is_react || is_uuid(id) || NUMBERED.iter().any(|prefix| is_numbered(prefix))
}

/// Whether it contains a UUID, or a long hexadecimal number.
fn is_uuid(id: &str) -> bool {
    id.split(['_', '.', ':', '-']).any(|part| {
        let is_hex = part.len() >= 8 && part.bytes().all(|byte| byte.is_ascii_hexdigit());
        is_hex && part.bytes().any(|byte| byte.is_ascii_digit()) && part.bytes().any(|byte| byte.is_ascii_alphabetic())
    })
}

#[cfg(test)]
mod tests {
    use super::is_generated;

    #[test]
    fn ids_of_libraries_are_told_apart_from_those_of_people() {
        let generated = [
            ":4",
            ":r1a:",
            "«r3»",
            "_r_2_",
            "radix-:r3:",
            "ember345",
            "yui_3_18_1_1_17",
            "gwt-uid-7",
            "headlessui-menu-button-1",
            "item-1718201231",
            "x-3f2504e0-4f89-11d3-9a0c-0305e82c3301",
        ];
        for id in generated {
            assert!(is_generated(id), "{id}");
        }
        for id in
            ["name", "new-todo", "step-2", "nav.main:1", "item-2026", "member5", "feedback", "p4", "u-turn", "embers"]
        {
            assert!(!is_generated(id), "{id}");
        }
    }
}
