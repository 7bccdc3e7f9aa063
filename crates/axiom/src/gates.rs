//! A model's graph of operations as gates over the literals of the base relations.
//!
//! All operators are computed exactly, except the closures and recursive definitions of what depends on `rf` or `co`. Those
//! are inputs, one for each pair that may be in and is wanted, with clauses that make them *at least* the least solution:
//!
//! ```text
//! p = r+          r(a, b) => p(a, b);   p(a, b) & r(b, c) => p(a, c)
//! let rec x = f   f(x)(a, b) => x(a, b)
//! ```
//!
//! Where such a relation occurs positively in an axiom that says that something is empty, this is enough: the solver may
//! choose the least solution, and no other choice allows more. So it is where it occurs negatively in what the question claims
//! to be there: a race is a pair that is not ordered. Everywhere else a model is refused ([`Unsupported`]).

use crate::acyclic::forbid_cycles;
use crate::base::Base;
use crate::bounds::Bounds;
use crate::closure::{at_least, without_shortcuts};
use crate::pairs::Pairs;
use fencepost_bmc::aig::{Graph, Lit};
use fencepost_bmc::formula::Formula;
use fencepost_bmc::{Limits, StopReason};
use fencepost_ir::Relation;
use fencepost_models::ast::{Question, Role};
use fencepost_models::base::BaseRelation;
use fencepost_models::graph::{Node, NodeId, Sort};
use fencepost_models::{Check, Model};
use rustc_hash::FxHashMap;

/// A set or a relation.
#[derive(Clone, Debug)]
pub enum Value {
    /// For each event the condition under which it is in.
    Set(Vec<Lit>),
    /// The pairs.
    Relation(Pairs),
}

/// What a model says that has no meaning here.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Unsupported {
    /// What, in words.
    pub what: String,
    /// The operation, to look for its place in the model.
    pub node: NodeId,
}

/// Whether a model has a meaning here, and these of its relations as what has to be small; looks at its text only.
pub fn is_supported(model: &Model, asked: &[NodeId]) -> Result<(), Unsupported> {
    let graph = model.operations();
    let late = late(model);
    for check in axioms(model) {
        if check.negated {
            let what = format!("the axiom `{}`, which wants something to be there,", check.name);
            return Err(Unsupported { what, node: check.node });
        }
        polarity(model, &late, check.node, true)?;
    }
    if let Some(race) = race(model) {
        polarity(model, &late, race, false)?;
    }
    for &node in asked {
        polarity(model, &late, node, true)?;
    }
    for group in 0..graph.group_count() as u32 {
        let inner = graph.needed(&graph.group(group).bodies);
        let other = |id: &&NodeId| matches!(graph.node(**id), Node::Fixpoint { .. });
        if let Some(&node) = inner.iter().find(other) {
            return Err(Unsupported { what: "a recursive definition within another one".into(), node });
        }
    }
    Ok(())
}

/// The checks that executions have to pass.
fn axioms(model: &Model) -> impl Iterator<Item = &Check> {
    model.checks().iter().filter(|check| check.role == Role::Axiom)
}

/// The relation of data races, if the model has one.
fn race(model: &Model) -> Option<NodeId> {
    let node = model.definition("race")?;
    (model.operations().facts(node).sort == Sort::Relation).then_some(node)
}

/// What depends on `rf`, `co` or a recursive definition.
fn late(model: &Model) -> Vec<bool> {
    let graph = model.operations();
    let mut late = vec![false; graph.node_count()];
    for i in 0..graph.node_count() {
        let id = NodeId(i as u32);
        let recursive = matches!(graph.node(id), Node::Recursive { .. } | Node::Fixpoint { .. });
        late[i] =
            recursive || graph.facts(id).dynamic || graph.operands(id).iter().any(|o| late[o.0 as usize]);
    }
    late
}

/// Whether closures and recursive definitions have the sign that they must have.
fn polarity(model: &Model, late: &[bool], root: NodeId, sign: bool) -> Result<(), Unsupported> {
    let graph = model.operations();
    let (mut todo, mut seen) = (vec![(root, sign)], FxHashMap::default());
    while let Some((id, sign)) = todo.pop() {
        if seen.insert((id, sign), ()).is_some() {
            continue;
        }
        let node = graph.node(id);
        if let Node::Relation(BaseRelation::RcuSections) = node {
            return Err(Unsupported { what: "critical sections of RCU".into(), node: id });
        }
        let least =
            matches!(node, Node::Plus(_) | Node::Star(_) | Node::Fixpoint { .. } | Node::Recursive { .. });
        if least && late[id.0 as usize] && !sign {
            let what = "a closure or recursive definition that depends on `rf` or `co`, and of which the model wants there to be \
                        little,";
            return Err(Unsupported { what: what.into(), node: id });
        }
        match node {
            Node::Difference(a, b) => todo.extend([(a, sign), (b, !sign)]),
            Node::Complement(a) => todo.push((a, !sign)),
            _ => todo.extend(graph.operands(id).into_iter().map(|operand| (operand, sign))),
        }
    }
    Ok(())
}

