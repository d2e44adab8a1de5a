//! The way from the adb server to a phone, whose network is another: a port here, a socket in the file system there.

use std::io;
use std::net::{Shutdown, TcpListener, TcpStream};
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::sync::Arc;
use std::thread::JoinHandle;

use parking_lot::Mutex;

#[derive(Debug)]
pub struct Cable {
    port: u16,
    state: Arc<Mutex<CableState>>,
    accepting: Option<JoinHandle<()>>,
}

#[derive(Debug)]
struct CableState {
    is_plugged: bool,
    has_ended: bool,
    connections: Vec<(TcpStream, UnixStream)>,
}

impl Cable {
    pub fn plug_in(phone: PathBuf) -> io::Result<Cable> {
        let listener = TcpListener::bind(("127.0.0.1", 0))?;
        let port = listener.local_addr()?.port();
        let state = Arc::new(Mutex::new(CableState { is_plugged: true, has_ended: false, connections: Vec::new() }));
        let own = Arc::clone(&state);
        let accepting = std::thread::spawn(move || {
            for stream in listener.incoming() {
                let mut state = own.lock();
                if state.has_ended {
                    return;
                }
                // A connection that cannot be made is closed at once.
                if state.is_plugged
                    && let Ok(stream) = stream
                    && let Ok(connection) = join(stream, &phone)
                {
                    state.connections.push(connection);
                }
            }
        });
        Ok(Cable { port, state, accepting: Some(accepting) })
    }

    pub fn port(&self) -> u16 {
        self.port
    }

    pub fn set_plugged(&self, is_plugged: bool) {
        let mut state = self.state.lock();
        state.is_plugged = is_plugged;
        if !is_plugged {
            state.cut();
        }
    }
}

impl CableState {
    fn cut(&mut self) {
        for (outside, inside) in self.connections.drain(..) {
            let _ = outside.shutdown(Shutdown::Both);
            let _ = inside.shutdown(Shutdown::Both);
        }
    }
}

impl Drop for Cable {
    fn drop(&mut self) {
        {
            let mut state = self.state.lock();
            state.has_ended = true;
            state.cut();
        }
        // Wakes the thread, which then sees that it is over.
        let woken = TcpStream::connect(("127.0.0.1", self.port));
        if let (Ok(_), Some(accepting)) = (woken, self.accepting.take()) {
            let _ = accepting.join();
        }
    }
}

fn join(outside: TcpStream, phone: &PathBuf) -> io::Result<(TcpStream, UnixStream)> {
    let inside = UnixStream::connect(phone)?;
    outside.set_nodelay(true)?;
    let (mut from_outside, mut to_inside) = (outside.try_clone()?, inside.try_clone()?);
    let (mut from_inside, mut to_outside) = (inside.try_clone()?, outside.try_clone()?);
    std::thread::spawn(move || {
        let _ = io::copy(&mut from_outside, &mut to_inside);
        let _ = to_inside.shutdown(Shutdown::Both);
    });
    std::thread::spawn(move || {
        let _ = io::copy(&mut from_inside, &mut to_outside);
        let _ = to_outside.shutdown(Shutdown::Both);
    });
    Ok((outside, inside))
}
