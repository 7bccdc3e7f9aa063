//! Live registers: those whose value may still matter.

use crate::program::{Function, Instr, Reg};

/// A set of registers of one function.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct LiveSet(Vec<u64>);

impl LiveSet {
    fn new(registers: usize) -> LiveSet {
        LiveSet(vec![0; registers.div_ceil(64)])
    }

    /// Membership.
    pub fn contains(&self, reg: Reg) -> bool {
        self.0[reg.0 as usize / 64] >> (reg.0 % 64) & 1 != 0
    }

    /// The members.
    pub fn iter(&self) -> impl Iterator<Item = Reg> + '_ {
        (0..64 * self.0.len() as u32).map(Reg).filter(|&reg| self.contains(reg))
    }

    fn insert(&mut self, reg: Reg) {
        self.0[reg.0 as usize / 64] |= 1 << (reg.0 % 64);
    }

    fn remove(&mut self, reg: Reg) {
        self.0[reg.0 as usize / 64] &= !(1 << (reg.0 % 64));
    }

    /// Adds all of the other; true if that changed anything.
    fn join(&mut self, other: &LiveSet) -> bool {
        let mut changed = false;
        for (a, &b) in self.0.iter_mut().zip(&other.0) {
            changed |= b & !*a != 0;
            *a |= b;
        }
        changed
    }
}

/// The live registers before each instruction and, last, at the end, where the observed ones are live.
///
/// live(i) = uses(i) | (live(successors of i) \ definitions(i)), as a least fixpoint.
pub fn live_registers(function: &Function, observed: &[Reg]) -> Vec<LiveSet> {
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
            let mut before = LiveSet::new(function.regs.len());
            for to in instr.successors(at as u32) {
                before.join(&live[(to as usize).min(length)]);
            }
            if matches!(instr, Instr::Return(_) | Instr::Exit(_) | Instr::Halt) {
                before.join(&end);
            }
            instr.for_each_definition(|reg| before.remove(reg));
            instr.for_each_use(|reg| before.insert(reg));
            changed |= live[at].join(&before);
        }
    }
    live
}
