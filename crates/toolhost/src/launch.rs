//! How a server is started: the program for a script, the folder, and the environment.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde_json::Value;
use tokio::io::AsyncReadExt;
use tokio::sync::OnceCell;
use trailblaze_core::config::ToolServerConfig;
use trailblaze_core::driver::DeviceDescription;
use trailblaze_protocol::ids::SessionId;
use trailblaze_supervise::{Launch, Supervisor};

use crate::python::program;

/// Where a server is started, and for which session.
pub struct LaunchPlace<'a> {
    /// The project folder; relative paths start here.
    pub root: &'a Path,
    pub base_url: &'a str,
    /// The session that the server belongs to; `None` if several share it.
    pub session: Option<(&'a SessionId, &'a DeviceDescription)>,
}

#[derive(Debug, thiserror::Error)]
pub enum LaunchError {
    #[error("its script `{path}` does not exist")]
    NoScript { path: String },
    #[error("its script `{path}` is not a .ts or .js file")]
    NoScriptKind { path: String },
    #[error("No compatible TypeScript runtime found on PATH. Install bun (https://bun.sh) or Node with tsx.")]
    NoRuntime,
    #[error(
        "node was found, but nothing that runs TypeScript with it; run `npm install tsx` in `{folder}`, or install bun (https://bun.sh)"
    )]
    NoLoader { folder: String },
    #[error("`{manifest}` names dependencies that are not installed; run `{command}` in `{folder}`")]
    NotInstalled { manifest: String, command: &'static str, folder: String },
    #[error("its entry has neither `command` nor `script`")]
    NoWay,
}

/// The runtimes that can run scripts. Searched for once per process.
pub struct Runtimes {
    /// The folders to search, in the format of PATH.
    path: OsString,
    supervisor: Supervisor,
    found: OnceCell<FoundProgram>,
}

#[derive(Debug)]
struct FoundProgram {
    bun: Option<PathBuf>,
    node: Option<PathBuf>,
    npm: Option<PathBuf>,
    tsx: Option<PathBuf>,
    /// Whether this node can run TypeScript without a loader.
    node_runs_types: bool,
}

impl FoundProgram {
    /// Before anything was looked for.
    fn unknown() -> FoundProgram {
        FoundProgram { bun: None, node: None, npm: None, tsx: None, node_runs_types: false }
    }

    fn any(&self) -> bool {
        self.bun.is_some() || self.node.is_some()
    }
}

impl Runtimes {
    pub fn new(path: OsString, supervisor: Supervisor) -> Runtimes {
        Runtimes { path, supervisor, found: OnceCell::new() }
    }

    /// The folders that are searched, in the format of PATH.
    pub fn path(&self) -> &OsStr {
        &self.path
    }

    async fn found(&self) -> &FoundProgram {
        self.found.get_or_init(|| look(&self.path, &self.supervisor)).await
    }
}

/// How to install the packages of a folder.
pub struct Install {
    /// The folder with the package.json.
    pub folder: PathBuf,
    /// Such as `npm install`.
    pub command: &'static str,
    pub launch: Launch,
}

