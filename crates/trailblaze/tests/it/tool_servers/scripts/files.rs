//! Scripts in files of their own, with imports.

use crate::support::{Project, repository};

const PLACE: &str = "trailblaze-config/tools/tryIt.yaml";

fn with_file(path: &str, source: &str) -> Project {
    let file = format!("id: tryIt\ndescription: A script.\nparameters: []\nscript: {{file: {path}}}\n");
    Project::counter().with(PLACE, file).with(path, source)
}

fn call(project: &Project, code: i32) -> String {
    let ran = project.run(&["tool", "tryIt", "-d", "android/sim-1"]).exits(code);
    if code == 0 { ran.stdout } else { ran.stderr }
}

#[test]
fn a_script_imports_modules_of_the_project() {
    let project = with_file("tools/a.ts", "import { greet } from './lib/greet.ts';\nimport names from '../names.json';\n\nexport default (_args: object): string => greet(names[0]);\n")
        .with("tools/lib/greet.ts", "export enum Mark { Loud = '!' }\nexport const greet = (name: string): string => `Hello, ${name}${Mark.Loud}`;\n")
        .with("names.json", "[\"Ada\"]");
    assert_eq!(call(&project, 0), "Hello, Ada!\n");
    // A script inside a tool file imports from there.
    let inline = "id: tryIt\ndescription: A script.\nparameters: []\nscript:\n  source: |\n    import { greet } from '../../tools/lib/greet.ts';\n    return greet('Bob');\n";
    project.write(PLACE, inline);
    assert_eq!(call(&project, 0), "Hello, Bob!\n");
}

#[test]
fn errors_name_the_imported_file() {
    let project = with_file("tools/a.ts", "import { broken } from './b.ts';\nexport default () => broken();\n").with(
        "tools/b.ts",
        "interface A { x: number }\n\nexport function broken(): A {\n  throw new Error('no');\n}\n",
    );
    let said = call(&project, 1);
    assert!(said.contains("error: no (tools/b.ts:4:"), "{said}");
    project.write("tools/b.ts", "export const broken = () => {\n  const a: = 1;\n};\n");
    let said = call(&project, 3);
    assert!(said.contains("tools/b.ts:2:12"), "{said}");
}

#[test]
fn what_cannot_be_imported_is_found_before_anything_runs() {
    for (import, expected) in [
        ("./missing.ts", "`./missing.ts` was not found"),
        ("../../outside.ts", "`../../outside.ts` is outside the project"),
        ("node:fs", "`node:fs` is a module of Node"),
        ("left-pad", "run `npm install left-pad` in the project's folder"),
    ] {
        let project = with_file("tools/a.ts", &format!("\n  import x from '{import}';\nexport default () => x;\n"));
        let said = call(&project, 3);
        assert!(said.contains(expected) && said.contains("tools/a.ts:2:"), "{import}: {said}");
    }
    let file = "id: tryIt\ndescription: A script.\nparameters: []\nscript: {file: tools/none.ts}\n";
    let said = call(&Project::counter().with(PLACE, file), 3);
    assert!(said.contains("there is no file `tools/none.ts`"), "{said}");
    let outside = tempfile::tempdir().expect("a folder");
    let other = outside.path().join("a.ts");
    std::fs::write(&other, "export default () => 1;").expect("a file");
    let said = call(&Project::counter().with(PLACE, file.replace("tools/none.ts", &other.display().to_string())), 3);
    assert!(said.contains("is outside the project") && said.contains(&format!("{PLACE}:4:16")), "{said}");
}

#[test]
fn modules_that_import_each_other_work_or_name_the_place() {
    let project =
        with_file("a.ts", "import { b } from './b.ts';\nexport const a = () => 'a';\nexport default () => b();\n")
            .with("b.ts", "import { a } from './a.ts';\nexport const b = () => a() + 'b';\n");
    assert_eq!(call(&project, 0), "ab\n");
    project.write("b.ts", "import { a } from './a.ts';\nconst early = a();\nexport const b = () => early;\n");
    let said = call(&project, 1);
    assert!(said.contains("b.ts:2:15"), "{said}");
}

#[test]
fn paths_start_at_the_script_root() {
    let project = with_file(
        "src/scripts/a.ts",
        "import { n } from './b.ts';\nexport default () => { if (n) throw new Error('here') };\n",
    )
    .with("src/scripts/b.ts", "export const n = 1;\n");
    let app = project.read("trailblaze.yaml");
    project.write("trailblaze.yaml", format!("script_root: src/scripts\n{app}"));
    project.write(PLACE, "id: tryIt\ndescription: A script.\nparameters: []\nscript: {file: a.ts}\n");
    let said = call(&project, 1);
    assert!(said.contains("(src/scripts/a.ts:2:"), "{said}");
    project.write("src/scripts/a.ts", "import x from '../x.ts';\nexport default () => x;\n");
    project.write("src/x.ts", "export default 1;\n");
    let said = call(&project, 3);
    assert!(said.contains("`../x.ts` is outside"), "{said}");
    for (folder, hint) in [
        ("src", "paths of scripts start at `src`, the `scriptRoot` of trailblaze.yaml"),
        ("scr", "there is no folder `scr`, the `scriptRoot` of trailblaze.yaml"),
    ] {
        project.write("trailblaze.yaml", format!("script_root: {folder}\n{app}"));
        let said = call(&project, 3);
        assert!(said.contains("there is no file `a.ts`") && said.contains(hint), "{said}");
    }
}

#[test]
fn a_package_of_npm_is_used() {
    let modules = repository().join(".parts/node/node_modules");
    if !modules.join("zod").exists() {
        return crate::support::skip::without_part("zod is not installed; run ./scripts/parts");
    }
    let project = with_file(
        "tools/a.ts",
        "import { z } from 'zod';\nconst Shape = z.object({ n: z.number().max(3) });\nexport default () => Shape.parse({ n: 3 }).n + ' ' + Shape.safeParse({ n: 4 }).success;\n",
    );
    std::os::unix::fs::symlink(&modules, project.root().join("node_modules")).expect("a link");
    assert_eq!(call(&project, 0), "3 false\n");
}

#[test]
fn a_changed_module_is_swapped_into_an_open_session() {
    let project = with_file("tools/a.ts", "import { n } from './b.ts';\nexport default () => `n is ${n}`;\n")
        .with("tools/b.ts", "export const n = 1;\n");
    let ran = project.feed(&["shell", "-d", "android/sim-1"], "tryIt\n").exits(0);
    assert_eq!(ran.stdout, "n is 1\n");
    let mut command = project.command(&["shell", "-d", "android/sim-1"]);
    command
        .stdin(std::process::Stdio::piped())
        .stdout(std::process::Stdio::piped())
        .stderr(std::process::Stdio::piped());
    let mut child = command.spawn().expect("it starts");
    let (mut input, output) = (child.stdin.take().expect("ours"), child.stdout.take().expect("ours"));
    let mut output = std::io::BufReader::new(output);
    let mut ask = |line: &str| {
        use std::io::{BufRead, Write};
        writeln!(input, "{line}").expect("written");
        let mut answer = String::new();
        output.read_line(&mut answer).expect("read");
        answer
    };
    assert_eq!(ask("tryIt"), "n is 1\n");
    project.write("tools/b.ts", "export const n = 2;\n");
    let said = ask("reloadTools");
    assert!(said.contains("`tryIt`") || said.contains("tryIt"), "{said}");
    assert_eq!(ask("tryIt"), "n is 2\n");
    drop(input);
    child.wait().expect("it ends");
}
