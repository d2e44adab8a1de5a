//! Which user a peer on this machine is.

use std::net::{IpAddr, SocketAddr};

/// Whether the process at the other end of a loopback connection belongs to our own user. Where the system does not tell, it
/// does not.
pub fn is_own_user(peer: SocketAddr, our_port: u16) -> bool {
    owner(peer, our_port) == Some(rustix::process::geteuid().as_raw())
}

/// Whether that process is known to belong to another user. Nothing can be kept from root.
pub fn is_other_user(peer: SocketAddr, our_port: u16) -> bool {
    owner(peer, our_port).is_some_and(|owner| owner != 0 && owner != rustix::process::geteuid().as_raw())
}

/// The user id of the process at the other end of a loopback connection, where the system tells.
fn owner(peer: SocketAddr, our_port: u16) -> Option<u32> {
    if !cfg!(target_os = "linux") {
        return None;
    }
    // The peer's socket is listed with its own address first. Which table it is in depends on how it was opened.
    ["/proc/net/tcp", "/proc/net/tcp6"].iter().find_map(|path| {
        let table = std::fs::read_to_string(path).unwrap_or_default();
        owner_in(&table, peer, our_port)
    })
}

/// The user id of the socket from `peer` to our port.
fn owner_in(table: &str, peer: SocketAddr, our_port: u16) -> Option<u32> {
    table.lines().skip(1).find_map(|line| {
        let mut columns = line.split_whitespace().skip(1);
        let (local, remote) = (columns.next()?, columns.next()?);
        let is_it = address(local)? == (peer.ip().to_canonical(), peer.port()) && address(remote)?.1 == our_port;
        // The columns between are state, queues, timer and retransmits.
        is_it.then(|| columns.nth(4)?.parse().ok()).flatten()
    })
}

/// Parses `0100007F:CD2D`: 32-bit words in the byte order of the machine, then the port.
fn address(text: &str) -> Option<(IpAddr, u16)> {
    let (address, port) = text.split_once(':')?;
    let word = |text: &str| u32::from_str_radix(text, 16).ok().map(u32::to_ne_bytes);
    let ip = match address.len() {
        8 => IpAddr::from(word(address)?),
        32 => {
            let words = [0, 8, 16, 24].map(|start| word(&address[start..start + 8]));
            let mut bytes = [0; 16];
            for (index, word) in words.into_iter().enumerate() {
                bytes[index * 4..index * 4 + 4].copy_from_slice(&word?);
            }
            IpAddr::from(bytes)
        }
        _ => return None,
    };
    Some((ip.to_canonical(), u16::from_str_radix(port, 16).ok()?))
}

#[cfg(all(test, target_os = "linux", target_endian = "little"))]
mod tests {
    use super::*;

    const TABLE: &str = "\
  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode
   0: 0100007F:CD2D 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 1 1 0 100 0 0 10 0
   1: 0100007F:CD2D 0100007F:9C40 01 00000000:00000000 00:00000000 00000000     0        0 2 1 0 20 4 30 10 -1
   2: 0100007F:9C40 0100007F:CD2D 01 00000000:00000000 00:00000000 00000000  1000        0 3 1 0 20 4 30 10 -1
";

    #[test]
    fn the_owner_of_a_connection_is_the_owner_of_its_other_end() {
        let owner = |peer: &str, port| owner_in(TABLE, peer.parse().unwrap(), port);
        assert_eq!(owner("127.0.0.1:40000", 52525), Some(1000));
        assert_eq!(owner("[::ffff:127.0.0.1]:40000", 52525), Some(1000));
        assert_eq!(owner("127.0.0.1:40001", 52525), None, "unknown");
        assert_eq!(owner("127.0.0.1:40000", 52526), None, "a connection to another server");
    }

    #[test]
    fn addresses_of_both_families_are_read() {
        let loopback = "00000000000000000000000001000000:CD2D";
        assert_eq!(address(loopback), Some(("::1".parse().unwrap(), 52525)));
        let mapped = "0000000000000000FFFF00000100007F:CD2D";
        assert_eq!(address(mapped), Some(("127.0.0.1".parse().unwrap(), 52525)));
        for wrong in ["", ":", "0100007F", "0100007:1", "0100007G:1", "0100007F:G"] {
            assert_eq!(address(wrong), None, "{wrong}");
        }
    }
}
