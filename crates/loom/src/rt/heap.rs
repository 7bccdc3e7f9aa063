//! Memory of the threads of a model: for each a stack and a heap, at the same addresses in every run.
//!
//! Addresses are values (`AtomicPtr`), so a run that is made again must get the same ones. Each thread takes memory from a region of its own, in
//! the order in which it asks, and nothing is used twice within a run: freed memory stays readable, and what threads of other runs have left
//! behind is forgotten by beginning anew. All arenas lie in one piece of address space, so that an address tells whose it is.

#![allow(unsafe_code)]

use fencepost_explore::At;
use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::ptr::null_mut;
use std::sync::{Condvar, Mutex, OnceLock};

/// Threads that a model may have.
pub const THREADS: usize = 128;
/// Bytes of a stack, its guard page included.
const STACK: usize = 1 << 20;
/// Bytes of a thread's stack and heap.
const REGION: usize = 32 << 20;
const ARENA: usize = THREADS * REGION;
/// Models that may be explored at the same time, counting workers.
const ARENAS: usize = 16;
const PAGE: usize = 4096;

/// A block of memory that a thread has asked for.
#[derive(Clone, Copy, Debug)]
pub struct Block {
    /// Where it begins in its region.
    pub start: u32,
    /// How long it is.
    pub size: u32,
    /// When it was made.
    pub made: At,
    /// When it was given back.
    pub freed: Option<At>,
}

/// The heap of a thread.
#[derive(Debug)]
pub struct Region {
    base: usize,
    next: usize,
    guarded: bool,
    /// Where the thread stands.
    pub now: At,
    /// By address.
    pub blocks: Vec<Block>,
}

/// The memory of one worker.
#[derive(Debug)]
pub struct Arena {
    number: usize,
    /// By thread.
    pub regions: Vec<Region>,
}

thread_local! {
    /// Whence memory comes at the moment: that of a thread of a model, or the system's.
    static CURRENT: Cell<*mut Region> = const { Cell::new(null_mut()) };
}

/// Takes memory from a region from now on, or from the system; gives back whence it came.
pub fn switch(to: *mut Region) -> *mut Region {
    CURRENT.replace(to)
}

struct Space {
    base: usize,
    free: Mutex<Vec<usize>>,
    freed: Condvar,
}

static SPACE: OnceLock<Space> = OnceLock::new();

fn space() -> &'static Space {
    SPACE.get_or_init(|| {
        // SAFETY: a fresh mapping, which nobody else knows; it is never given back.
        let base = unsafe {
            let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE;
            libc::mmap(null_mut(), ARENAS * ARENA, libc::PROT_READ | libc::PROT_WRITE, flags, -1, 0)
        };
        assert!(base != libc::MAP_FAILED, "no address space for the memory of models");
        Space { base: base as usize, free: Mutex::new((0..ARENAS).collect()), freed: Condvar::new() }
    })
}

/// Whether an address lies in the memory of some model.
pub fn is_inside(address: usize) -> bool {
    SPACE.get().is_some_and(|space| (space.base..space.base + ARENAS * ARENA).contains(&address))
}

impl Arena {
    /// Waits until there is room for one more.
    pub fn new() -> Arena {
        let space = space();
        let mut free = space.free.lock().unwrap_or_else(|e| e.into_inner());
        let number = loop {
            match free.pop() {
                Some(number) => break number,
                None => free = space.freed.wait(free).unwrap_or_else(|e| e.into_inner()),
            }
        };
        let regions = (0..THREADS).map(|t| {
            let base = space.base + number * ARENA + t * REGION;
            let now = At { thread: t as u16, index: 0 };
            Region { base, next: base + STACK, guarded: false, now, blocks: Vec::new() }
        });
        Arena { number, regions: regions.collect() }
    }

    /// Forgets what was made.
    pub fn reset(&mut self) {
        for region in &mut self.regions {
            region.next = region.base + STACK;
            region.blocks.clear();
        }
    }

    /// Whose memory an address lies in, and where.
    pub fn place(&self, address: usize) -> Option<(u16, u32)> {
        let offset = address.checked_sub(self.regions[0].base)?;
        (offset < ARENA).then_some(((offset / REGION) as u16, (offset % REGION) as u32))
    }

