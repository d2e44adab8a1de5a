//! Clients that others wrote for real phones, so that the stand-in does not only agree with ourselves. In the full tier.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use crate::skip;
use crate::support::{Connected, parts_folder};

fn script(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/peers").join(name)
}

/// A phone, if this is the full tier and the client is installed.
fn phone_for(client: &Path) -> Option<Connected> {
    std::env::var_os("SOAK")?;
    if !client.exists() {
        skip::without_part(&format!("{} is missing; `scripts/parts full` installs it", client.display()));
        return None;
    }
    Connected::start()
}

fn check(output: Output) {
    let said = [output.stdout, output.stderr].concat();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&said));
}

#[test]
fn mobile_mcp_uses_the_phone() {
    let program = parts_folder().join("../bench/node_modules/@mobilenext/mobile-mcp/lib/index.js");
    let Some(connected) = phone_for(&program) else { return };
    let adb = connected.server.adb();
    let folder = Path::new(adb.get_program()).parent().expect("the folder of adb");
    let path = std::env::var_os("PATH").unwrap_or_default();
    let folders = std::iter::once(folder.to_path_buf()).chain(std::env::split_paths(&path));
    let mut client = Command::new("python3");
    client.arg(script("mobile_mcp_client.py")).arg(parts_folder().join("../node/node_modules/.bin/node")).arg(program);
    client.arg(connected.phone.serial()).env("ADB_SERVER_SOCKET", connected.server.socket());
    client.env("PATH", std::env::join_paths(folders).expect("a search path")).env("MOBILEMCP_DISABLE_TELEMETRY", "1");
    // Otherwise it installs a program of its own on the phone.
    check(client.env("MOBILEMCP_LEGACY_ROBOT", "1").output().unwrap());
}

#[test]
fn adbutils_and_uiautomator2_use_the_phone() {
    let python = parts_folder().join("../adbutils/bin/python");
    let Some(connected) = phone_for(&python) else { return };
    let mut client = Command::new(&python);
    client.arg(script("adbutils_client.py")).arg(connected.server.port().to_string()).arg(connected.phone.serial());
    check(client.output().unwrap());
}
