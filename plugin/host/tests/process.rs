//! The executable as a runtime or a person meets it.
mod support;

use std::io::Write;
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

fn ipledger() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_ipledger"));
    command.env_clear().stdin(Stdio::null());
    command
}

fn in_shell(script: &str) -> Output {
    let mut command = Command::new("sh");
    command.args(["-c", script, "sh", env!("CARGO_BIN_EXE_ipledger")]).env_clear().env("CNI_COMMAND", "VERSION");
    command.output().unwrap()
}

fn text(bytes: &[u8]) -> &str {
    str::from_utf8(bytes).unwrap()
}

#[test]
fn a_person_is_told_what_this_is() {
    let version = ipledger().arg("--version").output().unwrap();
    assert_eq!(
        (text(&version.stdout), version.status.code()),
        (concat!("ipledger ", env!("CARGO_PKG_VERSION"), "\n"), Some(0))
    );
    let help = ipledger().arg("--help").output().unwrap();
    assert!(text(&help.stdout).contains("ipledgerctl") && help.status.success());
    let nothing = ipledger().output().unwrap();
    assert!(text(&nothing.stdout).contains("\"code\":4") && nothing.status.code() == Some(1));
}

#[test]
fn arguments_mean_nothing_to_a_runtime() {
    for argument in ["--version", "--help", "anything"] {
        let output = ipledger().arg(argument).env("CNI_COMMAND", "VERSION").output().unwrap();
        assert!(text(&output.stdout).contains("supportedVersions") && output.status.success(), "{argument}");
    }
}

#[test]
fn an_answer_that_nobody_can_read_is_no_success() {
    assert_eq!(in_shell("\"$1\" </dev/null >/dev/null").status.code(), Some(0));
    assert_eq!(in_shell("\"$1\" </dev/null >&-").status.code(), Some(1));
    assert_eq!(in_shell("\"$1\" </dev/null >/dev/full").status.code(), Some(1));
    assert_eq!(in_shell("\"$1\" </dev/null >&- 2>&- <&-").status.code(), Some(1));
    assert_eq!(in_shell("{ sleep 0.3; \"$1\" </dev/null; echo $? >&2; } | true").stderr, b"1\n");
}

#[test]
fn a_closed_stdin_is_an_error_and_not_the_next_socket() {
    let output = in_shell("\"$1\" <&-");
    assert!(text(&output.stdout).contains("stdin cannot be read"), "{output:?}");
    assert_eq!(output.status.code(), Some(1));
}

#[test]
fn the_numbers_of_closed_streams_are_not_given_to_sockets_or_files() {
    let mut command = Command::new("sh");
    command.args(["-c", "exec \"$1\" >&- 2>&-", "sh", env!("CARGO_BIN_EXE_ipledger")]).env("CNI_COMMAND", "VERSION");
    let mut child = command.stdin(Stdio::piped()).spawn().unwrap();
    let places = || [1, 2].map(|fd| std::fs::read_link(format!("/proc/{}/fd/{fd}", child.id())).unwrap_or_default());
    let held = ["/dev/null", "/dev/null"].map(PathBuf::from);
    let until = support::within(5000);
    while places() != held && Instant::now() < until {
        std::thread::sleep(Duration::from_millis(5));
    }
    let places = places();
    child.kill().unwrap();
    child.wait().unwrap();
    assert_eq!(places, held);
}

#[test]
fn an_abort_leaves_an_error_document() {
    let mut command = ipledger();
    let mut child = command.env("CNI_COMMAND", "VERSION").stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    child.stdin.as_mut().unwrap().write_all(b"{").unwrap();
    std::thread::sleep(Duration::from_millis(500));
    // SAFETY: takes numbers only; the child is ours and not waited for yet.
    unsafe { libc::kill(child.id() as i32, libc::SIGABRT) };
    let stdin = child.stdin.take();
    let output = child.wait_with_output().unwrap();
    drop(stdin);
    assert_eq!(text(&output.stdout), "{\"cniVersion\":\"1.1.0\",\"code\":999,\"msg\":\"the plugin was aborted\"}\n");
    assert_eq!(output.status.code(), Some(1));
}

/// With little memory the system gives out none at some moment: which one depends on how little.
#[test]
fn no_memory_is_an_error_document_and_the_environment_adds_nothing_to_it() {
    let directory = support::TemporaryDirectory::new("memory");
    let path = directory.join("stdin");
    std::fs::write(&path, format!("{{\"cniVersion\":\"1.0.0\",\"a\":\"{}\"}}", "x".repeat(1_000_000))).unwrap();
    let mut aborted = 0;
    for kilobytes in (2_000..16_000).step_by(250) {
        let script = format!("ulimit -v {kilobytes}; exec \"$1\" <\"$2\"");
        let mut command = Command::new("sh");
        command.args(["-c", &script, "sh", env!("CARGO_BIN_EXE_ipledger")]).arg(&path).env_clear();
        command.envs([("CNI_COMMAND", "ADD"), ("RUST_BACKTRACE", "full"), ("IPLEDGER_SOCKET", "/nowhere")]);
        let output = command.output().unwrap();
        // Not even the program itself had room.
        if output.status.code() != Some(1) {
            assert!(output.stdout.is_empty(), "{output:?}");
            continue;
        }
        assert!(text(&output.stdout).starts_with("{\"cniVersion\":"), "{kilobytes} {output:?}");
        assert!(!text(&output.stderr).contains("backtrace:"), "{kilobytes} {output:?}");
        aborted += u32::from(text(&output.stdout).contains("aborted"));
    }
    assert!(aborted > 0, "no limit was between too little to start and enough");
}

/// A process inherits which signals it does not hear.
#[test]
fn the_last_alarm_is_heard_whatever_the_runtime_blocks() {
    let mut command = ipledger();
    command.env("CNI_COMMAND", "VERSION").stdin(Stdio::piped()).stdout(Stdio::piped());
    // SAFETY: only calls that are allowed between fork and exec, on memory of its own.
    unsafe {
        command.pre_exec(|| {
            let mut all = std::mem::zeroed();
            libc::sigfillset(&mut all);
            libc::sigprocmask(libc::SIG_SETMASK, &all, std::ptr::null_mut());
            Ok(())
        })
    };
    let mut child = command.spawn().unwrap();
    let held = child.stdin.take();
    std::thread::sleep(Duration::from_millis(500));
    // SAFETY: takes numbers only; the child is ours and not waited for yet.
    unsafe { libc::kill(child.id() as i32, libc::SIGALRM) };
    let until = support::within(5000);
    while child.try_wait().unwrap().is_none() && Instant::now() < until {
        std::thread::sleep(Duration::from_millis(5));
    }
    child.kill().unwrap();
    drop(held);
    assert!(text(&child.wait_with_output().unwrap().stdout).contains("the plugin was aborted"));
}
