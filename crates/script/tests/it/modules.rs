//! Programs of several files: own modules, JSON, npm packages of both kinds, and what is refused.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use async_trait::async_trait;
use serde_json::{Value, json};
use tempfile::TempDir;
use trailblaze_script::transpile::SourceRole;
use trailblaze_script::{
    Abort, EntryPoint, HostError, Limits, Linked, LogLine, ScriptHost, ScriptOutcome, SourceOffset, World, call, link,
};

struct Nothing;

#[async_trait]
impl ScriptHost for Nothing {
    async fn ask(&self, operation: &str, _: Value) -> Result<Value, HostError> {
        Err(HostError::Refused(format!("`{operation}` is not granted")))
    }

    fn log(&self, _: LogLine) {}

    fn doubt(&self, _: String) {}
}

/// A project with these files.
fn project(files: &[(&str, &str)]) -> TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    for (path, text) in files {
        write(folder.path(), path, text);
    }
    folder
}

fn write(root: &Path, path: &str, text: impl AsRef<[u8]>) {
    let path = root.join(path);
    std::fs::create_dir_all(path.parent().expect("a parent")).expect("a folder");
    std::fs::write(path, text).expect("written");
}

fn linked(root: &Path, entry: &str) -> Linked {
    link(root, EntryPoint::file(Path::new(entry), SourceRole::Tool)).unwrap_or_else(|errors| panic!("{errors:?}"))
}

async fn run_linked(linked: Linked) -> Result<Value, String> {
    let abort = Abort::default();
    let world = match World::new(&Arc::new(linked.program), Limits::default(), &abort) {
        Ok(world) => world,
        Err(error) => return Err(error.to_string()),
    };
    match call(world, &abort, json!({"args": {}, "memory": {}}).to_string(), &Nothing).await.1 {
        ScriptOutcome::Returned(returned) => Ok(returned["value"].clone()),
        ScriptOutcome::Threw(_, thrown) => Err(thrown.to_string()),
        other => Err(format!("{other:?}")),
    }
}

/// Runs the tool `a.ts`.
async fn run(files: &[(&str, &str)]) -> Result<Value, String> {
    let folder = project(files);
    run_linked(linked(folder.path(), "a.ts")).await
}

/// Why `a.ts` cannot be linked.
fn refusals(files: &[(&str, &str)]) -> Vec<String> {
    let folder = project(files);
    refusals_in(folder.path())
}

fn refusals_in(root: &Path) -> Vec<String> {
    match link(root, EntryPoint::file(Path::new("a.ts"), SourceRole::Tool)) {
        Ok(linked) => panic!("it was linked: {:?}", linked.files),
        Err(errors) => errors.iter().map(ToString::to_string).collect(),
    }
}

