//! The plugin's bundle becomes bytecode, made by the very engine that will run it.

#[path = "src/compile.rs"]
mod compile;

use std::{env, fs, path::Path};

fn main() {
    let bundle = env::var("IPLEDGER_PLUGIN_BUNDLE").unwrap_or_else(|_| "../../dist/plugin.neutral.js".to_string());
    println!("cargo:rerun-if-env-changed=IPLEDGER_PLUGIN_BUNDLE");
    println!("cargo:rerun-if-changed={bundle}");
    println!("cargo:rerun-if-changed=src/compile.rs");
    let source = fs::read(&bundle).unwrap_or_else(|error| panic!("{bundle}: {error} (hack/build-plugin makes it)"));
    let target = Path::new(&env::var("OUT_DIR").unwrap()).join("plugin.bytecode");
    fs::write(target, compile::compile(source)).unwrap();
}
