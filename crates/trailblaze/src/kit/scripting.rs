//! The packages for TypeScript tools, in the version of this build: a project gets copies, so that its tools and Trailblaze use
//! the same protocol.

/// The package that tools import, and the one that it is built on.
pub const PACKAGES: [ScriptingPackage; 2] = [
    ScriptingPackage {
        folder: ".trailblaze/client",
        manifest: include_str!("templates/client.package.json"),
        readme: include_str!("../../../../sdks/typescript/client/README.md"),
        sources: CLIENT,
    },
    ScriptingPackage {
        folder: ".trailblaze/scripting",
        manifest: include_str!("templates/scripting.package.json"),
        readme: include_str!("../../../../sdks/typescript/scripting/README.md"),
        sources: SCRIPTING,
    },
];
pub const PACKAGE: &str = "@trailblaze/scripting";
/// How a `package.json` names the copy.
pub const DEPENDENCY: &str = "file:.trailblaze/scripting";

pub struct ScriptingPackage {
    /// The folder of the copy in a project.
    pub folder: &'static str,
    manifest: &'static str,
    readme: &'static str,
    sources: &'static [(&'static str, &'static str)],
}

/// The sources of a package, and their declarations: without these, `tsc` would check our code by the rules of the project.
macro_rules! sources {
    ($package:literal: $($name:literal),* $(,)?) => {
        &[$(
            (
                concat!("src/", $name, ".ts"),
                include_str!(concat!("../../../../sdks/typescript/", $package, "/src/", $name, ".ts")),
            ),
            (
                concat!("types/", $name, ".d.ts"),
                include_str!(concat!("../../../../sdks/typescript/", $package, "/types/", $name, ".d.ts")),
            ),
        )*]
    };
}

static CLIENT: &[(&str, &str)] = sources![
    "client":
    "client",
    "connect",
    "context",
    "daemon",
    "engine",
    "errors",
    "generated",
    "generated-tools",
    "index",
    "method",
    "names",
    "registry",
    "sampling",
    "testing",
    "transport",
];

static SCRIPTING: &[(&str, &str)] = sources![
    "scripting":
    "callback",
    "context",
    "engine-run",
    "engine",
    "envelope",
    "errors",
    "http-client",
    "http-server",
    "index",
    "input",
    "invoke",
    "json",
    "malformed",
    "memory",
    "outside",
    "parts",
    "process-runtime",
    "result",
    "run",
    "runtime",
    "server",
    "serving",
    "stdout",
    "testing",
    "tool-meta",
    "tool",
];

/// All files of the copies, by their paths in the project.
pub fn files() -> impl Iterator<Item = (String, &'static str)> {
    PACKAGES.iter().flat_map(|package| {
        let about = [("package.json", package.manifest), ("README.md", package.readme)];
        let files = about.into_iter().chain(package.sources.iter().copied());
        files.map(|(path, text)| (format!("{}/{path}", package.folder), text))
    })
}

/// The folder of the copy that a path is in.
pub fn folder_of(path: &str) -> Option<&'static str> {
    PACKAGES.iter().map(|package| package.folder).find(|folder| path.starts_with(*folder))
}

/// The command that adds the copies to a project that has its own `package.json`.
pub fn install_command() -> String {
    let folders = PACKAGES.iter().map(|package| format!(" ./{}", package.folder));
    format!("npm install zod{}", folders.collect::<String>())
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    #[test]
    fn every_source_of_the_packages_is_copied() {
        for package in super::PACKAGES {
            let name = package.folder.trim_start_matches(".trailblaze/");
            let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../sdks/typescript").join(name).join("src");
            for entry in std::fs::read_dir(folder).expect("a folder").flatten() {
                let path = format!("src/{}", entry.file_name().to_string_lossy());
                assert!(package.sources.iter().any(|(copied, _)| *copied == path), "{name}: {path} is not in the list");
            }
        }
    }
}
