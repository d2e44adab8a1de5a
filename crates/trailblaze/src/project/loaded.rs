//! Loads a project: finds its root, reads every file, and collects all problems.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use trailblaze_core::callers::preflight::check_tools;
use trailblaze_core::config::{Project, Restart, Servers, TargetConfig, ToolsetConfig};
use trailblaze_core::engine::registry::{Batch, MissingTool, Registry};
use trailblaze_core::engine::tool::Contributor;
use trailblaze_core::names::ToolOrigin;
use trailblaze_core::tool_files::{self, FileTool};
use trailblaze_core::tools;
use trailblaze_core::trail::{Trail, is_trail};
use trailblaze_core::yaml::decode;
use trailblaze_core::yaml::{Problem, Problems, Severity, Source, Span, YamlNode, nearest, read};
use trailblaze_protocol::driver::Platform;

use crate::files::stamp::Stamp;
use crate::project::environment::Environment;
use crate::project::folders::TrailFolders;
use crate::project::providers::DeviceProviders;
use crate::project::scripts;
use crate::project::select::{SelectError, trail_files};
use crate::project::server_entry::{EntryPlace, missing_files};
use crate::project::source::{FILE_START, read_source, shown};
use crate::project::stretches::{self, Stretches};

pub const PROJECT_FILE: &str = "trailblaze.yaml";
pub const CONFIG_DIR: &str = "trailblaze-config";

pub struct Loaded {
    pub root: PathBuf,
    pub project: Project,
    pub targets: Vec<TargetConfig>,
    /// The built-in ones, then the project's.
    pub toolsets: Vec<ToolsetConfig>,
    /// The tools of every source, in the order in which they are registered.
    pub batches: Vec<Batch>,
    /// Where each tool file names its tool, by the file's path.
    places: BTreeMap<String, (Arc<Source>, Span)>,
    /// Where each server is declared, by its contributor label.
    server_places: BTreeMap<String, (Arc<Source>, Span)>,
    /// The files that declare servers, by the target that they belong to.
    server_files: BTreeMap<Option<String>, Arc<Source>>,
    pub files: Files,
    pub providers: DeviceProviders,
    pub problems: Vec<Problem>,
    pub environment: Arc<Environment>,
}

/// Where the project's targets and toolsets are declared, by id.
#[derive(Debug, Default)]
pub struct Files {
    pub targets: BTreeMap<String, String>,
    pub toolsets: BTreeMap<String, String>,
}

/// A trail, unless its file cannot be read as one, and its problems.
pub type ReadTrail = (Option<Trail>, Vec<Problem>);

#[derive(Debug, thiserror::Error)]
pub enum LoadError {
    #[error("cannot read `{path}`: {source}")]
    Read { path: String, source: std::io::Error },
    #[error("{0}")]
    Select(#[from] SelectError),
}

/// The folder of the nearest `trailblaze.yaml`, from `start` upward; without one, the current folder.
pub fn find_root(start: &Path, environment: &Environment) -> PathBuf {
    let absolute = environment.absolute(start);
    let found = absolute.ancestors().find(|folder| folder.join(PROJECT_FILE).is_file());
    found.unwrap_or(environment.current_dir()).to_path_buf()
}

impl Loaded {
    pub fn read(root: &Path, environment: &Arc<Environment>) -> Result<Loaded, LoadError> {
        let mut problems = Vec::new();
        let path = root.join(PROJECT_FILE);
        let source = path.is_file().then(|| read_source(root, &path, &mut problems)).flatten();
        let project: Option<Project> = source.as_ref().and_then(|source| decode_file(source, &mut problems));
        let empty = Source::new(PROJECT_FILE, "");
        let project = project.or_else(|| decode(&empty, &mut Problems::new(&empty)));
        let project = project.expect("an empty project file is a project");
        let file = source.as_ref().and_then(|source| Some((source, read(source, &mut Problems::new(source))?)));
        let (source_of, file) = file.unwrap_or((&empty, project.of_providers.clone()));
        let known = environment.compiled_in().providers();
        let providers = DeviceProviders::read(&known, root, (source_of, &file), &mut problems);
        let mut loaded = Loaded {
            root: root.to_path_buf(),
            project,
            targets: Vec::new(),
            toolsets: tools::toolsets(),
            batches: tools::batches().into_iter().chain(environment.compiled_in().batches().iter().cloned()).collect(),
            places: BTreeMap::new(),
            server_places: BTreeMap::new(),
            server_files: BTreeMap::new(),
            files: Files::default(),
            providers,
            problems,
            environment: Arc::clone(environment),
        };
        if let Some(source) = source {
            loaded.note_servers(None, &source, &loaded.project.servers.clone());
        }
        loaded.read_config()?;
        loaded.check_names();
        Ok(loaded)
    }

