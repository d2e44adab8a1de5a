//! What a session sets, installs and copies: which commands that becomes, and what puts it back.

use trailblaze_core::driver::{Appearance, DeviceSetting, Orientation};

use super::*;

const SET: Script = &[
    ("settings get system accelerometer_rotation", "1\nnull\n"),
    ("cmd uimode night", "Night mode: auto\n"),
    ("pm path", "package:/data/app/x.apk\n"),
    ("cmd locale get-app-locales", "Locales for com.x for user 0 are [de-DE,fr]\n"),
];

/// What is run for a setting, and what is run when the phone is closed.
async fn changed(script: Script, setting: DeviceSetting) -> (Result<(), DriverError>, Vec<String>, Vec<String>) {
    let adb = phone(script).await;
    let driver = open(&adb).await.expect("it opens");
    let before = adb.commands().len();
    let acted = DeviceCommand::Change(setting).carry_out(&*driver, &budget()).await;
    let commands = adb.commands().split_off(before);
    driver.close().await;
    let of_animations = |line: &String| line.contains("_scale");
    let undone = adb.noted().await.into_iter().filter(|line| !of_animations(line)).collect();
    (acted.map(drop), commands, undone)
}

#[tokio::test]
async fn a_phone_is_turned_and_turned_back() {
    let (done, commands, undone) = changed(SET, DeviceSetting::Orientation(Orientation::Landscape)).await;
    done.expect("it is turned");
    let set = "settings put system accelerometer_rotation 0; settings put system user_rotation 1";
    assert_eq!(commands.last().map(String::as_str), Some(set));
    assert_eq!(undone, ["settings put system accelerometer_rotation 1", "settings delete system user_rotation"]);
}

#[tokio::test]
async fn dark_mode_and_the_language_of_an_app_are_put_back() {
    let (done, commands, undone) = changed(SET, DeviceSetting::Appearance(Appearance::Dark)).await;
    done.expect("it is dark");
    assert_eq!(commands.last().map(String::as_str), Some("cmd uimode night yes"));
    assert_eq!(undone, ["cmd uimode night auto"]);
    let locale = DeviceSetting::Locale { app: "com.x".to_string(), locale: "pt-BR".to_string() };
    let (done, commands, undone) = changed(SET, locale).await;
    done.expect("it is set");
    assert_eq!(commands.last().map(String::as_str), Some("cmd locale set-app-locales com.x --locales pt-BR"));
    assert_eq!(undone, ["cmd locale set-app-locales com.x --locales de-DE,fr"]);
}

#[tokio::test]
async fn a_location_is_that_of_sources_for_tests() {
    let location = || DeviceSetting::Location { latitude: 52.5, longitude: -13.25 };
    let (done, commands, undone) = changed(SET, location()).await;
    done.expect("it is set");
    let set = commands.last().expect("a command");
    assert!(set.starts_with("appops set com.android.shell android:mock_location allow && "), "{set}");
    assert!(set.contains("set-test-provider-location gps --location 52.5,-13.25"), "{set}");
    let [undone] = &undone[..] else { panic!("{undone:?}") };
    assert!(undone.ends_with("; appops set com.android.shell android:mock_location default"), "{undone}");
    const OLD: Script = &[("getprop", "[ro.build.version.release]: [11]\n[ro.build.version.sdk]: [30]\n")];
    let (done, commands, _) = changed(OLD, location()).await;
    let error = done.expect_err("it is too old").to_string();
    assert_eq!(error, "this phone has Android 11, whose shell cannot set its location; Android 12 or newer is needed");
    assert_eq!(commands, Vec::<String>::new());
}

#[tokio::test]
async fn a_refused_installation_says_what_it_means_and_leaves_no_file() {
    const REFUSING: Script =
        &[("pm install", "!Failure [INSTALL_FAILED_UPDATE_INCOMPATIBLE: signatures do not match]")];
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("app.apk");
    std::fs::write(&file, "PK").expect("a file");
    let file = file.display().to_string();
    let adb = phone(REFUSING).await;
    let driver = open(&adb).await.expect("it opens");
    let install = DeviceCommand::InstallApp { file: file.clone() };
    let error = install.carry_out(&*driver, &budget()).await.expect_err("it is refused").to_string();
    assert!(error.contains("another signature") && error.contains("mobile_uninstallApp"), "{error}");
    let commands = adb.commands();
    assert!(commands.iter().any(|command| command.starts_with("rm -f /data/local/tmp/trailblaze-")), "{commands:?}");
    let missing = DeviceCommand::InstallApp { file: format!("{file}x") };
    let error = missing.carry_out(&*driver, &budget()).await.expect_err("it is not there").to_string();
    assert!(error.starts_with(&format!("`{file}x` cannot be read: ")), "{error}");
}

#[tokio::test]
async fn files_need_a_full_path_on_the_phone() {
    let (acted, commands) = sent(&[], DeviceCommand::PullFile { path: "a.txt".to_string() }).await;
    let error = acted.expect_err("it is refused").to_string();
    assert_eq!(error, "`a.txt` is no full path; write one such as /sdcard/Download/a.txt");
    assert_eq!(commands, Vec::<String>::new());
}

#[tokio::test]
async fn a_recording_that_does_not_run_cannot_be_ended() {
    let (acted, _) = sent(&[], DeviceCommand::StopRecording).await;
    assert!(acted.expect_err("it is refused").to_string().contains("mobile_startRecording"));
}

#[tokio::test]
async fn the_activity_in_front_is_named() {
    const FRONT: Script = &[("dumpsys activity", "  topResumedActivity=ActivityRecord{6f u0 com.x/.Main t12}\n")];
    let (acted, _) = sent(FRONT, DeviceCommand::CurrentApp).await;
    assert_eq!(acted.expect("it is known").text, "com.x com.x.Main");
    let (acted, _) = sent(&[], DeviceCommand::CurrentApp).await;
    assert!(acted.expect_err("none is").to_string().starts_with("no app is in front"));
}
