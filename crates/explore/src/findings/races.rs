//! Where data races are looked for: cells that were accessed by more than one thread, and not always atomically.
//!
//! What a worker has seen of a cell in any graph is noted when an access is added, so that a finished graph is searched at the
//! cells that may have a race, and at no others.

use crate::search::row::RowWidth;
use crate::threads::memory::LocId;
use crate::threads::path::{Kind, Node};
use fencepost_ir::Order;

/// Nobody has accessed the cell.
const NOBODY: u16 = u16::MAX;
/// More than one thread has.
const MANY: u16 = u16::MAX - 1;

/// What is known of a cell.
#[derive(Clone, Copy)]
struct Seen {
    by: u16,
    plain: bool,
    listed: bool,
}

/// The cells that may have a race.
#[derive(Default)]
pub struct Suspects {
    seen: Vec<Seen>,
    cells: Vec<LocId>,
}

impl Suspects {
    /// Notes an event.
    #[inline(always)]
    pub fn note<S, W: RowWidth>(&mut self, node: &Node<S, W>) {
        if !matches!(node.kind, Kind::Read | Kind::Write) {
            return;
        }
        let at = node.loc() as usize;
        if self.seen.len() <= at {
            self.seen.resize(at + 1, Seen { by: NOBODY, plain: false, listed: false });
        }
        let seen = &mut self.seen[at];
        if seen.listed {
            return;
        }
        // The order of an exchange that fails is that of its failure.
        let failure = node.failure.as_ref().map(|failure| failure.ann.order);
        seen.plain |= node.ann.order == Order::Plain || failure == Some(Order::Plain);
        seen.by = if seen.by == NOBODY || seen.by == node.thread { node.thread } else { MANY };
        if seen.plain && seen.by == MANY {
            seen.listed = true;
            self.cells.push(node.loc());
        }
    }

    /// The cells.
    pub fn cells(&self) -> &[LocId] {
        &self.cells
    }
}