    fn read_config(&mut self) -> Result<(), LoadError> {
        let mut targets = Vec::new();
        for source in self.sources("targets")? {
            targets.extend(decode_file::<TargetConfig>(&source, &mut self.problems).map(|target| (source, target)));
        }
        for source in self.sources("toolsets")? {
            if let Some(toolset) = decode_file::<ToolsetConfig>(&source, &mut self.problems) {
                self.files.toolsets.insert(toolset.id.value.clone(), source.path.clone());
                self.toolsets.push(toolset);
            }
        }
        let compiled = self.batches.clone();
        let configured = self.project.script_root.as_ref().map(|folder| folder.value.as_str());
        let script_root = scripts::script_root(&self.root, configured);
        for source in self.sources("tools")? {
            if let Some(id) = root_key(&source, "id") {
                self.places.insert(source.path.clone(), (Arc::clone(&source), id.span));
            }
            let (tool, found) = tool_files::read(&source);
            self.problems.extend(found);
            let n_batches = self.batches.len();
            let is_alias = matches!(tool, Some(FileTool::Alias(_)));
            match tool {
                Some(FileTool::Own(batch)) => self.batches.push(*batch),
                Some(FileTool::Script(tool)) => {
                    match scripts::compile(&self.root, &script_root, &tool, &self.environment) {
                        Ok(code) => self.batches.push(tool.with_code(code)),
                        Err(problems) => self.problems.extend(problems),
                    }
                }
                Some(FileTool::Alias(alias)) => match alias.resolve(&compiled) {
                    Ok(batch) => self.batches.extend(batch),
                    Err(problem) => self.problems.push(problem),
                },
                None => {}
            }
            if self.batches.len() == n_batches && !is_alias {
                self.batches.push(broken(&source));
            }
        }
        for (source, target) in &targets {
            self.files.targets.insert(target.id.value.clone(), source.path.clone());
            self.note_servers(Some(&target.id.value), source, &target.servers);
            // A server may provide toolsets that no file declares.
            if self.project.servers.0.is_empty() && target.servers.0.is_empty() {
                self.problems.extend(self.unknown_toolsets(source, target));
            }
        }
        self.targets.extend(targets.into_iter().map(|(_, target)| target));
        Ok(())
    }

    /// Toolsets that a target names but neither a file nor a tool declares.
    fn unknown_toolsets(&self, source: &Arc<Source>, target: &TargetConfig) -> Vec<Problem> {
        let pushed = self.batches.iter().flat_map(|batch| &batch.tools).filter_map(|tool| tool.toolset.as_deref());
        let known: Vec<&str> = self.toolsets.iter().map(|toolset| toolset.id.value.as_str()).chain(pushed).collect();
        let mut problems = Problems::new(source);
        let asked = target.platforms.0.iter().flat_map(|(_, platform)| platform.tool_sets.iter().flatten());
        for set in asked.filter(|set| !known.contains(&set.value.as_str())) {
            problems.unknown(set.span, "toolset", &set.value, known.iter().copied());
        }
        problems.into_vec()
    }

    /// The readable files of one kind.
    fn sources(&mut self, kind: &str) -> Result<Vec<Arc<Source>>, LoadError> {
        let folder = self.root.join(CONFIG_DIR).join(kind);
        if !folder.is_dir() {
            return Ok(Vec::new());
        }
        let is_yaml = |path: &PathBuf| path.extension().is_some_and(|ending| ending == "yaml" || ending == "yml");
        let mut files: Vec<PathBuf> = entries(&folder)?.into_iter().filter(is_yaml).collect();
        files.sort();
        Ok(files.iter().filter_map(|file| read_source(&self.root, file, &mut self.problems)).collect())
    }

    /// Reports names that refer to nothing.
    fn check_names(&mut self) {
        if let Some(target) = &self.project.target {
            if !self.targets.iter().any(|known| known.id.value == target.value) {
                let path = self.root.join(PROJECT_FILE);
                let text = std::fs::read_to_string(&path).unwrap_or_default();
                let source = Source::new(PROJECT_FILE, text);
                let mut problems = Problems::new(&source);
                problems.unknown(
                    target.span,
                    "target",
                    &target.value,
                    self.targets.iter().map(|target| target.id.value.as_str()),
                );
                self.problems.extend(problems.into_vec());
            }
        }
    }

