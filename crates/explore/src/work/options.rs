//! What is to be explored, and how: one structure, of which everything that makes the search another one is hashed into the
//! binding of its work items ([`Options::hash_into`]; a field that is forgotten there does not compile).

use crate::findings::collect::Visitor;
use crate::models::clause::Clause;
use crate::reductions::symmetry::Symmetry;
use crate::reductions::{Reduction, Reductions};
use crate::search::row::RowForm;
use crate::threads::native::Maker;
use crate::work::item::Hashed;
use crate::work::limits::Limits;
use fencepost_ir::ObjectId;

/// The models that this engine knows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub enum ModelName {
    Sc,
    Tso,
    Pso,
    Ra,
    Rc11,
    Rc20,
    Power,
    Armv8,
}

impl ModelName {
    /// All of them.
    pub const ALL: [ModelName; 8] = [
        ModelName::Sc,
        ModelName::Tso,
        ModelName::Pso,
        ModelName::Ra,
        ModelName::Rc11,
        ModelName::Rc20,
        ModelName::Power,
        ModelName::Armv8,
    ];

    /// Its name on the command line.
    pub fn name(self) -> &'static str {
        match self {
            ModelName::Sc => "sc",
            ModelName::Tso => "tso",
            ModelName::Pso => "pso",
            ModelName::Ra => "ra",
            ModelName::Rc11 => "rc11",
            ModelName::Rc20 => "rc20",
            ModelName::Power => "power",
            ModelName::Armv8 => "armv8",
        }
    }

    /// The model of that name.
    pub fn from_name(name: &str) -> Option<ModelName> {
        ModelName::ALL.into_iter().find(|model| model.name() == name)
    }
}

/// How to explore.
#[derive(Clone, Copy)]
pub struct Options<'a> {
    /// The memory model.
    pub model: ModelName,
    /// Number of workers.
    pub jobs: usize,
    /// Limits that end the exploration early.
    pub limits: Limits<'static>,
    /// Is shown every complete execution.
    pub visitor: Option<Visitor<'a>>,
    /// Is told when the exploration starts over with more room: the executions shown so far will come again.
    pub restarted: Option<&'a (dyn Fn() + Sync)>,
    /// Whether the first finding that is an error ends the exploration.
    pub stop_at_error: bool,
    /// The lock of the atomic sections, if `as_critical_sections` made them critical ones: accesses outside are looked for.
    pub section_lock: Option<ObjectId>,
    /// What is left out because something else stands for it.
    pub reductions: Reductions,
    /// Which threads are taken for equal.
    pub symmetry: Symmetry,
    /// Whether dependencies order accesses (POWER, ARMv8). Values do not come out of thin air in either case.
    pub dependencies: bool,
    /// The least form of rows that is used: for tests, which compare the forms.
    pub rows: RowForm,
    /// Makes the sources of native threads, if that is what is explored.
    pub native: Option<Maker<'a>>,
    /// A clause of the model that is not in force: for tests that show that a test notices.
    pub without: Option<Clause>,
}

impl Options<'_> {
    /// One worker, no limits.
    pub fn new(model: ModelName) -> Self {
        let limits = Limits::default();
        Options {
            model,
            jobs: 1,
            limits,
            visitor: None,
            restarted: None,
            stop_at_error: false,
            section_lock: None,
            dependencies: true,
            reductions: Reductions::ALL,
            symmetry: Symmetry::default(),
            rows: RowForm::Words1,
            native: None,
            without: None,
        }
    }

    /// Hashes what makes the search what it is. How many workers there are, how far they go and who looks on does not.
    pub(crate) fn hash_into(&self, hashed: &mut Hashed) {
        let Options {
            model,
            stop_at_error,
            section_lock,
            reductions,
            symmetry,
            dependencies,
            without,
            jobs: _,
            limits: _,
            visitor: _,
            restarted: _,
            rows: _,
            native,
        } = self;
        hashed.add(format_args!("{model:?} {stop_at_error} {section_lock:?} {reductions:?}"));
        hashed.add(format_args!("{symmetry:?} {dependencies} {without:?} {:?}", native.is_some()));
    }

    /// The threads that are taken for equal.
    pub(crate) fn symmetry(&self) -> Symmetry {
        if self.reductions.has(Reduction::Symmetry) { self.symmetry } else { Symmetry::Off }
    }
}
