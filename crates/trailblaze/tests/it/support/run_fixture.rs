//! A run folder written through the protocol's own types: one attempt of every kind.

use std::fs;
use std::path::Path;
use std::sync::Arc;

use serde_json::{Map, Value, json};
use trailblaze_protocol::driver::{AgentMode, DriverKey, Platform};
use trailblaze_protocol::event::{
    CallOrigin, CallResult, Called, Device, Event, Failure, Header, Level, Line, Moment, Pictured, Place, Plan,
    StepKind, ToolKind, TrailRef, Verdict,
};
use trailblaze_protocol::exit::Exit;
use trailblaze_protocol::geometry::{Rect, Size};
use trailblaze_protocol::ids::{AttemptId, CallId, DeviceId, Parent, RunId, SessionId, StepId};
use trailblaze_protocol::outcome::{Attachment, Delegate, Outcome, Variant};

pub const HOSTILE: &str = "</script><script>alert(1)</script><img src=x onerror=alert(2)> \u{202e}txt.exe \u{0}\u{7}\u{1b}[31m {{index}} ]]> & \u{ffff}";

const PHONE: Size = Size { width: 1080, height: 2340 };

/// Writes events as a run would, each a while after the one before.
pub struct Recorder {
    name: String,
    lines: Vec<String>,
    at: u64,
    n_ids: usize,
}

impl Recorder {
    pub fn new() -> Recorder {
        Recorder::named("", "2026-03-04-0915-kite", "2026-03-04T09:15:00Z")
    }

    /// One of several: its ids begin with its name.
    pub fn shard(name: &str, started_at: &str) -> Recorder {
        Recorder::named(&format!("{name}-"), &format!("run-{name}"), started_at)
    }

    fn named(name: &str, run: &str, started_at: &str) -> Recorder {
        let header = Header {
            trailblaze_events: 1,
            run: RunId::new(run),
            started_at: started_at.to_string(),
            version: "0.1.0".to_string(),
        };
        Recorder { name: name.to_string(), lines: vec![serde_json::to_string(&header).unwrap()], at: 0, n_ids: 0 }
    }

    pub fn pass(&mut self, micros: u64) {
        self.at += micros;
    }

    pub fn back_to(&mut self, at: u64) {
        self.at = at;
    }

    pub fn add(&mut self, event: Event) {
        self.lines.push(serde_json::to_string(&Line { at: self.at, event }).unwrap());
        self.at += 1_000;
    }

    pub fn raw(&mut self, line: &str) {
        self.lines.push(line.to_string());
    }

    pub fn text(&self) -> String {
        self.lines.join("\n") + "\n"
    }

    fn fresh(&mut self, prefix: &str) -> String {
        self.n_ids += 1;
        format!("{}{prefix}{}", self.name, self.n_ids)
    }

    pub fn start(&mut self, trails: usize) {
        self.add(Event::RunStarted {
            command: ["trailblaze", "run", "trails"].map(String::from).to_vec(),
            project: "shop".to_string(),
            // More than JavaScript can count to.
            seed: 18_446_744_073_709_551_557,
            trails,
            shard: None,
        });
    }

    pub fn session(&mut self, device: &str, platform: Platform, size: Size) -> SessionId {
        let session = SessionId::new(self.fresh("s"));
        self.add(Event::SessionOpened {
            session: session.clone(),
            device: Device {
                id: DeviceId::new(device),
                platform,
                driver: DriverKey::new(DriverKey::SIM),
                size,
                classifiers: vec![platform.name().to_string(), "phone".to_string()],
            },
            target: Some("shop".to_string()),
            agent_mode: AgentMode::Host,
            tools: 42,
        });
        session
    }

    pub fn attempt(&mut self, session: &SessionId, title: &str, number: u32, tags: &[&str]) -> AttemptId {
        let attempt = AttemptId::new(self.fresh("a"));
        let slug = title.to_lowercase().replace(|c: char| !c.is_ascii_alphanumeric(), "-");
        self.add(Event::AttemptStarted {
            attempt: attempt.clone(),
            session: session.clone(),
            roles: Default::default(),
            trail: TrailRef {
                id: slug.clone(),
                title: title.to_string(),
                path: format!("trails/{slug}.trail.yaml"),
                tags: tags.iter().map(ToString::to_string).collect(),
                row: None,
            },
            number,
            repeat: None,
            is_repaired: false,
            sources: Default::default(),
        });
        attempt
    }