    /// The block that has an address.
    pub fn block(&mut self, address: usize) -> Option<&mut Block> {
        let (thread, offset) = self.place(address)?;
        let blocks = &mut self.regions[thread as usize].blocks;
        let after = blocks.partition_point(|block| block.start <= offset);
        blocks[..after].last_mut().filter(|block| offset < block.start + block.size)
    }
}

impl Drop for Arena {
    fn drop(&mut self) {
        let space = space();
        space.free.lock().unwrap_or_else(|e| e.into_inner()).push(self.number);
        space.freed.notify_one();
    }
}

impl Region {
    /// The stack of the thread.
    pub fn stack(&mut self) -> Stack {
        if !std::mem::replace(&mut self.guarded, true) {
            // SAFETY: the page is of this stack, below everything that is on it.
            unsafe { libc::mprotect(self.base as *mut _, PAGE, libc::PROT_NONE) };
        }
        Stack { limit: self.base }
    }

    fn take(&mut self, layout: Layout) -> *mut u8 {
        let start = self.next.next_multiple_of(layout.align().max(16));
        let end = start + layout.size().max(1);
        if end > self.base + REGION {
            return null_mut();
        }
        self.next = end;
        let (made, size) = (self.now, (end - start) as u32);
        self.blocks.push(Block { start: (start - self.base) as u32, size, made, freed: None });
        start as *mut u8
    }
}

/// The stack of a coroutine, in the memory of its thread.
#[derive(Debug)]
pub struct Stack {
    limit: usize,
}

// SAFETY: the memory between limit and base is the thread's alone, is aligned to pages, and lives as long as the process.
unsafe impl corosensei::stack::Stack for Stack {
    fn base(&self) -> corosensei::stack::StackPointer {
        corosensei::stack::StackPointer::new(self.limit + STACK)
            .unwrap_or(corosensei::stack::StackPointer::MAX)
    }

    fn limit(&self) -> corosensei::stack::StackPointer {
        corosensei::stack::StackPointer::new(self.limit).unwrap_or(corosensei::stack::StackPointer::MIN)
    }
}

/// The allocator of programs that use this library: that of the system, but for threads of models.
#[derive(Debug)]
pub struct Heap;

// SAFETY: what comes from a region is used once and lies where nobody else has memory; all else is the system's, and goes back to it.
unsafe impl GlobalAlloc for Heap {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        let region = CURRENT.get();
        if region.is_null() {
            // SAFETY: as the caller promises.
            return unsafe { System.alloc(layout) };
        }
        // What the region notes comes from the system.
        CURRENT.set(null_mut());
        // SAFETY: whoever switched to the region keeps it alive and lets nobody else use it meanwhile.
        let taken = unsafe { (*region).take(layout) };
        CURRENT.set(region);
        taken
    }

    unsafe fn dealloc(&self, memory: *mut u8, layout: Layout) {
        if is_inside(memory as usize) {
            super::freed(memory as usize);
        } else {
            // SAFETY: it came from the system.
            unsafe { System.dealloc(memory, layout) }
        }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        if CURRENT.get().is_null() {
            // SAFETY: as the caller promises.
            return unsafe { System.alloc_zeroed(layout) };
        }
        // SAFETY: as the caller promises; what an earlier run has left there goes.
        unsafe {
            let taken = self.alloc(layout);
            if !taken.is_null() {
                taken.write_bytes(0, layout.size());
            }
            taken
        }
    }

    unsafe fn realloc(&self, memory: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        // What was there before the model stays where it outlives it.
        if !is_inside(memory as usize) {
            // SAFETY: it came from the system.
            return unsafe { System.realloc(memory, layout, size) };
        }
        // SAFETY: the size is one that the caller may ask for with this alignment; the two blocks are different ones.
        unsafe {
            let taken = self.alloc(Layout::from_size_align_unchecked(size, layout.align()));
            if !taken.is_null() {
                std::ptr::copy_nonoverlapping(memory, taken, layout.size().min(size));
                self.dealloc(memory, layout);
            }
            taken
        }
    }
}

#[cfg(feature = "heap")]
#[global_allocator]
static HEAP: Heap = Heap;
