//! Who may call the port of Trailblaze.

#[path = "../../crates/trailblaze/src/api/admission.rs"]
mod admission;

use admission::{HostNames, IncomingRequest, judge};
use axum::http::{HeaderMap, HeaderName, HeaderValue, Uri, Version};

const NAMES: [&str; 3] = ["127.0.0.1:52525", "localhost:52525", "[::1]:52525"];

/// The lines are: the version and the peer, the request target, and headers. A request that is let in comes from this machine, names
/// this server and nothing else, and comes from no foreign page.
pub fn guard_judge(data: &[u8]) {
    let mut lines = data.split(|byte| *byte == b'\n');
    let first = String::from_utf8_lossy(lines.next().unwrap_or_default());
    let (version, peer) = first.split_once(' ').unwrap_or((&first, ""));
    let version = if version == "2" { Version::HTTP_2 } else { Version::HTTP_11 };
    let peer = peer.parse().unwrap_or_else(|_| ([127, 0, 0, 1], 4711).into());
    let Ok(target) = Uri::try_from(lines.next().unwrap_or_default()) else { return };
    let mut headers = HeaderMap::new();
    for line in lines {
        let mut parts = line.splitn(2, |byte| *byte == b':');
        let name = HeaderName::from_bytes(parts.next().unwrap_or_default());
        let value = HeaderValue::from_bytes(parts.next().unwrap_or_default().trim_ascii());
        if let (Ok(name), Ok(value)) = (name, value) {
            // A map has room for 32,768 names.
            let _ = headers.try_append(name, value);
        }
    }
    let asked = IncomingRequest { version, target: &target, headers: &headers };
    match judge(peer, &asked, &HostNames::at(52525)) {
        Err(refused) => assert!(!refused.to_string().is_empty()),
        Ok(()) => {
            assert!(peer.ip().to_canonical().is_loopback(), "{peer}");
            let is_name = |text: &[u8]| NAMES.iter().any(|name| name.as_bytes().eq_ignore_ascii_case(text));
            let hosts = headers.get_all("host").iter().map(HeaderValue::as_bytes);
            let authority = target.authority().map(|authority| authority.as_str().as_bytes());
            assert!(authority.is_none() || version == Version::HTTP_2, "{target}");
            assert!(hosts.chain(authority).all(is_name), "{target} {headers:?}");
            assert!(authority.is_some() || headers.contains_key("host"), "{target} {headers:?}");
            let mut origins = headers.get_all("origin").iter().map(HeaderValue::as_bytes);
            assert!(origins.all(|origin| origin.strip_prefix(b"http://").is_some_and(is_name)), "{headers:?}");
        }
    }
}
