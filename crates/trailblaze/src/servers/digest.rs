//! Digests of what a project's servers are made of: the files that their entries name, among them a program inside the
//! project, and the files of the project that these import. Installed packages are not followed, nor are imports whose names
//! are computed.

use std::collections::BTreeMap;
use std::io::Read;
use std::path::Path;

use sha2::{Digest, Sha256};
use trailblaze_core::config::{Servers, ToolServerConfig};

use crate::files::hex;
use crate::project::loaded::Loaded;
use crate::servers::imports::SourceFiles;
use crate::servers::server_sources::ServerKey;

/// The digests of servers' files.
#[derive(Debug, Clone, Default)]
pub struct ServerFiles(BTreeMap<ServerKey, String>);

impl ServerFiles {
    pub fn read(loaded: &Loaded) -> ServerFiles {
        let mut digests = BTreeMap::new();
        let mut add = |target: Option<&str>, servers: &Servers| {
            for (name, server) in servers.0.iter().filter(|(_, server)| server.url.is_none()) {
                if let Some(digest) = digest(&loaded.root, server) {
                    digests.insert((target.map(str::to_string), name.value.clone()), digest);
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

/// `None` if the entry names no file of the project, or a file cannot be read.
fn digest(root: &Path, server: &ToolServerConfig) -> Option<String> {
    let SourceFiles { named, imported } = SourceFiles::of(root, server);
    let mut digest = Sha256::new();
    for file in &named {
        digest.update(content(file)?);
    }
    let real_root = root.canonicalize().ok()?;
    for file in &imported {
        // Outside the project, only the name is the same on every machine.
        let inside = file.strip_prefix(root).or_else(|_| file.strip_prefix(&real_root)).ok();
        let shown = inside.or_else(|| file.file_name().map(Path::new)).unwrap_or(file);
        digest.update(shown.to_string_lossy().as_bytes());
        digest.update(content(file)?);
    }
    (!named.is_empty() || !imported.is_empty()).then(|| hex(&digest.finalize()))
}

/// Read in pieces, because a program or a jar may be large.
fn content(file: &Path) -> Option<[u8; 32]> {
    let mut file = std::fs::File::open(file).ok()?;
    let (mut digest, mut piece) = (Sha256::new(), vec![0; 1 << 16]);
    loop {
        match file.read(&mut piece).ok()? {
            0 => return Some(digest.finalize().into()),
            n => digest.update(&piece[..n]),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Writes a project, and returns the digests of its servers.
    fn digests(root: &Path, files: &[(&str, &str)]) -> ServerFiles {
        for (path, text) in files {
            let path = root.join(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        }
        let loaded = Loaded::read(root, &Default::default()).unwrap();
        assert!(!loaded.has_errors(), "{:?}", loaded.problems);
        ServerFiles::read(&loaded)
    }

    #[test]
    fn the_digest_of_a_server_covers_what_it_uses_and_nothing_else() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        let first = digests(
            &root,
            &[
                (
                    "trailblaze.yaml",
                    "mcpServers:\n  shop: {script: tools/shop.ts}\n  \
                     bank: {command: python3, args: [bank.py], workingDir: bank}\n  \
                     mail: {command: python3, args: [-m, acme.mail], workingDir: mail}\n  \
                     native: {command: bin/native, args: [--fast]}\n",
                ),
                ("tools/shop.ts", "import { price } from './parts/price.ts';\nimport zod from 'zod';\nprice(zod);\n"),
                ("tools/parts/price.ts", "export { price } from './tax.js';\n"),
                ("tools/parts/tax.ts", "export const price = 1;\n"),
                ("tools/node_modules/zod/package.json", "{\"name\": \"zod\", \"main\": \"index.js\"}"),
                ("tools/node_modules/zod/index.js", "module.exports = 1;\n"),
                (
                    "bank/bank.py",
                    "import json, money as m\nfrom ledger import (\n    book,  # the first\n    entry,\n)\n",
                ),
                ("bank/money.py", "from ledger.rules import rate\n"),
                ("bank/ledger/__init__.py", ""),
                ("bank/ledger/book.py", "from . import entry\nfrom .rules import rate\n"),
                ("bank/ledger/entry.py", ""),
                ("bank/ledger/rules.py", "rate = 1\n"),
                ("mail/acme/__init__.py", ""),
                ("mail/acme/mail.py", "from acme import post\n"),
                ("mail/acme/post.py", ""),
                ("bin/native", "\u{7f}ELF one"),
            ],
        );
        let all = ["shop", "bank", "mail", "native"];
        for name in all {
            assert!(first.digest(None, name).is_some(), "{name}");
        }
        for (path, expected) in [
            ("tools/unrelated.ts", &[][..]),
            ("tools/parts/unrelated.ts", &[]),
            ("tools/node_modules/zod/index.js", &[]),
            ("bank/unrelated.py", &[]),
            ("bank/ledger/unrelated.py", &[]),
            ("tools/parts/tax.ts", &["shop"]),
            ("tools/package.json", &["shop"]),
            ("bank/money.py", &["bank"]),
            ("bank/ledger/__init__.py", &["bank"]),
            ("bank/ledger/entry.py", &["bank"]),
            ("bank/ledger/rules.py", &["bank"]),
            ("mail/acme/mail.py", &["mail"]),
            ("mail/acme/post.py", &["mail"]),
            ("bin/native", &["native"]),
        ] {
            let before = std::fs::read(root.join(path)).ok();
            let now = digests(&root, &[(path, "# changed\n")]);
            let changed: Vec<&str> =
                all.into_iter().filter(|name| now.digest(None, name) != first.digest(None, name)).collect();
            assert_eq!(changed, expected, "{path}");
            match before {
                Some(text) => std::fs::write(root.join(path), text).unwrap(),
                None => std::fs::remove_file(root.join(path)).unwrap(),
            }
        }
    }
}
