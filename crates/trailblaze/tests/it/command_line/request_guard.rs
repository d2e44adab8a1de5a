//! The fuzz target of the guard as an ordinary test: every file of its corpus, also cut off, and random lines.

#[path = "../../../../../fuzz/src/guard.rs"]
mod target;

use std::path::Path;

use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;

#[test]
fn its_corpus_holds() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/corpus/guard_judge");
    let mut n_files = 0;
    for entry in std::fs::read_dir(&folder).expect("the corpus is there") {
        let bytes = std::fs::read(entry.expect("an entry").path()).expect("a file");
        (0..=bytes.len()).for_each(|end| target::guard_judge(&bytes[..end]));
        n_files += 1;
    }
    assert!(n_files > 0, "{} is empty", folder.display());
}

/// Heads of requests, mostly from words that mean something to the guard.
fn any_head() -> impl Strategy<Value = Vec<u8>> {
    const WORDS: &[&str] = &[
        "127.0.0.1",
        "localhost",
        "LOCALHOST",
        "[::1]",
        "evil.example",
        ":52525",
        ":80",
        "http://",
        "https://",
        "@",
        "/",
        "/a",
        " ",
        "null",
        "*",
        ".",
        "127.1",
        "0x7f.1",
        "user:pass@",
    ];
    let text = prop_oneof![
        8 => vec(select(WORDS), 0..4).prop_map(|words| words.concat()),
        1 => any::<String>(),
    ];
    let first = select(&["1 127.0.0.1:1", "2 127.0.0.1:1", "1 [::1]:1", "2 [::ffff:127.0.0.1]:1", "1 10.0.0.7:1"][..]);
    let header = (select(&["host: ", "Host:", "origin: ", "Origin:", "x: "][..]), text.clone());
    let headers = vec(header.prop_map(|(name, value)| format!("{name}{value}")), 0..4);
    (first, text, headers).prop_map(|(first, target, headers)| {
        let mut lines = vec![first.to_string(), target];
        lines.extend(headers);
        lines.join("\n").into_bytes()
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 600, ..ProptestConfig::default() })]

    #[test]
    fn any_head_holds(head in any_head()) {
        target::guard_judge(&head);
    }
}
