//! Child processes, through guardians that are the real program: whatever a child is and however we end, nothing is left.

use std::ffi::OsString;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use crate::support::marked::{Mark, chance};
use rustix::process::{Pid, Signal, kill_process};
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use trailblaze_supervise::{Child, Grace, Launch, ProcessExit, Running, StartError, Stopped, Supervisor};

/// Long enough for the polite on a busy machine.
const PATIENT: Grace = Grace { after_stdin: Duration::from_secs(60), after_term: Duration::from_secs(60) };
/// For those who will not listen anyway.
const BRISK: Grace = Grace { after_stdin: Duration::from_millis(50), after_term: Duration::from_millis(50) };
const KILLED: ProcessExit = ProcessExit::Signal(9);

fn supervisor() -> Supervisor {
    Supervisor::with_guardian(env!("CARGO_BIN_EXE_trailblaze"))
}

fn here() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/command_line/child_processes")
}

fn launch(mark: &Mark, grace: Grace, args: &[&str]) -> Launch {
    Launch {
        args: ["child.py"].iter().chain(args).map(OsString::from).collect(),
        set_env: vec![mark.variable()],
        grace,
        ..Launch::new("python3", here())
    }
}

async fn start(supervisor: &Supervisor, launch: Launch) -> Running {
    supervisor.start(launch).await.expect("the child starts")
}

/// Starts a child and waits until it has become what it is.
async fn start_ready(supervisor: &Supervisor, launch: Launch) -> Running {
    let mut running = start(supervisor, launch).await;
    let mut line = String::new();
    BufReader::new(&mut running.stdout).read_line(&mut line).await.expect("stdout can be read");
    assert_eq!(line, "ready\n");
    running
}

/// Stops a child as its owner should: the end of its input first.
async fn stop(running: Running) -> Stopped {
    drop(running.stdin);
    running.child.stop().await
}

#[tokio::test]
async fn streams_pass_both_ways_and_end() {
    let mark = Mark::new();
    let Running { mut stdin, mut stdout, mut stderr, child } =
        start(&supervisor(), launch(&mark, PATIENT, &["echo"])).await;
    let sent: Vec<u8> = (0..4_000_000_u32).map(|n| (n % 251) as u8).collect();
    let (mut got, mut talk) = (Vec::new(), String::new());
    let send = async {
        stdin.write_all(&sent).await.expect("stdin takes it");
        drop(stdin);
    };
    let (_, out, err) = tokio::join!(send, stdout.read_to_end(&mut got), stderr.read_to_string(&mut talk));
    out.and(err).expect("the streams can be read");
    assert!(got == sent, "{} bytes came back of {}", got.len(), sent.len());
    assert_eq!(talk, "end of input\n");
    assert_eq!(child.ended().await, ProcessExit::Code(0));
}

#[tokio::test]
async fn how_a_child_ended_is_told() {
    let mark = Mark::new();
    for (args, expected, text) in [
        (["ends_with", "0"], ProcessExit::Code(0), "exited with code 0"),
        (["ends_with", "3"], ProcessExit::Code(3), "exited with code 3"),
        (["ends_by", "9"], KILLED, "was killed by signal 9 (SIGKILL)"),
        (["ends_by", "10"], ProcessExit::Signal(10), "was killed by signal 10"),
    ] {
        let running = start(&supervisor(), launch(&mark, PATIENT, &args)).await;
        assert_eq!(running.child.ended().await, expected, "{args:?}");
        assert_eq!(running.child.exited(), Some(expected), "{args:?}");
        assert_eq!(expected.to_string(), text);
        assert_eq!(running.child.stop().await, Stopped { ended: expected, leaked: 0 }, "{args:?}");
    }
    mark.assert_none_left();
}

