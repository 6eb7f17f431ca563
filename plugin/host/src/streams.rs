use std::fs::File;
use std::io::{Read, Write};
use std::mem::ManuallyDrop;
use std::os::fd::{AsFd, FromRawFd, RawFd};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use crate::ready::{is_passing, wait_ready};

/// What a pipe takes at once, without blocking, when poll says that it is writable.
const PIPE_BUF: usize = 4096;
const LAST_WORDS_PATIENCE: Duration = Duration::from_secs(1);

static HAS_PRINTED: AtomicBool = AtomicBool::new(false);

#[derive(Debug, PartialEq)]
pub enum Input {
    Text(String),
    Oversized,
    NotUtf8,
    Timeout,
    Failed(String),
}

/// A standard stream that we were started without must not become the next file or socket that is opened. Its number is
/// taken by something that fails to be read (0) or written (1, 2), as a closed stream does.
pub fn hold_places() -> bool {
    [libc::O_WRONLY, libc::O_RDONLY, libc::O_RDONLY].into_iter().zip(0..).all(|(mode, fd)| {
        // SAFETY: asks about a number, whether or not it is open.
        let is_open = unsafe { libc::fcntl(fd, libc::F_GETFD) } != -1;
        // SAFETY: a constant path with its NUL. The lowest free number is given out, and all below `fd` are taken.
        is_open || unsafe { libc::open(c"/dev/null".as_ptr(), mode) } == fd
    })
}

pub fn standard(fd: RawFd) -> ManuallyDrop<File> {
    // SAFETY: 0, 1 and 2 are held open by `hold_places` for the life of the process, and this File never closes them.
    ManuallyDrop::new(unsafe { File::from_raw_fd(fd) })
}

/// Everything up to the end of the stream.
pub fn read_text(mut stream: &File, limit: usize, until: Instant) -> Input {
    let mut bytes = Vec::new();
    let mut chunk = [0; 4096];
    loop {
        match wait_ready(stream.as_fd(), libc::POLLIN, until) {
            Ok(Some(_)) => {}
            Ok(None) => return Input::Timeout,
            Err(error) => return Input::Failed(error.to_string()),
        }
        match stream.read(&mut chunk) {
            Ok(0) => return String::from_utf8(bytes).map_or(Input::NotUtf8, Input::Text),
            Ok(size) => bytes.extend_from_slice(&chunk[..size]),
            Err(error) if is_passing(&error) => {}
            Err(error) => return Input::Failed(error.to_string()),
        }
        if bytes.len() > limit {
            return Input::Oversized;
        }
    }
}

/// Writes all of it; false when it is not read, or not in time.
pub fn write_all(mut stream: &File, mut bytes: &[u8], until: Instant) -> bool {
    while !bytes.is_empty() {
        let Ok(Some(_)) = wait_ready(stream.as_fd(), libc::POLLOUT, until) else {
            return false;
        };
        match stream.write(&bytes[..bytes.len().min(PIPE_BUF)]) {
            Ok(size) => bytes = &bytes[size..],
            Err(error) if is_passing(&error) => {}
            Err(_) => return false,
        }
    }
    true
}

/// Standard output is one document: whatever was begun there is the last that may be said.
pub fn print(text: &str, until: Instant) -> bool {
    // Also when the time was over before it began, as after a frozen cgroup: an answer takes no time where it is read.
    let until = until.max(Instant::now() + LAST_WORDS_PATIENCE);
    HAS_PRINTED.store(true, Ordering::Relaxed);
    write_all(&standard(1), text.as_bytes(), until)
}

/// For when the plugin itself cannot answer any more: a CNI error document, unless it has printed already, and exit code 1.
pub fn fail(message: &str) -> ! {
    say_last(&error_document(message));
    std::process::exit(1)
}

/// The same out of a signal handler, where memory may be asked for no more.
pub extern "C" fn fail_aborted(_signal: libc::c_int) {
    say_last("{\"cniVersion\":\"1.1.0\",\"code\":999,\"msg\":\"the plugin was aborted\"}\n");
    // SAFETY: ends the process at once.
    unsafe { libc::_exit(1) }
}

fn say_last(document: &str) {
    if !HAS_PRINTED.load(Ordering::Relaxed) {
        print(document, Instant::now());
    }
}

pub fn error_document(message: &str) -> String {
    let mut text = String::from(r#"{"cniVersion":"1.1.0","code":999,"msg":""#);
    for character in message.chars().take(1024) {
        match character {
            '"' | '\\' => text.extend(['\\', character]),
            '\0'..'\x20' => text.push(' '),
            _ => text.push(character),
        }
    }
    text + "\"}\n"
}
