//! The open sessions, by name. A device of a project belongs to one session at a time.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use parking_lot::Mutex;
use tokio::sync::watch;
use trailblaze_protocol::exit::Exit;

use super::live::Live;
use crate::files::slug;
use crate::output::words::count;
use crate::sessions::service::{OpenRequest, ServiceError, SessionChoice};

#[derive(Default)]
pub struct SessionTable(Mutex<Vec<SessionSlot>>);

/// A session, or one that is being opened.
#[derive(Clone)]
struct SessionSlot {
    /// Tells slots apart.
    id: u64,
    name: String,
    project: PathBuf,
    device: String,
    state: watch::Receiver<SlotState>,
}

impl SessionSlot {
    /// Whether its session ended by itself, which only a bug can do.
    fn has_ended(&self) -> bool {
        matches!(&*self.state.borrow(), SlotState::Open(live) if live.has_ended())
    }
}

#[derive(Clone)]
enum SlotState {
    Opening,
    Open(Arc<Live>),
    Failed(ServiceError),
}

/// What opening a session begins with.
pub enum Claim {
    /// It is open already.
    Existing(Arc<Live>),
    /// The device is claimed for a new session, which the caller must open.
    New(Reserved),
    /// Another session has the device.
    Taken(Arc<Live>),
}

/// A claim to a device. The claim ends if it is dropped before the session is open.
pub struct Reserved {
    id: u64,
    pub name: String,
    table: Arc<SessionTable>,
    state: watch::Sender<SlotState>,
    is_open: bool,
}

impl Reserved {
    pub fn opened(mut self, live: &Arc<Live>) {
        self.is_open = true;
        let _ = self.state.send(SlotState::Open(Arc::clone(live)));
    }

    pub fn failed(self, error: &ServiceError) {
        let _ = self.state.send(SlotState::Failed(error.clone()));
    }
}

impl Drop for Reserved {
    fn drop(&mut self) {
        if !self.is_open {
            self.table.0.lock().retain(|slot| slot.id != self.id);
        }
    }
}

impl SessionTable {
    /// Claims a device of a project for a session.
    pub async fn claim(
        self: &Arc<Self>,
        project: &Path,
        device: &str,
        request: &OpenRequest,
    ) -> Result<Claim, ServiceError> {
        loop {
            let slot = match self.reserve(project, device, request)? {
                Ok(reserved) => return Ok(Claim::New(reserved)),
                Err(slot) => slot,
            };
            // `None` means that the client that was opening it gave up, so try to claim it again.
            if let Some(live) = opened(slot).await.transpose()? {
                let is_named = request.name.as_ref().is_none_or(|name| *name == live.name);
                return Ok(if is_named { Claim::Existing(live) } else { Claim::Taken(live) });
            }
        }
    }

    /// Claims a device, or returns the slot that has it.
    fn reserve(
        self: &Arc<Self>,
        project: &Path,
        device: &str,
        request: &OpenRequest,
    ) -> Result<Result<Reserved, SessionSlot>, ServiceError> {
        let mut slots = self.0.lock();
        slots.retain(|slot| !slot.has_ended());
        let mut own = slots.iter().filter(|slot| slot.project == project);
        let by_name = request.name.as_ref().and_then(|name| own.find(|slot| slot.name == *name));
        if let Some(slot) = by_name.filter(|slot| slot.device != device) {
            let SessionSlot { name, device, .. } = slot;
            let text = format!("session `{name}` is open already, on {device}");
            let hint = format!("choose another name, or end it with `trailblaze session close {name}`");
            return Err(ServiceError::invalid(text).with_hint(hint));
        }
        let holder = slots.iter().find(|slot| slot.project == project && slot.device == device);
        match by_name.or(holder) {
            Some(slot) => Ok(Err(slot.clone())),
            None => {
                let name = request.name.clone().unwrap_or_else(|| default_name(&slots, project, device));
                let (state, receiver) = watch::channel(SlotState::Opening);
                let id = slots.iter().map(|slot| slot.id + 1).max().unwrap_or_default();
                slots.push(SessionSlot {
                    id,
                    name: name.clone(),
                    project: project.to_path_buf(),
                    device: device.to_string(),
                    state: receiver,
                });
                Ok(Ok(Reserved { id, name, table: Arc::clone(self), state, is_open: false }))
            }
        }
    }

