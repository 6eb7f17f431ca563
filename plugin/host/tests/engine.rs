mod support;

use std::time::{Duration, Instant};

use plugin_host::engine::MEMORY_LIMIT;
use support::{run, run_until, soon, within};

#[test]
fn a_loop_is_cut_at_the_deadline() {
    for source in [
        "for (;;);",
        "await 0; for (;;);",
        "try { for (;;); } catch { say('caught') } finally { say('went on') }",
        "(async () => { try { await 0; for (;;); } catch { say('caught') } })().catch(() => say('caught')); await new Promise(() => {})",
        "const again = () => Promise.resolve().then(again); await again()",
        "/(a+)+$/.test('a'.repeat(40) + 'b')",
        "new Array(1e9).fill(0).sort(() => 1)",
    ] {
        let started = Instant::now();
        let (said, ended) = run_until(source, MEMORY_LIMIT, within(300));
        assert_eq!(said, [] as [&str; 0], "{source}");
        assert!(ended.is_err(), "{source}");
        assert!(started.elapsed() < Duration::from_secs(5), "{source}");
    }
}

#[test]
fn memory_has_a_limit() {
    for source in [
        "const all = []; for (;;) all.push(new Uint8Array(100_000))",
        "let text = 'x'; for (;;) text += text",
        "const all = []; for (;;) all.push({ a: all })",
        "let promise = Promise.resolve(); for (;;) promise = promise.then(() => [promise])",
    ] {
        let why = run_until(source, 4 * 1024 * 1024, soon()).1.unwrap_err();
        assert!(why.contains("out of memory") || why.contains("string too long"), "{source}: {why}");
    }
}

#[test]
fn the_stack_has_a_limit() {
    let (_, ended) = run_until("const deeper = () => 1 + deeper(); deeper()", MEMORY_LIMIT, soon());
    assert_eq!(ended, Err("the plugin failed: Maximum call stack size exceeded".into()));
    assert_eq!(run("try { JSON.parse('['.repeat(1e5)) } catch { say('refused') }"), "refused");
}

#[test]
fn text_cannot_become_code() {
    for source in [
        "eval('1')",
        "(0, eval)('1')",
        "globalThis.eval('1')",
        "Function('return 1')()",
        "new Function('return 1')",
        "(async () => {}).constructor('return 1')()",
        "(function* () {}).constructor('return 1')()",
        "await import('data:text/javascript,1')",
        "await import('/etc/passwd')",
    ] {
        let said = run(&format!("try {{ {source}; say('done') }} catch {{ say('refused') }}"));
        assert_eq!(said, "refused", "{source}");
    }
}

#[test]
fn nothing_but_the_host_is_in_reach() {
    for name in ["process", "require", "Date", "performance", "console", "std", "os", "Proxy", "WeakRef", "gc", "print"]
    {
        assert_eq!(run(&format!("say(typeof {name})")), "undefined", "{name}");
    }
}

#[test]
fn the_way_a_module_ended_is_told() {
    let ended = |source: &str| run_until(source, MEMORY_LIMIT, soon()).1;
    assert_eq!(ended("await 1"), Ok(()));
    assert_eq!(ended("throw new Error('no')"), Err("the plugin failed: no".into()));
    assert_eq!(ended("await 1; null.x"), Err("the plugin failed: cannot read property 'x' of null".into()));
    assert_eq!(ended("await new Promise(() => {})"), Err("the plugin waits for nothing".into()));
    assert_eq!(ended("throw undefined"), Err("the plugin failed, perhaps out of memory".into()));
}
