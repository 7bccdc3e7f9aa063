//! Which machine: the memory model, and the bounds on its runs.

use fencepost_ir::Fence;

/// The memory models that have a machine with store buffers.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Model {
    /// Sequential consistency: no buffers.
    Sc,
    /// Total store order: one first-in first-out buffer per thread.
    Tso,
    /// Partial store order: one buffer per thread and cell.
    Pso,
}

impl Model {
    /// Its name on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Model::Sc => "sc",
            Model::Tso => "tso",
            Model::Pso => "pso",
        }
    }

    /// The model of that name.
    pub fn from_name(name: &str) -> Option<Model> {
        [Model::Sc, Model::Tso, Model::Pso].into_iter().find(|model| model.name() == name)
    }
}

/// A machine: a model, and bounds on its runs. A bound of `None` is no bound.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Config {
    /// The memory model.
    pub model: Model,
    /// Most stores in one thread's buffer.
    pub buffer: Option<u32>,
    /// Most rounds of each thread: maximal sequences of steps and memory updates of one thread `[ABP, 2.4]`.
    pub rounds: Option<u32>,
    /// Most rounds, counted from the one after its own, that a store waits in the buffer `[ABP, 4]`.
    pub age: Option<u32>,
    /// A thread is started only when its parent's buffer is empty, as `pthread_create` does. The paper has it without.
    pub spawn_fences: bool,
    /// States that differ only in which thread is where are one (`crate::symmetry`).
    pub symmetry: bool,
    /// A state in which nothing can move, or only in a circle of one state, is a finding unless all threads have ended.
    /// So C wants it; the papers' programs may stand still. In C, also, a mutex knows its owner, and only the owner may
    /// unlock it.
    pub c: bool,
    /// The threads belong to the promising machine: fences are steps of their own, and a thread whose assertion failed
    /// keeps its registers, because its promises are certified beyond it.
    pub promising: bool,
}

impl Config {
    /// The machine of a model without bounds.
    pub fn new(model: Model) -> Config {
        Config {
            model,
            buffer: None,
            rounds: None,
            age: None,
            spawn_fences: true,
            symmetry: true,
            c: false,
            promising: false,
        }
    }

    /// True if the scheduler's past must be in the state.
    pub fn counts_rounds(&self) -> bool {
        self.rounds.is_some() || self.age.is_some()
    }
}

/// What a fence does to the buffer of its thread.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum FenceEffect {
    /// Nothing.
    Nothing,
    /// Stores before it reach memory before stores after it.
    StoreBarrier,
    /// Waits until the buffer is empty.
    Drain,
}

/// What a fence does under a model: the sets `FULL` and `STORE-BARRIER` of `tso.cat` and `pso.cat`.
pub fn fence_effect(model: Model, fence: Fence) -> FenceEffect {
    let weak = match model {
        Model::Sc => return FenceEffect::Nothing,
        Model::Tso => FenceEffect::Nothing,
        Model::Pso => FenceEffect::StoreBarrier,
    };
    match fence.orders() {
        _ if fence.is_full() => FenceEffect::Drain,
        orders if orders.ww => weak,
        _ => FenceEffect::Nothing,
    }
}
