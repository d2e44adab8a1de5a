//! Compares the screen, or an element, with a picture that is kept beside the trail.

use std::time::Duration;

use futures::FutureExt;
use parking_lot::Mutex;
use trailblaze_protocol::event::Level;
use trailblaze_protocol::geometry::Rect;
use trailblaze_protocol::outcome::Outcome;

use super::super::assertions::differs;
use super::except::{exceptions, find_each};
use super::target::{CheckTarget, restate};
use super::wait;
use crate::driver::DriverError;
use crate::engine::cx::Cx;
use crate::engine::fault::Stop;
use crate::engine::tool::Args;
use crate::limits;
use crate::query::{Checks, Find, Query};
use crate::record::expected_pictures::{PictureComparison, PictureResult, TakenPicture};

/// How much the color of a pixel may differ unless the call says so: smoothed edges are drawn differently on other machines.
const TOLERANCE: f64 = 0.2;
/// Names become names of files.
const NAME_BYTES: usize = 100;

/// What a call expects of a picture.
struct Expected<'a> {
    name: &'a str,
    element: Option<Query>,
    masks: Vec<Query>,
    /// The share of pixels that may differ.
    threshold: f64,
    tolerance: f64,
}

pub async fn picture(cx: &Cx, args: &Args) -> Result<Outcome, Stop> {
    // What is written must have come to rest, whatever the call says.
    let least = if cx.session.expected_pictures.are_renewed() { limits::ASSERT_WAIT } else { Duration::ZERO };
    let wait = wait(args).max(least);
    let (name, target) = (args.required("name"), CheckTarget::optional(cx, args)?);
    let (threshold, tolerance) = (share(args, "threshold", 0.0), share(args, "tolerance", TOLERANCE));
    let masks = exceptions(cx, args, "masks");
    check_name(&cx.session.secrets.redact(name))?;
    if cx.attempt.trail().is_empty() {
        return Err(Stop::failed(
            "expected pictures are kept beside a trail: write the call into one, and run that with `--update-snapshots`",
        ));
    }
    let element = match target {
        Some(CheckTarget::Ref(reference)) => return restate(cx, "assertPicture", &reference, false).await,
        Some(CheckTarget::Stable(query)) => Some(query),
        None => None,
    };
    let expected = &Expected { name, element, masks: masks?, threshold: threshold?, tolerance: tolerance? };
    let last = &Mutex::new(None);
    let ask = |_| compare(cx, expected, last).boxed();
    match cx.session.device.await_answer(cx, wait, ask).await {
        Err(Stop::Failed(mut outcome)) => {
            let last = last.lock().take().map(|seen: LastPicture| seen.taken);
            if let Some(taken) = last {
                outcome.attachments = cx.session.expected_pictures.evidence(&taken).await;
            }
            Err(Stop::Failed(outcome))
        }
        Ok(Answer::Holds(outcome)) => Ok(*outcome),
        // Nobody has to wait until a file is there.
        Ok(Answer::Missing(taken, mut outcome)) => {
            outcome.attachments = cx.session.expected_pictures.evidence(&taken).await;
            Err(Stop::Failed(outcome))
        }
        Err(stop) => Err(stop),
    }
}

/// The picture of the last look.
struct LastPicture {
    taken: Box<TakenPicture>,
    fingerprint: String,
}

enum Answer {
    Holds(Box<Outcome>),
    Missing(Box<TakenPicture>, Box<Outcome>),
}

fn holds(text: String) -> Answer {
    Answer::Holds(Box::new(Outcome::success(text)))
}

/// Takes a picture and compares it.
async fn compare(
    cx: &Cx,
    expected: &Expected<'_>,
    last: &Mutex<Option<LastPicture>>,
) -> Result<Result<Answer, Box<Outcome>>, Stop> {
    let taken = match take(cx, expected).await? {
        Ok(taken) => Box::new(taken),
        Err(no) => return Ok(Err(no)),
    };
    let pictures = &cx.session.expected_pictures;
    let PictureComparison { file, result, fingerprint } = match pictures.compare(&taken).await {
        Ok(comparison) => comparison,
        Err(why) => return Err(Stop::failed(why)),
    };
    if result.share() <= expected.threshold {
        return Ok(Ok(holds(format!("the screen looks like `{file}`"))));
    }
    let is_at_rest = last.lock().as_ref().is_some_and(|last| last.fingerprint == fingerprint);
    if pictures.are_renewed() && is_at_rest {
        let file = pictures.renew(&taken).await.map_err(Stop::failed)?;
        cx.note(Level::Info, format!("wrote the expected picture `{file}`"));
        return Ok(Ok(holds(format!("wrote `{file}`"))));
    }
    let (wanted, saw) = (format!("the picture `{file}`"), seen(&result, pictures.are_renewed()));
    let no = differs(&wanted, &saw);
    if let (PictureResult::Missing { .. }, false) = (&result, pictures.are_renewed()) {
        return Ok(Ok(Answer::Missing(taken, missing(cx, &file, &result, no))));
    }
    *last.lock() = Some(LastPicture { taken, fingerprint });
    if pictures.are_renewed() {
        return Ok(Err(no));
    }
    let trail = cx.attempt.trail();
    let text = format!("{}; if it looks right, `trailblaze run --update-snapshots {trail}` replaces it", no.text);
    Ok(Err(Box::new(Outcome { text, ..*no })))
}

