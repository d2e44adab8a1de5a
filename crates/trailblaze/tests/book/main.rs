//! The commands on the pages of the documentation do what the pages say: each page runs in an empty folder, from top to bottom.
//!
//! A block of `sh` must exit with 0. A comment above a block changes what happens to it:
//!
//! | comment | the block |
//! |---|---|
//! | `<!-- file: trails/pay.trail.yaml -->` | is written to this path, in any language |
//! | `<!-- exit: 1 -->` | must exit with this code |
//! | `<!-- output -->` | has lines that occur in this order in what the last commands printed; `…` is any text |
//! | `<!-- not run: needs a phone -->` | is not run |
//! | `<!-- setup: cp -r "$REPO/examples/wallet/." . -->` | (any place) runs commands that readers do not see |
//!
//! `BOOK_PAGE=docs/web.md cargo test -p trailblaze --test book -- --nocapture` runs one page and prints what its commands print.

// Pages are run by bash, in a process group.
#![cfg(unix)]

#[path = "../support/mod.rs"]
mod support;

mod page;
mod reference;
mod shell;

use std::path::{Path, PathBuf};
use std::sync::Mutex;

use page::Page;
use support::{files, repository, skip};

/// How many pages run at the same time: most of them wait for a device or a browser.
const AT_ONCE: usize = 3;

#[test]
fn the_commands_on_every_page_work() {
    let Some(programs) = programs() else { return };
    let only = std::env::var_os("BOOK_PAGE").map(|page| root().join(page));
    let pages: Vec<PathBuf> = only.clone().map_or_else(all_pages, |page| vec![page]);
    let (queue, failures, port) = (Mutex::new(pages.iter()), Mutex::new(Vec::new()), Mutex::new(()));
    std::thread::scope(|scope| {
        for _ in 0..AT_ONCE {
            scope.spawn(|| {
                while let Some(file) = { queue.lock().unwrap().next() } {
                    let name = file.strip_prefix(root()).unwrap_or(file).display().to_string();
                    let text = std::fs::read_to_string(file).unwrap_or_else(|error| panic!("{name}: {error}"));
                    // Readers see the port of a server, so it is always the same one.
                    let alone =
                        (text.contains("localhost:") || text.contains("127.0.0.1:")).then(|| port.lock().unwrap());
                    let outcome =
                        Page::read(&text).and_then(|page| shell::run(&page, &programs, &root(), only.is_some()));
                    drop(alone);
                    if let Err(problem) = outcome {
                        failures.lock().unwrap().push(format!("{name}:{problem}"));
                    }
                }
            });
        }
    });
    let failures = failures.into_inner().unwrap();
    assert!(failures.is_empty(), "\n\n{}\n", failures.join("\n\n"));
}

/// The repository, or another checkout of it, whose pages then run with the program of this one.
fn root() -> PathBuf {
    std::env::var_os("BOOK_ROOT").map_or_else(repository, PathBuf::from).canonicalize().expect("the repository exists")
}

fn all_pages() -> Vec<PathBuf> {
    let is_page = |path: &PathBuf| path.extension().is_some_and(|end| end == "md");
    let mut pages: Vec<PathBuf> =
        ["docs", "packaging"].iter().flat_map(|folder| files(&root().join(folder))).filter(is_page).collect();
    pages.push(root().join("README.md"));
    pages
}

/// Folders with the programs that pages use besides those of the machine, if all of them are there.
fn programs() -> Option<Vec<PathBuf>> {
    let runtimes = repository().join(".parts/node/node_modules/.bin");
    if !runtimes.join("bun").exists() {
        skip::without_part("there is no Bun: `scripts/parts` installs it");
        return None;
    }
    let path = std::env::var_os("PATH").unwrap_or_default();
    let names = ["chromium", "chromium-browser", "google-chrome"];
    let is_installed = std::env::split_paths(&path).any(|folder| names.iter().any(|name| folder.join(name).is_file()));
    if !is_installed && std::env::var_os("TRAILBLAZE_TEST_CHROMIUM").is_none() {
        skip::without_part("there is no Chromium: `scripts/parts` installs one");
        return None;
    }
    Some(vec![runtimes])
}

#[test]
fn a_page_that_is_wrong_fails_with_its_line() {
    let run = |text: &str| match Page::read(text).and_then(|page| shell::run(&page, &[], Path::new("/"), false)) {
        Ok(()) => String::new(),
        Err(problem) => problem,
    };
    assert_eq!(run("# Title\n\n```sh\ntrue\n```\n"), "");
    // Variables and the folder stay; a file is written where the page has it.
    let files = "<!-- file: a/b.txt -->\n\n```text\nhello\n```\n\n```sh\ncd a\nX=b.txt\n```\n\n```sh\ncat $X\n```\n";
    assert_eq!(run(&format!("{files}\n<!-- output -->\n```text\nh…o\n```\n")), "");
    assert!(
        run(&format!("{files}\n<!-- output -->\n```text\nbye\n```\n")).starts_with("17: `bye` is not in the output")
    );
    let failed = run("```sh\nfalse\ntrue\n```\n");
    assert!(failed.starts_with("1: exit code 1\n"), "{failed}");
    assert_eq!(run("<!-- exit: 3 -->\n```sh\n(exit 3)\n```\n"), "");
    assert!(run("<!-- exit: 3 -->\n```sh\ntrue\n```\n").starts_with("2: exit code 0, expected 3\n"));
    assert_eq!(run("<!-- setup: X=5 -->\n\n```sh\ntest $X = 5\n```\n"), "");
    assert_eq!(run("<!-- not run: needs a phone -->\n```sh\nfalse\n```\n"), "");
    assert_eq!(run("```yaml\n```sh\n```\n"), "");
    for (text, expected) in [
        ("<!-- not run: why -->\n\nText\n", "1: no block follows this comment"),
        ("<!-- not run -->\n```sh\n```\n", "1: say why it is not run"),
        ("<!-- exit: x -->\n```sh\n```\n", "1: `x` is not an exit code"),
        ("<!-- exit: 1 -->\n```yaml\n```\n", "2: only blocks of `sh` have an exit code"),
        ("```bash\nls\n```\n", "1: write `sh` instead of `bash`"),
        ("```sh\n$ ls\n```\n", "2: a block of `sh` has no prompts"),
        ("<!-- output -->\n```text\nx\n```\n", "2: no commands before this output"),
        ("```sh\nls\n", "1: this block has no end"),
    ] {
        assert_eq!(run(text), expected, "{text}");
    }
}
