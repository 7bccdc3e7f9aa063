//! Evaluation of a model over an execution.
//!
//! There are two implementations: `small` for at most 64 events, which is what nearly all executions have, and the one here, on
//! [`Relation`] and without tricks, for all; tests compare the two.
//!
//! A [`Checker`] keeps the value of every node that does not depend on `rf` or `co`, so judging the many candidates
//! over one choice of thread traces computes program order, fences and dependencies once. Nodes are computed in the
//! order of their numbers; the nodes inside a `let rec` are computed again in each round of its iteration, which starts
//! from the empty relations and ends at the least solution because lowering admits positive bodies only (Knaster and
//! Tarski; at most as many rounds as there are pairs).

mod small;

use crate::ast::{Question, Role};
use crate::base::BaseRelation;
use crate::graph::{Graph, GroupId, Node, NodeId, Sort};
use crate::lower::{Check, Lowered};
use crate::{Judgement, Model};
use fencepost_ir::{Execution, Relation};
use small::Small;

/// A set of events as words of bits.
#[derive(Clone, PartialEq, Eq, Debug)]
struct EventSet(Vec<u64>);

#[derive(Clone, PartialEq, Eq, Debug)]
enum Value {
    Set(EventSet),
    Relation(Relation),
}

/// The evaluation order of a model, computed once.
#[derive(Clone, Debug)]
pub struct Plan {
    /// Per check: what it needs outside of `let rec` bodies, in order.
    checks: Vec<Vec<NodeId>>,
    /// Per group: the nodes of its bodies, in order.
    groups: Vec<Vec<NodeId>>,
}

impl Plan {
    /// The plan of a lowered model.
    pub fn new(lowered: &Lowered) -> Plan {
        let graph = &lowered.graph;
        let checks = lowered.checks.iter().map(|check| outermost(graph, &[check.node])).collect();
        let groups = (0..graph.group_count() as GroupId)
            .map(|g| {
                let mut nodes = graph.needed(&graph.group(g).bodies);
                nodes.retain(|&id| graph.facts(id).owner() == Some(g));
                nodes
            })
            .collect();
        Plan { checks, groups }
    }
}

/// What `roots` need outside of `let rec` bodies.
fn outermost(graph: &Graph, roots: &[NodeId]) -> Vec<NodeId> {
    let mut nodes = graph.needed(roots);
    nodes.retain(|&id| graph.facts(id).owner().is_none());
    nodes
}

/// Judges executions that have the same events, program order and dependencies and differ in `rf` and `co`.
pub struct Checker<'m> {
    model: &'m Model,
    n: usize,
    values: Vec<Option<Value>>,
    /// What replaces the values if there are few enough events.
    small: Option<Small>,
    /// What depends on `rf` or `co`.
    dynamic: Vec<NodeId>,
}

/// A given relation, without a copy where the execution has it.
fn events_of(base: BaseRelation, execution: &Execution) -> std::borrow::Cow<'_, Relation> {
    use std::borrow::Cow::{Borrowed, Owned};
    match base {
        BaseRelation::Po => Borrowed(&execution.po),
        BaseRelation::Rf => Borrowed(&execution.rf),
        BaseRelation::Co => Borrowed(&execution.co),
        _ => Owned(base.of(execution)),
    }
}

