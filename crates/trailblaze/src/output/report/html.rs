//! `report.html`: one file that needs nothing else and opens from disk.
//!
//! The page contains an index of the run, which is parsed immediately, and the details of each attempt, the pictures and
//! the trees, each in its own script element that is parsed on demand.

use std::fmt::Write;
use std::path::Path;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde::Serialize;
use serde_json::{Map, Value};
use sha2::{Digest, Sha256};
use trailblaze_protocol::driver::DriverKey;
use trailblaze_protocol::event::{CallResult, Place};
use trailblaze_protocol::outcome::Attachment;

use super::activity::activity;
use super::alike;
use super::clip::clip;
use super::heals;
use super::model::{
    AttemptRecord, CallRecord, Note, PictureRecord, RunRecord, ServerRecord, SessionRecord, StepRecord, Wait,
};
use super::next;
use super::page_data::{
    AnswerView, AttachmentView, AttemptView, CallView, DetailView, LaneView, NoteView, OutcomeView, PictureView,
    PlaceView, RunView, ServerView, SessionView, StepView, TouchView, TraceView, TrailFileView, TroubleView, WaitView,
};
use super::page_files::PageFiles;
use super::summary::{count, headline, totals};
use super::turns::{self, ModelUse};

const PAGE: &str = include_str!("page/page.html");
const STYLE: &str = include_str!("page/page.css");
const SCRIPT: &str = include_str!("page/page.js");

/// Bytes of one value in the detail of an attempt, and in the index.
const LONGEST: usize = 64 << 10;
const LONGEST_IN_INDEX: usize = 4 << 10;
/// The last lines of a server's log that the page shows.
const LOG_LINES: usize = 40;

pub fn html(run: &RunRecord, folder: &Path) -> String {
    let mut page_files = PageFiles::new(folder);
    // Attempts that need attention come first, because the page has room for a limited number of files.
    let (bad, good): (Vec<_>, Vec<_>) = run.attempts.iter().partition(|attempt| attempt.state().is_bad());
    for picture in bad.into_iter().chain(good).flat_map(AttemptRecord::pictures) {
        page_files.picture(&picture.file);
        if let Some(tree) = &picture.tree {
            page_files.tree(tree);
        }
    }

    let index = json(&index(run, &mut page_files));
    let mut store = String::new();
    for (idx, attempt) in run.attempts.iter().enumerate() {
        shelve(&mut store, "attempt", idx, &json(&detail(attempt, &mut page_files)));
    }
    for (idx, tree) in page_files.trees().iter().enumerate() {
        shelve(&mut store, "tree", idx, &json(tree));
    }
    for (idx, picture) in page_files.pictures().iter().enumerate() {
        shelve(&mut store, "picture", idx, &json(picture));
    }
    let slots = [
        ("title", escape(&format!("Trailblaze run {}", run.id()))),
        ("style", STYLE.to_string()),
        ("style-digest", digest(STYLE)),
        ("script", SCRIPT.to_string()),
        ("script-digest", digest(SCRIPT)),
        ("index", index),
        ("headline", escape(&format!("Trailblaze: {}", headline(run)))),
        ("totals", escape(&totals(run))),
        ("table", table(run)),
        ("store", store),
    ];
    fill(PAGE, &slots)
}

pub(super) fn index<'a>(run: &'a RunRecord, page_files: &mut PageFiles) -> RunView<'a> {
    let header = run.header.as_ref();
    let start = run.start.as_ref();
    let devices = run.devices();
    RunView {
        run: run.id(),
        started_at: header.map(|header| header.started_at.as_str()),
        version: header.map(|header| header.version.as_str()),
        is_newer: run.is_newer(),
        command: start.map(|start| clip(&start.command.join(" "), LONGEST_IN_INDEX).into_owned()),
        project: start.map(|start| start.project.as_str()),
        seed: start.map(|start| start.seed.to_string()),
        trails: start.map(|start| start.trails),
        exit: run.end.map(|end| end.exit),
        code: run.end.map(|end| end.exit.code()),
        micros: run.micros(),
        torn: run.unread.torn,
        unknown: run.unread.unknown,
        stray: run.unread.stray,
        counts: count(run),
        model_use: ModelUse::of_run(run).map(|sum| sum.to_string()),
        lanes: devices.iter().map(|device| lane(run, device.as_str())).collect(),
        servers: run.servers.iter().map(|known| server(run, known, page_files)).collect(),
        leaked_processes: run.end.map_or(0, |end| end.leaked_processes),
        notes: run.notes.iter().map(note).collect(),
        attempts: run
            .attempts
            .iter()
            .map(|attempt| {
                let lane = devices.iter().position(|device| **device == attempt.device);
                row((run, attempt), lane.expect("an attempt's device is one of the run's"), page_files)
            })
            .collect(),
        failures: alike::failures(run),
        retried: alike::retried(run),
    }
}

