//! What is generated from the contract is committed and up to date.

use trailblaze_contract_gen::{outputs, root};

#[test]
fn all_generated_files_are_up_to_date() {
    let outputs = outputs(&root()).expect("the contract can be read");
    let stale: Vec<&str> = outputs.iter().filter(|output| output.is_stale(&root())).map(|output| output.path).collect();
    assert!(stale.is_empty(), "out of date: {}; run `./scripts/contract` and commit what it writes", stale.join(", "));
}

#[test]
fn generated_files_say_so() {
    for output in outputs(&root()).expect("the contract can be read") {
        let start: String = output.text.lines().take(3).collect();
        assert!(start.contains("./scripts/contract"), "{}: {start}", output.path);
    }
}
