//! The sets and relations that every model starts from, under herd7's names.
//!
//! Deviations from herd7: `ISH` and `OSH` barriers are in the `SY` sets (all observers are in one shareability domain,
//! and the front ends do not keep the difference); the halves of a read-modify-write are two events, so `RMW` holds
//! both of them; `B` (branches) is empty, because branches are not events. In a model whose first word is `C`, `A` is
//! the set of atomic accesses, elsewhere it is AArch64's acquire.

use fencepost_ir::{Event, EventKind, Execution, Fence, Kernel, Order, Relation, Role};

/// A set of events that is given, not defined.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum BaseSet {
    /// `_`.
    All,
    /// Nothing: sets of herd7 that have no members here.
    Never,
    /// `R`.
    Read,
    /// `W`.
    Write,
    /// `M`.
    Memory,
    /// `F`: fences, compiler barriers excepted.
    AnyFence,
    /// `IW`: initial writes.
    Initial,
    /// `FW`: coherence-last writes.
    Final,
    /// AArch64 `A`: reads that acquire.
    Acquire,
    /// AArch64 `L`: writes that release.
    Release,
    /// AArch64 `Q`: reads that acquire with RCpc strength.
    AcquirePc,
    /// `X`: accesses of load/store-exclusives and of atomic instructions.
    Exclusive,
    /// `AMO`: accesses of read-modify-write and compare-exchange instructions, also of those that exchanged nothing.
    Amo,
    /// `RMW`: both halves of successful read-modify-writes.
    Rmw,
    /// `NA`: plain accesses of threads.
    NonAtomic,
    /// Accesses that are not plain.
    Atomic,
    /// Accesses and C11 fences with exactly this order.
    Ordered(Order),
    /// `V`.
    Volatile,
    /// `NoRet`: reads whose value goes nowhere.
    NoReturn,
    /// Loads that may ignore an address dependency.
    NonTemporal,
    /// Fences of one kind.
    Kind(Fence),
    /// `EX` of RISC-V: accesses that take or use a reservation.
    Reservation,
    /// Accesses of the Linux kernel with this role.
    Role(Role),
    /// `LKR`, `LKW`: the halves of taking a spinlock.
    SpinlockTaken,
}

/// A relation that is given.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[allow(missing_docs)]
pub enum BaseRelation {
    Id,
    Po,
    /// Accesses to the same location.
    Loc,
    /// Events of the same thread; initial writes are together.
    Int,
    /// Everything else.
    Ext,
    Rf,
    Co,
    Rmw,
    Amo,
    Addr,
    Data,
    Ctrl,
    Pick,
    PickAddr,
    /// `rcu_read_lock()` to the `rcu_read_unlock()` that ends it: they nest like brackets.
    RcuSections,
    /// Events of one access.
    SameAccess,
}

