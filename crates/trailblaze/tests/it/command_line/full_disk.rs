//! A disk without room, for real: what was saved before is not harmed, nothing half-written stays, and what cannot be
//! kept is printed. Mounting a small disk takes root; elsewhere these tests say that they were skipped.

use std::collections::BTreeMap;
use std::fs::{File, OpenOptions};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::support::{COUNTER_APP, COUNTER_PROJECT, Project, Ran};
use tempfile::TempDir;

/// A tap by ref is recorded as one that finds the element again.
const TRAIL: &str = "\
# Nobody may lose this line.
trail:
  - step: Count
    tools: [{launchApp: {packageId: com.example.counter}}, {captureScreen: {}}, {tap: {ref: d454}}, {assertVisible: {text: 'Count: 1'}}]
";
const FULL: &str = "No space left on device";
const KILOBYTE: u64 = 1024;

/// A disk of its own.
struct SmallDisk {
    folder: TempDir,
}

impl SmallDisk {
    fn mount() -> Option<SmallDisk> {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let mut command = Command::new("mount");
        let mounted = command.args(["-t", "tmpfs", "-o", "size=1m", "tmpfs"]).arg(folder.path()).output();
        if mounted.is_ok_and(|output| output.status.success()) {
            return Some(SmallDisk { folder });
        }
        crate::support::skip::without("a small disk cannot be mounted here; it takes root");
        None
    }

    fn ballast(&self) -> PathBuf {
        self.folder.path().join("ballast")
    }

    /// Fills it but for so many bytes.
    fn fill_but(&self, free: u64) {
        let mut file = OpenOptions::new().create(true).append(true).open(self.ballast()).expect("the ballast opens");
        while file.write_all(&[0; 4096]).is_ok() {}
        let size = file.metadata().expect("the ballast has a size").len();
        file.set_len(size.saturating_sub(free)).expect("the ballast shrinks");
    }

    fn make_room(&self) {
        std::fs::remove_file(self.ballast()).expect("the ballast goes");
    }
}

impl Drop for SmallDisk {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg(self.folder.path()).status();
    }
}

/// The counter with one trail.
fn project(disk: &SmallDisk) -> Project {
    Project::within(disk.folder.path())
        .with("trailblaze.yaml", COUNTER_PROJECT)
        .with("counter.app.yaml", COUNTER_APP)
        .with("trails/a.trail.yaml", TRAIL)
}

/// Every file of a folder, and what is in it.
fn files(folder: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut files = BTreeMap::new();
    for entry in std::fs::read_dir(folder).expect("the folder is read") {
        let path = entry.expect("an entry").path();
        match path.is_dir() {
            true => files.extend(self::files(&path)),
            false => drop(files.insert(path.clone(), std::fs::read(&path).expect("the file is read"))),
        }
    }
    files
}

fn assert_recording_is_printed(ran: &Ran) {
    let recording = "    recording:\n      android:\n        - launchApp:";
    assert!(ran.stdout.contains("# Nobody may lose") && ran.stdout.contains(recording), "{}", ran.stdout);
}

#[test]
fn a_full_disk_harms_no_trail_and_the_recording_is_printed() {
    let Some(disk) = SmallDisk::mount() else { return };
    let project = project(&disk);
    let logs = tempfile::tempdir().unwrap();
    let args = ["run", "--record", "--pictures", "off", "--logs", logs.path().to_str().unwrap()];
    project.run(&args).exits(0);
    project.write("trails/b.trail.yaml", TRAIL);
    disk.fill_but(0);
    let before = files(project.root());
    let ran = project.run(&args).exits(2);
    let message = format!("error: the recording was not saved: cannot write `trails/b.trail.yaml`: {FULL}");
    assert!(ran.stderr.contains(&message), "{}", ran.stderr);
    assert_recording_is_printed(&ran);
    assert!(ran.stdout.contains("2 passed in"), "{}", ran.stdout);
    assert_eq!(files(project.root()), before);
    disk.make_room();
    project.run(&args).exits(0);
    assert!(project.read("trails/b.trail.yaml").contains("    recording:\n"));
}

#[test]
fn a_run_without_room_for_its_record_says_so_and_leaves_nothing() {
    let Some(disk) = SmallDisk::mount() else { return };
    let project = project(&disk);
    disk.fill_but(0);
    let before = files(project.root());
    let ran = project.run(&["run", "--record"]).exits(2);
    assert!(ran.stderr.contains("error: cannot create a folder in") && ran.stderr.contains(FULL), "{}", ran.stderr);
    assert_eq!(files(project.root()), before);
    assert!(project.runs().is_empty());
}

/// However much room there is: the trail is as it was or wholly recorded, and no part of a file stays.
#[test]
fn a_disk_that_fills_up_during_a_run_leaves_whole_files_only() {
    let step = if crate::support::is_full_tier() { 4 } else { 100 };
    for free in (4..400).step_by(step) {
        let Some(disk) = SmallDisk::mount() else { return };
        let project = project(&disk);
        disk.fill_but(free * KILOBYTE);
        let ran = project.run(&["run", "--record"]);
        assert!(matches!(ran.code, Some(0 | 2)), "{free} KB: {:?} {}", ran.code, ran.stderr);
        let trail = project.read("trails/a.trail.yaml");
        match trail == TRAIL {
            // A run that could not even begin has recorded nothing.
            true if project.runs().is_empty() => {}
            true => assert_recording_is_printed(&ran),
            false => assert!(trail.contains("        - assertVisible:"), "{free} KB: {trail}"),
        }
        if ran.code == Some(2) {
            assert!(ran.stderr.contains(FULL), "{free} KB: {}", ran.stderr);
        }
        let is_part = |path: &&PathBuf| {
            let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
            name.ends_with(".part") || name.starts_with('.')
        };
        // A file without failures would be taken for a run that passed.
        if let Some(junit) = project.runs().pop().filter(|run| run.has("junit.xml")).map(|run| run.text("junit.xml")) {
            let report = quick_junit::Report::deserialize_from_str(&junit).expect("JUnit XML");
            assert_eq!(report.tests, 1, "{free} KB: {junit}");
        }
        let parts: Vec<PathBuf> = files(project.root()).keys().filter(is_part).cloned().collect();
        assert!(parts.is_empty(), "{free} KB: {parts:?}");
        disk.make_room();
        if !project.runs().is_empty() {
            project.run(&["report"]).exits(0);
        }
        project.run(&["run", "--record", "--pictures", "off"]).exits(0);
    }
}

#[test]
fn answers_that_cannot_be_printed_are_an_environment_that_failed() {
    let project = Project::counter().with("trails/a.trail.yaml", TRAIL);
    let full = || Stdio::from(OpenOptions::new().write(true).open("/dev/full").unwrap());
    for args in
        [&["run", "--pictures", "off"][..], &["run", "--json", "--pictures", "off"], &["toolbox"], &["--version"]]
    {
        let output = project.command(args).stdin(Stdio::null()).stdout(full()).output().unwrap();
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{args:?}: {stderr}");
        let message = format!("error: cannot write to standard output: {FULL}");
        assert!(stderr.contains(&message) && !stderr.contains("panicked"), "{args:?}: {stderr}");
    }
    // Talk that nobody hears is no reason to fail.
    let output = project.command(&["run", "--pictures", "off"]).stdin(Stdio::null()).stderr(full()).output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stdout));
    File::open(project.last_run().path.join("report.html")).unwrap();
}
