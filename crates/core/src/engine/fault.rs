//! Faults: reasons why a call could not be carried out, as opposed to a tool that ran and failed.

use trailblaze_protocol::event::CallResult;
use trailblaze_protocol::exit::Exit;
use trailblaze_protocol::outcome::{Outcome, Variant};

use crate::driver::DriverError;
use crate::engine::registry::MissingTool;
use crate::engine::source::SourceError;
use crate::schema::InvalidArguments;
use crate::template::Uncoercible;
use crate::values::secret::Secrets;
use crate::yaml::Problem;

/// Why a call could not be carried out.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum Fault {
    #[error("{}{missing}", at(place))]
    UnknownTool { missing: MissingTool, place: Option<String> },
    #[error("{}`{tool}`: {invalid}", at(place))]
    BadArguments { tool: String, invalid: InvalidArguments, place: Option<String> },
    #[error("{}", list(.0))]
    BadFile(Vec<Problem>),
    #[error("`{tool}`: {message}")]
    BadTemplate { tool: String, message: String },
    #[error("the device was lost: {evidence}")]
    DeviceLost { evidence: String },
    #[error("the device did not start: {evidence}")]
    DeviceNotStarted { evidence: String },
    #[error("the device did not answer in time: {what}")]
    DeviceSilent { what: String },
    #[error(transparent)]
    Source(#[from] SourceError),
    /// A language model was needed and did not answer.
    #[error("{message}")]
    Model { message: String, exit: Exit },
    #[error("cancelled")]
    Cancelled,
    #[error("this is a bug in Trailblaze: `{tool}` panicked: {message}")]
    Bug { tool: String, message: String },
}

fn at(place: &Option<String>) -> String {
    place.as_ref().map(|place| format!("{place}: ")).unwrap_or_default()
}

fn list(problems: &[Problem]) -> String {
    problems.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n")
}

impl Fault {
    /// How severe the fault is for the run.
    pub fn exit(&self) -> Exit {
        match self {
            Fault::UnknownTool { .. } | Fault::BadArguments { .. } | Fault::BadFile(_) | Fault::BadTemplate { .. } => {
                Exit::Invalid
            }
            Fault::DeviceLost { .. }
            | Fault::DeviceNotStarted { .. }
            | Fault::DeviceSilent { .. }
            | Fault::Source(_)
            | Fault::Cancelled => Exit::Environment,
            Fault::Model { exit, .. } => *exit,
            Fault::Bug { .. } => Exit::Bug,
        }
    }

    /// The same at a place in a file, unless it has one already.
    pub fn placed(mut self, at: Option<&str>) -> Fault {
        if let Fault::UnknownTool { place, .. } | Fault::BadArguments { place, .. } = &mut self {
            *place = place.take().or_else(|| at.map(str::to_string));
        }
        self
    }

    /// Redacts secrets in texts that come from devices and servers.
    pub fn redacted(self, secrets: &Secrets) -> Fault {
        let redact = |text: String| secrets.redact(&text).into_owned();
        match self {
            Fault::DeviceLost { evidence } => Fault::DeviceLost { evidence: redact(evidence) },
            Fault::DeviceNotStarted { evidence } => Fault::DeviceNotStarted { evidence: redact(evidence) },
            Fault::DeviceSilent { what } => Fault::DeviceSilent { what: redact(what) },
            Fault::Source(SourceError::NotStarted { source_name, evidence }) => {
                SourceError::NotStarted { source_name, evidence: redact(evidence) }.into()
            }
            Fault::Source(SourceError::NotListed { source_name, evidence }) => {
                SourceError::NotListed { source_name, evidence: redact(evidence) }.into()
            }
            Fault::Source(SourceError::Died { source_name, evidence }) => {
                SourceError::Died { source_name, evidence: redact(evidence) }.into()
            }
            Fault::Source(SourceError::NotAnswered { source_name, evidence }) => {
                SourceError::NotAnswered { source_name, evidence: redact(evidence) }.into()
            }
            Fault::Bug { tool, message } => Fault::Bug { tool, message: redact(message) },
            Fault::Model { message, exit } => Fault::Model { message: redact(message), exit },
            // Callers from outside may write a secret out where a placeholder belongs.
            Fault::UnknownTool { mut missing, place } => {
                missing.message = redact(missing.message);
                missing.hint = missing.hint.map(redact);
                Fault::UnknownTool { missing, place }
            }
            Fault::BadArguments { tool, mut invalid, place } => {
                let all = [&mut invalid.missing, &mut invalid.unknown, &mut invalid.wrong];
                all.into_iter().flatten().for_each(|text| secrets.redact_in_place(text));
                Fault::BadArguments { tool, invalid, place }
            }
            Fault::BadTemplate { tool, message } => Fault::BadTemplate { tool, message: redact(message) },
            // Problems show the text of the trail, which the user wrote and can read.
            other @ (Fault::BadFile(_) | Fault::Cancelled) => other,
        }
    }
}

impl From<&Fault> for CallResult {
    fn from(fault: &Fault) -> CallResult {
        CallResult::Fault { exit: fault.exit(), message: fault.to_string() }
    }
}

/// Ends a tool early, with a failed outcome or with a fault. Tools return it with `?`.
#[derive(Debug, Clone, PartialEq)]
pub enum Stop {
    Failed(Box<Outcome>),
    Fault(Box<Fault>),
}

impl Stop {
    pub fn failed(text: impl Into<String>) -> Stop {
        Stop::Failed(Box::new(Outcome::failed(text)))
    }

    pub fn error(variant: Variant, text: impl Into<String>) -> Stop {
        Stop::Failed(Box::new(Outcome::error(variant, text)))
    }
}

impl From<Fault> for Stop {
    fn from(fault: Fault) -> Stop {
        Stop::Fault(Box::new(fault))
    }
}

impl From<Uncoercible> for Stop {
    fn from(error: Uncoercible) -> Stop {
        Stop::failed(error.to_string())
    }
}

impl From<SourceError> for Stop {
    fn from(error: SourceError) -> Stop {
        Stop::from(Fault::from(error))
    }
}

impl From<DriverError> for Stop {
    fn from(error: DriverError) -> Stop {
        match error {
            DriverError::Lost { evidence } => Fault::DeviceLost { evidence }.into(),
            DriverError::NotStarted { evidence } => Fault::DeviceNotStarted { evidence }.into(),
            DriverError::TimedOut { what } => Fault::DeviceSilent { what }.into(),
            DriverError::Cancelled => Fault::Cancelled.into(),
            DriverError::Unsupported { .. } => Stop::error(Variant::Unsupported, error.to_string()),
            DriverError::Evaded { .. } => Stop::failed(error.to_string()),
            DriverError::Refused { reason } => Stop::failed(reason),
        }
    }
}
