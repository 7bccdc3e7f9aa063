//! Are all store buffers bounded? They are if no loop stores without passing something that empties the buffer.
//!
//! The control-flow graph of all functions together, calls and returns being edges: a loop that has a store on it and
//! nothing that drains. Returning to every caller is a coarse picture, so the answer may be *no* for a program whose
//! buffers are bounded; then a bound is set, and the search says whether a store ever found its buffer full.

use crate::config::{FenceEffect, Model, fence_effect};
use fencepost_ir::{Callee, Instr, Program};

/// True if no run fills a buffer without end.
pub fn buffers_are_bounded(program: &Program, model: Model, spawn_fences: bool) -> bool {
    if model == Model::Sc {
        return true;
    }
    let graph = Graph::new(program, model, spawn_fences);
    (0..graph.edges.len()).all(|node| !graph.stores[node] || !graph.returns_to(node))
}

struct Graph {
    /// Successors of each instruction, function by function, each function with an end node.
    edges: Vec<Vec<usize>>,
    stores: Vec<bool>,
    drains: Vec<bool>,
}

impl Graph {
    fn new(program: &Program, model: Model, spawn_fences: bool) -> Graph {
        let mut first = Vec::new();
        let mut total = 0;
        for function in &program.functions {
            first.push(total);
            total += function.body.len() + 1;
        }
        let mut graph =
            Graph { edges: vec![Vec::new(); total], stores: vec![false; total], drains: vec![false; total] };
        for (f, function) in program.functions.iter().enumerate() {
            let end = first[f] + function.body.len();
            for (at, instr) in function.body.iter().enumerate() {
                let node = first[f] + at;
                graph.stores[node] = matches!(instr, Instr::Store { .. } | Instr::Unlock(_));
                graph.drains[node] = drains(instr, model, spawn_fences);
                match instr {
                    Instr::Call { callee, .. } => {
                        for callee in callees(callee, program) {
                            graph.edges[node].push(first[callee]);
                            let callee_end = first[callee] + program.functions[callee].body.len();
                            graph.edges[callee_end].push(node + 1);
                        }
                    }
                    Instr::Return(_) => graph.edges[node].push(end),
                    _ => {
                        graph.edges[node].extend(instr.successors(at as u32).map(|to| first[f] + to as usize))
                    }
                }
            }
        }
        graph
    }

    /// True if there is a way from a node back to itself on which nothing drains.
    fn returns_to(&self, node: usize) -> bool {
        let mut seen = vec![false; self.edges.len()];
        let mut open: Vec<usize> = self.edges[node].clone();
        while let Some(at) = open.pop() {
            if at == node {
                return true;
            }
            if !seen[at] && !self.drains[at] {
                seen[at] = true;
                open.extend(&self.edges[at]);
            }
        }
        false
    }
}

fn drains(instr: &Instr, model: Model, spawn_fences: bool) -> bool {
    match instr {
        Instr::Fence(fence) => fence_effect(model, *fence) == FenceEffect::Drain,
        Instr::Rmw { .. }
        | Instr::CompareExchange { .. }
        | Instr::AwaitRmw { .. }
        | Instr::TryLock { .. }
        | Instr::Lock(_)
        | Instr::AtomicBegin
        | Instr::AtomicEnd => true,
        Instr::Spawn { .. } => spawn_fences,
        _ => false,
    }
}

fn callees(callee: &Callee, program: &Program) -> Vec<usize> {
    match callee {
        Callee::Function(function) => vec![function.0 as usize],
        Callee::Pointer(_) => (0..program.functions.len()).collect(),
    }
}
