//! Runs a page: one bash for all its commands, in a folder, a home and a daemon of its own.

use std::fmt::Write;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use crate::documentation::book::page::{Action, Item, Page};
use crate::support::{PROGRAM, without_times};

/// How long a page may take on a busy machine.
const LIMIT: Duration = Duration::from_secs(600);

/// Fails with the line, what is wrong, the commands and what they printed.
pub fn run(page: &Page, programs: &[PathBuf], root: &Path, is_loud: bool) -> Result<(), String> {
    if page.items.is_empty() {
        return Ok(());
    }
    let stage = Stage::new(page);
    let child = stage.start(programs, root);
    let ended = wait(child);
    let stop = Command::new(PROGRAM).args(["daemon", "stop"]).env_clear().envs(stage.variables()).output();
    drop(stop);
    stage.check(page, ended, is_loud)
}

/// The folders of a page. Names are short, because the daemon has a socket below one of them.
struct Stage {
    folder: tempfile::TempDir,
}

impl Stage {
    fn new(page: &Page) -> Stage {
        let stage = Stage { folder: tempfile::tempdir().expect("a temporary folder") };
        for name in ["page", "home", "run", "tmp", "bin", "parts"] {
            std::fs::create_dir(stage.path(name)).expect("a folder");
        }
        std::os::unix::fs::symlink(PROGRAM, stage.path("bin/trailblaze")).expect("a link");
        std::fs::write(stage.path("all"), stage.script(page)).expect("a script");
        stage
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn variables(&self) -> Vec<(&'static str, PathBuf)> {
        vec![("HOME", self.path("home")), ("XDG_RUNTIME_DIR", self.path("run")), ("TMPDIR", self.path("tmp"))]
    }

    /// A script that carries out the items in one shell. Each leaves its output and, if it was carried out, its exit code.
    fn script(&self, page: &Page) -> String {
        let mut script = String::new();
        for (index, item) in page.items.iter().enumerate() {
            let part = self.path(&format!("parts/{index}"));
            let shown = part.display();
            match &item.action {
                Action::Run { script: commands, exit: 0 } => {
                    std::fs::write(&part, commands).expect("a script");
                    // Any command that fails ends the shell.
                    writeln!(script, "set -e\n. '{shown}' >'{shown}.out' 2>&1\nset +e\necho 0 >'{shown}.code'")
                }
                Action::Run { script: commands, exit } => {
                    std::fs::write(&part, commands).expect("a script");
                    writeln!(
                        script,
                        ". '{shown}' >'{shown}.out' 2>&1\ncode=$?\necho $code >'{shown}.code'\n[ $code = {exit} ] || exit 1"
                    )
                }
                Action::Write { path, text } => {
                    std::fs::write(&part, text).expect("a file");
                    let path = path.replace('\'', "'\\''");
                    writeln!(script, "mkdir -p \"$(dirname '{path}')\" && cp '{shown}' '{path}' || exit 1\necho 0 >'{shown}.code'")
                }
                Action::Output { .. } => Ok(()),
            }
            .expect("text can be written to");
        }
        script
    }

    fn start(&self, programs: &[PathBuf], root: &Path) -> Child {
        let inherited = std::env::var_os("PATH").unwrap_or_default();
        let folders = [self.path("bin")].into_iter().chain(programs.iter().cloned());
        let path = std::env::join_paths(folders.chain(std::env::split_paths(&inherited))).expect("folders");
        let mut command = Command::new("bash");
        command.args(["--noprofile", "--norc"]).arg(self.path("all")).current_dir(self.path("page"));
        command.env_clear().envs(self.variables()).env("PATH", path).env("REPO", root).env("LANG", "C.UTF-8");
        if let Some(browser) = std::env::var_os("TRAILBLAZE_TEST_CHROMIUM").filter(|path| !path.is_empty()) {
            command.env("TRAILBLAZE_CHROMIUM", browser);
        }
        // No page needs a network: package managers fail at once instead of trying.
        for name in ["http_proxy", "https_proxy", "HTTP_PROXY", "HTTPS_PROXY"] {
            command.env(name, "http://127.0.0.1:9");
        }
        command.env("no_proxy", "localhost,127.0.0.1,::1");
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        command.process_group(0).spawn().expect("bash starts")
    }

    /// Compares what the items left behind with what the page says.
    fn check(&self, page: &Page, ended: Ended, is_loud: bool) -> Result<(), String> {
        let mut last: Option<(&Item, String)> = None;
        for (index, item) in page.items.iter().enumerate() {
            let left = |end: &str| std::fs::read(self.path(&format!("parts/{index}.{end}"))).ok();
            let text = |bytes: Vec<u8>| String::from_utf8_lossy(&bytes).into_owned();
            let code = left("code").map(text).map(|code| code.trim().to_string());
            match &item.action {
                Action::Run { script, exit } => {
                    let output = left("out").map(text).unwrap_or_default();
                    let details = format!("--- commands\n{script}\n--- output\n{output}");
                    if is_loud {
                        println!("--- line {}\n{script}--- output\n{output}", item.line);
                    }
                    match (code, &ended) {
                        (Some(code), _) if code == exit.to_string() => {}
                        (Some(code), _) => {
                            return Err(format!("{}: exit code {code}, expected {exit}\n{details}", item.line));
                        }
                        (None, Ended::Late) => {
                            return Err(format!("{}: the page took longer than {LIMIT:?}\n{details}", item.line));
                        }
                        (None, Ended::With(code)) => return Err(format!("{}: exit code {code}\n{details}", item.line)),
                    }
                    last = Some((item, output));
                }
                Action::Write { path, .. } if code.is_none() => {
                    return Err(format!("{}: `{path}` could not be written", item.line));
                }
                Action::Write { .. } => {}
                Action::Output { lines } => {
                    let Some((from, output)) = &last else { continue };
                    if let Some(missing) = first_missing(lines, output) {
                        let place = format!("the output of line {}, after the lines before it", from.line);
                        return Err(format!("{}: `{missing}` is not in {place}\n--- output\n{output}", item.line));
                    }
                }
            }
        }
        Ok(())
    }
}

enum Ended {
    With(i32),
    Late,
}

/// Waits for the shell, and ends what it left in the background.
fn wait(mut child: Child) -> Ended {
    let deadline = Instant::now() + LIMIT;
    let ended = loop {
        if let Some(status) = child.try_wait().expect("bash can be waited for") {
            break Ended::With(status.code().unwrap_or(-1));
        }
        if Instant::now() > deadline {
            break Ended::Late;
        }
        std::thread::sleep(Duration::from_millis(20));
    };
    let _ = Command::new("bash").args(["-c", &format!("kill -9 -- -{} 2>/dev/null", child.id())]).status();
    let _ = child.wait();
    ended
}

/// The first line that does not follow the ones before it in the output.
fn first_missing<'a>(lines: &'a [String], output: &str) -> Option<&'a str> {
    let mut rest = output.lines();
    lines
        .iter()
        .map(String::as_str)
        .find(|line| !line.is_empty() && *line != "…" && !rest.any(|found| is_shown(line, found.trim())))
}

/// Whether this is in a line of output. How long something took differs from run to run.
fn is_shown(line: &str, found: &str) -> bool {
    fits(line, found) || fits(&without_times(line), &without_times(found))
}

/// Whether this is in a line; `…` is any text.
fn fits(line: &str, found: &str) -> bool {
    let mut rest = found;
    line.split('…').all(|part| rest.split_once(part).map(|(_, after)| rest = after).is_some())
}
