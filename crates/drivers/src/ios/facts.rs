//! What a device says about itself.

use serde_json::Value;
use trailblaze_core::driver::{Budget, DriverError, cut};
use trailblaze_core::screen::fold;
use trailblaze_protocol::geometry::Size;

use super::wda::{WdaClient, WdaError};

/// The longest name of a device.
const NAME: usize = 80;
/// How many pixels a point has in a row, at most.
const LARGEST_SCALE: f64 = 10.0;

/// What `GET /status` says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WdaStatus {
    /// The kind of device: `iphone` or `ipad`.
    pub kind: &'static str,
    /// The version of iOS, such as `18.1`; empty if it does not say.
    pub ios: String,
    /// The version of WebDriverAgent; empty if it does not say.
    pub version: String,
}

impl WdaStatus {
    pub async fn ask(wda: &WdaClient, budget: &Budget) -> Result<WdaStatus, WdaError> {
        let status = wda.get(budget, "/status").await?;
        let text = |path: &str| status.pointer(path).and_then(Value::as_str).map(short).unwrap_or_default();
        let kind = if text("/device").eq_ignore_ascii_case("ipad") { "ipad" } else { "iphone" };
        Ok(WdaStatus { kind, ios: text("/os/version"), version: text("/build/version") })
    }

    /// A name for people.
    pub fn summary(&self, name: &str) -> String {
        let kind = if self.kind == "ipad" { "iPad" } else { "iPhone" };
        let name = if name.is_empty() { kind } else { name };
        match self.ios.as_str() {
            "" => name.to_string(),
            version => format!("{name}, iOS {version}"),
        }
    }
}

/// What does not change while a device is in use.
#[derive(Debug, Clone, PartialEq)]
pub struct IosFacts {
    pub status: WdaStatus,
    pub name: String,
    pub is_simulator: bool,
    /// Pixels in a row of one point.
    pub scale: f64,
    /// The size of the screen when the device was opened, in pixels.
    pub size: Size,
}

impl IosFacts {
    pub async fn ask(wda: &WdaClient, budget: &Budget) -> Result<IosFacts, DriverError> {
        let status = WdaStatus::ask(wda, budget).await.map_err(WdaError::not_started)?;
        let device = wda.get(budget, "/wda/device/info").await.map_err(WdaError::not_started)?;
        let screen = wda.get(budget, "/wda/screen").await.map_err(WdaError::not_started)?;
        let number = |path: &str| screen.pointer(path).and_then(Value::as_f64).filter(|number| *number > 0.0);
        let scale = number("/scale").filter(|scale| *scale <= LARGEST_SCALE);
        let (Some(scale), Some(width), Some(height)) =
            (scale, number("/screenSize/width"), number("/screenSize/height"))
        else {
            let evidence = "WebDriverAgent does not say how large the screen is; a newer one may".to_string();
            return Err(DriverError::NotStarted { evidence });
        };
        let pixels = |points: f64| (points * scale).round() as u32;
        Ok(IosFacts {
            status,
            name: device_name(&device),
            is_simulator: device.get("isSimulator").and_then(Value::as_bool).unwrap_or(false),
            scale,
            size: Size { width: pixels(width), height: pixels(height) },
        })
    }

    /// A name for people: `Ada's iPhone, iOS 18.1`.
    pub fn summary(&self) -> String {
        let summary = self.status.summary(&self.name);
        if self.is_simulator { format!("{summary}, simulator") } else { summary }
    }
}

/// The name of a device in what `GET /wda/device/info` returns.
pub fn device_name(device: &Value) -> String {
    let text = |key: &str| device.get(key).and_then(Value::as_str).map(short).filter(|text| !text.is_empty());
    text("name").or_else(|| text("model")).unwrap_or_default()
}

fn short(text: &str) -> String {
    cut(&fold(text), NAME)
}
