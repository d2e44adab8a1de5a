//! The fuzz target of scripts as an ordinary test: every file of its corpus, also cut off and with parts exchanged.

#[path = "../../../../fuzz/src/script.rs"]
mod script;

use std::path::Path;

use proptest::prelude::*;
use proptest::sample::select;

fn corpus() -> Vec<Vec<u8>> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/corpus/script_run");
    let entries = std::fs::read_dir(folder).expect("the corpus is there");
    entries.map(|entry| std::fs::read(entry.expect("an entry").path()).expect("a file")).collect()
}

#[test]
fn its_corpus_holds() {
    let corpus = corpus();
    assert!(corpus.len() > 10);
    corpus.iter().for_each(|source| script::script_run(source));
}

#[test]
fn sources_that_are_cut_off_hold() {
    for source in corpus() {
        for end in (0..source.len()).step_by(7) {
            script::script_run(&source[..end]);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: if std::env::var_os("SOAK").is_some() { 5_000 } else { 60 }, ..ProptestConfig::default() })]

    #[test]
    fn mixed_sources_hold(parts in prop::collection::vec((select(corpus()), 0usize..200, 0usize..80), 1..5)) {
        let cut = |(source, start, length): &(Vec<u8>, usize, usize)| {
            let start = start % source.len();
            source[start..source.len().min(start + length)].to_vec()
        };
        script::script_run(&parts.iter().flat_map(cut).collect::<Vec<u8>>());
    }

    #[test]
    fn deeply_nested_sources_hold(piece in select(vec!["(", "[", "{", "!", "a=>", "a?", "a.b(", "`${", "<A>", "if(1)", "else ", "new ", "a:", "-", "async ", "await ", "class A extends ", "function f(){", "type A<B=", "import(", "\n", ";", "x=", "of ", "<", "?.", "...", "@a "]), n in 1usize..3000) {
        script::script_run(piece.repeat(n).as_bytes());
    }
}
