use std::env::var_os;
use std::io::{Error, ErrorKind};
use std::os::fd::AsRawFd;
use std::os::unix::net::UnixStream;
use std::time::{Duration, Instant};

use crate::exchange::connect;

/// As in plugin/call.ts, which has the last word: a line to another place than it says is not used.
pub const DEFAULT_SOCKET: &str = "/var/run/spidernet/spiderpool.sock";
const VERBS: [&str; 5] = ["ADD", "DEL", "CHECK", "GC", "STATUS"];
/// Far below the time after which the agent gives up a caller that says nothing.
const FRESH: Duration = Duration::from_secs(1);

/// A line to the agent, made before it is known what to say: the agent wakes up and accepts while the plugin starts.
pub struct LineAhead {
    path: String,
    stream: UnixStream,
    since: Instant,
}

impl LineAhead {
    /// None when the verb needs no agent or there is none to reach: then nothing is lost, and `exchange` finds out why.
    pub fn open() -> Option<LineAhead> {
        let verb = var_os("CNI_COMMAND")?;
        if !VERBS.iter().any(|known| verb == *known) {
            return None;
        }
        let path = match var_os("IPLEDGER_SOCKET") {
            Some(path) if !path.is_empty() => path.into_string().ok().filter(|path| path.starts_with('/'))?,
            _ => DEFAULT_SOCKET.into(),
        };
        let stream = connect(&path).ok()?;
        Some(LineAhead { path, stream, since: Instant::now() })
    }

    /// The line, if it leads to `path` and the agent has not hung up meanwhile: nothing was sent on it, so another one may
    /// still be made.
    pub fn into_stream_to(self, path: &str) -> Option<UnixStream> {
        let is_fresh = self.path == path && self.since.elapsed() < FRESH;
        (is_fresh && !has_news(&self.stream)).then_some(self.stream)
    }
}

/// An agent that was asked nothing has nothing to say: what can be read is the end of the line.
fn has_news(stream: &UnixStream) -> bool {
    let mut byte = 0u8;
    let flags = libc::MSG_PEEK | libc::MSG_DONTWAIT;
    // SAFETY: an open socket and room for the one byte that is asked for.
    let got = unsafe { libc::recv(stream.as_raw_fd(), (&raw mut byte).cast(), 1, flags) };
    !(got == -1 && Error::last_os_error().kind() == ErrorKind::WouldBlock)
}
