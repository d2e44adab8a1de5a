//! The services of adb's daemon that the driver uses, in this process: for the device that Trailblaze itself runs on, where no adb is
//! needed. A command is a child of this process rather than of the daemon; like there, it is hung up on when its connection ends.

use std::process::Stdio;
use std::sync::Arc;

use tokio::io::{AsyncRead, AsyncReadExt, AsyncWriteExt, DuplexStream, WriteHalf};
use tokio::process::{Child, ChildStdin, Command};
use tokio::sync::Mutex;

use super::connection::AdbConnection;
use super::error::AdbError;
use super::shell::{CLOSE_STDIN, EXIT, STDERR, STDIN, STDOUT, packed};

/// How many bytes wait between a command and its reader, and how many are read at once.
const BUFFER: usize = 256 * 1024;
const CHUNK: usize = 64 * 1024;
/// The code of a command that a signal ended.
const SIGNALLED: u8 = 255;

/// Connects to a service.
pub fn open(service: &str) -> Result<AdbConnection, AdbError> {
    if let Some(command) = service.strip_prefix("shell,v2,raw:") {
        let (near, far) = tokio::io::duplex(BUFFER);
        let child = start(command)?;
        // Detached: ends when the command or the connection does.
        tokio::spawn(serve(child, far));
        return Ok(AdbConnection::of(near));
    }
    match service.strip_prefix("localabstract:") {
        Some(name) => connect(name),
        None => Err(AdbError::Refused { service: service.to_string(), reason: "this device has no adb".to_string() }),
    }
}

fn start(command: &str) -> Result<Child, AdbError> {
    let mut shell = Command::new("sh");
    shell.args(["-c", command]).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    // With what it starts, it is hung up on together. The shell that puts back what a session changed must outlive it.
    #[cfg(unix)]
    shell.process_group(0);
    let child = shell.kill_on_drop(false).spawn();
    child.map_err(|error| AdbError::Refused { service: "shell".to_string(), reason: error.to_string() })
}

/// Hangs up on a group of processes when it is dropped, also with the runtime, unless they have ended. They ignore that if this program was
/// started with hangups ignored, as by `nohup`; therefore they are asked to end as well.
struct HangUp(Option<u32>);

impl Drop for HangUp {
    fn drop(&mut self) {
        if let Some(group) = self.0 {
            let mut shell = std::process::Command::new("sh");
            let _ =
                shell.args(["-c", &format!("kill -HUP -{group}; kill -TERM -{group}")]).stderr(Stdio::null()).status();
        }
    }
}

/// Passes on what goes into a command and comes out of it, in the packets of the shell protocol.
async fn serve(mut child: Child, connection: DuplexStream) {
    let mut hang_up = HangUp(child.id());
    let (mut from, to) = tokio::io::split(connection);
    let to = Arc::new(Mutex::new(to));
    let (input, output, errors) = (child.stdin.take(), child.stdout.take(), child.stderr.take());
    let ended = async {
        tokio::join!(pass_out(output, STDOUT, &to), pass_out(errors, STDERR, &to));
        let code = child.wait().await.ok().and_then(|status| status.code());
        let code = code.and_then(|code| u8::try_from(code).ok()).unwrap_or(SIGNALLED);
        let _ = to.lock().await.write_all(&packed(EXIT, &[code])).await;
    };
    let is_over = tokio::select! {
        () = ended => true,
        () = pass_in(&mut from, input) => false,
    };
    if is_over {
        hang_up.0 = None;
    } else {
        drop(hang_up);
        let _ = child.wait().await;
    }
}

async fn pass_out(output: Option<impl AsyncRead + Unpin>, kind: u8, to: &Mutex<WriteHalf<DuplexStream>>) {
    let Some(mut output) = output else { return };
    let mut bytes = vec![0; CHUNK];
    while let Ok(count @ 1..) = output.read(&mut bytes).await {
        if to.lock().await.write_all(&packed(kind, &bytes[..count])).await.is_err() {
            return;
        }
    }
}

/// Returns when the connection ends.
async fn pass_in(from: &mut (impl AsyncRead + Unpin), mut input: Option<ChildStdin>) {
    loop {
        let Ok(kind) = from.read_u8().await else { return };
        let Ok(length) = from.read_u32_le().await else { return };
        let mut bytes = vec![0; usize::try_from(length).unwrap_or(0)];
        if from.read_exact(&mut bytes).await.is_err() {
            return;
        }
        match (kind, &mut input) {
            // A command that reads no more says so by how it ends.
            (STDIN, Some(input)) => drop(input.write_all(&bytes).await),
            (CLOSE_STDIN, _) => input = None,
            _ => {}
        }
    }
}

