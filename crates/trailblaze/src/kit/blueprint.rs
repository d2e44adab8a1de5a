//! The templates of a new tool. They run unchanged, with any app.

use serde_json::json;
use trailblaze_core::config::NewServer;
use trailblaze_core::yaml::inline;

use crate::files::slug;

/// The placeholder for the tool's name in the templates.
const NAME: &str = "NAME_OF_TOOL";
/// The placeholder for the name of its class.
const CLASS: &str = "CLASS_OF_TOOL";
/// The placeholder for the name of its module.
const MODULE: &str = "MODULE_OF_TOOL";
/// The placeholder for the path of its script.
const SCRIPT: &str = "PATH_OF_SCRIPT";

/// The language of a tool.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Language {
    /// TypeScript, with @trailblaze/scripting: for tools that drive the screen, branch and use memory
    Ts,
    /// Python, with FastMCP: for tools that use libraries and services
    Py,
    /// Kotlin, with TrailblazeToolSet: for teams that write Kotlin, and tools that use libraries of the JVM
    Kotlin,
    /// Rust, with trailblaze-tools: for teams that write Rust
    Rust,
    /// JavaScript inside Trailblaze: for tools that decide, loop or compute, and need no packages
    Js,
    /// YAML: for a sequence of calls under one name
    Yaml,
}

/// A file to write: its path in the project, and its text.
pub type NewFile = (String, String);

/// The server of all TypeScript tools of a project, or of one target.
pub fn ts_server_file(target: Option<&str>) -> String {
    match target {
        None => "tools/tool-server.ts".to_string(),
        // Two servers that offer the same tool would collide.
        Some(target) => format!("tools/tool-server-{}.ts", slug(target)),
    }
}

/// The server of all Python tools of a project, or of one target.
pub fn py_server_file(target: Option<&str>) -> String {
    match target {
        None => "tools/tool_server.py".to_string(),
        Some(target) => format!("tools/tool_server_{}.py", slug(target)),
    }
}

/// The server of all Kotlin tools of a project.
pub const KOTLIN_SERVER: &str = "tools/src/main/kotlin/Main.kt";

/// The server of all Rust tools of a project.
pub const RUST_SERVER: &str = "tools/src/main.rs";

/// The tool and its tests. `trails` is the folder of the project's trails, and `script_root` that of its scripts.
pub fn own_files(
    language: Language,
    name: &str,
    target: Option<&str>,
    trails: &str,
    script_root: Option<&str>,
) -> Vec<NewFile> {
    // The path in the tool's file starts at the folder of scripts.
    let script = script_root.map_or_else(|| format!("tools/{name}.js"), |_| format!("{name}.js"));
    let script_root = script_root.map(|folder| format!("{}/", folder.trim_start_matches("./").trim_end_matches('/')));
    let trail = format!("{trails}/tools/{name}.trail.yaml");
    let files: Vec<(String, &str)> = match language {
        Language::Ts => vec![
            (format!("tools/{name}.ts"), include_str!("templates/tool.ts")),
            (format!("tools/{name}.test.ts"), include_str!("templates/tool.test.ts")),
            (trail, include_str!("templates/ts.trail.yaml")),
        ],
        Language::Py => vec![
            // A module with the tool's name could hide a standard module, or be a keyword.
            (format!("tools/{name}_tool.py"), include_str!("templates/tool.py")),
            (format!("tools/test_{name}.py"), include_str!("templates/test_tool.py")),
            (trail, include_str!("templates/py.trail.yaml")),
        ],
        Language::Kotlin => vec![
            (format!("tools/src/main/kotlin/{}.kt", class_of(name)), include_str!("templates/tool.kt")),
            (format!("tools/src/test/kotlin/{}Test.kt", class_of(name)), include_str!("templates/Test.kt")),
            (trail, include_str!("templates/ts.trail.yaml")),
        ],
        Language::Rust => vec![
            (format!("tools/src/{}.rs", module_of(name)), include_str!("templates/tool.rs")),
            (trail, include_str!("templates/ts.trail.yaml")),
        ],
        Language::Js => vec![
            (yaml_file(name), include_str!("templates/script.yaml")),
            (format!("{}{script}", script_root.unwrap_or_default()), include_str!("templates/script.js")),
            (trail, include_str!("templates/js.trail.yaml")),
        ],
        Language::Yaml => vec![
            (yaml_file(name), include_str!("templates/tool.yaml")),
            (trail, include_str!("templates/yaml.trail.yaml")),
        ],
    };
    let named = |text: &str| text.replace(CLASS, &class_of(name)).replace(MODULE, &module_of(name)).replace(NAME, name);
    let filled = |text: &str| match target {
        None => named(text).replace(SCRIPT, &script),
        // The tool is available only in sessions of its target.
        Some(target) => {
            let tags = "  tags: [tools]\n";
            named(text).replace(tags, &format!("{tags}  target: {}\n", inline(&target.into())))
        }
    };
    files.into_iter().map(|(path, text)| (path, filled(text))).collect()
}

