//! What a target says about each order: the rows of a published mapping table.

use fencepost_ir::{Ann, Fence, Order};

/// The order of a load, as far as mappings tell orders apart.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum LoadOrder {
    Relaxed,
    Acquire,
    Sc,
}

/// The order of a store.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum StoreOrder {
    Relaxed,
    Release,
    Sc,
}

/// The order of a read-modify-write; `sc` implies the others.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct RmwOrder {
    pub acquire: bool,
    pub release: bool,
    pub sc: bool,
}

impl LoadOrder {
    /// Orders that mean nothing on a load are relaxed.
    pub fn of(ann: Ann) -> LoadOrder {
        match ann.order {
            Order::SeqCst => LoadOrder::Sc,
            Order::Acquire | Order::AcquirePc | Order::AcqRel | Order::Consume => LoadOrder::Acquire,
            Order::Plain | Order::Relaxed | Order::Release => LoadOrder::Relaxed,
        }
    }
}

impl StoreOrder {
    /// Orders that mean nothing on a store are relaxed.
    pub fn of(ann: Ann) -> StoreOrder {
        match ann.order {
            Order::SeqCst => StoreOrder::Sc,
            Order::Release | Order::AcqRel => StoreOrder::Release,
            _ => StoreOrder::Relaxed,
        }
    }
}

impl RmwOrder {
    /// From the annotations of the two halves.
    pub fn of(read: Ann, write: Ann) -> RmwOrder {
        let (read, write) = (LoadOrder::of(read), StoreOrder::of(write));
        let sc = read == LoadOrder::Sc || write == StoreOrder::Sc;
        RmwOrder {
            acquire: sc || read == LoadOrder::Acquire,
            release: sc || write == StoreOrder::Release,
            sc,
        }
    }

    /// One load serves both outcomes of a compare-exchange and must do what either needs. A failure writes nothing, so
    /// it never needs a release; LLVM makes a success stronger than asked for if the failure is seq_cst, we do not.
    pub fn or_failure(self, failure: LoadOrder) -> RmwOrder {
        RmwOrder { acquire: self.acquire || failure != LoadOrder::Relaxed, ..self }
    }
}

/// Which read-modify-writes are split into load- and store-exclusive.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Split {
    None,
    /// Compare-exchanges, but not exchanges and fetch operations.
    Compares,
    All,
}

/// What follows an access.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) enum After {
    #[default]
    Nothing,
    /// A fence.
    Fence(Fence),
    /// `cmp; bc`: a branch on the value read, both ways equal.
    Branch,
    /// `cmp; bc; isync`.
    BranchIsync,
}

/// What an access becomes: a fence, the access with these orders, and what follows it.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) struct Recipe {
    pub before: Option<Fence>,
    pub read: Order,
    pub write: Order,
    pub after: After,
}

/// A mapping table.
///
/// The functions are asked in any order and must be pure. That compiled programs do nothing that RC11 forbids depends on
/// these tables and on nothing else in this folder keeping order: the rewriting adds no fence of its own.
pub(super) trait Convention {
    /// Atomic loads.
    fn load(&self, order: LoadOrder) -> Recipe;

    /// Atomic stores.
    fn store(&self, order: StoreOrder) -> Recipe;

    /// Read-modify-writes.
    fn rmw(&self, order: RmwOrder) -> Recipe;

    /// `atomic_thread_fence` of an order that is acquire, release, acq_rel or seq_cst.
    fn fence(&self, order: Order) -> Fence;

    /// Which read-modify-writes are made of load- and store-exclusive.
    fn split(&self) -> Split {
        Split::None
    }

    /// Stores of this order are exchanges.
    fn stores_by_exchange(&self, _order: StoreOrder) -> bool {
        false
    }
}
