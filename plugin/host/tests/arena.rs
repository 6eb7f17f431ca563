use std::alloc::{GlobalAlloc, Layout};

use plugin_host::arena::Arena;

const SIZE: usize = 64 * 1024;

fn arena() -> Box<Arena<SIZE>> {
    // SAFETY: each test has its own, and one thread.
    Box::new(unsafe { Arena::new() })
}

/// The same numbers on every run.
fn next(state: &mut u64) -> usize {
    *state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
    (*state >> 33) as usize
}

#[test]
fn blocks_keep_their_content_through_any_order_of_calls() {
    let arena = arena();
    let mut random = 1;
    let mut held: Vec<(*mut u8, Layout, u8)> = Vec::new();
    for step in 0..200_000u32 {
        let size = match next(&mut random) % 10 {
            0 => 1 + next(&mut random) % 20_000,
            1 => 1 + next(&mut random) % 200_000,
            _ => 1 + next(&mut random) % 1100,
        };
        let at = next(&mut random) % held.len().max(1);
        // SAFETY: every block is used within its size, and freed once with the layout it has.
        unsafe {
            match next(&mut random) % 5 {
                0 | 1 if held.len() < 100 => {
                    let align = 1 << (next(&mut random) % 7);
                    let layout = Layout::from_size_align(size, align).unwrap();
                    let block = arena.alloc(layout);
                    assert!(!block.is_null() && block as usize % align == 0);
                    block.write_bytes(step as u8, size);
                    held.push((block, layout, step as u8));
                }
                2 if !held.is_empty() => {
                    let (block, layout, mark) = held[at];
                    let moved = arena.realloc(block, layout, size);
                    let common = std::slice::from_raw_parts(moved, size.min(layout.size()));
                    assert!(common.iter().all(|byte| *byte == mark));
                    moved.write_bytes(mark, size);
                    held[at] = (moved, Layout::from_size_align(size, layout.align()).unwrap(), mark);
                }
                _ if !held.is_empty() => {
                    let (block, layout, mark) = held.swap_remove(at);
                    assert!(std::slice::from_raw_parts(block, layout.size()).iter().all(|byte| *byte == mark));
                    arena.dealloc(block, layout);
                }
                _ => {}
            }
        }
    }
    for (block, layout, _) in held {
        // SAFETY: as above.
        unsafe { arena.dealloc(block, layout) };
    }
}

#[test]
fn what_was_freed_is_given_out_again() {
    let arena = arena();
    let layout = Layout::from_size_align(100, 8).unwrap();
    // SAFETY: freed once each, with the layout they have.
    unsafe {
        let (first, second) = (arena.alloc(layout), arena.alloc(layout));
        arena.dealloc(first, layout);
        assert_eq!(arena.alloc(layout), first);
        arena.dealloc(second, layout);
        let large = Layout::from_size_align(SIZE / 2, 8).unwrap();
        for _ in 0..10 {
            let block = arena.alloc(large);
            assert_eq!(block, second, "the last block gives its place back");
            arena.dealloc(block, large);
        }
    }
}

#[test]
fn populating_changes_no_content() {
    let arena = arena();
    let layout = Layout::from_size_align(8000, 8).unwrap();
    // SAFETY: within its size.
    unsafe {
        let block = arena.alloc(layout);
        block.write_bytes(7, 8000);
        arena.populate(SIZE * 2);
        assert!(std::slice::from_raw_parts(block, 8000).iter().all(|byte| *byte == 7));
    }
}
