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
}

impl Ann {
    /// A plain access.
    pub const PLAIN: Ann =
        Ann { order: Order::Plain, exclusive: false, no_return: false, volatile: false, non_temporal: false };

    /// An access with this order and nothing else.
    pub fn order(order: Order) -> Ann {
        Ann { order, ..Ann::PLAIN }
    }

    /// A reservation access with this order.
    pub fn exclusive(order: Order) -> Ann {
        Ann { order, exclusive: true, ..Ann::PLAIN }
    }
}

/// The kinds of fence, of all targets.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Fence {
    /// POWER `sync` (heavyweight).
    Sync,
    /// POWER `lwsync`.
    Lwsync,
    /// POWER `eieio`.
    Eieio,
    /// POWER `isync`.
    Isync,
    /// x86 `mfence`; also the full fence of TSO and PSO programs.
    Mfence,
    /// x86 `lfence`.
    Lfence,
    /// x86 `sfence`.
    Sfence,
    /// ARM `dmb sy` (and `ish` variants).
    DmbSy,
    /// ARM `dmb ld`.
    DmbLd,
    /// ARM `dmb st`.
    DmbSt,
    /// ARM `dsb sy`.
    DsbSy,
    /// ARM `dsb ld`.
    DsbLd,
    /// ARM `dsb st`.
    DsbSt,
    /// ARM `isb`.
    Isb,
    /// `atomic_thread_fence(order)`.
    C11(Order),
    /// A compiler barrier: no instruction.
    Compiler,
}

impl Fence {
    /// Every kind.
    pub const ALL: [Fence; 21] = [
        Fence::Sync,
        Fence::Lwsync,
        Fence::Eieio,
        Fence::Isync,
        Fence::Mfence,
        Fence::Lfence,
        Fence::Sfence,
        Fence::DmbSy,
        Fence::DmbLd,
        Fence::DmbSt,
        Fence::DsbSy,
        Fence::DsbLd,
        Fence::DsbSt,
        Fence::Isb,
        Fence::C11(Order::Relaxed),
        Fence::C11(Order::Consume),
        Fence::C11(Order::Acquire),
        Fence::C11(Order::Release),
        Fence::C11(Order::AcqRel),
        Fence::C11(Order::SeqCst),
        Fence::Compiler,
    ];

    /// The word of the text form.
    pub fn name(self) -> &'static str {
        match self {
            Fence::Sync => "sync",
            Fence::Lwsync => "lwsync",
            Fence::Eieio => "eieio",
            Fence::Isync => "isync",
            Fence::Mfence => "mfence",
            Fence::Lfence => "lfence",
            Fence::Sfence => "sfence",
            Fence::DmbSy => "dmb.sy",
            Fence::DmbLd => "dmb.ld",
            Fence::DmbSt => "dmb.st",
            Fence::DsbSy => "dsb.sy",
            Fence::DsbLd => "dsb.ld",
            Fence::DsbSt => "dsb.st",
            Fence::Isb => "isb",
            Fence::C11(Order::Relaxed | Order::Plain | Order::AcquirePc) => "c11.rlx",
            Fence::C11(Order::Consume) => "c11.con",
            Fence::C11(Order::Acquire) => "c11.acq",
            Fence::C11(Order::Release) => "c11.rel",
            Fence::C11(Order::AcqRel) => "c11.acqrel",
            Fence::C11(Order::SeqCst) => "c11.sc",
            Fence::Compiler => "compiler",
        }
    }
}
