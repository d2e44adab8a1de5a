//! The pictures that screens are expected to look like: `NAME.PLATFORM-WIDTHxHEIGHT.png` in a folder beside the trail,
//! `pay.pictures` for `pay.trail.yaml`.

mod compare;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use async_trait::async_trait;
use parking_lot::Mutex;
use sha2::{Digest, Sha256};
use trailblaze_core::record::expected_pictures::{ExpectedPictures, PictureComparison, PictureResult, TakenPicture};
use trailblaze_protocol::geometry::{Rect, Size};
use trailblaze_protocol::outcome::Attachment;

use self::compare::PixelGrid;
use crate::files::{check_links, hex, write_in_project};
use crate::output::run_folder::{cover, decode, pack, pack_small, picture_size, scaled, unpacked};

/// The expected pictures of a project.
#[derive(Clone)]
pub struct ExpectedPictureFiles(Arc<PictureFolders>);

/// The folders beside the trails.
struct PictureFolders {
    root: PathBuf,
    are_renewed: bool,
    /// The files that were written. Held while one is, because two devices may write the same.
    written: Mutex<Vec<String>>,
}

/// A picture as it is compared: masked, and only the part that counts.
struct ComparedPart {
    grid: PixelGrid,
    /// The size of the whole picture.
    whole: Size,
}

/// What is known of the expected picture.
enum ExpectedPictureState {
    Missing,
    /// With another size.
    Resized(Size),
    Pixels(PixelGrid),
}

impl ExpectedPictureFiles {
    pub fn new(root: &Path, are_renewed: bool) -> ExpectedPictureFiles {
        let folders = PictureFolders { root: root.to_path_buf(), are_renewed, written: Mutex::default() };
        ExpectedPictureFiles(Arc::new(folders))
    }

    /// The pictures that were written so far, in alphabetical order.
    pub fn written(&self) -> Vec<String> {
        let mut written = self.0.written.lock().clone();
        written.sort();
        written.dedup();
        written
    }

    /// Does something with files and pixels on a thread that may take its time.
    async fn aside<T: Send + 'static>(
        &self,
        taken: &TakenPicture,
        work: fn(&PictureFolders, &TakenPicture) -> T,
    ) -> Result<T, String> {
        let (folders, taken) = (Arc::clone(&self.0), taken.clone());
        tokio::task::spawn_blocking(move || work(&folders, &taken)).await.map_err(|error| error.to_string())
    }
}

impl PictureFolders {
    fn read(&self, file: &str) -> Result<Option<Vec<u8>>, String> {
        let path = self.root.join(file);
        match check_links(&self.root, &path).and_then(|()| std::fs::read(&path)) {
            Ok(bytes) => Ok(Some(bytes)),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(format!("cannot read the expected picture `{file}`: {error}")),
        }
    }

    fn kept(&self, file: &str, actual: Size) -> Result<ExpectedPictureState, String> {
        let Some(bytes) = self.read(file)? else { return Ok(ExpectedPictureState::Missing) };
        let not_a_picture =
            |error: std::io::Error| format!("`{file}` is not a picture: {error}; `--update-snapshots` writes it again");
        // The size comes first: a file that is not ours may unpack to anything.
        let size = match picture_size(&bytes) {
            Ok(size) if size == actual => size,
            Ok(size) => return Ok(ExpectedPictureState::Resized(size)),
            Err(_) if self.are_renewed => return Ok(ExpectedPictureState::Missing),
            Err(error) => return Err(not_a_picture(error)),
        };
        match decode(&bytes) {
            Ok((pixels, _)) => Ok(ExpectedPictureState::Pixels(PixelGrid { size, pixels })),
            Err(_) if self.are_renewed => Ok(ExpectedPictureState::Missing),
            Err(error) => Err(not_a_picture(error)),
        }
    }

    fn compared(&self, taken: &TakenPicture) -> Result<PictureComparison, String> {
        let ComparedPart { grid, whole } = prepared(taken)?;
        let file = file_of(taken, whole);
        let result = match self.kept(&file, grid.size)? {
            ExpectedPictureState::Missing => PictureResult::Missing { others: self.others(taken) },
            ExpectedPictureState::Resized(expected) => PictureResult::Resized { expected, actual: grid.size },
            ExpectedPictureState::Pixels(kept) => {
                let difference = kept.difference(&grid, taken.tolerance);
                let total = u64::from(grid.size.width) * u64::from(grid.size.height);
                PictureResult::Compared { differing: difference.count, total, area: difference.area }
            }
        };
        let fingerprint = hex(&Sha256::digest(&grid.pixels));
        Ok(PictureComparison {
            file,
            result,
            fingerprint: format!("{}x{} {fingerprint}", grid.size.width, grid.size.height),
        })
    }

