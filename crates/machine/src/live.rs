//! Live registers: those whose value may still matter. The machines forget all others, so that two states which differ
//! only in what nobody will look at are one state.

use crate::code::{defines, uses};
use fencepost_ir::{Function, Instr};

/// A set of registers of one function.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct LiveSet(Vec<u64>);

impl LiveSet {
    fn new(registers: usize) -> LiveSet {
        LiveSet(vec![0; registers.div_ceil(64)])
    }

    /// Membership.
    pub fn contains(&self, reg: u32) -> bool {
        self.0[reg as usize / 64] >> (reg % 64) & 1 != 0
    }

    fn insert(&mut self, reg: u32) {
        self.0[reg as usize / 64] |= 1 << (reg % 64);
    }

    fn remove(&mut self, reg: u32) {
        self.0[reg as usize / 64] &= !(1 << (reg % 64));
    }

    /// Adds all of the other; true if that changed anything.
    fn join(&mut self, other: &LiveSet) -> bool {
        let before = self.0.clone();
        self.0.iter_mut().zip(&other.0).for_each(|(a, b)| *a |= b);
        self.0 != before
    }
}

/// The live registers before each instruction and, last, at the end, where the observed ones are live.
///
/// live(i) = uses(i) | (live(successors of i) \ defines(i)), as a least fixpoint.
pub fn live_registers(function: &Function, observed: &[u32]) -> Vec<LiveSet> {
    let length = function.body.len();
    let mut end = LiveSet::new(function.regs.len());
    observed.iter().for_each(|&reg| end.insert(reg));
    let mut live = vec![LiveSet::new(function.regs.len()); length];
    live.push(end.clone());
    let mut changed = true;
    while changed {
        changed = false;
        for at in (0..length).rev() {
            let instr = &function.body[at];
            let mut after = LiveSet::new(function.regs.len());
            for to in successors(instr, at) {
                after.join(&live[to]);
            }
            if matches!(instr, Instr::Return(_) | Instr::Exit(_) | Instr::Halt) {
                after.join(&end);
            }
            defines(instr).iter().for_each(|&reg| after.remove(reg));
            uses(instr).iter().for_each(|&reg| after.insert(reg));
            changed |= live[at].join(&after);
        }
    }
    live
}

/// Where control may go after instruction `at`.
pub fn successors(instr: &Instr, at: usize) -> Vec<usize> {
    match instr {
        Instr::Jump(to) => vec![to.0 as usize],
        Instr::Branch { then_to, else_to, .. } => vec![then_to.0 as usize, else_to.0 as usize],
        Instr::Return(_) | Instr::Exit(_) | Instr::Halt | Instr::Fail { .. } | Instr::Cut => Vec::new(),
        _ => vec![at + 1],
    }
}
