//! Memory orders, access annotations and fence kinds: all that a memory model sees of an instruction set.

/// How an access is ordered. Hardware accesses use `Plain`, `AcquirePc` (LDAPR), `Acquire` (LDAR) and `Release` (STLR).
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug, Default)]
#[repr(u8)]
pub enum Order {
    /// A hardware load or store, or a non-atomic access of a language.
    #[default]
    Plain,
    /// `memory_order_relaxed`.
    Relaxed,
    /// `memory_order_consume`.
    Consume,
    /// Load-acquire of RCpc strength (AArch64 `LDAPR`).
    AcquirePc,
    /// `memory_order_acquire`, AArch64 `LDAR`.
    Acquire,
    /// `memory_order_release`, AArch64 `STLR`.
    Release,
    /// `memory_order_acq_rel`.
    AcqRel,
    /// `memory_order_seq_cst`.
    SeqCst,
}

impl Order {
    /// Every order, weakest first.
    pub const ALL: [Order; 8] = [
        Order::Plain,
        Order::Relaxed,
        Order::Consume,
        Order::AcquirePc,
        Order::Acquire,
        Order::Release,
        Order::AcqRel,
        Order::SeqCst,
    ];

    /// Acquire or stronger, as C11 means it.
    pub fn acquires(self) -> bool {
        matches!(self, Order::Acquire | Order::AcqRel | Order::SeqCst)
    }

    /// Release or stronger, as C11 means it.
    pub fn releases(self) -> bool {
        matches!(self, Order::Release | Order::AcqRel | Order::SeqCst)
    }

    /// The order of a read-modify-write whose halves have these.
    pub fn joined(read: Order, write: Order) -> Order {
        match (read, write) {
            (Order::SeqCst, _) | (_, Order::SeqCst) => Order::SeqCst,
            (read, write) if read.acquires() && write.releases() => Order::AcqRel,
            (read, write) => read.max(write),
        }
    }

    /// The word of the text form.
    pub fn name(self) -> &'static str {
        match self {
            Order::Plain => "plain",
            Order::Relaxed => "rlx",
            Order::Consume => "con",
            Order::AcquirePc => "acqpc",
            Order::Acquire => "acq",
            Order::Release => "rel",
            Order::AcqRel => "acqrel",
            Order::SeqCst => "sc",
        }
    }
}

/// The annotation of one access.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub struct Ann {
    /// The memory order.
    pub order: Order,
    /// Takes or uses a reservation: lwarx/stwcx., LDXR/STXR.
    pub exclusive: bool,
    /// The value read goes to no register (STADD); the read then gives no acquire ordering.
    pub no_return: bool,
    /// `volatile` in C: never merged, never removed.
    pub volatile: bool,
    /// A load that may ignore its address dependency (LDNP) [Arm ARM, B2.3].
    pub non_temporal: bool,
    /// What the access is beside that.
    pub role: Role,
}

/// What some accesses are beside that, mostly in the Linux kernel's memory model.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug, Default)]
pub enum Role {
    /// An access like any other.
    #[default]
    None,
    /// To a spinlock: by the functions that take it, give it back or look at it.
    Spinlock,
    /// `srcu_read_lock(domain)`, which reads the domain.
    SrcuLock,
    /// `srcu_read_unlock(domain, index)`, the same; its address depends on the index.
    SrcuUnlock,
    /// `synchronize_srcu(domain)`, the same.
    SyncSrcu,
    /// RISC-V: the register that the instruction sets depends on this write as well as on what it read.
    Result,
    /// It continues the access before it, of which it is another part: one instruction has made both.
    Continues,
}

impl Role {
    /// Every role but none, with its word in the text form.
    pub const ALL: [(&str, Role); 6] = [
        ("spinlock", Role::Spinlock),
        ("srcu_lock", Role::SrcuLock),
        ("srcu_unlock", Role::SrcuUnlock),
        ("sync_srcu", Role::SyncSrcu),
        ("result", Role::Result),
        ("continues", Role::Continues),
    ];
}

impl Ann {
    /// A plain access.
    pub const PLAIN: Ann = Ann {
        order: Order::Plain,
        exclusive: false,
        no_return: false,
        volatile: false,
        non_temporal: false,
        role: Role::None,
    };

    /// An access with this order and nothing else.
    pub fn order(order: Order) -> Ann {
        Ann { order, ..Ann::PLAIN }
    }

    /// A reservation access with this order.
    pub fn exclusive(order: Order) -> Ann {
        Ann { order, exclusive: true, ..Ann::PLAIN }
    }
}
