//! Who may call, as a function of a request's head. It stands alone, so that the fuzz targets can include it.

use std::borrow::Cow;
use std::net::SocketAddr;
use std::sync::Arc;

use axum::http::{HeaderMap, Uri, Version, header};

/// The names of this server.
#[derive(Clone)]
pub struct HostNames(Arc<[String]>);

impl HostNames {
    pub fn at(port: u16) -> HostNames {
        HostNames(["127.0.0.1", "localhost", "[::1]"].map(|name| format!("{name}:{port}")).into())
    }
}

/// Why a request is refused.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum TurnedAway {
    #[error("only programs on this machine may call")]
    Peer,
    #[error("the request target `{0}` is not a path; absolute targets are only for proxies")]
    Target(String),
    #[error("the request has {0} Host headers; exactly one is expected")]
    Hosts(usize),
    #[error("the Host header `{0}` does not name this server")]
    Host(String),
    #[error("web pages may not call; this request comes from the page `{0}`")]
    Origin(String),
}

/// The head of a request.
pub struct IncomingRequest<'r> {
    pub version: Version,
    pub target: &'r Uri,
    pub headers: &'r HeaderMap,
}

/// Decides about a request from this peer.
pub fn judge(peer: SocketAddr, asked: &IncomingRequest<'_>, HostNames(names): &HostNames) -> Result<(), TurnedAway> {
    if !peer.ip().to_canonical().is_loopback() {
        return Err(TurnedAway::Peer);
    }
    let texts = |name| asked.headers.get_all(name).into_iter().map(|value| String::from_utf8_lossy(value.as_bytes()));
    let mut hosts: Vec<Cow<'_, str>> = texts(header::HOST).collect();
    match (asked.version, asked.target.authority()) {
        // HTTP/2 names the server in `:authority`. A Host header must be equal to it.
        (Version::HTTP_2, Some(authority)) => {
            hosts.push(authority.as_str().into());
            hosts.dedup();
        }
        // In HTTP/1, a host in the target takes precedence over the header.
        (_, Some(_)) => return Err(TurnedAway::Target(asked.target.to_string())),
        (_, None) => {}
    }
    // Different programs interpret several Host headers differently.
    match hosts.as_slice() {
        [] => return Err(TurnedAway::Host(String::new())),
        [host] if names.iter().any(|name| host.eq_ignore_ascii_case(name)) => {}
        [host] => return Err(TurnedAway::Host(host.to_string())),
        hosts => return Err(TurnedAway::Hosts(hosts.len())),
    }
    // Only pages served by this server are trusted; pages of other servers are not, even on this machine.
    let is_ours =
        |origin: &str| origin.strip_prefix("http://").is_some_and(|host| names.iter().any(|name| name == host));
    match texts(header::ORIGIN).find(|origin| !is_ours(origin)) {
        Some(origin) => Err(TurnedAway::Origin(origin.into_owned())),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(peer: &str, given: &[(header::HeaderName, &str)], expected: Result<(), &str>) {
        let mut headers = HeaderMap::new();
        for (name, value) in given {
            headers.append(name, value.parse().unwrap());
        }
        let target = Uri::from_static("/scripting/callback");
        let asked = IncomingRequest { version: Version::HTTP_11, target: &target, headers: &headers };
        let judged = judge(peer.parse().unwrap(), &asked, &HostNames::at(52525)).map_err(|away| away.to_string());
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
    fn http_2_names_the_server_in_its_authority() {
        let check = |target: &str, host: Option<&str>, expected: Result<(), &str>| {
            let target: Uri = target.parse().unwrap();
            let mut headers = HeaderMap::new();
            headers.extend(host.map(|host| (header::HOST, host.parse().unwrap())));
            let asked = IncomingRequest { version: Version::HTTP_2, target: &target, headers: &headers };
            let judged = judge("127.0.0.1:4711".parse().unwrap(), &asked, &HostNames::at(52525));
            assert_eq!(judged.map_err(|away| away.to_string()), expected.map_err(String::from), "{target}");
        };
        check("http://127.0.0.1:52525/a.B/C", None, Ok(()));
        check("http://localhost:52525/a.B/C", Some("localhost:52525"), Ok(()));
        let two = "the request has 2 Host headers; exactly one is expected";
        check("http://127.0.0.1:52525/a.B/C", Some("evil.example:52525"), Err(two));
        let other = "the Host header `evil.example:52525` does not name this server";
        check("http://evil.example:52525/a.B/C", None, Err(other));
        check("/a.B/C", None, Err("the Host header `` does not name this server"));
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
        let away = |origin: &str| format!("web pages may not call; this request comes from the page `{origin}`");
        let host = (header::HOST, "127.0.0.1:52525");
        for origin in ["https://evil.example", "http://localhost:3000", "null", "https://127.0.0.1:52525"] {
            check("127.0.0.1:4711", &[host.clone(), (header::ORIGIN, origin)], Err(&away(origin)));
        }
        let ours = (header::ORIGIN, "http://127.0.0.1:52525");
        check("127.0.0.1:4711", &[host.clone(), ours.clone()], Ok(()));
        let both = [host, ours, (header::ORIGIN, "https://evil.example")];
        check("127.0.0.1:4711", &both, Err(&away("https://evil.example")));
    }
}
