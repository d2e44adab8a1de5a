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
fn adbutils_uses_the_phone() {
    let python = parts_folder().join("../adbutils/bin/python");
    let Some(connected) = phone_for(&python) else { return };
    let mut client = Command::new(&python);
    client.arg(script("adbutils_client.py")).arg(connected.server.port().to_string()).arg(connected.phone.serial());
    check(client.output().unwrap());
}
