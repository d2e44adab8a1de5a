//! A session on a fake device, with all built-in tools and more.

use std::sync::Arc;

use serde_json::{Map, Value};
use tokio_util::sync::CancellationToken;
use trailblaze_protocol::driver::AgentMode;
use trailblaze_protocol::event::{CallOrigin, TrailRef};
use trailblaze_protocol::ids::StepId;
use trailblaze_protocol::outcome::Outcome;

use super::{FakeDriver, TestEvents, TestPictures, args};
use crate::callers::attempt_sessions::{AttemptSessions, RoleSession};
use crate::callers::recorded_effects::Custom;
use crate::callers::replay::{AttemptResult, Try, replay};
use crate::driver::{DeviceDescription, Driver};
use crate::engine::ask::ModelAccess;
use crate::engine::cx::{Attempt, Cx};
use crate::engine::dispatch::{Arguments, Call, dispatch};
use crate::engine::fault::Fault;
use crate::engine::invocations::Invocations;
use crate::engine::registry::{Batch, Offer, Registry, ToolScope};
use crate::engine::session::{Session, SessionParts};
use crate::engine::strictness::Strictness;
use crate::ids;
use crate::record::artifacts::PicturePolicy;
use crate::record::expected_pictures::ExpectedPictures;
use crate::tools;
use crate::trail::Trail;
use crate::values::memory::Memory;
use crate::values::secret::Secrets;

/// The parts of a test session. Change what the test is about, then open it.
pub struct TestWiring {
    pub driver: Arc<FakeDriver>,
    pub batches: Vec<Batch>,
    pub secrets: Vec<(String, String)>,
    pub invocations: Arc<Invocations>,
    pub pictures: PicturePolicy,
    pub expected_pictures: Arc<dyn ExpectedPictures>,
    pub is_recording: bool,
    pub strictness: Arc<Strictness>,
    pub memory: Map<String, Value>,
}

/// An open session, its events, and one attempt in it.
pub struct TestSession {
    pub inner: Arc<Session>,
    pub events: Arc<TestEvents>,
    pub driver: Arc<FakeDriver>,
    pub attempt: Arc<Attempt>,
    /// The model of replayed trails.
    pub model: Option<Arc<ModelAccess>>,
    pub cancel: CancellationToken,
}

impl TestWiring {
    pub fn new(driver: FakeDriver) -> TestWiring {
        TestWiring {
            driver: driver.share(),
            batches: tools::batches(),
            secrets: Vec::new(),
            invocations: Arc::default(),
            pictures: PicturePolicy::Off,
            expected_pictures: Arc::new(TestPictures::default()),
            is_recording: false,
            strictness: Arc::default(),
            memory: Map::new(),
        }
    }

    pub fn with(mut self, batch: Batch) -> TestWiring {
        self.batches.push(batch);
        self
    }

    pub fn remembering(mut self, values: Value) -> TestWiring {
        self.memory = args(values);
        self
    }

    pub fn secret(mut self, name: &str, value: &str) -> TestWiring {
        self.secrets.push((name.to_string(), value.to_string()));
        self
    }

    pub fn open(self) -> TestSession {
        let registry = Registry::build(1, &self.batches, &scope(self.driver.describe()));
        assert_eq!(registry.refused, [], "every batch of a test is registered");
        let events = Arc::new(TestEvents::default());
        let inner = Session::open(SessionParts {
            claim: None,
            id: ids::session(),
            driver: Arc::clone(&self.driver) as Arc<dyn Driver>,
            registry,
            reloader: None,
            sources: Vec::new(),
            events: Arc::clone(&events) as _,
            artifacts: Arc::clone(&events) as _,
            expected_pictures: self.expected_pictures,
            secrets: Arc::new(Secrets::new(self.secrets)),
            invocations: self.invocations,
            pictures: self.pictures,
            is_recording: self.is_recording,
            strictness: self.strictness,
            home: String::new(),
        });
        let attempt = Attempt::new(ids::attempt(), Memory::new(self.memory, Map::new()), "");
        TestSession { inner, events, driver: self.driver, attempt, model: None, cancel: CancellationToken::new() }
    }
}

/// The default scope of a device: the built-in toolsets, no target, the agent on the host.
pub fn scope(device: &DeviceDescription) -> ToolScope {
    ToolScope {
        platform: device.platform,
        driver: device.driver.clone(),
        agent_mode: AgentMode::Host,
        toolsets: tools::toolsets(),
        target: None,
        groups: Vec::new(),
        prefixes: Vec::new(),
        reserved_prefixes: Vec::new(),
    }
}

impl TestSession {
    /// The context of a step's own calls.
    pub fn cx(&self) -> Cx {
        Cx::for_step(&self.inner, &self.attempt, StepId::new("step"), self.cancel.clone())
    }

    /// Makes a call as a step would.
    pub async fn call(&self, tool: &str, arguments: Value) -> Result<Outcome, Fault> {
        let call = Call::new(tool, Arguments::Json(args(arguments)), CallOrigin::Step);
        dispatch(&self.cx(), call).await
    }

    /// Replays a trail as its first try, with its initial memory.
    pub async fn replay(&self, trail: &Trail) -> AttemptResult {
        self.replay_with(trail, Custom::Run).await
    }

    /// Replays a trail on this device and another one, by their roles.
    pub async fn replay_beside(
        &self,
        (own, others): (&str, &str),
        other: &TestSession,
        trail: &Trail,
    ) -> AttemptResult {
        let first = RoleSession::new(Some(own), &self.inner, None);
        let second = RoleSession::new(Some(others), &other.inner, None);
        self.replay_in(&AttemptSessions::new(first, vec![second]), trail, Custom::Run).await
    }

    /// Replays a trail with another way to replay custom tools.
    pub async fn replay_with(&self, trail: &Trail, custom: Custom<'_>) -> AttemptResult {
        self.replay_in(&AttemptSessions::one(&self.inner), trail, custom).await
    }

    async fn replay_in(&self, sessions: &AttemptSessions, trail: &Trail, custom: Custom<'_>) -> AttemptResult {
        let about =
            TrailRef { id: trail.id(), title: trail.title(), path: trail.source.path.clone(), tags: vec![], row: None };
        let seeds = trail.config.memory.0.iter().map(|(name, value)| (name.clone(), Value::from(value.as_str())));
        let memory = Memory::new(seeds.collect(), Map::new());
        let cancel = self.cancel.clone();
        let attempt = Try {
            trail,
            about,
            number: 1,
            repeat: None,
            memory,
            timeout: None,
            cancel,
            custom,
            model: self.model.clone(),
            offer: Offer::default(),
            heal: None,
            names: None,
            is_repaired: false,
        };
        replay(sessions, attempt).await
    }
}
