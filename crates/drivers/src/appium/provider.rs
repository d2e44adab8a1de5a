//! What a project says about apps behind Appium, and their source: a session at an endpoint for each device.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use serde_json::json;
use tokio::time::Instant;
use trailblaze_core::device_source::{DeviceSettings, DeviceSource, DeviceSpec};
use trailblaze_core::driver::{Budget, Driver, DriverError};
use trailblaze_core::finding::Finding;
use trailblaze_core::table;
use trailblaze_core::yaml::{Decode, Millis, Spanned, Table, YamlNode, loose};
use trailblaze_protocol::driver::{DriverKey, Platform};
use trailblaze_protocol::geometry::Size;
use trailblaze_protocol::ids::DeviceId;

use super::automation::AppiumAutomation;
use super::driver::AppiumDriver;
use super::session::AppiumSession;
use crate::provider::{ConfigKeys, DeviceProvider, Machine, ProviderConfig, WantedDevice};
use crate::web::webdriver::{
    EXPLAINING, EndpointCredentials, EndpointEntry, SESSION_WAIT, SLOTS, SessionEndings, WebDriverHttp, proxies,
};

pub const PROVIDER: DeviceProvider = DeviceProvider {
    name: "appium",
    plural: "apps behind Appium",
    drivers: &[DriverKey::WEBDRIVER],
    project_keys: ConfigKeys::NONE,
    device_keys: ConfigKeys { names: AppiumEntry::KEYS, schema: AppiumEntry::schema },
    default_device: |_| None,
    read: |part, found| Arc::new(AppiumConfig { entries: part.decode_devices(found) }),
};

table! {
    /// What the entry of a phone says that is behind Appium.
    pub struct AppiumEntry {
        /// The WebDriver endpoint that a device is behind, such as a grid or a farm; phones need Appium there: http://127.0.0.1:4444.
        "webdriver" => webdriver: Option<Spanned<String>> = None,
        /// What is asked of each session at the endpoint: W3C capabilities, and options of its vendor; {{NAME}} is an environment variable.
        "capabilities" => capabilities: Option<YamlNode> = None,
        /// Who we are for the endpoint.
        "credentials" => credentials: Option<EndpointCredentials> = None,
        /// How many sessions a run may have at the endpoint at a time; it spreads its trails over them (default 1).
        "slots" => slots: Option<Spanned<u32>> = None,
        /// How long a session may take to get, for example while others use the endpoint (default 2m).
        "sessionWait" => session_wait: Option<Millis> = None,
    }
}

struct AppiumConfig {
    entries: HashMap<String, AppiumEntry>,
}

impl AppiumEntry {
    fn endpoint(&self) -> Option<EndpointEntry> {
        Some(EndpointEntry {
            url: self.webdriver.as_ref()?.value.clone(),
            capabilities: self.capabilities.as_ref().map_or_else(|| json!({}), loose),
            credentials: self.credentials.clone(),
            slots: self.slots.as_ref().map_or(SLOTS, |slots| slots.value),
            session_wait: self.session_wait.map_or(SESSION_WAIT, Millis::duration),
            artifacts: Vec::new(),
        })
    }
}

/// What is known about an app behind Appium before it is asked.
#[derive(Debug, Clone, PartialEq)]
struct AppiumSettings {
    endpoint: EndpointEntry,
    automation: AppiumAutomation,
}

fn settings(device: &DeviceSpec) -> Option<&AppiumSettings> {
    device.settings.get()
}

impl ProviderConfig for AppiumConfig {
    /// Phones whose entry has the address of an endpoint.
    fn device(&self, wanted: &WantedDevice<'_>) -> Option<Result<DeviceSpec, String>> {
        let WantedDevice { id, platform, name, driver, classifiers } = *wanted;
        let is_own = platform.is_mobile() && !name.is_empty() && !name.starts_with("sim-");
        let endpoint = self.entries.get(id).filter(|_| is_own)?.endpoint()?;
        let automation = endpoint.check().and_then(|()| AppiumAutomation::wanted(&endpoint.capabilities, platform));
        let automation = match automation {
            Ok(automation) => automation,
            Err(why) => return Some(Err(format!("`{id}` cannot be used: {why}"))),
        };
        let kind = if platform == Platform::Ios { "iphone" } else { "phone" };
        let stated = if classifiers.is_empty() { vec![kind.to_string()] } else { classifiers.to_vec() };
        let driver = driver.filter(|driver| driver.as_str() != DriverKey::SIM);
        Some(Ok(DeviceSpec {
            id: DeviceId::new(id.to_string()),
            platform,
            driver: driver.cloned().unwrap_or_else(|| DriverKey::new(DriverKey::WEBDRIVER)),
            provider: PROVIDER.name,
            classifiers: [vec![platform.name().to_string()], stated].concat(),
            size: Size { width: 0, height: 0 },
            summary: format!("an app behind Appium's {}", automation.name()),
            follows_person: false,
            machine_id: None,
            settings: DeviceSettings::new(AppiumSettings { endpoint, automation }),
        }))
    }

    fn slots(&self, device: &DeviceSpec) -> u32 {
        settings(device).map_or(1, |settings| settings.endpoint.slots)
    }

    fn is_renewed(&self, _: &DeviceSpec) -> bool {
        true
    }

    fn open(&self, machine: &Machine) -> Result<Arc<dyn DeviceSource>, String> {
        let endings = Arc::new(SessionEndings::new(machine.supervisor.clone(), proxies(machine)));
        Ok(Arc::new(AppiumDevices { machine: machine.clone(), endings }))
    }
}

struct AppiumDevices {
    machine: Machine,
    /// Ends the sessions if this process cannot.
    endings: Arc<SessionEndings>,
}

#[async_trait]
impl DeviceSource for AppiumDevices {
    /// What an endpoint has, it does not say.
    async fn discover(&self, _: &Budget) -> Result<Vec<DeviceSpec>, DriverError> {
        Ok(Vec::new())
    }

    fn patience(&self, device: &DeviceSpec) -> Duration {
        settings(device).map_or(SESSION_WAIT, |settings| settings.endpoint.session_wait) + EXPLAINING
    }

    async fn acquire(&self, device: &DeviceSpec, budget: &Budget) -> Result<Arc<dyn Driver>, DriverError> {
        let not_started = |evidence: String| DriverError::NotStarted { evidence };
        let AppiumSettings { endpoint, automation } =
            settings(device).ok_or_else(|| not_started("it has no endpoint".to_string()))?;
        let variable = |name: &str| self.machine.var(name).map(|value| value.to_string_lossy().into_owned());
        let resolved = endpoint.resolve(&variable).map_err(not_started)?;
        let http = WebDriverHttp::new(resolved.address, &proxies(&self.machine)).map_err(not_started)?;
        // Ends a little earlier than the device has to be ready, so that it can be said what was waited for.
        let deadline = budget.deadline.min(Instant::now() + endpoint.session_wait);
        let wanted = automation.capabilities(&resolved.capabilities);
        let asking = Budget { deadline, ..budget.clone() };
        let session = AppiumSession::open(http, &wanted, Arc::clone(&self.endings), &asking).await?;
        Ok(Arc::new(AppiumDriver::open(device, *automation, session, budget).await?))
    }

    async fn check(&self, _: &Budget, _: bool) -> Vec<Finding> {
        Vec::new()
    }

    async fn close(&self) {
        self.endings.close().await;
    }
}
