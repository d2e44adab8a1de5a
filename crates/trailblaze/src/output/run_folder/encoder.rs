//! Writes pictures to disk: masked, encoded and named by their content.

use std::collections::{HashSet, VecDeque};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use parking_lot::{Condvar, Mutex};
use trailblaze_core::record::artifacts::Shot;
use trailblaze_core::screen::{Picture, Pixels};
use trailblaze_protocol::event::{Event, Pictured};
use trailblaze_protocol::geometry::{Rect, Size};

use super::hash;
use super::writer::{Writer, write_file};

/// How many pictures may be queued for writing; a caller that has more waits.
const QUEUE: usize = 32;
/// How many pictures are kept in case they come again: a few megabytes each.
const RECENT: usize = 8;

/// Encodes and writes pictures on a thread that exists only while there are some.
pub struct Painter {
    encoder: Mutex<PictureEncoder>,
    writer: Arc<Writer>,
    queue: Mutex<Queue>,
    changed: Condvar,
}

#[derive(Default)]
struct Queue {
    shots: VecDeque<Shot>,
    has_thread: bool,
    has_panicked: bool,
    has_ended: bool,
}

impl Painter {
    pub fn new(folder: PathBuf, writer: Arc<Writer>) -> Arc<Painter> {
        let encoder = Mutex::new(PictureEncoder { folder, stored: HashSet::new(), recent: VecDeque::new() });
        Arc::new(Painter { encoder, writer, queue: Mutex::default(), changed: Condvar::new() })
    }

    pub fn add(self: &Arc<Self>, shot: Shot) {
        let mut queue = self.queue.lock();
        while queue.shots.len() >= QUEUE && !queue.has_ended {
            self.changed.wait(&mut queue);
        }
        if queue.has_ended {
            return;
        }
        queue.shots.push_back(shot);
        let is_first = !std::mem::replace(&mut queue.has_thread, true);
        drop(queue);
        if is_first {
            let painter = Arc::clone(self);
            let thread = std::thread::Builder::new().name("pictures".to_string()).spawn(move || painter.paint());
            if thread.is_err() {
                // The system has no more threads, so the caller writes.
                self.paint();
            }
        }
    }

    /// Waits until all pictures are on disk. False if the thread panicked.
    pub fn end(&self) -> bool {
        let mut queue = self.queue.lock();
        queue.has_ended = true;
        while queue.has_thread {
            self.changed.wait(&mut queue);
        }
        !queue.has_panicked
    }

    fn paint(&self) {
        let _gone = PainterGone(self);
        let mut encoder = self.encoder.lock();
        loop {
            let shot = {
                let mut queue = self.queue.lock();
                queue.has_thread = !queue.shots.is_empty();
                queue.shots.pop_front()
            };
            self.changed.notify_all();
            let Some(shot) = shot else { return };
            match encoder.store(&shot) {
                Ok(event) => self.writer.event(&event),
                Err(error) => self.writer.failed(Path::new("pictures"), &error),
            }
        }
    }
}

/// Even if the thread panics, no caller may wait for it forever.
struct PainterGone<'a>(&'a Painter);

impl Drop for PainterGone<'_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            let mut queue = self.0.queue.lock();
            (queue.has_thread, queue.has_panicked, queue.has_ended) = (false, true, true);
            drop(queue);
            self.0.changed.notify_all();
        }
    }
}

/// Encodes pictures. One that was stored before is not encoded again.
struct PictureEncoder {
    folder: PathBuf,
    stored: HashSet<String>,
    /// The last pictures that were hashed.
    recent: VecDeque<(Arc<[u8]>, String)>,
}

impl PictureEncoder {
    /// The hash of some pixels. The picture after a step comes again as the one before the next.
    fn content(&mut self, bytes: &Arc<[u8]>) -> String {
        if let Some((_, known)) = self.recent.iter().find(|(recent, _)| Arc::ptr_eq(recent, bytes)) {
            return known.clone();
        }
        let name = hash(bytes);
        self.recent.push_back((Arc::clone(bytes), name.clone()));
        if self.recent.len() > RECENT {
            self.recent.pop_front();
        }
        name
    }

