#![allow(dead_code)] // each test file uses its own part

#[path = "../../src/compile.rs"]
mod compile;

use std::cell::RefCell;
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::time::{Duration, Instant};

use plugin_host::engine::{Engine, MEMORY_LIMIT};
use plugin_host::host;
use rquickjs::function::Func;

pub fn soon() -> Instant {
    Instant::now() + Duration::from_secs(20)
}

pub fn within(milliseconds: u64) -> Instant {
    Instant::now() + Duration::from_millis(milliseconds)
}

/// Runs JavaScript as the plugin is run, with a global `say` beside `host`: what it said, and how it ended.
pub fn run_until(source: &str, memory_limit: usize, until: Instant) -> (Vec<String>, Result<(), String>) {
    let bytecode: &'static [u8] = compile::compile(source).leak();
    let said = Rc::new(RefCell::new(Vec::new()));
    let engine = Engine::new(memory_limit, until).unwrap();
    // SAFETY: compiled by this very engine.
    let ended = unsafe {
        engine.run(bytecode, |ctx| {
            let said = said.clone();
            ctx.globals().set("say", Func::from(move |text: String| said.borrow_mut().push(text)))?;
            host::install(ctx, Instant::now(), until, None)
        })
    };
    drop(engine);
    (said.take(), ended)
}

/// What a script that ends well said, as one text.
pub fn run(source: &str) -> String {
    let (said, ended) = run_until(source, MEMORY_LIMIT, soon());
    assert_eq!(ended, Ok(()));
    said.join(" ")
}

pub struct TemporaryDirectory(PathBuf);

impl TemporaryDirectory {
    pub fn new(test: &str) -> TemporaryDirectory {
        let path = std::env::temp_dir().join(format!("ipledger-host-{}-{test}", std::process::id()));
        std::fs::create_dir(&path).unwrap();
        TemporaryDirectory(path)
    }

    pub fn path(&self) -> &Path {
        &self.0
    }

    pub fn join(&self, name: &str) -> String {
        self.0.join(name).to_str().unwrap().to_string()
    }
}

impl Drop for TemporaryDirectory {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}
