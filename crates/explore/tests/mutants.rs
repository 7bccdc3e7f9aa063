//! Mutants of the explorer's models: each axiom and each clause is dropped once, and a directed program must notice, that
//! is, have other executions than before.

mod support;

use fencepost_explore::{
    Clause::{self, *},
    ModelName,
};
use support::compare::explored_without;
use support::{families, text};

/// The clauses that a model has.
fn clauses(model: ModelName) -> &'static [Clause] {
    match model {
        ModelName::Sc => &[Atomicity, Global],
        ModelName::Tso => {
            &[Coherence, Atomicity, Global, Rfe, FullFence, FromReads, WriteWrite, AfterAmo, BeforeAmo]
        }
        ModelName::Pso => {
            &[Coherence, Atomicity, Global, Rfe, FullFence, FromReads, StoreFence, AfterAmo, BeforeAmo]
        }
        ModelName::Ra => &[Coherence, Atomicity, Global, ReleaseWrite, AcquireRead, PscFenceEco],
        ModelName::Rc11 => &[
            Coherence,
            Atomicity,
            Global,
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
        ],
        ModelName::Rc20 => &[
            Coherence,
            Atomicity,
            Global,
            ReleaseWrite,
            ReleaseFence,
            AcquireRead,
            AcquireFence,
            SequenceRmw,
            PscBase,
            PscFenceEco,
            ScbPo,
            ScbThroughOthers,
            ScbHbLoc,
            ScbCo,
            ScbFr,
            HbAfterScFence,
        ],
        ModelName::Power => &[
            Coherence,
            Atomicity,
            Addr,
            Data,
            Ctrl,
            AddrPo,
            Pick,
            Isync,
            FullFence,
            LightFence,
            StoreFence,
            Rfe,
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
        ],
        ModelName::Armv8 => &[
            Coherence,
            Atomicity,
            Global,
            Addr,
            Data,
            Ctrl,
            AddrPo,
            Pick,
            Isync,
            FullFence,
            LightFence,
            StoreFence,
            DsbSt,
            Rfe,
            Coe,
            Fre,
            DepRfi,
            PickIsb,
            PickAddrPo,
            ThroughWrites,
            PickLob,
            RmwLmrs,
            Lws,
            AmoBarrier,
            ReleaseAcquire,
            AfterAcquire,
            BeforeRelease,
        ],
    }
}

#[test]
fn every_axiom_and_clause_is_noticed() {
    let mut missed = Vec::new();
    for model in ModelName::ALL {
        let programs = families::all(model);
        for &clause in clauses(model) {
            let noticed = programs.iter().find(|line| {
                let program = text::program(line);
                explored_without(&program, model, None) != explored_without(&program, model, Some(clause))
            });
            if noticed.is_none() {
                missed.push(format!("{} without {clause:?}", model.name()));
            }
        }
    }
    assert!(missed.is_empty(), "not noticed:\n{}", missed.join("\n"));
}
