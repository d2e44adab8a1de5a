//! A command or a parameter that is renamed is noticed everywhere: generated files are out of date, and once they are not, what uses
//! the old name does not compile.

use std::collections::HashMap;
use std::fs;
use std::path::Path;
use std::process::Command;

use trailblaze_contract_gen::{outputs, root};

const CORE: &str = "crates/core/src/tools/generated.rs";
const CLIENT: &str = "crates/client/src/generated.rs";
const KOTLIN: &str = "sdks/kotlin/client/src/main/kotlin/dev/trailblaze/GeneratedCommands.kt";

/// What is generated after these replacements in `commands.proto`, by path.
fn generated(folder: &Path, replacements: &[(&str, &str)]) -> HashMap<&'static str, String> {
    copy(&root().join("proto"), &folder.join("proto"));
    let path = folder.join("proto/trailblaze/v1/commands.proto");
    let mut text = fs::read_to_string(&path).expect("the contract");
    for (from, to) in replacements {
        assert!(text.contains(from), "commands.proto has no `{from}`");
        text = text.replace(from, to);
    }
    fs::write(&path, text).expect("a copy of the contract");
    let outputs = outputs(folder).expect("the changed contract can be read");
    outputs.into_iter().map(|output| (output.path, output.text)).collect()
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).expect("a folder");
    for entry in fs::read_dir(from).expect("the folder can be read") {
        let entry = entry.expect("an entry");
        if entry.path().is_dir() {
            copy(&entry.path(), &to.join(entry.file_name()));
        } else {
            fs::copy(entry.path(), to.join(entry.file_name())).expect("a copy");
        }
    }
}

/// The command `Tap` is called `Press`, and `hide_keyboard_after` is called `keep_keyboard`.
const RENAMED: &[(&str, &str)] = &[("rpc Tap(", "rpc Press("), ("hide_keyboard_after", "keep_keyboard")];

#[test]
fn a_renamed_command_makes_generated_files_out_of_date() {
    let folder = tempfile::tempdir().expect("a folder");
    generated(folder.path(), RENAMED);
    let stale: Vec<&str> = outputs(folder.path())
        .expect("the changed contract can be read")
        .iter()
        .filter(|output| output.is_stale(&root()))
        .map(|output| output.path)
        .collect();
    for path in ["crates/contract/src/generated.rs", CORE, CLIENT, KOTLIN, "docs/api.md"] {
        assert!(stale.contains(&path), "{path} is not among {stale:?}");
    }
}

#[test]
fn what_core_and_the_client_use_is_gone_after_a_renaming() {
    let folder = tempfile::tempdir().expect("a folder");
    let after = generated(folder.path(), RENAMED);
    let folder = tempfile::tempdir().expect("a folder");
    let before = generated(folder.path(), &[]);
    let commands =
        fs::read_to_string(root().join("crates/core/src/tools/commands.rs")).expect("the bodies of the commands");
    let lib = fs::read_to_string(root().join("crates/client/src/lib.rs")).expect("the client");
    for (path, user, used, declared) in [
        (CORE, &commands, "Command::Tap ", "    Tap,\n"),
        (CORE, &commands, "contract::Tap<'_>", "pub struct Tap<'a>"),
        (CORE, &commands, ".hide_keyboard_after()", "pub fn hide_keyboard_after("),
        (CLIENT, &lib, "client.tap()", "pub fn tap("),
    ] {
        assert!(user.contains(used), "nothing uses `{used}`");
        assert!(before[path].contains(declared), "{path} has no `{declared}`");
        assert!(!after[path].contains(declared), "{path} still has `{declared}`");
    }
    assert!(after[CLIENT].contains("pub fn press(") && after[CLIENT].contains("pub fn keep_keyboard("));
    assert!(after[KOTLIN].contains("fun press(") && after[KOTLIN].contains("keepKeyboard: Boolean?"));
    assert!(!after[KOTLIN].contains("fun tap(") && !after[KOTLIN].contains("hideKeyboardAfter"));
    assert!(after[CORE].contains("    Press,\n") && after[CORE].contains("pub fn keep_keyboard("));
}

/// With `SOAK=1`: the compiler says so too. Otherwise it would take a minute.
#[test]
fn what_uses_the_old_name_does_not_compile() {
    if std::env::var_os("SOAK").is_none() {
        return;
    }
    let folder = tempfile::tempdir().expect("a folder");
    let space = folder.path();
    let after = generated(&space.join("after"), RENAMED);
    let before = generated(&space.join("before"), &[]);
    for file in ["Cargo.toml", "Cargo.lock"] {
        fs::copy(root().join(file), space.join(file)).expect("a copy");
    }
    for name in ["client", "core", "protocol"] {
        copy(&root().join("crates").join(name), &space.join("crates").join(name));
    }
    let manifest =
        "[package]\nname = \"user\"\nedition.workspace = true\n[dependencies]\ntrailblaze-client.workspace = true\n";
    let source = "pub async fn sign_in(client: &trailblaze_client::Client) -> Result<(), trailblaze_client::Error> {\n    \
                  client.tap().text(\"Sign in\").await?;\n    client.input_text(\"a\").hide_keyboard_after(true).await?;\n    Ok(())\n}\n";
    fs::create_dir_all(space.join("crates/user/src")).expect("a folder");
    fs::write(space.join("crates/user/Cargo.toml"), manifest).expect("a manifest");
    fs::write(space.join("crates/user/src/lib.rs"), source).expect("a source");
    let check = |package: &str, generated: &HashMap<&str, String>| {
        for path in [CORE, CLIENT] {
            fs::write(space.join(path), &generated[path]).expect("a generated file");
        }
        let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
        let mut command = Command::new(cargo);
        command.args(["check", "--offline", "--color", "never", "-p", package]).current_dir(space);
        let output = command.env("CARGO_TARGET_DIR", space.join("target")).output().expect("cargo can be started");
        (output.status.success(), String::from_utf8_lossy(&output.stderr).into_owned())
    };
    for package in ["user", "trailblaze-core"] {
        let (is_sound, said) = check(package, &before);
        assert!(is_sound, "{package}: {said}");
    }
    for (package, missing) in [
        ("user", ["no method named `tap`", "no method named `hide_keyboard_after`"]),
        ("trailblaze-core", ["item named `Tap` found for enum", "no method named `hide_keyboard_after`"]),
    ] {
        let (is_sound, said) = check(package, &after);
        assert!(!is_sound, "{package} still compiles");
        for missing in missing {
            assert!(said.contains(missing), "{package}: {said}");
        }
    }
}