    /// The screens that there are pictures of this name for, such as `web-1280x720`.
    fn others(&self, taken: &TakenPicture) -> Vec<String> {
        let Ok(files) = std::fs::read_dir(self.root.join(folder_of(&taken.trail))) else { return Vec::new() };
        let begin = format!("{}.", taken.name);
        let names = files.filter_map(|file| file.ok()?.file_name().into_string().ok());
        let mut others: Vec<String> = names
            .filter_map(|name| Some(name.strip_prefix(&begin)?.strip_suffix(".png")?.to_string()))
            .filter(|screen| !screen.contains('.'))
            .collect();
        others.sort();
        others
    }

    fn renewed(&self, taken: &TakenPicture) -> Result<String, String> {
        let ComparedPart { grid, whole } = prepared(taken)?;
        let file = file_of(taken, whole);
        let mut written = self.written.lock();
        pack_small(&grid.pixels, grid.size)
            .and_then(|png| write_in_project(&self.root, &self.root.join(&file), png))
            .map_err(|error| format!("cannot write the expected picture `{file}`: {error}"))?;
        written.push(file.clone());
        Ok(file)
    }

    fn shown(&self, taken: &TakenPicture) -> Vec<Attachment> {
        let Ok(ComparedPart { grid, whole }) = prepared(taken) else { return Vec::new() };
        let file = file_of(taken, whole);
        let attachment = |what: &str, bytes: Vec<u8>| Attachment {
            name: format!("{} ({what})", taken.name),
            mime: "image/png".to_string(),
            file: None,
            bytes: bytes.into(),
        };
        let kept = self.kept(&file, grid.size).ok();
        let mut shown = Vec::new();
        // A file that is no picture is not passed on.
        if matches!(kept, Some(ExpectedPictureState::Resized(_) | ExpectedPictureState::Pixels(_)))
            && let Ok(Some(bytes)) = self.read(&file)
        {
            shown.push(attachment("expected", bytes));
        }
        shown.extend(pack(&grid.pixels, grid.size).ok().map(|png| attachment("actual", png)));
        if let Some(ExpectedPictureState::Pixels(kept)) = kept {
            let marked = grid.marked(&kept.difference(&grid, taken.tolerance));
            shown.extend(pack(&marked.pixels, marked.size).ok().map(|png| attachment("difference", png)));
        }
        shown
    }
}

#[async_trait]
impl ExpectedPictures for ExpectedPictureFiles {
    fn are_renewed(&self) -> bool {
        self.0.are_renewed
    }

    async fn compare(&self, taken: &TakenPicture) -> Result<PictureComparison, String> {
        self.aside(taken, |files, taken| files.compared(taken)).await?
    }

    async fn renew(&self, taken: &TakenPicture) -> Result<String, String> {
        self.aside(taken, |files, taken| files.renewed(taken)).await?
    }

    async fn evidence(&self, taken: &TakenPicture) -> Vec<Attachment> {
        self.aside(taken, |files, taken| files.shown(taken)).await.unwrap_or_default()
    }
}

fn prepared(taken: &TakenPicture) -> Result<ComparedPart, String> {
    let (mut pixels, size) =
        unpacked(&taken.picture).map_err(|error| format!("the device's picture cannot be read: {error}"))?;
    cover(&mut pixels, size, &scaled(&taken.masks, taken.screen, size));
    let whole = PixelGrid { size, pixels };
    let grid = match &taken.part {
        None => whole,
        Some(part) => whole.cut(&in_pixels(part, taken.screen, size)),
    };
    if grid.pixels.is_empty() {
        return Err("the element has no pixels on the screen".to_string());
    }
    Ok(ComparedPart { grid, whole: size })
}

/// A part of the screen in the pixels of its picture: all that it touches.
fn in_pixels(part: &Rect, screen: Size, picture: Size) -> Rect {
    let down = |value: i64, from: u32, to: u32| (value * i64::from(to)).div_euclid(i64::from(from.max(1)));
    let up = |value: i64, from: u32, to: u32| -down(-value, from, to);
    Rect {
        left: down(part.left.into(), screen.width, picture.width) as i32,
        top: down(part.top.into(), screen.height, picture.height) as i32,
        right: up(part.right.into(), screen.width, picture.width) as i32,
        bottom: up(part.bottom.into(), screen.height, picture.height) as i32,
    }
}

/// `trails/pay.pictures` for `trails/pay.trail.yaml`.
fn folder_of(trail: &str) -> String {
    let name = trail.strip_suffix(".trail.yaml").or(trail.strip_suffix(".yaml")).unwrap_or(trail);
    format!("{name}.pictures")
}

fn file_of(taken: &TakenPicture, whole: Size) -> String {
    let (folder, platform) = (folder_of(&taken.trail), taken.platform.name());
    format!("{folder}/{}.{platform}-{}x{}.png", taken.name, whole.width, whole.height)
}
