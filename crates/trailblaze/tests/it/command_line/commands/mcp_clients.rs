//! `mcp install`: the configuration files of MCP clients, new and existing, and what each client reads in them.

use std::path::Path;

use serde_json::{Value, json};
use trailblaze_core::yaml::{Problems, Source, loose, read};

use crate::support::{PROGRAM, Project, Ran, skip};

/// Each client, its file as it is without `--global`, and the path to our entry in it.
const CLIENTS: [(&str, &str, &str); 6] = [
    ("claude", ".mcp.json", "/mcpServers/trailblaze"),
    ("claude-desktop", "home/.config/Claude/claude_desktop_config.json", "/mcpServers/trailblaze"),
    ("codex", "home/.codex/config.toml", "/mcp_servers/trailblaze"),
    ("vscode", ".vscode/mcp.json", "/servers/trailblaze"),
    ("cursor", ".cursor/mcp.json", "/mcpServers/trailblaze"),
    ("goose", "home/.config/goose/config.yaml", "/extensions/trailblaze"),
];

fn project() -> Project {
    Project::empty().with("trailblaze.yaml", "platform: web\n")
}

/// Runs `mcp install` with a PATH on which a shell finds the program.
fn install(project: &Project, client: &str, flags: &[&str]) -> Ran {
    let folder = Path::new(PROGRAM).parent().expect("a folder");
    with_path(project, client, flags, folder)
}

fn with_path(project: &Project, client: &str, flags: &[&str], path: &Path) -> Ran {
    let mut command = project.command(&[&["mcp", "install", "--client", client], flags].concat());
    // The folders of macOS are not those of this test.
    command.env("PATH", path).env_remove("XDG_CONFIG_HOME");
    project.finish(command)
}

/// The file as its client reads it.
fn client_reads(project: &Project, file: &str) -> Value {
    let text = project.read(file);
    let text = text.trim_start_matches('\u{feff}');
    match file.rsplit('.').next() {
        Some("toml") => of_toml(toml_edit::Document::parse(text).expect("TOML").as_item()),
        Some("yaml") => {
            let source = Source::new(file, text);
            let mut problems = Problems::new(&source);
            let root = read(&source, &mut problems).expect("YAML");
            assert!(!problems.has_errors(), "{problems:?}");
            loose(&root)
        }
        _ => serde_json::from_str(text).unwrap_or_else(|error| panic!("{error} in {text}")),
    }
}

fn of_toml(item: &toml_edit::Item) -> Value {
    match item {
        item if item.as_table_like().is_some() => {
            let entries = item.as_table_like().expect("a table").iter();
            Value::Object(entries.map(|(key, item)| (key.to_string(), of_toml(item))).collect())
        }
        item if item.is_array() => {
            let items = item.as_array().expect("an array").iter();
            items.map(|item| json!(item.as_str().expect("texts only"))).collect()
        }
        item => item.as_str().map(Value::from).or(item.as_integer().map(Value::from)).expect("a text or a number"),
    }
}

/// With `~` for the user's folder.
fn in_home(text: &str) -> String {
    text.replace(concat!("[project]", "/home"), "~")
}

fn exists(project: &Project, file: &str) -> bool {
    project.root().join(file).symlink_metadata().is_ok()
}

#[cfg(not(target_os = "macos"))]
#[test]
fn every_client_gets_a_file_that_starts_the_server() {
    let project = project();
    let root = project.root().display().to_string();
    for (client, file, at) in CLIENTS {
        let ran = install(&project, client, &["--json"]).exits(0).json();
        assert_eq!(ran, json!({"client": client, "file": project.root().join(file), "changed": true}));
        let entry = client_reads(&project, file).pointer(at).cloned().unwrap_or_else(|| panic!("{client} has {at}"));
        let expected = match client {
            "claude" => json!({"command": "trailblaze", "args": ["mcp"]}),
            // It is not started from a shell, so it finds no program by its name.
            "claude-desktop" => json!({"command": PROGRAM, "args": ["mcp", "-C", root]}),
            "codex" => json!({"command": "trailblaze", "args": ["mcp", "-C", root]}),
            "vscode" => json!({"type": "stdio", "command": "trailblaze", "args": ["mcp"]}),
            "cursor" => json!({"command": "trailblaze", "args": ["mcp", "-C", "${workspaceFolder}"]}),
            _ => json!({
                "name": "trailblaze", "type": "stdio", "enabled": true, "cmd": "trailblaze",
                "args": ["mcp", "-C", root], "description": "Drives devices and runs UI tests", "timeout": 300,
            }),
        };
        assert_eq!(entry, expected, "{client}");
        let written = project.read(file);
        assert!(written.ends_with('\n') && !written.ends_with("\n\n"), "{written:?}");
        assert_eq!(install(&project, client, &["--json"]).exits(0).json()["changed"], false);
        assert_eq!(project.read(file), written, "{client}: an equal entry is not written again");
        assert_eq!(install(&project, client, &["--remove", "--json"]).exits(0).json()["changed"], true);
        assert_eq!(client_reads(&project, file).pointer(at), None, "{client}");
        assert_eq!(install(&project, client, &["--remove", "--json"]).exits(0).json()["changed"], false);
    }
}