    /// The session that a request is for.
    pub async fn find(&self, choice: &SessionChoice) -> Result<Arc<Live>, ServiceError> {
        let found: Vec<SessionSlot> = {
            let mut slots = self.0.lock();
            slots.retain(|slot| !slot.has_ended());
            let fits = |slot: &&SessionSlot| {
                choice.project.as_ref().is_none_or(|project| slot.project == *project)
                    && match &choice.name {
                        Some(name) => slot.name == *name,
                        None => choice.device.as_ref().is_none_or(|device| is_on(&slot.device, device)),
                    }
            };
            slots.iter().filter(fits).cloned().collect()
        };
        match found.as_slice() {
            [] => Err(no_session(choice)),
            [slot] => opened(slot.clone()).await.unwrap_or_else(|| Err(no_session(choice))),
            several => {
                let names: Vec<String> = several.iter().map(|slot| format!("`{}`", slot.name)).collect();
                let text = format!("{} are open: {}", count(several.len(), "session"), names.join(", "));
                Err(ServiceError::invalid(text).with_hint("name one: `--session NAME`, or TRAILBLAZE_SESSION"))
            }
        }
    }

    /// The sessions that are open.
    pub fn all(&self) -> Vec<Arc<Live>> {
        let slots = self.0.lock();
        let open = slots.iter().filter_map(|slot| match &*slot.state.borrow() {
            SlotState::Open(live) => Some(Arc::clone(live)),
            SlotState::Opening | SlotState::Failed(_) => None,
        });
        open.collect()
    }

    /// Whether nothing is open or being opened.
    pub fn is_empty(&self) -> bool {
        self.0.lock().is_empty()
    }

    pub fn remove(&self, live: &Arc<Live>) {
        let is_it =
            |slot: &SessionSlot| matches!(&*slot.state.borrow(), SlotState::Open(open) if Arc::ptr_eq(open, live));
        self.0.lock().retain(|slot| !is_it(slot));
    }

    /// The device of a session of this project.
    pub fn device_of(&self, project: &Path, name: &str) -> Option<String> {
        let slots = self.0.lock();
        let slot = slots.iter().find(|slot| slot.project == project && slot.name == name && !slot.has_ended());
        slot.map(|slot| slot.device.clone())
    }
}

/// Waits until a session is open. `None` if opening it was given up.
async fn opened(mut slot: SessionSlot) -> Option<Result<Arc<Live>, ServiceError>> {
    let state = slot.state.wait_for(|state| !matches!(state, SlotState::Opening)).await;
    match state.as_deref() {
        Ok(SlotState::Open(live)) => Some(Ok(Arc::clone(live))),
        Ok(SlotState::Failed(error)) => Some(Err(error.clone())),
        Ok(SlotState::Opening) | Err(_) => None,
    }
}

fn no_session(choice: &SessionChoice) -> ServiceError {
    let text = match choice {
        SessionChoice { name: Some(name), .. } => format!("no session is named `{name}`"),
        SessionChoice { device: Some(device), .. } => format!("no session is open on {device}"),
        _ => "no session is open".to_string(),
    };
    let hint = "`trailblaze session list` lists the sessions; `trailblaze device connect` opens one".to_string();
    ServiceError { message: text, hint: Some(hint), exit: Exit::Invalid, is_no_session: true }
}

/// `wallet-android-sim-1`, with a number if another project has the name.
/// Whether a device is the one that is meant, or one of the platform that is.
fn is_on(device: &str, wanted: &str) -> bool {
    device == wanted || device.strip_prefix(wanted).is_some_and(|name| name.starts_with('/'))
}

fn default_name(slots: &[SessionSlot], project: &Path, device: &str) -> String {
    let folder = project.file_name().and_then(|name| name.to_str()).unwrap_or("project");
    let name = slug(&format!("{folder}-{device}"));
    let numbered = (2..).map(|number| format!("{name}-{number}"));
    let is_free = |name: &String| slots.iter().all(|slot| slot.name != *name);
    std::iter::once(name.clone()).chain(numbered).find(is_free).unwrap_or(name)
}