    pub fn step(&mut self, attempt: &AttemptId, index: usize, kind: StepKind, text: &str, plan: Plan) -> StepId {
        let step = StepId::new(self.fresh("t"));
        self.add(Event::StepStarted {
            step: step.clone(),
            attempt: attempt.clone(),
            index,
            kind,
            text: text.to_string(),
            plan,
            role: None,
            hook: None,
            heading: None,
            place: None,
        });
        step
    }

    pub fn call(&mut self, attempt: &AttemptId, parent: Parent, origin: CallOrigin, tool: &str, args: Value) -> CallId {
        let call = CallId::new(self.fresh("c"));
        self.add(Event::Called(Arc::new(Called {
            place: None,
            call: call.clone(),
            parent,
            session: SessionId::new("s1"),
            attempt: attempt.clone(),
            tool: tool.to_string(),
            args: match args {
                Value::Object(args) => args.into(),
                _ => Map::new().into(),
            },
            origin,
            kind: if tool.starts_with("assert") { ToolKind::Assertion } else { ToolKind::Action },
            is_recordable: true,
            is_delegating: tool == "signIn",
            is_custom: false,
            result_name: None,
            is_soft: false,
            is_condition: false,
            is_always_recorded: false,
            source: if tool == "signIn" { "tools/sign-in.tool.yaml" } else { "built-in" }.into(),
        })));
        call
    }

    pub fn answer(&mut self, call: &CallId, micros: u64, outcome: Outcome) {
        self.pass(micros);
        let answer = CallResult::Outcome(Box::new(outcome));
        self.add(Event::Answered { call: call.clone(), micros, answer });
    }

    pub fn fault(&mut self, call: &CallId, exit: Exit, message: &str) {
        let answer = CallResult::Fault { exit, message: message.to_string() };
        self.add(Event::Answered { call: call.clone(), micros: 30_000_000, answer });
    }

    pub fn touch(&mut self, call: &CallId, bounds: Rect, what: &str) {
        let point = Some(bounds.center());
        self.add(Event::Touched {
            call: call.clone(),
            point,
            bounds: Some(bounds),
            what: what.to_string(),
            element: None,
        });
    }

    pub fn wait(&mut self, call: &CallId, what: &str, micros: u64, met: bool, saw: &str) {
        self.add(Event::Waited { call: call.clone(), what: what.to_string(), micros, met, saw: saw.to_string() });
    }

    pub fn picture(&mut self, about: Parent, moment: Moment, file: &str, tree: Option<&str>) {
        self.add(Event::Pictured(Box::new(Pictured {
            about,
            moment,
            file: file.to_string(),
            screen: PHONE,
            tree: tree.map(String::from),
        })));
    }

    pub fn note(&mut self, about: Option<Parent>, level: Level, text: &str) {
        self.add(Event::note(about, level, text.to_string()));
    }

    pub fn end_step(&mut self, step: &StepId, verdict: Verdict, message: &str) {
        self.add(Event::StepEnded { step: step.clone(), verdict, message: message.to_string(), choice: None });
    }

    pub fn end_attempt(&mut self, attempt: &AttemptId, verdict: Verdict, message: &str, failure: Option<Failure>) {
        let failure = failure.map(Box::new);
        self.add(Event::AttemptEnded { attempt: attempt.clone(), verdict, message: message.to_string(), failure });
    }

    pub fn end(&mut self, exit: Exit) {
        let micros = self.at;
        self.add(Event::RunEnded { exit, micros, leaked_processes: 0 });
    }
}