    fn store(&mut self, shot: &Shot) -> std::io::Result<Event> {
        let masks = scaled(&shot.masks, shot.screen, shot.picture.size);
        let bytes = match &shot.picture.pixels {
            Pixels::Rgba(bytes) | Pixels::Png(bytes) => bytes,
        };
        let content = self.content(bytes);
        let name = name_of(content, &masks);
        let file = format!("pictures/{name}.png");
        if !self.stored.contains(&name) {
            let png = encode(&shot.picture, &masks)?;
            write_file(&self.folder.join(&file), &png)?;
            self.stored.insert(name);
        }
        let tree = format!("trees/{}.txt", hash(shot.tree.as_bytes()));
        if self.stored.insert(tree.clone()) {
            write_file(&self.folder.join(&tree), shot.tree.as_bytes())?;
        }
        let (about, moment, screen) = (shot.about.clone(), shot.moment, shot.screen);
        Ok(Event::Pictured(Box::new(Pictured { about, moment, file, screen, tree: Some(tree) })))
    }
}

/// The file of a picture, relative to the run folder. It is written a moment after the picture is taken.
pub fn file_of(shot: &Shot) -> String {
    let (Pixels::Rgba(bytes) | Pixels::Png(bytes)) = &shot.picture.pixels;
    let masks = scaled(&shot.masks, shot.screen, shot.picture.size);
    format!("pictures/{}.png", name_of(hash(bytes), &masks))
}

/// A picture is named by its content.
fn name_of(content: String, masks: &[Rect]) -> String {
    if masks.is_empty() { content } else { hash(format!("{content}{masks:?}").as_bytes()) }
}

/// Parts of a screen in the pixels of its picture, which may be of another size.
pub fn scaled(masks: &[Rect], screen: Size, picture: Size) -> Vec<Rect> {
    let scale = |value: i32, from: u32, to: u32| (i64::from(value) * i64::from(to) / i64::from(from.max(1))) as i32;
    masks
        .iter()
        .map(|mask| Rect {
            left: scale(mask.left, screen.width, picture.width) - 1,
            top: scale(mask.top, screen.height, picture.height) - 1,
            right: scale(mask.right, screen.width, picture.width) + 1,
            bottom: scale(mask.bottom, screen.height, picture.height) + 1,
        })
        .collect()
}

/// The same, scaled down so that no side is longer than `longest`.
pub fn encode_within(picture: &Picture, masks: &[Rect], longest: u32) -> std::io::Result<Vec<u8>> {
    if picture.size.width.max(picture.size.height) <= longest {
        return encode(picture, masks);
    }
    let (mut pixels, size) = unpacked(picture)?;
    // Masked first: scaling mixes neighboring pixels.
    cover(&mut pixels, size, masks);
    let (pixels, size) = scaled_down(&pixels, size, longest.max(1));
    pack(&pixels, size)
}

/// Averages the pixels that become one.
fn scaled_down(pixels: &[u8], from: Size, longest: u32) -> (Vec<u8>, Size) {
    let side = from.width.max(from.height).max(1);
    let scale = |length: u32| (u64::from(length) * u64::from(longest) / u64::from(side)).max(1) as u32;
    let to = Size { width: scale(from.width), height: scale(from.height) };
    let range = |at: u32, from: u32, to: u32| {
        let start = (u64::from(at) * u64::from(from) / u64::from(to)) as usize;
        let end = (u64::from(at + 1) * u64::from(from) / u64::from(to)) as usize;
        start..end.max(start + 1)
    };
    let mut scaled = Vec::with_capacity(to.width as usize * to.height as usize * 4);
    for y in 0..to.height {
        let rows = range(y, from.height, to.height);
        for x in 0..to.width {
            let columns = range(x, from.width, to.width);
            let mut sums = [0_u32; 4];
            for row in rows.clone() {
                let start = (row * from.width as usize + columns.start) * 4;
                for pixel in pixels[start..start + columns.len() * 4].chunks_exact(4) {
                    sums.iter_mut().zip(pixel).for_each(|(sum, value)| *sum += u32::from(*value));
                }
            }
            let count = (rows.len() * columns.len()) as u32;
            scaled.extend(sums.map(|sum| (sum / count) as u8));
        }
    }
    (scaled, to)
}

