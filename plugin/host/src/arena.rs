use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::UnsafeCell;
use std::ptr::{NonNull, null_mut};

const GRAIN: usize = 16;
/// Freed blocks up to this size are kept by size and given out again.
const LARGEST_KEPT: usize = 4096;

/// Memory for a process of one thread that lives for milliseconds: blocks lie one after the other in `SIZE` bytes of the
/// program itself, which a usual call does not fill; everything beyond comes from the system's allocator. That one asks
/// the kernel some forty times for a page or two, and spreads small blocks over twice as many pages.
#[repr(C, align(4096))]
pub struct Arena<const SIZE: usize> {
    // Apart from the books: a reference to those must not reach the blocks, which belong to the code that got them.
    bytes: UnsafeCell<[u8; SIZE]>,
    books: UnsafeCell<Books>,
}

struct Books {
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
        let books = Books { used: 0, kept: [None; LARGEST_KEPT / GRAIN] };
        Arena { bytes: UnsafeCell::new([0; SIZE]), books: UnsafeCell::new(books) }
    }

    /// Has the first `size` bytes mapped in one go, which costs half of what they cost page by page. Older kernels cannot.
    pub fn populate(&self, size: usize) {
        // SAFETY: within the arena, which is alive; its content does not change.
        unsafe { libc::madvise(self.start().cast(), size.min(SIZE), libc::MADV_POPULATE_WRITE) };
    }

    fn start(&self) -> *mut u8 {
        self.bytes.get().cast()
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
        // SAFETY: one thread at a time, and no reference to the books outlives a call.
        let books = unsafe { &mut *self.books.get() };
        if layout.align() > GRAIN || layout.size() > SIZE {
            // SAFETY: the caller's own promises.
            return unsafe { System.alloc(layout) };
        }
        let size = rounded(layout.size());
        if size <= LARGEST_KEPT
            && let Some(free) = books.kept[size / GRAIN - 1]
        {
            // SAFETY: written when the block was freed, and untouched since.
            books.kept[size / GRAIN - 1] = unsafe { free.read() }.next;
            return free.as_ptr().cast();
        }
        if size > SIZE - books.used {
            // SAFETY: the caller's own promises.
            return unsafe { System.alloc(layout) };
        }
        // SAFETY: `used` is within the arena, and so is all of the block.
        let block = unsafe { self.start().add(books.used) };
        books.used += size;
        block
    }

    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        if !self.owns(block) {
            // SAFETY: not ours, so the system gave it.
            return unsafe { System.dealloc(block, layout) };
        }
        // SAFETY: as in `alloc`.
        let books = unsafe { &mut *self.books.get() };
        let size = rounded(layout.size());
        let at = block as usize - self.start() as usize;
        if at + size == books.used {
            books.used = at;
        } else if size <= LARGEST_KEPT {
            // SAFETY: the same place, by the arena's own right to all of it.
            let free: *mut Free = unsafe { self.start().add(at) }.cast();
            // SAFETY: a block is aligned to and at least as large as the grain, and is not used any more.
            unsafe { free.write(Free { next: books.kept[size / GRAIN - 1] }) };
            books.kept[size / GRAIN - 1] = NonNull::new(free);
        }
    }

    unsafe fn realloc(&self, block: *mut u8, layout: Layout, new_size: usize) -> *mut u8 {
        if !self.owns(block) {
            // SAFETY: not ours, so the system gave it.
            return unsafe { System.realloc(block, layout, new_size) };
        }
        let (old, new) = (rounded(layout.size()), rounded(new_size));
        // SAFETY: as in `alloc`.
        let books = unsafe { &mut *self.books.get() };
        let at = block as usize - self.start() as usize;
        if at + old == books.used && new <= SIZE - at {
            books.used = at + new;
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