/// A whole run in `folder`: passed, failed, errored, skipped, flaky, unfinished and hostile attempts.
pub fn write_run(folder: &Path) {
    write_files(folder);
    let mut run = Recorder::new();
    run.start(7);
    let pixel = run.session("android/pixel-8", Platform::Android, PHONE);
    let iphone = run.session("ios/iphone-17", Platform::Ios, PHONE);
    run.note(None, Level::Info, "simulated devices keep no state between trails");
    passing(&mut run, &pixel);
    failing(&mut run, &pixel);
    hostile(&mut run, &pixel);
    let before = run.at;
    run.back_to(40_000);
    flaky(&mut run, &iphone);
    errored(&mut run, &iphone);
    skipped(&mut run, &iphone);
    run.back_to(before.max(run.at));
    run.raw(r#"{"at":1,"event":{"dreamt":{"of":"sheep"}}}"#);
    run.raw(r#"{"at":2,"event":{"answ"#);
    let attempt = run.attempt(&pixel, "Return an order", 1, &["returns"]);
    let step = run.step(&attempt, 0, StepKind::Step, "Open the last order", recording());
    run.call(&attempt, Parent::Step(step), CallOrigin::Step, "tapOn", json!({"text": "Orders"}));
    run.pass(900_000);
    run.add(Event::SessionClosed { session: iphone, message: "done".to_string() });
    run.end(Exit::Environment);
    fs::write(folder.join("events.jsonl"), run.text()).unwrap();
}

fn recording() -> Plan {
    Plan::Recording { classifier: "android-phone".to_string() }
}

pub fn passing(run: &mut Recorder, session: &SessionId) {
    let attempt = run.attempt(session, "Sign in and see the shelf", 1, &["smoke", "account"]);
    let step = run.step(&attempt, 0, StepKind::Trailhead, "Open the shop, signed out", Plan::Authored);
    let call = run.call(
        &attempt,
        Parent::Step(step.clone()),
        CallOrigin::Step,
        "launchApp",
        json!({"app": "shop", "clearState": true}),
    );
    run.answer(&call, 840_000, Outcome::success("launched com.example.shop"));
    run.picture(Parent::Step(step.clone()), Moment::After, "pictures/start.png", Some("trees/start.txt"));
    run.end_step(&step, Verdict::Passed, "");

    let step = run.step(&attempt, 1, StepKind::Step, "Sign in as ${memory.user}", recording());
    run.picture(Parent::Step(step.clone()), Moment::Before, "pictures/start.png", Some("trees/start.txt"));
    let call = run.call(
        &attempt,
        Parent::Step(step.clone()),
        CallOrigin::Step,
        "signIn",
        json!({"user": "${memory.user}", "password": "${secrets.password}"}),
    );
    let delegates =
        ["tapOn", "inputText", "tapOn"].map(|tool| Delegate { tool: tool.to_string(), args: Map::new() }).to_vec();
    run.answer(&call, 4_000, Outcome { text: "3 calls".to_string(), ..Outcome::delegating(delegates) });
    let tap = run.call(&attempt, Parent::Call(call.clone()), CallOrigin::Delegate, "tapOn", json!({"id": "email"}));
    run.wait(&tap, "an element with id `email`", 1_200_000, true, "");
    run.touch(&tap, Rect::new(80, 640, 920, 150), "text field `Email`");
    run.answer(&tap, 1_310_000, Outcome::success(""));
    let input = run.call(
        &attempt,
        Parent::Call(call.clone()),
        CallOrigin::Delegate,
        "inputText",
        json!({"text": "${memory.user}"}),
    );
    run.answer(&input, 220_000, Outcome::success("typed 14 characters"));
    let tap = run.call(
        &attempt,
        Parent::Call(call),
        CallOrigin::Delegate,
        "tapOn",
        json!({"text": "Sign in", "position": {"index": 0, "of": 9007199254740993u64}}),
    );
    run.touch(&tap, Rect::new(80, 1080, 920, 160), "button `Sign in`");
    let inner = run.call(&attempt, Parent::Call(tap.clone()), CallOrigin::Callback, "waitForIdle", json!({}));
    run.note(Some(Parent::Call(inner.clone())), Level::Debug, "two frames without change");
    run.answer(&inner, 90_000, Outcome::success(""));
    run.answer(&tap, 300_000, Outcome::success(""));
    run.picture(Parent::Step(step.clone()), Moment::After, "pictures/shelf.png", Some("trees/shelf.txt"));
    run.end_step(&step, Verdict::Passed, "");

    let step = run.step(&attempt, 2, StepKind::Verify, "The shelf shows three plants", recording());
    let call =
        run.call(&attempt, Parent::Step(step.clone()), CallOrigin::Step, "assertVisible", json!({"text": "Monstera"}));
    let visible = Outcome::value("visible", json!({"count": 3, "names": ["Monstera", "Fern", "Aloe"]}));
    let attach = |name: &str, mime: &str, file: &str| Attachment {
        name: name.to_string(),
        mime: mime.to_string(),
        file: Some(file.to_string()),
        bytes: Arc::default(),
    };
    let attachments = vec![
        attach("shelf", "image/png", "attachments/shelf.png"),
        attach("server log", "text/plain", "attachments/server log.txt"),
        attach("secrets", "text/plain", "../../etc/passwd"),
    ];
    run.answer(&call, 30_000, Outcome { attachments, ..visible });
    run.picture(Parent::Step(step.clone()), Moment::After, "pictures/shelf-again.png", None);
    run.end_step(&step, Verdict::Passed, "");
    run.end_attempt(&attempt, Verdict::Passed, "", None);
}

pub fn failing(run: &mut Recorder, session: &SessionId) {
    let attempt = run.attempt(session, "Empty the cart", 1, &["cart", "smoke"]);
    let step = run.step(&attempt, 0, StepKind::Step, "Remove the fern from the cart", recording());
    run.picture(Parent::Step(step.clone()), Moment::Before, "pictures/cart.png", Some("trees/shelf.txt"));
    let call = run.call(&attempt, Parent::Step(step.clone()), CallOrigin::Step, "tapOn", json!({"text": "Remove"}));
    run.touch(&call, Rect::new(760, 520, 260, 120), "button `Remove`");
    run.note(
        Some(Parent::Call(call.clone())),
        Level::Warning,
        "the element was found by text; its recorded id `remove-1` is gone",
    );
    run.answer(&call, 410_000, Outcome::success(""));
    run.end_step(&step, Verdict::Passed, "");
    let step = run.step(&attempt, 1, StepKind::Verify, "The cart is empty", recording());
    let call = run.call(
        &attempt,
        Parent::Step(step.clone()),
        CallOrigin::Step,
        "assertVisible",
        json!({"text": "Your cart is empty", "timeout": "5s"}),
    );
    run.wait(&call, "an element with text `Your cart is empty`", 5_000_000, false, "`1 item`, `Fern`, `Check out`");
    let message = "no element with text `Your cart is empty` within 5 s";
    run.answer(&call, 5_010_000, Outcome::error(Variant::AssertionFailed, message));
    run.picture(Parent::Call(call.clone()), Moment::Failure, "pictures/failure.png", Some("trees/shelf.txt"));
    run.end_step(&step, Verdict::Failed, message);
    let failure = Failure {
        step: Some(step),
        call: Some(call),
        tool: Some("assertVisible".to_string()),
        message: message.to_string(),
        expected: Some("text `Your cart is empty`".to_string()),
        saw: Some("`1 item`, `Fern`, `Check out`".to_string()),
        place: Some(Place { file: "trails/cart.trail.yaml".to_string(), line: 12, column: 9 }),
        suggestions: Vec::new(),
        excerpt: None,
        just_before: Vec::new(),
        parts: Vec::new(),
    };
    run.end_attempt(&attempt, Verdict::Failed, message, Some(failure));
}

pub fn hostile(run: &mut Recorder, session: &SessionId) {
    let attempt = run.attempt(session, HOSTILE, 1, &[HOSTILE]);
    let step = run.step(&attempt, 0, StepKind::Step, HOSTILE, Plan::Recording { classifier: HOSTILE.to_string() });
    run.picture(Parent::Step(step.clone()), Moment::Before, "pictures/gone.png", Some("trees/gone.txt"));
    run.picture(Parent::Step(step.clone()), Moment::After, "../../etc/passwd", Some("/etc/passwd"));
    run.picture(Parent::Step(step.clone()), Moment::After, "pictures/not-a-picture.png", None);
    let long = "spam ".repeat(40_000);
    let call = run.call(
        &attempt,
        Parent::Step(step.clone()),
        CallOrigin::Step,
        HOSTILE,
        json!({HOSTILE: HOSTILE, "long": long}),
    );
    run.wait(&call, HOSTILE, 10, false, HOSTILE);
    run.note(Some(Parent::Call(call.clone())), Level::Error, HOSTILE);
    let bounds = Some(Rect { left: i32::MIN, top: i32::MAX, right: i32::MAX, bottom: i32::MIN });
    run.add(Event::Touched { call: call.clone(), point: None, bounds, what: HOSTILE.to_string(), element: None });
    run.answer(&call, 5, Outcome::failed(HOSTILE));
    run.call(&attempt, Parent::Call(CallId::new("nobody")), CallOrigin::Callback, "orphan", json!({}));
    run.note(Some(Parent::Step(StepId::new("nobody"))), Level::Info, "about nothing");
    run.end_step(&step, Verdict::Failed, HOSTILE);
    let failure = Failure {
        step: Some(step),
        call: None,
        tool: Some(HOSTILE.to_string()),
        message: HOSTILE.to_string(),
        expected: Some(HOSTILE.to_string()),
        saw: Some("saw ".repeat(900)),
        place: Some(Place { file: HOSTILE.to_string(), line: 1, column: 1 }),
        suggestions: Vec::new(),
        excerpt: None,
        just_before: Vec::new(),
        parts: Vec::new(),
    };
    run.end_attempt(&attempt, Verdict::Failed, HOSTILE, Some(failure));
}

pub fn flaky(run: &mut Recorder, session: &SessionId) {
    for number in 1..=2 {
        let attempt = run.attempt(session, "Search for a plant", number, &["search"]);
        let step = run.step(&attempt, 0, StepKind::Step, "Type `fern` into the search field", Plan::Model);
        let call =
            run.call(&attempt, Parent::Step(step.clone()), CallOrigin::Step, "inputText", json!({"text": "fern"}));
        run.pass(1_400_000);
        if number == 1 {
            run.answer(&call, 900_000, Outcome::failed("the keyboard did not come up"));
            run.end_step(&step, Verdict::Failed, "the keyboard did not come up");
            run.end_attempt(&attempt, Verdict::Failed, "the keyboard did not come up", None);
        } else {
            run.answer(&call, 200_000, Outcome::success(""));
            run.end_step(&step, Verdict::Passed, "");
            run.end_attempt(&attempt, Verdict::Passed, "", None);
        }
    }
}

pub fn errored(run: &mut Recorder, session: &SessionId) {
    let attempt = run.attempt(session, "Pay with a card", 1, &["checkout"]);
    let step = run.step(&attempt, 0, StepKind::Step, "Choose the saved card", recording());
    let call = run.call(&attempt, Parent::Step(step.clone()), CallOrigin::Step, "tapOn", json!({"text": "Visa"}));
    run.pass(2_000_000);
    run.fault(&call, Exit::Environment, "device `ios/iphone-17` was lost: connection reset");
    run.end_step(&step, Verdict::Errored, "device `ios/iphone-17` was lost: connection reset");
    run.end_attempt(&attempt, Verdict::Errored, "device `ios/iphone-17` was lost: connection reset", None);
}

fn skipped(run: &mut Recorder, session: &SessionId) {
    let attempt = run.attempt(session, "Scan a barcode", 1, &["camera"]);
    run.end_attempt(&attempt, Verdict::Skipped, "needs a camera, which `ios/iphone-17` does not have", None);
}

pub fn write_files(folder: &Path) {
    for name in ["pictures", "trees", "attachments"] {
        fs::create_dir_all(folder.join(name)).unwrap();
    }
    let cards = [(40, 130), (40, 250), (40, 370)];
    write_png(&folder.join("pictures/start.png"), &[(20, 160, 230, 37), (20, 215, 230, 37), (20, 270, 230, 40)]);
    write_png(&folder.join("pictures/shelf.png"), &cards.map(|(x, y)| (x, y, 190, 100)));
    write_png(&folder.join("attachments/shelf.png"), &cards.map(|(x, y)| (x, y, 190, 100)));
    fs::write(folder.join("attachments/server log.txt"), "GET /shelf 200\n").unwrap();
    write_png(&folder.join("pictures/shelf-again.png"), &cards.map(|(x, y)| (x, y, 190, 100)));
    write_png(&folder.join("pictures/cart.png"), &[(20, 110, 230, 70), (190, 130, 65, 30), (20, 500, 230, 40)]);
    write_png(&folder.join("pictures/failure.png"), &[(20, 110, 230, 70), (20, 500, 230, 40)]);
    fs::write(folder.join("pictures/not-a-picture.png"), "<svg onload=alert(3)>").unwrap();
    fs::write(
        folder.join("trees/start.txt"),
        "screen 1080x2340\n  field `Email` [80,640][1000,790]\n  field `Password`\n  button `Sign in`\n",
    )
    .unwrap();
    fs::write(folder.join("trees/shelf.txt"), "screen 1080x2340\n  text `</script>`\n  list\n    text `Monstera`\n")
        .unwrap();
}

/// A small phone screen: a bar on top, and the given blocks.
fn write_png(path: &Path, blocks: &[(usize, usize, usize, usize)]) {
    const WIDTH: usize = 270;
    const HEIGHT: usize = 585;
    let mut pixels = vec![[250u8, 250, 252]; WIDTH * HEIGHT];
    let bar = (0, 0, WIDTH, 64);
    for (nth, (x, y, width, height)) in [bar].iter().chain(blocks).enumerate() {
        let colour = [[38, 92, 66], [222, 232, 226], [206, 220, 236], [238, 222, 206]][nth.min(3)];
        for row in *y..y + height {
            pixels[row * WIDTH + x..row * WIDTH + x + width].fill(colour);
        }
    }
    let mut encoder = png::Encoder::new(fs::File::create(path).unwrap(), WIDTH as u32, HEIGHT as u32);
    encoder.set_color(png::ColorType::Rgb);
    encoder.write_header().unwrap().write_image_data(pixels.as_flattened()).unwrap();
}
