//! `buf` checks the contract: it follows the rules in `proto/buf.yaml`, and nothing that clients use was changed or removed since the
//! copy in `tests/contract`.

use std::path::Path;
use std::process::Command;

use crate::support::{Project, files, repository, skip};

/// Runs `buf` on a folder of proto files, and returns what it has to say: nothing if all is well.
fn buf(folder: &Path, args: &[&str]) -> Option<String> {
    let program = repository().join(".parts/grpc/bin/buf");
    if !program.is_file() {
        skip::without_part("buf is missing: `scripts/parts` installs it");
        return None;
    }
    let cache = Project::empty();
    let output = Command::new(program.canonicalize().expect("it is there"))
        .args(args)
        .current_dir(folder)
        .env("BUF_CACHE_DIR", cache.root())
        .output()
        .expect("buf starts");
    let said = [output.stdout, output.stderr].map(|text| String::from_utf8(text).expect("text")).concat();
    assert_eq!(output.status.success(), said.is_empty(), "{said}");
    Some(said)
}

/// What changed since the copy that clients could notice.
fn breaking(folder: &Path, since: &Path) -> Option<String> {
    let since = since.canonicalize().expect("a folder");
    let config = repository().join("proto/buf.yaml").canonicalize().expect("a file");
    let (since, config) = (since.display().to_string(), config.display().to_string());
    buf(folder, &["breaking", "--against", &since, "--config", &config, "--against-config", &config])
}

#[test]
fn the_contract_follows_the_rules() {
    if let Some(said) = buf(&repository().join("proto"), &["lint"]) {
        assert_eq!(said, "");
    }
}

#[test]
fn nothing_that_clients_use_was_changed_or_removed() {
    let (contract, copy) = (repository().join("proto"), repository().join("tests/contract"));
    let Some(said) = breaking(&contract, &copy) else { return };
    assert_eq!(said, "", "clients of v1 would break; if they must, edit the copy in tests/contract too");
    if std::env::var_os("UPDATE_CONTRACT").is_some() {
        for file in files(&contract.join("trailblaze")) {
            let to = copy.join(file.strip_prefix(&contract).expect("a file is in its folder"));
            std::fs::copy(&file, to).expect("a copy");
        }
    }
    // Anything missing from the copy would not be protected.
    let added = breaking(&copy, &contract).expect("buf is there");
    assert_eq!(added, "", "`UPDATE_CONTRACT=1 cargo test -p trailblaze --test it contract` adds it to tests/contract");
}

#[test]
fn a_change_that_breaks_clients_is_found() {
    for (file, from, to, expected) in [
        (
            "commands",
            "rpc Tap(",
            "rpc Touch(",
            "Previously present RPC \"Tap\" on service \"TrailblazeCommands\" was deleted",
        ),
        ("mobile", "string command = 1", "string line = 1", "changed name from \"command\" to \"line\""),
        ("types", "  int32 exit_code = 2;\n", "", "Previously present field \"2\" with name \"exit_code\""),
        ("types", "DIRECTION_UP = 1", "DIRECTION_NORTH = 1", "changed name from \"DIRECTION_UP\""),
        ("session", "string type = 2", "int32 type = 2", "changed type from \"string\" to \"int32\""),
        ("web", "(FillRequest) returns (ActionResult)", "(FillRequest) returns (ValueResult)", "response type"),
    ] {
        let project = Project::empty();
        let contract = repository().join("proto");
        for path in files(&contract) {
            let name = path.strip_prefix(&contract).expect("a file is in its folder").display().to_string();
            let mut text = std::fs::read_to_string(&path).expect("text");
            if name.ends_with(&format!("/{file}.proto")) {
                assert!(text.contains(from), "{file} has {from}");
                text = text.replacen(from, to, 1);
            }
            project.write(&name, text);
        }
        let Some(said) = breaking(project.root(), &repository().join("tests/contract")) else { return };
        assert!(said.contains(expected), "{from} -> {to}: {said}");
    }
}
