//! The simulated device, through the port that the engine uses.

mod faults;
mod files;
mod flows;
mod load;
mod pictures;
mod platforms;
mod text;
mod time;
mod touch;

use std::sync::Arc;
use std::time::Duration;

use tokio_util::sync::CancellationToken;
use trailblaze_core::driver::{
    Action, ActionOutput, ActionTarget, Budget, DeviceCommand, Driver, DriverError, LaunchMode, ObserveOptions,
};
use trailblaze_core::screen::{Node, Screen};
use trailblaze_core::yaml::{Problems, Source};
use trailblaze_protocol::driver::{DriverKey, Platform};
use trailblaze_protocol::geometry::Point;
use trailblaze_protocol::ids::DeviceId;

use super::{Faults, Options, Sim, SimApp, demo_app};

/// A device and its user.
struct Hand {
    sim: Sim,
}

impl Hand {
    fn on(platform: Platform, app: Arc<SimApp>, options: Options) -> Hand {
        let id = DeviceId::new(format!("{platform}/sim-1"));
        Hand { sim: Sim::open(id, platform, DriverKey::default_for(platform), vec![app], options) }
    }

    /// The wallet, just started.
    async fn in_wallet(platform: Platform) -> Hand {
        let hand = Hand::on(platform, demo_app(), Options::default());
        hand.launch(LaunchMode::Reinstall).await;
        hand
    }

    /// The wallet, signed in and asked about notifications.
    async fn at_home(platform: Platform) -> Hand {
        let hand = Hand::in_wallet(platform).await;
        hand.sign_in().await;
        hand.wait(400).await;
        hand.tap("notNow").await;
        hand
    }

    /// An app of one android phone, started.
    async fn in_app(yaml: &str) -> Hand {
        let hand = Hand::on(Platform::Android, Arc::new(app(yaml)), Options::default());
        let launch = DeviceCommand::LaunchApp { app: "a".to_string(), mode: LaunchMode::Reinstall };
        hand.send(launch).await.unwrap();
        hand
    }

    fn with_faults(flags: &[&str]) -> Hand {
        Hand::seeded(7, flags)
    }

    fn seeded(seed: u64, flags: &[&str]) -> Hand {
        let mut faults = Faults::default();
        for flag in flags {
            faults.set(flag).unwrap();
        }
        Hand::on(Platform::Android, demo_app(), Options { seed, faults })
    }

    fn budget(&self) -> Budget {
        let deadline = tokio::time::Instant::now() + Duration::from_secs(5);
        Budget::new(deadline, CancellationToken::new())
    }

    async fn try_look(&self) -> Result<Screen, DriverError> {
        self.sim.observe(&self.budget(), ObserveOptions::TREE).await
    }

    async fn look(&self) -> Screen {
        self.try_look().await.unwrap()
    }

    async fn node(&self, id: &str) -> Node {
        self.find(id).await.unwrap_or_else(|| panic!("no `{id}` on the screen"))
    }

    async fn find(&self, id: &str) -> Option<Node> {
        self.look().await.root.walk().find(|node| node.has_id(id)).cloned()
    }

    /// Every text on the screen, in order.
    async fn texts(&self) -> Vec<String> {
        self.look().await.root.walk().filter_map(|node| node.text().map(str::to_string)).collect()
    }

    async fn sees(&self, text: &str) -> bool {
        self.texts().await.iter().any(|seen| seen == text)
    }

    async fn act(&self, action: Action) -> Result<ActionOutput, DriverError> {
        self.sim.act(&self.budget(), &ActionTarget::Device, &action).await
    }

    async fn send(&self, command: DeviceCommand) -> Result<ActionOutput, DriverError> {
        command.carry_out(&self.sim, &self.budget()).await
    }

    async fn act_at(&self, point: Point, action: Action) -> Result<ActionOutput, DriverError> {
        self.sim.act(&self.budget(), &ActionTarget::Point(point), &action).await
    }

    async fn tap(&self, id: &str) {
        let point = self.node(id).await.bounds.unwrap().center();
        self.act_at(point, Action::Tap).await.unwrap();
    }

    async fn tap_text(&self, text: &str) {
        let screen = self.look().await;
        let node = screen.root.walk().find(|node| node.text() == Some(text)).unwrap_or_else(|| panic!("no `{text}`"));
        self.act_at(node.bounds.unwrap().center(), Action::Tap).await.unwrap();
    }

    async fn fill(&self, id: &str, text: &str) {
        let point = self.node(id).await.bounds.unwrap().center();
        self.act_at(point, Action::InputText { text: text.to_string() }).await.unwrap();
    }

    async fn launch(&self, mode: LaunchMode) {
        let app = demo_app().id_for(self.sim.describe().platform).to_string();
        self.send(DeviceCommand::LaunchApp { app, mode }).await.unwrap();
    }

    async fn sign_in(&self) {
        self.fill("email", "ada@example.com").await;
        self.fill("pin", "1234").await;
        self.tap("submit").await;
    }

    /// Lets the paused clock run.
    async fn wait(&self, millis: u64) {
        tokio::time::advance(Duration::from_millis(millis)).await;
    }
}

fn app(yaml: &str) -> SimApp {
    let (app, problems) = read(yaml);
    app.unwrap_or_else(|| panic!("{problems:?}"))
}

fn read(yaml: &str) -> (Option<SimApp>, Vec<String>) {
    let source = Source::new("a.app.yaml", yaml);
    let mut problems = Problems::new(&source);
    let app = SimApp::read(&source, &mut problems);
    (app, problems.into_vec().iter().map(ToString::to_string).collect())
}
