//! Where WebDriverAgent answers.

use std::fmt;

use hyper::Uri;

use crate::ios::usb::is_udid;

/// The address of WebDriverAgent: `http://127.0.0.1:8100`, perhaps with a path, and without a slash at its end; or
/// `usb://00008110-000A1D3C0E21001E`, the port of an iPhone on a cable.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum WdaAddress {
    Network(String),
    Cable(CabledPort),
}

/// A port of an iPhone or an iPad on a cable.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct CabledPort {
    pub udid: String,
    pub port: u16,
}

/// The port that WebDriverAgent listens at unless it is told otherwise.
const PORT: u16 = 8100;

impl WdaAddress {
    /// Where WebDriverAgent listens unless it is told otherwise.
    pub const USUAL: &str = "http://127.0.0.1:8100";

    pub fn usual() -> WdaAddress {
        WdaAddress::Network(WdaAddress::USUAL.to_string())
    }

    /// The usual port of an iPhone on a cable.
    pub fn cable(udid: &str) -> WdaAddress {
        WdaAddress::Cable(CabledPort { udid: udid.to_string(), port: PORT })
    }

    /// The value of a key.
    pub fn parse(key: &str, text: &str) -> Result<WdaAddress, String> {
        let wrong = |why: &str| format!("`{key}: {text}` {why}; write `{key}: {}`", WdaAddress::USUAL);
        if let Some(cable) = text.trim().strip_prefix("usb://") {
            let (udid, port) = cable.split_once(':').map_or((cable, Ok(PORT)), |(udid, port)| (udid, port.parse()));
            return match port {
                Ok(port) if is_udid(udid) => Ok(WdaAddress::Cable(CabledPort { udid: udid.to_string(), port })),
                _ => Err(wrong(
                    "is not of the form usb://UDID or usb://UDID:port, as `trailblaze device list` shows UDIDs",
                )),
            };
        }
        let uri: Uri = text.trim().parse().map_err(|_| wrong("is not an address"))?;
        let authority = match (uri.scheme_str(), uri.authority()) {
            (Some("http"), Some(authority)) => authority.as_str(),
            (Some("https"), _) => return Err(wrong("uses https, which WebDriverAgent does not speak")),
            _ => return Err(wrong("is not an address of the form http://host:port or usb://UDID")),
        };
        if authority.contains('@') || uri.query().is_some() {
            return Err(wrong("has more than a host, a port and a path"));
        }
        Ok(WdaAddress::Network(format!("http://{authority}{}", uri.path().trim_end_matches('/'))))
    }

    /// The URL of a path, which begins with a slash.
    pub fn url(&self, path: &str) -> String {
        match self {
            WdaAddress::Network(base) => format!("{base}{path}"),
            WdaAddress::Cable(CabledPort { port, .. }) => format!("http://localhost:{port}{path}"),
        }
    }

    /// The port on a cable, if it is one.
    pub fn cabled(&self) -> Option<&CabledPort> {
        match self {
            WdaAddress::Cable(port) => Some(port),
            WdaAddress::Network(_) => None,
        }
    }

    /// The port that WebDriverAgent must listen at to be found there.
    pub fn port(&self) -> Option<u16> {
        match self {
            WdaAddress::Network(base) => base.parse::<Uri>().ok()?.port_u16(),
            WdaAddress::Cable(CabledPort { port, .. }) => Some(*port),
        }
    }

    /// The address without `http://`, for names of files.
    pub fn authority(&self) -> String {
        match self {
            WdaAddress::Network(base) => base.trim_start_matches("http://").to_string(),
            WdaAddress::Cable(CabledPort { udid, port }) => format!("usb-{udid}:{port}"),
        }
    }
}

impl fmt::Display for WdaAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            WdaAddress::Network(base) => f.write_str(base),
            WdaAddress::Cable(CabledPort { udid, port: PORT }) => write!(f, "usb://{udid}"),
            WdaAddress::Cable(CabledPort { udid, port }) => write!(f, "usb://{udid}:{port}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_has_a_host_and_perhaps_a_port_and_a_path() {
        let parsed = |text| WdaAddress::parse("wda", text).map(|address| address.to_string());
        assert_eq!(parsed("http://127.0.0.1:8100"), Ok("http://127.0.0.1:8100".to_string()));
        assert_eq!(parsed(" http://mac.local:8101/phone-1/ "), Ok("http://mac.local:8101/phone-1".to_string()));
        assert_eq!(parsed("http://[::1]:8100/"), Ok("http://[::1]:8100".to_string()));
        assert_eq!(WdaAddress::usual().url("/status"), "http://127.0.0.1:8100/status");
        let phone = "usb://00008110-000A1D3C0E21001E";
        assert_eq!(parsed(phone), Ok(phone.to_string()));
        let other = "usb://00008110-000A1D3C0E21001E:8101";
        assert_eq!(parsed(other), Ok(other.to_string()));
        assert_eq!(WdaAddress::cable("00008110-000A1D3C0E21001E").url("/status"), "http://localhost:8100/status");
        for wrong in [
            "usb://mine",
            "usb://00008110-000A1D3C0E21001E:x",
            "127.0.0.1:8100",
            "https://mac.local",
            "http://me:secret@mac.local",
            "http://h/?a",
            "",
            "ios",
        ] {
            let message = parsed(wrong).expect_err(wrong);
            assert!(message.ends_with("write `wda: http://127.0.0.1:8100`"), "{message}");
        }
    }
}