#[tokio::test]
async fn own_modules_are_found_as_typescript_finds_them() {
    let value = run(&[
        (
            "a.ts",
            "import { b } from './lib/b.js'; import c from './lib/c'; import { d } from './lib/d.mjs';\n\
             import { e } from './e'; import data from './data.json'; import { f } from './lib/f.js';\n\
             return [b, c(), d, e, data.list, f]",
        ),
        ("lib/b.ts", "import type { X } from './nowhere.ts';\nexport const b: number = 1;"),
        ("lib/c.ts", "export { default } from '../e/c.ts';"),
        ("lib/d.mts", "export const d = 'd' as const;"),
        ("lib/f.js", "export const f = 6;"),
        ("e/index.ts", "export enum E { X = 5 }\nexport const e = E.X;"),
        ("e/c.ts", "export default () => 'c';"),
        ("data.json", r#"{"list": [1, null], "__proto__": {"x": 1}}"#),
    ])
    .await;
    assert_eq!(value, Ok(json!([1, "c", "d", 5, [1, null], 6])));
}

#[tokio::test]
async fn a_source_inside_another_file_imports_from_there() {
    let folder = project(&[("tools/b.ts", "export const b = 2;"), ("tools/a.yaml", "…")]);
    let source = "import { b } from './b.ts';\nif (b === 2) throw new Error('found')\nreturn 1";
    let offset = Some(SourceOffset { lines: 4, columns: 6 });
    let entry = EntryPoint { path: Path::new("tools/a.yaml"), source: Some(source), offset, role: SourceRole::Tool };
    let linked = link(folder.path(), entry).expect("linked");
    assert_eq!(linked.files.keys().collect::<Vec<_>>(), ["tools/a.yaml", "tools/b.ts"]);
    assert_eq!(run_linked(linked).await, Err("found (tools/a.yaml:6:30)".to_string()));
    let entry = EntryPoint { source: Some("import './c.ts';"), ..entry };
    let errors = link(folder.path(), entry).expect_err("missing");
    assert_eq!(errors[0].to_string(), "tools/a.yaml:5:14: `./c.ts` was not found; tried `tools/c.ts`");
}

#[tokio::test]
async fn a_cycle_of_imports_works_and_a_use_before_it_is_ready_names_its_place() {
    let fine = run(&[
        ("a.ts", "import { isEven } from './even.ts'; return isEven(5)"),
        (
            "even.ts",
            "import { isOdd } from './odd.ts'; export const isEven = (n: number): boolean => n === 0 || isOdd(n - 1);",
        ),
        (
            "odd.ts",
            "import { isEven } from './even.ts'; export const isOdd = (n: number): boolean => n !== 0 && isEven(n - 1);",
        ),
    ]);
    assert_eq!(fine.await, Ok(json!(false)));
    let early = run(&[
        ("a.ts", "import { b } from './b.ts'; return b"),
        ("b.ts", "import { c } from './c.ts';\nexport const b = c + 1;"),
        ("c.ts", "import { b } from './b.ts';\n\nexport const c = b + 1;"),
    ]);
    let message = early.await.expect_err("used too early");
    assert!(message.starts_with("ReferenceError: b is not initialized (c.ts:3:"), "{message}");
}

#[tokio::test]
async fn a_missing_export_is_an_error_at_the_import() {
    let package = ("node_modules/dep/package.json", r#"{"type": "module", "exports": "./i.js"}"#);
    let missing = run(&[
        ("a.ts", "import { b } from './b.ts';\nreturn b"),
        (
            "b.ts",
            "// The author's.\nimport type { Other } from './c.ts';\nimport { other, nowhere } from 'dep';\nexport const b: Other = [other, nowhere];",
        ),
        package,
        ("node_modules/dep/i.js", "export const other = 1;"),
    ])
    .await;
    assert_eq!(missing, Err("`dep` has no export `nowhere` (b.ts:3:17)".to_string()));
}

#[tokio::test]
async fn errors_in_imported_files_name_them() {
    let thrown = run(&[
        ("a.ts", "import { b } from './lib/b.ts'; return b()"),
        ("lib/b.ts", "interface A {\n  x: number\n}\nexport const b = () => {\n  throw new Error('no')\n}"),
    ]);
    assert_eq!(thrown.await, Err("no (lib/b.ts:5:13, called from a.ts:1:40)".to_string()));
    assert_eq!(
        refusals(&[("a.ts", "import './b.ts'; import './c.ts'"), ("b.ts", "let x: = 1"), ("c.ts", "let\nlet")]),
        [
            "b.ts:1:8: Unexpected token (imported by a.ts:1:8)",
            "c.ts:2:1: The keyword 'let' is reserved (imported by a.ts:1:25)"
        ]
    );
}

#[test]
fn what_is_missing_or_outside_is_an_error_with_its_place() {
    let outside = project(&[("x.ts", "export {}")]);
    let folder = project(&[("a.ts", ""), ("pkg/index.ts", "")]);
    let refused = |source: &str| {
        write(folder.path(), "a.ts", source);
        refusals_in(folder.path()).join("\n").replace(&outside.path().display().to_string(), "OUTSIDE")
    };
    assert_eq!(
        refused("\n import './b'"),
        "a.ts:2:9: `./b` was not found; tried `b.ts`, `b.mts`, `b.js`, `b.mjs`, `b.json`, `b/index.ts`, `b/index.js`"
    );
    assert_eq!(refused("import './b.js'"), "a.ts:1:8: `./b.js` was not found; tried `b.ts`, `b.js`");
    assert_eq!(refused("import '../../x.ts'"), "a.ts:1:8: `../../x.ts` is outside the project");
    assert_eq!(refused("import '/etc/passwd'"), "a.ts:1:8: `/etc/passwd` is outside the project");
    assert_eq!(
        refused(&format!("import '{}/x.ts'", outside.path().display())),
        "a.ts:1:8: `OUTSIDE/x.ts` is outside the project"
    );
    assert_eq!(
        refused("import 'https://a.b/c.js'"),
        "a.ts:1:8: `https://a.b/c.js`: modules cannot be loaded from `https:`"
    );
    assert_eq!(
        refused("import 'file:///etc/x.js'"),
        "a.ts:1:8: `file:///etc/x.js`: modules cannot be loaded from `file:`"
    );
    assert_eq!(
        refused("import 'data:text/javascript,1'"),
        "a.ts:1:8: `data:text/javascript,1`: modules cannot be loaded from `data:`"
    );
    assert_eq!(
        refused("import '@nowhere/at-all/x'"),
        "a.ts:1:8: the package `@nowhere/at-all` is not installed: no `node_modules` here or above has it"
    );
    // An `import()` of an own file too.
    assert_eq!(refused("await import('./b.ts')"), "a.ts:1:14: `./b.ts` was not found; tried `b.ts`");
    #[cfg(unix)]
    {
        std::os::unix::fs::symlink(outside.path(), folder.path().join("linked")).expect("a link");
        assert_eq!(refused("import './linked/x.ts'"), "a.ts:1:8: `./linked/x.ts` is outside the project");
        std::os::unix::fs::symlink(outside.path().join("x.ts"), folder.path().join("y.ts")).expect("a link");
        assert_eq!(refused("import './y.ts'"), "a.ts:1:8: `./y.ts` is outside the project");
    }
    for odd in
        ["", ".", "..", "./", "@", "@/", "/", "\\", "#x", "?", "./\\0", "a/../../b", "%2e%2e/x", "./a.ts/x", "C:\\x"]
    {
        let source = format!("import {}", json!(odd));
        write(folder.path(), "a.ts", &source);
        let errors = link(folder.path(), EntryPoint::file(Path::new("a.ts"), SourceRole::Tool)).expect_err("odd");
        assert_eq!(errors[0].module, "a.ts", "{odd}: {errors:?}");
    }
}

#[test]
fn files_that_the_engine_cannot_run_are_refused() {
    let folder = project(&[(
        "a.ts",
        "import './b.wasm'; import './c.node'; import './d.css'; import './e.js'; import './f.json'; import './g.js'; import './h.js'",
    )]);
    for name in ["b.wasm", "c.node", "d.css"] {
        write(folder.path(), name, "x");
    }
    write(folder.path(), "e.js", [0xff, 0xfe]);
    write(folder.path(), "f.json", "{\n \"a\": }");
    write(folder.path(), "g.js", "x".repeat((2 << 20) + 1));
    write(folder.path(), "h.js", "[".repeat(100_000));
    let refusals = refusals_in(folder.path());
    let expected = [
        "b.wasm: WebAssembly cannot be imported",
        "c.node: a native addon cannot be imported",
        "d.css: only files that end in .ts, .mts, .js, .mjs, .cjs or .json can be imported",
        "e.js: it cannot be read: stream did not contain valid UTF-8",
        "f.json:2:7: it is not valid JSON",
        "g.js: it has 2097153 bytes; the limit is 2097152",
        "h.js:1:250: the source is nested too deeply here",
    ];
    assert_eq!(refusals.len(), expected.len(), "{refusals:?}");
    for (refusal, expected) in refusals.iter().zip(expected) {
        assert!(refusal.starts_with(expected), "{refusal}");
    }
}

#[test]
fn the_number_of_modules_and_their_size_are_limited() {
    let folder = project(&[("a.ts", "import './m0.ts'")]);
    for n in 0..2_001 {
        write(folder.path(), &format!("m{n}.ts"), format!("import './m{}.ts'", n + 1));
    }
    assert_eq!(refusals_in(folder.path()), ["a.ts: it has more than 2000 modules"]);
    let folder = project(&[("a.ts", &(0..20).map(|n| format!("import './m{n}.json';")).collect::<String>())]);
    for n in 0..20 {
        write(folder.path(), &format!("m{n}.json"), format!("\"{}\"", "x".repeat(1 << 20)));
    }
    assert_eq!(refusals_in(folder.path()), ["a.ts: its modules have more than 16 MB together"]);
}

#[tokio::test]
async fn modules_of_node_are_refused_with_the_chain_of_imports() {
    let errors = refusals(&[
        ("a.ts", "import { b } from './b.ts';\nimport 'node:os'; import 'bun:sqlite'; b"),
        ("b.ts", "\nimport 'dep'; export const b = 1"),
        ("node_modules/dep/package.json", r#"{"name": "dep", "main": "lib/index.js"}"#),
        ("node_modules/dep/lib/index.js", "'use strict';\nconst x = require('./deeper');"),
        ("node_modules/dep/lib/deeper.js", "exports.read = require('fs').readFileSync;"),
    ]);
    assert_eq!(
        errors,
        [
            "a.ts:2:8: `node:os` is a module of Node, which the script engine does not have",
            "a.ts:2:26: `bun:sqlite` is a module of Node, which the script engine does not have",
            "node_modules/dep/lib/deeper.js:1:24: `fs` is a module of Node, which the script engine does not have \
             (imported by node_modules/dep/lib/index.js:2:19, imported by b.ts:2:8, imported by a.ts:1:19)",
        ]
    );
}

#[tokio::test]
async fn what_is_imported_only_when_reached_fails_only_then() {
    let files = [
        (
            "a.ts",
            "import dep from 'dep';\nconst why = async (f: () => unknown) => { try { return await f() } catch (e) { return e.message } };\n\
             return [await why(() => import('node:fs')), await why(() => import('needy')), dep.optional, await why(dep.lazy)]",
        ),
        ("node_modules/needy/index.mjs", "import { x } from './inner.mjs'; export { x }"),
        ("node_modules/needy/inner.mjs", "import { readFile } from 'fs/promises'; export const x = readFile"),
        ("node_modules/needy/package.json", r#"{"name": "needy", "exports": "./index.mjs"}"#),
        (
            "node_modules/dep/index.js",
            "let optional; try { optional = require('not-there') } catch (e) { optional = e.code }\n\
             module.exports = { optional, lazy: () => require('crypto'), dynamic: (name) => require(name) }",
        ),
    ];
    let value = run(&files).await.expect("it runs");
    assert_eq!(
        value,
        json!([
            "`node:fs` is a module of Node, which the script engine does not have",
            "node_modules/needy/inner.mjs:1:26: `fs/promises` is a module of Node, which the script engine does not have \
             (imported by node_modules/needy/index.mjs:1:19, imported by a.ts:3:68)",
            "MODULE_NOT_FOUND",
            "`crypto` is a module of Node, which the script engine does not have",
        ])
    );
}

#[tokio::test]
async fn commonjs_packages_are_modules_with_names() {
    let value = run(&[
        (
            "a.ts",
            "import whole, { one, two, three, four, five, six } from 'old';\nimport fn, { extra } from 'old/fn';\nimport json from 'old/json';\n\
             return [one, two, three, four, five, six, whole.one, fn(2), extra, json, globalThis.leaked]",
        ),
        ("node_modules/old/package.json", r#"{"name": "old", "version": "1.2.3"}"#),
        (
            "node_modules/old/index.js",
            "#!/usr/bin/env node\n\
             exports.one = 1; module.exports.two = 2; Object.defineProperty(exports, 'three', { enumerable: true, get: function () { return 3; } });\n\
             var __exportStar = function (m, exports) { for (var p in m) exports[p] = m[p]; };\n\
             __exportStar(require('./star'), exports); Object.assign(exports, { five: 5, six: undeclared = 6 });",
        ),
        ("node_modules/old/star.js", "module.exports = { four: 4 }"),
        (
            "node_modules/old/fn.js",
            "leaked = 'sloppy'; module.exports = function (n) { return n * 2 }; module.exports.extra = typeof this + __filename",
        ),
        ("node_modules/old/json.js", "module.exports = require('./package.json').version"),
    ])
    .await;
    assert_eq!(value, Ok(json!([1, 2, 3, 4, 5, 6, 1, 4, "objectnode_modules/old/fn.js", "1.2.3", "sloppy"])));
}

#[tokio::test]
async fn commonjs_modules_run_when_required_and_may_form_cycles() {
    let value = run(&[
        ("a.ts", "import even from 'parity/even.js'; import odd from 'parity/odd.js'; return [even.is(10), odd.is(10), even.order]"),
        (
            "node_modules/parity/even.js",
            "exports.order = ['even starts']; const odd = require('./odd'); exports.order.push('even ends');\n\
             exports.is = (n) => n === 0 || odd.is(n - 1); exports.never = () => require('./never')",
        ),
        (
            "node_modules/parity/odd.js",
            "const even = require('./even.js'); even.order.push('odd'); exports.is = (n) => n !== 0 && even.is(n - 1)",
        ),
        ("node_modules/parity/never.js", "throw new Error('nobody required this')"),
    ])
    .await;
    assert_eq!(value, Ok(json!([true, false, ["even starts", "odd", "even ends"]])));
    let thrown = run(&[
        ("a.ts", "import { f } from 'broken'; return f()"),
        ("node_modules/broken/index.js", "exports.f = () => {\n  throw new TypeError('inner')\n}"),
    ]);
    assert_eq!(thrown.await, Err("TypeError: inner (a.ts:1:36)".to_string()));
}

#[tokio::test]
async fn commonjs_can_require_es_modules_and_the_other_way_round() {
    let value = run(&[
        ("a.ts", "import x from 'mixed'; import { later } from 'mixed/later.cjs'; return [x, await later()]"),
        ("node_modules/mixed/package.json", r#"{"name": "mixed", "type": "module", "main": "./main.cjs"}"#),
        ("node_modules/mixed/main.cjs", "const { b, default: d } = require('./b.js'); module.exports = b + d"),
        ("node_modules/mixed/b.js", "import c from './c.cjs'; export const b = 'b' + c.c; export default 'd'"),
        ("node_modules/mixed/c.cjs", "exports.c = 'c'"),
        ("node_modules/mixed/later.cjs", "exports.later = async () => (await import('./b.js')).b"),
    ])
    .await;
    assert_eq!(value, Ok(json!(["bcd", "bc"])));
}

#[test]
fn packages_above_the_project_are_not_used() {
    let folder = project(&[
        ("node_modules/above/package.json", r#"{"name": "above", "main": "index.js"}"#),
        ("node_modules/above/index.js", "module.exports = 1"),
        ("project/trailblaze.yaml", ""),
        ("project/node_modules/own/index.js", "module.exports = 1"),
        ("project/scripts/a.ts", "import 'own'; import 'above'"),
    ]);
    let installed = folder.path().canonicalize().expect("a folder").join("node_modules/above");
    let expected =
        format!("a.ts:1:22: the package `above` is installed above the project only, in `{}`", installed.display());
    assert_eq!(refusals_in(&folder.path().join("project/scripts")), [expected]);
}

#[tokio::test]
async fn packages_are_found_by_conditions_through_links_and_above_in_the_repository() {
    let folder = project(&[
        (".git/HEAD", ""),
        (
            "node_modules/above/package.json",
            r##"{"name": "above", "exports": {".": {"trailblaze": "./engine.js", "default": "./node.js"}, "./ts": "./x.ts"}, "imports": {"#own": "./own.js"}}"##,
        ),
        ("node_modules/above/engine.js", "import own from '#own'; export const where = 'engine ' + own"),
        ("node_modules/above/own.js", "export default 'own'"),
        ("node_modules/above/node.js", "import 'node:fs'"),
        ("node_modules/above/x.ts", "export const x: string = 'typed'"),
        ("packages/shared/package.json", r#"{"name": "@acme/shared", "type": "module", "main": "src/main.ts"}"#),
        (
            "packages/shared/src/main.ts",
            "import { where } from 'above'; import { up } from '../up.ts'; export const shared = where + up",
        ),
        ("packages/shared/up.ts", "export const up = '!'"),
        ("packages/shared/escape.ts", "import '../../secret.ts'"),
        ("secret.ts", "export const secret = 1"),
        (
            "project/a.ts",
            "import { shared } from '@acme/shared'; import { where } from 'above'; import { x } from 'above/ts'; return [shared, where, x]",
        ),
    ]);
    let root = folder.path().join("project");
    std::fs::create_dir_all(root.join("node_modules/@acme")).expect("a folder");
    #[cfg(unix)]
    std::os::unix::fs::symlink("../../../packages/shared", root.join("node_modules/@acme/shared")).expect("a link");
    let linked = linked(&root, "a.ts");
    let ids: Vec<&String> = linked.files.keys().collect();
    assert_eq!(
        ids,
        [
            "a.ts",
            "node_modules/@acme/shared/src/main.ts",
            "node_modules/@acme/shared/up.ts",
            "node_modules/above/engine.js",
            "node_modules/above/own.js",
            "node_modules/above/x.ts"
        ]
    );
    assert_eq!(run_linked(linked).await, Ok(json!(["engine own!", "engine own", "typed"])));
    write(&root, "a.ts", "import '@acme/shared/escape.ts'");
    assert_eq!(
        refusals_in(&root),
        ["node_modules/@acme/shared/escape.ts:1:8: `../../secret.ts` is outside the project (imported by a.ts:1:8)"]
    );
    write(&root, "a.ts", "import 'above/hidden'");
    assert_eq!(
        refusals_in(&root),
        ["a.ts:1:8: the package `above` has no `above/hidden`: its package.json does not export it to `import`"]
    );
}

/// The packages that the tests install; nothing if they are not there.
fn installed() -> Option<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../.parts/node/node_modules");
    folder.is_dir().then_some(folder)
}

#[cfg(unix)]
#[tokio::test]
async fn packages_from_the_registry_run() {
    let Some(installed) = installed() else { return };
    let folder = project(&[("a.ts", "")]);
    std::os::unix::fs::symlink(installed, folder.path().join("node_modules")).expect("a link");
    for (source, expected) in [
        (
            "import { z } from 'zod';\nconst a = z.object({ n: z.number().min(2), s: z.string().email().optional() });\n\
             return [a.parse({ n: 3 }), a.safeParse({ n: 1 }).error.issues[0].message, z.toJSONSchema(a).type]",
            json!([{"n": 3}, "Too small: expected number to be >=2", "object"]),
        ),
        (
            "import z3 from 'zod/v3'; return z3.number().safeParse('x').error.issues[0].message",
            json!("Expected number, received string"),
        ),
        ("import ms from 'ms'; return [ms('2 days'), ms(60000)]", json!([172_800_000, "1m"])),
        ("import Ajv from 'ajv'; return new Ajv().compile({ type: 'number' })('x')", json!(false)),
        (
            "import qs from 'qs'; import { stringify } from 'qs'; return [qs.parse('a[b]=c'), stringify({ a: [1] })]",
            json!([{"a": {"b": "c"}}, "a%5B0%5D=1"]),
        ),
        ("import { clsx } from 'clsx'; return clsx('a', { b: true })", json!("a b")),
        ("import equal from 'fast-deep-equal'; return equal({ a: [1] }, { a: [1] })", json!(true)),
    ] {
        write(folder.path(), "a.ts", source);
        let linked = linked(folder.path(), "a.ts");
        assert_eq!(run_linked(linked).await, Ok(expected), "{source}");
    }
}

mod hostile {
    use proptest::prelude::*;

    use super::*;

    /// Pieces that modules are made of, in any order.
    fn pieces() -> impl Strategy<Value = String> {
        let piece = prop_oneof![
            Just("import x from './b.js';"),
            Just("import './a.ts';"),
            Just("export * from 'pkg';"),
            Just("export default 1;"),
            Just("require('./b.js');"),
            Just("module.exports = require('pkg');"),
            Just("exports.a = exports;"),
            Just("import('./' + 1);"),
            Just("import('fs');"),
            Just("{ ("),
            Just("`${"),
            Just("//"),
            Just("\n"),
            Just("return "),
            Just("\u{2028}'\\u0000'"),
            Just("#!/x"),
            Just("await 1;"),
        ];
        prop::collection::vec(piece, 0..12).prop_map(|pieces| pieces.concat())
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(ProptestConfig::default().cases / 4))]

        #[test]
        fn any_import_is_resolved_or_refused(specifier in "(\\PC{0,20}|[./@#?:a-z\\\\%]{0,12})") {
            let source = format!("import {};", json!(specifier));
            let folder = project(&[("a.ts", &source), ("b.ts", ""), ("node_modules/pkg/index.js", "")]);
            if let Err(errors) = link(folder.path(), EntryPoint::file(Path::new("a.ts"), SourceRole::Tool)) {
                prop_assert!(!errors.is_empty());
            }
        }

        #[test]
        fn any_modules_are_linked_and_loaded_or_refused(a in pieces(), b in pieces(), c in pieces()) {
            let folder = project(&[("a.ts", &a), ("b.js", &b), ("node_modules/pkg/index.js", &c)]);
            if let Ok(linked) = link(folder.path(), EntryPoint::file(Path::new("a.ts"), SourceRole::Module)) {
                let _ = World::new(&Arc::new(linked.program), Limits::default(), &Abort::default());
            }
        }

        #[test]
        fn any_package_json_is_read_or_refused(json in "[{}\\[\\]\":,./*a-z#]{0,60}") {
            let folder = project(&[("a.ts", "import 'pkg'; import 'pkg/x';"), ("node_modules/pkg/package.json", &json)]);
            let _ = link(folder.path(), EntryPoint::file(Path::new("a.ts"), SourceRole::Tool));
        }
    }
}
