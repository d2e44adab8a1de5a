//! Redacts events before they are recorded: every field that can contain text from outside, and no other. Ids and the
//! names of the format itself are never changed, even if a secret has the same text.

use std::sync::Arc;

use trailblaze_protocol::event::{CallResult, Called, Event, Failure, Plan};
use trailblaze_protocol::heal::{ElementIdentity, HealSuggestion};
use trailblaze_protocol::outcome::{Attachment, MemoryChanges, Outcome, Variant};

use crate::values::secret::Secrets;

impl Secrets {
    pub fn redact_event(&self, event: &mut Event) {
        if self.is_empty() {
            return;
        }
        let text = |text: &mut String| self.redact_in_place(text);
        match event {
            Event::RunStarted { command, project, .. } => {
                command.iter_mut().for_each(text);
                text(project);
            }
            Event::SessionOpened { target, .. } => target.iter_mut().for_each(text),
            Event::AttemptStarted { trail, .. } | Event::NotRun { trail, .. } => {
                text(&mut trail.id);
                text(&mut trail.title);
                text(&mut trail.path);
                trail.tags.iter_mut().for_each(text);
            }
            Event::StepStarted { text: words, plan, heading, .. } => {
                text(words);
                if let Some(heading) = heading {
                    text(&mut heading.text);
                    heading.file.iter_mut().for_each(text);
                }
                if let Plan::Recording { classifier } = plan {
                    text(classifier);
                }
            }
            Event::Called(called) => self.redact_called(Arc::make_mut(called)),
            Event::Touched { what, element, .. } => {
                text(what);
                element.iter_mut().for_each(|element| self.redact_identity(element));
            }
            Event::HealSought(sought) => {
                self.redact_value(&mut sought.written);
                text(&mut sought.message);
                sought.suggestions.iter_mut().for_each(|suggestion| self.redact_suggestion(suggestion));
            }
            Event::HealTried(tried) => text(&mut tried.message),
            // Hashes of a screen from which secrets were removed.
            Event::EndState { .. } => {}
            Event::Waited { what, saw, .. } => {
                text(what);
                text(saw);
            }
            // Files are named by a hash of their content.
            Event::Pictured(_) => {}
            Event::Noted { text: words, .. } => text(words),
            Event::Device { happened, .. } => happened.texts_mut().into_iter().for_each(text),
            Event::Answered { answer, .. } => match answer {
                CallResult::Outcome(outcome) => self.redact_outcome(outcome),
                CallResult::Fault { message, .. } => text(message),
            },
            Event::StepEnded { message, .. } | Event::SessionClosed { message, .. } => text(message),
            Event::AttemptEnded { message, failure, .. } => {
                text(message);
                failure.iter_mut().for_each(|failure| self.redact_failure(failure));
            }
            Event::Attached { attachment, .. } => text(&mut attachment.name),
            Event::ServerStarted { server, protocol, .. } => {
                text(server);
                text(protocol);
            }
            Event::ServerEnded { server, message, .. } => {
                text(server);
                text(message);
            }
            Event::ModelAsked(asked) => {
                text(&mut asked.model);
                asked.messages.iter_mut().for_each(text);
            }
            Event::ModelReplied(replied) => {
                text(&mut replied.text);
                replied.calls.iter_mut().for_each(|call| self.redact_value(call));
                replied.problem.iter_mut().for_each(text);
            }
            Event::StepsEdited { steps, .. } => {
                for step in steps {
                    text(&mut step.text);
                    step.calls.iter_mut().for_each(|call| self.redact_value(call));
                }
            }
            Event::Undone { .. } | Event::RunEnded { .. } => {}
        }
    }

    pub fn redact_outcome(&self, outcome: &mut Outcome) {
        if self.is_empty() {
            return;
        }
        self.redact_in_place(&mut outcome.text);
        outcome.structured.iter_mut().for_each(|value| self.redact_value(value));
        if let Variant::MissingRequiredArgs { missing } = &mut outcome.variant {
            missing.iter_mut().for_each(|name| self.redact_in_place(name));
        }
        outcome.attachments.iter_mut().for_each(|attachment| self.redact_attachment(attachment));
        self.redact_requests(outcome);
    }

