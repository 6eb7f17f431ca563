use std::time::Instant;

use rquickjs::allocator::RustAllocator;
use rquickjs::context::intrinsic::{Json, MapSet, Promise, RegExp, TypedArrays};
use rquickjs::{Context, Ctx, Error, Module, Result, Runtime};

pub const MEMORY_LIMIT: usize = 64 * 1024 * 1024;
const STACK_LIMIT: usize = 512 * 1024;
/// A call ends long before its garbage matters: to look for cycles at the engine's own 256 KiB cost a fifteenth of an ADD.
const COLLECT_FROM: usize = 16 * 1024 * 1024;

/// What the plugin's code uses. Without Eval nothing can turn text into code: no eval, no Function constructor, no import.
type Intrinsics = (RegExp, Json, MapSet, TypedArrays, Promise);

/// A world of its own: memory, stack and time are bounded, and nothing is in reach but what `install` puts there.
pub struct Engine {
    context: Context,
    until: Instant,
}

impl Engine {
    pub fn new(memory_limit: usize, until: Instant) -> Result<Engine> {
        // Rust's allocator, which the executable chooses for both.
        let runtime = Runtime::new_with_alloc(RustAllocator)?;
        runtime.set_memory_limit(memory_limit);
        runtime.set_max_stack_size(STACK_LIMIT);
        runtime.set_gc_threshold(COLLECT_FROM);
        runtime.set_interrupt_handler(Some(Box::new(move || Instant::now() >= until)));
        let context = Context::custom::<Intrinsics>(&runtime)?;
        Ok(Engine { context, until })
    }

    /// Runs a module to the end of all that it awaits; an error is one sentence for a person.
    ///
    /// # Safety
    /// `bytecode` must have been written by this version of this engine: it is not checked.
    pub unsafe fn run(
        &self,
        bytecode: &'static [u8],
        install: impl FnOnce(&Ctx) -> Result<()>,
    ) -> std::result::Result<(), String> {
        self.context.with(|ctx| {
            let run = || {
                install(&ctx)?;
                // SAFETY: promised by the caller. The engine goes on reading the bytes in place, so they are static.
                let module = unsafe { Module::load(ctx.clone(), bytecode) }?;
                module.eval()?.1.finish()
            };
            run().map_err(|error| self.describe(&ctx, error))
        })
    }

    fn describe(&self, ctx: &Ctx, error: Error) -> String {
        let thrown = ctx.catch();
        if Instant::now() >= self.until {
            return "the plugin took too long".into();
        }
        match (error, thrown.as_exception().and_then(|exception| exception.message())) {
            (Error::Exception, Some(message)) => format!("the plugin failed: {message}"),
            // The engine throws this when not even an error object has room.
            (Error::Exception, None) => "the plugin failed, perhaps out of memory".into(),
            (Error::WouldBlock, _) => "the plugin waits for nothing".into(),
            (other, _) => other.to_string(),
        }
    }
}
