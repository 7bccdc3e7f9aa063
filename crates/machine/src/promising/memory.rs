//! Messages, views, and the ways in which a message enters memory `[AAGKV, 3]`.
//!
//! **Canonical timestamps.** The paper takes timestamps from a dense order and gives each message an interval `(f, t]`. Of
//! these numbers only two things can ever be seen: the order of the messages of a cell, and which neighbours touch
//! (`m1.to == m2.frm`), because then nothing fits between them. So a cell is a list of messages, oldest first, each with one bit
//! [`Message::adjacent`], and a timestamp is an index into that list. A new message never touches its neighbours unless
//! it has to: a gap can only be of use to a later insertion (ADR `promising-timestamps` has the cases in which it has to).
//! Messages that no thread can
//! read any more are dropped, so that states which differ only in such a past are one state.
//!
//! **Views in messages** (`[KHLVD, 4]`, beyond the paper): each thread has the view that it has, the one that it would have after
//! an acquire fence, and per cell the one that its relaxed writes publish. Programs without release and acquire do not
//! keep the last two.

use fencepost_ir::Value;

/// A timestamp: the index of a message in its cell.
pub type Stamp = u16;

/// A timestamp per cell. Empty where views of that kind are not kept.
pub type View = Vec<Stamp>;

/// A message.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Message {
    /// What was written; `None` in memory that has no value yet.
    pub value: Option<Value>,
    /// The thread that promised it and has not fulfilled it yet.
    pub promised: Option<u8>,
    /// Its interval begins where that of its predecessor ends.
    pub adjacent: bool,
    /// What an acquiring reader learns. Its entry for the message's own cell is 0.
    pub view: View,
}

/// What a thread knows of memory.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
pub struct ThreadView {
    /// What it may no longer ignore.
    pub current: View,
    /// The same after an acquire fence.
    pub acquired: View,
    /// What a relaxed write to each cell publishes.
    pub released: Vec<View>,
}

/// Where a message goes.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub enum Place {
    /// Additive insertion: behind the message of that index, touching it or not.
    Gap {
        /// The index.
        after: usize,
        /// Whether it touches.
        adjacent: bool,
    },
    /// Additive insertion behind the message of that index and up to the promise above it, which it touches: a read-modify-write
    /// may
    /// then read it and fulfil that promise.
    Fill {
        /// The index.
        after: usize,
        /// Whether it touches the message below, too.
        adjacent: bool,
    },
    /// Splitting insertion: takes the lower part of the interval of the thread's own promise of that index.
    Split(usize),
    /// Fulfilment insertion: is the thread's own promise of that index.
    Fulfil(usize),
}

/// Memory, the threads' views of it, and the global view of SC fences.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
pub struct Memory {
    /// The messages of each cell, oldest first; never empty.
    pub cells: Vec<Vec<Message>>,
    /// Per thread; empty views for a thread that needs none any more.
    pub threads: Vec<ThreadView>,
    /// The global view.
    pub global: View,
}

fn join(into: &mut View, from: &[Stamp]) {
    into.iter_mut().zip(from).for_each(|(a, b)| *a = (*a).max(*b));
}

impl ThreadView {
    /// The initial view.
    pub fn new(cells: usize, synchronises: bool) -> ThreadView {
        ThreadView {
            current: vec![0; cells],
            acquired: if synchronises { vec![0; cells] } else { Vec::new() },
            released: if synchronises { vec![vec![0; cells]; cells] } else { Vec::new() },
        }
    }

    fn all(&mut self) -> impl Iterator<Item = &mut View> {
        [&mut self.current, &mut self.acquired].into_iter().chain(&mut self.released)
    }
}

impl Memory {
    /// The initial memory, one message per cell.
    pub fn new(initial: Vec<Option<Value>>, threads: usize, synchronises: bool) -> Memory {
        let cells = initial.len();
        let view = if synchronises { vec![0; cells] } else { Vec::new() };
        let message = |value| vec![Message { value, promised: None, adjacent: false, view: view.clone() }];
        Memory {
            cells: initial.into_iter().map(message).collect(),
            threads: vec![ThreadView::new(cells, synchronises); threads],
            global: vec![0; cells],
        }
    }

