//! The fuzz targets as ordinary tests: every file of their corpora, and a few hundred random inputs.

#[path = "../../../../fuzz/src/lib.rs"]
mod targets;

use std::path::Path;

use proptest::prelude::*;

#[expect(clippy::disallowed_methods, reason = "the corpora are files")]
fn check_corpus(target: &str, run: fn(&[u8])) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/corpus").join(target);
    let mut n_files = 0;
    for entry in std::fs::read_dir(&folder).expect("the corpus is there") {
        let bytes = std::fs::read(entry.expect("an entry").path()).expect("a file");
        // It must also hold for truncated input.
        [0, bytes.len() / 3, bytes.len() / 2, bytes.len()].into_iter().for_each(|end| run(&bytes[..end]));
        n_files += 1;
    }
    assert!(n_files > 0, "{} is empty", folder.display());
}

/// Words that mean something to one of the targets and arbitrary bytes, alone or within valid input.
fn any_input() -> impl Strategy<Value = Vec<u8>> {
    const SOUND: &[&str] = &[
        "",
        "trail:\n  - step: |+\n      Pay\n\n    recording: # c\n      ios: &a [] # d\n      android:\n      - b: {c: 'd'}\n  - verify: x\n",
        "trail: [{step: Pay, recording: {ios: [], android: [{a: }]}}, {verify: \"x\"}]\n",
        "- config:\n    platform: ios # c\n- prompts:\n  - step: a\n    recording:\n      tools:\n      - tap: {id: a} # d\n",
        "android:\n  - call: {pay: {}}\n    did:\n      - tap: {id: a}\n      - memory: {set: {a: 1}, deleted: ['b']}\n",
    ];
    const WORDS: &[&str] = &[
        "trail:",
        "step: ",
        "verify: a",
        "recording:",
        "android:",
        "config:",
        "prompts:",
        "tools:",
        "- ",
        "-",
        "  ",
        "\n",
        "\r\n",
        "\r",
        "\t",
        " #",
        "#",
        ": ",
        ":",
        "? ",
        "&a ",
        "*a",
        "!!str ",
        "|",
        ">-",
        "|+2",
        "'",
        "\"",
        "\\",
        "[",
        "]",
        "{",
        "}",
        ",",
        "\u{feff}",
        "---\n",
        "...\n",
        "%YAML 1.2\n",
        "{{",
        "}}",
        "{{?x}}",
        "${x}",
        "(",
        ")",
        "(?=",
        "\\1",
        "a*",
        "+",
        "[^",
        "\\Q",
        "\\E",
        "ä",
        "\u{2028}",
        "\u{85}",
        "\u{0}",
        "{\"at\":",
        "null",
        "1e999",
        "a",
        "b",
    ];
    let piece = prop_oneof![
        6 => prop::sample::select(WORDS).prop_map(|word| word.as_bytes().to_vec()),
        1 => prop::collection::vec(any::<u8>(), 1..4),
    ];
    let pieces = prop::collection::vec((piece, any::<prop::sample::Index>()), 0..24);
    (prop::sample::select(SOUND), pieces).prop_map(|(sound, pieces)| {
        let mut input = sound.as_bytes().to_vec();
        // The more is inserted, the less valid input remains.
        let n_pieces = if sound.is_empty() { pieces.len() } else { pieces.len().min(3) };
        for (piece, index) in pieces.into_iter().take(n_pieces) {
            let at = if sound.is_empty() { input.len() } else { index.index(input.len() + 1) };
            input.splice(at..at, piece);
        }
        input
    })
}

macro_rules! targets {
    ($($target:ident),*) => {$(
        mod $target {
            use super::*;

            #[test]
            fn its_corpus_holds() {
                check_corpus(stringify!($target), targets::$target);
            }

            proptest! {
                #![proptest_config(ProptestConfig::with_cases(ProptestConfig::default().cases / 4))]

                #[test]
                fn any_input_holds(data in any_input()) {
                    targets::$target(&data);
                }
            }
        }
    )*};
}

targets!(yaml_read, csv_rows, selector_pattern, template_fill, event_line, trail_save, effects_read);