#[derive(Debug, thiserror::Error)]
pub enum InstallError {
    #[error("no package.json in `{folder}` or above")]
    NoPackage { folder: String },
    #[error("`{manager}` is not on PATH; its lock file is in `{folder}`, or it is the default")]
    NoManager { manager: &'static str, folder: String },
}

impl Runtimes {
    /// How to install the packages that the files in a folder may import.
    pub async fn install(&self, folder: &Path) -> Result<Install, InstallError> {
        let shown = |path: &Path| path.display().to_string();
        let folder = folder.canonicalize().unwrap_or_else(|_| folder.to_path_buf());
        let package = NpmPackage::of(&folder).ok_or_else(|| InstallError::NoPackage { folder: shown(&folder) })?;
        let command = package.install_command(self.found().await);
        let manager = command.split(' ').next().unwrap_or(command);
        let program = find(&self.path, manager);
        let program = program.ok_or_else(|| InstallError::NoManager { manager, folder: shown(&package.folder) })?;
        let mut launch = Launch::new(program, package.folder.clone());
        launch.args = vec!["install".into()];
        Ok(Install { folder: package.folder, command, launch })
    }
}

/// How to start a server.
pub async fn launch(
    server: &ToolServerConfig,
    place: &LaunchPlace<'_>,
    runtimes: &Runtimes,
) -> Result<Launch, LaunchError> {
    let mut launch = match (&server.script, &server.command) {
        (Some(script), _) => for_script(script, place.root, runtimes).await?,
        (None, Some(command)) => for_command(command, server, place.root),
        (None, None) => return Err(LaunchError::NoWay),
    };
    launch.args.extend(server.args.iter().map(OsString::from));
    launch.drop_env = server.drop_env.iter().map(OsString::from).collect();
    launch.may_have = server.secrets.iter().map(OsString::from).collect();
    let own = own_variables(server, place).into_iter();
    launch.set_env.extend(own.map(|(name, value)| (name.into(), value.into())));
    Ok(launch)
}

/// The environment variables that a server gets besides those of this process.
pub fn own_variables(server: &ToolServerConfig, place: &LaunchPlace<'_>) -> Vec<(String, String)> {
    let own = server.env.0.iter().map(|(name, value)| (name.value.clone(), value.clone()));
    own.chain(environment(place)).collect()
}

/// The environment variables that describe a session to its server. A public contract: renaming one breaks servers.
fn environment(place: &LaunchPlace<'_>) -> Vec<(String, String)> {
    let root = place.root.canonicalize().unwrap_or_else(|_| place.root.to_path_buf());
    let mut variables = vec![
        ("TRAILBLAZE_PROJECT_DIR", root.display().to_string()),
        ("TRAILBLAZE_BASE_URL", place.base_url.to_string()),
        ("TRAILBLAZE_CALLBACK_URL", format!("{}/scripting/callback", place.base_url)),
    ];
    if let Some((session, description)) = place.session {
        variables.extend([
            ("TRAILBLAZE_DEVICE_PLATFORM", description.platform.name().to_uppercase()),
            ("TRAILBLAZE_DEVICE_DRIVER", description.driver.to_string()),
            ("TRAILBLAZE_DEVICE_WIDTH_PX", description.size.width.to_string()),
            ("TRAILBLAZE_DEVICE_HEIGHT_PX", description.size.height.to_string()),
            ("TRAILBLAZE_SESSION_ID", session.to_string()),
        ]);
    }
    variables.into_iter().map(|(name, value)| (name.to_string(), value)).collect()
}

/// Whether Maven did not find an artifact of a group, judging by its output.
pub fn lacks_maven_artifact(said: &str, group: &str) -> bool {
    let is_about = |line: &str| line.contains(&format!("{group}:"));
    let is_lack = |line: &str| {
        ["Could not find artifact", "Could not resolve dependencies", "was not found in"]
            .iter()
            .any(|words| line.contains(words))
    };
    said.lines().any(|line| is_about(line) && is_lack(line))
}

/// What to do about a script that imports an npm package that is not installed, judging by its output.
pub fn missing_package(script: &Path, said: &str) -> Option<String> {
    let quoted = |words: &str| {
        let after = said.split_once(words)?.1;
        after.split_once(['\'', '"']).map(|(name, _)| name)
    };
    let import = ["Cannot find package '", "Cannot find module '", "Cannot find package \"", "Cannot find module \""];
    let import = import.into_iter().find_map(quoted)?;
    let is_package = import.starts_with(|c: char| c.is_ascii_alphanumeric() || c == '@') && !import.contains(':');
    // `@scope/name/inner` is a part of `@scope/name`.
    let n_parts = if import.starts_with('@') { 2 } else { 1 };
    let package = import.split('/').take(n_parts).collect::<Vec<_>>().join("/");
    if !is_package || package.chars().any(|c| c.is_whitespace() || c.is_control()) {
        return None;
    }
    if package.starts_with("@trailblaze/") {
        let hint =
            "`trailblaze tool new` puts a copy into the project's `.trailblaze` folder, and says how to install it";
        return Some(format!("our package `{package}` is not installed; {hint}"));
    }
    let folder = script.parent()?;
    let of_script = NpmPackage::of(folder);
    let (place, command) = match &of_script {
        Some(found) if found.names(&package) => {
            (found.folder.as_path(), found.install_command(&FoundProgram::unknown()).to_string())
        }
        Some(found) => {
            let command = found.install_command(&FoundProgram::unknown());
            let add = if command.starts_with("npm") { command.to_string() } else { command.replace("install", "add") };
            (found.folder.as_path(), format!("{add} {package}"))
        }
        None => (folder, format!("npm install {package}")),
    };
    let at = importing_line(script, import).map(|line| format!(" ({}:{line} imports it)", script.display()));
    let at = at.unwrap_or_default();
    Some(format!("the npm package `{package}` is not installed{at}; run `{command}` in `{}`", place.display()))
}

/// The line of a script that imports this, from 1.
fn importing_line(script: &Path, import: &str) -> Option<usize> {
    let text = std::fs::read_to_string(script).ok()?;
    let quoted = ['\'', '"'].map(|quote| format!("{quote}{import}{quote}"));
    let is_import = |line: &str| {
        let imports = ["import", "from", "require"].iter().any(|word| line.contains(word));
        imports && quoted.iter().any(|name| line.contains(name.as_str()))
    };
    text.lines().position(is_import).map(|at| at + 1)
}

fn for_command(command: &str, server: &ToolServerConfig, root: &Path) -> Launch {
    let dir = server.working_dir.as_ref().map_or_else(|| root.to_path_buf(), |dir| root.join(dir));
    Launch::new(program(command, root), dir)
}

async fn for_script(script: &str, root: &Path, runtimes: &Runtimes) -> Result<Launch, LaunchError> {
    let path = root.join(script);
    let Ok(path) = std::fs::canonicalize(&path) else {
        return Err(LaunchError::NoScript { path: script.to_string() });
    };
    let is_typed = match path.extension().and_then(|ending| ending.to_str()) {
        Some("ts" | "mts" | "cts") => true,
        Some("js" | "mjs" | "cjs") => false,
        _ => return Err(LaunchError::NoScriptKind { path: script.to_string() }),
    };
    let folder = path.parent().unwrap_or(root).to_path_buf();
    let found = runtimes.found().await;
    let package = NpmPackage::of(&folder);
    // Without installed packages nothing a script needs is available, not even its runner.
    if let Some(package) = package.as_ref().filter(|package| found.any() && package.lacks_dependencies()) {
        return Err(package.not_installed(found));
    }
    let (program, args) = runner(found, is_typed, &folder).map_err(|error| match (error, &package) {
        (LaunchError::NoLoader { .. }, Some(package)) if package.names("tsx") => package.not_installed(found),
        (error, _) => error,
    })?;
    let mut launch = Launch::new(program.into_os_string(), folder);
    launch.args = args.into_iter().map(OsString::from).collect();
    launch.args.push(path.clone().into_os_string());
    launch.set_env.push(("TRAILBLAZE_TOOLSET_FILE".into(), path.into_os_string()));
    Ok(launch)
}

/// Bun if available; otherwise node, with a TypeScript loader if the script needs one.
fn runner(found: &FoundProgram, is_typed: bool, folder: &Path) -> Result<(PathBuf, Vec<&'static str>), LaunchError> {
    if let Some(bun) = &found.bun {
        return Ok((bun.clone(), vec!["run"]));
    }
    let Some(node) = &found.node else { return Err(LaunchError::NoRuntime) };
    let has_tsx = || folder.ancestors().any(|folder| folder.join("node_modules/tsx/package.json").is_file());
    match &found.tsx {
        _ if !is_typed => Ok((node.clone(), Vec::new())),
        _ if has_tsx() => Ok((node.clone(), vec!["--import", "tsx"])),
        Some(tsx) => Ok((tsx.clone(), Vec::new())),
        None if found.node_runs_types => Ok((node.clone(), Vec::new())),
        None => Err(LaunchError::NoLoader { folder: folder.display().to_string() }),
    }
}

/// The package that a script belongs to.
struct NpmPackage {
    folder: PathBuf,
    manifest: Value,
}

impl NpmPackage {
    fn of(folder: &Path) -> Option<NpmPackage> {
        let folder = folder.ancestors().find(|folder| folder.join("package.json").is_file())?;
        let text = std::fs::read_to_string(folder.join("package.json")).unwrap_or_default();
        Some(NpmPackage { folder: folder.to_path_buf(), manifest: serde_json::from_str(&text).unwrap_or_default() })
    }