    /// The timestamp of a cell in a thread's view.
    pub fn seen(&self, thread: usize, cell: usize) -> usize {
        usize::from(self.threads[thread].current[cell])
    }

    /// True if something fits behind that message.
    pub fn has_gap(&self, cell: usize, after: usize) -> bool {
        self.cells[cell].get(after + 1).is_none_or(|next| !next.adjacent)
    }

    /// True if something fits behind that message, and a promise is above the gap.
    pub fn has_gap_below_promise(&self, cell: usize, after: usize) -> bool {
        self.cells[cell].get(after + 1).is_some_and(|next| !next.adjacent && next.promised.is_some())
    }

    /// True if a thread has a promise to fulfil.
    pub fn promises(&self, thread: u8) -> bool {
        self.cells.iter().flatten().any(|message| message.promised == Some(thread))
    }

    /// True if a thread has seen something at least as new as one of its promises, which it can then never fulfil.
    pub fn is_lost(&self, thread: u8) -> bool {
        let lost = |(messages, seen): (&Vec<Message>, &Stamp)| {
            messages[..=usize::from(*seen)].iter().any(|message| message.promised == Some(thread))
        };
        self.cells.iter().zip(&self.threads[usize::from(thread)].current).any(lost)
    }

    /// The value of a cell at the end of a run.
    pub fn last_value(&self, cell: usize) -> Option<Value> {
        self.cells[cell].last().and_then(|message| message.value)
    }

    /// A thread reads a message.
    pub fn read(&mut self, thread: usize, cell: usize, message: usize, acquires: bool) {
        let view = &mut self.threads[thread];
        let learnt = &self.cells[cell][message].view;
        view.current[cell] = view.current[cell].max(message as Stamp);
        if acquires {
            join(&mut view.current, learnt);
        }
        let current = &view.current;
        join(&mut view.acquired, current);
        join(&mut view.acquired, learnt);
    }

    /// What a write would publish; `read`: the message that a read-modify-write reads, whose release sequence goes on.
    pub fn published(&self, thread: usize, cell: usize, releases: bool, read: Option<usize>) -> View {
        let view = &self.threads[thread];
        if view.released.is_empty() {
            return View::new();
        }
        let mut published = if releases { view.current.clone() } else { view.released[cell].clone() };
        if let Some(read) = read {
            join(&mut published, &self.cells[cell][read].view);
        }
        published[cell] = 0;
        published
    }

    /// True if the own promise of that index may become this write.
    pub fn fulfils(
        &self,
        thread: u8,
        cell: usize,
        index: usize,
        value: Option<Value>,
        view: &[Stamp],
    ) -> bool {
        let message = &self.cells[cell][index];
        message.promised == Some(thread) && message.value == value && message.view == view
    }

    /// A message enters memory; returns its index. `promised`: it is a promise of that thread.
    pub fn insert(
        &mut self,
        cell: usize,
        place: Place,
        value: Option<Value>,
        view: View,
        promised: Option<u8>,
    ) -> usize {
        let (index, adjacent) = match place {
            Place::Fulfil(index) => {
                self.cells[cell][index].promised = promised;
                return index;
            }
            Place::Gap { after, adjacent } => (after + 1, adjacent),
            Place::Fill { after, adjacent } => {
                if let Some(above) = self.cells[cell].get_mut(after + 1) {
                    above.adjacent = true;
                }
                (after + 1, adjacent)
            }
            Place::Split(index) => {
                let adjacent = std::mem::replace(&mut self.cells[cell][index].adjacent, true);
                (index, adjacent)
            }
        };
        self.cells[cell].insert(index, Message { value, promised, adjacent, view });
        self.for_each_view(|view| {
            if let Some(stamp) = view.get_mut(cell)
                && usize::from(*stamp) >= index
            {
                *stamp += 1;
            }
        });
        index
    }