/// The picture to compare; `Err` if what it is of is not on the screen.
async fn take(cx: &Cx, expected: &Expected<'_>) -> Result<Result<TakenPicture, Box<Outcome>>, Stop> {
    let device = &cx.session.device;
    let part = match &expected.element {
        None => None,
        Some(query) => match device.find(cx, query, Checks::InView).await? {
            Find::Found(found) => Some(found.bounds),
            Find::Not(why) => return Ok(Err(differs(&format!("{query} in view"), &why.to_string()))),
        },
    };
    let mut masks: Vec<Rect> = match find_each(cx, &expected.masks).await? {
        Ok(found) => found.iter().map(|found| found.bounds).collect(),
        Err(no) => return Ok(Err(no)),
    };
    let (mut screen, secrets) = device.look_pictured(cx).await?;
    masks.extend(secrets);
    let Some(picture) = screen.picture.take() else {
        let platform = device.description().platform;
        return Err(DriverError::Unsupported { action: "assertPicture".to_string(), platform }.into());
    };
    Ok(Ok(TakenPicture {
        trail: cx.attempt.trail().to_string(),
        name: expected.name.to_string(),
        platform: device.description().platform,
        picture,
        screen: screen.size,
        part,
        masks,
        tolerance: expected.tolerance,
    }))
}

fn missing(cx: &Cx, file: &str, result: &PictureResult, no: Box<Outcome>) -> Box<Outcome> {
    let others = match result {
        PictureResult::Missing { others } if !others.is_empty() => {
            format!(" (there are {} for other screens)", others.join(", "))
        }
        _ => String::new(),
    };
    let text = format!(
        "there is no expected picture `{file}`{others}; `trailblaze run --update-snapshots {}` writes it",
        cx.attempt.trail()
    );
    Box::new(Outcome { text, ..*no })
}

fn seen(result: &PictureResult, are_renewed: bool) -> String {
    match result {
        _ if are_renewed => "a screen that keeps changing; `masks` leaves out what always does".to_string(),
        PictureResult::Missing { .. } => "no such file".to_string(),
        PictureResult::Resized { expected, actual } => format!(
            "a picture of {}x{} pixels instead of {}x{}",
            actual.width, actual.height, expected.width, expected.height
        ),
        PictureResult::Compared { differing, total, area } => {
            let place = area.map(|area| {
                format!(", all in {}x{} pixels at {},{}", area.width(), area.height(), area.left, area.top)
            });
            let (share, place) = (result.share() * 100.0, place.unwrap_or_default());
            format!("one in which {differing} of {total} pixels differ ({share:.2} %){place}")
        }
    }
}

/// A name that can be the name of a file everywhere.
fn check_name(name: &str) -> Result<(), Stop> {
    let is_safe = |c: char| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_' | '.');
    let ends_well = !name.starts_with('.') && !name.starts_with(' ') && !name.ends_with(' ');
    if !name.is_empty() && name.len() <= NAME_BYTES && name.chars().all(is_safe) && ends_well {
        return Ok(());
    }
    Err(Stop::failed(format!(
        "`{name}` cannot be the name of a picture: use letters, digits, spaces, `-`, `_` and `.`, at most {NAME_BYTES} bytes"
    )))
}

/// A share from 0 to 1.
fn share(args: &Args, name: &str, otherwise: f64) -> Result<f64, Stop> {
    let share = args.number(name).unwrap_or(otherwise);
    if (0.0..=1.0).contains(&share) {
        return Ok(share);
    }
    Err(Stop::failed(format!("`{name}` is a share from 0 to 1, not {share}; write 0.01 for one percent")))
}
