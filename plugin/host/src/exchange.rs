use std::io::{Error, ErrorKind, Read, Result, Write};
use std::mem::{offset_of, zeroed};
use std::os::fd::{AsFd, AsRawFd, FromRawFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::time::Instant;

use crate::ready::{is_passing, wait_ready};

#[derive(Debug, PartialEq)]
pub enum Exchange {
    Answer(Vec<u8>),
    Absent(&'static str),
    Timeout,
    Dropped,
    Oversized,
    Failed(String),
}

/// One connection, `line` if there is one already: sends all of `request` and reads the answer. `length_of` is asked once,
/// with the first bytes that came, how long the whole answer is; when it cannot tell, the end of the stream is the end of
/// the answer. The writing side stays open meanwhile.
pub fn exchange(
    path: &str,
    line: Option<UnixStream>,
    request: &[u8],
    limit: usize,
    until: Instant,
    length_of: impl FnOnce(&[u8]) -> Option<usize>,
) -> Exchange {
    let stream = match line.map_or_else(|| connect(path), Ok) {
        Ok(stream) => stream,
        Err(error) => return not_connected(error),
    };
    converse(stream, request, limit, until, length_of).unwrap_or_else(|error| Exchange::Failed(error.to_string()))
}

fn not_connected(error: Error) -> Exchange {
    match error.raw_os_error() {
        Some(libc::ENOENT) => Exchange::Absent("missing"),
        Some(libc::ECONNREFUSED) => Exchange::Absent("refused"),
        Some(libc::EAGAIN) => Exchange::Absent("busy"),
        _ => Exchange::Failed(error.to_string()),
    }
}

/// Not std's own connect: that one blocks while the listener's queue is full. Non-blocking, it fails with EAGAIN.
pub fn connect(path: &str) -> Result<UnixStream> {
    // SAFETY: sockaddr_un is plain numbers, all of which may be zero.
    let mut address: libc::sockaddr_un = unsafe { zeroed() };
    if path.len() >= address.sun_path.len() || path.contains('\0') {
        return Err(Error::from(ErrorKind::InvalidInput));
    }
    address.sun_family = libc::AF_UNIX as libc::sa_family_t;
    for (slot, byte) in address.sun_path.iter_mut().zip(path.bytes()) {
        *slot = byte as libc::c_char;
    }
    let length = offset_of!(libc::sockaddr_un, sun_path) + path.len() + 1;

    let kind = libc::SOCK_STREAM | libc::SOCK_NONBLOCK | libc::SOCK_CLOEXEC;
    // SAFETY: takes numbers only.
    let socket = check(unsafe { libc::socket(libc::AF_UNIX, kind, 0) })?;
    // SAFETY: just opened and owned by nobody else.
    let socket = unsafe { OwnedFd::from_raw_fd(socket) };
    // SAFETY: `address` lives until after the call, and `length` is within it because the path was found to fit.
    check(unsafe { libc::connect(socket.as_raw_fd(), (&raw const address).cast(), length as libc::socklen_t) })?;
    Ok(UnixStream::from(socket))
}

fn converse(
    mut stream: UnixStream,
    request: &[u8],
    limit: usize,
    until: Instant,
    length_of: impl FnOnce(&[u8]) -> Option<usize>,
) -> Result<Exchange> {
    let mut unsent = request;
    let mut answer = Vec::new();
    let mut chunk = [0; 4096];
    let mut unasked = Some(length_of);
    let mut whole = usize::MAX;
    while answer.len() < whole {
        let events = libc::POLLIN | if unsent.is_empty() { 0 } else { libc::POLLOUT };
        let Some(ready) = wait_ready(stream.as_fd(), events, until)? else {
            return Ok(Exchange::Timeout);
        };
        if ready & libc::POLLOUT != 0 {
            match stream.write(unsent) {
                Ok(size) => unsent = &unsent[size..],
                Err(error) if is_passing(&error) => {}
                // The line was cut, but what was answered before that is still to be read.
                Err(_) => unsent = &[],
            }
        }
        if ready & !libc::POLLOUT == 0 {
            continue;
        }
        match stream.read(&mut chunk) {
            Ok(0) => break,
            Ok(size) => answer.extend_from_slice(&chunk[..size]),
            Err(error) if is_passing(&error) => {}
            Err(_) => break,
        }
        if answer.len() > limit {
            return Ok(Exchange::Oversized);
        }
        if let Some(length) = unasked.take().and_then(|length_of| length_of(&answer)) {
            whole = length;
        }
    }
    Ok(if answer.is_empty() { Exchange::Dropped } else { Exchange::Answer(answer) })
}

fn check(result: libc::c_int) -> Result<libc::c_int> {
    if result == -1 { Err(Error::last_os_error()) } else { Ok(result) }
}
