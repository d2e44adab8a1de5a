//! The pictures and trees of a run in the page: each content once, up to a size limit.

use std::collections::HashMap;
use std::fs;
use std::path::{Component, Path, PathBuf};

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde::Serialize;
use serde::de::IgnoredAny;
use serde_json::Value;
use sha2::{Digest, Sha256};
use trailblaze_protocol::ids::AttemptId;

use super::clip::clip;
use crate::output::run_folder::{is_inert, trace_file};

/// Bytes of pictures that a page holds; a browser takes seconds to load much more. Pictures beyond are
/// shown from the run folder.
const MOST_PICTURES: usize = 64 << 20;
const MOST_TREES: usize = 16 << 20;
const LONGEST_TREE: usize = 256 << 10;
const LONGEST_TAIL: usize = 16 << 10;

const NO_TRACE: &str = "is not a trace";
const NO_PICTURE: &str = "is not a picture";
const ACTIVE: &str = "is not linked: opened from here, it could run as a page";

/// Where the page finds a file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum FileInPage {
    /// In the page, under this number.
    Embedded(usize),
    /// Next to the page, under the name given by the event.
    NextToPage,
    /// Not available, and why.
    Missing(&'static str),
}

pub struct PageFiles {
    folder: PathBuf,
    /// Whether nothing is embedded: a server provides the files.
    is_served: bool,
    pictures: PageFileList,
    trees: PageFileList,
}

/// Contents in the order they came, and which file holds which.
struct PageFileList {
    contents: Vec<String>,
    room: usize,
    by_digest: HashMap<[u8; 32], usize>,
    by_file: HashMap<String, FileInPage>,
}

impl PageFiles {
    pub fn new(folder: &Path) -> PageFiles {
        let (pictures, trees) = (PageFileList::new(MOST_PICTURES), PageFileList::new(MOST_TREES));
        PageFiles { folder: folder.to_path_buf(), is_served: false, pictures, trees }
    }

    /// For a page that gets all files from a server.
    pub fn served(folder: &Path) -> PageFiles {
        PageFiles { is_served: true, ..PageFiles::new(folder) }
    }

    fn next_to_page(&self, file: &str) -> FileInPage {
        find(&self.folder, file).map_or_else(FileInPage::Missing, |_| FileInPage::NextToPage)
    }

    pub fn picture(&mut self, file: &str) -> FileInPage {
        if self.is_served {
            return self.next_to_page(file);
        }
        let PageFiles { folder, pictures, .. } = self;
        pictures.keep(folder, file, |bytes| {
            let mime = mime(bytes)?;
            Some(format!("data:{mime};base64,{}", STANDARD.encode(bytes)))
        })
    }

    pub fn tree(&mut self, file: &str) -> FileInPage {
        if self.is_served {
            return self.next_to_page(file);
        }
        let PageFiles { folder, trees, .. } = self;
        trees.keep(folder, file, |bytes| Some(clip(&String::from_utf8_lossy(bytes), LONGEST_TREE).into_owned()))
    }

    /// The script with the trace of an attempt, if there is one. It runs in the page, so it must be nothing but a call with data.
    pub fn trace(&self, attempt: &AttemptId) -> Option<(String, FileInPage)> {
        let file = trace_file(attempt);
        let path = find(&self.folder, &file).ok()?;
        let kept = match fs::read(path) {
            Ok(script) if is_trace(&script, attempt) => FileInPage::NextToPage,
            Ok(_) => FileInPage::Missing(NO_TRACE),
            Err(_) => FileInPage::Missing("cannot be read"),
        };
        Some((file, kept))
    }

    /// An attachment of an answer: in the page if it is a picture, otherwise next to it.
    pub fn attachment(&mut self, file: &str, mime: &str) -> FileInPage {
        let kept = match mime.starts_with("image/") {
            true => self.picture(file),
            // Not read: it may be a large video.
            false => self.next_to_page(file),
        };
        match kept {
            FileInPage::NextToPage | FileInPage::Missing(NO_PICTURE) if !is_inert(file) => FileInPage::Missing(ACTIVE),
            FileInPage::Missing(NO_PICTURE) => FileInPage::NextToPage,
            kept => kept,
        }
    }

