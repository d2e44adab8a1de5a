//! Pages are audited with the real axe-core.

use std::os::unix::fs::symlink;
use std::path::PathBuf;

use super::finding::ask;
use super::shop::Shop;
use crate::support::{repository, skip};

const PAGE: &str = "<!doctype html><html lang=en><meta charset=utf-8><title>Page</title>
<main><h1>Hello</h1><img id=logo src='data:,'><div id=form><input id=city></div><p>Fine</p>
<iframe title=Inner srcdoc='<!doctype html><html lang=en><title>Inner</title><h1>Pay</h1><input id=card>'></iframe>
<div id=host></div></main>
<script>
  host.attachShadow({mode: 'open'}).innerHTML = '<button id=bare></button>';
</script>";

/// The package, as npm installed it.
fn axe_core() -> Option<PathBuf> {
    let folder = repository().join(".parts/axe/node_modules/axe-core");
    if folder.is_dir() {
        return Some(folder.canonicalize().expect("it is there"));
    }
    skip::without_part("axe-core is missing: `scripts/parts` installs it");
    None
}

/// The parts of what a check answers, or of why it fails.
type AnswerParts<'a> = Result<&'a [&'a str], &'a [&'a str]>;

/// Asserts what each check answers: all of these parts.
#[track_caller]
fn audit(shop: &Shop, lines: &[(&str, AnswerParts<'_>)]) {
    let asked: Vec<&str> = lines.iter().map(|(line, _)| *line).collect();
    shop.project.write("page.html", PAGE);
    let answers = ask(shop, &asked);
    assert_eq!(answers.len(), lines.len(), "{answers:#?}");
    for ((line, expected), answer) in lines.iter().zip(&answers) {
        let is_so = match (expected, answer) {
            (Ok(parts), Ok(whole)) | (Err(parts), Err(whole)) => parts.iter().all(|part| whole.contains(part)),
            _ => false,
        };
        assert!(is_so, "{line}\nexpected {expected:?}\ngot {answer:?}");
    }
}

#[test]
fn a_page_is_audited_by_rule_with_its_frames_and_shadow_roots() {
    let (Some(shop), Some(package)) = (Shop::open(""), axe_core()) else { return };
    std::fs::create_dir(shop.project.root().join("node_modules")).unwrap();
    symlink(package, shop.project.root().join("node_modules/axe-core")).unwrap();
    audit(
        &shop,
        &[
            (
                "assertAccessible timeoutMs=0",
                Err(&[
                    "the accessibility audit found 4 faults:\n",
                    "image-alt (critical): Images must have alternative text (css=#logo), see https://dequeuniversity.com/",
                    "label (critical): Form elements must have labels (css=#city), see",
                    "(css=#card in frame iframe), see",
                    "button-name (critical): Buttons must have discernible text (css=#bare), see",
                ]),
            ),
            ("assertAccessible rules='[\"image-alt\"]' timeoutMs=0", Err(&["found 1 fault:\nimage-alt"])),
            (
                "assertAccessible rules='[\"image-alt\"]' except='[{\"id\": \"logo\"}]'",
                Ok(&["the audit found no faults"]),
            ),
            ("assertAccessible id=form timeoutMs=0", Err(&["found 1 fault in", ":\nlabel", "css=#city"])),
            ("assertAccessible ref='heading \"Hello\"'", Ok(&["the audit found no faults in"])),
            (
                "assertAccessible except='[{\"id\": \"logo\"}, {\"id\": \"form\"}, {\"id\": \"card\"}, {\"id\": \"bare\"}]'",
                Ok(&["the audit found no faults"]),
            ),
            ("assertAccessible tags='[\"best-practice\"]' rules='[\"image-alt\"]' timeoutMs=0", Err(&["1 fault"])),
            ("assertAccessible tags='[\"wcag9z\"]'", Err(&["no rule of axe-core has the tag `wcag9z`"])),
            ("assertAccessible rules='[\"alt-text\"]'", Err(&["alt-text"])),
            ("assertAccessible except='[{\"id\": \"nowhere\"}]' timeoutMs=0", Err(&["nowhere"])),
            ("web_evaluate script='typeof axe'", Ok(&["undefined"])),
        ],
    );
}

#[test]
fn a_page_cannot_be_audited_without_axe_core() {
    let Some(shop) = Shop::open("") else { return };
    let how = "add `axe-core` to the package.json of the project and run `trailblaze tool install`";
    audit(&shop, &[("assertAccessible", Err(&["node_modules/axe-core/axe.min.js`", how]))]);
    let config = shop.project.read("trailblaze.yaml");
    shop.project.write("trailblaze.yaml", format!("{config}axe: lib/axe.js\n"));
    audit(&shop, &[("assertAccessible", Err(&["lib/axe.js`", "correct `axe:` in trailblaze.yaml"]))]);
    shop.project.write("lib/axe.js", "globalThis.axe = {version: '3.5.1'}");
    audit(&shop, &[("assertAccessible", Err(&["defines no `axe.runPartial`; use version 4.3 or newer"]))]);
}
