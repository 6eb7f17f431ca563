//! The plugin as a program. It starts without std's own `main`, which would replace a closed stdout by /dev/null: an answer
//! that nobody can read must end with exit code 1.
#![no_main]

use std::ffi::{CStr, c_char, c_int};
use std::time::{Duration, Instant};

use plugin_host::{PLUGIN, engine, host, streams};

/// Above every budget of the plugin: met only by code that has gone astray.
const LONGEST_CALL: Duration = Duration::from_secs(35);

const HELP: &str = concat!(
    "ipledger ",
    env!("CARGO_PKG_VERSION"),
    ": ipledger's CNI plugin. A container runtime starts it with its request in the environment and on stdin.\n",
    "A person wants ipledgerctl: try \"ipledgerctl --help\".\n",
);
const VERSION: &str = concat!("ipledger ", env!("CARGO_PKG_VERSION"), "\n");

#[unsafe(no_mangle)]
pub extern "C" fn main(argc: c_int, argv: *const *const c_char) -> c_int {
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
    let engine = engine::Engine::new(engine::MEMORY_LIMIT, until);
    let ended = match &engine {
        // SAFETY: build.rs wrote the bytecode with this very engine.
        Ok(engine) => unsafe { engine.run(PLUGIN, |ctx| host::install(ctx, started, until)) },
        Err(error) => Err(error.to_string()),
    };
    streams::fail(&ended.err().unwrap_or_else(|| "the plugin ended without a result".into()))
}

/// Whatever ends the process from inside must leave a CNI error document behind.
fn prepare_for_the_worst() {
    // The engine aborts when it runs out of memory at the wrong moment.
    extern "C" fn on_abort(_signal: c_int) {
        streams::fail("the plugin was aborted")
    }
    std::panic::set_hook(Box::new(|panic| {
        let place = panic.location().map(|place| place.to_string());
        streams::fail(&format!("the plugin's host failed at {}", place.unwrap_or_default()))
    }));
    // SAFETY: `on_abort` is no closure and lives for ever; abort calls it synchronously, in the only thread there is.
    unsafe {
        libc::signal(libc::SIGPIPE, libc::SIG_IGN);
        libc::signal(libc::SIGABRT, on_abort as *const () as libc::sighandler_t);
    }
}