    /// The data URIs of the pictures, by number.
    pub fn pictures(&self) -> &[String] {
        &self.pictures.contents
    }

    /// The texts of the trees, by number.
    pub fn trees(&self) -> &[String] {
        &self.trees.contents
    }
}

impl PageFileList {
    fn new(room: usize) -> PageFileList {
        PageFileList { contents: Vec::new(), room, by_digest: HashMap::new(), by_file: HashMap::new() }
    }

    fn keep(&mut self, folder: &Path, file: &str, content: impl Fn(&[u8]) -> Option<String>) -> FileInPage {
        if let Some(kept) = self.by_file.get(file) {
            return kept.clone();
        }
        let kept = match read(folder, file) {
            Ok(bytes) => self.keep_bytes(&bytes, content),
            Err(why) => FileInPage::Missing(why),
        };
        self.by_file.insert(file.to_string(), kept.clone());
        kept
    }

    fn keep_bytes(&mut self, bytes: &[u8], content: impl Fn(&[u8]) -> Option<String>) -> FileInPage {
        let digest: [u8; 32] = Sha256::digest(bytes).into();
        if let Some(number) = self.by_digest.get(&digest) {
            return FileInPage::Embedded(*number);
        }
        let Some(content) = content(bytes) else {
            return FileInPage::Missing(NO_PICTURE);
        };
        if bytes.len() > self.room {
            return FileInPage::NextToPage;
        }
        self.room -= bytes.len();
        self.contents.push(content);
        self.by_digest.insert(digest, self.contents.len() - 1);
        FileInPage::Embedded(self.contents.len() - 1)
    }
}

impl PageFiles {
    /// The last lines of a text file of the run folder; nothing where it cannot be read.
    pub fn tail(&self, file: &str, n_lines: usize) -> String {
        let text = read(&self.folder, file).map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
        let text = text.unwrap_or_default();
        let lines: Vec<&str> = text.lines().collect();
        let last = lines[lines.len().saturating_sub(n_lines)..].join("\n");
        clip(&last, LONGEST_TAIL).into_owned()
    }
}

fn read(folder: &Path, file: &str) -> Result<Vec<u8>, &'static str> {
    fs::read(find(folder, file)?).map_err(|_| "cannot be read")
}

/// Finds a file of the run folder. Names come from the event file and must not lead outside the folder: a report is
/// shared with others.
pub fn find(folder: &Path, file: &str) -> Result<PathBuf, &'static str> {
    let name = Path::new(file);
    let stays = name.components().all(|component| matches!(component, Component::Normal(_)));
    let (Ok(folder), Ok(path)) = (folder.canonicalize(), folder.join(name).canonicalize()) else {
        return Err(if stays { "is missing" } else { "is outside the run folder" });
    };
    if !stays || !path.starts_with(folder) {
        return Err("is outside the run folder");
    }
    Ok(path)
}

/// Whether a script is one call of `trailblazeTrace` with the id of the attempt and one object.
fn is_trace(script: &[u8], attempt: &AttemptId) -> bool {
    let head = format!("trailblazeTrace({}, ", Value::from(attempt.as_str()));
    let data = script.strip_prefix(head.as_bytes()).and_then(|rest| rest.strip_suffix(b");\n"));
    data.is_some_and(|data| data.starts_with(b"{") && serde_json::from_slice::<IgnoredAny>(data).is_ok())
}

fn mime(bytes: &[u8]) -> Option<&'static str> {
    match bytes {
        [0x89, b'P', b'N', b'G', 0x0d, 0x0a, 0x1a, 0x0a, ..] => Some("image/png"),
        [0xff, 0xd8, 0xff, ..] => Some("image/jpeg"),
        [b'R', b'I', b'F', b'F', _, _, _, _, b'W', b'E', b'B', b'P', ..] => Some("image/webp"),
        _ => None,
    }
}
