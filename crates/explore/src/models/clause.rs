//! The parts of the models that a test can switch off, to show that some test notices when one is missing.
//!
//! What is structural in the exploration cannot be switched off: the commit-before order of a model forbids cycles
//! through it (no values out of thin air) whatever the axioms say.

use crate::search::row::{Row, RowWidth};
use std::borrow::Borrow;

/// An axiom, or a part of a definition.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum Clause {
    /// Each location by itself is coherent.
    Coherence,
    /// No write between the halves of a read-modify-write.
    Atomicity,
    /// The axiom on the global order: SC, TSO, PSO; external of ARMv8; psc of RC11 and the fences of RA.
    Global,
    /// Parts of the orders of more than one model.
    Addr,
    Data,
    Ctrl,
    AddrPo,
    Pick,
    Isync,
    FullFence,
    Rfe,
    /// TSO, PSO: reads before everything, writes before writes; the fence that a read-modify-write is for what comes after
    /// it and for what comes before it.
    FromReads,
    WriteWrite,
    AfterAmo,
    BeforeAmo,
    /// PSO, POWER (eieio), ARMv8 (dmb st).
    StoreFence,
    /// POWER (lwsync), ARMv8 (dmb ld).
    LightFence,
    /// POWER.
    Rfi,
    Rdw,
    Detour,
    PoLoc,
    PpoReads,
    PpoWrites,
    FenceAfterRfe,
    HbAfterFence,
    HbAfterSync,
    PropWrites,
    PropStrong,
    PropBaseStar,
    ComStar,
    Observation,
    Propagation,
    /// ARMv8.
    DepRfi,
    PickIsb,
    PickAddrPo,
    ThroughWrites,
    PickLob,
    RmwLmrs,
    Lws,
    DsbSt,
    AmoBarrier,
    ReleaseAcquire,
    AfterAcquire,
    BeforeRelease,
    Coe,
    Fre,
    /// RC11, RA.
    ReleaseWrite,
    ReleaseFence,
    AcquireRead,
    AcquireFence,
    SequenceSameThread,
    SequenceRmw,
    PscBase,
    PscFenceEco,
    ScbPo,
    ScbThroughOthers,
    ScbHbLoc,
    ScbCo,
    ScbFr,
    HbAfterScFence,
}

impl Clause {
    /// Whether it is about dependencies alone. A branch before an isync or isb is not among them: the fence is there for
    /// the order, and compilers keep both.
    fn is_dependency(self) -> bool {
        use Clause::*;
        matches!(self, Addr | Data | Ctrl | AddrPo | Pick | DepRfi | PickIsb | PickAddrPo | PickLob)
    }
}

/// Which clauses are in force: all of them, except in tests and where dependencies are not trusted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Clauses {
    missing: Option<Clause>,
    dependencies: bool,
}

impl Default for Clauses {
    fn default() -> Clauses {
        Clauses { missing: None, dependencies: true }
    }
}

impl Clauses {
    /// All but this one, and with or without dependencies.
    pub fn without(missing: Option<Clause>, dependencies: bool) -> Clauses {
        Clauses { missing, dependencies }
    }

    /// Whether all clauses are in force.
    #[inline(always)]
    pub fn are_complete(self) -> bool {
        self.missing.is_none()
    }

    /// Whether a clause is in force.
    #[inline(always)]
    pub fn has(self, clause: Clause) -> bool {
        self.missing != Some(clause) && (self.dependencies || !clause.is_dependency())
    }

    /// The row that a clause contributes.
    #[inline(always)]
    pub fn row<W: RowWidth>(self, clause: Clause, row: impl Borrow<Row<W>>) -> Row<W> {
        if self.has(clause) { row.borrow().clone() } else { Row::EMPTY }
    }
}
