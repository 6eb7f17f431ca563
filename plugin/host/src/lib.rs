//! What carries the plugin: an engine that can reach nothing, and the host object that lets it do one CNI call.

pub mod ahead;
pub mod arena;
pub mod engine;
pub mod exchange;
pub mod host;
pub mod ready;
pub mod spool;
pub mod streams;

/// The plugin itself, compiled by build.rs.
pub static PLUGIN: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/plugin.bytecode"));
