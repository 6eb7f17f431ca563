mod support;

use std::io::{Read, Write};
use std::os::fd::AsRawFd;
use std::os::unix::net::{UnixListener, UnixStream};
use std::thread;
use std::time::{Duration, Instant};

use plugin_host::exchange::{self, Exchange};
use support::{TemporaryDirectory, soon, within};

const LIMIT: usize = 1000;

/// To the end of the stream.
fn exchange(path: &str, request: &[u8], limit: usize, until: Instant) -> Exchange {
    exchange::exchange(path, None, request, limit, until, |_| None)
}

/// How an exchange with an agent that does this with its one connection ends.
fn exchange_with(
    test: &str,
    request: &[u8],
    until: Instant,
    agent: impl FnOnce(UnixStream) + Send + 'static,
) -> Exchange {
    let directory = TemporaryDirectory::new(test);
    let socket = directory.join("agent.sock");
    let listener = UnixListener::bind(&socket).unwrap();
    let serving = thread::spawn(move || agent(listener.accept().unwrap().0));
    let ended = exchange(&socket, request, LIMIT, until);
    serving.join().unwrap();
    ended
}

fn read_exactly(stream: &mut UnixStream, size: usize) {
    stream.read_exact(&mut vec![0; size]).unwrap();
}

#[test]
fn an_answer_is_read_to_its_end() {
    let ended = exchange_with("answer", b"question", soon(), |mut stream| {
        read_exactly(&mut stream, 8);
        for part in ["an ", "ans", "wer"] {
            stream.write_all(part.as_bytes()).unwrap();
            thread::sleep(Duration::from_millis(20));
        }
    });
    assert_eq!(ended, Exchange::Answer(b"an answer".to_vec()));
}

#[test]
fn an_answer_that_says_its_length_is_not_waited_for_beyond_it() {
    let directory = TemporaryDirectory::new("length");
    let socket = directory.join("agent.sock");
    let listener = UnixListener::bind(&socket).unwrap();
    let serving = thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        for part in ["9:answer", "ing"] {
            stream.write_all(part.as_bytes()).unwrap();
            thread::sleep(Duration::from_millis(50));
        }
        // Held open until the other side hangs up.
        stream.read(&mut [0]).unwrap()
    });
    let ended = exchange::exchange(&socket, None, b"", LIMIT, soon(), |first| {
        assert!(first.starts_with(b"9:"));
        Some(11)
    });
    assert_eq!(ended, Exchange::Answer(b"9:answering".to_vec()));
    assert_eq!(serving.join().unwrap(), 0);
}

#[test]
fn a_line_that_is_there_already_is_used() {
    let (ours, mut theirs) = UnixStream::pair().unwrap();
    let serving = thread::spawn(move || {
        read_exactly(&mut theirs, 8);
        theirs.write_all(b"answer").unwrap();
    });
    let ended = exchange::exchange("/nowhere", Some(ours), b"question", LIMIT, soon(), |_| None);
    serving.join().unwrap();
    assert_eq!(ended, Exchange::Answer(b"answer".to_vec()));
}

#[test]
fn the_writing_side_stays_open_until_the_answer_has_ended() {
    let ended = exchange_with("half-close", b"question", soon(), |mut stream| {
        read_exactly(&mut stream, 8);
        stream.set_read_timeout(Some(Duration::from_millis(100))).unwrap();
        let went_away = stream.read(&mut [0]).is_ok();
        stream.write_all(if went_away { b"half-closed" } else { b"open" }).unwrap();
    });
    assert_eq!(ended, Exchange::Answer(b"open".to_vec()));
}

#[test]
fn a_request_larger_than_the_socket_buffer_arrives_whole() {
    let request: Vec<u8> = (0..3_000_000u32).map(|at| at as u8).collect();
    let expected = request.clone();
    let ended = exchange_with("large", &request, soon(), move |mut stream| {
        let mut received = vec![0; expected.len()];
        for part in received.chunks_mut(100_000) {
            stream.read_exact(part).unwrap();
            thread::sleep(Duration::from_millis(1));
        }
        stream.write_all(if received == expected { b"same" } else { b"different" }).unwrap();
    });
    assert_eq!(ended, Exchange::Answer(b"same".to_vec()));
}

