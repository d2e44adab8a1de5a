//! One call: its parameters, and how its response is read.

use std::borrow::Cow;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use hyper::header::HeaderValue;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};
use tokio::time::Instant;

use crate::client::{Client, Way};
use crate::connection::{Outgoing, Whole, open_stream, too_late};
use crate::error::{Code, Error};
use crate::followed::FollowedCall;
use crate::json;
use crate::stream::{Messages, envelope};

/// How long a call may take, unless something else is set. Trailblaze answers within ten minutes.
const TIMEOUT: Duration = Duration::from_secs(10 * 60 + 30);

/// What a call becomes when it is awaited.
pub(crate) type CallFuture<T> = Pin<Box<dyn Future<Output = Result<T, Error>> + Send>>;

/// A call that has not been made yet.
#[derive(Debug, Clone)]
pub(crate) struct Call {
    client: Client,
    /// `Service/Method`.
    path: Cow<'static, str>,
    fields: Map<String, Value>,
    deadline: Option<Duration>,
    /// Tells if it is dropped without being made, or fails, if somebody wants to know.
    followed: Option<Arc<FollowedCall>>,
}

/// The response of a query.
#[derive(Deserialize)]
struct LoneValue<T> {
    #[serde(default = "Option::default")]
    value: Option<T>,
}

impl Call {
    #[track_caller]
    pub fn new(client: Client, path: Cow<'static, str>, fields: Map<String, Value>) -> Call {
        // Not in a closure, which would not know its caller.
        let mut followed = None;
        if let Some(listener) = client.listener() {
            followed = Some(FollowedCall::new(listener, &path));
        }
        Call { client, path, fields, deadline: None, followed }
    }

    pub fn set(mut self, name: &str, value: impl Into<Value>) -> Call {
        let value = value.into();
        if let (Some(followed), "name", Some(tool), "TrailblazeSession/CallTool") =
            (&self.followed, name, value.as_str(), &*self.path)
        {
            followed.names(tool);
        }
        self.fields.insert(name.to_string(), value);
        self
    }

    /// What it becomes when it is awaited.
    fn made<T, F>(self, make: impl FnOnce(Call) -> F) -> CallFuture<T>
    where
        F: Future<Output = Result<T, Error>> + Send + 'static,
    {
        let followed = self.followed.clone();
        followed.iter().for_each(|followed| followed.is_awaited());
        let made = make(self);
        Box::pin(async move {
            let answer = made.await;
            if let (Err(error), Some(followed)) = (&answer, &followed) {
                followed.failed(error);
            }
            answer
        })
    }

    pub fn deadline(mut self, deadline: Duration) -> Call {
        self.deadline = Some(deadline);
        self
    }