/// What a model says about the events.
pub struct Encoded {
    /// The pairs of events that race, each under a condition that can be made to hold exactly where they do.
    pub races: Vec<(u32, u32, Lit)>,
    /// The relations that were asked for; at least these, where they are closures.
    pub asked: Vec<Pairs>,
}

/// The axioms of a model as clauses, and some of its relations.
pub fn encode(
    model: &Model,
    asked: &[NodeId],
    base: &Base,
    graph: &mut Graph,
    formula: &mut Formula,
    limits: &Limits,
) -> Result<Encoded, StopReason> {
    let operations = model.operations();
    let race = race(model);
    let questions: Vec<(Question, Vec<NodeId>)> = axioms(model)
        .map(|check| match (check.question, operations.node(check.node)) {
            (Question::Acyclic, _) => (Question::Acyclic, steps_of(model, check.node)),
            (Question::Irreflexive, Node::Plus(of)) => (Question::Acyclic, steps_of(model, of)),
            (question, _) => (question, vec![check.node]),
        })
        .collect();
    let roots: Vec<NodeId> = questions
        .iter()
        .flat_map(|(_, nodes)| nodes)
        .copied()
        .chain(race)
        .chain(asked.iter().copied())
        .collect();
    let order = operations.needed(&roots);
    let mut gates = Gates {
        model,
        base,
        graph,
        formula,
        values: vec![None; operations.node_count()],
        bounds: Bounds::new(operations, base.len()),
        late: late(model),
        limits,
        stopped: false,
        scratch: vec![Vec::new(); base.len()],
    };
    let late = gates.late.clone();
    let given = |id: NodeId| matches!(operations.node(id), Node::Set(_) | Node::Relation(_));
    let (later, early): (Vec<NodeId>, Vec<NodeId>) =
        order.iter().partition(|id| late[id.0 as usize] && !given(**id));
    let everything = Relation::full(base.len());
    for &id in &early {
        gates.compute(id, &everything);
        if let Some(value) = &gates.values[id.0 as usize] {
            gates.bounds.know(id, value);
        }
        stop(limits)?;
    }
    gates.bounds.spread(&later);
    for (question, nodes) in &questions {
        gates.want(*question, nodes);
    }
    if let Some(race) = race {
        let once = Relation::from_fn(base.len(), |a, b| a < b);
        gates.bounds.want(race, &once);
    }
    asked.iter().for_each(|&node| gates.bounds.want(node, &everything));
    gates.bounds.hand_down(&later);
    for &id in &later {
        let wanted = gates.bounds.wanted(id);
        gates.compute(id, &wanted);
        stop(limits)?;
    }
    for (question, nodes) in &questions {
        gates.require(*question, nodes);
        stop(limits)?;
    }
    let pairs = race.map(|race| gates.relation(race)).unwrap_or_else(|| Pairs::new(base.len()));
    let races = pairs.iter().filter(|(a, b, _)| a < b).collect();
    Ok(Encoded { races, asked: asked.iter().map(|&node| gates.relation(node)).collect() })
}

fn stop(limits: &Limits) -> Result<(), StopReason> {
    limits.reached().map_or(Ok(()), Err)
}

/// The operands of a union of which a cycle is asked; closures of operands make no other cycles than these.
fn steps_of(model: &Model, root: NodeId) -> Vec<NodeId> {
    let graph = model.operations();
    let (mut steps, mut todo) = (Vec::new(), vec![root]);
    while let Some(id) = todo.pop() {
        match graph.node(id) {
            Node::Union(a, b) => todo.extend([b, a]),
            Node::Plus(a) => todo.push(a),
            _ if steps.contains(&id) => {}
            _ => steps.push(id),
        }
    }
    steps
}

