use std::io::{Error, ErrorKind, Result};
use std::os::fd::{AsRawFd, BorrowedFd};
use std::time::Instant;

/// Waits until `fd` is ready for `events` and says for which (errors and hang-ups count); None when it is too late.
pub fn wait_ready(fd: BorrowedFd, events: i16, until: Instant) -> Result<Option<i16>> {
    loop {
        let left = until.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return Ok(None);
        }
        let milliseconds = left.as_millis().min(60_000) as i32 + 1;
        let mut question = libc::pollfd { fd: fd.as_raw_fd(), events, revents: 0 };
        // SAFETY: the pointer is to one pollfd that lives until after the call.
        match unsafe { libc::poll(&mut question, 1, milliseconds) } {
            0 => continue,
            1 => return Ok(Some(question.revents)),
            _ => {
                let error = Error::last_os_error();
                if error.kind() != ErrorKind::Interrupted {
                    return Err(error);
                }
            }
        }
    }
}

/// Errors after which the same call may be made again.
pub fn is_passing(error: &Error) -> bool {
    matches!(error.kind(), ErrorKind::Interrupted | ErrorKind::WouldBlock)
}
