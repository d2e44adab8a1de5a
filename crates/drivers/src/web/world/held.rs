//! Answers the requests that are held, as the rules and HAR files of the trail say.

use std::sync::Arc;

use trailblaze_core::driver::{AbortReason, MissingInHar, cut};

use super::super::backend::{Backend, BackendError};
use super::super::backend_world::{CredentialsQuestion, HeldRequest, RequestAnswer, Routing};
use super::PageWorld;
use super::har::HarAnswer;
use super::rules::{ReadyChange, ReadyResponse, RequestEnd, RuleDecision, decide};

/// The longest address in a remark.
const ADDRESS: usize = 300;

impl PageWorld {
    /// Answers a request, after a while if a rule says so.
    pub async fn answer_held(&self, backend: Arc<dyn Backend>, request: HeldRequest) {
        let Some(routing) = backend.routing() else { return };
        // A request that is gone needs no answer.
        let _ = match request.response.is_some() {
            true => self.answer_response(routing, &request).await,
            false => self.answer_request(routing, &request).await,
        };
    }

    async fn answer_request(&self, routing: &dyn Routing, request: &HeldRequest) -> Result<(), BackendError> {
        let RuleDecision { delay, end } = self.decide(request);
        if !delay.is_zero() {
            self.note(request, "delayed");
            tokio::time::sleep(delay).await;
        }
        let answer = match end {
            None => RequestAnswer::Continue { holds_response: false },
            Some(RequestEnd::Respond(ReadyResponse { status, headers, body })) => {
                RequestAnswer::Respond { status, headers, body }
            }
            Some(RequestEnd::Fail(reason)) => RequestAnswer::Fail(reason),
            Some(RequestEnd::Change(change)) => {
                self.state.lock().changing.push((request.traffic.clone(), change));
                RequestAnswer::Continue { holds_response: true }
            }
        };
        routing.answer(&request.id, answer).await
    }

    fn decide(&self, request: &HeldRequest) -> RuleDecision {
        let (mut decision, said) = {
            let mut state = self.state.lock();
            let decision = decide(&mut state.rules, request);
            let said = match &decision.end {
                Some(RequestEnd::Respond(response)) => Some(format!("mocked with {}", response.status)),
                Some(RequestEnd::Fail(reason)) => Some(format!("aborted ({})", reason.name())),
                Some(RequestEnd::Change(_)) => Some("changed".to_string()),
                None => None,
            };
            (decision, said)
        };
        let said = said.or_else(|| {
            let (answer, file) = self.answer_from_har(request)?;
            match answer {
                HarAnswer::Respond(mut response) => {
                    response.allow(request);
                    decision.end = Some(RequestEnd::Respond(response));
                    Some(format!("answered from {file}"))
                }
                HarAnswer::Failed => {
                    decision.end = Some(RequestEnd::Fail(AbortReason::Failed));
                    Some(format!("aborted, as in {file}"))
                }
                HarAnswer::Missing(MissingInHar::Abort) => {
                    decision.end = Some(RequestEnd::Fail(AbortReason::Blocked));
                    Some(format!("aborted, because {file} has no answer"))
                }
                HarAnswer::Missing(MissingInHar::Continue) => None,
            }
        });
        if let Some(said) = said {
            self.note(request, &said);
        }
        decision
    }

    /// The answer of the newest HAR file that is for the request, and the name of the file.
    fn answer_from_har(&self, request: &HeldRequest) -> Option<(HarAnswer, String)> {
        let mut state = self.state.lock();
        let replay = state.replays.iter_mut().rev().find(|replay| replay.is_for(&request.url))?;
        Some((replay.answer(request), replay.name()))
    }

    async fn answer_response(&self, routing: &dyn Routing, request: &HeldRequest) -> Result<(), BackendError> {
        let change = {
            let mut state = self.state.lock();
            let at = state.changing.iter().position(|(of, _)| *of == request.traffic);
            at.map(|at| state.changing.remove(at).1)
        };
        let go_on = RequestAnswer::Continue { holds_response: false };
        let (Some(change), Some(head)) = (change, &request.response) else {
            return routing.answer(&request.id, go_on).await;
        };
        match self.changed(routing, request, &change).await.and_then(|body| change.apply(head, body)) {
            Ok(ReadyResponse { status, headers, body }) => {
                routing.answer(&request.id, RequestAnswer::Respond { status, headers, body }).await
            }
            Err(why) => {
                self.note(request, &format!("not changed: {why}"));
                routing.answer(&request.id, go_on).await
            }
        }
    }

    /// The body that is to be changed.
    async fn changed(
        &self,
        routing: &dyn Routing,
        held: &HeldRequest,
        change: &ReadyChange,
    ) -> Result<Vec<u8>, String> {
        match change.needs_body() {
            true => routing.held_body(&held.id).await.map_err(|error| error.to_string()),
            false => Ok(Vec::new()),
        }
    }

    /// Says what happened to a request.
    fn note(&self, request: &HeldRequest, what: &str) {
        self.state.lock().exchanges.mark(&request.traffic, what.to_string());
        self.say(format!("{} {} was {what}", request.method, cut(&request.url, ADDRESS)));
    }

    /// Tells a server who is there, if the trail says so. A server that asks again did not accept it.
    pub async fn answer_question(&self, backend: Arc<dyn Backend>, question: CredentialsQuestion) {
        let Some(routing) = backend.routing() else { return };
        let CredentialsQuestion { id, origin, is_proxy } = question;
        let known = {
            let mut state = self.state.lock();
            let known = state.credentials.iter().find(|known| known.origin.eq_ignore_ascii_case(&origin) && !is_proxy);
            let known = known.cloned();
            let is_again = state.answered_questions.contains(&id);
            if known.is_some() && !is_again {
                if state.answered_questions.len() == super::QUESTIONS {
                    state.answered_questions.remove(0);
                }
                state.answered_questions.push(id.clone());
            }
            known.filter(|_| !is_again)
        };
        let answer = match known {
            Some(known) => {
                self.say(format!("{origin} was told the name and the password of web_setCredentials"));
                RequestAnswer::Credentials { username: known.username, password: known.password }
            }
            None => RequestAnswer::NoCredentials,
        };
        // A request that is gone needs no answer.
        let _ = routing.answer(&id, answer).await;
    }
}
