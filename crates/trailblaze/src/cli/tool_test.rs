//! `trailblaze tool test`: runs the tests of tools, with the test runners of their languages and as trails on simulated
//! devices.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::Duration;

use clap::{Args, Parser};
use serde_json::json;
use trailblaze_core::config::ToolServerConfig;
use trailblaze_core::trail::{Trail, is_trail};
use trailblaze_core::yaml::decode;
use trailblaze_core::yaml::{Problems, Source, block, nearest};
use trailblaze_protocol::exit::Exit;
use trailblaze_supervise::{Launch, ProcessExit, Supervisor};
use trailblaze_toolhost::launch::{LaunchPlace, Runtimes, lacks_maven_artifact, launch};
use trailblaze_toolhost::python::{is_python, missing_module, program};

use super::child::ChildRun;
use super::device::DeviceArgs;
use super::run::{RunArgs, run_once};
use super::{Context, Refusal};
use crate::kit::{kotlin_sdk, test_files};
use crate::output::print;
use crate::project::loaded::Loaded;
use crate::project::source::shown;
use crate::project::test_runner::{Runner, runner_of};

/// The file of a Maven project.
const POM: &str = "pom.xml";

/// Run the tests of the project's own tools: test files next to them, and trails that call them
///
/// Trails run on the simulated devices of the project, or on all devices if none is simulated.
#[derive(Args)]
pub struct TestArgs {
    /// Names of tools, test files or trails [default: all tools of the project]
    #[arg(value_name = "NAME|FILE")]
    what: Vec<String>,
    #[command(flatten)]
    devices: DeviceArgs,
    /// Limit the test files of each folder to this time
    #[arg(long, default_value = "10m", value_parser = humantime::parse_duration)]
    timeout: Duration,
}

pub async fn test(context: &Context, args: &TestArgs) -> Result<Exit, Refusal> {
    let loaded = context.load(None)?;
    Refusal::unless_sound(&loaded.problems)?;
    let chosen = ChosenTests::of(&loaded, &args.what)?;
    let in_rust: Vec<String> = test_files::cargo_manifests(&loaded).iter().map(|path| not_run(path)).collect();
    if chosen.files.is_empty() && chosen.trails.is_empty() {
        let hint =
            "a test is a file next to its tool, named *.test.ts, test_*.py or *Test.kt, or a trail that calls it";
        let hint = in_rust.iter().fold(hint.to_string(), |hint, in_rust| format!("{hint}; {in_rust}"));
        return Err(Refusal::Usage { message: "the project has no tests for tools".to_string(), hint: Some(hint) });
    }
    let runners = Runners { root: &loaded.root, loaded: &loaded, supervisor: Supervisor::new(), limit: args.timeout };
    let mut exit = Exit::Passed;
    let (mut is_built, mut n_passed) = (true, 0);
    for ((runner, folder), files) in by_folder(&chosen.files) {
        let ended = runners.run(runner, &folder, &files).await?;
        n_passed += if ended == Exit::Passed { files.len() } else { 0 };
        is_built &= runner != Runner::Kotlin || ended == Exit::Passed;
        exit = exit.worst(ended);
    }
    if !is_built {
        print::hint("the trails were not run: they would use the jar of an earlier build");
    } else if !chosen.trails.is_empty() {
        let run = trails(&loaded, &chosen.trails, &args.devices.device)?;
        exit = exit.worst(run_once(&context.within(&loaded.root), &run, None, None).await?);
        // The last line of a run only counts trails.
        if !chosen.files.is_empty() {
            print::data(format!("{n_passed} of {} passed", print::count(chosen.files.len(), "test file")));
        }
    }
    in_rust.iter().for_each(print::hint);
    Ok(exit)
}

/// Says that the unit tests of a Cargo project were not run: `cargo` knows what to build for them.
fn not_run(manifest: &str) -> String {
    let option = if manifest == "Cargo.toml" { String::new() } else { format!(" --manifest-path {manifest}") };
    format!("`tool test` does not run unit tests in Rust; `cargo test{option}` does")
}

/// The tests to run.
#[derive(Default)]
struct ChosenTests {
    files: Vec<PathBuf>,
    trails: Vec<PathBuf>,
}

impl ChosenTests {
    fn of(loaded: &Loaded, what: &[String]) -> Result<ChosenTests, Refusal> {
        let files = test_files::all(loaded);
        let trails: Vec<Trail> = match loaded.trails(&[]) {
            Ok(trails) => trails.into_iter().filter_map(|(trail, _)| trail).collect(),
            // A project may have tools but no trails.
            Err(_) => Vec::new(),
        };
        let mut chosen = ChosenTests::default();
        if what.is_empty() {
            chosen.files = files;
            let own = trails.iter().filter(|trail| test_files::calls_own(trail, loaded));
            chosen.trails = own.map(|trail| loaded.root.join(&trail.source.path)).collect();
            return Ok(chosen);
        }
        for word in what {
            let path = Path::new(word);
            match () {
                () if path.is_file() && runner_of(path).is_some() => {
                    chosen.add_file(std::path::absolute(path).unwrap_or_default())
                }
                () if path.is_file() && is_trail(path) => chosen.add_trail(path.to_path_buf()),
                () if path.exists() || word.contains(['/', '.']) => {
                    let hint = "test files are named *.test.ts (or .js), test_*.py and *Test.kt, trails *.trail.yaml";
                    let hint = Some(hint.to_string());
                    let what = if path.exists() { "is neither a test file nor a trail" } else { "does not exist" };
                    return Err(Refusal::Usage { message: format!("`{word}` {what}"), hint });
                }
                () => chosen.add_tool(word, &files, &trails, loaded)?,
            }
        }
        Ok(chosen)
    }

