//! `logs/<run>/`: events as they happen, pictures and attachments by content. Everything is written by threads of its
//! own, so that a run never waits for a disk longer than its queues are deep.

use std::collections::{HashSet, VecDeque};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::{Instant, SystemTime};

use sha2::{Digest, Sha256};
use trailblaze_core::events::{EventSink, Shot};
use trailblaze_core::ids;
use trailblaze_core::screen::{Picture, Pixels};
use trailblaze_protocol::event::{Event, Header, Line, Pictured, VERSION};
use trailblaze_protocol::exit::Exit;
use trailblaze_protocol::geometry::{Rect, Size};
use trailblaze_protocol::ids::RunId;
use trailblaze_protocol::outcome::Attachment;

/// How many lines, and how many pictures, may wait to be written.
const LINES: usize = 4096;
const SHOTS: usize = 32;
/// How many pictures are kept in case they come again: a few megabytes each.
const RECENT: usize = 8;

pub struct RunFolder {
    pub id: RunId,
    pub path: PathBuf,
    started: Instant,
    lines: SyncSender<Written>,
    shots: Mutex<Option<SyncSender<Shot>>>,
    threads: Mutex<Vec<JoinHandle<()>>>,
    failure: Arc<Mutex<Option<String>>>,
}

enum Written {
    Line(String),
    File { path: PathBuf, bytes: Arc<[u8]> },
    End,
}

impl RunFolder {
    /// Creates a folder under `logs` and starts to write.
    pub fn create(logs: &Path) -> std::io::Result<Arc<RunFolder>> {
        let now = SystemTime::now();
        let id = new_id(now);
        let path = logs.join(id.as_str());
        std::fs::create_dir_all(&path)?;
        let header = Header {
            trailblaze_events: VERSION,
            run: id.clone(),
            started_at: humantime::format_rfc3339_millis(now).to_string(),
            version: env!("CARGO_PKG_VERSION").to_string(),
        };
        let mut file = std::fs::File::create(path.join("events.jsonl"))?;
        writeln!(file, "{}", serde_json::to_string(&header).map_err(std::io::Error::other)?)?;
        let failure = Arc::new(Mutex::new(None));
        let (lines, line_queue) = sync_channel(LINES);
        let (shots, shot_queue) = sync_channel(SHOTS);
        let started = Instant::now();
        let writer = {
            let failure = Arc::clone(&failure);
            spawn("events", move || write_lines(file, &line_queue, &failure))?
        };
        let painter = {
            let album = Album {
                folder: path.clone(),
                lines: lines.clone(),
                started,
                failure: Arc::clone(&failure),
                stored: HashSet::new(),
                recent: VecDeque::new(),
            };
            spawn("pictures", move || album.run(&shot_queue))?
        };
        let threads = Mutex::new(vec![painter, writer]);
        Ok(Arc::new(RunFolder { id, path, started, lines, shots: Mutex::new(Some(shots)), threads, failure }))
    }

    /// Ends the record, and waits until everything is on disk.
    pub fn finish(&self, exit: Exit) -> Result<(), String> {
        // Pictures first: each of them still writes a line.
        self.shots.lock().unwrap_or_else(PoisonError::into_inner).take();
        let mut threads = std::mem::take(&mut *self.threads.lock().unwrap_or_else(PoisonError::into_inner)).into_iter();
        let painter_ended = threads.next().is_none_or(|painter| painter.join().is_ok());
        self.emit(Event::RunEnded { exit, micros: self.micros() });
        let _ = self.lines.send(Written::End);
        let writer_ended = threads.next().is_none_or(|writer| writer.join().is_ok());
        if !painter_ended || !writer_ended {
            return Err("a thread that writes the run folder panicked".to_string());
        }
        self.failure.lock().unwrap_or_else(PoisonError::into_inner).clone().map_or(Ok(()), Err)
    }

    pub fn micros(&self) -> u64 {
        micros_since(self.started)
    }
}

/// The name of a run: the time in front, so that names sort by it.
pub fn new_id(now: SystemTime) -> RunId {
    let stamp = humantime::format_rfc3339_seconds(now).to_string();
    let name: String = stamp.chars().filter(char::is_ascii_digit).collect();
    RunId::new(format!("{}-{}-{}", &name[..8], &name[8..], ids::run_suffix()))
}

impl EventSink for RunFolder {
    fn emit(&self, event: Event) {
        send_line(&self.lines, self.started, event);
    }

    fn picture(&self, shot: Shot) {
        if let Some(shots) = &*self.shots.lock().unwrap_or_else(PoisonError::into_inner) {
            // A closed queue means that its thread died, which `finish` tells.
            let _ = shots.send(shot);
        }
    }

    fn store(&self, attachment: &Attachment) -> String {
        let ending = attachment.mime.rsplit('/').next().unwrap_or("bin");
        let ending: String = ending.chars().filter(char::is_ascii_alphanumeric).collect();
        let name = format!("attachments/{}.{ending}", hash(&attachment.bytes));
        let _ = self.lines.send(Written::File { path: self.path.join(&name), bytes: Arc::clone(&attachment.bytes) });
        name
    }
}

fn spawn(name: &str, work: impl FnOnce() + Send + 'static) -> std::io::Result<JoinHandle<()>> {
    std::thread::Builder::new().name(name.to_string()).spawn(work)
}

