//! Fences as data: what each is called, and which accesses before it and behind it it keeps in order.
//!
//! A new fence is a variant and a row of [`TABLE`]; a model that gives it a meaning beyond its [`Orders`] names it.

use crate::annotation::Order;

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

/// Which accesses a fence of RISC-V orders.
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

/// Which earlier accesses a fence orders with which later ones, for a model that does not know it by name.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Orders {
    /// Reads with reads.
    pub rr: bool,
    /// Reads with writes.
    pub rw: bool,
    /// Writes with reads.
    pub wr: bool,
    /// Writes with writes.
    pub ww: bool,
}

impl Orders {
    const NONE: Orders = Orders { rr: false, rw: false, wr: false, ww: false };
    const ALL: Orders = Orders { rr: true, rw: true, wr: true, ww: true };
    const LIGHT: Orders = Orders { wr: false, ..Orders::ALL };
    const LOADS: Orders = Orders { rr: true, rw: true, ..Orders::NONE };
    const RELEASE: Orders = Orders { rw: true, ww: true, ..Orders::NONE };
    const STORES: Orders = Orders { ww: true, ..Orders::NONE };
}

/// Whose instruction a fence is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[allow(missing_docs)]
pub enum Isa {
    Power,
    X86,
    Arm,
    RiscV,
    /// None: a fence of a language.
    Language,
}

/// A fence and its names; an empty one is none.
#[derive(Clone, Copy, Debug)]
pub struct Row {
    /// The fence.
    pub fence: Fence,
    /// Whose instruction it is.
    pub isa: Isa,
    /// The word of the text form.
    pub name: &'static str,
    /// The set of the cat files.
    pub cat: &'static str,
    /// The instruction in assembly.
    pub text: &'static str,
    /// The edge of a cycle.
    pub edge: &'static str,
}

const fn row(fence: Fence, isa: Isa, name: &'static str, [cat, text, edge]: [&'static str; 3]) -> Row {
    Row { fence, isa, name, cat, text, edge }
}

const fn c11(order: Order, name: &'static str, edge: &'static str) -> Row {
    row(Fence::C11(order), Isa::Language, name, ["", "", edge])
}

const fn risc_v(before: Accesses, after: Accesses, name: &'static str, cat: &'static str) -> Row {
    row(Fence::RiscV(before, after), Isa::RiscV, name, [cat, "", ""])
}

const fn kernel(kind: Kernel, name: &'static str, cat: &'static str) -> Row {
    row(Fence::Kernel(kind), Isa::Language, name, [cat, "", ""])
}

/// Every fence.
pub const TABLE: &[Row] = &[
    row(Fence::Sync, Isa::Power, "sync", ["SYNC", "sync", "Sync"]),
    row(Fence::Lwsync, Isa::Power, "lwsync", ["LWSYNC", "lwsync", "LwSync"]),
    row(Fence::Eieio, Isa::Power, "eieio", ["EIEIO", "eieio", "Eieio"]),
    row(Fence::Isync, Isa::Power, "isync", ["ISYNC", "isync", "ISync"]),
    row(Fence::Mfence, Isa::X86, "mfence", ["MFENCE", "mfence", "MFence"]),
    row(Fence::Lfence, Isa::X86, "lfence", ["LFENCE", "lfence", "LFence"]),
    row(Fence::Sfence, Isa::X86, "sfence", ["SFENCE", "sfence", "SFence"]),
    row(Fence::DmbSy, Isa::Arm, "dmb.sy", ["DMB.SY", "dmb sy", "DMB.SY"]),
    row(Fence::DmbLd, Isa::Arm, "dmb.ld", ["DMB.LD", "dmb ld", "DMB.LD"]),
    row(Fence::DmbSt, Isa::Arm, "dmb.st", ["DMB.ST", "dmb st", "DMB.ST"]),
    row(Fence::DsbSy, Isa::Arm, "dsb.sy", ["DSB.SY", "dsb sy", "DSB.SY"]),
    row(Fence::DsbLd, Isa::Arm, "dsb.ld", ["DSB.LD", "dsb ld", "DSB.LD"]),
    row(Fence::DsbSt, Isa::Arm, "dsb.st", ["DSB.ST", "dsb st", "DSB.ST"]),
    row(Fence::Isb, Isa::Arm, "isb", ["ISB", "isb", "ISB"]),
    c11(Order::Relaxed, "c11.rlx", ""),
    c11(Order::Consume, "c11.con", "FenceAcq"),
    c11(Order::Acquire, "c11.acq", "FenceAcq"),
    c11(Order::Release, "c11.rel", "FenceRel"),
    c11(Order::AcqRel, "c11.acqrel", "FenceAcqRel"),
    c11(Order::SeqCst, "c11.sc", "FenceSc"),
    risc_v(Accesses::Reads, Accesses::Reads, "fence.r.r", "Fence.r.r"),
    risc_v(Accesses::Reads, Accesses::Writes, "fence.r.w", "Fence.r.w"),
    risc_v(Accesses::Reads, Accesses::All, "fence.r.rw", "Fence.r.rw"),
    risc_v(Accesses::Writes, Accesses::Reads, "fence.w.r", "Fence.w.r"),
    risc_v(Accesses::Writes, Accesses::Writes, "fence.w.w", "Fence.w.w"),
    risc_v(Accesses::Writes, Accesses::All, "fence.w.rw", "Fence.w.rw"),
    risc_v(Accesses::All, Accesses::Reads, "fence.rw.r", "Fence.rw.r"),
    risc_v(Accesses::All, Accesses::Writes, "fence.rw.w", "Fence.rw.w"),
    risc_v(Accesses::All, Accesses::All, "fence.rw.rw", "Fence.rw.rw"),
    row(Fence::RiscVTso, Isa::RiscV, "fence.tso", ["Fence.tso", "", ""]),
    row(Fence::RiscVI, Isa::RiscV, "fence.i", ["Fence.i", "", ""]),
    kernel(Kernel::Rmb, "kernel.rmb", "Rmb"),
    kernel(Kernel::Wmb, "kernel.wmb", "Wmb"),
    kernel(Kernel::Mb, "kernel.mb", "Mb"),
    kernel(Kernel::Barrier, "kernel.barrier", "Barrier"),
    kernel(Kernel::BeforeAtomic, "kernel.before_atomic", "Before-atomic"),
    kernel(Kernel::AfterAtomic, "kernel.after_atomic", "After-atomic"),
    kernel(Kernel::AfterSpinlock, "kernel.after_spinlock", "After-spinlock"),
    kernel(Kernel::AfterUnlockLock, "kernel.after_unlock_lock", "After-unlock-lock"),
    kernel(Kernel::AfterSrcuReadUnlock, "kernel.after_srcu_read_unlock", "After-srcu-read-unlock"),
    kernel(Kernel::RcuLock, "kernel.rcu_lock", "Rcu-lock"),
    kernel(Kernel::RcuUnlock, "kernel.rcu_unlock", "Rcu-unlock"),
    kernel(Kernel::SyncRcu, "kernel.sync_rcu", "Sync-rcu"),
    row(Fence::Compiler, Isa::Language, "compiler", ["", "", ""]),
];

