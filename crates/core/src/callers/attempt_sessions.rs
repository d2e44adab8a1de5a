//! The sessions that a trail runs on: one, or one for each role.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use trailblaze_protocol::ids::SessionId;

use crate::engine::session::Session;
use crate::trail::{Step, TrailDevice, TrailDevices};

/// The sessions of an attempt, by role.
pub struct AttemptSessions {
    first: RoleSession,
    others: Vec<RoleSession>,
}

/// The session of one device of an attempt.
pub struct RoleSession {
    pub device: TrailDevice,
    pub session: Arc<Session>,
    /// The app under test on this device.
    pub app_id: Option<String>,
}

impl RoleSession {
    pub fn new(role: Option<&str>, session: &Arc<Session>, app_id: Option<String>) -> RoleSession {
        let device = TrailDevice::new(role, &session.device.description().classifiers);
        RoleSession { device, session: Arc::clone(session), app_id }
    }
}

impl AttemptSessions {
    /// One device, without a role.
    pub fn one(session: &Arc<Session>) -> AttemptSessions {
        AttemptSessions { first: RoleSession::new(None, session, None), others: Vec::new() }
    }

    /// Several devices, each with its role.
    pub fn new(first: RoleSession, others: Vec<RoleSession>) -> AttemptSessions {
        AttemptSessions { first, others }
    }

    /// The session that tells how the attempt goes.
    pub fn first(&self) -> &Arc<Session> {
        &self.first.session
    }

    pub fn has_several(&self) -> bool {
        !self.others.is_empty()
    }

    pub fn iter(&self) -> impl Iterator<Item = &RoleSession> {
        std::iter::once(&self.first).chain(&self.others)
    }

    /// The session that a step is carried out in.
    pub fn of(&self, step: &Step) -> &RoleSession {
        self.iter().find(|on| on.device.carries_out(step)).unwrap_or(&self.first)
    }

    pub fn devices(&self) -> TrailDevices {
        TrailDevices(self.iter().map(|on| on.device.clone()).collect())
    }

    /// The session of each role; empty if the device has none.
    pub fn by_role(&self) -> BTreeMap<String, SessionId> {
        self.iter().filter_map(|on| Some((on.device.role.clone()?, on.session.id.clone()))).collect()
    }

    /// The same the other way round.
    pub(super) fn roles(&self) -> HashMap<SessionId, String> {
        self.by_role().into_iter().map(|(role, session)| (session, role)).collect()
    }
}
