//! Starting a script, and the types that editors use.

use std::process::Command;

use crate::support::{Project, repository, skip};

const COUNTER: &[&str] = &["-d", "android/sim-1"];

fn new_tool() -> Project {
    let project = Project::counter();
    project.run(&["tool", "new", "acme_count", "--lang", "js"]).exits(0);
    project
}

#[test]
fn a_new_script_runs_and_its_test_passes() {
    let project = new_tool();
    let args = [&["tool", "acme_count", "text=o", "--launch", "com.example.counter"], COUNTER].concat();
    let ran = project.run(&args).exits(0);
    assert!(ran.stdout.ends_with("on the screen\n") && !ran.stdout.starts_with('0'), "{}", ran.stdout);
    project.run(&[&["tool", "test", "acme_count"], COUNTER].concat()).exits(0);
    project.run(&[&["tool", "lint", "--strict"], COUNTER].concat()).exits(0);
    let ran = project.run(&["tool", "new", "acme_count", "--lang", "js"]).exits(3);
    assert!(ran.stderr.contains("a tool `acme_count` already exists"), "{}", ran.stderr);
}

#[test]
fn types_are_written_checked_and_kept_fresh() {
    let project = new_tool();
    let types = |args: &[&str], code: i32| project.run(&[&["types"], COUNTER, args].concat()).exits(code);
    let ran = types(&["--check"], 3);
    assert!(ran.stderr.contains("is out of date"), "{}", ran.stderr);
    types(&[], 0);
    types(&["--check"], 0);
    let text = project.read("trailblaze.d.ts");
    assert!(text.contains("acme_count(args: TrailblazeArgs[\"acme_count\"]): Promise<unknown>;"), "{text}");
    assert!(text.contains("isVisible(args?: TrailblazeArgs[\"isVisible\"]): Promise<boolean>;"), "{text}");
    assert_eq!(types(&["-o", "-"], 0).stdout, text);
    project.run(&["tool", "new", "acme_other", "--lang", "js"]).exits(0);
    types(&["--check"], 3);
}

#[test]
fn a_wrong_name_or_argument_does_not_compile() {
    let tsc = repository().join(".parts/node/node_modules/.bin/tsc");
    if !tsc.exists() {
        return skip::without_part("TypeScript is not installed; run ./scripts/parts");
    }
    let project = new_tool();
    // A description that would end its comment.
    project.write("trailblaze-config/tools/odd.yaml", "id: odd\ndescription: \"A */ B\\nC\"\nparameters: [{name: x, type: integer, required: false, description: '*/'}, {name: y, type: integer, default: 1}]\ntools: [{tap: {id: a}}]\n");
    project.run(&[&["types"], COUNTER].concat()).exits(0);
    let config = r#"{"compilerOptions": {"checkJs": true, "strict": true, "noEmit": true, "target": "es2022", "module": "esnext", "lib": ["es2023"], "types": []}, "include": ["tools", "trailblaze.d.ts", "trailblaze-globals.d.ts"]}"#;
    project.write("tsconfig.json", config);
    let check = || {
        let mut command = Command::new(&tsc);
        command.args(["-p", "tsconfig.json", "--pretty", "false"]).current_dir(project.root());
        let ran = project.finish(command);
        ran.stdout
    };
    assert_eq!(check(), "", "the template fits its types");
    let mistakes = [
        ("await callTool('tapp')", "TS2345"),
        ("await tools.tapp({})", "TS2551"),
        ("await tools.tap({ txt: 'a' })", "TS2561"),
        ("await tools.acme_count()", "TS2554"),
        ("const a: string = await tools.isVisible({ text: 'a' })", "TS2322"),
        (
            "export const a = async ({ screen }: TrailblazeScript): Promise<string> => (await screen()).elements[0].bounds.left",
            "TS2322",
        ),
        ("export const b = ({ x }: TrailblazeArgs['odd']): number => x", "TS2322"),
    ];
    let file = |number: usize| format!("tools/wrong{number}.ts");
    for (number, (source, _)) in mistakes.iter().enumerate() {
        project.write(&file(number), format!("{source};\nexport {{}};\n"));
    }
    let said = check();
    for (number, (source, code)) in mistakes.iter().enumerate() {
        let is_it = |line: &str| line.starts_with(&format!("{}(1,", file(number))) && line.contains(code);
        assert!(said.lines().any(is_it), "{source}: {said}");
        std::fs::remove_file(project.root().join(file(number))).expect("it was there");
    }
    project.write("tools/right.ts", "await callTool('tap', { text: 'a' });\nawait tools.odd({ x: 1 });\nconst n: number = await tools.getElementCount({ text: 'a' });\nexport const d = ({ y }: TrailblazeArgs['odd']): number => y;\nexport default n;\n");
    assert_eq!(check(), "");
    // As for a server, which has none of the names that scripts find without an import.
    project.write("tsconfig.json", config.replace(r#", "trailblaze-globals.d.ts""#, ""));
    project.write("tools/right.ts", "export const n = memory.get('n');\n");
    assert!(check().starts_with("tools/right.ts(1,18): error TS2304"), "{}", check());
}
