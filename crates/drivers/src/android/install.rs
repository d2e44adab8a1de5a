//! Installs and removes apps.

use trailblaze_core::driver::{Budget, DriverError};

use super::adb::quote;
use super::apps;
use super::files;
use super::phone::{Phone, refused};
use super::undo::UndoShell;

/// What a refusal of Android means, by its name, where that can be said better than it says it.
const MEANINGS: [(&str, &str); 8] = [
    (
        "INSTALL_FAILED_UPDATE_INCOMPATIBLE",
        "the phone has this app with another signature; remove that one first, with `mobile_uninstallApp`",
    ),
    ("INSTALL_FAILED_VERSION_DOWNGRADE", "the phone has a newer version of this app; remove that one first"),
    ("INSTALL_FAILED_INSUFFICIENT_STORAGE", "the phone has too little space; remove apps or files from it"),
    ("INSTALL_FAILED_NO_MATCHING_ABIS", "the app was not built for the processor of this phone"),
    ("INSTALL_FAILED_OLDER_SDK", "the app needs a newer Android than this phone has"),
    ("INSTALL_FAILED_TEST_ONLY", "the app was built for tests only; build it without `testOnly`"),
    (
        "INSTALL_FAILED_USER_RESTRICTED",
        "the phone does not allow it; some phones need \"Install via USB\" in their developer options",
    ),
    ("INSTALL_PARSE_FAILED_NOT_APK", "the file is no APK"),
];

/// Installs an APK: it is copied to the phone, installed from there, and removed whatever happens.
pub async fn install(phone: &Phone, undo: &UndoShell, budget: &Budget, file: &str) -> Result<(), DriverError> {
    let content = files::read(file).await?;
    let path = files::passing("apk")?;
    let remove = format!("rm -f {path}");
    undo.keep(phone, budget, &remove).await?;
    files::write(phone, budget, &path, &content).await?;
    let installed = phone.run(budget, &format!("pm install -r {path}")).await;
    phone.run(budget, &remove).await?;
    match installed? {
        output if output.text().lines().any(|line| line.trim() == "Success") => Ok(()),
        output => Err(not_done("pm install", &output.complaint())),
    }
}

pub async fn uninstall(phone: &Phone, budget: &Budget, app: &str) -> Result<(), DriverError> {
    if !apps::is_installed(phone, budget, app).await? {
        return Err(apps::not_installed(phone, budget, app).await);
    }
    let output = phone.run(budget, &format!("pm uninstall {}", quote(app))).await?;
    match output.text().trim() == "Success" {
        true => Ok(()),
        false => Err(not_done("pm uninstall", &output.complaint())),
    }
}

fn not_done(command: &str, complaint: &str) -> DriverError {
    match MEANINGS.iter().find(|(name, _)| complaint.contains(name)) {
        Some((name, meaning)) => DriverError::Refused { reason: format!("{meaning} ({name})") },
        None => refused(command, complaint),
    }
}