#[tokio::test]
async fn what_cannot_be_started_says_why() {
    let folder = tempfile::tempdir().expect("a folder");
    let write = |name: &str, text: &str, mode: u32| {
        use std::os::unix::fs::PermissionsExt;
        let path = folder.path().join(name);
        std::fs::write(&path, text).expect("the file is written");
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(mode)).expect("the mode is set");
        path
    };
    let plain = write("plain", "#!/bin/sh\n", 0o644);
    let lost = write("lost", "#!/no/such/shell\n", 0o755);
    let noise = write("noise", "\u{1}\u{2}", 0o755);
    let refusal = async |program: &Path, dir: &Path| {
        let owned = tempfile::tempdir().expect("a folder").keep();
        let launch = Launch { folders: vec![owned.clone()], ..Launch::new(program, dir) };
        let refusal = supervisor().start(launch).await.expect_err("it cannot start");
        assert!(!owned.exists(), "the folder of a child that never was is gone");
        refusal
    };
    let (missing, dir) = (Path::new("no-such-program"), folder.path());
    let no_dir = dir.join("missing");
    assert!(matches!(refusal(missing, dir).await, StartError::NotFound { program } if program == "no-such-program"));
    assert!(matches!(refusal(&plain, dir).await, StartError::NotPermitted { .. }));
    assert!(matches!(refusal(&lost, dir).await, StartError::NoInterpreter { .. }));
    assert!(matches!(refusal(&noise, dir).await, StartError::Other { .. }));
    assert!(matches!(refusal(Path::new("nul\0"), dir).await, StartError::Other { .. }));
    assert!(matches!(refusal(Path::new("sh"), &no_dir).await, StartError::NoFolder { dir, .. } if dir == no_dir));
    assert_eq!(refusal(missing, dir).await.to_string(), "there is no program `no-such-program`");
}

#[tokio::test]
async fn a_program_that_is_no_guardian_is_an_error() {
    for guardian in ["/bin/true", "/no/such/guardian"] {
        let error = Supervisor::with_guardian(guardian).start(Launch::new("sh", "/")).await.expect_err("no guardian");
        assert!(matches!(error, StartError::Guardian { .. }), "{guardian}: {error}");
    }
}

#[tokio::test]
async fn a_guardian_started_by_hand_refuses() {
    let output = Command::new(env!("CARGO_BIN_EXE_trailblaze")).arg("__guardian").output().expect("it starts");
    let talk = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(3), "{talk}");
    assert!(talk.starts_with("error: `__guardian` is for Trailblaze itself"), "{talk}");
}

#[tokio::test]
async fn a_polite_child_ends_with_its_input() {
    let mark = Mark::new();
    let running = start_ready(&supervisor(), launch(&mark, PATIENT, &["polite"])).await;
    assert_eq!(running.child.exited(), None);
    assert_eq!(stop(running).await, Stopped { ended: ProcessExit::Code(7), leaked: 0 });
    mark.assert_none_left();
}

#[tokio::test]
async fn signals_to_our_group_and_terminal_do_not_reach_a_child() {
    let mark = Mark::new();
    let running = start_ready(&supervisor(), launch(&mark, PATIENT, &["polite"])).await;
    let (ours, theirs) =
        (crate::support::marked::stat(std::process::id()), crate::support::marked::stat(running.child.pid()));
    assert!(ours.group != theirs.group && ours.session != theirs.session, "{ours:?} {theirs:?}");
    assert_eq!(stop(running).await.leaked, 0);
}

#[tokio::test]
async fn a_child_that_keeps_its_input_open_gets_a_signal() {
    let mark = Mark::new();
    let grace = Grace { after_stdin: Duration::ZERO, ..PATIENT };
    let running = start_ready(&supervisor(), launch(&mark, grace, &["polite"])).await;
    // Its input stays open.
    assert_eq!(running.child.stop().await.ended, ProcessExit::Signal(15));
    mark.assert_none_left();
}

#[tokio::test]
async fn nothing_survives_a_stop() {
    let mark = Mark::new();
    let supervisor = supervisor();
    for (args, ended) in [
        (["stubborn"].as_slice(), KILLED),
        (&["family"], ProcessExit::Code(0)),
        (&["daemon"], ProcessExit::Code(0)),
        (&["hops"], ProcessExit::Code(0)),
        (&["stopped"], ProcessExit::Code(0)),
    ] {
        let grace =
            Grace { after_stdin: if ended == KILLED { BRISK.after_stdin } else { PATIENT.after_stdin }, ..BRISK };
        let running = start_ready(&supervisor, launch(&mark, grace, args)).await;
        assert_eq!(stop(running).await, Stopped { ended, leaked: 0 }, "{args:?}");
        mark.assert_none_left();
    }
    assert_eq!(supervisor.leaked(), 0);
}

#[tokio::test]
async fn what_a_child_leaves_behind_ends_with_it() {
    let mark = Mark::new();
    let running = start_ready(&supervisor(), launch(&mark, BRISK, &["daemon", "goes"])).await;
    assert_eq!(running.child.ended().await, ProcessExit::Code(0));
    // Nobody asks for anything; the daemon is ended because its starter is gone.
    mark.wait_until_none_left().await;
}

