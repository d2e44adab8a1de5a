//! From an entry to a [`Program`]: reads its file and everything that it imports, inside a project and from npm packages.
//!
//! First all files are read and their imports resolved. Then it is decided which of them the program cannot do without: an
//! `import()` of a package, or a `require` inside a function, may fail when it is reached instead. Last, the modules are generated.

mod commonjs;
pub mod error;
mod files;
mod generate;
mod resolve;
mod scan;

use std::collections::{BTreeMap, HashMap, HashSet, VecDeque};
use std::path::{Path, PathBuf};

pub use error::LinkError;

use crate::program::{Program, SourceOffset};
use crate::text::Position;
use crate::transpile::SourceRole;
use files::{File, FileContents};
use resolve::{Area, Finder, ImportKind, Missing};

/// How many modules a program may have.
pub const MODULES: usize = 2_000;
/// How many bytes the sources of a program may have together.
pub const TOTAL_BYTES: usize = 16 << 20;
/// The id of a module without anything in it.
const EMPTY: &str = "trailblaze:empty";
/// How many errors are reported.
const ERRORS: usize = 20;

/// Where a program starts.
#[derive(Debug, Clone, Copy)]
pub struct EntryPoint<'e> {
    /// Its file. A relative path is relative to the root.
    pub path: &'e Path,
    /// The source, if it is only a part of the file.
    pub source: Option<&'e str>,
    /// Where the source starts in the file.
    pub offset: Option<SourceOffset>,
    pub role: SourceRole,
}

impl<'e> EntryPoint<'e> {
    /// A file.
    pub fn file(path: &'e Path, role: SourceRole) -> EntryPoint<'e> {
        EntryPoint { path, source: None, offset: None, role }
    }
}

/// A program, and the files that it was made of.
#[derive(Debug)]
pub struct Linked {
    pub program: Program,
    /// The files by the ids of their modules. The entry is among them.
    pub files: BTreeMap<String, PathBuf>,
}

/// Links a program. Blocks while it reads files.
pub fn link(root: &Path, entry: EntryPoint<'_>) -> Result<Linked, Vec<LinkError>> {
    let mut linker = Linker::new(root, entry.path)?;
    linker.read_all(&entry)?;
    generate::program(linker.entry, linker.nodes)
}

/// The files of a project that a script is made of, the script first: those that it imports, directly or indirectly, without
/// packages. A file that cannot be parsed is one of them, but nothing that it imports is. Blocks while it reads files.
pub fn project_files(root: &Path, script: &Path) -> Vec<PathBuf> {
    let entry = EntryPoint::file(script, SourceRole::Module);
    let Ok(mut linker) = Linker::new(root, script) else { return Vec::new() };
    linker.follows_packages = false;
    // What was read before a limit was exceeded counts.
    let _ = linker.read_all(&entry);
    let first = linker.nodes.remove(&linker.entry);
    let others = linker.nodes.into_iter().filter(|(id, _)| id != EMPTY).map(|(_, node)| node);
    first.into_iter().chain(others).map(|node| node.path).collect()
}

/// A file of the program, and what it asks for.
struct ModuleNode {
    path: PathBuf,
    area: Area,
    offset: Option<SourceOffset>,
    contents: Result<FileContents, Vec<LinkProblem>>,
    edges: Vec<Edge>,
}

/// An import or a `require`, and what it means.
struct Edge {
    specifier: String,
    asked: ImportKind,
    at: Position,
    /// Whether the module cannot do without it.
    is_strict: bool,
    target: Result<String, LinkProblem>,
}

/// What is wrong in a file.
#[derive(Debug, Clone)]
struct LinkProblem {
    at: Option<Position>,
    message: String,
    hint: Option<String>,
}

impl LinkProblem {
    fn new(at: Option<Position>, message: impl Into<String>) -> LinkProblem {
        LinkProblem { at, message: message.into(), hint: None }
    }
}

struct Linker {
    root: PathBuf,
    entry: String,
    finder: Finder,
    ids: HashMap<PathBuf, String>,
    taken: HashSet<String>,
    nodes: BTreeMap<String, ModuleNode>,
    queue: VecDeque<(String, PathBuf, Area)>,
    /// Whether the files of packages are read too.
    follows_packages: bool,
    n_bytes: usize,
}

impl Linker {
    fn new(root: &Path, entry: &Path) -> Result<Linker, Vec<LinkError>> {
        let refuse = |message: String| {
            let module = entry.display().to_string();
            vec![LinkError { module, at: None, message, hint: None, chain: Vec::new() }]
        };
        let given = root.join(entry);
        let root = root.canonicalize().map_err(|error| refuse(format!("`{}`: {error}", root.display())))?;
        let path = given.canonicalize().map_err(|error| refuse(format!("cannot be read: {error}")))?;
        let Ok(relative) = path.strip_prefix(&root) else {
            return Err(refuse("it is outside the project".to_string()));
        };
        let id = slashed(relative);
        let area = Area { folder: root.clone(), package: None };
        let finder = Finder::new(&root);
        Ok(Linker {
            root,
            entry: id.clone(),
            finder,
            ids: HashMap::from([(path.clone(), id.clone())]),
            taken: HashSet::from([id.clone()]),
            nodes: BTreeMap::new(),
            queue: VecDeque::from([(id, path, area)]),
            follows_packages: true,
            n_bytes: 0,
        })
    }