/// The sets by name.
pub const SETS: &[(&str, BaseSet)] = &[
    ("R", BaseSet::Read),
    ("W", BaseSet::Write),
    ("M", BaseSet::Memory),
    ("F", BaseSet::AnyFence),
    ("B", BaseSet::Never),
    ("I", BaseSet::Initial),
    ("IW", BaseSet::Initial),
    ("FW", BaseSet::Final),
    ("A", BaseSet::Acquire),
    ("L", BaseSet::Release),
    ("Q", BaseSet::AcquirePc),
    ("X", BaseSet::Exclusive),
    ("AMO", BaseSet::Amo),
    ("RMW", BaseSet::Rmw),
    ("NA", BaseSet::NonAtomic),
    ("ATOMIC", BaseSet::Atomic),
    ("RLX", BaseSet::Ordered(Order::Relaxed)),
    ("CON", BaseSet::Ordered(Order::Consume)),
    ("ACQ", BaseSet::Ordered(Order::Acquire)),
    ("REL", BaseSet::Ordered(Order::Release)),
    ("ACQ_REL", BaseSet::Ordered(Order::AcqRel)),
    ("SC", BaseSet::Ordered(Order::SeqCst)),
    ("V", BaseSet::Volatile),
    ("NoRet", BaseSet::NoReturn),
    ("NonTemporal", BaseSet::NonTemporal),
    ("DMB.ISH", BaseSet::Never),
    ("DMB.ISHLD", BaseSet::Never),
    ("DMB.ISHST", BaseSet::Never),
    ("DMB.OSH", BaseSet::Never),
    ("DMB.OSHLD", BaseSet::Never),
    ("DMB.OSHST", BaseSet::Never),
    ("DSB.ISH", BaseSet::Never),
    ("DSB.ISHLD", BaseSet::Never),
    ("DSB.ISHST", BaseSet::Never),
    ("DSB.OSH", BaseSet::Never),
    ("DSB.OSHLD", BaseSet::Never),
    ("DSB.OSHST", BaseSet::Never),
    ("EX", BaseSet::Reservation),
    // All effects are explicit here.
    ("Exp", BaseSet::Memory),
    ("NExp", BaseSet::Never),
    ("Imp", BaseSet::Never),
    ("Acq", BaseSet::Ordered(Order::Acquire)),
    ("Rel", BaseSet::Ordered(Order::Release)),
    ("AcqRel", BaseSet::Ordered(Order::AcqRel)),
    ("Sc", BaseSet::Ordered(Order::SeqCst)),
    ("Srcu-lock", BaseSet::Role(Role::SrcuLock)),
    ("Srcu-unlock", BaseSet::Role(Role::SrcuUnlock)),
    ("Sync-srcu", BaseSet::Role(Role::SyncSrcu)),
    ("SPINLOCK", BaseSet::Role(Role::Spinlock)),
    ("SPINLOCK-TAKEN", BaseSet::SpinlockTaken),
];

/// The relations by name; `prelude.cat` defines the rest.
pub const RELATIONS: &[(&str, BaseRelation)] = &[
    ("id", BaseRelation::Id),
    ("po", BaseRelation::Po),
    ("loc", BaseRelation::Loc),
    ("int", BaseRelation::Int),
    ("ext", BaseRelation::Ext),
    ("rf", BaseRelation::Rf),
    ("co", BaseRelation::Co),
    ("rmw", BaseRelation::Rmw),
    ("amo", BaseRelation::Amo),
    ("addr", BaseRelation::Addr),
    ("data", BaseRelation::Data),
    ("ctrl", BaseRelation::Ctrl),
    ("pick-dep", BaseRelation::Pick),
    ("pick-addr-dep", BaseRelation::PickAddr),
    ("rcu-sections", BaseRelation::RcuSections),
    ("sm", BaseRelation::SameAccess),
];

impl BaseSet {
    /// Is event `index` in the set?
    pub fn contains(self, execution: &Execution, index: usize) -> bool {
        let event = &execution.events[index];
        let reads = event.kind == EventKind::Read;
        let writes = event.kind == EventKind::Write;
        let accesses = reads || writes;
        match self {
            BaseSet::All => true,
            BaseSet::Never => false,
            BaseSet::Read => reads,
            BaseSet::Write => writes,
            BaseSet::Memory => accesses,
            BaseSet::AnyFence => !accesses && event.kind != EventKind::Fence(Fence::Compiler),
            BaseSet::Initial => event.is_init(),
            BaseSet::Final => writes && execution.co.successors(index).next().is_none(),
            BaseSet::Acquire => reads && event.ann.order.acquires() && !event.ann.no_return,
            BaseSet::Release => writes && event.ann.order.releases(),
            BaseSet::AcquirePc => reads && event.ann.order == Order::AcquirePc,
            BaseSet::Amo => accesses && event.amo,
            BaseSet::Exclusive => accesses && (event.ann.exclusive || in_field(&execution.rmw, index)),
            BaseSet::Rmw => in_field(&execution.rmw, index),
            BaseSet::NonAtomic => accesses && !event.is_init() && event.ann.order == Order::Plain,
            BaseSet::Atomic => accesses && event.ann.order != Order::Plain,
            BaseSet::Ordered(order) => order_of(event) == Some(order),
            BaseSet::Volatile => accesses && event.ann.volatile,
            BaseSet::NoReturn => reads && event.ann.no_return,
            BaseSet::NonTemporal => reads && event.ann.non_temporal,
            BaseSet::Reservation => accesses && event.ann.exclusive,
            BaseSet::Role(role) => accesses && event.ann.role == role,
            BaseSet::SpinlockTaken => {
                accesses && event.ann.role == Role::Spinlock && in_field(&execution.rmw, index)
            }
            BaseSet::Kind(fence) => event.kind == EventKind::Fence(fence),
        }
    }
}

