//! Exit codes, with the comments of their enum.

use std::fmt::Write;

use trailblaze_contract_gen::rust_types::{self, RustKind};
use trailblaze_protocol::exit::Exit;

use super::cell;

pub fn page() -> String {
    let mut out = String::from(
        "# Exit codes\n\nEvery command exits with one of these codes. If a command does several things, such as a run of several \
         trails,\nits code is that of the most severe result; the table is in this order.\n\n| code | means |\n|---|---|\n",
    );
    let types = rust_types::protocol().expect("the types of the protocol");
    let RustKind::Enum(variants) = &types["Exit"].kind else { panic!("Exit is an enum") };
    assert_eq!(variants.len(), Exit::ALL.len());
    for (exit, variant) in Exit::ALL.iter().zip(variants) {
        writeln!(out, "| {} | {} |", exit.code(), cell(&variant.doc)).expect("text can be written to");
    }
    out
}
