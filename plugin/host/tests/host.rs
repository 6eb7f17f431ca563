mod support;

use std::time::{Duration, Instant};

use plugin_host::engine::MEMORY_LIMIT;
use support::{TemporaryDirectory, run, run_until, within};

#[test]
fn utf_8_goes_both_ways_for_every_character() {
    let said = run("
        let text = '';
        for (let point = 0; point < 0x110000; point += point < 0x3000 ? 1 : 97) if (point < 0xd800 || point > 0xdfff) text += String.fromCodePoint(point);
        const bytes = host.encodeUtf8(text);
        say(bytes instanceof Uint8Array && host.decodeUtf8(bytes) === text ? 'same' : 'different')");
    assert_eq!(said, "same");
}

#[test]
fn bytes_that_are_not_utf_8_are_no_text() {
    for bytes in [
        "0x80",
        "0xff",
        "0xc3",
        "0xc0, 0xaf",
        "0xe0, 0x80, 0x80",
        "0xed, 0xa0, 0x80",
        "0xf0, 0x9f, 0x98",
        "0xf4, 0x90, 0x80, 0x80",
        "0xf8, 0x88, 0x80, 0x80, 0x80",
        "0x61, 0xc3, 0x28",
    ] {
        assert_eq!(run(&format!("say(typeof host.decodeUtf8(new Uint8Array([{bytes}])))")), "undefined", "{bytes}");
    }
}

#[test]
fn only_the_bytes_of_the_view_are_taken() {
    assert_eq!(run("say(host.decodeUtf8(new Uint8Array([97, 98, 99, 100]).subarray(1, 3)))"), "bc");
    assert_eq!(run("say(host.decodeUtf8(new Uint8Array(0)))"), "");
    assert_eq!(run("say(host.decodeUtf8(new Uint8Array([0xef, 0xbb, 0xbf, 97, 0])))"), "\u{feff}a\0");
    assert_eq!(
        run("say(host.encodeUtf8('').length + ',' + [...host.encodeUtf8('a\\ud800'.toWellFormed())])"),
        "0,97,239,191,189"
    );
}

#[test]
fn the_environment_is_read_by_name() {
    assert_eq!(
        run("say(host.env('CARGO_PKG_NAME')); say(typeof host.env('IPLEDGER_NOT_SET')); say(typeof host.env(''))"),
        "ipledger-plugin-host undefined undefined"
    );
}

#[test]
fn the_clock_goes_on_while_it_sleeps() {
    let said = run(
        "const before = host.nowMs(); host.sleep(30); const slept = host.nowMs() - before; say(slept >= 30 && slept < 5000 ? 'slept' : String(slept))",
    );
    assert_eq!(said, "slept");
    assert_eq!(run("for (const ms of [0, -1, NaN, -Infinity]) host.sleep(ms); say('awake')"), "awake");
}

#[test]
fn nothing_waits_beyond_the_deadline() {
    let directory = TemporaryDirectory::new("deadline");
    let socket = directory.join("agent.sock");
    let _listener = std::os::unix::net::UnixListener::bind(&socket).unwrap();
    for wait in
        ["host.sleep(1e9)", "host.sleep(Infinity)", &format!("host.exchange('{socket}', new Uint8Array(1), 10, 1e300, () => null)")]
    {
        let started = Instant::now();
        run_until(wait, MEMORY_LIMIT, within(200)).1.ok();
        assert!(started.elapsed() < Duration::from_secs(5), "{wait}");
    }
}

#[test]
fn outcomes_have_the_shape_of_the_port() {
    let directory = TemporaryDirectory::new("shape");
    let (missing, spool) = (directory.join("none.sock"), directory.join("spool"));
    assert_eq!(
        run(&format!("say(JSON.stringify(host.exchange('{missing}', new Uint8Array(1), 10, 100, () => null)))")),
        r#"{"kind":"absent","why":"missing"}"#
    );
    let call = format!("say(JSON.stringify(host.spool('{spool}', 'a', 'text', 1)))");
    assert_eq!(run(&call), r#"{"kind":"written"}"#);
    assert_eq!(run(&call), r#"{"kind":"exists"}"#);
    assert_eq!(run(&call.replace("'a'", "'b'")), r#"{"kind":"full","files":1}"#);
}
