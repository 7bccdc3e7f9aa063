//! The loops of a function, and an order of its instructions in which all edges but those that close loops go forward.

use super::Unsupported;
use crate::program::{Function, Instr, Operand};
use std::collections::BTreeMap;

/// What is known about the control-flow graph of a function. The end of the function is a node too.
pub(super) struct Loops {
    /// Position of each instruction in reverse postorder.
    pub order: Vec<u32>,
    /// Heads of the loops around each instruction, outermost first.
    pub nest: Vec<Vec<u32>>,
    /// Heads of loops that nothing leaves.
    pub endless: Vec<u32>,
    /// Heads of loops that carry no register from one round to the next.
    pub stateless: Vec<u32>,
}

impl Loops {
    /// The loops of a function; if it is `observed`, all of its registers matter at its end.
    pub fn of(function: &Function, observed: bool) -> Result<Loops, Unsupported> {
        let n = function.body.len();
        let successors = |at: u32| -> Vec<u32> {
            match function.body.get(at as usize) {
                // `while (1)` is left by no way that is ever taken.
                Some(Instr::Branch { condition: Operand::Const(value), then_to, else_to }) => {
                    vec![if value.is_true() { then_to.0 } else { else_to.0 }.min(n as u32)]
                }
                Some(instr) => instr.successors(at).map(|to| to.min(n as u32)).collect(),
                None => Vec::new(),
            }
        };
        let (order, back) = walk(n, &successors);
        let mut loops: BTreeMap<u32, Vec<bool>> = BTreeMap::new();
        for &(from, head) in &back {
            let body = loops.entry(head).or_insert_with(|| vec![false; n + 1]);
            body[head as usize] = true;
            grow(n, &successors, from, body);
        }
        let mut endless = Vec::new();
        for (&head, body) in &loops {
            let mut left = false;
            for at in 0..=n as u32 {
                for to in successors(at) {
                    let (inside, after) = (body[at as usize], body[to as usize]);
                    // Code that nothing reaches does not matter.
                    if !inside && after && to != head && order[at as usize] != u32::MAX {
                        let span = function.spans.get(at as usize).copied().unwrap_or_default();
                        return Err(Unsupported { what: "a jump into the middle of a loop".into(), span });
                    }
                    left |= inside && !after;
                }
            }
            if !left {
                endless.push(head);
            }
        }
        let size = |head: &u32| loops[head].iter().filter(|inside| **inside).count();
        let nest = (0..=n)
            .map(|at| {
                let mut heads: Vec<u32> =
                    loops.iter().filter(|(_, body)| body[at]).map(|(head, _)| *head).collect();
                heads.sort_by_key(|head| std::cmp::Reverse(size(head)));
                heads
            })
            .collect();
        let live = live_registers(function, observed, &successors);
        let carries = |head: u32, body: &[bool]| {
            let mut carries = false;
            for (_, instr) in function.body.iter().enumerate().filter(|(at, _)| body[*at]) {
                instr.for_each_definition(|reg| carries |= live[head as usize][reg.0 as usize]);
            }
            carries
        };
        let stateless = loops.iter().filter(|(head, body)| !carries(**head, body)).map(|(head, _)| *head);
        let stateless = stateless.collect();
        Ok(Loops { order, nest, endless, stateless })
    }
}

/// The registers whose values may matter before each instruction, and at the end.
fn live_registers(
    function: &Function,
    observed: bool,
    successors: &dyn Fn(u32) -> Vec<u32>,
) -> Vec<Vec<bool>> {
    let n = function.body.len();
    let end = vec![observed; function.regs.len()];
    let mut live = vec![vec![false; function.regs.len()]; n];
    live.push(end.clone());
    let mut changed = true;
    while changed {
        changed = false;
        for at in (0..n).rev() {
            let next = successors(at as u32);
            let mut after = if next.is_empty() { end.clone() } else { vec![false; end.len()] };
            for to in next {
                after.iter_mut().zip(&live[to as usize]).for_each(|(a, b)| *a |= b);
            }
            function.body[at].for_each_definition(|reg| after[reg.0 as usize] = false);
            function.body[at].for_each_use(|reg| after[reg.0 as usize] = true);
            changed |= live[at] != after;
            live[at] = after;
        }
    }
    live
}

/// Reverse postorder (`MAX` for what is not reached), and the edges that close loops.
fn walk(n: usize, successors: &dyn Fn(u32) -> Vec<u32>) -> (Vec<u32>, Vec<(u32, u32)>) {
    let (mut order, mut open) = (vec![u32::MAX; n + 1], vec![false; n + 1]);
    let mut seen = vec![false; n + 1];
    let (mut back, mut next) = (Vec::new(), n as u32 + 1);
    let mut path = vec![(0u32, successors(0))];
    (seen[0], open[0]) = (true, true);
    while let Some((at, rest)) = path.last_mut() {
        let at = *at;
        match rest.pop() {
            None => {
                next -= 1;
                order[at as usize] = next;
                open[at as usize] = false;
                path.pop();
            }
            Some(to) if open[to as usize] => back.push((at, to)),
            Some(to) if seen[to as usize] => {}
            Some(to) => {
                (seen[to as usize], open[to as usize]) = (true, true);
                path.push((to, successors(to)));
            }
        }
    }
    (order, back)
}

/// Adds to a loop what reaches `from` without passing its head.
fn grow(n: usize, successors: &dyn Fn(u32) -> Vec<u32>, from: u32, body: &mut [bool]) {
    let mut before = vec![Vec::new(); n + 1];
    for at in 0..=n as u32 {
        for to in successors(at) {
            before[to as usize].push(at);
        }
    }
    let mut work = vec![from];
    while let Some(at) = work.pop() {
        if !std::mem::replace(&mut body[at as usize], true) {
            work.extend(&before[at as usize]);
        }
    }
}
