//! Starting and stopping programs, and waiting for their windows.

use std::time::Duration;

use tokio::time::Instant;
use trailblaze_core::driver::{
    AppControl, AppInventory, Budget, ClipboardControl, DriverError, LaunchMode, ObserveOptions,
};
use trailblaze_supervise::ProcessExit;

use super::apps::StartedApp;
use super::driver::{DesktopDriver, unsupported};

/// How long a program may take to show a window.
const FIRST_WINDOW: Duration = Duration::from_secs(30);
/// How long the first window may take to get the keys.
const GETTING_READY: Duration = Duration::from_secs(3);
/// How often a new window is looked for.
const TICK: Duration = Duration::from_millis(30);

impl DesktopDriver {
    /// Starts a program, and waits for its first window.
    pub(super) async fn launch_app(&self, budget: &Budget, app: &str) -> Result<(), DriverError> {
        let before = self.window_ids(budget).await?;
        let started = self.apps.start(app).await?;
        let until = budget.until(FIRST_WINDOW);
        while Instant::now() < until {
            self.check_alive()?;
            if self.has_window(budget, app, &before).await? {
                return self.ready(budget, app).await;
            }
            if let Some(ended) = started.ended() {
                return self.handed_over(budget, app, &started, &ended).await;
            }
            budget.run("the window of a program", tokio::time::sleep(TICK)).await?;
        }
        let reason = format!("`{app}` runs, but showed no window within {} s", FIRST_WINDOW.as_secs());
        Err(DriverError::Refused { reason })
    }

    /// Waits until the window of a program has the keys, and its tree something to use. Some programs have neither.
    async fn ready(&self, budget: &Budget, app: &str) -> Result<(), DriverError> {
        let until = Instant::now() + GETTING_READY;
        while Instant::now() < until {
            let windows = self.windows_here(budget).await?;
            let is_own = |pid: u32| self.apps.of_process(pid).as_deref() == Some(app);
            let has_keys = windows.iter().any(|window| window.is_active && window.pid.is_none_or(is_own));
            let is_ready = has_keys || self.x.is_none();
            if is_ready {
                let screen = self.look(budget, ObserveOptions::TREE).await?;
                if screen.root.walk().any(|node| node.is_focused()) {
                    return Ok(());
                }
            }
            budget.run("the window of a program", tokio::time::sleep(TICK)).await?;
        }
        Ok(())
    }

    /// A program that is already running may show its window in place of the one that was started.
    async fn handed_over(
        &self,
        budget: &Budget,
        app: &str,
        started: &StartedApp,
        ended: &str,
    ) -> Result<(), DriverError> {
        let is_handed_over =
            started.child.exited() == Some(ProcessExit::Code(0)) && !self.window_ids(budget).await?.is_empty();
        self.apps.forget(app);
        match is_handed_over {
            true => Ok(()),
            false => Err(DriverError::Refused { reason: format!("`{app}` showed no window: it {ended}") }),
        }
    }

    async fn window_ids(&self, budget: &Budget) -> Result<Vec<u32>, DriverError> {
        let Some(x) = &self.x else { return Ok(Vec::new()) };
        Ok(x.windows(budget).await?.iter().map(|window| window.id).collect())
    }

    /// Whether a program has a window, other than those before.
    async fn has_window(&self, budget: &Budget, app: &str, before: &[u32]) -> Result<bool, DriverError> {
        let is_own = |pid: u32| self.apps.of_process(pid).as_deref() == Some(app);
        let Some(x) = &self.x else {
            // Without X, programs with a tree are all that is known.
            let apps = budget.run("programs", self.bus.apps()).await?.map_err(super::look::lost)?;
            for root in apps {
                if self.bus.pid(&root.app).await.is_ok_and(is_own) {
                    return Ok(true);
                }
            }
            return Ok(false);
        };
        let windows = x.windows(budget).await?;
        Ok(windows.iter().any(|window| {
            let is_new = !before.contains(&window.id) && !window.is_popup;
            is_new && window.pid.is_none_or(is_own)
        }))
    }

    /// Brings the window of a program that runs to the front. Returns whether there is one.
    async fn show(&self, budget: &Budget, app: &str) -> Result<bool, DriverError> {
        let Some(x) = &self.x else { return Ok(false) };
        let windows = x.windows(budget).await?;
        let own = windows.iter().rev().find(|window| {
            let started = window.pid.and_then(|pid| self.apps.of_process(pid));
            started.as_deref() == Some(app) || window.class.eq_ignore_ascii_case(app)
        });
        match own {
            Some(window) => x.activate(budget, window.id).await.map(|()| true),
            None => Ok(false),
        }
    }
}

#[async_trait::async_trait]
impl AppControl for DesktopDriver {
    async fn launch(&self, budget: &Budget, app: &str, mode: LaunchMode) -> Result<(), DriverError> {
        self.check_alive()?;
        let runs = self.apps.get(app).is_some_and(|started| started.ended().is_none());
        match mode {
            LaunchMode::Resume if runs && self.show(budget, app).await? => return Ok(()),
            LaunchMode::Resume => {}
            LaunchMode::ForceRestart => drop(self.apps.stop(app).await),
            LaunchMode::Reinstall => {
                self.apps.stop(app).await;
                // In the session of a person, nothing is cleared, and the program starts with its data.
                if self.session.is_some() {
                    self.apps.clear(app)?;
                }
            }
        }
        self.launch_app(budget, app).await
    }

    async fn stop(&self, budget: &Budget, app: &str) -> Result<(), DriverError> {
        match budget.run("ending a program", self.apps.stop(app)).await? {
            true => Ok(()),
            false => {
                Err(DriverError::Refused { reason: format!("`{app}` was not started here, so that it is not ended") })
            }
        }
    }

    async fn clear_data(&self, budget: &Budget, app: &str) -> Result<(), DriverError> {
        budget.run("ending a program", self.apps.stop(app)).await?;
        self.apps.clear(app)
    }

    async fn open_url(&self, _: &Budget, _: &str) -> Result<(), DriverError> {
        Err(unsupported("openUrl"))
    }
}

#[async_trait::async_trait]
impl AppInventory for DesktopDriver {
    /// The programs that run.
    async fn list(&self, budget: &Budget) -> Result<Vec<String>, DriverError> {
        let mut names: Vec<String> = self.apps.all().into_iter().map(|(name, _)| name).collect();
        for window in self.windows_here(budget).await? {
            let started = window.pid.and_then(|pid| self.apps.of_process(pid));
            names.extend(started.is_none().then_some(window.class));
        }
        names.retain(|name| !name.is_empty());
        names.sort();
        names.dedup();
        Ok(names)
    }
}

#[async_trait::async_trait]
impl ClipboardControl for DesktopDriver {
    async fn set(&self, budget: &Budget, text: &str) -> Result<(), DriverError> {
        self.x("setClipboard")?.set_clipboard(budget, text).await
    }

    async fn paste(&self, budget: &Budget) -> Result<(), DriverError> {
        self.press_chord(budget, "Control+V", 1).await
    }
}
