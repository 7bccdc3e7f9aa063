//! AArch64, as GCC and LLVM compile for it.
//!
//! Arm, *Armv8-A memory systems* and the table of C/C++11 mappings (P. Sewell, J. Sevcik, *C/C++11 mappings to
//! processors*); A. Podkopaev, O. Lahav, V. Vafeiadis, *Bridging the gap between programming languages and hardware weak
//! memory models*, POPL 2019 (with E. Moiseenko and others, ECOOP 2020, for sequentially consistent accesses).
//!
//! | | relaxed | acquire | release | SC |
//! |---|---|---|---|---|
//! | load | LDR | LDAR, or LDAPR (`rcpc`) | | LDAR |
//! | store | STR | | STLR | STLR |
//! | rmw | LDADD, SWP, CAS | LDADDA | LDADDL | LDADDAL |
//! | rmw, `llsc` | LDXR; STXR | LDAXR; STXR | LDXR; STLXR | LDAXR; STLXR |
//! | fence | | dmb ld | dmb sy | dmb sy |
//!
//! A read-modify-write whose result nobody wants is *not* the form without a result (`STADD`): an acquire fence, `dmb
//! ld`, would not order it. Compilers learned that the hard way.

use super::options::{Acquires, RelaxedLoads, Rmws};
use super::recipe::{After, Convention, LoadOrder, Recipe, RmwOrder, Split, StoreOrder};
use fencepost_ir::{Fence, Order};

pub(super) struct Armv8 {
    pub acquires: Acquires,
    pub rmws: Rmws,
    pub relaxed: RelaxedLoads,
}

impl Armv8 {
    fn after_relaxed(&self) -> After {
        match self.relaxed {
            RelaxedLoads::Bare => After::Nothing,
            RelaxedLoads::Branch => After::Branch,
        }
    }
}

impl Convention for Armv8 {
    fn load(&self, order: LoadOrder) -> Recipe {
        match (order, self.acquires) {
            (LoadOrder::Relaxed, _) => Recipe { after: self.after_relaxed(), ..Recipe::default() },
            (LoadOrder::Acquire, Acquires::Ldapr) => Recipe { read: Order::AcquirePc, ..Recipe::default() },
            (LoadOrder::Acquire | LoadOrder::Sc, _) => Recipe { read: Order::Acquire, ..Recipe::default() },
        }
    }

    fn store(&self, order: StoreOrder) -> Recipe {
        match order {
            StoreOrder::Relaxed => Recipe::default(),
            StoreOrder::Release | StoreOrder::Sc => Recipe { write: Order::Release, ..Recipe::default() },
        }
    }

    fn rmw(&self, order: RmwOrder) -> Recipe {
        Recipe {
            before: None,
            read: if order.acquire { Order::Acquire } else { Order::Plain },
            write: if order.release { Order::Release } else { Order::Plain },
            after: if order.acquire { After::Nothing } else { self.after_relaxed() },
        }
    }

    fn fence(&self, order: Order) -> Fence {
        match order {
            Order::Acquire => Fence::DmbLd,
            _ => Fence::DmbSy,
        }
    }

    fn split(&self) -> Split {
        match self.rmws {
            Rmws::Lse => Split::None,
            Rmws::Llsc => Split::All,
        }
    }
}