pub fn yaml_file(name: &str) -> String {
    format!("trailblaze-config/tools/{name}.yaml")
}

/// The name of a tool as that of a class: `acme_countText` is `AcmeCountText`.
fn class_of(name: &str) -> String {
    let capital = |word: &str| {
        let (first, rest) = word.split_at(word.chars().next().map_or(0, char::len_utf8));
        format!("{}{rest}", first.to_uppercase())
    };
    name.split('_').map(capital).collect()
}

/// The name of a tool as that of a module: `acme_countText` is `acme_count_text_tool`. A keyword cannot be the name of one.
fn module_of(name: &str) -> String {
    let mut module = String::new();
    for char in name.chars() {
        if char.is_ascii_uppercase() && !module.is_empty() && !module.ends_with('_') {
            module.push('_');
        }
        module.push(if char == '-' { '_' } else { char.to_ascii_lowercase() });
    }
    format!("{module}_tool")
}

/// The files that a project has once, for all its tools; written if missing.
pub fn shared_files(language: Language) -> Vec<NewFile> {
    let files: &[(&str, &str)] = match language {
        Language::Ts => &[
            ("package.json", include_str!("templates/package.json")),
            ("tsconfig.json", include_str!("templates/tsconfig.json")),
        ],
        Language::Py => &[("requirements.txt", include_str!("templates/requirements.txt"))],
        Language::Kotlin => &[("tools/pom.xml", include_str!("templates/kotlin.pom.xml"))],
        Language::Rust => &[("tools/Cargo.toml", include_str!("templates/rust.Cargo.toml"))],
        Language::Js | Language::Yaml => &[],
    };
    files.iter().map(|(path, text)| (path.to_string(), text.to_string())).collect()
}

/// The server of TypeScript tools with this tool added; `None` if the place for the import is not clear.
pub fn ts_server(existing: Option<&str>, name: &str) -> Option<String> {
    let Some(text) = existing else {
        return Some(include_str!("templates/tool-server.ts").replace(NAME, name));
    };
    let import = format!("import './{name}.ts';\n");
    if text.lines().any(|line| line.trim_end() == import.trim_end()) {
        return Some(text.to_string());
    }
    let lines: Vec<&str> = text.split_inclusive('\n').collect();
    let is_import = |line: &&str| line.starts_with("import ") && line.trim_end().ends_with(';');
    let behind_imports = lines.iter().rposition(is_import).map(|at| at + 1);
    let at = behind_imports.or_else(|| lines.iter().position(|line| line.starts_with("await run(")))?;
    let line_break = if at > 0 && !lines[at - 1].ends_with('\n') { "\n" } else { "" };
    Some(format!("{}{line_break}{import}{}", lines[..at].concat(), lines[at..].concat()))
}

/// The server of Python tools with this tool added; `None` if the place for it is not clear.
pub fn py_server(existing: Option<&str>, name: &str) -> Option<String> {
    let Some(text) = existing else {
        return Some(include_str!("templates/tool_server.py").replace(NAME, name));
    };
    let (import, mount) = (format!("import {name}_tool\n"), format!("server.mount({name}_tool.tools)\n"));
    if text.contains(&mount) {
        return Some(text.to_string());
    }
    let lines: Vec<&str> = text.split_inclusive('\n').collect();
    let last = |starts: &[&str]| lines.iter().rposition(|line| starts.iter().any(|start| line.starts_with(start)));
    let (imported, mounted) = (last(&["import ", "from "])?, last(&["server.mount(", "server = "])?);
    (imported < mounted).then(|| {
        let part = |from: usize, to: usize| lines[from..to].concat();
        let (before, between) = (part(0, imported + 1), part(imported + 1, mounted + 1));
        format!("{before}{import}{between}{mount}{}", part(mounted + 1, lines.len()))
    })
}

/// The server of Kotlin tools with this tool added; `None` if the place for it is not clear.
pub fn kotlin_server(existing: Option<&str>, name: &str) -> Option<String> {
    let Some(text) = existing else {
        return Some(include_str!("templates/Main.kt").replace(CLASS, &class_of(name)));
    };
    let added = format!(".toolSet({}())", class_of(name));
    if text.contains(&added) {
        return Some(text.to_string());
    }
    let (before, after) = text.split_once("\n    .run(")?;
    Some(format!("{before}\n    {added}\n    .run({after}"))
}

/// The server of Rust tools with this tool added; `None` if the place for it is not clear.
pub fn rust_server(existing: Option<&str>, name: &str) -> Option<String> {
    let (module, class) = (module_of(name), class_of(name));
    let Some(text) = existing else {
        return Some(include_str!("templates/main.rs").replace(MODULE, &module).replace(CLASS, &class));
    };
    let added = format!(".toolset({module}::{class})");
    if text.contains(&added) {
        return Some(text.to_string());
    }
    let (before, after) = text.split_once("\n        .main()")?;
    let is_module = |line: &&str| line.starts_with("mod ") && line.trim_end().ends_with(';');
    let lines: Vec<&str> = before.split_inclusive('\n').collect();
    let at = lines.iter().rposition(is_module)? + 1;
    let (modules, rest) = (lines[..at].concat(), lines[at..].concat());
    Some(format!("{modules}mod {module};\n{rest}\n        {added}\n        .main(){after}"))
}