    fn add_file(&mut self, path: PathBuf) {
        if !self.files.contains(&path) {
            self.files.push(path);
        }
    }

    fn add_trail(&mut self, path: PathBuf) {
        if !self.trails.contains(&path) {
            self.trails.push(path);
        }
    }

    fn add_tool(&mut self, name: &str, files: &[PathBuf], trails: &[Trail], loaded: &Loaded) -> Result<(), Refusal> {
        let before = self.files.len() + self.trails.len();
        let mut is_known = false;
        for file in files.iter().filter(|file| test_files::names_tool(file, name)) {
            is_known = true;
            self.add_file(file.clone());
        }
        for trail in trails.iter().filter(|trail| test_files::called(trail).contains(name)) {
            is_known = true;
            self.add_trail(loaded.root.join(&trail.source.path));
        }
        if is_known || self.files.len() + self.trails.len() > before {
            return Ok(());
        }
        let tested = trails.iter().flat_map(test_files::called);
        let near = nearest(name, tested).map(|near| format!("did you mean `{near}`?"));
        let hint = near.unwrap_or_else(|| {
            format!("add a test file next to the tools that mentions it, such as tools/{name}.test.ts, or a trail that calls it")
        });
        Err(Refusal::Usage { message: format!("no test for a tool `{name}`"), hint: Some(hint) })
    }
}

type ByFolder<'f> = BTreeMap<(Runner, PathBuf), Vec<&'f PathBuf>>;

/// Starts a runner once for each folder; Maven once for each of its projects.
fn by_folder(files: &[PathBuf]) -> ByFolder<'_> {
    let mut folders: ByFolder<'_> = BTreeMap::new();
    for file in files {
        let Some(runner) = runner_of(file) else { continue };
        let has_pom = |folder: &&Path| folder.join(POM).is_file();
        let of_maven = file.ancestors().skip(1).find(has_pom).filter(|_| runner == Runner::Kotlin);
        if let Some(folder) = of_maven.or(file.parent()) {
            folders.entry((runner, folder.to_path_buf())).or_default().push(file);
        }
    }
    folders
}

struct Runners<'a> {
    root: &'a Path,
    loaded: &'a Loaded,
    supervisor: Supervisor,
    limit: Duration,
}