fn lane<'a>(run: &'a RunRecord, name: &'a str) -> LaneView<'a> {
    let sessions = run.sessions.iter().filter(|session| session.device.id.as_str() == name);
    LaneView { name, sessions: sessions.map(session).collect() }
}

fn session(session: &SessionRecord) -> SessionView {
    let mut device = session.device.clone();
    if device.id.is_simulated() {
        // People would take the key of the driver that it stands for for a real phone.
        device.driver = DriverKey::new(&format!("simulated ({})", device.driver));
    }
    SessionView { device }
}

fn server<'a>(run: &'a RunRecord, server: &'a ServerRecord, page_files: &PageFiles) -> ServerView<'a> {
    let session = run.sessions.iter().find(|session| Some(&session.id) == server.session.as_ref());
    ServerView {
        name: &server.name,
        device: session.map(|session| session.device.id.as_str()),
        protocol: &server.protocol,
        log: &server.log,
        tail: page_files.tail(&server.log, LOG_LINES),
        ended: server.ended.as_ref().map(|ended| ended.message.as_str()),
    }
}

fn row<'a>(
    (run, attempt): (&RunRecord, &'a AttemptRecord),
    lane: usize,
    page_files: &mut PageFiles,
) -> AttemptView<'a> {
    AttemptView {
        id: attempt.id.as_str(),
        name: attempt.name(),
        trail: &attempt.trail,
        lane,
        number: attempt.number,
        repeat: attempt.repeat,
        state: attempt.state(),
        standing: attempt.standing,
        at: attempt.started_at,
        micros: attempt.micros(),
        message: clip(attempt.message(), LONGEST_IN_INDEX).into_owned(),
        n_calls: attempt.calls.len(),
        trouble: attempt.state().is_bad().then(|| trouble((run, attempt), page_files)),
    }
}

fn trouble<'a>((run, attempt): (&RunRecord, &'a AttemptRecord), page_files: &mut PageFiles) -> TroubleView<'a> {
    let short = |text: &str| clip(text, LONGEST_IN_INDEX).into_owned();
    let failure = attempt.failure();
    let step = attempt.failing_step();
    let taken = attempt.failure_pictures().last().copied().or_else(|| attempt.pictures().last().copied());
    TroubleView {
        step: step.map(|step| short(&step.text_with_role())),
        step_number: step.and_then(|step| attempt.step_number(step)),
        step_kind: step.map(|step| step.kind),
        message: short(failure.map_or(attempt.message(), |failure| &failure.message)),
        expected: failure.and_then(|failure| failure.expected.as_deref()).map(short),
        saw: failure.and_then(|failure| failure.saw.as_deref()).map(short),
        just_before: failure.map(|failure| failure.just_before.clone()).unwrap_or_default(),
        place: failure.and_then(|failure| failure.place.as_ref()).map(|place| format!("{}:{}", place.file, place.line)),
        excerpt: failure.and_then(|failure| failure.excerpt.as_ref()),
        commands: next::commands(run, attempt),
        picture: taken.map(|picture| picture_view(picture, page_files)),
    }
}