impl Fence {
    /// Every kind.
    pub fn all() -> impl Iterator<Item = Fence> + Clone {
        TABLE.iter().map(|row| row.fence)
    }

    /// The fence of that name in the text form.
    pub fn named(name: &str) -> Option<Fence> {
        TABLE.iter().find(|row| row.name == name).map(|row| row.fence)
    }

    /// Its row. A C11 fence of an order that C does not give fences is a relaxed one.
    pub fn row(self) -> &'static Row {
        let known = match self {
            Fence::C11(Order::Plain | Order::AcquirePc) => Fence::C11(Order::Relaxed),
            known => known,
        };
        TABLE.iter().find(|row| row.fence == known).expect("every fence has a row")
    }

    /// The word of the text form.
    pub fn name(self) -> &'static str {
        self.row().name
    }

    /// What it orders. The fences of RISC-V and of the kernel have models of their own, which know them by name; elsewhere only
    /// the full ones count.
    pub fn orders(self) -> Orders {
        match self {
            Fence::Sync | Fence::Mfence | Fence::DmbSy | Fence::DsbSy | Fence::C11(Order::SeqCst) => {
                Orders::ALL
            }
            Fence::RiscV(Accesses::All, Accesses::All) => Orders::ALL,
            Fence::Kernel(Kernel::Mb | Kernel::SyncRcu) => Orders::ALL,
            Fence::Lwsync | Fence::C11(Order::AcqRel) => Orders::LIGHT,
            Fence::C11(Order::Release) => Orders::RELEASE,
            Fence::DmbLd | Fence::DsbLd | Fence::Lfence => Orders::LOADS,
            Fence::C11(Order::Consume | Order::Acquire) => Orders::LOADS,
            Fence::Eieio | Fence::Sfence | Fence::DmbSt | Fence::DsbSt => Orders::STORES,
            _ => Orders::NONE,
        }
    }

    /// Whether it orders all accesses before it and all accesses behind it, for every thread: the set `FULL` of the cat files.
    pub fn is_full(self) -> bool {
        self.orders() == Orders::ALL
    }

    /// Whether it keeps writes before it and writes behind it in order, and reads before it not.
    pub fn is_for_stores(self) -> bool {
        self.orders() == Orders::STORES
    }

    /// Whether what comes behind it waits for the branches before it: `ctrl+isync`.
    pub fn waits_for_branches(self) -> bool {
        matches!(self, Fence::Isync | Fence::Isb)
    }

    /// The order of the C11 fence that it comes from when C is compiled; relaxed is none. No fence of C becomes `lfence`.
    pub fn as_c11(self) -> Order {
        match (self, self.orders()) {
            (Fence::C11(order), _) => order,
            (Fence::Lfence, _) => Order::Relaxed,
            (_, Orders::ALL) => Order::SeqCst,
            (_, Orders::LIGHT) => Order::AcqRel,
            (_, Orders::LOADS) => Order::Acquire,
            _ => Order::Relaxed,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn every_fence_has_one_row() {
        let names: BTreeSet<&str> = TABLE.iter().map(|row| row.name).collect();
        assert_eq!(names.len(), TABLE.len());
        let accesses = [Accesses::Reads, Accesses::Writes, Accesses::All];
        for (before, after) in accesses.into_iter().flat_map(|a| accesses.map(|b| (a, b))) {
            assert_eq!(Fence::RiscV(before, after).row().fence, Fence::RiscV(before, after));
        }
        for order in [Order::Plain, Order::Relaxed, Order::AcquirePc] {
            assert_eq!(Fence::C11(order).name(), "c11.rlx");
        }
        for fence in Fence::all() {
            assert_eq!(Fence::named(fence.name()), Some(fence));
            assert_eq!(fence.row().fence, fence);
        }
    }

    /// What a fence orders is what the C fence orders that it comes from, and more only where C has none.
    #[test]
    fn orders_are_those_of_the_c_fence() {
        for fence in Fence::all().filter(|fence| fence.as_c11() != Order::Relaxed) {
            assert_eq!(Fence::C11(fence.as_c11()).orders(), fence.orders(), "{}", fence.name());
        }
    }
}
