//! x86, with the model TSO.
//!
//! M. Batty, S. Owens, S. Sarkar, P. Sewell, T. Weber, *Mathematizing C++ concurrency*, POPL 2011: loads
//! `mov`; stores `mov`, sequentially consistent ones `mov; mfence` or `xchg`; read-modify-writes are locked
//! instructions, which empty the store buffer; the fence seq_cst is `mfence`, weaker fences are no instruction.
//! (There is another convention, with the fence at the loads. No compiler uses it, and the two must not be mixed.)

use super::options::ScStores;
use super::recipe::{After, Convention, LoadOrder, Recipe, RmwOrder, StoreOrder};
use fencepost_ir::{Fence, Order};

pub(super) struct Tso {
    pub sc_stores: ScStores,
}

impl Convention for Tso {
    fn load(&self, _order: LoadOrder) -> Recipe {
        Recipe::default()
    }

    fn store(&self, order: StoreOrder) -> Recipe {
        match order {
            StoreOrder::Sc => Recipe { after: After::Fence(Fence::Mfence), ..Recipe::default() },
            StoreOrder::Relaxed | StoreOrder::Release => Recipe::default(),
        }
    }

    fn rmw(&self, _order: RmwOrder) -> Recipe {
        Recipe::default()
    }

    fn fence(&self, order: Order) -> Fence {
        match order {
            Order::SeqCst => Fence::Mfence,
            _ => Fence::Compiler,
        }
    }

    fn stores_by_exchange(&self, order: StoreOrder) -> bool {
        order == StoreOrder::Sc && self.sc_stores == ScStores::Xchg
    }
}