/// The entry of the tool's server in the configuration. A tool without a server needs none.
pub fn server(language: Language, target: Option<&str>) -> Option<NewServer> {
    let (name, mut entry) = match language {
        Language::Ts => ("tools", json!({"script": ts_server_file(target), "multiDevice": "stdio"})),
        Language::Py => ("python-tools", json!({"command": "python3", "args": [py_server_file(target)]})),
        Language::Kotlin => {
            let entry =
                json!({"command": "java", "args": ["-jar", "tools/target/kotlin-tools.jar"], "multiDevice": "stdio"});
            ("kotlin-tools", entry)
        }
        Language::Rust => ("rust-tools", json!({"command": "tools/target/debug/rust-tools", "multiDevice": "stdio"})),
        Language::Js | Language::Yaml => return None,
    };
    let name = target.map_or_else(|| name.to_string(), |target| format!("{target}-{name}"));
    if target.is_some() {
        // Models are offered a target's tools only through toolsets.
        entry["toolset"] = json!(name);
    }
    Some(NewServer { name, entry: entry.as_object().cloned().unwrap_or_default() })
}

/// A working call of the new tool, to try it.
pub fn example_call(language: Language, name: &str) -> String {
    let argument = match language {
        Language::Ts | Language::Kotlin | Language::Rust | Language::Js | Language::Yaml => "text=Pay",
        Language::Py => "name=ada",
    };
    format!("trailblaze tool {name} {argument}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_second_tool_joins_the_server_behind_the_last_import() {
        let first = ts_server(None, "acme_a").unwrap();
        let both = ts_server(Some(&first), "acme_b").unwrap();
        assert!(both.ends_with("import './acme_a.ts';\nimport './acme_b.ts';\n\nawait run();\n"), "{both}");
        assert_eq!(ts_server(Some(&both), "acme_b").as_deref(), Some(both.as_str()), "once is enough");
        assert_eq!(ts_server(Some("await run();\n"), "x").as_deref(), Some("import './x.ts';\nawait run();\n"));
        assert_eq!(ts_server(Some("serve();\n"), "x"), None);
    }

    #[test]
    fn a_second_tool_joins_the_server_in_python() {
        let first = py_server(None, "acme_a").unwrap();
        let both = py_server(Some(&first), "acme_b").unwrap();
        let expected = "import acme_a_tool\nimport acme_b_tool\n\nserver = FastMCP(\"tools\", middleware=[failure_middleware()])\n\
                        server.mount(acme_a_tool.tools)\nserver.mount(acme_b_tool.tools)\n";
        assert!(both.contains(expected), "{both}");
        assert_eq!(py_server(Some(&both), "acme_b").as_deref(), Some(both.as_str()), "once is enough");
        assert_eq!(py_server(Some("serve()\n"), "x"), None);
    }

    #[test]
    fn a_second_class_of_tools_joins_the_server_in_kotlin() {
        let first = kotlin_server(None, "acme_a").unwrap();
        let both = kotlin_server(Some(&first), "acme_countAll").unwrap();
        assert!(both.ends_with("    .toolSet(AcmeA())\n    .toolSet(AcmeCountAll())\n    .run(args)\n"), "{both}");
        assert_eq!(kotlin_server(Some(&both), "acme_countAll").as_deref(), Some(both.as_str()), "once is enough");
        assert_eq!(kotlin_server(Some("fun main() = serve()\n"), "x"), None);
    }

    #[test]
    fn a_second_toolset_joins_the_server_in_rust() {
        let first = rust_server(None, "acme_a").unwrap();
        let both = rust_server(Some(&first), "acme_countAll").unwrap();
        assert!(both.contains("\nmod acme_a_tool;\nmod acme_count_all_tool;\n\nfn main()"), "{both}");
        let toolsets = "        .toolset(acme_a_tool::AcmeA)\n        .toolset(acme_count_all_tool::AcmeCountAll)\n";
        assert!(both.contains(toolsets), "{both}");
        assert_eq!(rust_server(Some(&both), "acme_countAll").as_deref(), Some(both.as_str()), "once is enough");
        assert_eq!(rust_server(Some("fn main() {}\n"), "x"), None);
    }

    #[test]
    fn no_template_keeps_its_placeholder() {
        for language in [Language::Ts, Language::Py, Language::Kotlin, Language::Rust, Language::Js, Language::Yaml] {
            for (path, text) in own_files(language, "acme_x", None, "trails", None) {
                assert!(![NAME, CLASS, MODULE, SCRIPT].iter().any(|placeholder| text.contains(placeholder)), "{path}");
                assert!(text.contains("acme_x"), "{path}");
            }
        }
    }
}
