//! The fuzz targets of imports as ordinary tests: every file of their corpora, also cut off and with parts exchanged.

#[path = "../../../../fuzz/src/import.rs"]
mod import;

use std::path::Path;

use proptest::prelude::*;
use proptest::sample::select;

fn corpus(target: &str) -> Vec<Vec<u8>> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/corpus").join(target);
    let entries = std::fs::read_dir(folder).expect("the corpus is there");
    entries.map(|entry| std::fs::read(entry.expect("an entry").path()).expect("a file")).collect()
}

macro_rules! targets {
    ($($target:ident),*) => {$(
        mod $target {
            use super::*;

            #[test]
            fn its_corpus_holds_whole_and_cut_off() {
                for data in corpus(stringify!($target)) {
                    import::$target(&data);
                    for end in (0..data.len()).step_by(11) {
                        import::$target(&data[..end]);
                    }
                }
            }

            proptest! {
                #![proptest_config(ProptestConfig { cases: if std::env::var_os("SOAK").is_some() { 5_000 } else { 40 }, ..ProptestConfig::default() })]

                #[test]
                fn mixed_files_hold(parts in prop::collection::vec((select(corpus(stringify!($target))), 0usize..400, 0usize..120), 1..5)) {
                    let cut = |(data, start, length): &(Vec<u8>, usize, usize)| {
                        let start = start % data.len().max(1);
                        data[start..data.len().min(start + length)].to_vec()
                    };
                    import::$target(&parts.iter().flat_map(cut).collect::<Vec<u8>>());
                }
            }
        }
    )*};
}

targets!(maestro_flow, playwright_test, kotlin_project);
