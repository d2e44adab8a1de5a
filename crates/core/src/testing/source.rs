//! A fake tool source whose tools are closures.

use std::sync::{Arc, Weak};
use std::time::Duration;

use async_trait::async_trait;
use futures::FutureExt;
use futures::future::BoxFuture;
use serde_json::{Map, Value, json};
use trailblaze_protocol::outcome::{Delegate, Outcome};

use crate::engine::cx::Cx;
use crate::engine::registry::Batch;
use crate::engine::source::{Listing, SourceError, ToolSource};
use crate::engine::tool::{Body, Contributor, Tool};
use crate::names::ToolOrigin;
use crate::schema::Schema;

pub struct FakeSource {
    name: String,
    origin: ToolOrigin,
    entries: Vec<FakeEntry>,
    may_sample: bool,
    call_idle: Option<Duration>,
    secrets: Vec<String>,
    me: Weak<FakeSource>,
}

type Handler = Box<dyn Fn(Cx, Map<String, Value>) -> BoxFuture<'static, Result<Outcome, SourceError>> + Send + Sync>;

struct FakeEntry {
    name: String,
    schema: Value,
    mark: fn(&mut Tool),
    handler: Handler,
}

impl FakeSource {
    /// A server of `trailblaze.yaml`.
    pub fn new(name: &str) -> FakeSource {
        FakeSource::from(name, ToolOrigin::ProjectServer)
    }

    pub fn from(name: &str, origin: ToolOrigin) -> FakeSource {
        FakeSource {
            name: name.to_string(),
            origin,
            entries: Vec::new(),
            may_sample: false,
            call_idle: None,
            secrets: Vec::new(),
            me: Weak::new(),
        }
    }

    /// Lets its tools ask a model.
    pub fn sampling(self) -> FakeSource {
        FakeSource { may_sample: true, ..self }
    }

    /// Lets it have the value of a secret.
    pub fn listing_secret(mut self, name: &str) -> FakeSource {
        self.secrets.push(name.to_string());
        self
    }

    /// How long its calls may be silent.
    pub fn idle(self, call_idle: Duration) -> FakeSource {
        FakeSource { call_idle: Some(call_idle), ..self }
    }

    /// Adds a tool. It accepts any arguments, unless [`taking`](FakeSource::taking) sets a schema.
    pub fn tool<F, R>(mut self, name: &str, handler: F) -> FakeSource
    where
        F: Fn(Cx, Map<String, Value>) -> R + Send + Sync + 'static,
        R: Future<Output = Outcome> + Send + 'static,
    {
        let handler: Handler = Box::new(move |cx, args| handler(cx, args).map(Ok).boxed());
        self.entries.push(FakeEntry { name: name.into(), schema: json!({"type": "object"}), mark: |_| {}, handler });
        self
    }

    pub fn answering(self, name: &str, outcome: Outcome) -> FakeSource {
        self.tool(name, move |_, _| std::future::ready(outcome.clone()))
    }

    /// Adds a tool that returns delegates.
    pub fn delegating(self, name: &str, delegates: &[(&str, Value)]) -> FakeSource {
        let delegates =
            delegates.iter().map(|(tool, args)| Delegate { tool: tool.to_string(), args: super::args(args.clone()) });
        self.answering(name, Outcome::delegating(delegates.collect()))
    }

    /// Adds a tool that calls another one and returns its outcome.
    pub fn calling(self, name: &str, tool: &'static str, args: Value) -> FakeSource {
        self.tool(name, move |cx, _| {
            let args = super::args(args.clone());
            async move { cx.call(tool, args).await.unwrap_or_else(|fault| Outcome::failed(fault.to_string())) }
        })
    }

    pub fn hanging(self, name: &str) -> FakeSource {
        self.tool(name, |_, _| std::future::pending())
    }

    pub fn panicking(self, name: &str, message: &'static str) -> FakeSource {
        self.tool(name, move |_, _| async move { panic!("{message}") })
    }

    /// Adds a tool whose call kills the source.
    pub fn dying(mut self, name: &str, evidence: &str) -> FakeSource {
        let error = SourceError::Died { source_name: self.name.clone(), evidence: evidence.to_string() };
        let handler: Handler = Box::new(move |_, _| std::future::ready(Err(error.clone())).boxed());
        self.entries.push(FakeEntry { name: name.into(), schema: json!({"type": "object"}), mark: |_| {}, handler });
        self
    }

    /// Sets the schema of the tool that was added last.
    pub fn taking(mut self, schema: Value) -> FakeSource {
        self.last().schema = schema;
        self
    }

    /// Changes the properties of the tool that was added last.
    pub fn marked(mut self, mark: fn(&mut Tool)) -> FakeSource {
        self.last().mark = mark;
        self
    }

    fn last(&mut self) -> &mut FakeEntry {
        self.entries.last_mut().expect("a tool was added before")
    }

    pub fn share(self) -> Arc<FakeSource> {
        Arc::new_cyclic(|me| FakeSource { me: me.clone(), ..self })
    }

    /// The tools, as a session registers them.
    pub fn batch(self) -> Batch {
        let source = self.share();
        Batch::new(source.contributor(), source.tools(&source))
    }

    fn tools(&self, me: &Arc<FakeSource>) -> Vec<Tool> {
        let tool = |entry: &FakeEntry| {
            let body = Body::Foreign(Arc::clone(me) as Arc<dyn ToolSource>);
            let mut tool =
                Tool::new(&entry.name, "A fake.", Schema::new(entry.schema.clone()), self.contributor(), body);
            (entry.mark)(&mut tool);
            tool
        };
        self.entries.iter().map(tool).collect()
    }
}

#[async_trait]
impl ToolSource for FakeSource {
    fn name(&self) -> &str {
        &self.name
    }

    fn contributor(&self) -> Contributor {
        Contributor::new(&format!("server {}", self.name), self.origin)
    }

    async fn start(&self) -> Result<(), SourceError> {
        Ok(())
    }

    async fn list(&self) -> Result<Listing, SourceError> {
        let me = self.me.upgrade().expect("a source that is listed was shared");
        Ok(Listing { tools: self.tools(&me), ..Listing::default() })
    }

    fn may_sample(&self) -> bool {
        self.may_sample
    }

    fn call_idle(&self) -> Option<Duration> {
        self.call_idle
    }

    fn secrets(&self) -> &[String] {
        &self.secrets
    }

    async fn call(&self, cx: &Cx, tool: &str, args: &Map<String, Value>) -> Result<Outcome, SourceError> {
        let entry = self.entries.iter().find(|entry| entry.name == tool).expect("only listed tools are called");
        (entry.handler)(cx.clone(), args.clone()).await
    }
}