#[tokio::test]
async fn kill_does_not_wait() {
    let mark = Mark::new();
    let Running { child, stdin, .. } = start_ready(&supervisor(), launch(&mark, PATIENT, &["family"])).await;
    assert_eq!(child.kill().await, Stopped { ended: KILLED, leaked: 0 });
    mark.assert_none_left();
    drop(stdin);
}

#[tokio::test]
async fn a_kill_overtakes_a_stop() {
    let mark = Mark::new();
    let Running { child, stdin, .. } = start_ready(&supervisor(), launch(&mark, PATIENT, &["stubborn"])).await;
    let (stopped, killed) = tokio::join!(child.stop(), child.kill());
    assert_eq!((stopped, killed), (Stopped { ended: KILLED, leaked: 0 }, stopped));
    drop(stdin);
}

#[tokio::test(flavor = "multi_thread")]
async fn many_may_stop_and_all_get_the_same_answer() {
    let mark = Mark::new();
    let running = start_ready(&supervisor(), launch(&mark, PATIENT, &["polite"])).await;
    let expected = Stopped { ended: ProcessExit::Code(7), leaked: 0 };
    drop(running.stdin);
    let stops: Vec<_> = (0..20)
        .map(|_| {
            let child: Child = running.child.clone();
            tokio::spawn(async move { child.stop().await })
        })
        .collect();
    for stop in stops {
        assert_eq!(stop.await.expect("it answers"), expected);
    }
    assert_eq!(running.child.stop().await, expected);
    assert_eq!(running.child.kill().await, expected);
}

#[tokio::test(flavor = "multi_thread")]
async fn many_children_start_and_stop_at_once() {
    let mark = Mark::new();
    let supervisor = supervisor();
    let tasks: Vec<_> = (0..20)
        .map(|_| {
            let (supervisor, launch) = (supervisor.clone(), launch(&mark, PATIENT, &["polite"]));
            tokio::spawn(async move { stop(start_ready(&supervisor, launch).await).await })
        })
        .collect();
    for task in tasks {
        assert_eq!(task.await.expect("it stops"), Stopped { ended: ProcessExit::Code(7), leaked: 0 });
    }
    mark.assert_none_left();
}

#[tokio::test]
async fn a_dropped_handle_ends_the_child() {
    let mark = Mark::new();
    drop(start_ready(&supervisor(), launch(&mark, BRISK, &["family"])).await);
    mark.wait_until_none_left().await;
}

#[test]
fn a_runtime_that_goes_down_ends_the_child() {
    let mark = Mark::new();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    let running = runtime.block_on(start_ready(&supervisor(), launch(&mark, BRISK, &["daemon"])));
    drop(runtime);
    mark.wait_until_none_left_blocking();
    drop(running);
}

#[tokio::test]
async fn a_killed_guardian_takes_the_child_with_it() {
    let mark = Mark::new();
    let owned = tempfile::tempdir().expect("a folder").keep();
    let launch = Launch { folders: vec![owned.clone()], ..launch(&mark, PATIENT, &["family"]) };
    let running = start_ready(&supervisor(), launch).await;
    let guardian = crate::support::marked::stat(running.child.pid()).parent;
    kill_process(Pid::from_raw(guardian).expect("a pid"), Signal::KILL).expect("it can be killed");
    assert_eq!(running.child.ended().await, ProcessExit::Unknown);
    assert_eq!(running.child.stop().await, Stopped { ended: ProcessExit::Unknown, leaked: 0 });
    mark.assert_none_left();
    assert!(!owned.exists());
}

#[tokio::test]
async fn a_guardian_that_is_asked_to_end_ends_the_child_first() {
    let mark = Mark::new();
    let running = start_ready(&supervisor(), launch(&mark, BRISK, &["daemon"])).await;
    let guardian = crate::support::marked::stat(running.child.pid()).parent;
    kill_process(Pid::from_raw(guardian).expect("a pid"), Signal::TERM).expect("it can be signalled");
    mark.wait_until_none_left().await;
    assert_eq!(running.child.stop().await.leaked, 0);
}

