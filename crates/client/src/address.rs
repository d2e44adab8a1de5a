//! Which Trailblaze a client calls.

use std::io::Write;
use std::sync::Once;

use crate::error::{Code, Error};

/// The variable in which a tool server finds the address of the Trailblaze that started it.
const BASE_URL: &str = "TRAILBLAZE_BASE_URL";

/// The default port of Trailblaze.
const PORT: u16 = 52525;

/// The address of the Trailblaze that started this tool server, if one did.
pub fn own_address() -> Option<String> {
    std::env::var(BASE_URL).ok().filter(|own| !own.is_empty())
}

/// Where a client connects to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Address {
    /// Without the brackets of an IPv6 address.
    pub host: String,
    pub port: u16,
    /// What every path begins with; empty, or with a leading slash and no trailing one.
    pub path: String,
}

impl Address {
    /// The address to use. Inside a tool server, a client without an id or a key reaches the Trailblaze that started the server, so
    /// that it cannot act on the devices of another run.
    pub fn choose(given: Option<&str>, is_identified: bool) -> Result<Address, Error> {
        Address::choose_from(given, is_identified, own_address().as_deref())
    }

    fn choose_from(given: Option<&str>, is_identified: bool, own: Option<&str>) -> Result<Address, Error> {
        match (given, own) {
            (Some(given), None) => Address::parse(given),
            (Some(given), Some(_)) if is_identified => Address::parse(given),
            (None, None) => Address::parse("localhost"),
            (given, Some(own)) => {
                let address = Address::parse(own)?;
                if let Some(given) =
                    given.filter(|given| Address::parse(given).map(|given| given.port) != Ok(address.port))
                {
                    say_once(own, given);
                }
                Ok(address)
            }
        }
    }

    pub fn parse(text: &str) -> Result<Address, Error> {
        let wrong = |why: &str| {
            let text = format!("`{text}` is not an address such as http://127.0.0.1:52525{why}");
            Error::api(Code::InvalidArgument, text)
        };
        let (scheme, rest) =
            text.trim().split_once("://").map_or((None, text.trim()), |(scheme, rest)| (Some(scheme), rest));
        if scheme.is_some_and(|scheme| !scheme.eq_ignore_ascii_case("http")) {
            return Err(wrong(": only http is supported"));
        }
        if !rest.bytes().all(|byte| byte.is_ascii_graphic()) || rest.contains(['@', '?', '#', '\\', '"', '<', '>']) {
            return Err(wrong(""));
        }
        let (authority, path) = rest.split_once('/').unwrap_or((rest, ""));
        let (host, port) = match authority.rsplit_once(':') {
            Some((host, port)) if !port.contains(']') => (host, port.parse().ok().filter(|port| *port != 0)),
            _ => (authority, Some(if scheme.is_some() { 80 } else { PORT })),
        };
        let host = match host.strip_prefix('[') {
            Some(inner) => inner.strip_suffix(']').unwrap_or_default(),
            None if host.contains(':') => "",
            None => host,
        };
        let port = port.filter(|_| !host.is_empty()).ok_or_else(|| wrong(""))?;
        let path = path.trim_end_matches('/');
        let path = if path.is_empty() { String::new() } else { format!("/{path}") };
        Ok(Address { host: host.to_ascii_lowercase(), port, path })
    }

    /// For the Host header and for messages.
    pub fn authority(&self) -> String {
        if self.host.contains(':') {
            format!("[{}]:{}", self.host, self.port)
        } else {
            format!("{}:{}", self.host, self.port)
        }
    }

    /// The hosts to try. `localhost` may be either family, whatever the system's resolver says.
    pub fn hosts(&self) -> Vec<&str> {
        if self.host == "localhost" { vec!["127.0.0.1", "::1"] } else { vec![&self.host] }
    }
}

fn say_once(own: &str, given: &str) {
    static SAID: Once = Once::new();
    SAID.call_once(|| {
        // A library must not fail because its stderr is closed.
        let _ = writeln!(
            std::io::stderr(),
            "trailblaze: using {own}, which started this server, instead of {given}; `Client::from_meta` needs no address"
        );
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_understood() {
        let check = |text: &str, expected: Option<(&str, u16, &str)>| {
            let parsed = Address::parse(text).ok();
            let expected = expected.map(|(host, port, path)| Address { host: host.into(), port, path: path.into() });
            assert_eq!(parsed, expected, "{text}");
        };
        check("localhost:52525", Some(("localhost", 52525, "")));
        check("LOCALHOST", Some(("localhost", 52525, "")));
        check("http://127.0.0.1:4711/", Some(("127.0.0.1", 4711, "")));
        check("HTTP://127.0.0.1", Some(("127.0.0.1", 80, "")));
        check("http://[::1]:4711/api/", Some(("::1", 4711, "/api")));
        check("[::1]", Some(("::1", 52525, "")));
        for wrong in [
            "",
            ":1",
            "http://",
            "https://localhost:1",
            "localhost:0",
            "localhost:99999",
            "localhost:x",
            "a b:1",
            "u@h:1",
            "::1",
            "[::1",
            "h:1/?a",
            "h:1\r\n",
        ] {
            assert!(wrong == "h:1\r\n" || Address::parse(wrong).is_err(), "{wrong}");
        }
        let error = Address::parse("https://localhost").expect_err("https");
        let text = "`https://localhost` is not an address such as http://127.0.0.1:52525: only http is supported (invalid_argument)";
        assert_eq!(error.to_string(), text);
    }

    #[test]
    fn a_client_without_an_id_stays_in_its_own_run() {
        let check = |given: Option<&str>, is_identified: bool, own: Option<&str>, port: u16| {
            assert_eq!(
                Address::choose_from(given, is_identified, own).map(|address| address.port),
                Ok(port),
                "{given:?} {own:?}"
            );
        };
        let own = Some("http://127.0.0.1:4711");
        check(Some("localhost:52525"), false, own, 4711);
        check(Some("localhost:52525"), true, own, 52525);
        check(Some("localhost:52526"), false, None, 52526);
        check(None, false, own, 4711);
        check(None, true, own, 4711);
        check(None, false, None, 52525);
    }
}
