//! The packages for TypeScript tools, in the version of this build: a project gets copies, so that its tools and Trailblaze use
//! the same protocol.

/// The package that tools import, and the one that it is built on.
pub const PACKAGES: [Package; 2] = [
    Package { folder: ".trailblaze/client", manifest: include_str!("templates/client.package.json"), sources: &CLIENT },
    Package {
        folder: ".trailblaze/scripting",
        manifest: include_str!("templates/scripting.package.json"),
        sources: &SCRIPTING,
    },
];
pub const PACKAGE: &str = "@trailblaze/scripting";
/// How a `package.json` names the copy.
pub const DEPENDENCY: &str = "file:.trailblaze/scripting";

pub struct Package {
    /// The folder of the copy in a project.
    pub folder: &'static str,
    manifest: &'static str,
    sources: &'static [(&'static str, &'static str)],
}

macro_rules! sources {
    ($package:literal: $($name:literal),* $(,)?) => {
        [$((concat!("src/", $name), include_str!(concat!("../../../../sdks/typescript/", $package, "/src/", $name)))),*]
    };
}

static CLIENT: [(&str, &str); 15] = sources![
    "client":
    "built-in-tools.ts",
    "client.ts",
    "connect.ts",
    "context.ts",
    "daemon.ts",
    "engine.ts",
    "errors.ts",
    "generated.ts",
    "index.ts",
    "method.ts",
    "names.ts",
    "registry.ts",
    "sampling.ts",
    "testing.ts",
    "transport.ts",
];

static SCRIPTING: [(&str, &str); 24] = sources![
    "scripting":
    "callback.ts",
    "context.ts",
    "engine-run.ts",
    "engine.ts",
    "envelope.ts",
    "errors.ts",
    "http-client.ts",
    "http-server.ts",
    "index.ts",
    "input.ts",
    "invoke.ts",
    "memory.ts",
    "outside.ts",
    "parts.ts",
    "process-runtime.ts",
    "result.ts",
    "run.ts",
    "runtime.ts",
    "server.ts",
    "serving.ts",
    "stdout.ts",
    "testing.ts",
    "tool-meta.ts",
    "tool.ts",
];

/// All files of the copies, by their paths in the project.
pub fn files() -> impl Iterator<Item = (String, &'static str)> {
    PACKAGES.iter().flat_map(|package| {
        let files = std::iter::once(("package.json", package.manifest)).chain(package.sources.iter().copied());
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
