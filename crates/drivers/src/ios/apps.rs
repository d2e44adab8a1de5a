//! Apps: start, stop, clear, links.

use std::time::SystemTime;

use serde_json::{Map, Value, json};
use trailblaze_core::driver::{Budget, DriverError, LaunchMode, LaunchSettings};
use trailblaze_protocol::device_event::DeviceEvent;

use super::alerts::explained;
use super::driver::IosDriver;
use super::mac::newest_crash;
use super::wda::WdaCode;

/// What `wda/apps/state` returns for an app that does not run, and for one in front.
const NOT_RUNNING: i64 = 1;
const IN_FRONT: i64 = 4;

/// The app that was launched last.
#[derive(Debug, Clone, PartialEq)]
pub struct LaunchedApp {
    pub id: String,
    /// When, for the reports of crashes.
    pub at: SystemTime,
}

impl IosDriver {
    pub(super) async fn launch_app(&self, budget: &Budget, app: &str, how: &LaunchSettings) -> Result<(), DriverError> {
        let mut how = how.clone();
        let is_cleared_by_app = how.mode == LaunchMode::Reinstall && self.host.simulator.is_none();
        if is_cleared_by_app {
            let clearing = self.clearing_arguments(app, "launchMode: FORCE_RESTART")?;
            how.arguments.splice(0..0, clearing.iter().cloned());
        }
        if how.mode != LaunchMode::Resume {
            self.terminate(budget, app).await?;
        }
        if let (LaunchMode::Reinstall, Some(simulator)) = (how.mode, &self.host.simulator) {
            simulator.clear_data(budget, app).await?;
        }
        if let Some(simulator) = &self.host.simulator {
            self.log.follow(simulator, &self.events, app, budget).await;
        }
        self.start(budget, app, &how).await
    }

    pub(super) async fn clear_app(&self, budget: &Budget, app: &str) -> Result<(), DriverError> {
        if let Some(simulator) = &self.host.simulator {
            self.terminate(budget, app).await?;
            return simulator.clear_data(budget, app).await;
        }
        // WebDriverAgent cannot, so that the app must do it.
        let arguments = self.clearing_arguments(app, "stopApp")?.to_vec();
        let how = LaunchSettings { mode: LaunchMode::ForceRestart, arguments, environment: Vec::new() };
        self.terminate(budget, app).await?;
        self.start(budget, app, &how).await?;
        self.terminate(budget, app).await
    }

    /// Ends an app. One that does not run stays as it is.
    pub(super) async fn terminate(&self, budget: &Budget, app: &str) -> Result<(), DriverError> {
        self.forget_launched(app);
        self.post(budget, "/wda/apps/terminate", json!({"bundleId": app})).await.map(drop)
    }

    pub(super) async fn open_link(&self, budget: &Budget, url: &str) -> Result<(), DriverError> {
        self.post(budget, "/url", json!({"url": url})).await.map(drop)
    }

    /// The apps that run. WebDriverAgent cannot list those that are installed.
    pub(super) async fn running_apps(&self, budget: &Budget) -> Result<Vec<String>, DriverError> {
        let list = match self.wda.session_get(budget, "/wda/apps/list").await {
            Ok(list) => list,
            Err(error) => return Err(explained(error, &self.wda, budget).await),
        };
        let id = |app: &Value| app.get("bundleId").and_then(Value::as_str).map(str::to_string);
        let mut ids: Vec<String> = list.as_array().into_iter().flatten().filter_map(id).collect();
        ids.sort();
        ids.dedup();
        Ok(ids)
    }

    fn clearing_arguments(&self, app: &str, instead: &str) -> Result<&[String], DriverError> {
        match self.settings.clear_data_arguments.as_slice() {
            [] => {
                let reason = format!(
                    "WebDriverAgent cannot clear the data of `{app}`; use `{instead}`, which keeps the data, or say in the entry of this \
                     device with which arguments the app clears it by itself: `clearDataArguments: [--reset]`"
                );
                Err(DriverError::Refused { reason })
            }
            arguments => Ok(arguments),
        }
    }

    /// Starts an app, or brings one that runs to the front, and makes sure that it is there.
    async fn start(&self, budget: &Budget, app: &str, how: &LaunchSettings) -> Result<(), DriverError> {
        let arguments: Vec<String> = how.arguments.iter().cloned().chain(self.locale_arguments(app)).collect();
        let environment: Map<String, Value> =
            how.environment.iter().map(|(name, value)| (name.clone(), json!(value))).collect();
        let body = json!({
            "bundleId": app, "arguments": arguments, "environment": environment, "shouldWaitForQuiescence": false,
        });
        if let Err(error) = self.wda.session_post(budget, "/wda/apps/launch", body).await {
            let is_about_the_app = matches!(
                error.code(),
                Some(WdaCode::UnknownError | WdaCode::InvalidArgument | WdaCode::InvalidElementState)
            );
            let error = explained(error, &self.wda, budget).await;
            return Err(if is_about_the_app { not_launched(app, &error.to_string()) } else { error });
        }
        let state = self.post(budget, "/wda/apps/state", json!({"bundleId": app})).await?;
        match state.as_i64() {
            Some(IN_FRONT) => {
                self.remember_launched(app);
                Ok(())
            }
            _ => Err(not_launched(app, "it did not come to the front")),
        }
    }

    /// Reports the app that was launched last if it is no longer in front because it has ended by itself.
    pub(super) async fn notice_crash(&self, budget: &Budget, front: Option<&str>) -> Result<(), DriverError> {
        let Some(LaunchedApp { id, at }) = self.launched().filter(|app| front.is_some_and(|front| front != app.id))
        else {
            return Ok(());
        };
        let state = self.wda.session_post(budget, "/wda/apps/state", json!({"bundleId": id})).await?;
        if state.as_i64() != Some(NOT_RUNNING) {
            return Ok(());
        }
        self.forget_launched(&id);
        let report = match &self.host.simulator {
            Some(simulator) => {
                let process = simulator.process_name(budget, &id).await;
                let home = simulator.home().map(std::path::Path::to_path_buf);
                process.zip(home).and_then(|(process, home)| newest_crash(&home, &process, at))
            }
            None => None,
        };
        let why = report.map(|report| format!(": {report}")).unwrap_or_default();
        self.add_event(DeviceEvent::Crash { why: format!("the app `{id}` has ended by itself{why}") });
        Ok(())
    }
}

fn not_launched(app: &str, why: &str) -> DriverError {
    DriverError::Refused { reason: format!("the app `{app}` cannot be launched; it may not be installed: {why}") }
}
