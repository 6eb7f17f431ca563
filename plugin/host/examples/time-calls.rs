//! Times a program the way a container runtime calls a CNI plugin: fork, exec, JSON on stdin, stdout to its end, wait.
//! For `npm run bench`: `time-calls RUNS STDIN-FILE PROGRAM` prints a line per run: nanoseconds, peak RSS in kB, exit code.

use std::io::{Read, Write};
use std::mem::MaybeUninit;
use std::process::{Command, Stdio};
use std::time::Instant;

fn main() -> std::io::Result<()> {
    let mut words = std::env::args().skip(1);
    let (Some(runs), Some(input), Some(program)) = (words.next(), words.next(), words.next()) else {
        panic!("usage: time-calls RUNS STDIN-FILE PROGRAM");
    };
    let runs: u32 = runs.parse().expect("RUNS must be a number");
    let input = std::fs::read(input)?;
    let mut output = Vec::new();
    for _ in 0..runs {
        output.clear();
        let started = Instant::now();
        let mut child = Command::new(&program).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()?;
        // A program that ends without reading its input closes the pipe under us.
        let _ = child.stdin.take().expect("a pipe was asked for").write_all(&input);
        child.stdout.take().expect("a pipe was asked for").read_to_end(&mut output)?;
        let (code, peak_kb) = wait(child.id());
        println!("{} {peak_kb} {code}", started.elapsed().as_nanos());
    }
    Ok(())
}

fn wait(pid: u32) -> (i32, i64) {
    let mut status = 0;
    let mut usage = MaybeUninit::<libc::rusage>::zeroed();
    // SAFETY: both pointers are to live, writable memory of the right type, and all-zero is a valid rusage.
    let waited = unsafe { libc::wait4(pid as libc::pid_t, &mut status, 0, usage.as_mut_ptr()) };
    assert_eq!(waited, pid as libc::pid_t, "wait4 failed");
    // SAFETY: zeroed above and filled by wait4.
    let usage = unsafe { usage.assume_init() };
    (libc::WEXITSTATUS(status), usage.ru_maxrss)
}