    /// Whether it declares dependencies and none are installed. Starting the script anyway would fail with an unhelpful
    /// message.
    fn lacks_dependencies(&self) -> bool {
        let needs = self.manifest.get("dependencies").and_then(Value::as_object).is_some_and(|needs| !needs.is_empty());
        needs && !self.folder.ancestors().any(|folder| folder.join("node_modules").is_dir())
    }

    fn names(&self, dependency: &str) -> bool {
        let kinds = ["dependencies", "devDependencies"];
        kinds.iter().any(|kind| self.manifest.get(kind).is_some_and(|named| named.get(dependency).is_some()))
    }

    fn install_command(&self, found: &FoundProgram) -> &'static str {
        let has = |lock: &str| self.folder.join(lock).is_file();
        let manager = self.manifest.get("packageManager").and_then(Value::as_str).unwrap_or_default();
        let is_managed_by = |name: &str| manager.split('@').next() == Some(name);
        match () {
            () if has("bun.lock") || has("bun.lockb") || is_managed_by("bun") => "bun install",
            () if has("pnpm-lock.yaml") || is_managed_by("pnpm") => "pnpm install",
            () if has("yarn.lock") || is_managed_by("yarn") => "yarn install",
            () if found.npm.is_none() && found.bun.is_some() => "bun install",
            () => "npm install",
        }
    }

