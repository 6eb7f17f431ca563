//! The line that is made before the plugin knows what to say, as the agent sees it.
mod support;

use std::io::{Read, Write};
use std::os::unix::net::{UnixListener, UnixStream};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use support::TemporaryDirectory;

const ANSWER: &[u8] = b"HTTP/1.1 200 OK\r\ncontent-length: 14\r\n\r\n{\"ready\":true}";
const CONF: &[u8] = br#"{"cniVersion":"1.1.0","name":"net","ipam":{"type":"ipledger"}}"#;

/// A call whose stdin has not come yet.
fn start(verb: &str, socket: &str) -> Child {
    let mut command = Command::new(env!("CARGO_BIN_EXE_ipledger"));
    command.env_clear().env("CNI_COMMAND", verb).env("IPLEDGER_SOCKET", socket);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap()
}

fn listen(directory: &TemporaryDirectory) -> (UnixListener, String) {
    let socket = directory.join("agent.sock");
    (UnixListener::bind(&socket).unwrap(), socket)
}

fn finish(mut child: Child) -> (String, Option<i32>) {
    drop(child.stdin.take());
    let output = child.wait_with_output().unwrap();
    (String::from_utf8(output.stdout).unwrap(), output.status.code())
}

fn answer(mut stream: UnixStream) {
    let asked = stream.read(&mut [0; 4096]).unwrap();
    assert!(asked > 0);
    stream.write_all(ANSWER).unwrap();
    // The plugin hangs up, though this side has not.
    assert_eq!(stream.read(&mut [0]).unwrap(), 0);
}

#[test]
fn the_agent_is_called_before_stdin_has_come_and_asked_on_that_line() {
    let directory = TemporaryDirectory::new("ahead");
    let (listener, socket) = listen(&directory);
    let mut child = start("STATUS", &socket);
    let (stream, _) = listener.accept().unwrap();
    child.stdin.take().unwrap().write_all(CONF).unwrap();
    answer(stream);
    assert_eq!(finish(child), (String::new(), Some(0)));
    listener.set_nonblocking(true).unwrap();
    assert!(listener.accept().is_err(), "one call is one line");
}

#[test]
fn a_line_that_the_agent_closed_before_it_was_asked_is_made_again() {
    let directory = TemporaryDirectory::new("closed");
    let (listener, socket) = listen(&directory);
    let mut child = start("STATUS", &socket);
    drop(listener.accept().unwrap());
    child.stdin.take().unwrap().write_all(CONF).unwrap();
    answer(listener.accept().unwrap().0);
    assert_eq!(finish(child), (String::new(), Some(0)));
}

#[test]
fn a_line_that_has_waited_long_is_made_again() {
    let directory = TemporaryDirectory::new("stale");
    let (listener, socket) = listen(&directory);
    let mut child = start("STATUS", &socket);
    let (stale, _) = listener.accept().unwrap();
    std::thread::sleep(Duration::from_millis(1200));
    child.stdin.take().unwrap().write_all(CONF).unwrap();
    answer(listener.accept().unwrap().0);
    assert_eq!(finish(child), (String::new(), Some(0)));
    drop(stale);
}

#[test]
fn without_an_agents_verb_nobody_is_called() {
    for verb in ["VERSION", "add", ""] {
        let directory = TemporaryDirectory::new(&format!("none-{verb}"));
        let (listener, socket) = listen(&directory);
        finish(start(verb, &socket));
        listener.set_nonblocking(true).unwrap();
        assert!(listener.accept().is_err(), "{verb:?}");
    }
}
