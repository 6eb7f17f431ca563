use rquickjs::{CatchResultExt, Context, Module, Runtime, WriteOptions};

/// The bytecode of one module. Not part of what is shipped: a build and the tests have the compiler, the plugin has not.
pub fn compile(source: impl Into<Vec<u8>>) -> Vec<u8> {
    let runtime = Runtime::new().unwrap();
    Context::full(&runtime).unwrap().with(|ctx| {
        let options = WriteOptions { strip_source: true, strip_debug: true, ..WriteOptions::default() };
        let module = Module::declare(ctx.clone(), "plugin", source).catch(&ctx);
        module.unwrap_or_else(|error| panic!("{error}")).write(options).unwrap()
    })
}
