//! The tools that servers listed when last started, cached in the project so that trails can be checked without starting
//! them.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use trailblaze_core::config::ToolServerConfig;
use trailblaze_toolhost::listing::RawListing;

use crate::files::{slug, write_private};

/// Relative to the project.
const FOLDER: &str = ".trailblaze/tools";

pub struct ToolCache {
    root: PathBuf,
}

#[derive(Serialize, Deserialize)]
struct CachedListing {
    server: String,
    /// Digest of the entry: a server that is started differently may be a different one.
    entry: String,
    listing: RawListing,
}

impl ToolCache {
    pub fn new(root: &Path) -> ToolCache {
        ToolCache { root: root.to_path_buf() }
    }

    /// The tools that a server listed, unless its entry has changed since.
    pub fn read(&self, target: Option<&str>, name: &str, entry: &ToolServerConfig) -> Option<RawListing> {
        let text = std::fs::read_to_string(self.file(target, name)).ok()?;
        let kept: CachedListing = serde_json::from_str(&text).ok()?;
        (kept.entry == fingerprint(entry)).then_some(kept.listing)
    }

    /// Caches the tools that a server listed. A failed write is ignored: the cache is only an optimization.
    pub fn keep(&self, target: Option<&str>, name: &str, entry: &ToolServerConfig, listing: &RawListing) {
        let kept = CachedListing { server: name.to_string(), entry: fingerprint(entry), listing: listing.clone() };
        let Ok(text) = serde_json::to_string_pretty(&kept) else { return };
        let file = self.file(target, name);
        if std::fs::read_to_string(&file).is_ok_and(|old| old == text) {
            return;
        }
        let _ = write_private(&self.root, &file, &text);
    }

    fn file(&self, target: Option<&str>, name: &str) -> PathBuf {
        let key = slug(name);
        let digest = short_digest(&format!("{}\n{name}", target.unwrap_or_default()));
        self.root.join(FOLDER).join(format!("{key}-{digest}.json"))
    }
}

/// Covers only what determines which program runs: a longer timeout does not change its tools.
fn fingerprint(entry: &ToolServerConfig) -> String {
    short_digest(&format!("{:?} {:?} {:?} {:?}", entry.command, entry.args, entry.script, entry.url))
}

fn short_digest(text: &str) -> String {
    Sha256::digest(text.as_bytes())[..6].iter().map(|byte| format!("{byte:02x}")).collect()
}
