//! POWER.
//!
//! P. McKenney, R. Silvera, *Example POWER implementation for C/C++ memory model*, N2745, 2008, revised 2011; M. Batty,
//! K. Memarian, S. Owens, S. Sarkar, P. Sewell, *Clarifying and compiling C/C++ concurrency: from C++11 to POWER*, POPL 2012;
//! S. Sarkar and others, *Synchronising C/C++ and POWER*, PLDI 2012 (read-modify-writes as lwarx and stwcx.).
//!
//! | | relaxed | acquire | release | SC, leading | SC, trailing |
//! |---|---|---|---|---|---|
//! | load | ld | ld; cmp; bc; isync | | sync; ld; cmp; bc; isync | ld; sync |
//! | store | st | | lwsync; st | sync; st | lwsync; st; sync |
//! | rmw | loop | loop; isync | lwsync; loop | sync; loop; isync | lwsync; loop; sync |
//! | fence | | lwsync | lwsync | sync | sync |
//!
//! Both conventions are unsound for the C11 of 2011 (Y. Manerkar and others, *Counterexamples and proof loophole for the
//! C/C++ to POWER and ARMv7 trailing-sync compiler mappings*, 2016; O. Lahav and others, PLDI 2017, for leading-sync) and sound
//! for RC11, which was repaired for them (PLDI 2017, section 6), as far as relaxed reads do not close a cycle of `po | rf`;
//! the paper's remedy, a branch on the value of every relaxed read, is the option `branch`.
//!
//! An acquiring read-modify-write needs a branch on the *loaded* value before the isync. In machine code the loop's own
//! branch on the outcome of stwcx. does that; here the outcome carries no dependency (`docs/adr/006-mapping-llsc.md`).

use super::options::{Fetches, RelaxedLoads, Syncs};
use super::recipe::{After, Convention, LoadOrder, Recipe, RmwOrder, Split, StoreOrder};
use fencepost_ir::{Fence, Order};

pub(super) struct Power {
    pub syncs: Syncs,
    pub fetches: Fetches,
    pub relaxed: RelaxedLoads,
}

const NOTHING: Recipe =
    Recipe { before: None, read: Order::Plain, write: Order::Plain, after: After::Nothing };

impl Power {
    fn relaxed(&self) -> Recipe {
        match self.relaxed {
            RelaxedLoads::Bare => NOTHING,
            RelaxedLoads::Branch => Recipe { after: After::Branch, ..NOTHING },
        }
    }
}

impl Convention for Power {
    fn load(&self, order: LoadOrder) -> Recipe {
        let acquire = Recipe { after: After::BranchIsync, ..NOTHING };
        match (order, self.syncs) {
            (LoadOrder::Relaxed, _) => self.relaxed(),
            (LoadOrder::Acquire, _) => acquire,
            (LoadOrder::Sc, Syncs::Leading) => Recipe { before: Some(Fence::Sync), ..acquire },
            (LoadOrder::Sc, Syncs::Trailing) => Recipe { after: After::Fence(Fence::Sync), ..NOTHING },
        }
    }

    fn store(&self, order: StoreOrder) -> Recipe {
        let release = Recipe { before: Some(Fence::Lwsync), ..NOTHING };
        match (order, self.syncs) {
            (StoreOrder::Relaxed, _) => NOTHING,
            (StoreOrder::Release, _) => release,
            (StoreOrder::Sc, Syncs::Leading) => Recipe { before: Some(Fence::Sync), ..NOTHING },
            (StoreOrder::Sc, Syncs::Trailing) => Recipe { after: After::Fence(Fence::Sync), ..release },
        }
    }

    fn rmw(&self, order: RmwOrder) -> Recipe {
        let acquire = if order.acquire { After::BranchIsync } else { self.relaxed().after };
        let release = order.release.then_some(Fence::Lwsync);
        let (before, after) = match (order.sc, self.syncs) {
            (false, _) => (release, acquire),
            (true, Syncs::Leading) => (Some(Fence::Sync), acquire),
            (true, Syncs::Trailing) => (release, After::Fence(Fence::Sync)),
        };
        Recipe { before, after, ..NOTHING }
    }

    fn fence(&self, order: Order) -> Fence {
        match order {
            Order::SeqCst => Fence::Sync,
            _ => Fence::Lwsync,
        }
    }

    fn split(&self) -> Split {
        match self.fetches {
            Fetches::Split => Split::All,
            Fetches::Fused => Split::Compares,
        }
    }
}
