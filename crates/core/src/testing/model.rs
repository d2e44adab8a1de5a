//! A model that replies what it is told to.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use parking_lot::Mutex;
use serde_json::Value;

use crate::driver::Budget;
use crate::engine::ask::{Allowance, ModelAccess, ModelSettings, Spending, Vision};
use crate::model::{
    Model, ModelError, ModelErrorKind, ModelInfo, ModelReply, ModelRequest, RequestedArguments, RequestedCall,
};

/// Replies in order, and keeps the requests.
pub struct FakeModel {
    info: ModelInfo,
    replies: Mutex<VecDeque<Result<ModelReply, ModelError>>>,
    requests: Mutex<Vec<ModelRequest>>,
}

impl FakeModel {
    pub fn new(replies: impl IntoIterator<Item = Result<ModelReply, ModelError>>) -> Arc<FakeModel> {
        let info = ModelInfo { id: "fake/model".to_string(), has_vision: true, ..ModelInfo::default() };
        Arc::new(FakeModel { info, replies: Mutex::new(replies.into_iter().collect()), requests: Mutex::default() })
    }

    pub fn requests(&self) -> Vec<ModelRequest> {
        self.requests.lock().clone()
    }

    /// Access to this model with generous limits.
    pub fn access(self: &Arc<Self>) -> Arc<ModelAccess> {
        let (per_step, per_run) =
            (Allowance { time: Some(Duration::from_secs(600)), ..Allowance::default() }, Allowance::default());
        let settings = ModelSettings { vision: Vision::Auto, per_step, per_run, nonce: "nonce".to_string() };
        Arc::new(ModelAccess { model: Arc::<FakeModel>::clone(self), spent: Arc::<Spending>::default(), settings })
    }
}

/// A reply that makes these calls, each a tool and its arguments.
pub fn calls(calls: impl IntoIterator<Item = (&'static str, Value)>) -> ModelReply {
    let calls = calls.into_iter().enumerate().map(|(number, (name, args))| RequestedCall {
        id: format!("call-{number}"),
        name: name.to_string(),
        arguments: RequestedArguments::Object(super::args(args)),
    });
    ModelReply { calls: calls.collect(), ..ModelReply::default() }
}

#[async_trait]
impl Model for FakeModel {
    fn describe(&self) -> &ModelInfo {
        &self.info
    }

    async fn complete(&self, _budget: &Budget, request: &ModelRequest) -> Result<ModelReply, ModelError> {
        self.requests.lock().push(request.clone());
        let reply = self.replies.lock().pop_front();
        reply.unwrap_or_else(|| {
            let message = "the fake model has no more replies".to_string();
            Err(ModelError { kind: ModelErrorKind::Unscripted, message, hint: None })
        })
    }
}
