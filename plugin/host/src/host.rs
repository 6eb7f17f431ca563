use std::cell::Cell;
use std::ffi::OsString;
use std::time::{Duration, Instant};

use rquickjs::function::Func;
use rquickjs::{Ctx, Function, IntoJs, Object, Result, TypedArray, Value};

use crate::ahead::LineAhead;
use crate::exchange::{Exchange, exchange};
use crate::spool::{Spooled, spool};
use crate::streams::{Input, print, read_text, standard};

const LONGEST_WAIT: Duration = Duration::from_secs(3600);

/// The global `host`: all that the plugin can do to the world. plugin/host-io.ts has its types and plugin/plugin-io.ts its
/// contract. Nothing waits beyond `until`, whatever it is asked. `line` is for the first exchange, if it can use it.
pub fn install<'js>(ctx: &Ctx<'js>, started: Instant, until: Instant, line: Option<LineAhead>) -> Result<()> {
    let within = move |timeout_ms: f64| until.min(Instant::now() + to_duration(timeout_ms));
    let host = Object::new(ctx.clone())?;
    host.set("env", Func::from(env))?;
    host.set("nowMs", Func::from(move || started.elapsed().as_secs_f64() * 1000.0))?;
    host.set("sleep", Func::from(move |ms: f64| std::thread::sleep(within(ms) - Instant::now())))?;
    host.set("encodeUtf8", Func::from(encode_utf8))?;
    host.set("decodeUtf8", Func::from(decode_utf8))?;
    host.set(
        "readStdin",
        Func::from(move |ctx, limit: f64, timeout_ms| {
            describe_input(ctx, read_text(&standard(0), limit as usize, within(timeout_ms)))
        }),
    )?;
    let line = Cell::new(line);
    host.set(
        "exchange",
        Func::from(move |ctx: Ctx<'js>, path: String, request, limit: f64, timeout_ms, length_of: Function<'js>| {
            let line = line.take().and_then(|line| line.into_stream_to(&path));
            let (request, until) = (bytes_of(&request), within(timeout_ms));
            let length_of = |bytes: &[u8]| ask_length(&ctx, &length_of, bytes);
            let ended = exchange(&path, line, &request, limit as usize, until, length_of);
            describe_exchange(ctx, ended)
        }),
    )?;
    host.set(
        "spool",
        Func::from(|ctx, directory: String, name: String, text: String, max_files: f64| {
            describe_spooled(ctx, spool(&directory, &name, &text, max_files as usize))
        }),
    )?;
    host.set("writeStdout", Func::from(move |text: String, timeout_ms| print(&text, within(timeout_ms))))?;
    host.set("exit", Func::from(|code: i32| -> () { std::process::exit(code) }))?;
    ctx.globals().set("host", host)
}

fn env(ctx: Ctx, name: String) -> Result<Value> {
    text_or_null(ctx, std::env::var_os(name).map(OsString::into_encoded_bytes))
}

/// Undefined for nothing, null for what is not UTF-8.
pub fn text_or_null(ctx: Ctx, bytes: Option<Vec<u8>>) -> Result<Value> {
    match bytes.map(String::from_utf8) {
        None => Ok(Value::new_undefined(ctx)),
        Some(Err(_)) => Ok(Value::new_null(ctx)),
        Some(Ok(text)) => text.into_js(&ctx),
    }
}

/// A plugin that cannot say how long an answer is has it read to the end of the stream.
fn ask_length<'js>(ctx: &Ctx<'js>, length_of: &Function<'js>, bytes: &[u8]) -> Option<usize> {
    let bytes = TypedArray::new(ctx.clone(), bytes).ok()?;
    match length_of.call::<_, Option<f64>>((bytes,)) {
        Ok(length) => length.map(|length| length as usize),
        Err(_) => {
            ctx.catch();
            None
        }
    }
}

pub fn encode_utf8(ctx: Ctx, text: String) -> Result<TypedArray<u8>> {
    TypedArray::new(ctx, text)
}

pub fn decode_utf8(bytes: TypedArray<u8>) -> Option<String> {
    String::from_utf8(bytes_of(&bytes)).ok()
}

/// A detached array has no bytes.
fn bytes_of(array: &TypedArray<u8>) -> Vec<u8> {
    // SAFETY: copied before any JavaScript can run again.
    unsafe { array.as_bytes() }.unwrap_or_default().to_vec()
}

/// Not a number and less than nothing are no time at all.
fn to_duration(ms: f64) -> Duration {
    Duration::from_micros((ms * 1000.0) as u64).min(LONGEST_WAIT)
}

pub fn describe_input<'js>(ctx: Ctx<'js>, input: Input) -> Result<Object<'js>> {
    match input {
        Input::Text(text) => outcome(ctx, "text", "text", text),
        Input::Oversized => plain(ctx, "oversized"),
        Input::NotUtf8 => plain(ctx, "not-utf8"),
        Input::Timeout => plain(ctx, "timeout"),
        Input::Failed(why) => outcome(ctx, "failed", "why", why),
    }
}

pub fn describe_exchange<'js>(ctx: Ctx<'js>, exchange: Exchange) -> Result<Object<'js>> {
    match exchange {
        Exchange::Answer(bytes) => {
            let bytes = TypedArray::new(ctx.clone(), bytes)?;
            outcome(ctx, "answer", "bytes", bytes)
        }
        Exchange::Absent(why) => outcome(ctx, "absent", "why", why),
        Exchange::Timeout => plain(ctx, "timeout"),
        Exchange::Dropped => plain(ctx, "dropped"),
        Exchange::Oversized => plain(ctx, "oversized"),
        Exchange::Failed(why) => outcome(ctx, "failed", "why", why),
    }
}

pub fn describe_spooled<'js>(ctx: Ctx<'js>, spooled: Spooled) -> Result<Object<'js>> {
    match spooled {
        Spooled::Written => plain(ctx, "written"),
        Spooled::Exists => plain(ctx, "exists"),
        Spooled::Full(files) => outcome(ctx, "full", "files", files as f64),
        Spooled::Failed(why) => outcome(ctx, "failed", "why", why),
    }
}

fn plain<'js>(ctx: Ctx<'js>, kind: &str) -> Result<Object<'js>> {
    let object = Object::new(ctx)?;
    object.set("kind", kind)?;
    Ok(object)
}

fn outcome<'js>(ctx: Ctx<'js>, kind: &str, key: &str, value: impl IntoJs<'js>) -> Result<Object<'js>> {
    let object = plain(ctx, kind)?;
    object.set(key, value)?;
    Ok(object)
}