pub(super) fn detail<'a>(attempt: &'a AttemptRecord, page_files: &mut PageFiles) -> DetailView<'a> {
    let failing = attempt.failing_step().map(|step| &step.id);
    DetailView {
        failing_step: attempt.steps.iter().rposition(|step| Some(&step.id) == failing),
        steps: attempt.steps.iter().enumerate().map(|(idx, step)| step_view(attempt, idx, step, page_files)).collect(),
        loose: calls(attempt, &attempt.loose, page_files),
        activity: activity(&attempt.activity),
        sources: attempt
            .sources
            .iter()
            .map(|(path, file)| TrailFileView { path, file, kept: page_files.tree(file) })
            .collect(),
        files: attempt.files.iter().map(|file| attachment_view(file, page_files)).collect(),
        trace: page_files.trace(&attempt.id).map(|(file, kept)| TraceView { file, kept }),
    }
}

fn place_view(place: &Place) -> PlaceView<'_> {
    PlaceView { path: &place.file, line: place.line }
}

fn step_view<'a>(
    attempt: &'a AttemptRecord,
    idx: usize,
    step: &'a StepRecord,
    page_files: &mut PageFiles,
) -> StepView<'a> {
    let before = idx.checked_sub(1).and_then(|before| attempt.steps[before].heading.as_ref());
    let is_first = before != step.heading.as_ref();
    StepView {
        number: attempt.step_number(step),
        kind: step.kind,
        heading: step.heading_text().filter(|_| is_first).map(|text| clip(&text, LONGEST).into_owned()),
        is_within: step.heading.is_some(),
        at: step.started_at,
        place: step.place.as_ref().map(place_view),
        text: clip(&step.text_with_role(), LONGEST).into_owned(),
        plan: &step.plan,
        state: step.state(),
        is_tolerated: step.is_tolerated(),
        choices: step.choices(),
        message: step.end.as_ref().map_or_else(String::new, |end| clip(&end.message, LONGEST).into_owned()),
        micros: step.end.as_ref().map(|end| end.at.saturating_sub(step.started_at)),
        calls: calls(attempt, &step.calls, page_files),
        pictures: step.pictures.iter().map(|picture| picture_view(picture, page_files)).collect(),
        notes: step.notes.iter().map(note).collect(),
        turns: turns::of_step(attempt, idx, page_files),
        model_use: ModelUse::of(attempt.turns.iter().filter(|turn| turn.step == Some(idx))).map(|sum| sum.to_string()),
        heals: heals::of_step(attempt, step, LONGEST),
    }
}

fn calls<'a>(attempt: &'a AttemptRecord, roots: &[usize], page_files: &mut PageFiles) -> Vec<CallView<'a>> {
    attempt.walk(roots).into_iter().map(|(depth, call)| call_view(depth, call, page_files)).collect()
}

fn call_view<'a>(depth: usize, call: &'a CallRecord, page_files: &mut PageFiles) -> CallView<'a> {
    CallView {
        id: call.id.as_str(),
        at: call.at,
        depth,
        tool: &call.tool,
        args: values(&call.args),
        origin: call.origin,
        kind: call.kind,
        is_recordable: call.is_recordable,
        is_delegating: call.is_delegating,
        source: &call.source,
        place: call.place.as_ref().map(place_view),
        micros: call.answer.as_ref().map(|answered| answered.micros),
        touches: call
            .touches
            .iter()
            .map(|touch| TouchView {
                at: touch.at,
                point: touch.point,
                bounds: touch.bounds,
                what: clip(&touch.what, LONGEST).into_owned(),
            })
            .collect(),
        waits: call.waits.iter().map(wait).collect(),
        notes: call.notes.iter().map(note).collect(),
        pictures: call.pictures.iter().map(|picture| picture_view(picture, page_files)).collect(),
        answer: call.answer.as_ref().map(|answered| answer(&answered.answer, page_files)),
        judged_by: call.judgement().map(|judgement| judgement.judged_by),
    }
}

fn answer<'a>(answer: &'a CallResult, page_files: &mut PageFiles) -> AnswerView<'a> {
    match answer {
        CallResult::Outcome(outcome) => AnswerView::Outcome(OutcomeView {
            variant: &outcome.variant,
            text: clip(&outcome.text, LONGEST).into_owned(),
            structured: outcome.structured.as_ref().map(value),
            attachments: outcome.attachments.iter().map(|attachment| attachment_view(attachment, page_files)).collect(),
            delegates: outcome
                .delegates
                .iter()
                .map(|delegate| (delegate.tool.as_str(), values(&delegate.args)))
                .collect(),
            remembered: values(&outcome.memory.set),
            forgotten: &outcome.memory.deleted,
        }),
        CallResult::Fault { exit, message } => {
            AnswerView::Fault { exit: *exit, message: clip(message, LONGEST).into_owned() }
        }
    }
}