#[test]
fn it_says_what_was_written_and_what_is_next() {
    let project = project();
    let say = |ran: Ran| in_home(&ran.normal(&format!("{}{}", ran.stdout, ran.stderr)));
    let all = [
        say(install(&project, "claude", &[]).exits(0)),
        say(install(&project, "claude", &[]).exits(0)),
        say(install(&project, "claude", &["--remove"]).exits(0)),
        say(install(&project, "claude", &["--remove"]).exits(0)),
        say(install(&project, "vscode", &["--print"]).exits(0)),
        say(install(&project, "codex", &["--name", "shop"]).exits(0)),
    ];
    insta::assert_snapshot!(all.join("---\n"), @r#"
    wrote `trailblaze` to [project]/.mcp.json; it starts `trailblaze mcp`
    next: start `claude` in the project and approve the server; `/mcp` shows it---
    `trailblaze` is already in [project]/.mcp.json---
    removed `trailblaze` from [project]/.mcp.json
    next: restart Claude Code---
    `trailblaze` is not in [project]/.mcp.json---
    {
      "servers": {
        "trailblaze": {
          "type": "stdio",
          "command": "trailblaze",
          "args": ["mcp"]
        }
      }
    }
    for [project]/.vscode/mcp.json:---
    wrote `shop` to ~/.codex/config.toml; it starts `trailblaze mcp -C [project]`
    next: restart Codex; `/mcp` lists the server
    "#);
    assert!(!exists(&project, ".vscode"), "`--print` writes nothing");
}

#[test]
fn without_a_project_the_server_is_given_none() {
    let project = Project::empty();
    let ran = install(&project, "codex", &[]).exits(0);
    assert!(ran.stderr.contains("there is no trailblaze.yaml here"), "{}", ran.stderr);
    let read = client_reads(&project, "home/.codex/config.toml");
    assert_eq!(read["mcp_servers"]["trailblaze"]["args"], json!(["mcp"]));
    install(&project, "claude", &["-C", "nowhere"]).exits(3);
    assert!(!exists(&project, "nowhere") && !exists(&project, ".mcp.json"));
}

#[test]
fn the_program_is_named_by_its_path_if_a_shell_would_start_another_or_none() {
    let project = project();
    let command = |path: &Path| {
        with_path(&project, "claude", &[], path).exits(0);
        client_reads(&project, ".mcp.json")["mcpServers"]["trailblaze"]["command"].clone()
    };
    assert_eq!(command(&project.root().join("missing")), PROGRAM);
    project.write("bin/trailblaze", "#!/bin/sh\n");
    make_executable(&project.root().join("bin/trailblaze"));
    assert_eq!(command(&project.root().join("bin")), PROGRAM, "another program of that name");
    let links = project.root().join("links");
    std::fs::create_dir(&links).expect("a folder");
    link(Path::new(PROGRAM), &links.join("trailblaze"));
    assert_eq!(command(&links), "trailblaze", "a link to this program");
    with_path(&project, "claude-desktop", &["--json"], &links).exits(0);
    if !cfg!(target_os = "macos") {
        let read = client_reads(&project, "home/.config/Claude/claude_desktop_config.json");
        assert_eq!(read["mcpServers"]["trailblaze"]["command"], json!(links.join("trailblaze")));
    }
}

#[cfg(not(target_os = "macos"))]
#[test]
fn clients_that_have_both_have_a_file_for_all_projects_too() {
    let project = project();
    let root = project.root().display().to_string();
    for (client, file, key) in [
        ("claude", "home/.claude.json", "mcpServers"),
        ("vscode", "home/.config/Code/User/mcp.json", "servers"),
        ("cursor", "home/.cursor/mcp.json", "mcpServers"),
    ] {
        install(&project, client, &["--global"]).exits(0);
        assert_eq!(client_reads(&project, file)[key]["trailblaze"]["args"], json!(["mcp", "-C", root]), "{client}");
    }
    // The variables of the clients move their files.
    let elsewhere = project.root().join("elsewhere");
    for (client, variable, file) in [
        ("codex", "CODEX_HOME", "config.toml"),
        ("goose", "XDG_CONFIG_HOME", "goose/config.yaml"),
        ("claude-desktop", "XDG_CONFIG_HOME", "Claude/claude_desktop_config.json"),
    ] {
        let mut command = project.command(&["mcp", "install", "--client", client, "--json"]);
        command.env(variable, &elsewhere);
        assert_eq!(project.finish(command).exits(0).json()["file"], json!(elsewhere.join(file)));
    }
    let mut command = project.command(&["mcp", "install", "--client", "codex"]);
    command.env_remove("HOME");
    insta::assert_snapshot!(project.finish(command).exits(3).refusal(), @"
    exit 3
    error: `HOME` is not set, so the file of the client cannot be found
    hint: `--print` prints what to add to it
    ");
}

/// Adds our entry to a file and removes it again. Every line of the file must stay, in its order; the file with the entry is
/// returned.
#[track_caller]
fn added_and_removed(client: &str, before: &str) -> String {
    let (_, file, at) = CLIENTS.into_iter().find(|(known, ..)| *known == client).expect("a client");
    let project = project().with(file, before);
    install(&project, client, &[]).exits(0);
    let after = project.read(file);
    let mut rest = after.lines();
    for line in before.lines().filter(|line| !line.ends_with("{}")) {
        assert!(rest.any(|kept| kept == line), "{client}: the line {line:?} is in\n{after}");
    }
    install(&project, client, &[]).exits(0);
    assert_eq!(project.read(file), after, "the second time, nothing changes");
    install(&project, client, &["--remove"]).exits(0);
    assert_eq!(project.read(file), before, "{client}: {at} was removed, and nothing else");
    after.replace(&project.root().display().to_string(), "[project]")
}

#[cfg(not(target_os = "macos"))]
#[test]
fn everything_else_in_a_json_file_stays_as_it_is() {
    let before = "// servers of the team\n{\n\t\"inputs\": [],\n\t\"servers\": {\n\t\t/* the first */\n\
        \t\t\"other\": {\"command\": \"npx\", \"args\": [\"-y\", \"x\"]}, // keep\n\
        \t\t\"url\": {\"type\": \"http\", \"url\": \"https://example.com\"},\n\t},\n}\n";
    insta::assert_snapshot!(added_and_removed("vscode", before), @r#"
    // servers of the team
    {
    	"inputs": [],
    	"servers": {
    		/* the first */
    		"other": {"command": "npx", "args": ["-y", "x"]}, // keep
    		"url": {"type": "http", "url": "https://example.com"},
    		"trailblaze": {
    			"type": "stdio",
    			"command": "trailblaze",
    			"args": ["mcp"],
    		},
    	},
    }
    "#);
    let before = "{\r\n  \"numbers\": [1.50, 1e3, 12345678901234567890],\r\n  \"mcpServers\": {\r\n    \"a\": {\"url\": \"\\u00e9\"},\r\n    \"b\": {}\r\n  }\r\n}";
    let after = {
        let project = project().with(".mcp.json", before);
        install(&project, "claude", &[]).exits(0);
        project.read(".mcp.json")
    };
    assert_eq!(after.matches('\n').count(), after.matches("\r\n").count(), "{after:?}");
    assert!(after.contains("[1.50, 1e3, 12345678901234567890]") && after.contains(r#"{"url": "\u00e9"}"#), "{after}");
    assert!(!after.ends_with('\n'));
    let marked = "\u{feff}{\n  \"mcpServers\": {}\n}\n";
    assert!(added_and_removed("cursor", "{\n  \"mcpServers\": {}\n}\n").contains("    \"trailblaze\": {"));
    let project = project().with(".cursor/mcp.json", marked);
    install(&project, "cursor", &[]).exits(0);
    assert!(project.read(".cursor/mcp.json").starts_with("\u{feff}{\n"));
    client_reads(&project, ".cursor/mcp.json");
}

#[test]
fn everything_else_in_a_toml_file_stays_as_it_is() {
    let before = "model = \"o9\" # mine\nratio = 1.50\n\n[mcp_servers.other]\ncommand = \"npx\"\nargs = [ \"-y\",\n  \"x\" ]\n\n\
        [mcp_servers.other.env]\nA = '1'\n\n[profiles.fast]\nsince = 2026-01-01\n\n# the end\n";
    insta::assert_snapshot!(added_and_removed("codex", before), @r#"
    model = "o9" # mine
    ratio = 1.50

    [mcp_servers.other]
    command = "npx"
    args = [ "-y",
      "x" ]

    [mcp_servers.other.env]
    A = '1'

    [profiles.fast]
    since = 2026-01-01

    # the end

    [mcp_servers.trailblaze]
    command = "trailblaze"
    args = ["mcp", "-C", "[project]"]
    "#);
    added_and_removed("codex", &before.replace('\n', "\r\n"));
    let inline = added_and_removed("codex", "x = 1\n[mcp_servers]\na = { command = \"x\" }\n");
    assert!(inline.ends_with("args = [\"mcp\", \"-C\", \"[project]\"]\n"), "{inline}");
}

#[cfg(not(target_os = "macos"))]
#[test]
fn everything_else_in_a_yaml_file_stays_as_it_is() {
    let before = "GOOSE_MODEL: x # mine\nextensions:\n  # the first\n  developer:\n    enabled: true\n    type: builtin\n\n\
        GOOSE_MODE: 'auto'\n# the end\n";
    insta::assert_snapshot!(added_and_removed("goose", before), @"
    GOOSE_MODEL: x # mine
    extensions:
      # the first
      developer:
        enabled: true
        type: builtin
      trailblaze:
        name: trailblaze
        type: stdio
        enabled: true
        cmd: trailblaze
        args:
          - mcp
          - '-C'
          - [project]
        description: Drives devices and runs UI tests
        timeout: 300

    GOOSE_MODE: 'auto'
    # the end
    ");
    added_and_removed("goose", &before.replace('\n', "\r\n"));
}

#[cfg(not(target_os = "macos"))]
#[test]
fn another_entry_of_the_same_name_is_replaced_and_what_users_add_to_ours_is_kept() {
    let check = |client: &str, before: &str, expected: &str| {
        let (_, file, _) = CLIENTS.into_iter().find(|(known, ..)| *known == client).expect("a client");
        let project = project().with(file, before);
        install(&project, client, &[]).exits(0);
        let after = project.read(file).replace(&project.root().display().to_string(), "[project]");
        assert_eq!(after, expected, "{client}");
    };
    check(
        "claude",
        r#"{"mcpServers": {"trailblaze": {"type": "http", "url": "http://localhost"}, "b": {"command": "y"}}}"#,
        "{\"mcpServers\": {\"trailblaze\": {\n      \"command\": \"trailblaze\",\n      \"args\": [\"mcp\"]\n    }, \"b\": {\"command\": \"y\"}}}",
    );
    check(
        "claude",
        "{\n  \"mcpServers\": {\n    \"trailblaze\": {\n      \"command\": \"old\", // moved\n      \"args\": [],\n      \"env\": {\"A\": \"1\"}\n    }\n  }\n}\n",
        "{\n  \"mcpServers\": {\n    \"trailblaze\": {\n      \"command\": \"trailblaze\", // moved\n      \"args\": [\"mcp\"],\n      \"env\": {\"A\": \"1\"}\n    }\n  }\n}\n",
    );
    check(
        "codex",
        "[mcp_servers.trailblaze]\n# the program\ncommand = \"old\" # moved\nstartup_timeout_sec = 20\n\n[mcp_servers.trailblaze.env]\nA = \"1\"\n\n[z]\n",
        "[mcp_servers.trailblaze]\n# the program\ncommand = \"trailblaze\" # moved\nstartup_timeout_sec = 20\nargs = [\"mcp\", \"-C\", \"[project]\"]\n\n[mcp_servers.trailblaze.env]\nA = \"1\"\n\n[z]\n",
    );
    check(
        "codex",
        "[mcp_servers.trailblaze]\nurl = \"http://localhost\"\n\n[z]\na = 1\n",
        "[z]\na = 1\n\n[mcp_servers.trailblaze]\ncommand = \"trailblaze\"\nargs = [\"mcp\", \"-C\", \"[project]\"]\n",
    );
    check(
        "goose",
        "extensions:\n  trailblaze:\n    name: trailblaze\n    type: stdio\n    cmd: old # moved\n    args:\n    - mcp\n    enabled: false\n    timeout: 900\n  z: {}\n",
        "extensions:\n  trailblaze:\n    name: trailblaze\n    type: stdio\n    cmd: trailblaze # moved\n    args:\n    - mcp\n    - '-C'\n    - [project]\n    enabled: true\n    timeout: 900\n  z: {}\n",
    );
}

#[cfg(not(target_os = "macos"))]
#[test]
fn a_file_that_cannot_be_changed_safely_is_refused_and_stays() {
    let deep = "[".repeat(100_000);
    let mut all = String::new();
    for (client, before) in [
        ("claude", "{\n  \"mcpServers\": {,}\n}\n"),
        ("claude", "{\"a\": 1 \"b\": 2}"),
        ("claude", "[]"),
        ("claude", "{\"mcpServers\": []}"),
        ("claude", "{\"mcpServers\": {}, \"mcpServers\": {\"a\": {}}}"),
        ("claude", deep.as_str()),
        ("claude-desktop", "{'a': 1}"),
        ("codex", "[a\nb = 1\n"),
        ("codex", "a = 1\nmcp_servers = \"none\"\n"),
        ("goose", "a: 1\nextensions: [1\nb: 2\n"),
        ("goose", "extensions: none\n"),
        ("goose", "a: &a {b: {type: builtin}}\nextensions: *a\n"),
    ] {
        let (_, file, _) = CLIENTS.into_iter().find(|(known, ..)| *known == client).expect("a client");
        let project = project().with(file, before);
        all += &format!("{}\n", in_home(&install(&project, client, &[]).exits(3).refusal()));
        assert_eq!(project.read(file), before);
    }
    insta::assert_snapshot!(all, @"
    exit 3
    error: [project]/.mcp.json:2:18: unexpected token in object
    hint: correct the file and try again; nothing was changed
    exit 3
    error: [project]/.mcp.json:1:8: expected comma
    hint: correct the file and try again; nothing was changed
    exit 3
    error: [project]/.mcp.json: expected keys and values at the top of the file; nothing was changed
    hint: add the entry by hand; `--print` prints it
    exit 3
    error: [project]/.mcp.json: expected keys and values in `mcpServers`; nothing was changed
    hint: add the entry by hand; `--print` prints it
    exit 3
    error: [project]/.mcp.json: the servers are written in a way that cannot be changed safely; nothing was changed
    hint: add the entry by hand; `--print` prints it
    exit 3
    error: [project]/.mcp.json:1:513: maximum nesting depth exceeded
    hint: correct the file and try again; nothing was changed
    exit 3
    error: ~/.config/Claude/claude_desktop_config.json:1:2: single-quoted strings are not allowed
    hint: correct the file and try again; nothing was changed
    exit 3
    error: ~/.codex/config.toml:1:3: unclosed table, expected `]`
    hint: correct the file and try again; nothing was changed
    exit 3
    error: ~/.codex/config.toml: expected keys and values in `mcp_servers`; nothing was changed
    hint: add the entry by hand; `--print` prints it
    exit 3
    error: ~/.config/goose/config.yaml:3:2: invalid YAML: illegal placement of ':' indicator
    hint: correct the file and try again; nothing was changed
    exit 3
    error: ~/.config/goose/config.yaml: expected keys and values in `extensions`; nothing was changed
    hint: add the entry by hand; `--print` prints it
    exit 3
    error: ~/.config/goose/config.yaml: the servers are written in a way that cannot be changed safely; nothing was changed
    hint: add the entry by hand; `--print` prints it
    ");
    let project = project().with(".mcp.json", b"{\"a\": \"\xff\"}");
    insta::assert_snapshot!(install(&project, "claude", &[]).exits(3).refusal(), @"
    exit 3
    error: `[project]/.mcp.json` is not UTF-8; nothing was changed
    ");
    std::fs::remove_file(project.root().join(".mcp.json")).expect("removed");
    std::fs::create_dir(project.root().join(".mcp.json")).expect("a folder");
    insta::assert_snapshot!(install(&project, "claude", &[]).exits(3).refusal(), @"
    exit 3
    error: `[project]/.mcp.json` is not a file
    ");
}

#[test]
fn names_that_a_client_would_refuse_are_refused() {
    let project = project();
    for name in ["", "a b", "a.b", "ä", &"x".repeat(65)] {
        install(&project, "codex", &["--name", name]).exits(3);
    }
    install(&project, "emacs", &[]).exits(3);
    assert!(!exists(&project, "home"));
}

#[cfg(unix)]
#[test]
fn a_link_stays_a_link_and_permissions_are_kept() {
    use std::os::unix::fs::PermissionsExt;
    let project = project().with("dotfiles/mcp.json", "{}\n");
    let target = project.root().join("dotfiles/mcp.json");
    std::fs::set_permissions(&target, std::fs::Permissions::from_mode(0o600)).expect("permissions");
    link(Path::new("dotfiles/mcp.json"), &project.root().join(".mcp.json"));
    install(&project, "claude", &[]).exits(0);
    assert!(project.root().join(".mcp.json").is_symlink());
    assert_eq!(target.metadata().expect("a file").permissions().mode() & 0o777, 0o600);
    assert_eq!(client_reads(&project, "dotfiles/mcp.json")["mcpServers"]["trailblaze"]["command"], "trailblaze");
    // The file that a link names need not exist yet.
    std::fs::create_dir(project.root().join(".vscode")).expect("a folder");
    link(Path::new("../dotfiles/vscode.json"), &project.root().join(".vscode/mcp.json"));
    install(&project, "vscode", &[]).exits(0);
    assert_eq!(client_reads(&project, "dotfiles/vscode.json")["servers"]["trailblaze"]["type"], "stdio");
}

#[cfg(unix)]
#[test]
fn a_folder_that_cannot_be_written_is_an_error_of_the_environment() {
    use std::os::unix::fs::PermissionsExt;
    let project = project().with(".vscode", "a file\n").with(".cursor/mcp.json", "{}\n");
    let refused = install(&project, "vscode", &[]).exits(2).refusal();
    assert!(refused.contains("cannot read `[project]/.vscode/mcp.json`"), "{refused}");
    assert_eq!(project.read(".vscode"), "a file\n");
    let folder = project.root().join(".cursor");
    std::fs::set_permissions(&folder, std::fs::Permissions::from_mode(0o555)).expect("permissions");
    if std::fs::write(folder.join("probe"), "").is_ok() {
        return skip::without("this user may write into every folder");
    }
    let refused = install(&project, "cursor", &[]).exits(2).refusal();
    std::fs::set_permissions(&folder, std::fs::Permissions::from_mode(0o755)).expect("permissions");
    assert!(refused.contains("cannot write `[project]/.cursor/mcp.json`"), "{refused}");
    assert_eq!(project.read(".cursor/mcp.json"), "{}\n");
}

#[cfg(unix)]
fn link(to: &Path, at: &Path) {
    std::os::unix::fs::symlink(to, at).expect("a link");
}

#[cfg(unix)]
fn make_executable(path: &Path) {
    use std::os::unix::fs::PermissionsExt;
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o755)).expect("permissions");
}

#[test]
fn help_of_mcp_install() {
    insta::assert_snapshot!(Project::empty().run(&["mcp", "install", "--help"]).exits(0).stdout, @"
    Add Trailblaze to the configuration file of an MCP client, and keep everything else in it

    Usage: trailblaze mcp install [OPTIONS] --client <CLIENT>

    Options:
      -C, --project <DIR>
              The project's folder [default: the nearest one upward that contains a trailblaze.yaml]

          --client <CLIENT>
              The client to set up

              Possible values:
              - claude:         Claude Code: .mcp.json in the project
              - claude-desktop: Claude Desktop: the user's claude_desktop_config.json
              - codex:          Codex: the user's config.toml
              - vscode:         Visual Studio Code: .vscode/mcp.json in the project
              - cursor:         Cursor: .cursor/mcp.json in the project
              - goose:          Goose: the user's config.yaml

          --name <NAME>
              The server's name in the file [default: trailblaze]

          --global
              Write the file of the user instead of the project's, for clients that have both

          --remove
              Remove the server from the file

          --print
              Print what would be written, and write nothing

          --json
              Print the client, its file and whether that was changed as JSON

      -h, --help
              Print help (see a summary with '-h')

      -V, --version
              Print version
    ");
}
