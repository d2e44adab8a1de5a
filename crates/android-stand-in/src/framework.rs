//! The other body of the phone: an app in the real Android framework on a JVM, if one listens on a socket (`tests/android-framework`).
//! Commands about the screen and about apps then reach that, everything else stays as it is.

use std::io;
use std::path::Path;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::UnixStream;

/// Where it listens, in the folder that the phone shares with its test.
const SOCKET: &str = "/dev/socket/framework";
/// The app that it has, and the activity that a launcher would start.
pub const PACKAGE: &str = "io.appium.android.apis";
pub const ACTIVITY: &str = "io.appium.android.apis/.ApiDemos";

pub fn is_there() -> bool {
    Path::new(SOCKET).exists()
}

pub async fn connect() -> io::Result<UnixStream> {
    UnixStream::connect(SOCKET).await
}

/// Sends one request, in the protocol of the server for phones.
pub async fn ask(kind: u8, content: &[u8]) -> Result<Vec<u8>, String> {
    let exchange = async {
        let mut connection = connect().await?;
        let length = u32::try_from(content.len() + 1).map_err(io::Error::other)?;
        connection.write_all(&[length.to_be_bytes().as_slice(), &[kind], content].concat()).await?;
        let length = connection.read_u32().await?;
        let mut answer = vec![0; length as usize];
        connection.read_exact(&mut answer).await?;
        Ok::<Vec<u8>, io::Error>(answer)
    };
    let mut answer = exchange.await.map_err(|error| format!("the framework does not answer: {error}"))?;
    match answer.is_empty() || answer.remove(0) != 0 {
        true => Err(String::from_utf8_lossy(&answer).into_owned()),
        false => Ok(answer),
    }
}

/// A finger that rests, moves and leaves, as a request.
pub fn gesture(rest: u32, duration: u32, way: [i32; 4]) -> Vec<u8> {
    let mut bytes = vec![1];
    bytes.extend(rest.to_be_bytes());
    bytes.extend(duration.to_be_bytes());
    bytes.push(1);
    bytes.extend(way.into_iter().flat_map(i32::to_be_bytes));
    bytes
}
