//! Dependencies as reads: what a value was made from, and under which condition.

use fencepost_bmc::aig::{Graph, Lit};
use fencepost_bmc::symbolic::{Dep, DepId, Deps};

/// What the nodes of the dependencies come to: reads, each with its condition.
pub(super) struct Sources {
    pub(super) known: Vec<Option<Vec<(u32, Lit)>>>,
}

impl Sources {
    pub(super) fn of(&mut self, deps: &Deps, graph: &mut Graph, id: DepId) -> Vec<(u32, Lit)> {
        // Operands have smaller numbers: what is missing is computed from below.
        let mut todo = vec![id];
        while let Some(&next) = todo.last() {
            if self.known[next.0 as usize].is_some() {
                todo.pop();
                continue;
            }
            let (a, b, condition) = match deps.get(next) {
                Dep::None => (next, next, None),
                Dep::Read(_) => (next, next, None),
                Dep::Both(a, b) => (a, b, Some(Lit::TRUE)),
                Dep::Choice(condition, a, b) => (a, b, Some(condition)),
            };
            let missing = |id: DepId| id != next && self.known[id.0 as usize].is_none();
            if missing(a) || missing(b) {
                todo.extend([a, b].into_iter().filter(|&id| missing(id)));
                continue;
            }
            let reads = match (deps.get(next), condition) {
                (Dep::Read(event), _) => vec![(event.0, Lit::TRUE)],
                (_, None) => Vec::new(),
                (of, Some(condition)) => {
                    let chooses = matches!(of, Dep::Choice(..));
                    let second = if chooses { !condition } else { Lit::TRUE };
                    let list = |id: DepId| self.known[id.0 as usize].clone().unwrap_or_default();
                    merge(graph, &list(a), condition, &list(b), second)
                }
            };
            self.known[next.0 as usize] = Some(reads);
            todo.pop();
        }
        self.known[id.0 as usize].clone().unwrap_or_default()
    }
}

/// Two lists of reads, each under a condition, as one.
fn merge(graph: &mut Graph, a: &[(u32, Lit)], on: Lit, b: &[(u32, Lit)], other: Lit) -> Vec<(u32, Lit)> {
    let mut all: Vec<(u32, Lit)> = a.iter().map(|&(read, lit)| (read, graph.and(lit, on))).collect();
    for &(read, lit) in b {
        let lit = graph.and(lit, other);
        match all.iter_mut().find(|(known, _)| *known == read) {
            Some((_, known)) => *known = graph.or(*known, lit),
            None => all.push((read, lit)),
        }
    }
    all
}
