//! `app_process`, for one program: the server for phones of `crates/drivers`. Its protocol is answered here, on the simulated app; the
//! bytes of the program itself do not run. Where the real Android framework is the body of the phone, they do, there.

use std::io;
use std::os::linux::net::SocketAddrExt;
use std::os::unix::net::{SocketAddr, UnixListener as StdListener};
use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::unix::OwnedWriteHalf;
use tokio::net::{UnixListener, UnixStream};
use trailblaze_protocol::geometry::Point;

use super::looking;
use crate::framework;
use crate::keycodes::{can_type, key_press};
use crate::phone::SimulatedPhone;
use crate::wire::ShellFrame;

const CLASS: &str = "dev.trailblaze.server.Main";
/// The largest request.
const LARGEST: u32 = 1024 * 1024;

pub async fn run(phone: &SimulatedPhone, words: &[&str], to: &mut OwnedWriteHalf) -> io::Result<()> {
    let ["/", CLASS, name] = words else {
        let message = "Error: Could not find or load the main class\n";
        ShellFrame::Stderr(message.as_bytes().to_vec()).send(to).await?;
        return ShellFrame::Exit(1).send(to).await;
    };
    if phone.state().behaviour.no_programs {
        ShellFrame::Stderr(b"Aborted\n".to_vec()).send(to).await?;
        return ShellFrame::Exit(134).send(to).await;
    }
    let Ok(_automation) = phone.automation.try_lock() else {
        let message = format!("failed: {}\n", looking::REGISTERED);
        ShellFrame::Stdout(message.into_bytes()).send(to).await?;
        return ShellFrame::Exit(0).send(to).await;
    };
    let listener = StdListener::bind_addr(&SocketAddr::from_abstract_name(name)?)?;
    listener.set_nonblocking(true)?;
    let listener = UnixListener::from_std(listener)?;
    ShellFrame::Stdout(b"ready\n".to_vec()).send(to).await?;
    let (mut client, _) = listener.accept().await?;
    // A client that is gone is the end of the program, not a failure.
    if framework::is_there() {
        let mut body = framework::connect().await?;
        let _ = tokio::io::copy_bidirectional(&mut client, &mut body).await;
    } else {
        let _ = serve(phone, client).await;
    }
    ShellFrame::Exit(0).send(to).await
}

async fn serve(phone: &SimulatedPhone, mut client: UnixStream) -> io::Result<()> {
    loop {
        let length = client.read_u32().await?;
        if !(1..=LARGEST).contains(&length) {
            return Ok(());
        }
        let mut request = vec![0; length as usize];
        client.read_exact(&mut request).await?;
        let (status, content) = match answer(phone, request[0], &request[1..]).await {
            Ok(content) => (0, content),
            Err(why) => (1, why.into_bytes()),
        };
        let length = u32::try_from(content.len() + 1).map_err(io::Error::other)?;
        client.write_all(&[length.to_be_bytes().as_slice(), &[status], &content].concat()).await?;
    }
}

async fn answer(phone: &SimulatedPhone, kind: u8, content: &[u8]) -> Result<Vec<u8>, String> {
    let text = || String::from_utf8(content.to_vec()).map_err(|error| error.to_string());
    match kind {
        b'T' => return looking::tree(phone).await.map(String::into_bytes).ok_or("null root node".to_string()),
        b'P' => return Ok(looking::png(phone).await),
        b'G' => gesture(phone, content).await.ok_or("there is no such gesture")?,
        b'K' => {
            for name in text()?.split(' ') {
                phone.press(key_press(name), &[]).await;
            }
        }
        b'I' => {
            let text = text()?;
            let is_typed = text.chars().all(|sign| can_type(sign) || matches!(sign, '\n' | '\t'));
            if !is_typed && !phone.has_field().await {
                return Err("no field has the focus; tap a field first".to_string());
            }
            phone.type_text(&text).await;
        }
        b'R' => {
            if !phone.has_field().await {
                return Err("no field has the focus; tap a field first".to_string());
            }
            phone.set_text(&text()?).await;
        }
        kind => return Err(format!("there is no request {kind}")),
    }
    Ok(Vec::new())
}

/// How often, how long the fingers rest and move, and for each of them where from and to.
async fn gesture(phone: &SimulatedPhone, content: &[u8]) -> Option<()> {
    let (times, rest) = content.split_first()?;
    let number = |at: usize| Some(i32::from_be_bytes(rest.get(at..at + 4)?.try_into().ok()?));
    let milliseconds = |at: usize| u64::try_from(number(at)?).ok().map(Duration::from_millis);
    let duration = milliseconds(0)? + milliseconds(4)?;
    let point = |at: usize| Some(Point { x: number(at)?, y: number(at + 4)? });
    match rest.get(8)? {
        1 => {
            let (from, to) = (point(9)?, point(17)?);
            for _ in 0..*times {
                // The answer comes with the end of the gesture.
                tokio::time::sleep(duration).await;
                phone.swipe(from, to, duration).await;
            }
        }
        2 => {
            let distance = |one: Point, other: Point| {
                f64::from(one.x.abs_diff(other.x)).hypot(f64::from(one.y.abs_diff(other.y))).max(1.0)
            };
            phone.pinch(distance(point(17)?, point(33)?) / distance(point(9)?, point(25)?)).await;
        }
        _ => return None,
    }
    Some(())
}
