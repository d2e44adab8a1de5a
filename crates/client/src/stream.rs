//! Messages that arrive one by one.

use std::future::Future;
use std::marker::PhantomData;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use bytes::{Buf, BufMut, Bytes, BytesMut};
use futures::Stream;
use http_body_util::{BodyExt, Limited};
use hyper::Response;
use hyper::body::{Body, Incoming};
use hyper::header::CONTENT_TYPE;
use serde::de::DeserializeOwned;
use serde_json::Value;
use tokio::time::{Instant, Sleep, sleep_until, timeout_at};

use crate::connection::{RESPONSE_BYTES, broken};
use crate::error::{Code, Error};
use crate::json;

/// The flags and the length before each message.
const HEAD: usize = 5;
/// The flag of a compressed message. We do not ask for compression.
const COMPRESSED: u8 = 1;
/// The flag of the last message, which contains the error, if any.
const LAST: u8 = 2;

/// A message with its flags and length.
pub(crate) fn envelope(message: &[u8]) -> Bytes {
    let mut enveloped = BytesMut::with_capacity(HEAD + message.len());
    enveloped.put_u8(0);
    enveloped.put_u32(message.len() as u32);
    enveloped.put_slice(message);
    enveloped.freeze()
}

/// The messages of a stream, as they arrive. After an error, or when the stream has ended, there are no more.
///
/// Dropping it ends the stream.
pub struct Messages<T> {
    authority: String,
    /// `None` once it has ended.
    body: Option<Incoming>,
    received: BytesMut,
    ends: Option<Pin<Box<Sleep>>>,
    messages: PhantomData<fn() -> T>,
}

impl<T> std::fmt::Debug for Messages<T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Messages").field("authority", &self.authority).finish_non_exhaustive()
    }
}

impl<T: DeserializeOwned> Messages<T> {
    pub(crate) async fn open(
        authority: String,
        response: Response<Incoming>,
        ends: Option<Instant>,
        deadline: Instant,
    ) -> Result<Messages<T>, Error> {
        let status = response.status().as_u16();
        let kind =
            response.headers().get(CONTENT_TYPE).map(|kind| String::from_utf8_lossy(kind.as_bytes()).into_owned());
        let is_stream = kind.as_deref().is_some_and(|kind| kind.starts_with("application/connect+json"));
        if status == 200 && is_stream {
            let ends = ends.map(|ends| Box::pin(sleep_until(ends)));
            return Ok(Messages {
                authority,
                body: Some(response.into_body()),
                received: BytesMut::new(),
                ends,
                messages: PhantomData,
            });
        }
        let body = timeout_at(deadline, Limited::new(response.into_body(), RESPONSE_BYTES).collect()).await;
        let body = body.ok().and_then(Result::ok).map(|body| body.to_bytes()).unwrap_or_default();
        if status != 200 {
            return Err(json::error_of(&authority, status, &body));
        }
        let kind = kind.unwrap_or_else(|| "no content type".to_string());
        let text = format!("http://{authority} answered with {kind} instead of a stream: {}", json::excerpt(&body));
        Err(Error::api(Code::Internal, text))
    }

    /// The next message; none if the stream has ended. Can be cancelled without losing a message.
    pub async fn next(&mut self) -> Option<Result<T, Error>> {
        std::future::poll_fn(|cx| Pin::new(&mut *self).poll_next(cx)).await
    }

    /// The next complete message in what has been received: its flags and contents.
    fn take(&mut self) -> Result<Option<(u8, Bytes)>, Error> {
        let Some(mut head) = self.received.get(..HEAD) else { return Ok(None) };
        let (flags, length) = (head.get_u8(), head.get_u32() as usize);
        if length > RESPONSE_BYTES {
            let text = format!("a message of the stream is longer than {} MiB", RESPONSE_BYTES >> 20);
            return Err(Error::api(Code::ResourceExhausted, text));
        }
        if flags & COMPRESSED != 0 {
            return Err(Error::api(Code::Internal, "a message of the stream is compressed, which was not asked for"));
        }
        if self.received.len() < HEAD + length {
            return Ok(None);
        }
        self.received.advance(HEAD);
        Ok(Some((flags, self.received.split_to(length).freeze())))
    }

    fn poll_message(&mut self, cx: &mut Context<'_>) -> Poll<Option<Result<T, Error>>> {
        loop {
            match self.take() {
                Err(error) => return Poll::Ready(Some(Err(error))),
                Ok(Some((flags, message))) if flags & LAST != 0 => {
                    return Poll::Ready(match json::read::<Value>(&message, "the end of the stream") {
                        Ok(end) if end["error"].is_object() => Some(Err(json::error_from(&end["error"]))),
                        Ok(_) => None,
                        Err(error) => Some(Err(error)),
                    });
                }
                Ok(Some((_, message))) => return Poll::Ready(Some(json::read(&message, "a message of the stream"))),
                Ok(None) => {}
            }
            if self.ends.as_mut().is_some_and(|ends| ends.as_mut().poll(cx).is_ready()) {
                return Poll::Ready(Some(Err(Error::api(
                    Code::DeadlineExceeded,
                    "the time to follow the stream is over",
                ))));
            }
            let Some(body) = &mut self.body else { return Poll::Ready(None) };
            match ready!(Pin::new(body).poll_frame(cx)) {
                Some(Ok(frame)) => {
                    if let Ok(data) = frame.into_data() {
                        self.received.extend_from_slice(&data);
                    }
                }
                Some(Err(error)) => return Poll::Ready(Some(Err(broken(&self.authority, &error)))),
                None => {
                    let text = format!("http://{} ended the stream without its last message", self.authority);
                    return Poll::Ready(Some(Err(Error::api(Code::Unavailable, text))));
                }
            }
        }
    }
}

impl<T: DeserializeOwned> Stream for Messages<T> {
    type Item = Result<T, Error>;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Result<T, Error>>> {
        if self.body.is_none() {
            return Poll::Ready(None);
        }
        let message = ready!(self.poll_message(cx));
        // A message that cannot be read is the last one too: what follows may be anything.
        if !matches!(message, Some(Ok(_))) {
            self.body = None;
        }
        Poll::Ready(message)
    }
}
