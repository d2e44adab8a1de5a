//! The package for TypeScript tools, in the version of this build: a project gets a copy, so that its tools and Trailblaze
//! use the same protocol.

/// The folder of the copy in a project.
pub const FOLDER: &str = ".trailblaze/scripting";
pub const PACKAGE: &str = "@trailblaze/scripting";
/// How a `package.json` names the copy.
pub const DEPENDENCY: &str = "file:.trailblaze/scripting";

macro_rules! sources {
    ($($name:literal),* $(,)?) => {
        [$((concat!("src/", $name), include_str!(concat!("../../../../sdks/typescript/scripting/src/", $name)))),*]
    };
}

const SOURCES: [(&str, &str); 16] = sources![
    "callback.ts",
    "context.ts",
    "envelope.ts",
    "errors.ts",
    "http-client.ts",
    "http-server.ts",
    "index.ts",
    "input.ts",
    "invoke.ts",
    "memory.ts",
    "result.ts",
    "run.ts",
    "stdout.ts",
    "testing.ts",
    "tool-meta.ts",
    "tool.ts",
];

/// All files of the copy, by their paths in the project.
pub fn files() -> impl Iterator<Item = (String, &'static str)> {
    let manifest = ("package.json", include_str!("templates/scripting.package.json"));
    std::iter::once(manifest).chain(SOURCES).map(|(path, text)| (format!("{FOLDER}/{path}"), text))
}
