//! Ids that a library has given to elements of a web page. They differ from one visit to the next, so nothing is found by them.

/// How libraries begin the ids that they make up.
const PREFIXES: [&str; 23] = [
    "__BVID__",
    "bits-",
    "cdk-",
    "downshift-",
    "el-id-",
    "ext-element-",
    "ext-gen",
    "gwt-uid-",
    "headlessui-",
    "ion-",
    "mantine-",
    "mat-",
    "melt-",
    "mui-",
    "pv_id_",
    "radix-",
    "rc_",
    "react-aria",
    "react-select-",
    "reka-",
    "tippy-",
    "ui-id-",
    "yui_",
];
/// A number with so many digits was not chosen by a person.
const DIGITS: usize = 5;
/// A word with so many changes between letters and digits was not chosen by a person.
const CHANGES: usize = 3;

/// Whether an id was probably made up by a program. If in doubt, it was: an element is then found by its name.
pub fn is_generated(id: &str) -> bool {
    let n_digits = id.split(|sign: char| !sign.is_ascii_digit()).map(str::len).max().unwrap_or(0);
    n_digits >= DIGITS
        || PREFIXES.iter().any(|prefix| id.starts_with(prefix))
        || id.strip_prefix("ember").is_some_and(is_number)
        || is_of_framework(id)
        || id.split(['_', '.', ':', '-']).any(|word| is_hexadecimal(word) || is_random(word))
}

/// Whether a framework has numbered it. React: `:r1:`, `«r1»`, `_r_1_`. Vue: `v-1`. Closure: `:4`.
fn is_of_framework(id: &str) -> bool {
    let has_number = |begin: &str, end: &str| {
        let mut after = id.split(begin).skip(1);
        let is_key = |key: &str| !key.is_empty() && key.bytes().all(|byte| byte.is_ascii_alphanumeric());
        after.any(|rest| rest.split_once(end).is_some_and(|(key, _)| is_key(key)))
    };
    let mut words = id.split('-').zip(id.split('-').skip(1));
    id.starts_with([':', '«'])
        || has_number(":r", ":")
        || has_number("«r", "»")
        || has_number("_r_", "_")
        || words.any(|(word, next)| word == "v" && is_number(next))
}

fn is_number(word: &str) -> bool {
    !word.is_empty() && word.bytes().all(|byte| byte.is_ascii_digit())
}

/// Whether letters and digits alternate as in a random word.
fn is_random(word: &str) -> bool {
    let signs = word.as_bytes();
    let is_change = |pair: &&[u8]| pair[0].is_ascii_digit() != pair[1].is_ascii_digit();
    word.is_ascii() && signs.windows(2).filter(is_change).count() >= CHANGES
}

/// Whether it is a long hexadecimal number, as in a UUID.
fn is_hexadecimal(word: &str) -> bool {
    let is_hex = word.len() >= 8 && word.bytes().all(|byte| byte.is_ascii_hexdigit());
    is_hex && word.bytes().any(|byte| byte.is_ascii_digit()) && word.bytes().any(|byte| byte.is_ascii_alphabetic())
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
            "radix-_r_3_-trigger",
            "dialog-:r1:-title",
            "mantine-uzpjalqsd",
            "mantine-0rdp36pc9-tab-a",
            "pv_id_3_list",
            "input-v-15",
            "reka-menu-v-0-1",
            "rc_select_0",
            "react-select-2-input",
            "mat-input-0",
            "field-q8os1ind5",
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
        for id in [
            "name",
            "new-todo",
            "step-2",
            "nav.main:1",
            "item-2026",
            "member5",
            "feedback",
            "p4",
            "u-turn",
            "embers",
            "mp3-player",
            "h2o",
            "tv-2",
        ] {
            assert!(!is_generated(id), "{id}");
        }
    }
}