impl BaseRelation {
    /// The relation in an execution.
    pub fn of(self, execution: &Execution) -> Relation {
        let events = &execution.events;
        let n = events.len();
        match self {
            BaseRelation::Id => Relation::identity(n),
            BaseRelation::Po => execution.po.clone(),
            BaseRelation::Loc => Relation::from_fn(n, |a, b| {
                events[a].location.is_some() && events[a].location == events[b].location
            }),
            BaseRelation::Int => Relation::from_fn(n, |a, b| events[a].thread == events[b].thread),
            BaseRelation::Ext => Relation::from_fn(n, |a, b| events[a].thread != events[b].thread),
            BaseRelation::Rf => execution.rf.clone(),
            BaseRelation::Co => execution.co.clone(),
            BaseRelation::Rmw => execution.rmw.clone(),
            BaseRelation::Amo => execution.amo.clone(),
            BaseRelation::Addr => execution.addr.clone(),
            BaseRelation::Data => execution.data.clone(),
            BaseRelation::Ctrl => execution.ctrl.clone(),
            BaseRelation::Pick => execution.pick.clone(),
            BaseRelation::PickAddr => execution.pick_addr.clone(),
            BaseRelation::RcuSections => rcu_sections(execution),
            BaseRelation::SameAccess => same_access(execution),
        }
    }
}

/// Pairs of brackets, thread by thread.
fn rcu_sections(execution: &Execution) -> Relation {
    let events = &execution.events;
    let mut sections = Relation::new(events.len());
    let mut open: Vec<usize> = Vec::new();
    // Events stand in the order of their threads, and in program order there.
    for (i, event) in events.iter().enumerate() {
        match event.kind {
            EventKind::Fence(Fence::Kernel(Kernel::RcuLock)) => open.push(i),
            EventKind::Fence(Fence::Kernel(Kernel::RcuUnlock)) => {
                if let Some(lock) = open.pop_if(|lock| events[*lock].thread == event.thread) {
                    sections.insert(lock, i);
                }
            }
            _ => {}
        }
    }
    sections
}

/// The parts of each access, which follow each other, and each with itself. The halves of a read-modify-write come part by part.
fn same_access(execution: &Execution) -> Relation {
    let events = &execution.events;
    let mut same = Relation::new(events.len());
    (0..events.len()).filter(|&i| events[i].location.is_some()).for_each(|i| same.insert(i, i));
    let of_kind = |i: usize, kind: EventKind| events[i].kind == kind;
    for (i, event) in events.iter().enumerate().filter(|(_, event)| event.ann.role == Role::Continues) {
        // The part before this one, and all that belongs to it.
        let before = (0..i).rev().find(|&j| events[j].thread == event.thread && of_kind(j, event.kind));
        if let Some(before) = before {
            let parts: Vec<usize> = same.successors(before).chain([before]).collect();
            for part in parts {
                same.insert(part, i);
                same.insert(i, part);
            }
        }
    }
    same
}

fn in_field(relation: &Relation, index: usize) -> bool {
    relation.successors(index).next().is_some() || (0..relation.len()).any(|a| relation.contains(a, index))
}

/// The memory order of an access of a thread, or of a C11 fence.
fn order_of(event: &Event) -> Option<Order> {
    match event.kind {
        EventKind::Fence(Fence::C11(order)) => Some(order),
        EventKind::Fence(_) => None,
        _ => Some(event.ann.order),
    }
}
