//! Where WebDriverAgent answers.

use std::fmt;

use hyper::Uri;

/// The address of WebDriverAgent: `http://127.0.0.1:8100`, perhaps with a path, and without a slash at its end.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct WdaAddress(String);

impl WdaAddress {
    /// Where WebDriverAgent listens unless it is told otherwise.
    pub const USUAL: &str = "http://127.0.0.1:8100";

    pub fn usual() -> WdaAddress {
        WdaAddress(WdaAddress::USUAL.to_string())
    }

    pub fn parse(text: &str) -> Result<WdaAddress, String> {
        let wrong = |why: &str| format!("`wda: {text}` {why}; write `wda: {}`", WdaAddress::USUAL);
        let uri: Uri = text.trim().parse().map_err(|_| wrong("is not an address"))?;
        let authority = match (uri.scheme_str(), uri.authority()) {
            (Some("http"), Some(authority)) => authority.as_str(),
            (Some("https"), _) => return Err(wrong("uses https, which WebDriverAgent does not speak")),
            _ => return Err(wrong("is not an address of the form http://host:port")),
        };
        if authority.contains('@') || uri.query().is_some() {
            return Err(wrong("has more than a host, a port and a path"));
        }
        Ok(WdaAddress(format!("http://{authority}{}", uri.path().trim_end_matches('/'))))
    }

    /// The URL of a path, which begins with a slash.
    pub fn url(&self, path: &str) -> String {
        format!("{}{path}", self.0)
    }

    /// The address without `http://`, for names of files.
    pub fn authority(&self) -> &str {
        self.0.trim_start_matches("http://")
    }
}

impl fmt::Display for WdaAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_has_a_host_and_perhaps_a_port_and_a_path() {
        let parsed = |text| WdaAddress::parse(text).map(|address| address.to_string());
        assert_eq!(parsed("http://127.0.0.1:8100"), Ok("http://127.0.0.1:8100".to_string()));
        assert_eq!(parsed(" http://mac.local:8101/phone-1/ "), Ok("http://mac.local:8101/phone-1".to_string()));
        assert_eq!(parsed("http://[::1]:8100/"), Ok("http://[::1]:8100".to_string()));
        assert_eq!(WdaAddress::usual().url("/status"), "http://127.0.0.1:8100/status");
        for wrong in ["127.0.0.1:8100", "https://mac.local", "http://me:secret@mac.local", "http://h/?a", "", "ios"] {
            let message = parsed(wrong).expect_err(wrong);
            assert!(message.ends_with("write `wda: http://127.0.0.1:8100`"), "{message}");
        }
    }
}
