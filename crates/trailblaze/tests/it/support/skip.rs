//! Tests that are skipped because something is missing. `scripts/test` lists them at its end.

use std::io::Write;

/// Leaves out the test that calls this, unless it runs in CI, where every part must be there: then it fails.
pub fn without_part(why: &str) {
    assert!(std::env::var_os("CI").is_none(), "{why}");
    without(why);
}

/// Leaves out the test that calls this, also in CI: this machine cannot run it.
pub fn without(why: &str) {
    let thread = std::thread::current();
    let line = format!("{}: {why}", thread.name().unwrap_or("a test"));
    eprintln!("SKIPPED: {line}");
    // What a passing test prints is not shown, so the script that started the tests reads this instead.
    let Some(path) = std::env::var_os("TRAILBLAZE_SKIPPED_TESTS") else { return };
    let file = std::fs::OpenOptions::new().create(true).append(true).open(path);
    let _ = file.and_then(|mut file| writeln!(file, "{line}"));
}
