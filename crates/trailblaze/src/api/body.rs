//! Reading the body of a request, with a limit on its size and on the time it takes.

use std::time::Duration;

use axum::body::Body;
use bytes::{Bytes, BytesMut};
use http_body_util::BodyExt;
use tokio::time::timeout;

/// The largest message of a request, in bytes.
pub const MESSAGE_BYTES: usize = 1 << 20;

/// How long a request may take to arrive.
const TIME: Duration = Duration::from_secs(30);
/// How much more is read of a request that is too large, and after which pause it counts as sent.
const DROPPED_BYTES: usize = 64 << 20;
const PAUSE: Duration = Duration::from_millis(200);

/// Why a body was not read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum BodyError {
    #[error("a request has at most {0} bytes")]
    TooLarge(usize),
    #[error("the request took longer than {} s to arrive", TIME.as_secs())]
    TooSlow,
    #[error("the request broke off")]
    Broken,
}

/// Reads a body of at most this many bytes.
pub async fn read(mut body: Body, most: usize) -> Result<Bytes, BodyError> {
    let read = timeout(TIME, read_up_to(&mut body, most)).await.unwrap_or(Err(BodyError::TooSlow));
    if let Err(BodyError::TooLarge(_)) = read {
        let _ = timeout(TIME, drop_rest(&mut body)).await;
    }
    read
}

async fn read_up_to(body: &mut Body, most: usize) -> Result<Bytes, BodyError> {
    let mut bytes = BytesMut::new();
    while let Some(frame) = body.frame().await {
        let Ok(data) = frame.map_err(|_| BodyError::Broken)?.into_data() else { continue };
        if bytes.len() + data.len() > most {
            return Err(BodyError::TooLarge(most));
        }
        bytes.extend_from_slice(&data);
    }
    Ok(bytes.freeze())
}

/// Reads what a client is still sending, because it does not read the response before it is done.
async fn drop_rest(body: &mut Body) {
    let mut n_bytes = 0;
    while let Ok(Some(Ok(frame))) = timeout(PAUSE, body.frame()).await {
        n_bytes += frame.data_ref().map_or(0, Bytes::len);
        if n_bytes > DROPPED_BYTES {
            return;
        }
    }
}