    /// A thread's own write, whose message has that index, enters its view.
    pub fn wrote(&mut self, thread: usize, cell: usize, index: usize, releases: bool) {
        let view = &mut self.threads[thread];
        view.current[cell] = index as Stamp;
        let current = &view.current;
        join(&mut view.acquired, current);
        if releases && let Some(released) = view.released.get_mut(cell) {
            released.clone_from(current);
            released[cell] = 0;
        }
    }

    /// An acquire fence.
    pub fn acquire(&mut self, thread: usize) {
        let view = &mut self.threads[thread];
        if !view.acquired.is_empty() {
            view.current.clone_from(&view.acquired);
        }
    }

    /// A release fence.
    pub fn release(&mut self, thread: usize) {
        let view = &mut self.threads[thread];
        for (cell, released) in view.released.iter_mut().enumerate() {
            released.clone_from(&view.current);
            released[cell] = 0;
        }
    }

    /// An SC fence: the thread's view and the global view become their join.
    pub fn fence(&mut self, thread: usize) {
        self.acquire(thread);
        let view = &mut self.threads[thread];
        join(&mut view.current, &self.global);
        join(&mut view.acquired, &self.global);
        self.global.clone_from(&view.current);
        self.release(thread);
    }

    /// A thread starts with what its parent knows.
    pub fn start(&mut self, parent: usize) {
        let parent = &self.threads[parent];
        let mut child = ThreadView::new(parent.current.len(), !parent.acquired.is_empty());
        child.current.clone_from(&parent.current);
        join(&mut child.acquired, &parent.current);
        self.threads.push(child);
    }

    /// A thread learns what another one knew at its end.
    pub fn join_thread(&mut self, thread: usize, ended: usize) {
        let learnt = self.threads[ended].current.clone();
        let view = &mut self.threads[thread];
        join(&mut view.current, &learnt);
        join(&mut view.acquired, &learnt);
    }

    fn for_each_view(&mut self, mut change: impl FnMut(&mut View)) {
        self.threads.iter_mut().flat_map(ThreadView::all).for_each(&mut change);
        self.cells.iter_mut().flatten().for_each(|message| change(&mut message.view));
        change(&mut self.global);
    }

    /// Drops what no thread can read any more. Every view is counted anew from the first message that is left.
    pub fn prune(&mut self) {
        for cell in 0..self.cells.len() {
            let views = self.threads.iter().filter_map(|view| view.current.get(cell));
            // With no thread left only the last message is of interest.
            let low = views.min().copied().unwrap_or(self.cells[cell].len() as Stamp - 1);
            if low > 0 {
                self.cells[cell].drain(..usize::from(low));
                self.for_each_view(|view| {
                    if let Some(stamp) = view.get_mut(cell) {
                        *stamp = stamp.saturating_sub(low);
                    }
                });
            }
            self.cells[cell][0].adjacent = false;
        }
    }

    /// Memory as one thread alone sees it: what concerns the others only is gone. The thread is number 0 there.
    pub fn alone(&self, thread: usize) -> Memory {
        let mut cells = self.cells.clone();
        for message in cells.iter_mut().flatten() {
            message.promised = (message.promised == Some(thread as u8)).then_some(0);
        }
        let mut memory = Memory { cells, threads: vec![self.threads[thread].clone()], global: View::new() };
        memory.prune();
        memory
    }

    /// About how many bytes it takes.
    pub fn bytes(&self) -> usize {
        let views: usize =
            self.threads.iter().map(|view| 96 + 2 * view.current.len() * (2 + view.released.len())).sum();
        let messages: usize = self.cells.iter().flatten().map(|message| 56 + 2 * message.view.len()).sum();
        views + messages + 24 * self.cells.len() + 2 * self.global.len()
    }
}