impl Runners<'_> {
    async fn run(&self, runner: Runner, folder: &Path, files: &[&PathBuf]) -> Result<Exit, Refusal> {
        let names: Vec<String> = files.iter().map(|file| shown(self.root, file)).collect();
        let exit = match runner {
            Runner::Script => self.finish(self.script(files).await?, &names).await?,
            Runner::Python => self.python(folder, files, &names).await?,
            Runner::Kotlin => self.finish(self.maven(folder, files)?, &names).await?,
        };
        let word = if exit == Exit::Passed { "passed" } else { "failed" };
        names.iter().for_each(|name| print::data(format!("{word}  {name}")));
        Ok(exit)
    }

    /// Starts the same runtime that would run a server's script, but its test runner.
    async fn script(&self, files: &[&PathBuf]) -> Result<Launch, Refusal> {
        let runtimes = Runtimes::new(self.loaded.environment.path().to_os_string(), self.supervisor.clone());
        let place = LaunchPlace { root: self.root, base_url: "http://127.0.0.1:0", session: None };
        let first = files.first().map(|file| file.display().to_string()).unwrap_or_default();
        let source = Source::new("test", block(&json!({"script": first}), 0));
        let server: ToolServerConfig = decode(&source, &mut Problems::new(&source))
            .ok_or_else(|| Refusal::usage(format!("`{first}` cannot be named in YAML")))?;
        let mut started = launch(&server, &place, &runtimes)
            .await
            .map_err(|error| Refusal::Environment { message: format!("tests in TypeScript cannot run: {error}") })?;
        started.set_env.clear();
        let script = started.args.pop();
        match started.args.iter().position(|arg| arg == "run") {
            Some(at) => started.args[at] = "test".into(),
            None => started.args.push("--test".into()),
        }
        started.args.extend(script);
        started.args.extend(files.iter().skip(1).map(|file| file.as_os_str().to_os_string()));
        Ok(started)
    }

    /// Runs the tests and builds the jar, so that trails use the same tools. Maven's wrapper is preferred, if there is one.
    fn maven(&self, folder: &Path, files: &[&PathBuf]) -> Result<Launch, Refusal> {
        if !folder.join(POM).is_file() {
            let shown = files.first().map(|file| shown(self.root, file)).unwrap_or_default();
            return Err(Refusal::Usage {
                message: format!("`{shown}` belongs to no Maven project: no folder above it has a {POM}"),
                hint: Some(
                    "run the tests with your build tool; `tool test` with the name of a trail runs that".to_string(),
                ),
            });
        }
        let wrapper = [folder, self.root].map(|folder| folder.join("mvnw")).into_iter().find(|path| path.is_file());
        let classes: Vec<String> =
            files.iter().map(|file| file.file_stem().unwrap_or_default().to_string_lossy().into_owned()).collect();
        let mut launch = Launch::new(wrapper.map_or_else(|| "mvn".into(), PathBuf::into_os_string), self.root);
        // Without colours: compilers write escape codes even where the output is no terminal.
        launch.args = ["-q", "-B", "-Dstyle.color=never", "-f"].map(OsString::from).to_vec();
        launch.args.extend([folder.join(POM).into_os_string(), "package".into()]);
        launch.args.push(format!("-Dtest={}", classes.join(",")).into());
        Ok(launch)
    }

    /// With pytest if it is installed, otherwise with unittest.
    async fn python(&self, folder: &Path, files: &[&PathBuf], names: &[String]) -> Result<Exit, Refusal> {
        let program = program(self.python_command(), self.root);
        let start = |args: Vec<OsString>| {
            let mut launch = Launch::new(program.clone(), self.root);
            launch.args = args;
            launch
        };
        let probe = start(["-c", "import pytest"].map(OsString::from).to_vec());
        if self.quiet(probe).await? == ProcessExit::Code(0) {
            let mut args: Vec<OsString> = ["-m", "pytest", "-q"].map(OsString::from).to_vec();
            args.extend(files.iter().map(|file| file.as_os_str().to_os_string()));
            return self.finish(start(args), names).await;
        }
        let mut exit = Exit::Passed;
        for file in files {
            let mut args: Vec<OsString> = ["-m", "unittest", "discover", "-s"].map(OsString::from).to_vec();
            let name = file.file_name().unwrap_or_default();
            args.extend([folder.as_os_str().to_os_string(), "-p".into(), name.to_os_string()]);
            exit = exit.worst(self.finish(start(args), names).await?);
        }
        Ok(exit)
    }

    /// The command that starts the project's Python servers, or `python3`.
    fn python_command(&self) -> &str {
        let targets = self.loaded.targets.iter().flat_map(|target| &target.servers.0);
        let servers = self.loaded.project.servers.0.iter().chain(targets);
        let mut commands = servers.filter_map(|(_, server)| server.command.as_deref());
        commands.find(|command| is_python(command)).unwrap_or("python3")
    }

    async fn finish(&self, launch: Launch, names: &[String]) -> Result<Exit, Refusal> {
        match self.ended(launch, true).await? {
            (ProcessExit::Code(0), _) => Ok(Exit::Passed),
            (ProcessExit::Code(_), said) => {
                let path = self.loaded.environment.path();
                missing_module(self.python_command(), self.root, path, &said).iter().for_each(print::hint);
                if lacks_maven_artifact(&said, kotlin_sdk::GROUP) {
                    print::hint(format!(
                        "the libraries are not installed here: run `{}`",
                        kotlin_sdk::install_command()
                    ));
                }
                Ok(Exit::Failed)
            }
            (other, _) => {
                Err(Refusal::Environment { message: format!("the test runner for {} {other}", names.join(", ")) })
            }
        }
    }

    async fn quiet(&self, launch: Launch) -> Result<ProcessExit, Refusal> {
        Ok(self.ended(launch, false).await?.0)
    }

    async fn ended(&self, launch: Launch, is_shown: bool) -> Result<(ProcessExit, String), Refusal> {
        ChildRun { launch, did: "ran tests", limit: self.limit, is_shown }.ended(&self.supervisor).await
    }
}

#[derive(Parser)]
struct RunLine {
    #[command(flatten)]
    run: RunArgs,
}

/// Runs these trails, on the simulated devices of the project unless it has none, or others are given.
fn trails(loaded: &Loaded, paths: &[PathBuf], named: &[String]) -> Result<RunArgs, Refusal> {
    let mut devices: Vec<String> = named.to_vec();
    if devices.is_empty() {
        let own = loaded.devices(&[])?;
        // A project whose devices are all real, such as one for the web, is tested on those.
        let has_simulated = own.iter().any(|device| device.id.is_simulated());
        let chosen = own.iter().filter(|device| device.id.is_simulated() || !has_simulated);
        devices.extend(chosen.map(|device| device.id.to_string()));
    }
    if devices.is_empty() {
        devices.push(format!("{}/sim-1", loaded.project.platform.map_or("android", |platform| platform.name())));
    }
    let mut line: Vec<OsString> =
        vec!["run".into(), "--verbose".into(), "--device".into(), devices.join(",").into(), "--".into()];
    line.extend(paths.iter().map(|path| path.as_os_str().to_os_string()));
    RunLine::try_parse_from(line).map(|line| line.run).map_err(|error| Refusal::usage(error.to_string()))
}
