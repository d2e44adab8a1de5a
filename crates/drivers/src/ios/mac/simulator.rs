//! What `xcrun simctl` does to one simulator.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::Mutex;
use trailblaze_core::driver::{Budget, DriverError};
use trailblaze_protocol::outcome::Attachment;

use super::command::XcodePrograms;
use super::video::VideoRecording;

/// A simulator that runs.
#[derive(Clone)]
pub struct Simulator {
    pub(super) programs: XcodePrograms,
    pub udid: String,
    recording: Arc<Mutex<Option<VideoRecording>>>,
}

impl Simulator {
    pub fn new(programs: XcodePrograms, udid: String) -> Simulator {
        Simulator { programs, udid, recording: Arc::default() }
    }

    /// Gives a permission to an app (`grant`), or takes it away (`revoke`).
    pub async fn privacy(&self, budget: &Budget, what: &str, permission: &str, app: &str) -> Result<(), DriverError> {
        let service = service(permission)?;
        self.run(budget, &["privacy", &self.udid, what, service, app]).await
    }

    pub async fn install(&self, budget: &Budget, file: &str) -> Result<(), DriverError> {
        self.run(budget, &["install", &self.udid, file]).await
    }

    pub async fn uninstall(&self, budget: &Budget, app: &str) -> Result<(), DriverError> {
        self.run(budget, &["uninstall", &self.udid, app]).await
    }

    /// Deletes what an app has stored. It must not run.
    pub async fn clear_data(&self, budget: &Budget, app: &str) -> Result<(), DriverError> {
        let printed = self.programs.simctl(budget, &["get_app_container", &self.udid, app, "data"]).await?;
        let folder = self.data_folder(&printed).ok_or_else(|| {
            let reason = format!("`xcrun simctl get_app_container` printed no folder of the data of `{app}`");
            DriverError::Refused { reason }
        })?;
        let emptied = tokio::task::spawn_blocking({
            let folder = folder.clone();
            move || empty(&folder)
        });
        let emptied = emptied.await.unwrap_or_else(|error| Err(std::io::Error::other(error)));
        emptied.map_err(|error| DriverError::Refused {
            reason: format!("the data of `{app}` in {} stays: {error}", folder.display()),
        })
    }

    /// The folder of an app's data. What is deleted there must be that of an app of this simulator, whatever was printed.
    fn data_folder(&self, printed: &str) -> Option<PathBuf> {
        let folder = PathBuf::from(printed.trim_end_matches('\n'));
        let inside = format!("/{}/data/Containers/Data/Application/", self.udid);
        let is_plain = folder.is_absolute() && !folder.components().any(|part| part == std::path::Component::ParentDir);
        let (_, container) = folder.to_str()?.rsplit_once(&inside)?;
        let is_container = !container.is_empty() && !container.contains('/');
        (is_plain && is_container).then_some(folder)
    }

    /// Starts to record the screen into a file of this Mac.
    pub async fn start_recording(&self, budget: &Budget, limit: Duration) -> Result<(), DriverError> {
        let mut recording = self.recording.lock().await;
        if recording.is_some() {
            return Err(DriverError::Refused { reason: "the screen is being recorded already".to_string() });
        }
        *recording = Some(VideoRecording::start(&self.programs, &self.udid, limit, budget).await?);
        Ok(())
    }

    pub async fn stop_recording(&self, budget: &Budget) -> Result<Attachment, DriverError> {
        let recording = self.recording.lock().await.take();
        let refused = || DriverError::Refused { reason: "the screen is not being recorded".to_string() };
        recording.ok_or_else(refused)?.finish(budget).await
    }

    /// The name of an app's process: that of its bundle on disk.
    pub async fn process_name(&self, budget: &Budget, app: &str) -> Option<String> {
        let printed = self.programs.simctl(budget, &["get_app_container", &self.udid, app, "app"]).await.ok()?;
        let stem = Path::new(printed.trim()).file_stem()?.to_str()?.to_string();
        let is_plain = |name: &str| !name.is_empty() && !name.contains(['"', '\\', '\n']);
        Some(stem).filter(|stem| is_plain(stem))
    }

    /// The home folder of the user who runs the simulator.
    pub fn home(&self) -> Option<&Path> {
        self.programs.home.as_deref()
    }

    async fn run(&self, budget: &Budget, arguments: &[&str]) -> Result<(), DriverError> {
        self.programs.simctl(budget, arguments).await.map(drop)
    }
}

fn empty(folder: &Path) -> std::io::Result<()> {
    for entry in std::fs::read_dir(folder)? {
        let entry = entry?;
        // A link is removed, not what it leads to.
        match entry.file_type()?.is_dir() {
            true => std::fs::remove_dir_all(entry.path())?,
            false => std::fs::remove_file(entry.path())?,
        }
    }
    Ok(())
}

/// Permissions by the names that simctl has for them, and by those that others have.
const SERVICES: [(&str, &[&str]); 14] = [
    ("all", &[]),
    ("calendar", &[]),
    ("camera", &[]),
    ("contacts", &["addressbook"]),
    ("contacts-limited", &[]),
    ("location", &["location-inuse"]),
    ("location-always", &[]),
    ("photos", &["photo", "medialibrary"]),
    ("photos-add", &[]),
    ("media-library", &["music"]),
    ("microphone", &["mic", "record_audio"]),
    ("motion", &[]),
    ("reminders", &[]),
    ("siri", &[]),
];

fn service(permission: &str) -> Result<&'static str, DriverError> {
    let wanted = permission.to_ascii_lowercase();
    let found = SERVICES.iter().find(|(name, others)| *name == wanted || others.contains(&wanted.as_str()));
    found.map(|(name, _)| *name).ok_or_else(|| {
        let known: Vec<&str> = SERVICES.iter().map(|(name, _)| *name).collect();
        let reason = format!("a simulator has no permission `{permission}`; it has: {}", known.join(", "));
        DriverError::Refused { reason }
    })
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;
    use std::sync::Arc;

    use trailblaze_supervise::Supervisor;

    use super::*;
    use crate::provider::Machine;

    const UDID: &str = "F0A1B2C3-0000-4000-8000-000000000001";

    #[test]
    fn only_the_data_of_an_app_of_this_simulator_is_deleted() {
        let machine = Machine::new(Supervisor::new(), Arc::new(HashMap::new()));
        let simulator = Simulator::new(XcodePrograms::find(&machine), UDID.to_string());
        let root = "/Users/ada/Library/Developer/CoreSimulator/Devices";
        let inside = format!("{root}/{UDID}/data/Containers/Data/Application");
        let own = format!("{inside}/0F\n");
        assert_eq!(simulator.data_folder(&own), Some(PathBuf::from(own.trim())));
        for other in [
            "",
            "/\n",
            "relative/F0A1B2C3-0000-4000-8000-000000000001/data/Containers/Data/Application/0F",
            &inside,
            &format!("{inside}/"),
            &format!("{inside}/0F/Documents"),
            &format!("{inside}/.."),
            &inside.replace("0001", "0002"),
        ] {
            assert_eq!(simulator.data_folder(other), None, "{other}");
        }
    }

    #[test]
    fn permissions_have_the_names_of_simctl() {
        assert_eq!(service("CAMERA"), Ok("camera"));
        assert_eq!(service("RECORD_AUDIO"), Ok("microphone"));
        let error = service("root").expect_err("there is none").to_string();
        assert!(error.contains("no permission `root`") && error.contains("photos-add, media-library"), "{error}");
    }
}
