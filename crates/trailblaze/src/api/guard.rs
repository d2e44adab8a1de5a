//! Access control: only programs on this machine may call, and no web pages. Peer, target, Host and Origin are checked, in
//! this order, before the request's body is read.

use std::net::SocketAddr;

use axum::extract::{ConnectInfo, Request, State};
use axum::http::StatusCode;
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};

use connectrpc::ConnectError;
use trailblaze_protocol::callback::PATH;

use super::admission::{HostNames, IncomingRequest, judge};
use super::callback::refuse;

pub async fn guard(
    State(names): State<HostNames>,
    ConnectInfo(peer): ConnectInfo<SocketAddr>,
    request: Request,
    next: Next,
) -> Response {
    let asked = IncomingRequest { version: request.version(), target: request.uri(), headers: request.headers() };
    match judge(peer, &asked, &names) {
        Ok(()) => next.run(request).await,
        Err(turned_away) if request.uri().path() == PATH => {
            refuse(StatusCode::FORBIDDEN, &turned_away.to_string()).into_response()
        }
        Err(turned_away) => {
            let error = ConnectError::permission_denied(turned_away.to_string());
            error.into_http_response(request.headers()).into_response()
        }
    }
}
