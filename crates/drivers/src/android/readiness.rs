//! Whether a phone can be used now: awake, unlocked and with space left.

use std::time::Duration;

use tokio::time::Instant;
use trailblaze_core::driver::{Budget, DriverError};

use super::phone::Phone;

/// How long the lock screen may take to go away, and how often that is checked.
const TO_WAKE: Duration = Duration::from_secs(2);
const TICK: Duration = Duration::from_millis(200);
/// Below this, apps cannot be installed and logs are lost.
const LEAST_FREE_MB: u64 = 200;

/// Wakes a phone and unlocks it, if that needs no code.
pub async fn wake(phone: &Phone, budget: &Budget) -> Result<(), DriverError> {
    if is_awake(phone, budget).await? && !is_locked(phone, budget).await? {
        return Ok(());
    }
    phone.must(budget, "input keyevent KEYCODE_WAKEUP").await?;
    // Where there is a code, this shows the lock screen; older versions of Android have no such command.
    phone.run(budget, "wm dismiss-keyguard").await?;
    let end = budget.deadline.min(Instant::now() + TO_WAKE);
    loop {
        match why_dark(phone, budget).await {
            None => return Ok(()),
            Some(evidence) if Instant::now() >= end => return Err(DriverError::NotStarted { evidence }),
            Some(_) => budget.run("the phone to wake", tokio::time::sleep(TICK)).await?,
        }
    }
}

/// Why the phone shows nothing that could be tested, if it is asleep or locked.
pub async fn why_dark(phone: &Phone, budget: &Budget) -> Option<String> {
    let serial = phone.device.serial();
    if !is_awake(phone, budget).await.unwrap_or(true) {
        return Some(format!(
            "`{serial}` is asleep; wake it, and switch on \"Stay awake\" in its developer options while it is plugged in"
        ));
    }
    if is_locked(phone, budget).await.unwrap_or(false) {
        return Some(format!("`{serial}` is locked; unlock it, or remove its screen lock while tests run"));
    }
    None
}

/// Why the phone has too little space, if that is so.
pub async fn why_full(phone: &Phone, budget: &Budget) -> Option<String> {
    let printed = phone.run(budget, "df -k /data").await.ok()?.text();
    let free = free_megabytes(&printed)?;
    let serial = phone.device.serial();
    (free < LEAST_FREE_MB).then(|| format!("`{serial}` has only {free} MB left; remove apps or files from it"))
}

async fn is_awake(phone: &Phone, budget: &Budget) -> Result<bool, DriverError> {
    let printed = phone.run(budget, "dumpsys power").await?.text();
    let state = printed.lines().find_map(|line| line.trim().strip_prefix("mWakefulness="));
    Ok(state.is_none_or(|state| state.starts_with("Awake")))
}

async fn is_locked(phone: &Phone, budget: &Budget) -> Result<bool, DriverError> {
    let printed = phone.run(budget, "dumpsys window").await?.text();
    Ok(says_locked(&printed))
}

/// Versions of Android have different names for it; two of them mean the lock screen only beneath the name of its service.
fn says_locked(printed: &str) -> bool {
    const ANYWHERE: [&str; 3] = ["mDreamingLockscreen=true", "mShowingLockscreen=true", "isKeyguardShowing=true"];
    const OF_SERVICE: [&str; 2] = ["mIsShowing=true", "showing=true"];
    let mut service = 0;
    printed.lines().any(|line| {
        let is_service = line.contains("KeyguardStateMonitor") || line.contains("KeyguardServiceDelegate");
        service = if is_service { 3 } else { service - 1 };
        let has = |names: &[&str]| line.split_whitespace().any(|word| names.contains(&word.trim_end_matches(',')));
        has(&ANYWHERE) || (service > 0 && has(&OF_SERVICE))
    })
}

/// The fourth column of the last line of `df -k`.
fn free_megabytes(printed: &str) -> Option<u64> {
    let line = printed.lines().rfind(|line| !line.trim().is_empty())?;
    let kilobytes: u64 = line.split_whitespace().nth(3)?.parse().ok()?;
    Some(kilobytes / 1024)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn free_space_is_read_in_megabytes() {
        let printed = "Filesystem     1K-blocks     Used Available Use% Mounted on\n\
                       /dev/block/dm-9 116117780 2097152    102400   9% /data\n";
        assert_eq!(free_megabytes(printed), Some(100));
        assert_eq!(free_megabytes("df: /data: No such file or directory\n"), None);
    }

    #[test]
    fn a_lock_screen_is_known_by_the_names_of_all_versions() {
        assert!(says_locked("  mShowingDream=false mDreamingLockscreen=true mTopFullscreen=null"));
        assert!(says_locked("KeyguardStateMonitor\n  mIsShowing=true\n"));
        assert!(says_locked("  KeyguardServiceDelegate\n    showing=true\n"));
        assert!(!says_locked(
            "mDreamingLockscreen=false\nKeyguardServiceDelegate\n  showing=false\nx\ny\nshowing=true\n"
        ));
    }
}
