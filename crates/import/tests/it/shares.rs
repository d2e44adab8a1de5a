//! The tables in the documents say how much of the corpus is translated. `UPDATE_IMPORT_SHARES=1` writes them.

use std::collections::BTreeMap;
use std::path::Path;

use trailblaze_import::{Imported, ImportedStatement, Share, kotlin, maestro, playwright};

use crate::support;

const START: &str = "<!-- shares: start -->";
const END: &str = "<!-- shares: end -->";

fn table(of: &str, n_files: usize, imported: &[Imported]) -> String {
    let statements: Vec<&ImportedStatement> = imported.iter().flat_map(|imported| &imported.statements).collect();
    let mut by_name: BTreeMap<&str, Vec<&ImportedStatement>> = BTreeMap::new();
    for statement in &statements {
        let name = statement.name.split(' ').next().unwrap_or_default();
        by_name.entry(name).or_default().push(statement);
    }
    let all = Share::of(statements.iter().copied());
    let mut out = format!(
        "{n_files} {of} with {} statements: {} % are translated completely, {} in part, and {} are kept as comments or listed.\n\n",
        all.n_all(),
        all.per_cent(),
        all.n_partly,
        all.n_kept
    );
    out.push_str("| not or not always translated | translated | partly | kept |\n|---|---|---|---|\n");
    for (name, statements) in by_name {
        let share = Share::of(statements);
        if share.n_partly + share.n_kept > 0 {
            let Share { n_translated, n_partly, n_kept } = share;
            out.push_str(&format!("| `{name}` | {n_translated} | {n_partly} | {n_kept} |\n"));
        }
    }
    out
}

fn check(page: &str, table: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/coming-from").join(page);
    let text = std::fs::read_to_string(&path).expect("the page is there");
    let (before, rest) = text.split_once(START).expect("the page has a table of shares");
    let (own, after) = rest.split_once(END).expect("the table ends");
    if own.trim() == table.trim() {
        return;
    }
    if std::env::var_os("UPDATE_IMPORT_SHARES").is_some() {
        std::fs::write(&path, format!("{before}{START}\n\n{table}\n{END}{after}")).expect("the page can be written");
        return;
    }
    panic!(
        "{page} is out of date; run UPDATE_IMPORT_SHARES=1 cargo test -p trailblaze-import --test it shares\n{table}"
    );
}

#[test]
fn the_pages_say_which_share_is_translated() {
    let (flows, others) = support::maestro();
    check("maestro.md", &table("flows", flows.len(), &[maestro::import(&flows, &others)]));
    let tests = support::files(&support::folder("playwright"));
    check("playwright.md", &table("test files", tests.len(), &[playwright::import(&tests, None)]));
    let projects = support::kotlin();
    let imported: Vec<Imported> =
        projects.iter().map(|(_, files)| kotlin::import(files, &support::built_in())).collect();
    check("kotlin-trailblaze.md", &table("projects", projects.len(), &imported));
}
