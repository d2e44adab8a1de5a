//! Removes the last step or call from the steps of a session.

use serde_json::json;
use trailblaze_protocol::event::Event;
use trailblaze_protocol::ids::{Parent, StepId};

use super::edit;
use super::keep::{self, EXPLORE};
use super::{CommandReply, Interactive, done, refused};

impl Interactive {
    /// Removes the last step with all of its calls.
    pub(super) fn undo_step(&mut self) -> CommandReply {
        let recorded = self.sink.recording(&self.attempt.id);
        let Some(last) = recorded.iter().rev().find(|step| !keep::is_empty(step)) else {
            return refused("there is nothing to undo");
        };
        let (index, text) = (last.index, last.text.clone());
        if last.is_edited {
            let rest: Vec<_> = recorded.iter().filter(|step| *step != last).map(edit::as_edited).collect();
            self.replace_steps(rest);
            return done(format!("undid step \"{text}\"; the device is not changed"), json!({"undone": text}));
        }
        let id = StepId::new(format!("{}/{index}.1", self.attempt.id));
        if self.step.as_ref().is_some_and(|step| step.id == id) {
            self.end_step();
        }
        self.session.emit(Event::Undone { attempt: self.attempt.id.clone(), what: Parent::Step(id) });
        done(format!("undid step \"{text}\"; the device is not changed"), json!({"undone": text}))
    }

    /// Removes the last call that would be saved from the steps, or the last step if it has none.
    pub(super) fn undo(&mut self) -> CommandReply {
        loop {
            let Some((what, about)) = self.sink.last_recorded(&self.attempt.id) else {
                return refused("there is nothing to undo");
            };
            self.session.emit(Event::Undone { attempt: self.attempt.id.clone(), what: what.clone() });
            if matches!(&what, Parent::Step(id) if self.step.as_ref().is_some_and(|step| step.id == *id)) {
                self.end_step();
            }
            match what {
                Parent::Call(_) => {
                    let text = format!("undid {about}; the device is not changed");
                    return done(text, json!({"undone": about}));
                }
                // The step was begun implicitly.
                Parent::Step(_) if about == EXPLORE => {}
                Parent::Step(_) => return done(format!("undid step \"{about}\""), json!({"undone": about})),
            }
        }
    }
}