    /// Notes where servers are declared, and warns about settings that have no effect.
    fn note_servers(&mut self, target: Option<&str>, source: &Arc<Source>, servers: &Servers) {
        self.server_files.insert(target.map(str::to_string), Arc::clone(source));
        let mut problems = Problems::new(source);
        for (name, server) in &servers.0 {
            let place = (Arc::clone(source), name.span);
            self.server_places.insert(format!("server {}", name.value), place);
            if server.restart == Restart::OnFailure && server.url.is_some() {
                let text = format!("`restart:` of `{}` does nothing: it is not started here", name.value);
                problems.warning(name.span, text);
            }
            let place = EntryPlace::new(source, name);
            for (key, path) in missing_files(&self.root, server) {
                let text = format!("`{path}` does not exist, so the server `{}` cannot start", name.value);
                let folder = server.working_dir.as_deref().map_or("the project's folder", |_| "its `workingDir`");
                problems.warning_with_hint(place.span(key, path), text, format!("the path starts at {folder}"));
            }
        }
        self.problems.extend(problems.into_vec());
    }

    /// The problems of a registry's tools, each placed in its file.
    pub fn tool_problems(&self, registry: &Registry) -> Vec<Problem> {
        let mut found = check_tools(registry);
        found.extend(self.refused_tools(registry));
        found
    }

    /// Tools that could not be registered, such as those with a duplicate name, each placed in its file. These are errors,
    /// because the meaning of such a name is unclear.
    pub fn refused_tools(&self, registry: &Registry) -> Vec<Problem> {
        let mut found = Vec::new();
        for refused in &registry.refused {
            let nowhere = || (Source::new(&*refused.contributor.label, ""), FILE_START);
            let label = &*refused.contributor.label;
            let (source, span) = self.place(label).cloned().unwrap_or_else(nowhere);
            let mut problems = Problems::new(&source);
            problems.error(span, refused.reason.as_str());
            found.extend(problems.into_vec());
        }
        found
    }

    /// Tools that a target adds or excludes on the platform of a registry, and that nothing offers.
    pub fn unknown_tools(&self, target: Option<&str>, platform: Platform, registry: &Registry) -> Vec<Problem> {
        let target = target.and_then(|id| self.target(id).ok());
        let (Some(target), false) = (target, registry.is_partial || !registry.absent.is_empty()) else {
            return Vec::new();
        };
        let entry = target.on(platform).into_iter();
        let named = entry.flat_map(|entry| entry.tools.iter().chain(&entry.excluded_tools));
        let unknown: Vec<_> = named.filter(|name| !registry.knows(&name.value)).collect();
        let path = self.files.targets.get(&target.id.value).filter(|_| !unknown.is_empty());
        let mut found = Vec::new();
        if let Some(source) = path.and_then(|path| read_source(&self.root, &self.root.join(path), &mut found)) {
            let mut problems = Problems::new(&source);
            for name in unknown {
                let MissingTool { message, hint } = registry.explain_missing(&name.value);
                let hint = hint.unwrap_or_else(|| "`trailblaze toolbox --all` lists the tools".to_string());
                problems.error_with_hint(name.span, message, hint);
            }
            found.extend(problems.into_vec());
        }
        found
    }

    /// Where a tool is defined in the project's files, by the label of its contributor: its own file, or the entry of its server.
    pub fn place(&self, label: &str) -> Option<&(Arc<Source>, Span)> {
        self.places.get(label).or_else(|| self.server_places.get(label))
    }

    /// The file that declares the servers of a target, or of the project.
    pub fn server_file(&self, target: Option<&str>) -> Option<&Arc<Source>> {
        self.server_files.get(&target.map(str::to_string))
    }

    /// The state of the files that tools come from, and of those of an earlier one: an import that is broken now may be one of
    /// them. A folder changes with the files that are added to it.
    pub fn tool_stamp(&self, earlier: Option<&Stamp>) -> Stamp {
        let mut files = vec![self.root.join(PROJECT_FILE)];
        for kind in ["targets", "toolsets", "tools"] {
            let folder = self.root.join(CONFIG_DIR).join(kind);
            files.extend(entries(&folder).unwrap_or_default());
            files.push(folder);
        }
        let scripts = self.batches.iter().flat_map(|batch| &batch.tools).filter_map(|tool| tool.code());
        files.extend(scripts.flat_map(|code| code.files().to_vec()).map(|file| self.root.join(file)));
        files.extend(earlier.into_iter().flat_map(Stamp::paths).cloned());
        Stamp::of(files)
    }

    /// Whether a tool's contributor is a file of the project.
    pub fn has_file(&self, label: &str) -> bool {
        self.places.contains_key(label)
    }

    pub fn has_errors(&self) -> bool {
        self.problems.iter().any(|problem| problem.severity == Severity::Error)
    }

    /// Whether a file that could not be read completely declares servers, so that tools may be missing only for that reason.
    pub fn has_unread_servers(&self) -> bool {
        let is_unread = |problem: &Problem| {
            let source = &problem.source;
            problem.severity == Severity::Error
                && (source.path == PROJECT_FILE || source.path.starts_with(&format!("{CONFIG_DIR}/targets/")))
                && ["mcpServers", "mcp_servers"].iter().any(|key| root_key(source, key).is_some())
        };
        self.problems.iter().any(is_unread)
    }

