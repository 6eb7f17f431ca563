//! Runs the plugin's bytecode again and again, each time in a new engine, with a world that is passed in: the driver of
//! test/chaos/fuzz-plugin.ts. Cases come on stdin, outcomes go to stdout; every field is its length (u32, little endian)
//! and its bytes.

use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::io::{Read, Result, Write, stdin, stdout};
use std::rc::Rc;
use std::time::{Duration, Instant};

use plugin_host::engine::{Engine, MEMORY_LIMIT};
use plugin_host::exchange::Exchange;
use plugin_host::spool::Spooled;
use plugin_host::streams::{Input, error_document};
use plugin_host::{PLUGIN, host};
use rquickjs::function::Func;
use rquickjs::{Ctx, Object, TypedArray, Value};

const LONGEST_CASE: Duration = Duration::from_secs(35);

struct Case {
    env: HashMap<Vec<u8>, Vec<u8>>,
    stdin: Vec<u8>,
    answer: Vec<u8>,
}

#[derive(Default)]
struct Outcome {
    code: Cell<Option<i32>>,
    stdout: RefCell<String>,
    now_ms: Cell<f64>,
}

fn main() -> Result<()> {
    let (mut input, mut output) = (stdin().lock(), stdout().lock());
    while let Some(case) = read_case(&mut input)? {
        let (code, text) = replay(case);
        write_field(&mut output, &[code as u8])?;
        write_field(&mut output, text.as_bytes())?;
        output.flush()?;
    }
    Ok(())
}

fn replay(case: Case) -> (i32, String) {
    let outcome = Rc::new(Outcome::default());
    let engine = Engine::new(MEMORY_LIMIT, Instant::now() + LONGEST_CASE).unwrap();
    // SAFETY: build.rs wrote the bytecode with this very engine.
    let ended = unsafe { engine.run(PLUGIN, |ctx| install(ctx, Rc::new(case), outcome.clone())) };
    match (outcome.code.get(), ended) {
        (Some(code), _) => (code, outcome.stdout.take()),
        (None, Ok(())) => (1, error_document("the plugin ended without a result")),
        (None, Err(why)) => (1, outcome.stdout.take() + &error_document(&why)),
    }
}

/// The same names and shapes as `host::install` gives, and the same conversions.
fn install(ctx: &Ctx, case: Rc<Case>, outcome: Rc<Outcome>) -> rquickjs::Result<()> {
    let host = Object::new(ctx.clone())?;
    let env = case.clone();
    let lookup = move |ctx, name: String| host::text_or_null(ctx, env.env.get(name.as_bytes()).cloned());
    host.set("env", Func::from(lookup))?;
    let clock = outcome.clone();
    host.set("nowMs", Func::from(move || clock.now_ms.get()))?;
    let clock = outcome.clone();
    host.set("sleep", Func::from(move |ms: f64| clock.now_ms.set(clock.now_ms.get() + ms)))?;
    host.set("encodeUtf8", Func::from(host::encode_utf8))?;
    host.set("decodeUtf8", Func::from(host::decode_utf8))?;
    let asked = case.clone();
    let read_stdin = move |ctx, limit: f64, _timeout_ms: f64| host::describe_input(ctx, input_of(&asked.stdin, limit));
    host.set("readStdin", Func::from(read_stdin))?;
    let exchange = move |ctx, _: String, _: TypedArray<u8>, limit: f64, _timeout_ms: f64, _length_of: Value| {
        host::describe_exchange(ctx, exchange_of(&case.answer, limit))
    };
    host.set("exchange", Func::from(exchange))?;
    let spool = |ctx, _: String, _: String, _: String, _: f64| host::describe_spooled(ctx, Spooled::Written);
    host.set("spool", Func::from(spool))?;
    let printed = outcome.clone();
    let write_stdout = move |text: String, _timeout_ms: f64| {
        printed.stdout.borrow_mut().push_str(&text);
        true
    };
    host.set("writeStdout", Func::from(write_stdout))?;
    host.set("exit", Func::from(move |code: i32| outcome.code.set(Some(code))))?;
    ctx.globals().set("host", host)
}

fn input_of(stdin: &[u8], limit: f64) -> Input {
    if stdin.len() as f64 > limit {
        return Input::Oversized;
    }
    String::from_utf8(stdin.to_vec()).map_or(Input::NotUtf8, Input::Text)
}

fn exchange_of(answer: &[u8], limit: f64) -> Exchange {
    match answer {
        [] => Exchange::Dropped,
        bytes if bytes.len() as f64 > limit => Exchange::Oversized,
        bytes => Exchange::Answer(bytes.to_vec()),
    }
}

/// Number of variables, their names and values, stdin, the answer of the agent.
fn read_case(input: &mut impl Read) -> Result<Option<Case>> {
    let mut length = [0; 4];
    if input.read(&mut length[..1])? == 0 {
        return Ok(None);
    }
    input.read_exact(&mut length[1..])?;
    let mut env = HashMap::new();
    for _ in 0..u32::from_le_bytes(length) {
        env.insert(read_field(input)?, read_field(input)?);
    }
    let stdin = read_field(input)?;
    let answer = read_field(input)?;
    Ok(Some(Case { env, stdin, answer }))
}

fn read_field(input: &mut impl Read) -> Result<Vec<u8>> {
    let mut length = [0; 4];
    input.read_exact(&mut length)?;
    let mut bytes = vec![0; u32::from_le_bytes(length) as usize];
    input.read_exact(&mut bytes)?;
    Ok(bytes)
}

fn write_field(output: &mut impl Write, bytes: &[u8]) -> Result<()> {
    output.write_all(&(bytes.len() as u32).to_le_bytes())?;
    output.write_all(bytes)
}
