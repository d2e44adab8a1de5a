//! Where the adb server listens, by the variables that adb itself reads.

use std::fmt;

use super::error::AdbError;

const SOCKET: &str = "ADB_SERVER_SOCKET";
const HOST: &str = "ANDROID_ADB_SERVER_ADDRESS";
const PORT: &str = "ANDROID_ADB_SERVER_PORT";

/// The TCP address of an adb server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AdbAddress {
    pub host: String,
    pub port: u16,
}

impl Default for AdbAddress {
    fn default() -> AdbAddress {
        AdbAddress { host: "127.0.0.1".to_string(), port: 5037 }
    }
}

impl AdbAddress {
    /// The address that the environment names, or else adb's own default.
    pub fn of_environment(var: impl Fn(&str) -> Option<String>) -> Result<AdbAddress, AdbError> {
        let set = |name: &str| var(name).filter(|value| !value.is_empty());
        if let Some(value) = set(SOCKET) {
            let example = "tcp:127.0.0.1:5037";
            return AdbAddress::of_socket(&value).ok_or(AdbError::Address { name: SOCKET, value, example });
        }
        let mut address = AdbAddress::default();
        if let Some(host) = set(HOST) {
            address.host = host;
        }
        if let Some(value) = set(PORT) {
            address.port = port(&value).ok_or(AdbError::Address { name: PORT, value, example: "5037" })?;
        }
        Ok(address)
    }

    /// `tcp:5037`, `tcp:host:5037` or `tcp:[::1]:5037`.
    fn of_socket(text: &str) -> Option<AdbAddress> {
        let rest = text.strip_prefix("tcp:")?;
        let Some((host, number)) = rest.rsplit_once(':') else {
            return Some(AdbAddress { port: port(rest)?, ..AdbAddress::default() });
        };
        let host = host.strip_prefix('[').and_then(|host| host.strip_suffix(']')).unwrap_or(host);
        (!host.is_empty()).then(|| Some(AdbAddress { host: host.to_string(), port: port(number)? }))?
    }

    /// Whether the server would run on this machine, so that it can be started.
    pub fn is_local(&self) -> bool {
        let loopback = self.host.parse::<std::net::IpAddr>().is_ok_and(|ip| ip.is_loopback());
        loopback || self.host == "localhost"
    }
}

impl fmt::Display for AdbAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.host.contains(':') {
            return write!(f, "[{}]:{}", self.host, self.port);
        }
        write!(f, "{}:{}", self.host, self.port)
    }
}

fn port(text: &str) -> Option<u16> {
    text.parse().ok().filter(|port| *port > 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(variables: &[(&str, &str)]) -> Result<String, AdbError> {
        let var = |name: &str| variables.iter().find(|(key, _)| *key == name).map(|(_, value)| value.to_string());
        AdbAddress::of_environment(var).map(|address| address.to_string())
    }

    #[test]
    fn the_address_is_that_of_the_variables_of_adb() {
        assert_eq!(of(&[]).as_deref(), Ok("127.0.0.1:5037"));
        assert_eq!(of(&[(SOCKET, "tcp:5038")]).as_deref(), Ok("127.0.0.1:5038"));
        assert_eq!(of(&[(SOCKET, "tcp:lab:5038"), (PORT, "1")]).as_deref(), Ok("lab:5038"));
        assert_eq!(of(&[(SOCKET, "tcp:[::1]:5038")]).as_deref(), Ok("[::1]:5038"));
        assert_eq!(of(&[(HOST, "lab"), (PORT, "5039")]).as_deref(), Ok("lab:5039"));
    }

    #[test]
    fn an_address_that_is_none_is_named_with_its_variable() {
        for (name, value) in [(SOCKET, "localfilesystem:/x"), (SOCKET, "tcp::1"), (PORT, "0"), (PORT, "many")] {
            let error = of(&[(name, value)]).expect_err(value).to_string();
            assert!(error.starts_with(&format!("`{name}={value}` names no adb server")), "{error}");
        }
    }
}
