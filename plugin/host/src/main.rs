//! The plugin as a program. It starts without std's own `main`, which would replace a closed stdout by /dev/null: an answer
//! that cannot be read must end with exit code 1.
#![no_main]

use std::ffi::{CStr, c_char, c_int};
use std::time::{Duration, Instant};

use plugin_host::arena::Arena;
use plugin_host::{PLUGIN, ahead, engine, host, streams};

/// Above every budget of the plugin: met only by code that has gone astray.
const LONGEST_CALL: Duration = Duration::from_secs(35);

/// What a usual call needs is below the second number, what fills the first one is a configuration of hundreds of kB.
const ARENA_SIZE: usize = 1024 * 1024;
const USUAL_SIZE: usize = 384 * 1024;

// SAFETY: the program has one thread, and its signal handler allocates nothing.
#[global_allocator]
static ARENA: Arena<ARENA_SIZE> = unsafe { Arena::new() };

const HELP: &str = concat!(
    "ipledger ",
    env!("CARGO_PKG_VERSION"),
    ": ipledger's CNI plugin. A container runtime starts it with its request in the environment and on stdin.\n",
    "A person wants ipledgerctl: try \"ipledgerctl --help\".\n",
);
const VERSION: &str = concat!("ipledger ", env!("CARGO_PKG_VERSION"), "\n");

#[unsafe(no_mangle)]
extern "C" fn main(argc: c_int, argv: *const *const c_char) -> c_int {
    let started = Instant::now();
    let until = started + LONGEST_CALL;
    if !streams::hold_places() {
        return 1;
    }
    prepare_for_the_worst();
    if argc == 2 && std::env::var_os("CNI_COMMAND").is_none_or(|verb| verb.is_empty()) {
        // SAFETY: the kernel gives `argc` pointers to C strings that live as long as the process.
        let word = unsafe { CStr::from_ptr(*argv.add(1)) };
        for (asked, text) in [(c"--version", VERSION), (c"--help", HELP)] {
            if word == asked {
                return c_int::from(!streams::print(text, until));
            }
        }
    }
    let line = ahead::LineAhead::open();
    ARENA.populate(USUAL_SIZE);
    let engine = engine::Engine::new(engine::MEMORY_LIMIT, until);
    let ended = match &engine {
        // SAFETY: build.rs wrote the bytecode with this very engine.
        Ok(engine) => unsafe { engine.run(PLUGIN, |ctx| host::install(ctx, started, until, line)) },
        Err(error) => Err(error.to_string()),
    };
    streams::fail(&ended.err().unwrap_or_else(|| "the plugin ended without a result".into()))
}

/// Whatever ends the process from inside must leave a CNI error document behind.
fn prepare_for_the_worst() {
    std::panic::set_hook(Box::new(|panic| {
        let place = panic.location().map(|place| place.to_string());
        streams::fail(&format!("the plugin's host failed at {}", place.unwrap_or_default()))
    }));
    // SAFETY: no other thread looks at the environment; there is none.
    // Rust's own words when memory runs out: with this they would be many, and read from the executable's file.
    unsafe { std::env::remove_var("RUST_BACKTRACE") };
    // SAFETY: the handler is a plain function that only writes and exits.
    unsafe {
        libc::signal(libc::SIGPIPE, libc::SIG_IGN);
        // A file size limit is an error of the write, not the end of the process.
        libc::signal(libc::SIGXFSZ, libc::SIG_IGN);
        // The engine looks at the clock between its own steps only; this is for one step that takes too long.
        libc::signal(libc::SIGALRM, streams::fail_aborted as *const () as libc::sighandler_t);
        libc::alarm(LONGEST_CALL.as_secs() as libc::c_uint + 1);
        // The engine aborts when it runs out of memory at the wrong moment.
        libc::signal(libc::SIGABRT, streams::fail_aborted as *const () as libc::sighandler_t);
    }
    // SAFETY: a set of signals is plain numbers, all of which may be zero, and lives until after the calls.
    unsafe {
        // The runtime may have been started with signals blocked, and a process inherits that.
        let mut heard: libc::sigset_t = std::mem::zeroed();
        libc::sigaddset(&mut heard, libc::SIGALRM);
        libc::sigaddset(&mut heard, libc::SIGABRT);
        libc::sigprocmask(libc::SIG_UNBLOCK, &heard, std::ptr::null_mut());
    }
}
