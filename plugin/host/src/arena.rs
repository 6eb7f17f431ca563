use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::UnsafeCell;
use std::ptr::{NonNull, null_mut};

const GRAIN: usize = 16;
/// Freed blocks up to this size are kept by size and given out again.
const LARGEST_KEPT: usize = 4096;

/// Memory for a process of one thread that lives for milliseconds: blocks lie one after the other in `SIZE` bytes of the
/// program itself, which a usual call does not fill; everything beyond comes from the system's allocator. That one asks
/// the kernel some forty times for a page or two, and spreads small blocks over twice as many pages.
pub struct Arena<const SIZE: usize> {
    room: UnsafeCell<Room<SIZE>>,
}

#[repr(C, align(4096))]
struct Room<const SIZE: usize> {
    bytes: [u8; SIZE],
    used: usize,
    kept: [Option<NonNull<Free>>; LARGEST_KEPT / GRAIN],
}

/// What a freed block holds: the next one of its size.
struct Free {
    next: Option<NonNull<Free>>,
}

// SAFETY: promised by whoever calls `Arena::new`.
unsafe impl<const SIZE: usize> Sync for Arena<SIZE> {}

impl<const SIZE: usize> Arena<SIZE> {
    /// # Safety
    /// It must be used by one thread at a time, and not by a signal handler.
    pub const unsafe fn new() -> Self {
        let kept = [None; LARGEST_KEPT / GRAIN];
        Arena { room: UnsafeCell::new(Room { bytes: [0; SIZE], used: 0, kept }) }
    }

    /// Has the first `size` bytes mapped in one go, which costs half of what they cost page by page. Older kernels cannot.
    pub fn populate(&self, size: usize) {
        // SAFETY: within the room, which lives as long as the process; its content does not change.
        unsafe { libc::madvise(self.room.get().cast(), size.min(SIZE), libc::MADV_POPULATE_WRITE) };
    }

    fn start(&self) -> *mut u8 {
        self.room.get().cast()
    }

    fn owns(&self, block: *mut u8) -> bool {
        (self.start() as usize..self.start() as usize + SIZE).contains(&(block as usize))
    }
}

fn rounded(size: usize) -> usize {
    size.next_multiple_of(GRAIN)
}

// SAFETY: blocks do not overlap: each is cut from the unused rest, or was freed by its owner. `rounded` of the size that the
// owner hands back is what it was given.
unsafe impl<const SIZE: usize> GlobalAlloc for Arena<SIZE> {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: one thread at a time, and no reference to the room outlives a call.
        let room = unsafe { &mut *self.room.get() };
        if layout.align() > GRAIN || layout.size() > SIZE {
            // SAFETY: the caller's own promises.
            return unsafe { System.alloc(layout) };
        }
        let size = rounded(layout.size());
        if size <= LARGEST_KEPT
            && let Some(free) = room.kept[size / GRAIN - 1]
        {
            // SAFETY: written when the block was freed, and untouched since.
            room.kept[size / GRAIN - 1] = unsafe { free.read() }.next;
            return free.as_ptr().cast();
        }
        if size > SIZE - room.used {
            // SAFETY: the caller's own promises.
            return unsafe { System.alloc(layout) };
        }
        let block = room.bytes[room.used..].as_mut_ptr();
        room.used += size;
        block
    }

    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        if !self.owns(block) {
            // SAFETY: not ours, so the system gave it.
            return unsafe { System.dealloc(block, layout) };
        }
        // SAFETY: as in `alloc`.
        let room = unsafe { &mut *self.room.get() };
        let size = rounded(layout.size());
        let at = block as usize - self.start() as usize;
        if at + size == room.used {
            room.used = at;
        } else if size <= LARGEST_KEPT {
            let free: *mut Free = block.cast();
            // SAFETY: a block is aligned to and at least as large as the grain, and nobody uses it any more.
            unsafe { free.write(Free { next: room.kept[size / GRAIN - 1] }) };
            room.kept[size / GRAIN - 1] = NonNull::new(free);
        }
    }

    unsafe fn realloc(&self, block: *mut u8, layout: Layout, new_size: usize) -> *mut u8 {
        if !self.owns(block) {
            // SAFETY: not ours, so the system gave it.
            return unsafe { System.realloc(block, layout, new_size) };
        }
        let (old, new) = (rounded(layout.size()), rounded(new_size));
        // SAFETY: as in `alloc`.
        let room = unsafe { &mut *self.room.get() };
        let at = block as usize - self.start() as usize;
        if at + old == room.used && new <= SIZE - at {
            room.used = at + new;
            return block;
        }
        if new == old {
            return block;
        }
        let Ok(wanted) = Layout::from_size_align(new_size, layout.align()) else { return null_mut() };
        // SAFETY: another block than the old one, which is valid until it is freed; the shorter length fits both.
        unsafe {
            let moved = self.alloc(wanted);
            if !moved.is_null() {
                moved.copy_from_nonoverlapping(block, layout.size().min(new_size));
                self.dealloc(block, layout);
            }
            moved
        }
    }
}
