//! CommonJS modules among ES modules.
//!
//! The engine has no `require`. Each CommonJS file becomes three modules of the program:
//! - its own id: a function around its source, compiled as a script, because CommonJS is not strict;
//! - `…?require`: says where the function is and what its `require`s mean, without running it;
//! - `…?import`: runs it, and exports what it exports.
//!
//! A function runs when it is first required, as in Node, so that cycles work as there.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

use serde_json::Value;

use crate::program::LinkedModule;
use crate::transpile::SourceMap;

/// The module that keeps all CommonJS modules of a program.
pub const REGISTRY: &str = "trailblaze:require";

/// What a `require` means.
#[derive(Debug, Clone, PartialEq)]
pub enum Required {
    /// Another CommonJS module.
    CommonJs(String),
    /// An ES module: its namespace.
    Module(String),
    /// A JSON file: its value.
    Json(String),
    /// Nothing: this is thrown.
    Missing(String),
}

pub fn registry() -> LinkedModule {
    generated(include_str!("registry.js").to_string(), BTreeMap::new())
}

pub fn require_id(id: &str) -> String {
    format!("{id}?require")
}

pub fn import_id(id: &str) -> String {
    format!("{id}?import")
}

/// The function. The source starts on the first line, so that lines are those of the file.
pub fn function(source: &str) -> String {
    // A `#!` is only valid at the very start.
    let source = source.strip_prefix("#!").map_or_else(|| source.to_string(), |rest| format!("//{rest}"));
    format!("(function (exports, require, module, __filename, __dirname) {{{source}\n}})")
}

/// The module `…?require`.
pub fn definition(id: &str, requires: &BTreeMap<String, Required>) -> LinkedModule {
    let mut code = format!("import {{ define }} from {};\n", quoted(REGISTRY));
    let mut table = String::new();
    let mut imports = BTreeMap::from([REGISTRY, id].map(|id| (id.to_string(), id.to_string())));
    for (n, (specifier, required)) in requires.iter().enumerate() {
        let meaning = match required {
            Required::CommonJs(id) => {
                let definition = require_id(id);
                let _ = writeln!(code, "import {};", quoted(&definition));
                imports.insert(definition.clone(), definition);
                format!("{{ id: {} }}", quoted(id))
            }
            Required::Module(id) => {
                let _ = writeln!(code, "import * as _{n} from {};", quoted(id));
                imports.insert(id.clone(), id.clone());
                format!("{{ value: () => _{n} }}")
            }
            Required::Json(id) => {
                let _ = writeln!(code, "import _{n} from {};", quoted(id));
                imports.insert(id.clone(), id.clone());
                format!("{{ value: () => _{n} }}")
            }
            Required::Missing(message) => format!("{{ missing: {} }}", quoted(message)),
        };
        let _ = write!(table, "[{}, {meaning}], ", quoted(specifier));
    }
    let _ = writeln!(code, "define({}, [{table}]);", quoted(id));
    generated(code, imports)
}

/// The module `…?import`.
pub fn face(id: &str, names: &BTreeSet<String>) -> LinkedModule {
    let definition = require_id(id);
    let mut code = format!(
        "import {};\nimport {{ load }} from {};\nconst exported = load({});\nexport default exported;\n",
        quoted(&definition),
        quoted(REGISTRY),
        quoted(id)
    );
    for (n, name) in names.iter().filter(|name| *name != "default").enumerate() {
        let name = quoted(name);
        let _ = writeln!(code, "const _{n} = exported?.[{name}]; export {{ _{n} as {name} }};");
    }
    let imports = [REGISTRY.to_string(), definition].map(|id| (id.clone(), id));
    generated(code, BTreeMap::from(imports))
}

/// A module that is no file. Without a map to anywhere, its places are left out of errors.
pub fn generated(code: String, imports: BTreeMap<String, String>) -> LinkedModule {
    LinkedModule { code, map: Some(SourceMap::default()), imports, offset: None }
}

/// A text as JavaScript. Written as JSON, which has been a part of JavaScript since 2019.
pub fn quoted(text: &str) -> String {
    Value::from(text).to_string()
}