impl<'m> Checker<'m> {
    /// A checker for executions with the events, program order and dependencies of `execution`.
    pub fn new(model: &'m Model, execution: &Execution) -> Checker<'m> {
        let graph = &model.lowered.graph;
        let n = execution.events.len();
        let ids = (0..graph.node_count()).map(|i| NodeId(i as u32));
        let mut dynamic: Vec<NodeId> = ids.filter(|&id| graph.facts(id).dynamic).collect();
        // A variable changes with its bodies.
        dynamic.extend((0..graph.group_count()).flat_map(|g| graph.group(g as GroupId).variables.clone()));
        let small = (n <= small::MOST_EVENTS).then(|| Small::new(graph, n));
        let values = if small.is_some() { Vec::new() } else { vec![None; graph.node_count()] };
        Checker { model, n, values, small, dynamic }
    }

    /// The same by the implementation without tricks, however few events there are: an oracle.
    pub fn without_tricks(model: &'m Model, execution: &Execution) -> Checker<'m> {
        let values = vec![None; model.lowered.graph.node_count()];
        Checker { values, small: None, ..Checker::new(model, execution) }
    }

    /// The flags of the execution that was found consistent last.
    pub fn flags_of_consistent(&mut self, execution: &Execution) -> Judgement {
        let mut judgement = Judgement { consistent: true, ..Judgement::default() };
        self.flags(execution, &mut judgement);
        judgement
    }

    /// True if all axioms hold; stops at the first that does not.
    pub fn consistent(&mut self, execution: &Execution) -> bool {
        self.forget();
        let checks = &self.model.lowered.checks;
        (0..checks.len()).all(|i| checks[i].role != Role::Axiom || self.holds(i, execution))
    }

    /// True if all axioms hold whose violation is final by their syntax: if not, no execution with the same events and more edges
    /// is consistent.
    pub fn extendable(&mut self, execution: &Execution) -> bool {
        self.forget();
        let checks = &self.model.lowered.checks;
        (0..checks.len()).all(|i| {
            checks[i].role != Role::Axiom || !self.model.is_final(&checks[i]) || self.holds(i, execution)
        })
    }

    /// The whole judgement. Flags are raised on consistent executions only.
    pub fn judge(&mut self, execution: &Execution) -> Judgement {
        self.forget();
        let mut judgement = Judgement::default();
        let checks: &[Check] = &self.model.lowered.checks;
        for (i, check) in checks.iter().enumerate() {
            if check.role == Role::Axiom && !self.holds(i, execution) {
                judgement.failed.push(check.name.clone());
            }
        }
        judgement.consistent = judgement.failed.is_empty();
        if judgement.consistent {
            self.flags(execution, &mut judgement);
        }
        judgement
    }

    fn flags(&mut self, execution: &Execution, judgement: &mut Judgement) {
        for (i, check) in self.model.lowered.checks.iter().enumerate() {
            let raised = match check.role {
                Role::Axiom => false,
                Role::Flag => self.holds(i, execution),
                Role::UndefinedUnless => !self.holds(i, execution),
            };
            if raised {
                judgement.flags.push(check.name.clone());
                judgement.undefined |= check.role == Role::UndefinedUnless;
            }
        }
    }

    /// Forgets what depends on `rf` and `co`.
    fn forget(&mut self) {
        for &id in &self.dynamic {
            match &mut self.small {
                Some(small) => small.forget(id),
                None => self.values[id.0 as usize] = None,
            }
        }
    }

    fn holds(&mut self, check: usize, execution: &Execution) -> bool {
        let model = self.model;
        for &id in &model.plan.checks[check] {
            self.compute(id, execution);
        }
        let check = &model.lowered.checks[check];
        if let Some(small) = &self.small {
            let is_set = model.lowered.graph.facts(check.node).sort == Sort::Set;
            let truth = match check.question {
                Question::Empty => small.is_empty(check.node),
                _ if is_set => small.is_empty(check.node),
                Question::Irreflexive => small.is_irreflexive(check.node),
                Question::Acyclic => small.is_acyclic(check.node),
            };
            return truth != check.negated;
        }
        let truth = match (&self.values[check.node.0 as usize], check.question) {
            (Some(Value::Set(set)), _) => set.0.iter().all(|&w| w == 0),
            (Some(Value::Relation(r)), Question::Empty) => r.has_no_pairs(),
            (Some(Value::Relation(r)), Question::Irreflexive) => r.is_irreflexive(),
            (Some(Value::Relation(r)), Question::Acyclic) => r.is_acyclic(),
            (None, _) => unreachable!("the plan covers the node of its check"),
        };
        truth != check.negated
    }

    /// The value of a named set (as part of the identity) or relation.
    pub(crate) fn named(&mut self, node: NodeId, execution: &Execution) -> Relation {
        self.forget();
        for id in outermost(&self.model.lowered.graph, &[node]) {
            self.compute(id, execution);
        }
        if let Some(small) = &self.small {
            let (rows, n) = (small.rows(node), self.n);
            return match self.model.lowered.graph.facts(node).sort {
                Sort::Relation => Relation::from_fn(n, |i, j| rows[i] >> j & 1 != 0),
                Sort::Set => Relation::from_fn(n, |i, j| i == j && rows[0] >> i & 1 != 0),
            };
        }
        match &self.values[node.0 as usize] {
            Some(Value::Relation(r)) => r.clone(),
            _ => self.on_set(node),
        }
    }

    fn compute(&mut self, id: NodeId, execution: &Execution) {
        if let Some(small) = &mut self.small {
            small.compute(&self.model.lowered.graph, &self.model.plan, id, execution);
            return;
        }
        if self.values[id.0 as usize].is_none() {
            let value = self.value(id, execution);
            self.values[id.0 as usize] = Some(value);
        }
    }

    fn relation(&self, id: NodeId) -> &Relation {
        match &self.values[id.0 as usize] {
            Some(Value::Relation(relation)) => relation,
            _ => unreachable!("operands come before operators, and sorts were checked"),
        }
    }

    fn set(&self, id: NodeId) -> &EventSet {
        match &self.values[id.0 as usize] {
            Some(Value::Set(set)) => set,
            _ => unreachable!("operands come before operators, and sorts were checked"),
        }
    }

    fn value(&mut self, id: NodeId, execution: &Execution) -> Value {
        let graph = &self.model.lowered.graph;
        let sort = graph.facts(id).sort;
        match graph.node(id) {
            Node::Set(base) => Value::Set(self.set_of(|i| base.contains(execution, i))),
            Node::Relation(base) => Value::Relation(base.of(execution)),
            Node::Empty(sort) => self.empty(sort),
            Node::Union(a, b) => self.boolean(sort, a, b, |a, b| a | b, Relation::union),
            Node::Intersection(a, b) => self.boolean(sort, a, b, |a, b| a & b, Relation::intersection),
            Node::Difference(a, b) => self.boolean(sort, a, b, |a, b| a & !b, Relation::difference),
            Node::Complement(a) if sort == Sort::Set => {
                Value::Set(self.set_of(|i| self.set(a).0[i / 64] >> (i % 64) & 1 == 0))
            }
            Node::Complement(a) => Value::Relation(Relation::full(self.n).difference(self.relation(a))),
            Node::Sequence(a, b) => Value::Relation(self.relation(a).compose(self.relation(b))),
            Node::Inverse(a) => Value::Relation(self.relation(a).inverse()),
            Node::Plus(a) => Value::Relation(self.relation(a).transitive_closure()),
            Node::Star(a) => Value::Relation(self.relation(a).reflexive_transitive_closure()),
            Node::Optional(a) => Value::Relation(self.relation(a).union(&Relation::identity(self.n))),
            Node::Product(a, b) => {
                let (a, b) = (self.set(a), self.set(b));
                let mut r = Relation::new(self.n);
                for i in members(a) {
                    members(b).for_each(|j| r.insert(i, j));
                }
                Value::Relation(r)
            }
            Node::Identity(a) => Value::Relation(self.on_set(a)),
            Node::Domain(a) => {
                let r = self.relation(a);
                Value::Set(self.set_of(|i| r.row(i).iter().any(|&w| w != 0)))
            }
            Node::Range(a) => {
                let mut bits = vec![0; self.n.div_ceil(64)];
                let r = self.relation(a);
                for i in 0..self.n {
                    bits.iter_mut().zip(r.row(i)).for_each(|(b, &w)| *b |= w);
                }
                Value::Set(EventSet(bits))
            }
            Node::Recursive { .. } => unreachable!("set by the iteration of its group"),
            Node::Fixpoint { group, index } => {
                self.iterate(group, execution);
                let variable = graph.group(group).variables[index as usize];
                self.values[variable.0 as usize].clone().unwrap_or_else(|| self.empty(sort))
            }
        }
    }

    /// Kleene iteration from the empty relations; leaves the solutions in the variables.
    fn iterate(&mut self, group: GroupId, execution: &Execution) {
        let model = self.model;
        let graph = &model.lowered.graph;
        let variables = &graph.group(group).variables;
        for &variable in variables {
            self.values[variable.0 as usize] = Some(self.empty(graph.facts(variable).sort));
        }
        loop {
            for &id in &model.plan.groups[group as usize] {
                if !matches!(graph.node(id), Node::Recursive { group: g, .. } if g == group) {
                    self.values[id.0 as usize] = None;
                    self.compute(id, execution);
                }
            }
            let mut stable = true;
            for (&variable, &body) in variables.iter().zip(&graph.group(group).bodies) {
                if self.values[variable.0 as usize] != self.values[body.0 as usize] {
                    stable = false;
                }
            }
            if stable {
                return;
            }
            for (&variable, &body) in variables.iter().zip(&graph.group(group).bodies) {
                let value = self.values[body.0 as usize].clone();
                self.values[variable.0 as usize] = value;
            }
        }
    }

    fn boolean(
        &self,
        sort: Sort,
        a: NodeId,
        b: NodeId,
        words: fn(u64, u64) -> u64,
        relations: fn(&Relation, &Relation) -> Relation,
    ) -> Value {
        match sort {
            Sort::Set => {
                let (a, b) = (self.set(a), self.set(b));
                Value::Set(EventSet(a.0.iter().zip(&b.0).map(|(&a, &b)| words(a, b)).collect()))
            }
            Sort::Relation => Value::Relation(relations(self.relation(a), self.relation(b))),
        }
    }

    fn empty(&self, sort: Sort) -> Value {
        match sort {
            Sort::Set => Value::Set(EventSet(vec![0; self.n.div_ceil(64)])),
            Sort::Relation => Value::Relation(Relation::new(self.n)),
        }
    }

    fn set_of(&self, holds: impl Fn(usize) -> bool) -> EventSet {
        let mut bits = vec![0; self.n.div_ceil(64)];
        (0..self.n).filter(|&i| holds(i)).for_each(|i| bits[i / 64] |= 1 << (i % 64));
        EventSet(bits)
    }

    fn on_set(&self, set: NodeId) -> Relation {
        let mut r = Relation::new(self.n);
        members(self.set(set)).for_each(|i| r.insert(i, i));
        r
    }
}

fn members(set: &EventSet) -> impl Iterator<Item = usize> + '_ {
    (0..set.0.len() * 64).filter(|&i| set.0[i / 64] >> (i % 64) & 1 != 0)
}
