//! The stream of pictures that WebDriverAgent offers at a port of its own.

use std::io;
use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use trailblaze_core::driver::ObserveOptions;

use crate::iphone::Iphone;

/// The time from one picture to the next.
const FRAME: Duration = Duration::from_millis(100);
const HEAD: &str = "HTTP/1.0 200 OK\r\nServer: WDA MJPEG Server\r\nConnection: close\r\nCache-Control: no-cache\r\n\
                    Content-Type: multipart/x-mixed-replace; boundary=--BoundaryString\r\n\r\n";

/// Sends pictures until the client leaves. What it asks for is not looked at.
pub async fn stream(iphone: &Iphone, mut connection: TcpStream) -> io::Result<()> {
    let mut request = [0; 1024];
    if connection.read(&mut request).await? == 0 {
        return Ok(());
    }
    connection.write_all(HEAD.as_bytes()).await?;
    loop {
        let jpeg = jpeg(iphone.screen(ObserveOptions::TREE).await.snapshot.0);
        let head = format!("--BoundaryString\r\nContent-type: image/jpg\r\nContent-Length: {}\r\n\r\n", jpeg.len());
        connection.write_all(&[head.as_bytes(), &jpeg, b"\r\n\r\n"].concat()).await?;
        tokio::time::sleep(FRAME).await;
    }
}

/// A grey dot, with the number of the screen as a comment.
fn jpeg(number: u64) -> Vec<u8> {
    let comment = number.to_be_bytes();
    let mut jpeg = vec![0xff, 0xd8, 0xff, 0xfe, 0, 10];
    jpeg.extend_from_slice(&comment);
    // A table of ones to divide by.
    jpeg.extend_from_slice(&[0xff, 0xdb, 0, 67, 0]);
    jpeg.extend_from_slice(&[1; 64]);
    // One component of eight bits, one by one pixel.
    jpeg.extend_from_slice(&[0xff, 0xc0, 0, 11, 8, 0, 1, 0, 1, 1, 1, 0x11, 0]);
    // Two tables of codes, each with one code of one bit, for zero.
    for class in [0x00, 0x10] {
        jpeg.extend_from_slice(&[0xff, 0xc4, 0, 20, class, 1]);
        jpeg.extend_from_slice(&[0; 16]);
    }
    jpeg.extend_from_slice(&[0xff, 0xda, 0, 8, 1, 1, 0, 0, 63, 0, 0x3f, 0xff, 0xd9]);
    jpeg
}
