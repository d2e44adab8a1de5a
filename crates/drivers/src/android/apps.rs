//! Apps of the phone: start, stop, clear, permissions, links.

use trailblaze_core::driver::{AppProcessState, Budget, CurrentApp, DriverError, LaunchMode};

use super::adb::quote;
use super::phone::{Phone, refused};

/// How many installed apps a message lists.
const LISTED: usize = 20;
/// As a launcher starts an app: in a task of its own, or in the one that it has.
const AS_LAUNCHER: &str = "-a android.intent.action.MAIN -c android.intent.category.LAUNCHER -f 0x10200000";

pub async fn launch(phone: &Phone, budget: &Budget, app: &str, mode: LaunchMode) -> Result<(), DriverError> {
    let activity = launcher_activity(phone, budget, app).await?;
    match mode {
        LaunchMode::Reinstall => clear(phone, budget, app).await?,
        LaunchMode::ForceRestart => stop(phone, budget, app).await?,
        LaunchMode::Resume => {}
    }
    start(phone, budget, &format!("am start -W {AS_LAUNCHER} -n {}", quote(&activity))).await
}

pub async fn stop(phone: &Phone, budget: &Budget, app: &str) -> Result<(), DriverError> {
    // The command itself says nothing about apps that are not there.
    if !phone.run(budget, &format!("pm path {0} && am force-stop {0}", quote(app))).await?.is_success() {
        return Err(not_installed(phone, budget, app).await);
    }
    Ok(())
}

pub async fn clear(phone: &Phone, budget: &Budget, app: &str) -> Result<(), DriverError> {
    let command = format!("pm clear {}", quote(app));
    let output = phone.run(budget, &command).await?;
    if output.text().trim() == "Success" {
        return Ok(());
    }
    if !is_installed(phone, budget, app).await? {
        return Err(not_installed(phone, budget, app).await);
    }
    Err(refused(&command, &output.complaint()))
}

/// Changes a permission, by its full name or by that of Android's own: `CAMERA`. `change` is `grant` or `revoke`.
pub async fn permit(
    phone: &Phone,
    budget: &Budget,
    change: &str,
    (app, permission): (&str, &str),
) -> Result<(), DriverError> {
    let full = match permission.contains('.') {
        true => permission.to_string(),
        false => format!("android.permission.{}", permission.to_ascii_uppercase()),
    };
    if !is_installed(phone, budget, app).await? {
        return Err(not_installed(phone, budget, app).await);
    }
    let command = format!("pm {change} {} {}", quote(app), quote(&full));
    phone.must(budget, &command).await.map(|_| ())
}

pub async fn open_url(phone: &Phone, budget: &Budget, url: &str) -> Result<(), DriverError> {
    start(phone, budget, &format!("am start -W -a android.intent.action.VIEW -d {}", quote(url))).await
}

/// The app in front and its activity, by its full name.
pub async fn current(phone: &Phone, budget: &Budget) -> Result<CurrentApp, DriverError> {
    let printed = phone.must(budget, "dumpsys activity activities").await?;
    resumed_activity(&printed).ok_or_else(|| {
        let reason = "no app is in front; the phone may be asleep, locked, or starting".to_string();
        DriverError::Refused { reason }
    })
}

/// Whether an app is installed, runs, and is in front. Android does not tell the shell about apps that it suspends.
pub async fn state(phone: &Phone, budget: &Budget, app: &str) -> Result<AppProcessState, DriverError> {
    if !is_installed(phone, budget, app).await? {
        return Ok(AppProcessState::NotInstalled);
    }
    if phone.run(budget, &format!("pidof {}", quote(app))).await?.text().trim().is_empty() {
        return Ok(AppProcessState::NotRunning);
    }
    // While the phone is locked, no app has the focus.
    let printed = phone.must(budget, "dumpsys activity activities").await?;
    let is_in_front = resumed_activity(&printed).is_some_and(|current| current.app == app);
    Ok(if is_in_front { AppProcessState::Foreground } else { AppProcessState::Background })
}

