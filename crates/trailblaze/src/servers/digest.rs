//! Digests of what a project's servers are started from: the files that their entries name, and the source in the folders
//! of these files. Installed packages are not followed.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use sha2::{Digest, Sha256};
use trailblaze_core::config::{Server, Servers};
use trailblaze_core::limits;

use crate::files::hex;
use crate::project::loaded::Loaded;
use crate::servers::server_sources::{Concerns, Key};

/// The digests of servers' files.
#[derive(Debug, Clone, Default)]
pub struct ServerFiles(BTreeMap<Key, String>);

impl ServerFiles {
    pub fn read(loaded: &Loaded) -> ServerFiles {
        let concerns = Concerns::of(loaded);
        let mut digests = BTreeMap::new();
        let mut add = |target: Option<&str>, servers: &Servers| {
            for (name, server) in &servers.0 {
                let key = (target.map(str::to_string), name.value.clone());
                if let Some(digest) = digest(&loaded.root, server, &concerns.sources(&loaded.root, &key)) {
                    digests.insert(key, digest);
                }
            }
        };
        add(None, &loaded.project.servers);
        loaded.targets.iter().for_each(|target| add(Some(&target.id.value), &target.servers));
        ServerFiles(digests)
    }

    /// The digest of a server of the project, or of the target.
    pub fn digest(&self, target: Option<&str>, server: &str) -> Option<&str> {
        let of = |target: Option<&str>| self.0.get(&(target.map(str::to_string), server.to_string()));
        of(target).or_else(|| of(None)).map(String::as_str)
    }
}

/// `None` if the entry names no file, or a file does not exist.
fn digest(root: &Path, server: &Server, sources: &[PathBuf]) -> Option<String> {
    let folder = server.working_dir.as_ref().map_or_else(|| root.to_path_buf(), |dir| root.join(dir));
    let script = server.script.iter().map(|script| root.join(script));
    // The installation path on this machine is irrelevant.
    let args = server.args.iter().filter(|arg| Path::new(arg).is_relative()).map(|arg| folder.join(arg));
    let files: Vec<PathBuf> = script.chain(args).filter(|path| path.is_file()).collect();
    let mut digest = Sha256::new();
    for file in &files {
        digest.update(content(file)?);
    }
    for file in sources {
        digest.update(file.strip_prefix(root).unwrap_or(file).to_string_lossy().as_bytes());
        digest.update(content(file)?);
    }
    (!files.is_empty()).then(|| hex(&digest.finalize()))
}

fn content(file: &Path) -> Option<[u8; 32]> {
    let is_small = std::fs::metadata(file).is_ok_and(|about| about.len() <= limits::FILE_BYTES as u64);
    let bytes = is_small.then(|| std::fs::read(file).ok()).flatten()?;
    Some(Sha256::digest(&bytes).into())
}
