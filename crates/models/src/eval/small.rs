//! The values of all nodes over at most 64 events: a row is one word, and every node has a fixed place, so that judging a
//! candidate allocates nothing. A set is one word, a relation one per event. Operands have smaller numbers than what is made
//! of them, so one cut through the values separates what is read from what is written.

use super::{Plan, events_of};
use crate::graph::{Graph, GroupId, Node, NodeId, Sort};
use fencepost_ir::Execution;

/// Most events that a row has room for.
pub const MOST_EVENTS: usize = 64;

/// The values.
pub struct Small {
    n: usize,
    words: Vec<u64>,
    /// Where each node's value begins; one more for the end of the last.
    places: Vec<u32>,
    known: Vec<bool>,
}

impl Small {
    pub fn new(graph: &Graph, n: usize) -> Small {
        let mut places = Vec::with_capacity(graph.node_count() + 1);
        let mut end = 0;
        for i in 0..graph.node_count() {
            places.push(end);
            end += match graph.facts(NodeId(i as u32)).sort {
                Sort::Set => 1,
                Sort::Relation => n as u32,
            };
        }
        places.push(end);
        let known = vec![false; graph.node_count()];
        Small { n, words: vec![0; end as usize], places, known }
    }

    pub fn forget(&mut self, id: NodeId) {
        self.known[id.0 as usize] = false;
    }

    /// The rows of a relation, or the word of a set.
    pub fn rows(&self, id: NodeId) -> &[u64] {
        &self.words[self.places[id.0 as usize] as usize..self.places[id.0 as usize + 1] as usize]
    }

    pub fn is_empty(&self, id: NodeId) -> bool {
        self.rows(id).iter().all(|&row| row == 0)
    }

    pub fn is_irreflexive(&self, id: NodeId) -> bool {
        self.rows(id).iter().enumerate().all(|(i, row)| row >> i & 1 == 0)
    }

    /// Takes away events without successors that are left until there are none, or none can go.
    pub fn is_acyclic(&self, id: NodeId) -> bool {
        let rows = self.rows(id);
        let mut left = all(self.n);
        loop {
            let mut stay = 0;
            for i in members(left) {
                stay |= u64::from(rows[i] & left != 0) << i;
            }
            if stay == 0 || stay == left {
                return stay == 0;
            }
            left = stay;
        }
    }

    /// Computes a node whose operands are known.
    pub fn compute(&mut self, graph: &Graph, plan: &Plan, id: NodeId, execution: &Execution) {
        if self.known[id.0 as usize] {
            return;
        }
        if let Node::Fixpoint { group, index } = graph.node(id) {
            // The other variables were solved together with the first that was asked for; within other recursion they change.
            let solved = self.known[graph.group(group).variables[0].0 as usize];
            if !solved || graph.facts(id).owner().is_some() {
                self.iterate(graph, plan, group, execution);
            }
            self.copy(graph.group(group).variables[index as usize], id);
        } else {
            self.operate(graph, id, execution);
        }
        self.known[id.0 as usize] = true;
    }

    fn copy(&mut self, from: NodeId, to: NodeId) {
        let (from, to) = (from.0 as usize, to.0 as usize);
        let range = self.places[from] as usize..self.places[from + 1] as usize;
        self.words.copy_within(range, self.places[to] as usize);
    }

    /// Kleene iteration from the empty relations; leaves the solutions in the variables.
    fn iterate(&mut self, graph: &Graph, plan: &Plan, group: GroupId, execution: &Execution) {
        let known = graph.group(group);
        for &variable in &known.variables {
            let at = variable.0 as usize;
            self.words[self.places[at] as usize..self.places[at + 1] as usize].fill(0);
            self.known[at] = true;
        }
        loop {
            for &id in &plan.groups[group as usize] {
                if !matches!(graph.node(id), Node::Recursive { group: g, .. } if g == group) {
                    self.forget(id);
                    self.compute(graph, plan, id, execution);
                }
            }
            let pairs = || known.variables.iter().zip(&known.bodies);
            if pairs().all(|(&variable, &body)| self.rows(variable) == self.rows(body)) {
                return;
            }
            // All variables change together: no body is a variable of the group that has changed already.
            let bodies: Vec<(NodeId, Vec<u64>)> =
                pairs().map(|(&v, &b)| (v, self.rows(b).to_vec())).collect();
            for (variable, rows) in bodies {
                let at = self.places[variable.0 as usize] as usize;
                self.words[at..at + rows.len()].copy_from_slice(&rows);
            }
        }
    }

