//! What a check needs to be complete: an assertion that proves it, or one of which a model judges that it does.

use serde_json::{Map, Value};
use trailblaze_protocol::event::{Level, StepKind, ToolKind};

use super::judgement::{Judgement, judge};
use super::offer::{COMPLETES, STATUS};
use super::proof::{Held, Proof};
use super::view::ModelView;
use super::{StepAgent, prompt, shown, unanswered};
use crate::callers::step_result::StepResult;
use crate::model::{ContentPart, RequestedCall};

/// What the assertions of a check have shown so far.
#[derive(Default)]
pub struct Evidence {
    pub is_proof: bool,
    /// Assertions that held, of which it is doubtful whether they prove the check.
    doubtful: Vec<String>,
    /// Why the last assertion was not accepted as a proof.
    why_not: Option<String>,
    /// Whether the model was told that its assertions are doubtful.
    pub is_told: bool,
}

impl StepAgent<'_> {
    /// Whether the model may call the completion of the step: a check needs an assertion that proves it.
    pub fn is_accepted(&mut self) -> bool {
        let is_accepted = self.task.kind != StepKind::Verify || self.evidence.is_proof;
        if !is_accepted {
            self.n_calls += 1;
            let why = self.evidence.why_not.as_ref().map(|why| format!("; {why}")).unwrap_or_default();
            let mut text = format!("not accepted: a check passes only by an assertion about the app that holds{why}");
            if !self.evidence.doubtful.is_empty() {
                self.evidence.is_told = true;
                text.push_str(&format!(
                    ". Assert what the check names. If the app words it differently, call {STATUS} with COMPLETED and explain why \
                     your assertion proves it"
                ));
            }
            self.log.push(format!("{}. {COMPLETES} → {text}", self.n_calls));
        }
        is_accepted
    }

    /// Weighs a call that succeeded in a check.
    pub fn weigh(&mut self, call: &RequestedCall, args: &Map<String, Value>, view: &ModelView) {
        let Some(tool) = self.registry.get(&call.name).filter(|tool| tool.kind == ToolKind::Assertion) else { return };
        let element = args.get("ref").and_then(Value::as_str).and_then(|reference| view.line(reference));
        let held = Held { tool: &call.name, is_custom: tool.is_custom(), args, element };
        let proof = {
            let memory = self.cx.attempt.memory();
            held.proof_of(self.task.text, |name| memory.has(name))
        };
        match proof {
            Proof::Proved => self.evidence.is_proof = true,
            Proof::Doubtful(why) => {
                let element = element.map(|line| format!(" ({line})")).unwrap_or_default();
                self.evidence.doubtful.push(prompt::cut(&format!("{}{element}", shown(call)), 1_000));
                self.evidence.why_not = Some(why);
            }
            Proof::Nothing(why) => self.evidence.why_not = Some(why),
        }
    }

    /// Lets the model judge, apart from everything else that it was told, whether assertions that held prove the check.
    pub async fn is_judged_proof(&mut self, explanation: &str, view: &ModelView) -> Result<bool, StepResult> {
        let nonce = &self.access.settings.nonce;
        let doubtful = self.evidence.doubtful.join("\n");
        let text = format!(
            "Statement: {}\nAssertions that held:\n<app {nonce}>\n{}\nExplanation: {}\nScreen:\n{}\n</app {nonce}>",
            self.task.text.trim(),
            prompt::fenced(&doubtful, nonce),
            prompt::fenced(&prompt::cut(explanation, 1_000), nonce),
            prompt::fenced(&prompt::cut(&view.text, prompt::SCREEN), nonce),
        );
        let judged =
            judge(self.cx, &prompt::judging_proof(nonce), vec![ContentPart::Text(text)]).await.map_err(unanswered)?;
        Ok(match judged {
            Judgement::Given { holds: true, reason } => {
                let asserted = doubtful.lines().next().unwrap_or_default();
                let text = format!(
                    "the check \"{}\" was proved by {asserted}, which does not name it; a model judged that it does: {}",
                    self.task.text.trim(),
                    prompt::cut(reason.trim(), 300)
                );
                self.cx.note(Level::Warning, text);
                true
            }
            Judgement::Given { reason, .. } => {
                self.evidence.why_not = Some(prompt::cut(reason.trim(), 300));
                false
            }
            Judgement::None(_) => false,
        })
    }
}
