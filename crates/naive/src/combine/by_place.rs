//! A cell by itself under a model that implies coherence: what is not coherent need not be judged.

use super::{Cell, Search, set_order};
use crate::Stop;
use fencepost_ir::Execution;
use fencepost_models::Checker;

impl Search<'_> {
    /// All coherent orders of a cell whose first `from` writes have their places, and the coherent sources of its reads. They
    /// are told by comparing places, and the model is asked once for each that is left.
    pub(super) fn order_by_place(
        &mut self,
        cell: &mut Cell,
        from: usize,
        execution: &mut Execution,
        checker: &mut Checker<'_>,
    ) -> Result<(), Stop> {
        if from >= cell.writes.len() {
            set_order(execution, &cell.writes, true);
            let result = self.sources_by_place(cell, execution, checker);
            set_order(execution, &cell.writes, false);
            return result;
        }
        for i in from..cell.writes.len() {
            let write = cell.writes[i];
            if cell.writes[from..].iter().any(|&later| execution.po.contains(later, write)) {
                continue;
            }
            cell.writes.swap(from, i);
            self.order_by_place(cell, from + 1, execution, checker)?;
            cell.writes.swap(from, i);
        }
        Ok(())
    }

    /// As [`Search::sources`]; a write has its place in coherence, and a read that of the write that it reads.
    fn sources_by_place(
        &mut self,
        cell: &mut Cell,
        execution: &mut Execution,
        checker: &mut Checker<'_>,
    ) -> Result<(), Stop> {
        let Some(&read) = cell.reads.get(cell.rf.len()) else {
            if self.extendable(execution, checker)? {
                let pairs = cell.rf.iter().copied().zip(cell.reads.iter().copied()).collect();
                cell.found.push((cell.writes.clone(), pairs));
            }
            return Ok(());
        };
        let place = |write: usize| cell.writes.iter().position(|&w| w == write).unwrap_or(0);
        let (mut first, mut last) = (0, cell.writes.len() - 1);
        for (at, &write) in cell.writes.iter().enumerate() {
            if execution.po.contains(write, read) {
                first = first.max(at);
            }
            if execution.po.contains(read, write) {
                // The initial write is not in program order.
                last = last.min(at.saturating_sub(1));
            }
        }
        for (&other, &source) in cell.reads.iter().zip(&cell.rf) {
            if execution.po.contains(other, read) {
                first = first.max(place(source));
            }
            if execution.po.contains(read, other) {
                last = last.min(place(source));
            }
        }
        for at in first..=last {
            let write = cell.writes[at];
            if execution.events[write].value != execution.events[read].value {
                continue;
            }
            execution.rf.insert(write, read);
            cell.rf.push(write);
            self.sources_by_place(cell, execution, checker)?;
            cell.rf.pop();
            execution.rf.remove(write, read);
        }
        Ok(())
    }
}