#[cfg(any(target_os = "linux", target_os = "android"))]
fn connect(name: &str) -> Result<AdbConnection, AdbError> {
    #[cfg(target_os = "android")]
    use std::os::android::net::SocketAddrExt;
    #[cfg(target_os = "linux")]
    use std::os::linux::net::SocketAddrExt;
    use std::os::unix::net::{SocketAddr, UnixStream};

    let stream = SocketAddr::from_abstract_name(name).and_then(|address| {
        let stream = UnixStream::connect_addr(&address)?;
        stream.set_nonblocking(true)?;
        tokio::net::UnixStream::from_std(stream)
    });
    let refused = |error: std::io::Error| AdbError::Refused { service: name.to_string(), reason: error.to_string() };
    stream.map(AdbConnection::of).map_err(refused)
}

#[cfg(not(any(target_os = "linux", target_os = "android")))]
fn connect(name: &str) -> Result<AdbConnection, AdbError> {
    let reason = "this system has no such sockets".to_string();
    Err(AdbError::Refused { service: name.to_string(), reason })
}

/// The size of a file, if there is one.
pub async fn stat(path: &str) -> Option<u64> {
    let path = path.to_string();
    let about = tokio::task::spawn_blocking(move || std::fs::metadata(path)).await.ok()?.ok()?;
    Some(about.len())
}

pub async fn pull(path: &str, limit: usize) -> Result<Vec<u8>, AdbError> {
    let name = path.to_string();
    let content = blocking(path, move || std::fs::read(name)).await?;
    match content.len() > limit {
        true => Err(AdbError::TooLarge { what: format!("`{path}`"), limit }),
        false => Ok(content),
    }
}

pub async fn push(path: &str, content: &[u8], mode: u32) -> Result<(), AdbError> {
    let (name, content) = (path.to_string(), content.to_vec());
    blocking(path, move || {
        std::fs::write(&name, content)?;
        #[cfg(unix)]
        std::fs::set_permissions(&name, std::os::unix::fs::PermissionsExt::from_mode(mode & 0o777))?;
        #[cfg(not(unix))]
        let _ = mode;
        Ok(())
    })
    .await
}

async fn blocking<T: Send + 'static>(
    path: &str,
    work: impl FnOnce() -> std::io::Result<T> + Send + 'static,
) -> Result<T, AdbError> {
    let done = tokio::task::spawn_blocking(work).await.unwrap_or_else(|error| Err(std::io::Error::other(error)));
    done.map_err(|error| AdbError::Refused { service: format!("sync:{path}"), reason: error.to_string() })
}

#[cfg(all(test, unix))]
mod tests {
    use super::super::fake::budget;
    use super::super::{AdbDevice, AdbError};

    #[tokio::test]
    async fn a_command_has_its_output_its_errors_and_its_exit_code() {
        let output = AdbDevice::here().shell(&budget(), "echo out; echo err >&2; exit 7", 1000).await.expect("it runs");
        assert_eq!((output.text().as_str(), output.error_text().as_str(), output.exit_code), ("out\n", "err\n", 7));
        let endless = AdbDevice::here().shell(&budget(), "yes", 1_000_000).await;
        assert!(matches!(endless, Err(AdbError::TooLarge { .. })), "{endless:?}");
    }

    #[tokio::test]
    async fn a_shell_answers_lines_until_its_input_ends() {
        let script = "while read -r line; do echo \"<$line>\"; done; exit 3";
        let mut shell = AdbDevice::here().start(&budget(), script).await.expect("it starts");
        assert_eq!(shell.exchange(&budget(), "a b").await.as_deref(), Ok("<a b>"));
        assert_eq!(shell.finish(&budget()).await, Ok(3));
    }

    #[tokio::test]
    async fn a_command_is_hung_up_on_when_its_connection_ends() {
        let folder = tempfile::tempdir().expect("a folder");
        let mark = folder.path().join("mark");
        let script =
            format!("trap 'echo gone >{}; kill $!; exit' HUP TERM; echo ready; sleep 600 & wait", mark.display());
        let mut shell = AdbDevice::here().start(&budget(), &script).await.expect("it starts");
        assert_eq!(shell.next_line(&budget()).await.as_deref(), Ok("ready"));
        drop(shell);
        let gone = async {
            while !mark.exists() {
                tokio::time::sleep(std::time::Duration::from_millis(5)).await;
            }
        };
        budget().run("the end of the command", gone).await.expect("it was told");
    }

    #[tokio::test]
    async fn files_are_those_of_this_device() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("a").display().to_string();
        let here = AdbDevice::here();
        assert_eq!(here.stat(&budget(), &path).await, Ok(None));
        here.push(&budget(), &path, b"hello", 0o600).await.expect("it is written");
        assert_eq!(here.stat(&budget(), &path).await.expect("it is there").map(|file| file.size), Some(5));
        assert_eq!(here.pull(&budget(), &path, 5).await.as_deref(), Ok(b"hello".as_slice()));
        let large = here.pull(&budget(), &path, 4).await;
        assert!(matches!(large, Err(AdbError::TooLarge { .. })), "{large:?}");
    }
}
