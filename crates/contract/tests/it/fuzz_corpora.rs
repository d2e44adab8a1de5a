//! The fuzz target of the encodings as an ordinary test: every file of its corpus, also cut off, and damaged ones.

#[path = "../../../../fuzz/src/contract.rs"]
mod target;

use std::path::Path;

use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::{Index, select};

fn corpus() -> Vec<Vec<u8>> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/corpus/contract_read");
    let entries = std::fs::read_dir(folder).expect("the corpus is there");
    entries.map(|entry| std::fs::read(entry.expect("an entry").path()).expect("a file")).collect()
}

#[test]
fn its_corpus_holds() {
    let corpus = corpus();
    assert!(!corpus.is_empty());
    for bytes in corpus {
        (0..=bytes.len()).for_each(|end| target::contract_read(&bytes[..end]));
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, ..ProptestConfig::default() })]

    #[test]
    fn any_input_holds(data in vec(any::<u8>(), 0..100)) {
        target::contract_read(&data);
    }

    #[test]
    fn damaged_input_holds(mut data in select(corpus()), changes in vec((any::<Index>(), vec(any::<u8>(), 0..4)), 1..6)) {
        for (at, bytes) in changes {
            let at = at.index(data.len() + 1);
            let end = (at + 1).min(data.len());
            data.splice(at..end, bytes);
        }
        target::contract_read(&data);
    }
}