fn attachment_view<'a>(attachment: &'a Attachment, page_files: &mut PageFiles) -> AttachmentView<'a> {
    AttachmentView {
        name: &attachment.name,
        mime: &attachment.mime,
        file: attachment.file.as_deref(),
        kept: attachment.file.as_deref().map(|file| page_files.attachment(file, &attachment.mime)),
    }
}

fn wait(wait: &Wait) -> WaitView {
    WaitView {
        what: clip(&wait.what, LONGEST).into_owned(),
        micros: wait.micros,
        met: wait.met,
        saw: clip(&wait.saw, LONGEST).into_owned(),
    }
}

fn note(note: &Note) -> NoteView<'_> {
    NoteView { level: note.level, text: clip(&note.text, LONGEST) }
}

fn picture_view(picture: &PictureRecord, page_files: &mut PageFiles) -> PictureView {
    PictureView {
        at: picture.at,
        moment: picture.moment,
        file: picture.file.clone(),
        screen: picture.screen,
        kept: page_files.picture(&picture.file),
        tree: picture.tree.as_ref().map(|tree| page_files.tree(tree)),
        tree_file: picture.tree.clone(),
    }
}

/// Values are sent as text, since JavaScript would round long numbers.
fn values(map: &Map<String, Value>) -> Vec<(&str, String)> {
    map.iter().map(|(name, field)| (name.as_str(), value(field))).collect()
}

fn value(value: &Value) -> String {
    match value {
        Value::String(text) => clip(text, LONGEST).into_owned(),
        other => clip(&format!("{other:#}"), LONGEST).into_owned(),
    }
}

/// JSON that is safe in a script element: `<` occurs only in strings, where it is escaped.
fn json(value: &impl Serialize) -> String {
    let json = serde_json::to_string(value).expect("the page's own types have string keys only");
    json.replace('<', "\\u003c")
}

fn shelve(store: &mut String, what: &str, idx: usize, json: &str) {
    let written = writeln!(store, r#"<script type="application/json" id="{what}-{idx}">{json}</script>"#);
    written.expect("a string takes any text");
}

/// Fills the `{{slots}}` of the page in one pass, so that content is never treated as a slot.
fn fill(page: &str, slots: &[(&str, String)]) -> String {
    let mut parts = page.split("{{");
    let mut filled = parts.next().unwrap_or_default().to_string();
    for part in parts {
        let (slot, rest) = part.split_once("}}").expect("every slot of the page is closed");
        let content = slots.iter().find(|(name, _)| *name == slot);
        filled.push_str(&content.expect("every slot of the page has a content").1);
        filled.push_str(rest);
    }
    filled
}

fn digest(text: &str) -> String {
    STANDARD.encode(Sha256::digest(text))
}

/// The attempts for a reader without JavaScript.
fn table(run: &RunRecord) -> String {
    let mut rows = String::new();
    for attempt in &run.attempts {
        let cells = [
            attempt.state().name(),
            attempt.name(),
            attempt.device.as_str(),
            &attempt.number.to_string(),
            &format!("{:.1} s", attempt.micros() as f64 / 1e6),
            attempt.failure().map_or(attempt.message(), |failure| &failure.message),
        ];
        rows.push_str("<tr>");
        for cell in cells {
            let written = write!(rows, "<td>{}</td>", escape(&clip(cell, LONGEST_IN_INDEX)));
            written.expect("a string takes any text");
        }
        rows.push_str("</tr>\n");
    }
    rows
}

fn escape(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            '\'' => escaped.push_str("&#39;"),
            c if c.is_control() && c != '\n' => escaped.push('\u{fffd}'),
            c => escaped.push(c),
        }
    }
    escaped
}
