//! Read-modify-writes of a straight thread: an exclusive load, computation, and a store-exclusive that some ways may pass by.
//! Together they are one step.

use crate::Unsupported;
use fencepost_ir::{Function, Instr, Label};

/// Where a jump goes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Target {
    /// To an instruction of the source.
    To(usize),
    /// To the end of the read-modify-write whose store that is.
    After(usize),
}

/// The read-modify-writes of a function.
pub struct Updates {
    /// For each instruction between an exclusive load and its store: the store.
    inside: Vec<Option<usize>>,
}

/// Where an instruction leads, past jumps.
fn resolve(function: &Function, mut at: usize) -> usize {
    while let Some(Instr::Jump(to)) = function.body.get(at) {
        at = to.0 as usize;
    }
    at
}

impl Updates {
    /// Finds them; an error if the ways through one do not meet behind its store.
    pub fn of(function: &Function) -> Result<Updates, Unsupported> {
        let mut inside = vec![None; function.body.len() + 1];
        for (at, instr) in function.body.iter().enumerate() {
            if !matches!(instr, Instr::Load { ann, .. } if ann.exclusive) {
                continue;
            }
            let span = function.spans[at];
            let parts = || Unsupported { what: "a read-modify-write whose ways part".into(), span };
            let is_store = |instr: &Instr| matches!(instr, Instr::StoreExclusive { .. });
            let store = at + function.body[at..].iter().position(is_store).ok_or_else(parts)?;
            let behind = resolve(function, store + 1);
            inside[at + 1..store].fill(Some(store));
            for within in at + 1..store {
                let targets = match &function.body[within] {
                    Instr::Jump(to) => vec![*to],
                    Instr::Branch { then_to, else_to, .. } => vec![*then_to, *else_to],
                    Instr::Assign { .. } | Instr::Assume(_) => Vec::new(),
                    _ => return Err(parts()),
                };
                for to in targets.into_iter().map(|to| to.0 as usize) {
                    let stays = within < to && to <= store;
                    if !stays && resolve(function, to) != behind {
                        return Err(parts());
                    }
                }
            }
        }
        Ok(Updates { inside })
    }

    /// Where a jump of the instruction with that number goes.
    pub fn target(&self, from: usize, to: Label) -> Target {
        let to = to.0 as usize;
        match self.inside[from] {
            Some(store) if to <= from || to > store => Target::After(store),
            _ => Target::To(to),
        }
    }
}
