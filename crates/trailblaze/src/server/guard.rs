//! Who may come in: programs of this machine, and no web page. Peer, Host and Origin are looked at, in this order,
//! before anything of the request is read.

use std::net::SocketAddr;
use std::sync::Arc;

use axum::extract::{ConnectInfo, Request, State};
use axum::http::{HeaderMap, StatusCode, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};

use super::callback::refuse;

/// What this server is called.
#[derive(Clone)]
pub struct Names(Arc<[String]>);

impl Names {
    pub fn at(port: u16) -> Names {
        Names(["127.0.0.1", "localhost", "[::1]"].map(|name| format!("{name}:{port}")).into())
    }
}

pub async fn guard(
    State(names): State<Names>,
    ConnectInfo(peer): ConnectInfo<SocketAddr>,
    request: Request,
    next: Next,
) -> Response {
    match judge(peer, request.headers(), &names) {
        Ok(()) => next.run(request).await,
        Err(turned_away) => refuse(StatusCode::FORBIDDEN, &turned_away.to_string()).into_response(),
    }
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
enum TurnedAway {
    #[error("only programs on this machine may call")]
    Peer,
    #[error("the Host header `{0}` does not name this server")]
    Host(String),
    #[error("web pages may not call, and this request comes from the page `{0}`")]
    Origin(String),
}

fn judge(peer: SocketAddr, headers: &HeaderMap, Names(names): &Names) -> Result<(), TurnedAway> {
    if !peer.ip().to_canonical().is_loopback() {
        return Err(TurnedAway::Peer);
    }
    let text = |name| headers.get(name).map(|value| String::from_utf8_lossy(value.as_bytes()));
    let host = text(header::HOST).unwrap_or_default();
    if !names.iter().any(|name| host.eq_ignore_ascii_case(name)) {
        return Err(TurnedAway::Host(host.into_owned()));
    }
    // A page that this server served itself would be no stranger; any other is one, also from this machine.
    let is_ours =
        |origin: &str| origin.strip_prefix("http://").is_some_and(|host| names.iter().any(|name| name == host));
    match text(header::ORIGIN) {
        Some(origin) if !is_ours(&origin) => Err(TurnedAway::Origin(origin.into_owned())),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(peer: &str, headers: &[(header::HeaderName, &str)], expected: Result<(), &str>) {
        let headers: HeaderMap = headers.iter().map(|(name, value)| (name.clone(), value.parse().unwrap())).collect();
        let judged = judge(peer.parse().unwrap(), &headers, &Names::at(52525)).map_err(|away| away.to_string());
        assert_eq!(judged.as_ref().copied().map_err(String::as_str), expected, "{peer} {headers:?}");
    }

    #[test]
    fn only_programs_of_this_machine_come_in() {
        let host = (header::HOST, "127.0.0.1:52525");
        check("127.0.0.1:4711", std::slice::from_ref(&host), Ok(()));
        check("[::1]:4711", &[(header::HOST, "[::1]:52525")], Ok(()));
        check("[::ffff:127.0.0.1]:4711", &[(header::HOST, "LocalHost:52525")], Ok(()));
        check("10.0.0.7:4711", &[host], Err("only programs on this machine may call"));
    }

    #[test]
    fn a_name_that_was_made_to_point_here_is_turned_away() {
        let away = |host: &str| format!("the Host header `{host}` does not name this server");
        for host in ["evil.example:52525", "127.0.0.1:80", "127.0.0.1", ""] {
            check("127.0.0.1:4711", &[(header::HOST, host)], Err(&away(host)));
        }
        check("127.0.0.1:4711", &[], Err(&away("")));
    }

    #[test]
    fn web_pages_are_turned_away_also_those_of_this_machine() {
        let away = |origin: &str| format!("web pages may not call, and this request comes from the page `{origin}`");
        let host = (header::HOST, "127.0.0.1:52525");
        for origin in ["https://evil.example", "http://localhost:3000", "null", "https://127.0.0.1:52525"] {
            check("127.0.0.1:4711", &[host.clone(), (header::ORIGIN, origin)], Err(&away(origin)));
        }
        check("127.0.0.1:4711", &[host, (header::ORIGIN, "http://127.0.0.1:52525")], Ok(()));
    }
}
