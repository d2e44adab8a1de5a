//! Commands of a phone's shell over the protocol of the adb server, with nothing around them.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::{Duration, Instant};

pub struct BareAdb {
    port: u16,
    serial: String,
}

impl BareAdb {
    pub fn new(port: u16, serial: &str) -> BareAdb {
        BareAdb { port, serial: serial.to_string() }
    }

    /// How long a command takes, with all that it prints.
    pub fn command(&self, command: &str) -> Duration {
        let began = Instant::now();
        let mut stream = TcpStream::connect(("127.0.0.1", self.port)).expect("the adb server");
        stream.set_nodelay(true).expect("a socket");
        for request in [format!("host:transport:{}", self.serial), format!("exec:{command}")] {
            stream.write_all(format!("{:04x}{request}", request.len()).as_bytes()).expect("it is sent");
            let mut status = [0; 4];
            stream.read_exact(&mut status).expect("an answer");
            assert_eq!(&status, b"OKAY", "{request}");
        }
        stream.read_to_end(&mut Vec::new()).expect("its output");
        began.elapsed()
    }
}
