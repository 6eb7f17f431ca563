mod support;

use std::fs::File;
use std::io::{PipeReader, PipeWriter, Read, Write, pipe};
use std::os::fd::{AsRawFd, OwnedFd};
use std::thread;
use std::time::Duration;

use plugin_host::streams::{Input, error_document, read_text, write_all};
use support::{soon, within};

fn ends() -> (File, File) {
    let (reader, writer): (PipeReader, PipeWriter) = pipe().unwrap();
    (File::from(OwnedFd::from(reader)), File::from(OwnedFd::from(writer)))
}

fn read_what(bytes: &[u8], limit: usize) -> Input {
    let (reader, mut writer) = ends();
    let bytes = bytes.to_vec();
    let writing = thread::spawn(move || drop(writer.write_all(&bytes)));
    let input = read_text(&reader, limit, soon());
    drop(reader);
    writing.join().unwrap();
    input
}

#[test]
fn text_is_read_to_its_end() {
    assert_eq!(read_what(b"", 10), Input::Text(String::new()));
    assert_eq!(read_what("Grüße 🎈\0".as_bytes(), 100), Input::Text("Grüße 🎈\0".into()));
    let large = "ä".repeat(1_000_000);
    assert_eq!(read_what(large.as_bytes(), large.len()), Input::Text(large));
}

#[test]
fn text_over_the_limit_is_refused_not_cut() {
    assert_eq!(read_what(b"1234567890", 10), Input::Text("1234567890".into()));
    assert_eq!(read_what(b"12345678901", 10), Input::Oversized);
    assert_eq!(read_what(&[b' '; 1_000_000], 10), Input::Oversized);
}

#[test]
fn text_over_the_limit_is_refused_before_its_end() {
    let (reader, mut writer) = ends();
    writer.write_all(b"12345678901").unwrap();
    assert_eq!(read_text(&reader, 10, soon()), Input::Oversized);
}

#[test]
fn bytes_that_are_not_utf_8_are_refused() {
    assert_eq!(read_what(b"\xff", 10), Input::NotUtf8);
    assert_eq!(read_what("ü".as_bytes().split_last().unwrap().1, 10), Input::NotUtf8);
}

#[test]
fn a_stream_without_end_is_a_timeout() {
    let (reader, mut writer) = ends();
    writer.write_all(b"{").unwrap();
    assert_eq!(read_text(&reader, 10, within(50)), Input::Timeout);
    let dripping = thread::spawn(move || {
        while writer.write_all(b" ").is_ok() {
            thread::sleep(Duration::from_millis(5));
        }
    });
    assert_eq!(read_text(&reader, 1000, within(100)), Input::Timeout);
    drop(reader);
    dripping.join().unwrap();
}

#[test]
fn what_cannot_be_read_fails() {
    assert_eq!(read_text(&File::open("/").unwrap(), 10, soon()), Input::Failed("Is a directory (os error 21)".into()));
    let (_reader, writer) = ends();
    assert!(matches!(read_text(&writer, 10, within(50)), Input::Failed(_) | Input::Timeout));
}

#[test]
fn everything_is_written_to_a_slow_reader() {
    for is_blocking in [true, false] {
        let (mut reader, writer) = ends();
        // SAFETY: takes numbers only.
        unsafe { libc::fcntl(writer.as_raw_fd(), libc::F_SETFL, if is_blocking { 0 } else { libc::O_NONBLOCK }) };
        let reading = thread::spawn(move || {
            let (mut received, mut chunk) = (Vec::new(), [0; 10_000]);
            loop {
                let size = reader.read(&mut chunk).unwrap();
                if size == 0 {
                    return received;
                }
                received.extend_from_slice(&chunk[..size]);
                thread::sleep(Duration::from_millis(1));
            }
        });
        let bytes: Vec<u8> = (0..500_000u32).map(|at| (at % 251) as u8).collect();
        assert!(write_all(&writer, &bytes, soon()));
        drop(writer);
        assert!(reading.join().unwrap() == bytes);
    }
}

#[test]
fn a_reader_that_is_gone_or_never_reads_is_told() {
    let (reader, writer) = ends();
    assert!(!write_all(&writer, &[0; 1_000_000], within(100)));
    drop(reader);
    assert!(!write_all(&writer, b"text", soon()));
    assert!(!write_all(&File::open("/dev/null").unwrap(), b"text", soon()));
    assert!(!write_all(&File::options().write(true).open("/dev/full").unwrap(), b"text", soon()));
}

#[test]
fn an_error_document_is_json_whatever_the_message() {
    assert_eq!(error_document("plain"), "{\"cniVersion\":\"1.1.0\",\"code\":999,\"msg\":\"plain\"}\n");
    assert_eq!(
        error_document("a\"b\\c\nd\0🎈"),
        "{\"cniVersion\":\"1.1.0\",\"code\":999,\"msg\":\"a\\\"b\\\\c d 🎈\"}\n"
    );
    assert!(error_document(&"ü".repeat(100_000)).len() < 3000);
}