#[test]
fn an_agent_that_answers_without_reading_is_heard() {
    let ended = exchange_with("impatient", &vec![0; 3_000_000], soon(), |mut stream| {
        stream.write_all(b"too large").unwrap();
    });
    assert_eq!(ended, Exchange::Answer(b"too large".to_vec()));
}

#[test]
fn a_line_that_is_cut_without_a_byte_is_dropped() {
    assert_eq!(exchange_with("dropped", b"question", soon(), drop), Exchange::Dropped);
    let ended = exchange_with("dropped-later", b"question", soon(), |mut stream| read_exactly(&mut stream, 8));
    assert_eq!(ended, Exchange::Dropped);
    let ended =
        exchange_with("dropped-while-writing", &vec![0; 3_000_000], soon(), |mut stream| read_exactly(&mut stream, 8));
    assert_eq!(ended, Exchange::Dropped);
}

#[test]
fn silence_and_an_answer_without_end_are_timeouts() {
    let waiting = |stream: UnixStream| {
        thread::sleep(Duration::from_millis(300));
        drop(stream);
    };
    assert_eq!(exchange_with("silence", b"question", within(100), waiting), Exchange::Timeout);
    let ended = exchange_with("endless", b"question", within(100), move |mut stream| {
        stream.write_all(b"beginning").unwrap();
        waiting(stream);
    });
    assert_eq!(ended, Exchange::Timeout);
    assert_eq!(exchange_with("unread", &vec![0; 3_000_000], within(100), waiting), Exchange::Timeout);
}

#[test]
fn an_answer_may_be_as_large_as_the_limit() {
    let answering = |size: usize| move |mut stream: UnixStream| drop(stream.write_all(&vec![b'x'; size]));
    assert_eq!(exchange_with("limit", b"", soon(), answering(LIMIT)), Exchange::Answer(vec![b'x'; LIMIT]));
    assert_eq!(exchange_with("over", b"", soon(), answering(LIMIT + 1)), Exchange::Oversized);
    assert_eq!(exchange_with("far-over", b"", soon(), answering(3_000_000)), Exchange::Oversized);
}

#[test]
fn an_absent_agent_is_told_apart() {
    let directory = TemporaryDirectory::new("absent");
    let socket = directory.join("agent.sock");
    assert_eq!(exchange(&socket, b"", LIMIT, soon()), Exchange::Absent("missing"));
    drop(UnixListener::bind(&socket).unwrap());
    assert_eq!(exchange(&socket, b"", LIMIT, soon()), Exchange::Absent("refused"));
}

#[test]
fn a_full_queue_is_busy_at_once() {
    let directory = TemporaryDirectory::new("busy");
    let socket = directory.join("agent.sock");
    let listener = UnixListener::bind(&socket).unwrap();
    // SAFETY: takes numbers only.
    unsafe { libc::listen(listener.as_raw_fd(), 0) };
    let _waiting = UnixStream::connect(&socket).unwrap();
    let started = Instant::now();
    assert_eq!(exchange(&socket, b"", LIMIT, soon()), Exchange::Absent("busy"));
    assert!(started.elapsed() < Duration::from_secs(1));
}

#[test]
fn any_other_failure_is_in_the_systems_words() {
    let directory = TemporaryDirectory::new("failed");
    std::fs::write(directory.join("file"), "").unwrap();
    let below_a_file = exchange(&directory.join("file/agent.sock"), b"", LIMIT, soon());
    assert_eq!(below_a_file, Exchange::Failed("Not a directory (os error 20)".into()));
    for path in ["/".repeat(108), "/a\0b".into(), "\0abstract".into()] {
        assert!(matches!(exchange(&path, b"", LIMIT, soon()), Exchange::Failed(_)), "{path:?}");
    }
    let longest = format!("{}/agent.sock", "/.".repeat(48));
    assert_eq!(longest.len(), 107);
    assert_eq!(exchange(&longest, b"", LIMIT, soon()), Exchange::Absent("missing"));
}