    /// Makes the call and returns its message.
    pub fn get<T: DeserializeOwned + Send + 'static>(self) -> CallFuture<T> {
        self.made(Call::message)
    }

    /// Makes the call and returns the single value of its message, or the value's zero.
    pub fn ask<T: DeserializeOwned + Default + Send + 'static>(self) -> CallFuture<T> {
        self.made(|call| async move { Ok(call.message::<LoneValue<T>>().await?.value.unwrap_or_default()) })
    }

    /// Makes the call of an action or an assertion; if it failed, that is an error.
    pub fn act<T: DeserializeOwned + Acted + Send + 'static>(self, is_assertion: bool) -> CallFuture<T> {
        self.made(move |call| async move {
            let done: T = call.message().await?;
            match done.failure() {
                None => Ok(done),
                Some((message, variant)) => {
                    let message = if message.is_empty() { "it failed".to_string() } else { message };
                    Err(if is_assertion || variant == "AssertionFailed" {
                        let variant = if variant.is_empty() { "AssertionFailed".to_string() } else { variant };
                        Error::AssertionFailed { message, variant }
                    } else {
                        Error::ActionFailed { message, variant }
                    })
                }
            }
        })
    }

    /// The same for an action that returns a value.
    pub fn act_value<T: DeserializeOwned + Acted + Valued + Send + 'static>(self) -> CallFuture<Value> {
        let done = self.act::<T>(false);
        Box::pin(async move { Ok(done.await?.value()) })
    }

    /// Makes the call and returns its messages as they arrive.
    pub fn follow<T: DeserializeOwned + Send + 'static>(self) -> CallFuture<Messages<T>> {
        self.made(|call| async move {
            if let Way::Transport(_) = call.client.way() {
                let text = format!("{} returns a stream, which this client does not have", call.path);
                return Err(Error::api(Code::Unimplemented, text));
            }
            let timeout = call.deadline;
            let mut outgoing = call.outgoing("application/connect+json")?;
            // The client's timeout is for opening the stream, which may then be followed for as long as it goes on.
            outgoing.timeout = timeout;
            outgoing.body = envelope(&outgoing.body);
            let ends = timeout.map(|_| outgoing.deadline);
            let response = open_stream(&outgoing).await?;
            Messages::open(outgoing.address.authority(), response, ends, outgoing.deadline).await
        })
    }

    async fn message<T: DeserializeOwned>(self) -> Result<T, Error> {
        let pool = match self.client.way() {
            Way::Http(pool) => pool,
            Way::Transport(transport) => {
                let timeout = self.deadline.or(self.client.timeout()).unwrap_or(TIMEOUT);
                let called = tokio::time::timeout(timeout, transport.call(&self.path, self.fields));
                let response = called.await.unwrap_or_else(|_| Err(too_late(&self.path)))?;
                return serde_json::from_value(response)
                    .map_err(|error| Error::api(Code::Internal, format!("the response is not valid: {error}")));
            }
        };
        let outgoing = self.outgoing("application/json")?;
        let Whole { status, body } =
            pool.exchange(&outgoing).await.map_err(|error| self.client.explain(error, Code::Unavailable))?;
        if status != 200 {
            let error = json::error_of(&outgoing.address.authority(), status, &body);
            return Err(self.client.explain(error, Code::Unauthenticated));
        }
        json::read(&body, "the response")
    }

    fn outgoing(&self, content_type: &'static str) -> Result<Outgoing, Error> {
        let timeout = self.deadline.or(self.client.timeout());
        let body = serde_json::to_vec(&self.fields).expect("JSON can be written");
        Ok(Outgoing {
            address: self.client.address()?,
            package: "trailblaze.v1.",
            path: self.path.clone(),
            content_type,
            authorization: self.client.authorization()?,
            called_at: self.followed.as_ref().and_then(|followed| HeaderValue::try_from(followed.late_place()?).ok()),
            timeout,
            body: Bytes::from(body),
            deadline: Instant::now() + timeout.unwrap_or(TIMEOUT),
        })
    }
}

/// A result with a value.
pub(crate) trait Valued {
    fn value(self) -> Value;
}

/// A message that says whether something succeeded.
pub(crate) trait Acted {
    /// Why it failed, and the kind of failure.
    fn failure(&self) -> Option<(String, String)>;
}

/// Declares a call that is made when it is awaited.
macro_rules! awaited {
    ($name:ident => $answer:ty, $($make:tt)*) => {
        impl $name {
            /// How long the whole call may take, instead of the client's timeout.
            pub fn deadline(self, deadline: ::std::time::Duration) -> $name {
                $name(self.0.deadline(deadline))
            }
        }

        impl ::std::future::IntoFuture for $name {
            type Output = Result<$answer, crate::Error>;
            type IntoFuture =
                ::std::pin::Pin<Box<dyn ::std::future::Future<Output = Result<$answer, crate::Error>> + Send>>;

            fn into_future(self) -> Self::IntoFuture {
                self.0.$($make)*
            }
        }
    };
}
pub(crate) use awaited;