    fn read_all(&mut self, entry: &EntryPoint<'_>) -> Result<(), Vec<LinkError>> {
        while let Some((id, path, area)) = self.queue.pop_front() {
            let is_entry = id == self.entry;
            let file = File {
                id: &id,
                path: &path,
                is_package: area.package.is_some(),
                role: if is_entry { entry.role } else { SourceRole::Module },
            };
            let contents = match entry.source.filter(|_| is_entry) {
                Some(source) => file.of_source(source.to_string()),
                None => file.read(),
            };
            self.n_bytes += contents.as_ref().map_or(0, |contents| contents.n_bytes());
            let offset = entry.offset.filter(|_| is_entry);
            let mut node = ModuleNode { path, area, offset, contents, edges: Vec::new() };
            node.edges = self.edges(&node);
            self.nodes.insert(id, node);
            self.check_limits()?;
        }
        Ok(())
    }

    fn check_limits(&self) -> Result<(), Vec<LinkError>> {
        let n_modules = self.nodes.len() + self.queue.len();
        let message = if n_modules > MODULES {
            format!("it has more than {MODULES} modules")
        } else if self.n_bytes > TOTAL_BYTES {
            format!("its modules have more than {} MB together", TOTAL_BYTES >> 20)
        } else {
            return Ok(());
        };
        let hint = Some("import less of a large package, or run it as a process".to_string());
        Err(vec![LinkError { module: self.entry.clone(), at: None, message, hint, chain: Vec::new() }])
    }

    /// Resolves what a file asks for, and notes what must be read.
    fn edges(&mut self, node: &ModuleNode) -> Vec<Edge> {
        let Ok(contents) = &node.contents else { return Vec::new() };
        let folder = node.path.parent().unwrap_or(&self.root).to_path_buf();
        let mut edges: Vec<Edge> = Vec::new();
        for request in contents.requests() {
            let is_same = |edge: &&mut Edge| edge.specifier == request.specifier && edge.asked == request.asked;
            if let Some(same) = edges.iter_mut().find(is_same) {
                same.is_strict |= request.is_strict;
                continue;
            }
            let found = self.finder.find(&folder, &node.area, &request.specifier, request.asked);
            let is_package = node.area.package.is_some();
            let is_strict = request.is_strict
                || match &found {
                    // Neither a package that needs Node nor one that is optional should keep the others from running.
                    Ok(found) => found.area.package.is_none() && !request.is_optional,
                    Err(Missing::Builtin) => false,
                    Err(_) => !is_package && !request.is_optional,
                };
            let target = match found {
                Ok(found) if found.area.package.is_some() && !self.follows_packages => Ok(self.empty()),
                Ok(found) => Ok(self.id_of(found.path, found.area)),
                Err(Missing::LeftOut) => Ok(self.empty()),
                Err(missing) => Err(self.problem(&request.specifier, request.at, missing)),
            };
            let (specifier, asked, at) = (request.specifier, request.asked, request.at);
            edges.push(Edge { specifier, asked, at, is_strict, target });
        }
        edges
    }