fn micros_since(started: Instant) -> u64 {
    u64::try_from(started.elapsed().as_micros()).unwrap_or(u64::MAX)
}

fn send_line(lines: &SyncSender<Written>, started: Instant, event: Event) {
    let line = Line { at: micros_since(started), event };
    if let Ok(text) = serde_json::to_string(&line) {
        let _ = lines.send(Written::Line(text));
    }
}

fn hash(bytes: &[u8]) -> String {
    Sha256::digest(bytes)[..16].iter().map(|byte| format!("{byte:02x}")).collect()
}

fn fail(failure: &Mutex<Option<String>>, what: &Path, error: &std::io::Error) {
    failure
        .lock()
        .unwrap_or_else(PoisonError::into_inner)
        .get_or_insert_with(|| format!("cannot write {}: {error}", what.display()));
}

/// Writes what is there, then flushes, so that a killed run loses as little as can be.
fn write_lines(file: std::fs::File, queue: &Receiver<Written>, failure: &Mutex<Option<String>>) {
    let mut out = std::io::BufWriter::new(file);
    let events = Path::new("events.jsonl");
    while let Ok(first) = queue.recv() {
        let mut next = Some(first);
        while let Some(written) = next {
            match written {
                Written::Line(text) => {
                    if let Err(error) = out.write_all(text.as_bytes()).and_then(|()| out.write_all(b"\n")) {
                        fail(failure, events, &error);
                    }
                }
                Written::File { path, bytes } => write_file(&path, &bytes, failure),
                Written::End => {
                    if let Err(error) = out.flush() {
                        fail(failure, events, &error);
                    }
                    return;
                }
            }
            next = queue.try_recv().ok();
        }
        if let Err(error) = out.flush() {
            fail(failure, events, &error);
        }
    }
}

/// Written beside and renamed: a file that is there is whole.
fn write_file(path: &Path, bytes: &[u8], failure: &Mutex<Option<String>>) {
    if path.exists() {
        return;
    }
    let beside = path.with_extension("part");
    let written = path
        .parent()
        .map_or(Ok(()), std::fs::create_dir_all)
        .and_then(|()| std::fs::write(&beside, bytes))
        .and_then(|()| std::fs::rename(&beside, path));
    if let Err(error) = written {
        fail(failure, path, &error);
    }
}

/// Encodes pictures. One that was stored before is not encoded again.
struct Album {
    folder: PathBuf,
    lines: SyncSender<Written>,
    started: Instant,
    failure: Arc<Mutex<Option<String>>>,
    stored: HashSet<String>,
    /// The last pictures that were hashed.
    recent: VecDeque<(Arc<[u8]>, String)>,
}

impl Album {
    fn run(mut self, queue: &Receiver<Shot>) {
        while let Ok(shot) = queue.recv() {
            match self.store(&shot) {
                Ok(event) => send_line(&self.lines, self.started, event),
                Err(error) => fail(&self.failure, Path::new("pictures"), &error),
            }
        }
    }

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
        let name = match masks.is_empty() {
            true => content,
            false => hash(format!("{content}{masks:?}").as_bytes()),
        };
        let file = format!("pictures/{name}.png");
        if !self.stored.contains(&name) {
            let png = encode(&shot.picture, &masks)?;
            write_file(&self.folder.join(&file), &png, &self.failure);
            self.stored.insert(name);
        }
        let tree = format!("trees/{}.txt", hash(shot.tree.as_bytes()));
        if self.stored.insert(tree.clone()) {
            write_file(&self.folder.join(&tree), shot.tree.as_bytes(), &self.failure);
        }
        let (about, moment, screen) = (shot.about.clone(), shot.moment, shot.screen);
        Ok(Event::Pictured(Box::new(Pictured { about, moment, file, screen, tree: Some(tree) })))
    }
}

fn scaled(masks: &[Rect], screen: Size, picture: Size) -> Vec<Rect> {
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

/// The picture as PNG, with a grey box over everything that must not be seen.
pub fn encode(picture: &Picture, masks: &[Rect]) -> std::io::Result<Vec<u8>> {
    let (mut pixels, size) = match &picture.pixels {
        Pixels::Png(bytes) if masks.is_empty() => return Ok(bytes.to_vec()),
        Pixels::Png(bytes) => decode(bytes)?,
        Pixels::Rgba(bytes) => (bytes.to_vec(), picture.size),
    };
    let all = Rect::new(0, 0, size.width as i32, size.height as i32);
    for mask in masks.iter().filter_map(|mask| mask.intersect(&all)) {
        for y in mask.top..mask.bottom {
            let row = (y as usize) * (size.width as usize);
            for x in mask.left..mask.right {
                pixels[(row + x as usize) * 4..][..4].copy_from_slice(&[0x80, 0x80, 0x80, 0xff]);
            }
        }
    }
    let mut out = Vec::new();
    let mut encoder = png::Encoder::new(&mut out, size.width, size.height);
    encoder.set_color(png::ColorType::Rgba);
    encoder.set_depth(png::BitDepth::Eight);
    encoder.set_compression(png::Compression::Fast);
    let mut writer = encoder.write_header().map_err(std::io::Error::other)?;
    writer.write_image_data(&pixels).map_err(std::io::Error::other)?;
    writer.finish().map_err(std::io::Error::other)?;
    Ok(out)
}

fn decode(bytes: &[u8]) -> std::io::Result<(Vec<u8>, Size)> {
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
