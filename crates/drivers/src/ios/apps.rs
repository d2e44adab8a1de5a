//! Apps: start, stop, clear, links.

use serde_json::{Value, json};
use trailblaze_core::driver::{Budget, DriverError, LaunchMode};

use super::alerts::explained;
use super::driver::IosDriver;
use super::wda::WdaCode;

/// What `wda/apps/state` returns for an app in front.
const IN_FRONT: i64 = 4;

impl IosDriver {
    pub(super) async fn launch_app(&self, budget: &Budget, app: &str, mode: LaunchMode) -> Result<(), DriverError> {
        let no_arguments: &[String] = &[];
        let arguments = match mode {
            LaunchMode::Reinstall => self.clearing_arguments(app, "launchMode: FORCE_RESTART")?,
            LaunchMode::ForceRestart | LaunchMode::Resume => no_arguments,
        };
        if mode != LaunchMode::Resume {
            self.terminate(budget, app).await?;
        }
        self.start(budget, app, arguments).await
    }

    /// WebDriverAgent cannot clear the data of an app, so that the app must do it.
    pub(super) async fn clear_app(&self, budget: &Budget, app: &str) -> Result<(), DriverError> {
        let arguments = self.clearing_arguments(app, "stopApp")?;
        self.terminate(budget, app).await?;
        self.start(budget, app, arguments).await?;
        self.terminate(budget, app).await
    }

    /// Ends an app. One that does not run stays as it is.
    pub(super) async fn terminate(&self, budget: &Budget, app: &str) -> Result<(), DriverError> {
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
    async fn start(&self, budget: &Budget, app: &str, arguments: &[String]) -> Result<(), DriverError> {
        let body = json!({
            "bundleId": app, "arguments": arguments, "environment": {}, "shouldWaitForQuiescence": false,
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
            Some(IN_FRONT) => Ok(()),
            _ => Err(not_launched(app, "it did not come to the front")),
        }
    }
}

fn not_launched(app: &str, why: &str) -> DriverError {
    DriverError::Refused { reason: format!("the app `{app}` cannot be launched; it may not be installed: {why}") }
}
