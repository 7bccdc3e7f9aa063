//! PSO. There is no published mapping; `docs/adr/007-mapping-pso.md` argues this one.
//!
//! PSO keeps reads before everything, so loads and acquires cost nothing. A release needs its earlier writes before its
//! own: a store barrier (SPARC `stbar`, here `sfence`). A sequentially consistent store is a release that is followed by
//! a full fence, as under TSO.

use super::recipe::{After, Convention, LoadOrder, Recipe, RmwOrder, StoreOrder};
use fencepost_ir::{Fence, Order};

pub(super) struct Pso;

impl Convention for Pso {
    fn load(&self, _order: LoadOrder) -> Recipe {
        Recipe::default()
    }

    fn store(&self, order: StoreOrder) -> Recipe {
        let release = Recipe { before: Some(Fence::Sfence), ..Recipe::default() };
        match order {
            StoreOrder::Relaxed => Recipe::default(),
            StoreOrder::Release => release,
            StoreOrder::Sc => Recipe { after: After::Fence(Fence::Mfence), ..release },
        }
    }

    fn rmw(&self, _order: RmwOrder) -> Recipe {
        Recipe::default()
    }

    fn fence(&self, order: Order) -> Fence {
        match order {
            Order::SeqCst => Fence::Mfence,
            Order::Release | Order::AcqRel => Fence::Sfence,
            _ => Fence::Compiler,
        }
    }
}
