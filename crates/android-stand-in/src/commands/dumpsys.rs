//! `dumpsys`: of what the services print, the lines that clients look for, in the form of Android 14.

use super::CommandOutput;
use crate::phone::{LAUNCHER, SimulatedPhone};

pub async fn dumpsys(phone: &SimulatedPhone, words: &[&str]) -> CommandOutput {
    let front = phone.front().await;
    let size = phone.size();
    let state = phone.state();
    let is_on = state.is_awake;
    let (width, height) = (size.width, size.height);
    let record =
        format!("ActivityRecord{{6f3b1a2 u0 {front}/.MainActivity t{}}}", if front == LAUNCHER { 1 } else { 12 });
    let text = match words {
        ["window", ..] => {
            let focus = format!("Window{{8c1d2e3 u0 {}}}", state.focused_window(&front));
            let showing = state.is_locked;
            format!(
                "WINDOW MANAGER POLICY STATE (dumpsys window policy)\n    mAwake={is_on}mScreenOnEarly={is_on} mScreenOnFully={is_on}\n    \
                 KeyguardServiceDelegate\n      showing={showing}\n      showingAndNotOccluded={showing}\n      inputRestricted={showing}\n      \
                 occluded=false\n      secure=false\n  mDreamingLockscreen={showing}\n\n\
                 WINDOW MANAGER DISPLAY CONTENTS (dumpsys window displays)\n  Display: mDisplayId=0 (organized)\n    init={width}x{height} 440dpi \
                 cur={width}x{height} app={width}x{height} rng={width}x{width}-{height}x{height}\n    mCurrentRotation=ROTATION_0\n  \
                 mCurrentFocus={focus}\n  mFocusedApp={record}\n  mRotation=0\n"
            )
        }
        ["activity", rest @ ..] => {
            let keyguard = state.is_locked;
            let top = match rest {
                ["top", ..] => format!("TASK {front} id=12 userId=0\n  ACTIVITY {front}/.MainActivity 6f3b1a2 pid={}\n", state.running(&front).unwrap_or(0)),
                _ => String::new(),
            };
            format!(
                "ACTIVITY MANAGER ACTIVITIES (dumpsys activity activities)\nDisplay #0 (activities from top to bottom):\n  \
                 * Task{{5a4b3c2 #12 type=standard A=10123:{front} U=0 visible=true}}\n    * Hist  #0: {record}\n    \
                 topResumedActivity={record}\n  mFocusedApp={record}\n  ResumedActivity: {record}\n  KeyguardController:\n    \
                 mKeyguardShowing={keyguard}\n{top}"
            )
        }
        ["power", ..] => {
            let wakefulness = if is_on { "Awake" } else { "Asleep" };
            let display = if is_on { "ON" } else { "OFF" };
            format!(
                "POWER MANAGER (dumpsys power)\n\nPower Manager State:\n  mWakefulness={wakefulness}\n  mIsPowered=true\n  mPlugType=2\n  \
                 mBatteryLevel=100\n  mStayOn=false\n  mHoldingDisplaySuspendBlocker={is_on}\n\nDisplay Power: state={display}\n"
            )
        }
        ["input_method", ..] => {
            let (shown, method) = (state.has_keyboard, &state.input_method);
            format!(
                "Current Input Method Manager state:\n  mCurMethodId={method}\n  mShowRequested={shown} mInputShown={shown}\n  mInputShown={shown}\n  \
                 mImeWindowVis={}\n  mInteractive={is_on}\n",
                if shown { 3 } else { 0 }
            )
        }
        ["display", ..] => format!(
            "DISPLAY MANAGER (dumpsys display)\n  mGlobalDisplayState={state}\n  mCurrentOrientation=0\n    \
             mBaseDisplayInfo=DisplayInfo{{\"Built-in Screen\", displayId 0, real {width} x {height}, largest app {width} x {height}, rotation 0, \
             density 440 (440.0 x 440.0) dpi, state {state}}}\n    mScreenState={state}\n  mViewports=[DisplayViewport{{type=INTERNAL, valid=true, \
             isActive={is_on}, displayId=0, uniqueId='local:4619827259835644672', physicalPort=0, orientation=0, \
             logicalFrame=Rect(0, 0 - {width}, {height}), physicalFrame=Rect(0, 0 - {width}, {height}), deviceWidth={width}, \
             deviceHeight={height}}}]\n",
            state = if is_on { "ON" } else { "OFF" }
        ),
        ["battery", ..] => "Current Battery Service state:\n  AC powered: false\n  USB powered: true\n  Wireless powered: false\n  \
                            Dock powered: false\n  Max charging current: 500000\n  Charge counter: 3000000\n  status: 2\n  health: 2\n  \
                            present: true\n  level: 100\n  scale: 100\n  voltage: 4300\n  temperature: 250\n  technology: Li-ion\n"
            .to_string(),
        ["package", id] => match state.installed(id) {
            Some(package) => {
                let granted = |name: &String| format!("        {name}: granted=true, flags=[ USER_SET]\n");
                let granted: String = package.permissions.iter().map(granted).collect();
                format!(
                    "Packages:\n  Package [{id}] (4e5f6a7):\n    userId=10123\n    versionCode=1 minSdk=24 targetSdk=34\n    versionName=1.0\n    \
                     pkgFlags=[ HAS_CODE ALLOW_CLEAR_USER_DATA ]\n    lastUpdateTime=2026-01-02 03:04:05\n    \
                     User 0: installed=true hidden=false suspended=false stopped=false\n      runtime permissions:\n{granted}"
                )
            }
            None => format!("Unable to find package: {id}\n"),
        },
        ["SurfaceFlinger", "--display-id"] => {
            "Display 4619827259835644672 (HWC display 0): port=0 pnpId=GGL displayName=\"Common Panel\"\n".to_string()
        }
        ["-l"] => "Currently running services:\n  activity\n  battery\n  display\n  input_method\n  package\n  power\n  window\n".to_string(),
        [] => String::new(),
        [unknown, ..] => return CommandOutput::error(0, format!("Can't find service: {unknown}")),
    };
    CommandOutput::ok().out(text)
}
