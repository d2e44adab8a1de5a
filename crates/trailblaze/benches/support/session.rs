//! A session of a benchmark, and what is done in it.

use std::sync::Arc;
use std::time::{Duration, Instant};

use serde_json::{Map, Value, json};
use tempfile::TempDir;
use tokio_util::sync::CancellationToken;
use trailblaze::output::expected_pictures::ExpectedPictureFiles;
use trailblaze::output::run_folder::RunFolder;
use trailblaze::project::loaded::Loaded;
use trailblaze::sessions::wiring::Wiring;
use trailblaze_core::engine::cx::{Attempt, Cx};
use trailblaze_core::engine::dispatch::{Arguments, Call, dispatch};
use trailblaze_core::engine::session::{Session, SessionParts};
use trailblaze_core::ids;
use trailblaze_core::record::artifacts::PicturePolicy;
use trailblaze_core::values::memory::Memory;
use trailblaze_protocol::event::CallOrigin;
use trailblaze_protocol::exit::Exit;
use trailblaze_protocol::ids::StepId;

/// A session on a device of a browser, in the middle of a step.
pub struct BenchSession {
    pub session: Arc<Session>,
    pub cx: Cx,
    wiring: Wiring,
    folder: Arc<RunFolder>,
    _project: TempDir,
}

impl BenchSession {
    pub fn open(device: &str, pictures: PicturePolicy) -> BenchSession {
        let project = tempfile::tempdir().expect("a temporary folder");
        // The entry of a device, or only its id.
        let entry = if device.starts_with('{') { device.to_string() } else { format!("{{id: {device}}}") };
        std::fs::write(project.path().join("trailblaze.yaml"), format!("devices: [{entry}]\n")).expect("a project");
        let loaded = Loaded::read(project.path(), &trailblaze::project::environment::Environment::of_process().into())
            .expect("the project is read");
        let loaded = Arc::new(loaded);
        let wiring = Wiring::new(&loaded, &super::host(), None);
        let device = loaded.devices(&[]).expect("a device").remove(0);
        let folder = RunFolder::create(&project.path().join("logs")).expect("a run folder");
        let session = Session::open(SessionParts {
            id: ids::session(),
            driver: super::driver(&wiring, &device),
            claim: None,
            registry: wiring.file_registry(&device, None),
            reloader: None,
            sources: Vec::new(),
            events: Arc::clone(&folder) as _,
            artifacts: Arc::clone(&folder) as _,
            expected_pictures: Arc::new(ExpectedPictureFiles::new(std::path::Path::new(""), false)),
            secrets: Arc::default(),
            invocations: Arc::default(),
            pictures,
            is_recording: false,
            strictness: Arc::default(),
            home: String::new(),
        });
        let attempt = Attempt::new(ids::attempt(), Memory::new(Map::new(), Map::new()), "");
        let cx = Cx::for_step(&session, &attempt, StepId::new("bench/1.1"), CancellationToken::new());
        BenchSession { session, cx, wiring, folder, _project: project }
    }

    pub async fn call(&self, tool: &str, args: Value) -> String {
        let args = args.as_object().cloned().unwrap_or_default();
        let call = Call::new(tool, Arguments::Json(args), CallOrigin::Step);
        let outcome = dispatch(&self.cx, call).await.expect("the call is carried out");
        assert!(!outcome.is_error(), "{outcome:?}");
        outcome.text
    }

    pub async fn close(self) {
        self.session.close("").await;
        self.wiring.close().await;
        self.folder.finish(Exit::Passed, 0).expect("the folder is written");
    }
}

/// How long thirty actions take, the median of `runs` after `warm_up` others in the same browser.
pub async fn thirty_actions(
    device: &str,
    form: &str,
    pictures: PicturePolicy,
    (warm_up, runs): (usize, usize),
) -> Duration {
    let session = BenchSession::open(device, pictures);
    session.call("web_navigate", json!({"url": form})).await;
    let by = |role: &str, name: String| json!({"web": {"ariaRole": role, "ariaName": name}});
    let mut times = Vec::new();
    for run in 0..warm_up + runs {
        session.call("web_evaluate", json!({"script": "reset()"})).await;
        let started = Instant::now();
        for n in 1..=10 {
            let args = json!({"nodeSelector": by("textbox", format!("Field {n}")), "text": format!("Text {n}")});
            session.call("web_type", args).await;
        }
        for n in 1..=10 {
            session.call("web_check", json!({"nodeSelector": by("checkbox", format!("Option {n}"))})).await;
        }
        for n in 1..=10 {
            session.call("web_click", json!({"nodeSelector": by("button", format!("Button {n}"))})).await;
        }
        if run >= warm_up {
            times.push(started.elapsed());
        }
        let counts = session.call("web_evaluate", json!({"script": "counts()"})).await;
        assert_eq!(counts, "10 filled, 10 checked, 10 pressed");
    }
    session.close().await;
    super::quantile(&mut times, 0.5)
}