    fn operate(&mut self, graph: &Graph, id: NodeId, execution: &Execution) {
        let (n, places) = (self.n, &self.places);
        let (before, rest) = self.words.split_at_mut(places[id.0 as usize] as usize);
        let out = &mut rest[..(places[id.0 as usize + 1] - places[id.0 as usize]) as usize];
        let value = |id: NodeId| &before[places[id.0 as usize] as usize..places[id.0 as usize + 1] as usize];
        let zip = |out: &mut [u64], a: NodeId, b: NodeId, f: fn(u64, u64) -> u64| {
            for (out, (&a, &b)) in out.iter_mut().zip(value(a).iter().zip(value(b))) {
                *out = f(a, b);
            }
        };
        match graph.node(id) {
            Node::Set(base) => {
                out[0] = (0..n).fold(0, |set, i| set | u64::from(base.contains(execution, i)) << i);
            }
            Node::Relation(base) => {
                let relation = events_of(base, execution);
                for (i, out) in out.iter_mut().enumerate() {
                    *out = relation.row(i).first().copied().unwrap_or(0);
                }
            }
            Node::Empty(_) => out.fill(0),
            Node::Union(a, b) => zip(out, a, b, |a, b| a | b),
            Node::Intersection(a, b) => zip(out, a, b, |a, b| a & b),
            Node::Difference(a, b) => zip(out, a, b, |a, b| a & !b),
            Node::Complement(a) => out.iter_mut().zip(value(a)).for_each(|(out, a)| *out = !a & all(n)),
            Node::Sequence(a, b) => compose(out, value(a), value(b)),
            Node::Inverse(a) => {
                out.fill(0);
                for (i, &row) in value(a).iter().enumerate() {
                    members(row).for_each(|j| out[j] |= 1 << i);
                }
            }
            Node::Plus(a) => {
                out.copy_from_slice(value(a));
                close(out);
            }
            Node::Star(a) => {
                out.copy_from_slice(value(a));
                close(out);
                out.iter_mut().enumerate().for_each(|(i, row)| *row |= 1 << i);
            }
            Node::Optional(a) => {
                out.iter_mut().zip(value(a)).enumerate().for_each(|(i, (out, a))| *out = a | 1 << i);
            }
            Node::Product(a, b) => {
                let (a, b) = (value(a)[0], value(b)[0]);
                out.iter_mut().enumerate().for_each(|(i, row)| *row = if a >> i & 1 != 0 { b } else { 0 });
            }
            Node::Identity(a) => {
                let a = value(a)[0];
                out.iter_mut().enumerate().for_each(|(i, row)| *row = a & 1 << i);
            }
            Node::Domain(a) => {
                let rows = value(a).iter().enumerate();
                out[0] = rows.fold(0, |set, (i, &row)| set | u64::from(row != 0) << i);
            }
            Node::Range(a) => out[0] = value(a).iter().fold(0, |set, &row| set | row),
            Node::Recursive { .. } => unreachable!("set by the iteration of its group"),
            Node::Fixpoint { .. } => unreachable!("iterated by the caller"),
        }
    }
}

fn all(n: usize) -> u64 {
    if n >= 64 { u64::MAX } else { (1 << n) - 1 }
}

fn members(mut set: u64) -> impl Iterator<Item = usize> {
    std::iter::from_fn(move || {
        let first = (set != 0).then(|| set.trailing_zeros() as usize)?;
        set &= set - 1;
        Some(first)
    })
}

fn compose(out: &mut [u64], a: &[u64], b: &[u64]) {
    for (out, &row) in out.iter_mut().zip(a) {
        *out = members(row).fold(0, |all, j| all | b[j]);
    }
}

/// Transitive closure in place (Warshall).
fn close(rows: &mut [u64]) {
    for k in 0..rows.len() {
        let through = rows[k];
        if through != 0 {
            for row in rows.iter_mut() {
                *row |= if *row >> k & 1 != 0 { through } else { 0 };
            }
        }
    }
}