#[tokio::test]
async fn folders_of_a_child_go_with_it_and_nothing_else_does() {
    let mark = Mark::new();
    let outside = tempfile::tempdir().expect("a folder");
    std::fs::write(outside.path().join("kept"), "kept").expect("a file");
    let [at_start, later, after] = [(); 3].map(|()| {
        let folder = tempfile::tempdir().expect("a folder").keep();
        std::fs::create_dir_all(folder.join("deep/er")).expect("folders");
        std::os::unix::fs::symlink(outside.path(), folder.join("deep/link")).expect("a link");
        folder
    });
    let launch = Launch { folders: vec![at_start.clone()], ..launch(&mark, PATIENT, &["polite"]) };
    let running = start_ready(&supervisor(), launch).await;
    let child = running.child.clone();
    child.own_folder(&later);
    child.own_folder(Path::new("relative/folder"));
    assert!(at_start.exists() && later.exists());
    assert_eq!(stop(running).await.leaked, 0);
    child.own_folder(&after);
    for folder in [at_start, later, after] {
        assert!(!folder.exists(), "{}", folder.display());
    }
    assert!(outside.path().join("kept").exists());
}

#[tokio::test]
async fn extra_files_arrive_at_their_numbers_and_no_others() {
    let mark = Mark::new();
    let (reader, mut writer) = std::io::pipe().expect("a pipe");
    let (mut answers, answer) = std::io::pipe().expect("a pipe");
    let fds = vec![(4, OwnedFd::from(answer)), (3, OwnedFd::from(reader))];
    let launch = Launch { fds, ..launch(&mark, PATIENT, &["files"]) };
    let Running { mut stdout, child, .. } = start(&supervisor(), launch).await;
    std::io::Write::write_all(&mut writer, b"over three").expect("the pipe takes it");
    let mut open = String::new();
    stdout.read_to_string(&mut open).await.expect("stdout can be read");
    let mut answer = String::new();
    std::io::Read::read_to_string(&mut answers, &mut answer).expect("the pipe can be read");
    assert_eq!(answer, "OVER THREE");
    // What whoever started the tests left open is everybody's.
    let is_inherited = |line: &&str| {
        let (number, target) = line.split_once(' ').expect("a number and a target");
        std::fs::read_link(format!("/proc/self/fd/{number}")).is_ok_and(|link| link == Path::new(target))
    };
    assert_eq!(open.lines().filter(|line| !is_inherited(line)).collect::<Vec<_>>(), Vec::<&str>::new());
    assert_eq!(child.stop().await.leaked, 0);
}

#[tokio::test]
async fn files_at_impossible_numbers_are_refused() {
    for numbers in [[2, 3], [3, 3], [3, 1000]] {
        let fds = numbers.map(|number| (number, OwnedFd::from(std::fs::File::open("/dev/null").expect("it opens"))));
        let launch = Launch { fds: fds.into(), ..Launch::new("true", "/") };
        let error = supervisor().start(launch).await.expect_err("it is refused");
        assert!(error.to_string().contains("cannot be passed to it as number"), "{error}");
    }
}

#[tokio::test]
async fn a_failed_start_is_told_with_extra_files_too() {
    let fds = (3..12).map(|number| (number, OwnedFd::from(std::fs::File::open("/dev/null").expect("it opens"))));
    let launch = Launch { fds: fds.collect(), ..Launch::new("no-such-program", "/") };
    assert!(matches!(supervisor().start(launch).await, Err(StartError::NotFound { .. })));
}

#[tokio::test]
async fn environment_and_folder_are_those_of_the_launch() {
    let mark = Mark::new();
    let folder = tempfile::tempdir().expect("a folder");
    let script = here().join("child.py").into_os_string();
    let launch = Launch {
        args: vec![script, "surroundings".into(), "GIVEN".into(), "CARGO_PKG_NAME".into(), "HOME".into()],
        set_env: vec![mark.variable(), ("GIVEN".into(), "a=b\nc".into())],
        drop_env: vec!["CARGO_PKG_NAME".into()],
        ..Launch::new("python3", folder.path())
    };
    let mut running = start(&supervisor(), launch).await;
    let mut got = String::new();
    running.stdout.read_to_string(&mut got).await.expect("stdout can be read");
    let dir = folder.path().canonicalize().expect("it is there");
    let home = std::env::var("HOME").expect("everyone has one");
    assert_eq!(got, format!("{}\nGIVEN=a=b\nc\nCARGO_PKG_NAME=None\nHOME={home}\n", dir.display()));
}