    /// A target by its id, or the id most similar to it.
    pub fn target(&self, id: &str) -> Result<&TargetConfig, Option<&str>> {
        let found = self.targets.iter().find(|target| target.id.value == id);
        found.ok_or_else(|| nearest(id, self.targets.iter().map(|target| target.id.value.as_str())))
    }

    /// The trails of files and folders. If empty, or for the project's root, all trails of the project.
    pub fn trails(&self, paths: &[PathBuf]) -> Result<Vec<ReadTrail>, LoadError> {
        let own = self.root.join(&self.project.trails_dir);
        let absolute = paths.iter().map(|path| self.environment.absolute(path));
        let mut wanted: Vec<PathBuf> =
            absolute.map(|path| if path == self.root { own.clone() } else { path }).collect();
        if wanted.is_empty() {
            wanted.push(own);
        }
        let mut files: Vec<PathBuf> = Vec::new();
        for path in &wanted {
            let found = trail_files(path).map_err(|error| error.about(shown(&self.root, path)))?;
            files.extend(found.into_iter().filter(|file| !files.contains(file)).collect::<Vec<_>>());
        }
        let mut folders = TrailFolders::new(&self.root);
        let mut stretches = Stretches::new(&self.root);
        let read = |file: &PathBuf| {
            let mut problems = Vec::new();
            let Some(source) = read_source(&self.root, file, &mut problems) else { return (None, problems) };
            let (mut trail, mut problems) = Trail::read_in_part(&source);
            let (own, wrong) = folders.of(file);
            problems.extend(wrong);
            problems.extend(trail.iter_mut().flat_map(|trail| trail.enter(&own)));
            problems.extend(trail.iter_mut().flat_map(|trail| stretches.complete(trail)));
            (trail, problems)
        };
        Ok(files.iter().map(read).collect())
    }

    /// The files among these that are stretches.
    pub fn stretches(&self, paths: &[PathBuf]) -> Vec<PathBuf> {
        let mut stretches = Stretches::new(&self.root);
        let mut is_stretch = |path: &PathBuf| {
            let file = self.environment.absolute(path);
            file.is_file() && !is_trail(&file) && stretches.is_one(&shown(&self.root, &file))
        };
        paths.iter().filter(|path| is_stretch(path)).cloned().collect()
    }

    /// What is wrong in these stretches; without any, in those of the project that none of these trails uses.
    pub fn stretch_problems(&self, files: &[PathBuf], trails: &[ReadTrail]) -> Vec<Problem> {
        let mut stretches = Stretches::new(&self.root);
        let used: BTreeSet<&String> =
            trails.iter().filter_map(|(trail, _)| trail.as_ref()).flat_map(|trail| &trail.stretch_files).collect();
        let files = match files {
            [] => stretches::files_in(&self.root.join(&self.project.trails_dir), None),
            files => files.iter().map(|path| self.environment.absolute(path)).collect(),
        };
        let names = files.iter().map(|file| shown(&self.root, file)).filter(|name| !used.contains(name));
        names.flat_map(|name| stretches.problems_of(&name)).collect()
    }
}

/// Stands for the tool of a file that has errors, so that its calls are not reported as well.
fn broken(source: &Arc<Source>) -> Batch {
    let stem = || Path::new(&source.path).file_stem().unwrap_or_default().to_string_lossy().into_owned();
    let id = root_key(source, "id").and_then(|id| id.raw().map(str::to_string)).unwrap_or_else(stem);
    let contributor = Contributor::new(&source.path, ToolOrigin::Yaml);
    Batch { unusable: vec![(id, "its file has errors".to_string())], ..Batch::new(contributor, Vec::new()) }
}

/// The value of a top-level key of the file, even if the file has other problems.
fn root_key(source: &Arc<Source>, key: &str) -> Option<YamlNode> {
    read(source, &mut Problems::new(source))?.get(key).cloned()
}

fn decode_file<T: trailblaze_core::yaml::Decode>(source: &Arc<Source>, found: &mut Vec<Problem>) -> Option<T> {
    let mut problems = Problems::new(source);
    let decoded = decode(source, &mut problems);
    found.extend(problems.into_vec());
    decoded
}

fn entries(folder: &Path) -> Result<Vec<PathBuf>, LoadError> {
    let read_error = |source| LoadError::Read { path: folder.display().to_string(), source };
    let entries = std::fs::read_dir(folder).map_err(read_error)?;
    entries.map(|entry| entry.map(|entry| entry.path()).map_err(read_error)).collect()
}
