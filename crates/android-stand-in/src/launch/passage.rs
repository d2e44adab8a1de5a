//! From a socket in the folder of a phone, whose network is another, to a port of this machine.

use std::io;
use std::net::{Shutdown, TcpStream};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;

#[derive(Debug)]
pub struct Passage {
    socket: PathBuf,
    has_ended: Arc<AtomicBool>,
    accepting: Option<JoinHandle<()>>,
}

impl Passage {
    pub fn open(socket: PathBuf, port: u16) -> io::Result<Passage> {
        let listener = UnixListener::bind(&socket)?;
        let has_ended = Arc::new(AtomicBool::new(false));
        let is_over = Arc::clone(&has_ended);
        let accepting = std::thread::spawn(move || {
            for stream in listener.incoming() {
                if is_over.load(Ordering::Relaxed) {
                    return;
                }
                // A connection that cannot be made is closed at once.
                let _ = stream.and_then(|stream| join(stream, port));
            }
        });
        Ok(Passage { socket, has_ended, accepting: Some(accepting) })
    }
}

impl Drop for Passage {
    fn drop(&mut self) {
        self.has_ended.store(true, Ordering::Relaxed);
        // Wakes the thread, which then sees that it is over.
        let woken = UnixStream::connect(&self.socket);
        if let (Ok(_), Some(accepting)) = (woken, self.accepting.take()) {
            let _ = accepting.join();
        }
    }
}

/// The threads end when either side does.
fn join(inside: UnixStream, port: u16) -> io::Result<()> {
    let outside = TcpStream::connect(("127.0.0.1", port))?;
    outside.set_nodelay(true)?;
    let (mut from_inside, mut to_outside) = (inside.try_clone()?, outside.try_clone()?);
    let (mut from_outside, mut to_inside) = (outside, inside);
    std::thread::spawn(move || {
        let _ = io::copy(&mut from_inside, &mut to_outside);
        let _ = to_outside.shutdown(Shutdown::Both);
    });
    std::thread::spawn(move || {
        let _ = io::copy(&mut from_outside, &mut to_inside);
        let _ = to_inside.shutdown(Shutdown::Both);
    });
    Ok(())
}
