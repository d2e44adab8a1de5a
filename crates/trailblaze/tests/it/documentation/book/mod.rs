//! The commands on the pages of the documentation do what the pages say: each page runs in an empty folder, from top to bottom.
//!
//! A block of `sh` must exit with 0. A comment above a block changes what happens to it:
//!
//! | comment | the block |
//! |---|---|
//! | `<!-- file: trails/pay.trail.yaml -->` | is written to this path, in any language |
//! | `<!-- exit: 1 -->` | must exit with this code |
//! | `<!-- output -->` | has lines that occur in this order in what the last commands printed; `…` is any text, and a time any time |
//! | `<!-- not run: needs a phone -->` | is not run |
//! | `<!-- setup: cp -r "$REPO/examples/wallet/." . -->` | (any place) runs commands that readers do not see |
//!
//! `BOOK_LOUD=1 cargo test -p trailblaze --test it pages::web -- --nocapture` runs one page and prints what its commands print.

mod page;
mod reference;
mod shell;

use std::path::{Path, PathBuf};

use crate::support::permits::DOCUMENTED_PORT;
use crate::support::{chromium, files, firefox, repository, skip};
use page::Page;

/// A test for each page, so that pages run side by side and a failure names its page.
macro_rules! pages {
    ($($name:ident: $path:literal,)*) => {
        const PAGES: &[&str] = &[$($path),*];

        mod pages {
            $(#[test]
            fn $name() {
                super::commands_work($path);
            })*
        }
    };
}

pages! {
    agent: "docs/agent.md",
    api: "docs/api.md",
    benchmarks: "docs/benchmarks.md",
    checks: "docs/checks.md",
    coming_from_compare: "docs/coming-from/compare.md",
    coming_from_kotlin_trailblaze: "docs/coming-from/kotlin-trailblaze.md",
    coming_from_maestro: "docs/coming-from/maestro.md",
    coming_from_playwright: "docs/coming-from/playwright.md",
    compatibility: "docs/compatibility.md",
    concepts: "docs/concepts.md",
    configuration: "docs/configuration.md",
    editors: "docs/editors.md",
    effects: "docs/effects.md",
    events: "docs/events.md",
    guide_agent: "docs/guide/agent.md",
    guide_custom_tool: "docs/guide/custom-tool.md",
    guide_desktop: "docs/guide/desktop.md",
    guide_firefox_and_webkit: "docs/guide/firefox-and-webkit.md",
    guide_first_trail: "docs/guide/first-trail.md",
    guide_grid: "docs/guide/grid.md",
    guide_in_ci: "docs/guide/in-ci.md",
    guide_network: "docs/guide/network.md",
    guide_kubernetes: "docs/guide/kubernetes.md",
    guide_real_browser: "docs/guide/real-browser.md",
    guide_recording: "docs/guide/recording.md",
    guide_the_trace: "docs/guide/the-trace.md",
    guide_your_iphone: "docs/guide/your-iphone.md",
    guide_your_phone: "docs/guide/your-phone.md",
    healing: "docs/healing.md",
    index: "docs/index.md",
    install: "docs/install.md",
    kotlin: "docs/kotlin.md",
    mcp: "docs/mcp.md",
    models: "docs/models.md",
    other_languages: "docs/other-languages.md",
    processes: "docs/processes.md",
    python: "docs/python.md",
    reference_commands: "docs/reference/commands.md",
    reference_configuration_keys: "docs/reference/configuration-keys.md",
    reference_events: "docs/reference/events.md",
    reference_exit_codes: "docs/reference/exit-codes.md",
    reference_selectors: "docs/reference/selectors.md",
    reference_tools: "docs/reference/tools.md",
    releases: "docs/releases.md",
    running: "docs/running.md",
    sessions: "docs/sessions.md",
    simulated_devices: "docs/simulated-devices.md",
    steps: "docs/steps.md",
    studio: "docs/studio.md",
    tool_servers: "docs/tool-servers.md",
    tools_python: "docs/tools-python.md",
    tools_rust: "docs/tools-rust.md",
    tools_script: "docs/tools-script.md",
    tools_typescript: "docs/tools-typescript.md",
    tools_yaml: "docs/tools-yaml.md",
    tools: "docs/tools.md",
    trails: "docs/trails.md",
    troubleshooting: "docs/troubleshooting.md",
    typescript: "docs/typescript.md",
    web: "docs/web.md",
    which_tool: "docs/which-tool.md",
    packaging_android_readme: "packaging/android/README.md",
    packaging_npm_readme: "packaging/npm/README.md",
    readme: "README.md",
}

#[track_caller]
fn commands_work(page: &str) {
    let Some(programs) = programs() else { return };
    let text = std::fs::read_to_string(root().join(page)).unwrap_or_else(|error| panic!("{page}: {error}"));
    // Readers see the port of a server, so it is always the same one.
    let _alone = (text.contains("localhost:") || text.contains("127.0.0.1:")).then(|| DOCUMENTED_PORT.take());
    let is_loud = std::env::var_os("BOOK_LOUD").is_some();
    if let Err(problem) = Page::read(&text).and_then(|page| shell::run(&page, &programs, &root(), is_loud)) {
        panic!("{page}:{problem}");
    }
}

#[test]
fn every_page_has_a_test() {
    let is_page = |path: &PathBuf| path.extension().is_some_and(|end| end == "md");
    let all = ["docs", "packaging"].iter().flat_map(|folder| files(&repository().join(folder))).filter(is_page);
    let inside = |path: PathBuf| path.strip_prefix(repository()).expect("it is inside").display().to_string();
    let mut all: Vec<String> = all.map(inside).collect();
    all.push("README.md".to_string());
    all.sort();
    let mut tested: Vec<&str> = PAGES.to_vec();
    tested.sort();
    assert_eq!(tested, all, "the list of pages in this file is out of date");
}

/// The repository, or another checkout of it, whose pages then run with the program of this one.
fn root() -> PathBuf {
    std::env::var_os("BOOK_ROOT").map_or_else(repository, PathBuf::from).canonicalize().expect("the repository exists")
}

/// Folders with the programs that pages use besides those of the machine, if all of them are there.
fn programs() -> Option<Vec<PathBuf>> {
    let runtimes = repository().join(".parts/node/node_modules/.bin");
    if !runtimes.join("bun").exists() {
        skip::without_part("there is no Bun: `scripts/parts` installs it");
        return None;
    }
    chromium::find()?;
    firefox::find()?;
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
    let timed = |line: &str| {
        run(&format!("```sh\necho 'it took 5.1 s: too long'\n```\n\n<!-- output -->\n```text\n{line}\n```\n"))
    };
    assert_eq!((timed("it took 5.0 s: too long"), timed("took … s: too")), (String::new(), String::new()));
    assert!(timed("it took 5.0 s: fine").starts_with("6: "));
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