    pub fn redact_attachment(&self, attachment: &mut Attachment) {
        self.redact_in_place(&mut attachment.name);
        self.redact_in_place(&mut attachment.mime);
        if let Some(redacted) = self.redact_bytes(&attachment.bytes) {
            attachment.bytes = redacted.into();
        }
    }

    /// Redacts what an outcome requests: delegates and memory changes.
    pub fn redact_requests(&self, outcome: &mut Outcome) {
        for delegate in &mut outcome.delegates {
            self.redact_in_place(&mut delegate.tool);
            self.redact_map(&mut delegate.args);
        }
        let MemoryChanges { set, deleted } = &mut outcome.memory;
        self.redact_map(set);
        deleted.iter_mut().for_each(|name| self.redact_in_place(name));
    }

    fn redact_called(&self, called: &mut Called) {
        self.redact_map(Arc::make_mut(&mut called.args));
        self.redact_in_place(&mut called.tool);
    }

    fn redact_failure(&self, failure: &mut Failure) {
        self.redact_in_place(&mut failure.message);
        let facts = [&mut failure.tool, &mut failure.expected, &mut failure.saw];
        facts.into_iter().flatten().for_each(|text| self.redact_in_place(text));
        failure.excerpt.iter_mut().for_each(|excerpt| self.redact_in_place(&mut excerpt.text));
        failure.just_before.iter_mut().for_each(|text| self.redact_in_place(text));
        failure.suggestions.iter_mut().for_each(|suggestion| self.redact_suggestion(suggestion));
        failure.parts.iter_mut().for_each(|part| self.redact_failure(part));
    }

    fn redact_suggestion(&self, suggestion: &mut HealSuggestion) {
        self.redact_value(&mut suggestion.call);
        self.redact_in_place(&mut suggestion.element);
        self.redact_in_place(&mut suggestion.reason);
        self.redact_identity(&mut suggestion.identity);
    }

    fn redact_identity(&self, identity: &mut ElementIdentity) {
        let ElementIdentity { kind: _, role, id, name, alike: _, about, frame, item, within, near, others } = identity;
        let own = [role, id, name, frame, item].into_iter().flatten();
        let around = within.iter_mut().chain(near).chain(others).chain(about.iter_mut().flatten().flatten());
        own.chain(around).for_each(|text| self.redact_in_place(text));
    }
}

#[cfg(test)]
mod tests {
    use trailblaze_protocol::event::Verdict;
    use trailblaze_protocol::ids::StepId;

    use super::*;

    #[test]
    fn a_file_that_comes_with_an_answer_is_redacted_and_keeps_its_length_where_it_is_no_text() {
        let secrets = Secrets::new([("PIN".to_string(), "4711".to_string())]);
        let file = |bytes: &[u8]| Attachment {
            name: "text-2".into(),
            mime: "text/plain".into(),
            file: None,
            bytes: bytes.into(),
        };
        let mut outcome =
            Outcome { attachments: vec![file(b"the pin is 4711"), file(b"\xff4711")], ..Outcome::default() };
        secrets.redact_outcome(&mut outcome);
        let [text, picture] = outcome.attachments.as_slice() else { panic!("two files: {outcome:?}") };
        assert_eq!((&*text.bytes, &*picture.bytes), (&b"the pin is {{PIN}}"[..], &b"\xff****"[..]));
    }

    #[test]
    fn a_secret_that_is_a_word_of_the_format_does_not_break_it() {
        let secrets = Secrets::new([("WORD".to_string(), "passed".to_string())]);
        let mut event = Event::StepEnded {
            step: StepId::new("passed/1"),
            verdict: Verdict::Passed,
            message: "it passed".into(),
            choice: None,
        };
        secrets.redact_event(&mut event);
        let expected = Event::StepEnded {
            step: StepId::new("passed/1"),
            verdict: Verdict::Passed,
            message: "it {{WORD}}".into(),
            choice: None,
        };
        assert_eq!(event, expected);
    }
}
