//! Which simulators there are, and how one is started.

use serde_json::Value;
use trailblaze_core::driver::{Budget, DriverError};

use super::command::XcodePrograms;
use super::simulator::Simulator;

/// A simulator of this Mac.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KnownSimulator {
    pub udid: String,
    pub name: String,
    /// The version of its iOS, as numbers: `[18, 1]`.
    pub version: Vec<u32>,
    pub is_booted: bool,
}

impl KnownSimulator {
    /// Whether a text is its UDID or its name.
    pub fn is_called(&self, text: &str) -> bool {
        self.udid.eq_ignore_ascii_case(text) || self.name.eq_ignore_ascii_case(text)
    }
}

/// Whether a name is the UDID of a simulator: `F0A1B2C3-0000-4000-8000-000000000001`.
pub fn is_simulator_udid(name: &str) -> bool {
    let parts: Vec<&str> = name.split('-').collect();
    let lengths: Vec<usize> = parts.iter().map(|part| part.len()).collect();
    lengths == [8, 4, 4, 4, 12] && parts.iter().all(|part| part.bytes().all(|byte| byte.is_ascii_hexdigit()))
}

/// All simulators of iOS that can be started.
pub async fn list(programs: &XcodePrograms, budget: &Budget) -> Result<Vec<KnownSimulator>, DriverError> {
    if !programs.has_xcrun() {
        return Ok(Vec::new());
    }
    let printed = programs.simctl(budget, &["list", "devices", "--json"]).await?;
    read(&printed).ok_or_else(|| {
        let reason = "`xcrun simctl list devices --json` printed no list of devices".to_string();
        DriverError::Refused { reason }
    })
}

fn read(printed: &str) -> Option<Vec<KnownSimulator>> {
    let printed: Value = serde_json::from_str(printed).ok()?;
    let runtimes = printed.get("devices")?.as_object()?;
    let mut found = Vec::new();
    for (runtime, devices) in runtimes {
        // Such as `com.apple.CoreSimulator.SimRuntime.iOS-18-1`; other systems have other names.
        let Some((_, version)) = runtime.rsplit_once("iOS-") else { continue };
        let version: Vec<u32> = version.split('-').filter_map(|part| part.parse().ok()).collect();
        for device in devices.as_array().into_iter().flatten() {
            let text = |key: &str| device.get(key).and_then(Value::as_str);
            let (Some(udid), Some(name)) = (text("udid").filter(|udid| is_simulator_udid(udid)), text("name")) else {
                continue;
            };
            if device.get("isAvailable").and_then(Value::as_bool).unwrap_or(true) {
                let is_booted = text("state") == Some("Booted");
                let (udid, name, version) = (udid.to_string(), name.to_string(), version.clone());
                found.push(KnownSimulator { udid, name, version, is_booted });
            }
        }
    }
    Some(found)
}

/// The simulator of a name or a UDID, started if it does not run.
pub async fn boot(programs: &XcodePrograms, wanted: &str, budget: &Budget) -> Result<Simulator, DriverError> {
    if !programs.has_xcrun() {
        let evidence = format!("the simulator `{wanted}` needs a Mac with Xcode: there is no `xcrun` on the PATH");
        return Err(DriverError::NotStarted { evidence });
    }
    let known = list(programs, budget).await?;
    let chosen = choose(&known, wanted).ok_or_else(|| {
        let names: Vec<&str> = known.iter().map(|simulator| simulator.name.as_str()).collect();
        let names = if names.is_empty() { "none".to_string() } else { names.join(", ") };
        DriverError::NotStarted { evidence: format!("there is no simulator `{wanted}`; this Mac has: {names}") }
    })?;
    if !chosen.is_booted {
        programs.simctl(budget, &["boot", &chosen.udid]).await?;
        programs.simctl(budget, &["bootstatus", &chosen.udid, "-b"]).await?;
    }
    Ok(Simulator::new(programs.clone(), chosen.udid.clone()))
}

/// Of several with one name, one that runs, or else the one with the newest iOS.
fn choose<'a>(known: &'a [KnownSimulator], wanted: &str) -> Option<&'a KnownSimulator> {
    known
        .iter()
        .filter(|simulator| simulator.is_called(wanted))
        .max_by_key(|simulator| (simulator.is_booted, simulator.version.clone()))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn device(number: u8, name: &str, state: &str) -> Value {
        json!({"udid": format!("F0A1B2C3-0000-4000-8000-00000000000{number}"), "name": name, "state": state, "isAvailable": number != 9})
    }

    #[test]
    fn a_name_stands_for_the_one_that_runs_or_for_the_newest() {
        let listed = |states: [&str; 3]| {
            let printed = json!({"devices": {
                "com.apple.CoreSimulator.SimRuntime.iOS-17-5": [device(1, "iPhone 16", states[0])],
                "com.apple.CoreSimulator.SimRuntime.iOS-18-1": [device(2, "iPhone 16", states[1]), device(3, "iPad", states[2]), device(9, "Old", "")],
                "com.apple.CoreSimulator.SimRuntime.tvOS-18-1": [device(4, "iPhone 16", "Booted")],
            }});
            read(&printed.to_string()).expect("a list")
        };
        let chosen =
            |known: &[KnownSimulator], wanted: &str| choose(known, wanted).map(|one| one.udid[35..].to_string());
        let off = listed(["Shutdown", "Shutdown", "Shutdown"]);
        assert_eq!(chosen(&off, "iphone 16").as_deref(), Some("2"));
        assert_eq!(chosen(&off, "F0A1B2C3-0000-4000-8000-000000000003").as_deref(), Some("3"));
        assert_eq!((chosen(&off, "Old"), chosen(&off, "iPhone")), (None, None));
        let on = listed(["Booted", "Shutdown", "Shutdown"]);
        assert_eq!(chosen(&on, "iPhone 16").as_deref(), Some("1"));
        assert!(read("{}").is_none() && read("No devices").is_none());
    }
}
