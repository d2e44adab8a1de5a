//! How strictly a run takes what its tools answer, and what it let pass under any rule.

use std::collections::BTreeSet;

use parking_lot::Mutex;

/// Shared by the sessions of a run.
#[derive(Debug, Default)]
pub struct Strictness {
    /// Whether a call has failed if its tool answers `success: false`.
    pub results: bool,
    let_pass: Mutex<BTreeSet<&'static str>>,
}

impl Strictness {
    pub fn new(results: bool) -> Strictness {
        Strictness { results, let_pass: Mutex::default() }
    }

    /// Notes that something passed which would have failed under the stricter rule of this name, as in `--strict=results`.
    pub fn let_pass(&self, rule: &'static str) {
        self.let_pass.lock().insert(rule);
    }

    /// The rules that would have failed something.
    pub fn lenient_about(&self) -> Vec<&'static str> {
        self.let_pass.lock().iter().copied().collect()
    }
}