    /// The id of a file, which is read if it is new.
    fn id_of(&mut self, path: PathBuf, area: Area) -> String {
        if let Some(id) = self.ids.get(&path) {
            return id.clone();
        }
        let inside = path.strip_prefix(&self.root).map(slashed);
        let id = inside.unwrap_or_else(|_| {
            let name = area.package.as_deref().unwrap_or_default();
            let rest = slashed(path.strip_prefix(&area.folder).unwrap_or(&path));
            // Two versions of a package.
            let numbered = (2..).map(|n| format!("node_modules/{name}@{n}/{rest}"));
            let mut ids = std::iter::once(format!("node_modules/{name}/{rest}")).chain(numbered);
            ids.find(|id| !self.taken.contains(id)).unwrap_or_default()
        });
        self.taken.insert(id.clone());
        self.ids.insert(path.clone(), id.clone());
        self.queue.push_back((id.clone(), path, area));
        id
    }

    /// The id of a module without anything in it.
    fn empty(&mut self) -> String {
        let area = Area { folder: self.root.clone(), package: None };
        let contents = Ok(FileContents::CommonJs { source: String::new(), found: scan::CommonJs::default() });
        let node = ModuleNode { path: PathBuf::new(), area, offset: None, contents, edges: Vec::new() };
        self.nodes.entry(EMPTY.to_string()).or_insert(node);
        EMPTY.to_string()
    }

    fn problem(&self, specifier: &str, at: Position, missing: Missing) -> LinkProblem {
        let shown = |path: &Path| {
            let path = normalized(path);
            path.strip_prefix(&self.root).map_or_else(|_| path.display().to_string(), slashed)
        };
        let (message, hint) = match missing {
            Missing::LeftOut => (format!("`{specifier}` is left out"), None),
            Missing::Builtin => (
                format!("`{specifier}` is a module of Node, which the script engine does not have"),
                Some(format!(
                    "`grants:` give a script files, requests and variables; a toolset can run as a process, or use `await import(\"{specifier}\")` in tools with `requiresHost`"
                )),
            ),
            Missing::Scheme(scheme) => (format!("`{specifier}`: modules cannot be loaded from `{scheme}:`"), None),
            Missing::Outside => (format!("`{specifier}` is outside the project"), None),
            Missing::File(tried) => {
                let tried: Vec<String> = tried.iter().map(|path| format!("`{}`", shown(path))).collect();
                (format!("`{specifier}` was not found; tried {}", tried.join(", ")), None)
            }
            Missing::Package(name) => (
                format!("the package `{name}` is not installed: no `node_modules` here or above has it"),
                Some(format!("run `npm install {name}` in the project's folder")),
            ),
            Missing::Above(name, installed) => (
                format!("the package `{name}` is installed above the project only, in `{}`", installed.display()),
                Some(format!("run `npm install {name}` in the project's folder")),
            ),
            Missing::Part(package, reason) => (format!("the package `{package}` has no `{specifier}`: {reason}"), None),
            Missing::Other(reason) => (format!("`{specifier}` cannot be resolved: {reason}"), None),
        };
        LinkProblem { at: Some(at), message, hint }
    }
}

/// A relative path with `/`.
fn slashed(path: &Path) -> String {
    let parts: Vec<_> = path.components().map(|part| part.as_os_str().to_string_lossy()).collect();
    parts.join("/")
}

/// A path without `.` and `..`. Links are not followed.
pub fn normalized(path: &Path) -> PathBuf {
    let mut normalized = PathBuf::new();
    for part in path.components() {
        match part {
            std::path::Component::ParentDir => drop(normalized.pop()),
            std::path::Component::CurDir => {}
            part => normalized.push(part),
        }
    }
    normalized
}
