//! A phone, its user, and what the user reads.

use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

use quick_xml::events::Event;
use tempfile::TempDir;
use trailblaze_android_stand_in::control::Control;
use trailblaze_android_stand_in::launch::{AndroidParts, StandInPhone, StandInStartError, TestAdbServer};

use crate::skip;

pub const PROGRAM: &str = env!("CARGO_BIN_EXE_android-stand-in");

/// How long a test waits before it says that something hangs.
const PATIENCE: Duration = Duration::from_secs(60);

/// A phone behind the real adb and adbd.
pub struct Connected {
    pub server: TestAdbServer,
    pub phone: StandInPhone,
}

/// What `scripts/parts` installed for phones; clients of them are beside it.
pub fn parts_folder() -> PathBuf {
    let own = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../.parts/android");
    std::env::var_os("TRAILBLAZE_TEST_ANDROID").map_or(own, PathBuf::from)
}

/// `None` if this machine cannot have a phone.
pub fn parts() -> Option<AndroidParts> {
    match AndroidParts::find(&parts_folder()) {
        Ok(parts) => return Some(parts),
        Err(error @ StandInStartError::NotInstalled(_)) => skip::without_part(&error.to_string()),
        Err(error) => skip::without(&error.to_string()),
    }
    None
}

impl Connected {
    pub fn start() -> Option<Connected> {
        let parts = parts()?;
        let server = TestAdbServer::start(&parts).unwrap();
        let phone = StandInPhone::start(&parts, Path::new(PROGRAM), &[]).unwrap();
        server.connect(&phone).unwrap();
        Some(Connected { server, phone })
    }

    pub fn adb(&self, arguments: &[&str]) -> Output {
        self.server.adb().args(["-s", &self.phone.serial()]).args(arguments).output().unwrap()
    }

    /// What a command of the phone's shell prints; it must succeed.
    pub fn shell(&self, command: &str) -> String {
        let output = self.adb(&["shell", command]);
        assert!(output.status.success(), "{command}: {output:?}");
        String::from_utf8(output.stdout).unwrap()
    }
}

/// The process of a phone without adb, and its commands.
pub struct Serving {
    process: Child,
    folder: TempDir,
}

impl Serving {
    /// With the wallet.
    pub fn start() -> Serving {
        Serving::with(&[])
    }

    /// With the apps of these files.
    pub fn with(apps: &[&str]) -> Serving {
        let folder = TempDir::new().unwrap();
        let socket = folder.path().join("socket");
        let mut command = Command::new(PROGRAM);
        command.arg("serve").arg("--socket").arg(&socket).stdin(Stdio::piped());
        for (index, app) in apps.iter().enumerate() {
            let path = folder.path().join(format!("{index}.app.yaml"));
            std::fs::write(&path, app).unwrap();
            command.arg("--app").arg(path);
        }
        let process = command.spawn().unwrap();
        until(|| std::os::unix::net::UnixStream::connect(&socket).is_ok());
        Serving { process, folder }
    }

    pub fn command(&self, command: &str) -> Output {
        let words: Vec<&str> = command.split_whitespace().collect();
        self.run(words[0], &words[1..])
    }

    pub fn run(&self, name: &str, arguments: &[&str]) -> Output {
        use std::os::unix::process::CommandExt;
        let socket = self.folder.path().join("socket");
        let mut command = Command::new(PROGRAM);
        command.arg0(name).args(arguments).env("ANDROID_STAND_IN_SOCKET", socket).stdin(Stdio::null());
        command.current_dir(self.folder.path()).output().unwrap()
    }

    /// What a command prints; it must succeed and say nothing on its standard error.
    pub fn out(&self, command: &str) -> String {
        let output = self.command(command);
        assert!(output.status.success() && output.stderr.is_empty(), "{command}: {output:?}");
        String::from_utf8(output.stdout).unwrap()
    }

    /// The exit code of a command, and what it prints on its standard error.
    pub fn failure(&self, command: &str) -> (i32, String) {
        let output = self.command(command);
        (output.status.code().unwrap(), String::from_utf8(output.stderr).unwrap())
    }

    pub fn dump(&self) -> Vec<Element> {
        let file = self.folder.path().join("dump.xml");
        let said = self.out(&format!("uiautomator dump {}", file.display()));
        assert_eq!(said, format!("UI hierchary dumped to: {}\n", file.display()));
        elements(&std::fs::read_to_string(&file).unwrap())
    }

    pub fn tap(&self, id: &str) {
        let (x, y) = find(&self.dump(), id).center();
        self.out(&format!("input tap {x} {y}"));
    }

    pub fn type_into(&self, id: &str, text: &str) {
        self.tap(id);
        self.out(&format!("input text {text}"));
    }

    pub fn control(&self, control: Control) {
        let mut connection = std::os::unix::net::UnixStream::connect(self.folder.path().join("socket")).unwrap();
        use std::io::{Read, Write};
        let request = serde_json::json!({ "Control": control });
        writeln!(connection, "{request}").unwrap();
        connection.read_to_end(&mut Vec::new()).unwrap();
    }
}

impl Drop for Serving {
    fn drop(&mut self) {
        drop(self.process.stdin.take());
        let _ = self.process.wait();
    }
}

/// Waits for a condition.
pub fn until(condition: impl Fn() -> bool) {
    let since = Instant::now();
    while !condition() {
        assert!(since.elapsed() < PATIENCE, "it never came true");
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// A node of a dump.
#[derive(Debug)]
pub struct Element {
    attributes: Vec<(String, String)>,
}

impl Element {
    pub fn get(&self, name: &str) -> &str {
        let found = self.attributes.iter().find(|(known, _)| known == name);
        found.map(|(_, value)| value.as_str()).unwrap_or_else(|| panic!("no `{name}` in {self:?}"))
    }

    pub fn names(&self) -> Vec<&str> {
        self.attributes.iter().map(|(name, _)| name.as_str()).collect()
    }

    pub fn center(&self) -> (i32, i32) {
        let numbers: Vec<i32> =
            self.get("bounds").split(['[', ',', ']']).filter_map(|number| number.parse().ok()).collect();
        let [left, top, right, bottom] = numbers[..] else { panic!("no bounds: {self:?}") };
        ((left + right) / 2, (top + bottom) / 2)
    }
}

/// The nodes of a dump, by a parser that nobody here wrote.
pub fn elements(xml: &str) -> Vec<Element> {
    let mut reader = quick_xml::Reader::from_str(xml);
    let mut found = Vec::new();
    loop {
        match reader.read_event().unwrap_or_else(|error| panic!("{error}: {xml}")) {
            Event::Start(tag) | Event::Empty(tag) if tag.name().as_ref() == b"node" => {
                let attributes = tag.attributes().map(|attribute| {
                    let attribute = attribute.unwrap();
                    let name = String::from_utf8(attribute.key.as_ref().to_vec()).unwrap();
                    (name, attribute.normalized_value(quick_xml::XmlVersion::Explicit1_0).unwrap().into_owned())
                });
                found.push(Element { attributes: attributes.collect() });
            }
            Event::Eof => return found,
            _ => {}
        }
    }
}

pub fn find<'a>(elements: &'a [Element], id: &str) -> &'a Element {
    let full = format!("com.example.wallet:id/{id}");
    let found = elements.iter().find(|element| element.get("resource-id") == full);
    found.unwrap_or_else(|| panic!("no `{id}` in {elements:#?}"))
}

pub fn has_text(elements: &[Element], text: &str) -> bool {
    elements.iter().any(|element| element.get("text") == text)
}