struct Gates<'a> {
    model: &'a Model,
    base: &'a Base,
    graph: &'a mut Graph,
    formula: &'a mut Formula,
    values: Vec<Option<Value>>,
    bounds: Bounds<'a>,
    late: Vec<bool>,
    limits: &'a Limits,
    /// A limit was reached: what comes of it is thrown away.
    stopped: bool,
    /// The ways to each event, while a row of a composition is made.
    scratch: Vec<Vec<Lit>>,
}

impl Gates<'_> {
    fn guard(&self, vertex: u32) -> Lit {
        self.base.vertices[vertex as usize].guard
    }

    fn executed(&mut self, a: u32, b: u32) -> Lit {
        self.base.executed(self.graph, a, b)
    }

    fn relation(&self, id: NodeId) -> Pairs {
        match &self.values[id.0 as usize] {
            Some(Value::Relation(pairs)) => pairs.clone(),
            _ => Pairs::new(self.base.len()),
        }
    }

    fn set(&self, id: NodeId) -> Vec<Lit> {
        match &self.values[id.0 as usize] {
            Some(Value::Set(members)) => members.clone(),
            _ => vec![Lit::FALSE; self.base.len()],
        }
    }

    /// Makes the gates of an operation whose operands are there, for the pairs that are wanted.
    fn compute(&mut self, id: NodeId, wanted: &Relation) {
        if self.values[id.0 as usize].is_some() {
            return;
        }
        let operations = self.model.operations();
        let value = match operations.facts(id).sort {
            Sort::Set => Value::Set(self.members(id)),
            Sort::Relation => Value::Relation(self.pairs(id, wanted)),
        };
        self.values[id.0 as usize] = Some(value);
    }

    fn members(&mut self, id: NodeId) -> Vec<Lit> {
        let n = self.base.len() as u32;
        let vertices = 0..n;
        match self.model.operations().node(id) {
            Node::Set(base) => vertices.map(|v| self.base.member(self.graph, base, v)).collect(),
            Node::Union(a, b) => {
                let both = self.set(a).into_iter().zip(self.set(b));
                both.map(|(a, b)| self.graph.or(a, b)).collect()
            }
            Node::Intersection(a, b) => {
                let both = self.set(a).into_iter().zip(self.set(b));
                both.map(|(a, b)| self.graph.and(a, b)).collect()
            }
            Node::Difference(a, b) => {
                let both = self.set(a).into_iter().zip(self.set(b));
                both.map(|(a, b)| self.graph.and(a, !b)).collect()
            }
            Node::Complement(a) => {
                let of = self.set(a);
                vertices
                    .map(|v| self.graph.and(self.base.vertices[v as usize].guard, !of[v as usize]))
                    .collect()
            }
            Node::Domain(a) => {
                let of = self.relation(a);
                vertices.map(|v| self.some(of.row(v))).collect()
            }
            Node::Range(a) => {
                let of = self.relation(a).inverse();
                vertices.map(|v| self.some(of.row(v))).collect()
            }
            Node::Recursive { .. } => vertices.map(|_| self.graph.input()).collect(),
            Node::Fixpoint { group, index } => {
                self.solve(group);
                self.set(self.model.operations().group(group).variables[index as usize])
            }
            _ => vec![Lit::FALSE; n as usize],
        }
    }

    fn some(&mut self, row: &[(u32, Lit)]) -> Lit {
        let lits: Vec<Lit> = row.iter().map(|(_, lit)| *lit).collect();
        self.graph.or_all(&lits)
    }

    fn pairs(&mut self, id: NodeId, wanted: &Relation) -> Pairs {
        let n = self.base.len();
        match self.model.operations().node(id) {
            Node::Relation(base) => self.base.relation(self.graph, base).unwrap_or_else(|| Pairs::new(n)),
            Node::Union(a, b) => {
                let (a, b) = (self.relation(a), self.relation(b));
                self.both(&a, &b, wanted, |gates, (x, y), p, q| match gates.executed(x, y) {
                    all if p == all || q == all => all,
                    _ => gates.graph.or(p, q),
                })
            }
            Node::Intersection(a, b) => {
                let (a, b) = (self.relation(a), self.relation(b));
                // Whatever is in a relation is executed.
                self.both(&a, &b, wanted, |gates, (x, y), p, q| match gates.executed(x, y) {
                    _ if p == Lit::FALSE || q == Lit::FALSE => Lit::FALSE,
                    all if p == all => q,
                    all if q == all => p,
                    _ => gates.graph.and(p, q),
                })
            }
            Node::Difference(a, b) => {
                let (a, b) = (self.relation(a), self.relation(b));
                self.both(&a, &b, wanted, |gates, (x, y), p, q| match gates.executed(x, y) {
                    all if q == all => Lit::FALSE,
                    _ => gates.graph.and(p, !q),
                })
            }
            Node::Complement(a) => {
                let of = self.relation(a);
                self.make(wanted, |gates, x, y| {
                    let all = gates.executed(x, y);
                    gates.graph.and(all, !of.get(x, y))
                })
            }
            Node::Product(a, b) => {
                let (a, b) = (self.set(a), self.set(b));
                self.make(wanted, |gates, x, y| gates.graph.and(a[x as usize], b[y as usize]))
            }
            Node::Identity(a) => {
                let of = self.set(a);
                self.make(wanted, |_, x, y| if x == y { of[x as usize] } else { Lit::FALSE })
            }
            Node::Inverse(a) => self.relation(a).inverse(),
            Node::Sequence(a, b) => self.compose(&self.relation(a), &self.relation(b), wanted),
            Node::Optional(a) => self.or_identity(self.relation(a)),
            Node::Plus(a) => self.closure(a, wanted),
            Node::Star(a) => {
                let plus = self.closure(a, wanted);
                self.or_identity(plus)
            }
            Node::Recursive { .. } => {
                let may = self.bounds.may(id);
                self.make(&may, |gates, _, _| gates.graph.input())
            }
            Node::Fixpoint { group, index } => {
                self.solve(group);
                self.relation(self.model.operations().group(group).variables[index as usize])
            }
            _ => Pairs::new(n),
        }
    }

    /// A relation pair by pair.
    fn make(&mut self, wanted: &Relation, mut lit: impl FnMut(&mut Self, u32, u32) -> Lit) -> Pairs {
        let mut pairs = Pairs::new(self.base.len());
        for (a, b) in wanted.pairs() {
            let (a, b) = (a as u32, b as u32);
            let lit = lit(self, a, b);
            pairs.push(a, b, lit);
        }
        pairs
    }

    /// A relation whose pairs are made of those of two others.
    fn both(
        &mut self,
        a: &Pairs,
        b: &Pairs,
        wanted: &Relation,
        mut lit: impl FnMut(&mut Self, (u32, u32), Lit, Lit) -> Lit,
    ) -> Pairs {
        let mut pairs = Pairs::new(a.len());
        for x in 0..a.len() as u32 {
            let (mut first, mut second) = (a.row(x).iter().peekable(), b.row(x).iter().peekable());
            loop {
                let y = match (first.peek(), second.peek()) {
                    (None, None) => break,
                    (Some((y, _)), None) | (None, Some((y, _))) => *y,
                    (Some((y, _)), Some((z, _))) => *y.min(z),
                };
                let p = first.next_if(|(to, _)| *to == y).map_or(Lit::FALSE, |(_, lit)| *lit);
                let q = second.next_if(|(to, _)| *to == y).map_or(Lit::FALSE, |(_, lit)| *lit);
                if wanted.contains(x as usize, y as usize) {
                    let lit = lit(self, (x, y), p, q);
                    pairs.push(x, y, lit);
                }
            }
        }
        pairs
    }

    fn or_identity(&mut self, mut pairs: Pairs) -> Pairs {
        for v in 0..self.base.len() as u32 {
            pairs.set(v, v, self.guard(v));
        }
        pairs
    }

    /// Whether there is no time or memory left.
    fn has_to_stop(&mut self) -> bool {
        self.stopped = self.stopped || self.limits.reached().is_some();
        self.stopped
    }

    /// `(x, y)` and `(y, z)`, where each implies that its events are executed.
    fn link(&mut self, (x, p): (u32, Lit), y: u32, (z, q): (u32, Lit)) -> Lit {
        if p == self.executed(x, y) {
            return if x == y { q } else { self.graph.and(self.guard(x), q) };
        }
        if q == self.executed(y, z) {
            return if y == z { p } else { self.graph.and(p, self.guard(z)) };
        }
        self.graph.and(p, q)
    }

    fn compose(&mut self, a: &Pairs, b: &Pairs, wanted: &Relation) -> Pairs {
        let mut pairs = Pairs::new(a.len());
        let mut ways = std::mem::take(&mut self.scratch);
        for x in 0..a.len() as u32 {
            if self.has_to_stop() {
                break;
            }
            for &(y, p) in a.row(x) {
                for &(z, q) in b.row(y).iter().filter(|(z, _)| wanted.contains(x as usize, *z as usize)) {
                    let lit = self.link((x, p), y, (z, q));
                    ways[z as usize].push(lit);
                }
            }
            for (z, ways) in (0u32..).zip(&mut ways).filter(|(_, ways)| !ways.is_empty()) {
                ways.sort_unstable();
                ways.dedup();
                let all = self.executed(x, z);
                let lit = if ways.contains(&all) { all } else { self.graph.or_all(ways) };
                pairs.push(x, z, lit);
                ways.clear();
            }
        }
        self.scratch = ways;
        pairs
    }

    /// `r+`: exact if it does not depend on `rf` or `co`, else at least that.
    fn closure(&mut self, of: NodeId, wanted: &Relation) -> Pairs {
        let steps = self.relation(of);
        match self.late[of.0 as usize] {
            true => at_least(self.base, self.graph, self.formula, &steps, wanted),
            false => self.exact_closure(steps),
        }
    }

    /// Floyd and Warshall's.
    fn exact_closure(&mut self, mut pairs: Pairs) -> Pairs {
        for k in 0..pairs.len() as u32 {
            if self.has_to_stop() {
                break;
            }
            let after: Vec<(u32, Lit)> = pairs.row(k).to_vec();
            for a in 0..pairs.len() as u32 {
                let first = pairs.get(a, k);
                if first == Lit::FALSE {
                    continue;
                }
                for &(b, second) in &after {
                    let (known, all) = (pairs.get(a, b), self.executed(a, b));
                    if known != all {
                        let through = self.link((a, first), k, (b, second));
                        let lit = if through == all { all } else { self.graph.or(known, through) };
                        pairs.set(a, b, lit);
                    }
                }
            }
        }
        pairs
    }

    /// The clauses of a recursive definition, once its bodies are there.
    fn solve(&mut self, group: u32) {
        let of = self.model.operations().group(group).clone();
        for (&variable, &body) in of.variables.iter().zip(&of.bodies) {
            match (&self.values[variable.0 as usize], &self.values[body.0 as usize]) {
                (Some(Value::Set(variable)), Some(Value::Set(body))) => {
                    for (&x, &lit) in variable.iter().zip(body) {
                        self.formula.clause(&[!lit, x]);
                    }
                }
                (Some(Value::Relation(variable)), Some(Value::Relation(body))) => {
                    for (a, b, lit) in body.iter() {
                        self.formula.clause(&[!lit, variable.get(a, b)]);
                    }
                }
                _ => {}
            }
        }
    }

    /// Says what an axiom asks about.
    fn want(&mut self, question: Question, nodes: &[NodeId]) {
        let n = self.base.len();
        let pairs = match question {
            Question::Empty => Relation::full(n),
            Question::Irreflexive => Relation::identity(n),
            Question::Acyclic => self.cyclic(nodes),
        };
        nodes.iter().for_each(|&node| self.bounds.want(node, &pairs));
    }

    /// The pairs of a union that may be on a cycle.
    fn cyclic(&self, nodes: &[NodeId]) -> Relation {
        let may = |id: &NodeId| self.bounds.may(*id);
        let all = nodes.iter().map(may).reduce(|a, b| a.union(&b));
        let all = all.unwrap_or_else(|| Relation::new(self.base.len()));
        all.intersection(&all.transitive_closure().inverse())
            .union(&all.intersection(&Relation::identity(all.len())))
    }

    fn require(&mut self, question: Question, nodes: &[NodeId]) {
        if question == Question::Acyclic {
            let possible = self.cyclic(nodes);
            let mut all = Pairs::new(self.base.len());
            for &id in nodes {
                let more = self.relation(id);
                all = self.both(&all, &more, &possible, |gates, (x, y), p, q| match gates.executed(x, y) {
                    both if p == both || q == both => both,
                    _ => gates.graph.or(p, q),
                });
            }
            let short = without_shortcuts(self.base, self.graph, &all);
            return forbid_cycles(self.graph, &short, self.formula, self.limits);
        }
        for &id in nodes {
            match &self.values[id.0 as usize] {
                Some(Value::Set(members)) => {
                    members.iter().for_each(|&lit| self.formula.clause(&[!lit]));
                }
                Some(Value::Relation(pairs)) => {
                    for (a, b, lit) in pairs.iter() {
                        if a == b || question == Question::Empty {
                            self.formula.clause(&[!lit]);
                        }
                    }
                }
                None => {}
            }
        }
    }
}
