//! Commands in an open session, from the start of the process to its end, beside the look itself and the same command of
//! agent-browser, whose daemon is open too.

use std::time::{Duration, Instant};

use serde_json::Map;
use tokio::runtime::Runtime;
use trailblaze::daemon::{DaemonClient, Version};
use trailblaze::project::environment::Environment;
use trailblaze::sessions::interactive::{CallArguments, InteractiveCommand, Snapshot};
use trailblaze::sessions::service::{ExecuteRequest, ServiceAnswer, ServiceRequest, SessionChoice};

use crate::place::{Missing, Place, Shop, timed};
use crate::support::{Measure, Row, quantile};

const RUNS: usize = 30;
const WARM_UP: usize = 3;

pub fn rows() -> Result<(), Missing> {
    let shop = Shop::start()?;
    let place = Place::new("devices: [{id: web/chromium}]\n")?;
    timed(place.own(&["device", "connect", "--launch", &shop.checkout()]));
    let daemon = Daemon::of(&place);
    let peer = Peer::open(&place, &shop)?;
    let snapshot = Pair {
        own: &["snapshot"],
        inside: InteractiveCommand::Snapshot(Snapshot::default()),
        peer: &["snapshot"],
        shown: "Note to the driver",
    };
    let text = Map::from_iter([("text".to_string(), "Email".into())]);
    let is_visible = Pair {
        own: &["tool", "isVisible", "text=Email"],
        inside: InteractiveCommand::Call { tool: "isVisible".to_string(), args: CallArguments::Json(text) },
        peer: &["is", "visible", "#email"],
        shown: "true",
    };
    for pair in [snapshot, is_visible] {
        pair.rows(&place, &daemon, &peer)?;
    }
    Ok(())
}

/// The same command of ours and of agent-browser.
struct Pair {
    own: &'static [&'static str],
    /// What the daemon does for it.
    inside: InteractiveCommand,
    peer: &'static [&'static str],
    /// What both print, among other things.
    shown: &'static str,
}

impl Pair {
    fn rows(&self, place: &Place, daemon: &Daemon, peer: &Peer<'_>) -> Result<(), Missing> {
        let (mut own, mut looks, mut peers, mut starts) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        for _ in 0..WARM_UP + RUNS {
            looks.push(daemon.time(&self.inside));
            own.push(self.checked(timed(place.own(self.own))));
            peers.push(self.checked(timed(peer.place.agent_browser(self.peer)?)));
            starts.push(timed(place.own(&["--version"])).0);
        }
        let (first, peer_first) = (own[0], peers[0]);
        let [own, look, theirs, start] =
            [own, looks, peers, starts].map(|mut times| quantile(&mut times[WARM_UP..], 0.5));
        let name = format!("`trailblaze {}`", self.own[..self.own.len().min(2)].join(" "));
        let row = |what: String, measured: Duration, against: Duration, goal: &str, is_met: Option<bool>| {
            let (measured, against) = (Measure::Time(measured), Some(Measure::Time(against)));
            Row { what: &what, measured, against, goal, is_met }.print();
        };
        let most = look + Duration::from_millis(10);
        row(format!("{name} | the look itself"), own, look, "≤ + 10 ms", Some(own <= most));
        let is_met = Some(own <= theirs.mul_f64(1.2));
        row(format!("{name} | agent-browser {}", self.peer.join(" ")), own, theirs, "≤ 1.2 ×", is_met);
        row("the first of these | agent-browser's first".to_string(), first, peer_first, "", None);
        row(format!("{name} without the look | `--version`"), own.saturating_sub(look), start, "", None);
        Ok(())
    }

    fn checked(&self, (took, text): (Duration, String)) -> Duration {
        assert!(text.contains(self.shown), "`{}` is not shown: {text}", self.shown);
        took
    }
}

/// The daemon of a place, asked by this process.
struct Daemon {
    client: DaemonClient,
    choice: SessionChoice,
    runtime: Runtime,
}

impl Daemon {
    fn of(place: &Place) -> Daemon {
        let variables = [("XDG_RUNTIME_DIR".into(), place.runtime().into_os_string())];
        let environment = Environment::of_client(variables, place.project(), Vec::new(), Default::default());
        // It is only asked if it runs, so its version does not matter.
        let client = DaemonClient::new(&environment, "trailblaze", Version(String::new())).expect("its folder");
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
        Daemon { client, choice: SessionChoice::default(), runtime }
    }

    /// How long the daemon takes for a command, with the request to it.
    fn time(&self, command: &InteractiveCommand) -> Duration {
        let commands = vec![command.clone()];
        let request = ServiceRequest::Execute(ExecuteRequest {
            session: self.choice.clone(),
            current_dir: None,
            commands,
            opening: None,
        });
        let started = Instant::now();
        let answer = self.runtime.block_on(self.client.ask_running(request));
        let took = started.elapsed();
        assert!(matches!(answer, Some(Ok(ServiceAnswer::Replies(_)))), "{answer:?}");
        took
    }
}

/// A browser that agent-browser keeps open.
struct Peer<'a> {
    place: &'a Place,
}

impl Peer<'_> {
    fn open<'a>(place: &'a Place, shop: &Shop) -> Result<Peer<'a>, Missing> {
        let peer = Peer { place };
        timed(place.agent_browser(&["open", &shop.checkout()])?);
        timed(place.agent_browser(&["set", "viewport", "1280", "800"])?);
        Ok(peer)
    }
}

impl Drop for Peer<'_> {
    fn drop(&mut self) {
        if let Ok(mut command) = self.place.agent_browser(&["close", "--all"]) {
            let _ = command.output();
        }
    }
}
