//! Times a program the way a container runtime calls a CNI plugin: fork, exec, JSON on stdin, stdout to its end, wait.
//! For `npm run bench`: `time-calls RUNS PAUSE-MS STDIN-FILE PROGRAM` prints a line per run: nanoseconds, peak RSS in kB,
//! exit code. Run n has the container ID `$CNI_CONTAINERID-n`. Nothing is printed before the last run has ended, so that
//! whoever reads it sleeps while a call is timed.

use std::io::{Read, Write};
use std::mem::MaybeUninit;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

const USAGE: &str = "usage: time-calls RUNS PAUSE-MS STDIN-FILE PROGRAM";

fn main() -> std::io::Result<()> {
    let mut words = std::env::args().skip(1);
    let mut number = |name| words.next().and_then(|word| word.parse().ok()).unwrap_or_else(|| panic!("{USAGE}: {name}?"));
    let (runs, pause): (u64, u64) = (number("RUNS"), number("PAUSE-MS"));
    let (Some(input), Some(program)) = (words.next(), words.next()) else { panic!("{USAGE}") };
    let input = std::fs::read(input)?;
    let container = std::env::var("CNI_CONTAINERID").unwrap_or_default();
    let mut report = String::new();
    let mut output = Vec::new();
    for run in 0..runs {
        output.clear();
        let mut command = Command::new(&program);
        command.env("CNI_CONTAINERID", format!("{container}-{run}")).stdin(Stdio::piped()).stdout(Stdio::piped());
        std::thread::sleep(Duration::from_millis(pause));
        let started = Instant::now();
        let mut child = command.spawn()?;
        // A program that ends without reading its input closes the pipe under us.
        let _ = child.stdin.take().expect("a pipe was asked for").write_all(&input);
        child.stdout.take().expect("a pipe was asked for").read_to_end(&mut output)?;
        let (code, peak_kb) = wait(child.id());
        report += &format!("{} {peak_kb} {code}\n", started.elapsed().as_nanos());
    }
    print!("{report}");
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
