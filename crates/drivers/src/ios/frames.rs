//! Live pictures: the stream of JPEGs that WebDriverAgent offers at a port of its own.

use std::sync::Arc;
use std::time::Duration;

use bytes::{Buf, BytesMut};
use http_body_util::{BodyExt, Empty};
use hyper::Request;
use hyper_util::client::legacy::Client;
use hyper_util::rt::TokioExecutor;
use parking_lot::Mutex;
use tokio::sync::watch;
use trailblaze_core::driver::{DeviceEvents, ScreenFrame};
use trailblaze_protocol::device_event::DeviceEvent;
use trailblaze_protocol::event::Level;
use trailblaze_protocol::geometry::Size;

use super::usb::Usbmuxd;
use super::wda::{WdaAddress, WdaConnector};

/// How long a connection may take to open, and when it is tried again.
const CONNECT: Duration = Duration::from_secs(5);
const AGAIN: Duration = Duration::from_secs(1);
/// The largest picture and the longest header of one, in bytes.
const PICTURE: usize = 16 << 20;
const HEADER: usize = 4096;

/// The stream of one device. It is read only while somebody watches.
pub struct LivePictures {
    address: WdaAddress,
    usbmuxd: Usbmuxd,
    frames: watch::Sender<Option<ScreenFrame>>,
    size: Mutex<Size>,
    is_running: Mutex<bool>,
    events: Arc<DeviceEvents>,
}

impl LivePictures {
    pub fn new(address: WdaAddress, usbmuxd: Usbmuxd, size: Size, events: Arc<DeviceEvents>) -> Arc<LivePictures> {
        let (frames, size, is_running) = (watch::Sender::new(None), Mutex::new(size), Mutex::new(false));
        Arc::new(LivePictures { address, usbmuxd, frames, size, is_running, events })
    }

    /// The size of the screen, which the pictures do not say.
    pub fn set_size(&self, size: Size) {
        *self.size.lock() = size;
    }

    /// `None` outside of a runtime, in which nothing can be followed.
    pub fn watch(self: &Arc<LivePictures>) -> Option<watch::Receiver<Option<ScreenFrame>>> {
        let runtime = tokio::runtime::Handle::try_current().ok()?;
        // Under the lock, so that a task that is about to end sees the receiver.
        let mut is_running = self.is_running.lock();
        let receiver = self.frames.subscribe();
        if !std::mem::replace(&mut *is_running, true) {
            // Detached: ends when nobody watches any more.
            runtime.spawn(follow(Arc::clone(self)));
        }
        Some(receiver)
    }

    /// Ends the task, unless someone watches again.
    fn ends(&self) -> bool {
        let mut is_running = self.is_running.lock();
        *is_running = self.frames.receiver_count() > 0;
        if !*is_running {
            // It is out of date when someone watches again.
            self.frames.send_replace(None);
        }
        !*is_running
    }

    fn show(&self, jpeg: &[u8]) {
        let size = *self.size.lock();
        self.frames.send_if_modified(|last| {
            if last.as_ref().is_some_and(|last| last.size == size && *last.jpeg == *jpeg) {
                return false;
            }
            let number = last.as_ref().map_or(1, |last| last.number + 1);
            *last = Some(ScreenFrame { number, size, jpeg: jpeg.into() });
            true
        });
    }

    /// Reads pictures until the stream ends or nobody watches; why it ended.
    async fn stream(&self) -> String {
        let connector = WdaConnector::new(&self.address, &self.usbmuxd, CONNECT);
        let client: Client<_, Empty<bytes::Bytes>> = Client::builder(TokioExecutor::new()).build(connector);
        let mut request = Request::new(Empty::new());
        match self.address.url("/").parse() {
            Ok(uri) => *request.uri_mut() = uri,
            Err(_) => return "its address is none".to_string(),
        }
        let mut body = match client.request(request).await {
            Ok(response) if response.status().is_success() => response.into_body(),
            Ok(response) => return format!("it answered with the status {}", response.status()),
            Err(error) => return error.to_string(),
        };
        let mut received = BytesMut::new();
        loop {
            let part = tokio::select! {
                () = self.frames.closed() => return "nobody watches".to_string(),
                part = body.frame() => part,
            };
            match part {
                Some(Ok(part)) => received.extend_from_slice(part.data_ref().map_or(&[], |data| data)),
                Some(Err(error)) => return error.to_string(),
                None => return "it ended".to_string(),
            }
            loop {
                match next_picture(&mut received) {
                    Ok(Some(jpeg)) => self.show(&jpeg),
                    Ok(None) => break,
                    Err(why) => return why.to_string(),
                }
            }
        }
    }
}

async fn follow(pictures: Arc<LivePictures>) {
    let mut told = String::new();
    while !pictures.ends() {
        let why = pictures.stream().await;
        if pictures.ends() {
            return;
        }
        if why != told {
            let text = format!("no live pictures from {}: {why}", pictures.address);
            pictures.events.add(DeviceEvent::Log { level: Level::Warning, text });
            told = why;
        }
        tokio::select! {
            () = pictures.frames.closed() => {}
            () = tokio::time::sleep(AGAIN) => {}
        }
    }
}

/// Takes the next whole picture of a multipart stream: a header with its length, and the picture.
fn next_picture(received: &mut BytesMut) -> Result<Option<BytesMut>, &'static str> {
    let Some(end) = received.windows(4).position(|bytes| bytes == b"\r\n\r\n") else {
        return if received.len() > HEADER { Err("it is no stream of pictures") } else { Ok(None) };
    };
    let header = String::from_utf8_lossy(&received[..end]).to_ascii_lowercase();
    if header.trim().is_empty() {
        // The empty line after a picture.
        received.advance(end + 4);
        return next_picture(received);
    }
    let length = header.lines().find_map(|line| line.strip_prefix("content-length:")?.trim().parse::<usize>().ok());
    let length = length.filter(|length| *length <= PICTURE).ok_or("it is no stream of pictures")?;
    if received.len() < end + 4 + length {
        return Ok(None);
    }
    received.advance(end + 4);
    Ok(Some(received.split_to(length)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pictures_are_taken_when_they_are_whole() {
        let part = |jpeg: &str| {
            format!(
                "--BoundaryString\r\nContent-type: image/jpg\r\nContent-Length: {}\r\n\r\n{jpeg}\r\n\r\n",
                jpeg.len()
            )
        };
        let all = format!("{}{}", part("one"), part("second"));
        for cut in 0..all.len() {
            let mut received = BytesMut::new();
            let mut pictures = Vec::new();
            for bytes in [&all.as_bytes()[..cut], &all.as_bytes()[cut..]] {
                received.extend_from_slice(bytes);
                while let Some(picture) = next_picture(&mut received).expect("it is a stream") {
                    pictures.push(String::from_utf8_lossy(&picture).into_owned());
                }
            }
            assert_eq!(pictures, ["one", "second"], "{cut}");
        }
        assert!(next_picture(&mut BytesMut::from("<html>\r\n\r\n")).is_err());
        assert!(next_picture(&mut BytesMut::from(&[b'x'; HEADER + 1][..])).is_err());
    }
}
