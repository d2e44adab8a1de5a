//! The programs that a device started.

use std::collections::HashMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use parking_lot::Mutex;
use trailblaze_core::driver::DriverError;
use trailblaze_supervise::{Child, Grace, Launch, Running, Supervisor};

use super::output::ProgramOutput;
use super::programs::Programs;
use super::session::{ACCESSIBLE, AFTER_TERM, FOREIGN};

/// Starts programs, and knows those that run.
pub struct StartedApps {
    supervisor: Supervisor,
    pub programs: Programs,
    /// Variables of the session; empty for that of the user.
    variables: Vec<(OsString, OsString)>,
    /// The folder of a session of our own.
    folder: Option<PathBuf>,
    running: Mutex<HashMap<String, Arc<StartedApp>>>,
}

/// A program that was started.
pub struct StartedApp {
    pub child: Child,
    output: ProgramOutput,
}

impl StartedApp {
    /// How it ended, with the last that it printed.
    pub fn ended(&self) -> Option<String> {
        self.child.exited().map(|exit| format!("{exit}{}", self.output.quoted()))
    }
}

impl StartedApps {
    pub fn new(
        supervisor: Supervisor,
        programs: Programs,
        variables: Vec<(OsString, OsString)>,
        folder: Option<PathBuf>,
    ) -> StartedApps {
        StartedApps { supervisor, programs, variables, folder, running: Mutex::default() }
    }

    /// One that was started and has not been stopped, whether or not it still runs.
    pub fn get(&self, app: &str) -> Option<Arc<StartedApp>> {
        self.running.lock().get(app).cloned()
    }

    /// All of them, by the name under which they were started.
    pub fn all(&self) -> Vec<(String, Arc<StartedApp>)> {
        self.running.lock().iter().map(|(name, app)| (name.clone(), Arc::clone(app))).collect()
    }

    /// The one that a process belongs to.
    pub fn of_process(&self, pid: u32) -> Option<String> {
        let family: Vec<u32> = ancestors(pid);
        let running = self.running.lock();
        running.iter().find(|(_, app)| family.contains(&app.child.pid())).map(|(name, _)| name.clone())
    }

    pub async fn start(&self, app: &str) -> Result<Arc<StartedApp>, DriverError> {
        let refused = |reason: String| DriverError::Refused { reason };
        let command = self.programs.command(app).map_err(refused)?;
        let own_dir = self.folder.as_ref().map(|folder| folder.join("home"));
        let dir = command.dir.or(own_dir).unwrap_or_else(|| PathBuf::from("/"));
        let mut words = command.words.into_iter();
        let mut launch = Launch::new(words.next().unwrap_or_default(), dir);
        launch.args = words.map(OsString::from).collect();
        launch.grace = Grace { after_stdin: std::time::Duration::ZERO, after_term: AFTER_TERM };
        launch.set_env = self.variables.clone();
        match &self.folder {
            Some(_) => {
                launch.drop_env = FOREIGN.map(OsString::from).to_vec();
                launch.set_env.extend(self.data_folders(app));
            }
            None => launch.set_env.extend(ACCESSIBLE.map(|(name, text)| (name.into(), text.into()))),
        }
        let running = self.supervisor.start(launch).await;
        let running = running.map_err(|error| refused(format!("`{app}` cannot be started: {error}")))?;
        let Running { stdout, stderr, child, .. } = running;
        let started = Arc::new(StartedApp { child, output: ProgramOutput::of(stdout, stderr) });
        self.running.lock().insert(app.to_string(), Arc::clone(&started));
        Ok(started)
    }

    /// Ends a program. Returns whether it was one of ours.
    pub async fn stop(&self, app: &str) -> bool {
        let started = self.running.lock().remove(app);
        if let Some(started) = &started {
            started.child.terminate().await;
        }
        started.is_some()
    }

    pub async fn stop_all(&self) {
        let all: Vec<Arc<StartedApp>> = self.running.lock().drain().map(|(_, app)| app).collect();
        futures::future::join_all(all.iter().map(|app| app.child.terminate())).await;
    }

    /// Forgets a program that ended by itself.
    pub fn forget(&self, app: &str) {
        self.running.lock().remove(app);
    }

    /// Where a program keeps its settings and data: a folder of its own, so that they can be cleared.
    fn data_folders(&self, app: &str) -> Vec<(OsString, OsString)> {
        let Some(own) = self.data_of(app) else { return Vec::new() };
        let names = [
            ("XDG_CACHE_HOME", "cache"),
            ("XDG_CONFIG_HOME", "config"),
            ("XDG_DATA_HOME", "data"),
            ("XDG_STATE_HOME", "state"),
        ];
        names.map(|(name, folder)| (name.into(), own.join(folder).into_os_string())).to_vec()
    }

    fn data_of(&self, app: &str) -> Option<PathBuf> {
        let word = app.split_whitespace().next().unwrap_or_default();
        let name: String = word.chars().map(|sign| if sign.is_ascii_alphanumeric() { sign } else { '-' }).collect();
        Some(self.folder.as_ref()?.join("apps").join(name))
    }

    /// Removes the settings and data of a program. Only in a session of our own.
    pub fn clear(&self, app: &str) -> Result<(), DriverError> {
        let Some(data) = self.data_of(app) else {
            let reason = format!(
                "the data of `{app}` is yours and is not cleared; use `launchMode: FORCE_RESTART`, or a device with `display: xvfb`"
            );
            return Err(DriverError::Refused { reason });
        };
        match std::fs::remove_dir_all(&data) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                Err(DriverError::Refused { reason: format!("the data of `{app}` cannot be cleared: {error}") })
            }
            _ => Ok(()),
        }
    }
}

/// A process, its parent, and so on.
fn ancestors(pid: u32) -> Vec<u32> {
    const MOST: usize = 16;
    std::iter::successors(Some(pid), |pid| parent(*pid)).take(MOST).collect()
}

fn parent(pid: u32) -> Option<u32> {
    let stat = std::fs::read_to_string(Path::new("/proc").join(pid.to_string()).join("stat")).ok()?;
    // The name of the program, in parentheses, may contain anything.
    let parent = stat.rsplit_once(')')?.1.split_whitespace().nth(1)?.parse().ok()?;
    (parent > 1).then_some(parent)
}