    fn not_installed(&self, found: &FoundProgram) -> LaunchError {
        let command = self.install_command(found);
        let shown = |path: &Path| path.display().to_string();
        let manifest = shown(&self.folder.join("package.json"));
        LaunchError::NotInstalled { manifest, command, folder: shown(&self.folder) }
    }
}

/// A program on PATH.
pub fn find(path: &OsStr, name: &str) -> Option<PathBuf> {
    std::env::split_paths(path).map(|folder| folder.join(name)).find(|place| is_program(place))
}

async fn look(path: &OsString, supervisor: &Supervisor) -> FoundProgram {
    let find = |name: &str| find(path, name);
    let (bun, node, npm, tsx) = (find("bun"), find("node"), find("npm"), find("tsx"));
    let node_runs_types = match (&bun, &tsx, &node) {
        (None, None, Some(node)) => runs_types(node, supervisor).await,
        _ => false,
    };
    FoundProgram { bun, node, npm, tsx, node_runs_types }
}

fn is_program(path: &Path) -> bool {
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        path.metadata().is_ok_and(|meta| meta.is_file() && meta.permissions().mode() & 0o111 != 0)
    }
    #[cfg(not(unix))]
    path.is_file()
}

/// Node runs erasable TypeScript without a loader since 22.18 and 23.6.
async fn runs_types(node: &Path, supervisor: &Supervisor) -> bool {
    let mut asked = Launch::new(node, "/");
    asked.args = vec!["--version".into()];
    let answer = async {
        let mut running = supervisor.start(asked).await.ok()?;
        let mut version = String::new();
        running.stdout.read_to_string(&mut version).await.ok()?;
        Some(version)
    };
    let Ok(Some(version)) = tokio::time::timeout(Duration::from_secs(5), answer).await else { return false };
    let version = version.trim().trim_start_matches('v');
    let mut parts = version.split('.').map(|part| part.parse::<u32>().unwrap_or(0));
    let (major, minor) = (parts.next().unwrap_or(0), parts.next().unwrap_or(0));
    (major, minor) >= (23, 6) || (major == 22 && minor >= 18)
}

#[cfg(test)]
mod tests {
    use std::fs::{create_dir_all, write};

    use super::*;

    #[test]
    fn a_missing_package_is_named_with_the_command_that_installs_it() {
        let folder = tempfile::tempdir().unwrap();
        let tools = folder.path().join("tools");
        create_dir_all(&tools).unwrap();
        let hint = |said: &str| missing_package(&tools.join("acme.ts"), said);
        let bun = "error: Cannot find package 'left-pad' from '/p/tools/acme.ts'";
        let at = |place: &Path, what: &str| Some(format!("{what} in `{}`", place.display()));
        let told = "the npm package `left-pad` is not installed; run `npm install left-pad`";
        assert_eq!(hint(bun), at(&tools, told));
        write(tools.join("package.json"), r#"{"dependencies": {"@acme/pay": "1"}}"#).unwrap();
        write(tools.join("bun.lock"), "").unwrap();
        let told = "the npm package `left-pad` is not installed; run `bun add left-pad`";
        assert_eq!(hint(bun), at(&tools, told));
        let node = "Error [ERR_MODULE_NOT_FOUND]: Cannot find package '@acme/pay' imported from /p/tools/acme.ts";
        let told = "the npm package `@acme/pay` is not installed; run `bun install`";
        assert_eq!(hint(node), at(&tools, told));
        let inner = "Cannot find module '@acme/pay/cards' from '/p/tools/acme.ts'";
        assert_eq!(hint(inner), at(&tools, told));
        write(tools.join("acme.ts"), "// acme\nimport { pay } from \"@acme/pay/cards\";\n").unwrap();
        let told = hint(inner).unwrap();
        assert!(told.contains("acme.ts:2 imports it); run `bun install`"), "{told}");
        for other in ["Cannot find module './cards' from 'acme.ts'", "Cannot find package 'node:sqlite'", "boom"] {
            assert_eq!(hint(other), None, "{other}");
        }
    }
}