#[tokio::test]
async fn a_large_environment_passes() {
    let mark = Mark::new();
    let value = "x".repeat(100_000);
    let set_env = (0..10).map(|n| (format!("LARGE_{n}").into(), value.clone().into())).collect();
    let mut running =
        start(&supervisor(), Launch { set_env, ..launch(&mark, PATIENT, &["surroundings", "LARGE_9"]) }).await;
    let mut got = String::new();
    running.stdout.read_to_string(&mut got).await.expect("stdout can be read");
    assert!(got.ends_with(&format!("LARGE_9={value}\n")), "{} bytes", got.len());
}

/// How often we are killed.
fn n_kills() -> usize {
    if crate::support::is_full_tier() { 50 } else { 5 }
}

/// Set for the process that is to be killed; it holds a folder for the children's folders.
const VICTIM: &str = "TRAILBLAZE_TEST_VICTIM";

/// Not a test by itself: started again by the next one, this is the program that gets killed. It starts children of every
/// kind, one after the other and without end, and says a word at each step.
#[tokio::test]
async fn victim() {
    let Some(folder) = std::env::var_os(VICTIM).map(PathBuf::from) else { return };
    let supervisor = supervisor();
    let mut all = Vec::new();
    let kinds: [&[&str]; 5] = [&["family"], &["daemon"], &["hops"], &["stubborn"], &["daemon", "goes"]];
    for (n, kind) in kinds.iter().cycle().enumerate() {
        let owned = folder.join(n.to_string());
        std::fs::create_dir(&owned).expect("a folder");
        let script = here().join("child.py");
        let settle = "import os, sys; open('settled', 'w'); os.execvp(sys.argv[1], sys.argv[1:])";
        let mut args: Vec<OsString> = vec!["-c".into(), settle.into(), "python3".into(), script.into()];
        args.extend(kind.iter().map(OsString::from));
        let grace = Grace { after_stdin: Duration::from_millis(300), after_term: Duration::from_millis(100) };
        let launch = Launch { args, folders: vec![owned.clone()], grace, ..Launch::new("python3", owned) };
        say("starting");
        let running = start(&supervisor, launch).await;
        say("started");
        if n % 2 == 0 {
            all.push(running);
            continue;
        }
        let mut lines = BufReader::new(running.stdout).lines();
        lines.next_line().await.expect("stdout can be read");
        say("ready");
        drop(running.stdin);
        let stopping = tokio::spawn(async move { running.child.stop().await });
        say("stopping");
        if n % 4 == 1 {
            stopping.await.expect("it stops");
            say("stopped");
        }
    }
}

/// Directly, because the harness keeps what is printed.
fn say(word: &str) {
    use std::io::Write;
    let _ = writeln!(std::io::stdout(), "{word}");
}

#[tokio::test]
async fn when_we_are_killed_nothing_is_left() {
    for n in 1..=n_kills() {
        let mark = Mark::new();
        let folder = tempfile::tempdir().expect("a folder");
        let (name, value) = mark.variable();
        let mut victim = tokio::process::Command::new(std::env::current_exe().expect("we have a file"))
            .args(["--exact", "command_line::child_processes::victim", "--nocapture"])
            .env(VICTIM, folder.path())
            .env(name, value)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .kill_on_drop(true)
            .spawn()
            .expect("the victim starts");
        let mut words = BufReader::new(victim.stdout.take().expect("it is piped")).lines();
        let (n_words, moment) = (chance() % 40, Duration::from_micros(chance() % 20_000));
        for _ in 0..n_words {
            words.next_line().await.expect("words can be read").expect("the victim does not end by itself");
        }
        // A random moment is the point here; nothing depends on its length.
        tokio::time::sleep(moment).await;
        victim.kill().await.expect("the victim is killed");
        let what = format!("kill {n}, after {n_words} words and {moment:?}");
        mark.wait_until_none_left().await;
        let left: Vec<_> = std::fs::read_dir(folder.path()).expect("it is there").flatten().collect();
        let settled: Vec<_> = left.iter().filter(|entry| entry.path().join("settled").exists()).collect();
        assert!(settled.is_empty(), "{what}: folders of children are left: {settled:?}");
        // The one that was being made when the kill came may never have been given to anybody.
        assert!(left.len() <= 1, "{what}: folders are left: {left:?}");
    }
}
