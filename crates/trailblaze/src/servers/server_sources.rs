//! Which tool servers a changed file affects: those whose entries name it, otherwise those whose source folders contain it.

use std::path::{Component, Path, PathBuf};

use trailblaze_core::config::{Servers, ToolServerConfig as Entry};

use crate::files::stamp::Stamp;
use crate::project::loaded::Loaded;
use crate::project::test_runner::runner_of;
use crate::servers::imports::MANIFESTS;

/// Extensions of source files. JSON is not one of them: servers keep their own state in it, and would be restarted by
/// their own writes.
const SOURCES: [&str; 10] = ["ts", "tsx", "mts", "cts", "js", "jsx", "mjs", "cjs", "py", "pyi"];
/// Folders of installed or generated files.
const NOT_WRITTEN: [&str; 9] =
    ["node_modules", ".venv", "venv", "__pycache__", "logs", ".trailblaze", ".git", "dist", "target"];

/// How many files of a folder are read at most.
const MOST_SOURCES: usize = 5_000;

/// A target, if the server belongs to one, and its name.
pub type ServerKey = (Option<String>, String);

/// The files that a server was started from.
#[derive(Clone, PartialEq)]
pub(crate) struct StartedFrom {
    pub imported: Vec<PathBuf>,
    pub stamp: Stamp,
}

/// The servers that are started for a project, and where their code is.
#[derive(Debug, Clone, Default)]
pub struct Concerns(Vec<Concern>);

#[derive(Debug, Clone)]
struct Concern {
    key: ServerKey,
    /// The files that its entry names.
    files: Vec<PathBuf>,
    /// The folders that contain its code.
    folders: Vec<PathBuf>,
}

impl Concerns {
    pub fn of(loaded: &Loaded) -> Concerns {
        let of = |target: Option<&str>, servers: &Servers| -> Vec<Concern> {
            let started = servers.0.iter().filter(|(_, entry)| entry.url.is_none());
            started.map(|(name, entry)| Concern::new(&loaded.root, (target, &name.value), entry)).collect()
        };
        let mut concerns = of(None, &loaded.project.servers);
        concerns.extend(loaded.targets.iter().flat_map(|target| of(Some(&target.id.value), &target.servers)));
        Concerns(concerns)
    }

    /// The servers that a changed file affects.
    pub fn servers(&self, path: &Path) -> Vec<&ServerKey> {
        let path = plain(path);
        let keys = |is_it: &dyn Fn(&Concern) -> bool| -> Vec<&ServerKey> {
            self.0.iter().filter(|concern| is_it(concern)).map(|concern| &concern.key).collect()
        };
        let named = keys(&|concern| concern.files.contains(&path));
        if named.is_empty() { keys(&|concern| concern.has_source(&path)) } else { named }
    }

    /// Changes with every file that affects the server, among them those that it imports from elsewhere. Contents are not read,
    /// so that this is cheap enough for every call.
    pub fn stamp(&self, key: &ServerKey, imported: &[PathBuf]) -> Stamp {
        let Some(concern) = self.0.iter().find(|concern| concern.key == *key) else { return Stamp::default() };
        let sources = concern.folders.iter().flat_map(|folder| {
            let mut walk = ignore::WalkBuilder::new(folder);
            walk.standard_filters(false).filter_entry(|entry| {
                !entry.file_name().to_str().is_some_and(|name| entry.depth() > 0 && NOT_WRITTEN.contains(&name))
            });
            walk.build().flatten().map(ignore::DirEntry::into_path).take(MOST_SOURCES)
        });
        let is_its = |path: &PathBuf| self.servers(path).contains(&key);
        Stamp::of(concern.files.iter().chain(imported).cloned().chain(sources.filter(is_its)))
    }

    /// The folders with code of servers that are outside this folder, or that links in it lead to.
    pub fn folders_outside<'a>(&'a self, root: &'a Path) -> impl Iterator<Item = &'a Path> {
        let real_root = root.canonicalize().ok();
        let is_linked = move |folder: &Path| {
            let real = folder.canonicalize().ok();
            real.zip(real_root.as_ref()).is_some_and(|(real, root)| !real.starts_with(root))
        };
        let folders = self.0.iter().flat_map(|concern| &concern.folders);
        folders.map(PathBuf::as_path).filter(move |folder| !folder.starts_with(root) || is_linked(folder))
    }
}

