//! What may be in the sets and relations of a model, and which pairs anybody asks about: before any gate is made.
//!
//! *May* goes upwards: what does not depend on `rf` or `co` is there already as gates, and what does is bounded by the pairs that
//! its operands may have. *Wanted* goes downwards from the questions: a pair of a relation is wanted if it can be part of a
//! wanted pair of another one. Gates are made for pairs that may be and are wanted, so that a rule which cannot reach an axiom
//! costs nothing.

use crate::gates::Value;
use fencepost_ir::Relation;
use fencepost_models::graph::{Graph, Node, NodeId, Sort};

/// What may be in a set or a relation.
#[derive(Clone, PartialEq, Debug)]
pub enum May {
    /// The members.
    Set(Vec<bool>),
    /// The pairs.
    Relation(Relation),
}

/// What may be in each operation of a model.
pub struct Bounds<'m> {
    graph: &'m Graph,
    n: usize,
    may: Vec<Option<May>>,
    /// Which pairs of a relation are asked about; nobody asks about the others.
    wanted: Vec<Option<Relation>>,
}

impl<'m> Bounds<'m> {
    /// Nothing is known yet of any operation.
    pub fn new(graph: &'m Graph, n: usize) -> Bounds<'m> {
        let count = graph.node_count();
        Bounds { graph, n, may: vec![None; count], wanted: vec![None; count] }
    }

    /// What is known of an operation whose gates are there.
    pub fn know(&mut self, id: NodeId, value: &Value) {
        self.may[id.0 as usize] = Some(match value {
            Value::Set(members) => {
                May::Set(members.iter().map(|&lit| lit.as_constant() != Some(false)).collect())
            }
            Value::Relation(pairs) => May::Relation(pairs.possible()),
        });
    }

    /// The pairs that may be in a relation.
    pub fn may(&self, id: NodeId) -> Relation {
        match &self.may[id.0 as usize] {
            Some(May::Relation(relation)) => relation.clone(),
            _ => Relation::new(self.n),
        }
    }

    fn set(&self, id: NodeId) -> Vec<bool> {
        match &self.may[id.0 as usize] {
            Some(May::Set(members)) => members.clone(),
            _ => vec![false; self.n],
        }
    }

    /// Bounds what depends on `rf` or `co`, operands first. Groups of recursive definitions grow from nothing until they are
    /// closed.
    pub fn spread(&mut self, order: &[NodeId]) {
        for &id in order {
            if self.may[id.0 as usize].is_some() {
                continue;
            }
            if let Node::Fixpoint { group, .. } = self.graph.node(id) {
                self.close(group);
            }
            let bound = self.bound(id);
            self.may[id.0 as usize] = Some(bound);
        }
    }

    /// The least solution of a `let rec` over what may be.
    fn close(&mut self, group: u32) {
        let of = self.graph.group(group).clone();
        for &variable in &of.variables {
            self.may[variable.0 as usize] = Some(self.nothing(variable));
        }
        let mut inner = self.graph.needed(&of.bodies);
        inner.retain(|&id| self.graph.facts(id).mentions(group) && !of.variables.contains(&id));
        loop {
            for &id in &inner {
                self.may[id.0 as usize] = Some(self.bound(id));
            }
            let mut changed = false;
            for (&variable, &body) in of.variables.iter().zip(&of.bodies) {
                changed |= self.may[variable.0 as usize] != self.may[body.0 as usize];
                self.may[variable.0 as usize] = self.may[body.0 as usize].clone();
            }
            if !changed {
                return;
            }
        }
    }

    fn nothing(&self, id: NodeId) -> May {
        match self.graph.facts(id).sort {
            Sort::Set => May::Set(vec![false; self.n]),
            Sort::Relation => May::Relation(Relation::new(self.n)),
        }
    }

    fn bound(&self, id: NodeId) -> May {
        let is_set = self.graph.facts(id).sort == Sort::Set;
        let members = |holds: &dyn Fn(usize) -> bool| May::Set((0..self.n).map(holds).collect());
        match self.graph.node(id) {
            Node::Set(_) | Node::Relation(_) | Node::Empty(_) | Node::Recursive { .. } => {
                self.may[id.0 as usize].clone().unwrap_or_else(|| self.nothing(id))
            }
            Node::Union(a, b) if is_set => {
                let (a, b) = (self.set(a), self.set(b));
                members(&|i| a[i] || b[i])
            }
            Node::Intersection(a, b) if is_set => {
                let (a, b) = (self.set(a), self.set(b));
                members(&|i| a[i] && b[i])
            }
            Node::Difference(a, _) if is_set => May::Set(self.set(a)),
            Node::Complement(_) if is_set => members(&|_| true),
            Node::Union(a, b) => May::Relation(self.may(a).union(&self.may(b))),
            Node::Intersection(a, b) => May::Relation(self.may(a).intersection(&self.may(b))),
            Node::Difference(a, _) => May::Relation(self.may(a)),
            Node::Complement(_) => May::Relation(Relation::full(self.n)),
            Node::Sequence(a, b) => May::Relation(self.may(a).compose(&self.may(b))),
            Node::Inverse(a) => May::Relation(self.may(a).inverse()),
            Node::Plus(a) => May::Relation(self.may(a).transitive_closure()),
            Node::Star(a) => May::Relation(self.may(a).reflexive_transitive_closure()),
            Node::Optional(a) => May::Relation(self.may(a).union(&Relation::identity(self.n))),
            Node::Product(a, b) => {
                let (a, b) = (self.set(a), self.set(b));
                May::Relation(Relation::from_fn(self.n, |i, j| a[i] && b[j]))
            }
            Node::Identity(a) => {
                let a = self.set(a);
                May::Relation(Relation::from_fn(self.n, |i, j| i == j && a[i]))
            }
            Node::Domain(a) => {
                let a = self.may(a);
                members(&|i| a.successors(i).next().is_some())
            }
            Node::Range(a) => {
                let a = self.may(a).inverse();
                members(&|i| a.successors(i).next().is_some())
            }
            Node::Fixpoint { group, index } => {
                let body = self.graph.group(group).bodies[index as usize];
                self.may[body.0 as usize].clone().unwrap_or_else(|| self.nothing(id))
            }
        }
    }

    /// Somebody asks about pairs of a relation.
    pub fn want(&mut self, id: NodeId, pairs: &Relation) {
        let new = self.may(id).intersection(pairs);
        let wanted = &mut self.wanted[id.0 as usize];
        *wanted = Some(match wanted {
            Some(known) => known.union(&new),
            None => new,
        });
    }

    /// Hands what is wanted down to the operands, users first.
    pub fn hand_down(&mut self, order: &[NodeId]) {
        let full = Relation::full(self.n);
        for &id in order.iter().rev() {
            let Some(wanted) = self.wanted[id.0 as usize].clone() else { continue };
            match self.graph.node(id) {
                Node::Union(a, b) | Node::Difference(a, b) | Node::Intersection(a, b) => {
                    let both = match self.graph.node(id) {
                        Node::Intersection(..) => {
                            wanted.intersection(&self.may(a)).intersection(&self.may(b))
                        }
                        _ => wanted,
                    };
                    self.want(a, &both);
                    self.want(b, &both);
                }
                Node::Complement(a) | Node::Optional(a) => self.want(a, &wanted),
                Node::Sequence(a, b) => {
                    let first = wanted.compose(&self.may(b).inverse());
                    let second = self.may(a).inverse().compose(&wanted);
                    self.want(a, &first);
                    self.want(b, &second);
                }
                Node::Inverse(a) => self.want(a, &wanted.inverse()),
                Node::Plus(a) | Node::Star(a) => {
                    let steps = self.on_the_way(a, &wanted);
                    self.want(a, &steps);
                }
                // Sets are made whole, and so are recursive definitions.
                Node::Identity(a) => self.want(a, &full),
                Node::Product(a, b) => {
                    self.want(a, &full);
                    self.want(b, &full);
                }
                Node::Domain(a) | Node::Range(a) => self.want(a, &full),
                Node::Fixpoint { group, .. } => {
                    let inner = self.graph.needed(&self.graph.group(group).bodies);
                    inner.into_iter().for_each(|id| self.want(id, &full));
                }
                _ => {}
            }
        }
    }

    /// The steps of a relation that are on a way from the first to the second of a wanted pair.
    fn on_the_way(&self, id: NodeId, wanted: &Relation) -> Relation {
        let steps = self.may(id);
        let back = steps.reflexive_transitive_closure().inverse();
        back.compose(wanted).compose(&back).intersection(&steps)
    }

    /// The pairs that are asked about.
    pub fn wanted(&self, id: NodeId) -> Relation {
        self.wanted[id.0 as usize].clone().unwrap_or_else(|| Relation::new(self.n))
    }
}