/// The picture as PNG, with a grey box over everything that must not be seen.
pub fn encode(picture: &Picture, masks: &[Rect]) -> std::io::Result<Vec<u8>> {
    if let (Pixels::Png(bytes), true) = (&picture.pixels, masks.is_empty()) {
        return Ok(bytes.to_vec());
    }
    let (mut pixels, size) = unpacked(picture)?;
    cover(&mut pixels, size, masks);
    pack(&pixels, size)
}

/// Paints grey boxes.
pub fn cover(pixels: &mut [u8], size: Size, masks: &[Rect]) {
    let all = Rect::new(0, 0, size.width as i32, size.height as i32);
    for mask in masks.iter().filter_map(|mask| mask.intersect(&all)) {
        for y in mask.top..mask.bottom {
            let row = (y as usize) * (size.width as usize);
            for x in mask.left..mask.right {
                pixels[(row + x as usize) * 4..][..4].copy_from_slice(&[0x80, 0x80, 0x80, 0xff]);
            }
        }
    }
}

/// The pixels of a picture, four bytes each.
pub fn unpacked(picture: &Picture) -> std::io::Result<(Vec<u8>, Size)> {
    match &picture.pixels {
        Pixels::Png(bytes) => decode(bytes),
        Pixels::Rgba(bytes) => Ok((bytes.to_vec(), picture.size)),
    }
}

/// Pixels as PNG.
pub fn pack(pixels: &[u8], size: Size) -> std::io::Result<Vec<u8>> {
    packed(pixels, size, png::Compression::Fast)
}

/// The same for a file that is kept for long, such as with the sources of a project.
pub fn pack_small(pixels: &[u8], size: Size) -> std::io::Result<Vec<u8>> {
    packed(pixels, size, png::Compression::Balanced)
}

fn packed(pixels: &[u8], size: Size, compression: png::Compression) -> std::io::Result<Vec<u8>> {
    let mut out = Vec::new();
    let mut encoder = png::Encoder::new(&mut out, size.width, size.height);
    encoder.set_color(png::ColorType::Rgba);
    encoder.set_depth(png::BitDepth::Eight);
    encoder.set_compression(compression);
    let mut writer = encoder.write_header().map_err(std::io::Error::other)?;
    writer.write_image_data(pixels).map_err(std::io::Error::other)?;
    writer.finish().map_err(std::io::Error::other)?;
    Ok(out)
}

/// The size of a PNG, without its pixels.
pub fn picture_size(bytes: &[u8]) -> std::io::Result<Size> {
    let mut decoder = png::Decoder::new(std::io::Cursor::new(bytes));
    let header = decoder.read_header_info().map_err(std::io::Error::other)?;
    Ok(Size { width: header.width, height: header.height })
}

/// The pixels of a PNG, four bytes each.
pub fn decode(bytes: &[u8]) -> std::io::Result<(Vec<u8>, Size)> {
    let mut decoder = png::Decoder::new(std::io::Cursor::new(bytes));
    decoder.set_transformations(png::Transformations::normalize_to_color8() | png::Transformations::ALPHA);
    let mut reader = decoder.read_info().map_err(std::io::Error::other)?;
    let length = reader.output_buffer_size().ok_or_else(|| std::io::Error::other("the picture is too large"))?;
    let mut pixels = vec![0; length];
    let info = reader.next_frame(&mut pixels).map_err(std::io::Error::other)?;
    pixels.truncate(info.buffer_size());
    let size = Size { width: info.width, height: info.height };
    // Grey with alpha is the one remaining form of two bytes a pixel.
    if info.color_type == png::ColorType::GrayscaleAlpha {
        pixels = pixels.chunks_exact(2).flat_map(|pixel| [pixel[0], pixel[0], pixel[0], pixel[1]]).collect();
    }
    Ok((pixels, size))
}