impl Concern {
    fn new(root: &Path, (target, name): (Option<&str>, &str), entry: &Entry) -> Concern {
        let dir = entry.working_dir.as_ref().map(|dir| plain(&root.join(dir)));
        let start = dir.clone().unwrap_or_else(|| root.to_path_buf());
        let script = entry.script.iter().map(|script| plain(&root.join(script)));
        let args = entry.args.iter().map(|arg| plain(&start.join(arg))).filter(|path| path.is_file());
        let scripts: Vec<PathBuf> = script.chain(args).collect();
        let program = entry.command.iter().filter(|command| command.contains('/'));
        let files = program.map(|program| plain(&root.join(program))).chain(scripts.iter().cloned()).collect();
        let of_scripts = scripts.iter().filter(|path| is_source(path)).filter_map(|path| path.parent());
        let mut folders: Vec<PathBuf> = of_scripts.map(Path::to_path_buf).collect();
        // `python -m acme` names no file.
        if folders.is_empty() {
            folders.extend(dir);
        }
        Concern { key: (target.map(str::to_string), name.to_string()), files, folders }
    }

    fn has_source(&self, path: &Path) -> bool {
        let is_written = |inside: &Path| {
            let mut parts = inside.components().filter_map(|part| part.as_os_str().to_str());
            !parts.any(|part| NOT_WRITTEN.contains(&part))
        };
        let inside = self.folders.iter().filter_map(|folder| path.strip_prefix(folder).ok());
        // Tests are next to the tools but are not part of the server.
        is_source(path) && runner_of(path).is_none() && inside.into_iter().any(is_written)
    }
}

fn is_source(path: &Path) -> bool {
    let text = |part: Option<&std::ffi::OsStr>| part.and_then(|part| part.to_str()).unwrap_or_default().to_string();
    let (name, ending) = (text(path.file_name()), text(path.extension()));
    // Editors keep hidden files next to the one that is edited.
    !name.starts_with('.') && (SOURCES.contains(&ending.as_str()) || MANIFESTS.contains(&name.as_str()))
}

/// A path without `.` and `..`, as changes are reported.
fn plain(path: &Path) -> PathBuf {
    let mut plain = PathBuf::new();
    for part in path.components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir => drop(plain.pop()),
            part => plain.push(part),
        }
    }
    plain
}

#[cfg(test)]
mod tests {
    use super::*;

    const PROJECT: &str = "
mcpServers:
  shop: {script: ./tools/shop/server.ts}
  bank: {command: python3, args: [server.py], workingDir: bank}
  mail: {command: python3, args: [-m, acme.mail], workingDir: mail}
  near: {script: tools/shop/near.js}
  built: {script: lib/dist/built.js}
  native: {command: bin/native}
  apart: {script: ../apart/server.ts}
  remote: {url: 'http://127.0.0.1:1/mcp'}
";

    fn concerns(root: &Path) -> Concerns {
        std::fs::create_dir_all(root.join("bank")).unwrap();
        std::fs::write(root.join("bank/server.py"), "").unwrap();
        std::fs::write(root.join("trailblaze.yaml"), PROJECT).unwrap();
        let loaded = Loaded::read(root, &Default::default()).unwrap();
        assert!(!loaded.has_errors(), "{:?}", loaded.problems);
        Concerns::of(&loaded)
    }

    #[test]
    fn a_file_concerns_who_names_it_and_source_who_is_in_its_folder() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().join("project");
        std::fs::create_dir(&root).unwrap();
        let concerns = concerns(&root);
        let check = |path: &str, expected: &[&str]| {
            let found: Vec<&str> = concerns.servers(&root.join(path)).iter().map(|key| key.1.as_str()).collect();
            assert_eq!(found, expected, "{path}");
        };
        check("tools/shop/server.ts", &["shop"]);
        check("tools/shop/near.js", &["near"]);
        check("tools/shop/parts/basket.ts", &["shop", "near"]);
        check("tools/shop/package.json", &["shop", "near"]);
        check("bank/server.py", &["bank"]);
        check("bank/money.py", &["bank"]);
        check("mail/acme/mail.py", &["mail"]);
        check("lib/dist/built.js", &["built"]);
        check("lib/dist/chunk.js", &["built"]);
        check("bin/native", &["native"]);
        check("../apart/help.ts", &["apart"]);
        for nobody in [
            "tools/other/server.ts",
            "tools/shop/README.md",
            "tools/shop/state.json",
            "tools/shop/basket.test.ts",
            "bank/test_money.py",
            "tools/shop/.#server.ts",
            "tools/shop/node_modules/zod/index.js",
            "tools/shop/dist/server.js",
            "bank/__pycache__/server.py",
            "bank/.venv/lib/site.py",
            "bin/other",
            "trails/a.trail.yaml",
            "server.ts",
        ] {
            check(nobody, &[]);
        }
        let outside: Vec<&Path> = concerns.folders_outside(&root).collect();
        assert_eq!(outside, [folder.path().join("apart")]);
    }
}