/// The activity that has the focus, under the names that versions of Android have for it.
fn resumed_activity(printed: &str) -> Option<CurrentApp> {
    const NAMES: [&str; 4] = ["topResumedActivity=", "mResumedActivity:", "ResumedActivity:", "mFocusedApp="];
    let of = |name: &str| {
        let record = printed.lines().find_map(|line| line.trim().strip_prefix(name))?;
        let (app, class) = record.split_whitespace().find_map(|word| word.trim_end_matches('}').split_once('/'))?;
        let class = if class.starts_with('.') { format!("{app}{class}") } else { class.to_string() };
        Some(CurrentApp { app: app.to_string(), activity: Some(class) })
    };
    NAMES.into_iter().find_map(of)
}

pub async fn list(phone: &Phone, budget: &Budget) -> Result<Vec<String>, DriverError> {
    installed(phone, budget, "pm list packages").await
}

/// Starts an activity. Older versions of Android report a failure only by what they print.
async fn start(phone: &Phone, budget: &Budget, command: &str) -> Result<(), DriverError> {
    let output = phone.run(budget, command).await?;
    let printed = format!("{}\n{}", output.error_text(), output.text());
    let mut errors =
        printed.lines().map(str::trim).filter(|line| line.starts_with("Error:") || line.contains("Exception:"));
    match errors.next() {
        Some(error) => Err(refused(command, error)),
        None if !output.is_success() => Err(refused(command, &output.complaint())),
        None => Ok(()),
    }
}

/// The activity that a launcher would start, as `package/class`.
async fn launcher_activity(phone: &Phone, budget: &Budget, app: &str) -> Result<String, DriverError> {
    let command = format!("cmd package resolve-activity --brief -c android.intent.category.LAUNCHER {}", quote(app));
    let printed = phone.run(budget, &command).await?.text();
    let prefix = format!("{app}/");
    if let Some(activity) = printed.lines().map(str::trim).rfind(|line| line.starts_with(&prefix)) {
        return Ok(activity.to_string());
    }
    if !is_installed(phone, budget, app).await? {
        return Err(not_installed(phone, budget, app).await);
    }
    Err(DriverError::Refused { reason: format!("the app `{app}` has no activity that a launcher could start") })
}

pub async fn is_installed(phone: &Phone, budget: &Budget, app: &str) -> Result<bool, DriverError> {
    Ok(phone.run(budget, &format!("pm path {}", quote(app))).await?.is_success())
}

pub async fn not_installed(phone: &Phone, budget: &Budget, app: &str) -> DriverError {
    // Without those that came with the phone.
    let mut others = match installed(phone, budget, "pm list packages -3").await {
        Ok(others) => others,
        Err(error) => return error,
    };
    let more = others.len().saturating_sub(LISTED);
    others.truncate(LISTED);
    let list = if others.is_empty() { "none".to_string() } else { others.join(", ") };
    let more = if more == 0 { String::new() } else { format!(" and {more} more") };
    DriverError::Refused { reason: format!("the app `{app}` is not installed; installed apps: {list}{more}") }
}

async fn installed(phone: &Phone, budget: &Budget, command: &str) -> Result<Vec<String>, DriverError> {
    let printed = phone.must(budget, command).await?;
    let mut ids: Vec<String> =
        printed.lines().filter_map(|line| line.trim().strip_prefix("package:")).map(str::to_string).collect();
    ids.sort();
    Ok(ids)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_app_in_front_is_read_from_what_each_version_prints() {
        let current = |printed: &str| resumed_activity(printed).map(|current| current.activity.unwrap_or_default());
        let newer = "  ResumedActivity: ActivityRecord{1 u0 a.b/.Old t1}\n  topResumedActivity=ActivityRecord{6f3 u0 a.b/.Main t12}\n";
        assert_eq!(current(newer).as_deref(), Some("a.b.Main"));
        let older = "    mResumedActivity: ActivityRecord{6f3 u0 a.b/c.d.Main t12}\n";
        assert_eq!(current(older).as_deref(), Some("c.d.Main"));
        assert_eq!(current("  mFocusedApp=null\n"), None);
    }
}
