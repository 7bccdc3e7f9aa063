//! CaDiCaL as the solver behind [`crate::solver`].

use crate::cnf::Literal;
use crate::limits::{Limits, StopReason};
use cadical_sys::{CaDiCal, Status, Terminator};
use std::cell::Cell;
use std::path::Path;
use std::rc::Rc;
use std::time::{Duration, Instant};

/// What CaDiCaL asks, again and again, while it searches.
struct Watch {
    limits: Limits,
    last: Instant,
    stopped: Rc<Cell<Option<StopReason>>>,
}

impl Terminator for Watch {
    fn terminated(&mut self) -> bool {
        // Asking the system for the memory costs more than asking for the time.
        const BETWEEN: Duration = Duration::from_millis(20);
        let now = Instant::now();
        if now.duration_since(self.last) < BETWEEN
            && self.limits.deadline.is_none_or(|deadline| now < deadline)
        {
            return false;
        }
        self.last = now;
        self.stopped.set(self.limits.reached());
        self.stopped.get().is_some()
    }
}

/// A solver of clauses.
pub struct Sat {
    cadical: CaDiCal,
    stopped: Rc<Cell<Option<StopReason>>>,
    conflicts: Option<u32>,
    traces: bool,
}

impl Sat {
    /// An empty one that stops at the limits. What is `large` is not simplified again and again.
    pub fn new(limits: Limits, large: bool) -> Sat {
        let mut cadical = CaDiCal::new();
        // Bounded variable addition makes variables of its own, so that ours would have to be announced in advance.
        cadical.set("factor", 0);
        if large {
            cadical.set("inprocessing", 0);
        }
        let stopped = Rc::new(Cell::new(None));
        cadical.connect_terminator(Watch { limits, last: Instant::now(), stopped: stopped.clone() });
        Sat { cadical, stopped, conflicts: limits.conflicts, traces: false }
    }

    /// Writes a proof in the format LRAT to a file; false if it cannot be written. To be called before any clause.
    pub fn trace(&mut self, path: &Path) -> bool {
        self.cadical.set("lrat", 1);
        self.cadical.set("binary", 0);
        self.traces = path.to_str().is_some_and(|path| self.cadical.trace_proof2(path));
        self.traces
    }

    /// Writes the proof to its end.
    pub fn close_proof(&mut self) {
        if std::mem::take(&mut self.traces) {
            self.cadical.close_proof_trace(false);
        }
    }

    /// How many conflicts there were.
    pub fn conflicts(&self) -> u64 {
        self.cadical.get_statistic_value("conflicts").unsigned_abs()
    }

    /// Adds a clause.
    pub fn clause(&mut self, literals: &[Literal]) {
        self.cadical.clause6(literals);
    }

    /// Whether all clauses can hold together with all of these literals.
    pub fn solve(&mut self, assumed: &[Literal]) -> Result<bool, StopReason> {
        for &literal in assumed {
            self.cadical.assume(literal);
        }
        self.stopped.set(None);
        if let Some(most) = self.conflicts {
            // It holds for the next question only.
            self.cadical.limit("conflicts", i32::try_from(most).unwrap_or(i32::MAX));
        }
        match self.cadical.solve() {
            Status::SATISFIABLE => Ok(true),
            Status::UNSATISFIABLE => Ok(false),
            Status::UNKNOWN => Err(self.stopped.get().unwrap_or(StopReason::Interrupted)),
        }
    }

    /// Whether a variable is true in the solution that was found last.
    pub fn is_true(&mut self, variable: Literal) -> bool {
        self.cadical.val(variable) > 0
    }
}
