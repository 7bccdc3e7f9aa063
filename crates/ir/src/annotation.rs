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
    /// RISC-V `fence before,after`.
    RiscV(Accesses, Accesses),
    /// RISC-V `fence.tso`.
    RiscVTso,
    /// RISC-V `fence.i`, which orders no accesses.
    RiscVI,
    /// A fence of the Linux kernel's memory model.
    Kernel(Kernel),
    /// A compiler barrier: no instruction.
    Compiler,
}

/// Which accesses a fence orders.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Accesses {
    /// Reads.
    Reads,
    /// Writes.
    Writes,
    /// Both.
    All,
}

/// The fences of the Linux kernel's memory model, and what is an event without being an access.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Kernel {
    /// `smp_rmb()`.
    Rmb,
    /// `smp_wmb()`.
    Wmb,
    /// `smp_mb()`, and around atomics with full order.
    Mb,
    /// `barrier()`.
    Barrier,
    /// `smp_mb__before_atomic()`.
    BeforeAtomic,
    /// `smp_mb__after_atomic()`.
    AfterAtomic,
    /// `smp_mb__after_spinlock()`.
    AfterSpinlock,
    /// `smp_mb__after_unlock_lock()`.
    AfterUnlockLock,
    /// `smp_mb__after_srcu_read_unlock()`.
    AfterSrcuReadUnlock,
    /// `rcu_read_lock()`.
    RcuLock,
    /// `rcu_read_unlock()`.
    RcuUnlock,
    /// `synchronize_rcu()`.
    SyncRcu,
}

impl Kernel {
    /// Every kind.
    pub const ALL: [Kernel; 12] = [
        Kernel::Rmb,
        Kernel::Wmb,
        Kernel::Mb,
        Kernel::Barrier,
        Kernel::BeforeAtomic,
        Kernel::AfterAtomic,
        Kernel::AfterSpinlock,
        Kernel::AfterUnlockLock,
        Kernel::AfterSrcuReadUnlock,
        Kernel::RcuLock,
        Kernel::RcuUnlock,
        Kernel::SyncRcu,
    ];
}

impl Fence {
    /// Every kind.
    pub const ALL: [Fence; 44] = [
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
        Fence::RiscV(Accesses::Reads, Accesses::Reads),
        Fence::RiscV(Accesses::Reads, Accesses::Writes),
        Fence::RiscV(Accesses::Reads, Accesses::All),
        Fence::RiscV(Accesses::Writes, Accesses::Reads),
        Fence::RiscV(Accesses::Writes, Accesses::Writes),
        Fence::RiscV(Accesses::Writes, Accesses::All),
        Fence::RiscV(Accesses::All, Accesses::Reads),
        Fence::RiscV(Accesses::All, Accesses::Writes),
        Fence::RiscV(Accesses::All, Accesses::All),
        Fence::RiscVTso,
        Fence::RiscVI,
        Fence::Kernel(Kernel::Rmb),
        Fence::Kernel(Kernel::Wmb),
        Fence::Kernel(Kernel::Mb),
        Fence::Kernel(Kernel::Barrier),
        Fence::Kernel(Kernel::BeforeAtomic),
        Fence::Kernel(Kernel::AfterAtomic),
        Fence::Kernel(Kernel::AfterSpinlock),
        Fence::Kernel(Kernel::AfterUnlockLock),
        Fence::Kernel(Kernel::AfterSrcuReadUnlock),
        Fence::Kernel(Kernel::RcuLock),
        Fence::Kernel(Kernel::RcuUnlock),
        Fence::Kernel(Kernel::SyncRcu),
        Fence::Compiler,
    ];

    /// Whether it orders all accesses before it and all accesses behind it, for every thread: the set `FULL` of the cat files.
    pub fn is_full(self) -> bool {
        match self {
            Fence::Sync | Fence::Mfence | Fence::DmbSy | Fence::DsbSy | Fence::C11(Order::SeqCst) => true,
            Fence::RiscV(before, after) => (before, after) == (Accesses::All, Accesses::All),
            Fence::Kernel(kernel) => matches!(kernel, Kernel::Mb | Kernel::SyncRcu),
            _ => false,
        }
    }

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
            Fence::RiscV(before, after) => match (before, after) {
                (Accesses::Reads, Accesses::Reads) => "fence.r.r",
                (Accesses::Reads, Accesses::Writes) => "fence.r.w",
                (Accesses::Reads, Accesses::All) => "fence.r.rw",
                (Accesses::Writes, Accesses::Reads) => "fence.w.r",
                (Accesses::Writes, Accesses::Writes) => "fence.w.w",
                (Accesses::Writes, Accesses::All) => "fence.w.rw",
                (Accesses::All, Accesses::Reads) => "fence.rw.r",
                (Accesses::All, Accesses::Writes) => "fence.rw.w",
                (Accesses::All, Accesses::All) => "fence.rw.rw",
            },
            Fence::RiscVTso => "fence.tso",
            Fence::RiscVI => "fence.i",
            Fence::Kernel(kernel) => match kernel {
                Kernel::Rmb => "kernel.rmb",
                Kernel::Wmb => "kernel.wmb",
                Kernel::Mb => "kernel.mb",
                Kernel::Barrier => "kernel.barrier",
                Kernel::BeforeAtomic => "kernel.before_atomic",
                Kernel::AfterAtomic => "kernel.after_atomic",
                Kernel::AfterSpinlock => "kernel.after_spinlock",
                Kernel::AfterUnlockLock => "kernel.after_unlock_lock",
                Kernel::AfterSrcuReadUnlock => "kernel.after_srcu_read_unlock",
                Kernel::RcuLock => "kernel.rcu_lock",
                Kernel::RcuUnlock => "kernel.rcu_unlock",
                Kernel::SyncRcu => "kernel.sync_rcu",
            },
            Fence::Compiler => "compiler",
        }
    }
}
