//! A model as a graph of operations on sets and relations, every operation once.
//!
//! Lowering expands functions, so two uses of `fencerel(SYNC)` would be two computations; equal nodes are therefore
//! shared. A node's operands have smaller numbers than the node itself, so walking the numbers upwards is an
//! evaluation order. `Recursive` stands for a variable of a `let rec` within its own bodies, `Fixpoint` for its least
//! solution outside of them.
//!
//! Three facts are kept per node:
//! * which `let rec` groups occur free in it, positively and negatively: a variable under `~` or right of `\` has no
//!   least solution;
//! * its [`Growth`] when events and edges are added to the execution, the basis of pruning partial executions;
//! * whether it depends on `rf` or `co`: all else is the same for all candidates of one choice of thread traces.

use crate::base::{BaseRelation, BaseSet};
use rustc_hash::FxHashMap;

/// The number of a node.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct NodeId(pub u32);

/// The number of a `let rec`; inner ones have larger numbers than those around them.
pub type GroupId = u32;

/// Set or relation.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[allow(missing_docs)]
pub enum Sort {
    Set,
    Relation,
}

/// One operation.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[allow(missing_docs)]
pub enum Node {
    Set(BaseSet),
    Relation(BaseRelation),
    Empty(Sort),
    Union(NodeId, NodeId),
    Intersection(NodeId, NodeId),
    Difference(NodeId, NodeId),
    Complement(NodeId),
    Sequence(NodeId, NodeId),
    Inverse(NodeId),
    Plus(NodeId),
    Star(NodeId),
    Optional(NodeId),
    Product(NodeId, NodeId),
    /// `[S]`.
    Identity(NodeId),
    Domain(NodeId),
    Range(NodeId),
    /// A variable of a group, inside the bodies.
    Recursive {
        group: GroupId,
        index: u32,
        sort: Sort,
    },
    /// The solution of a group for one variable.
    Fixpoint {
        group: GroupId,
        index: u32,
    },
}

/// What happens to a set or relation when the execution gets more events and edges.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Growth {
    /// Whether given events are in it never changes; only new events bring something.
    Fixed,
    /// Nothing ever leaves it.
    Grows,
    /// Nothing but what new events bring is ever added among given events.
    Shrinks,
    /// Anything may happen.
    Unknown,
}

impl Growth {
    fn up(self) -> bool {
        matches!(self, Growth::Fixed | Growth::Grows)
    }

    fn down(self) -> bool {
        matches!(self, Growth::Fixed | Growth::Shrinks)
    }

    fn of(up: bool, down: bool) -> Growth {
        match (up, down) {
            (true, true) => Growth::Fixed,
            (true, false) => Growth::Grows,
            (false, true) => Growth::Shrinks,
            (false, false) => Growth::Unknown,
        }
    }

    /// Of a complement.
    fn flip(self) -> Growth {
        Growth::of(self.down(), self.up())
    }

    /// Of what is monotone in both and decides given events by themselves.
    fn and(self, other: Growth) -> Growth {
        Growth::of(self.up() && other.up(), self.down() && other.down())
    }

    /// Of what looks for other events, such as a composition: new events may bring something for old ones.
    fn search(self) -> Growth {
        Growth::of(self.up(), false)
    }
}

/// What is known about a node.
#[derive(Clone, Debug)]
pub struct Facts {
    /// Set or relation.
    pub sort: Sort,
    /// See [`Growth`].
    pub growth: Growth,
    /// The same when only edges are added and all events are there.
    pub with_edges: Growth,
    /// It depends on `rf` or `co`.
    pub dynamic: bool,
    /// Groups with a variable at a positive place in it, increasing.
    pub positive: Vec<GroupId>,
    /// The same for negative places.
    pub negative: Vec<GroupId>,
}

impl Facts {
    /// The innermost group that the node belongs to; `None` outside of all `let rec` bodies.
    pub fn owner(&self) -> Option<GroupId> {
        self.positive.last().max(self.negative.last()).copied()
    }

    /// Does a variable of the group occur in it?
    pub fn mentions(&self, group: GroupId) -> bool {
        self.positive.binary_search(&group).is_ok() || self.negative.binary_search(&group).is_ok()
    }
}

/// A `let rec`: its bodies, and the nodes that stand for its variables in them.
#[derive(Clone, Debug, Default)]
pub struct Group {
    /// The variables.
    pub variables: Vec<NodeId>,
    /// Their bodies; empty while they are being lowered.
    pub bodies: Vec<NodeId>,
}

/// All nodes of a model.
#[derive(Clone, Debug, Default)]
pub struct Graph {
    nodes: Vec<Node>,
    facts: Vec<Facts>,
    groups: Vec<Group>,
    known: FxHashMap<Node, NodeId>,
}

impl Graph {
    /// Number of nodes.
    pub fn node_count(&self) -> usize {
        self.nodes.len()
    }

    /// The operation.
    pub fn node(&self, id: NodeId) -> Node {
        self.nodes[id.0 as usize]
    }

    /// What is known about it.
    pub fn facts(&self, id: NodeId) -> &Facts {
        &self.facts[id.0 as usize]
    }

    /// A `let rec`.
    pub fn group(&self, group: GroupId) -> &Group {
        &self.groups[group as usize]
    }

    /// Number of groups.
    pub fn group_count(&self) -> usize {
        self.groups.len()
    }

    /// Begins a `let rec` with variables of these sorts.
    pub fn open_group(&mut self, sorts: &[Sort]) -> GroupId {
        let group = self.groups.len() as GroupId;
        self.groups.push(Group::default());
        let variables =
            (0..).zip(sorts).map(|(index, &sort)| self.add(Node::Recursive { group, index, sort }));
        let variables = variables.collect();
        self.groups[group as usize].variables = variables;
        group
    }

    /// Ends it; returns a node for each solution. The caller has made sure that no variable occurs negatively.
    pub fn close_group(&mut self, group: GroupId, bodies: Vec<NodeId>) -> Vec<NodeId> {
        if let ([body], [variable]) = (&bodies[..], &self.groups[group as usize].variables[..])
            && let Some(closed) = self.as_closure(group, *variable, *body)
        {
            return vec![closed];
        }
        let count = bodies.len() as u32;
        self.groups[group as usize].bodies = bodies;
        (0..count).map(|index| self.add(Node::Fixpoint { group, index })).collect()
    }

    /// `let rec x = a | x;x` is `a+`, which is much faster to compute.
    fn as_closure(&mut self, group: GroupId, variable: NodeId, body: NodeId) -> Option<NodeId> {
        let (mut leaves, mut todo) = (Vec::new(), vec![body]);
        while let Some(id) = todo.pop() {
            match self.node(id) {
                Node::Union(a, b) => todo.extend([b, a]),
                _ => leaves.push(id),
            }
        }
        let before = leaves.len();
        leaves.retain(|&id| self.node(id) != Node::Sequence(variable, variable));
        if leaves.iter().any(|&id| self.facts(id).mentions(group)) {
            return None;
        }
        let closes = leaves.len() < before;
        let rest = leaves.into_iter().reduce(|a, b| self.add(Node::Union(a, b)))?;
        Some(if closes { self.add(Node::Plus(rest)) } else { rest })
    }

    /// The node for an operation, a simpler one if it is trivial.
    pub fn add(&mut self, node: Node) -> NodeId {
        let node = match self.simplify(node) {
            Ok(id) => return id,
            Err(node) => node,
        };
        if let Some(&id) = self.known.get(&node) {
            return id;
        }
        let facts = self.derive(node);
        let id = NodeId(self.nodes.len() as u32);
        self.nodes.push(node);
        self.facts.push(facts);
        self.known.insert(node, id);
        id
    }

    fn is_empty_node(&self, id: NodeId) -> bool {
        matches!(self.node(id), Node::Empty(_))
    }

    /// Rules for the empty set and relation and for equal operands.
    fn simplify(&mut self, node: Node) -> Result<NodeId, Node> {
        match node {
            Node::Union(a, b) if self.is_empty_node(b) || a == b => Ok(a),
            Node::Union(a, b) if self.is_empty_node(a) => Ok(b),
            Node::Intersection(a, b) if self.is_empty_node(a) || a == b => Ok(a),
            Node::Intersection(_, b) if self.is_empty_node(b) => Ok(b),
            Node::Difference(a, b) if self.is_empty_node(a) || self.is_empty_node(b) => Ok(a),
            Node::Sequence(a, _) if self.is_empty_node(a) => Ok(a),
            Node::Sequence(_, b) if self.is_empty_node(b) => Ok(b),
            Node::Plus(a) | Node::Inverse(a) if self.is_empty_node(a) => Ok(a),
            Node::Set(BaseSet::Never) => Ok(self.add(Node::Empty(Sort::Set))),
            Node::Product(a, b) if self.is_empty_node(a) || self.is_empty_node(b) => {
                Ok(self.add(Node::Empty(Sort::Relation)))
            }
            Node::Identity(a) if self.is_empty_node(a) => Ok(self.add(Node::Empty(Sort::Relation))),
            Node::Domain(a) | Node::Range(a) if self.is_empty_node(a) => Ok(self.add(Node::Empty(Sort::Set))),
            other => Err(other),
        }
    }

    fn derive(&self, node: Node) -> Facts {
        let sort = match node {
            Node::Set(_) | Node::Domain(_) | Node::Range(_) => Sort::Set,
            Node::Empty(sort) | Node::Recursive { sort, .. } => sort,
            Node::Union(a, _) | Node::Intersection(a, _) | Node::Difference(a, _) | Node::Complement(a) => {
                self.facts(a).sort
            }
            Node::Fixpoint { group, index } => {
                self.facts(self.groups[group as usize].bodies[index as usize]).sort
            }
            _ => Sort::Relation,
        };
        let mut facts = Facts {
            sort,
            growth: Growth::Fixed,
            with_edges: Growth::Fixed,
            dynamic: false,
            positive: Vec::new(),
            negative: Vec::new(),
        };
        match node {
            Node::Set(base) => {
                facts.dynamic = base == BaseSet::Final;
                facts.growth = match base {
                    BaseSet::Final => Growth::Unknown,
                    BaseSet::Rmw | BaseSet::Exclusive | BaseSet::SpinlockTaken => Growth::Grows,
                    _ => Growth::Fixed,
                };
            }
            Node::Relation(base) => {
                facts.dynamic = matches!(base, BaseRelation::Rf | BaseRelation::Co);
                facts.growth = match base {
                    BaseRelation::Id | BaseRelation::Loc | BaseRelation::Int | BaseRelation::Ext => {
                        Growth::Fixed
                    }
                    _ => Growth::Grows,
                };
            }
            Node::Empty(_) => {}
            Node::Recursive { group, .. } => {
                facts.growth = Growth::Grows;
                facts.positive = vec![group];
            }
            Node::Fixpoint { group, .. } => self.derive_fixpoint(group, &mut facts),
            Node::Union(a, b) | Node::Intersection(a, b) | Node::Product(a, b) => {
                self.inherit(&mut facts, &[a, b], &[]);
                facts.growth = self.facts(a).growth.and(self.facts(b).growth);
            }
            Node::Difference(a, b) => {
                self.inherit(&mut facts, &[a], &[b]);
                facts.growth = self.facts(a).growth.and(self.facts(b).growth.flip());
            }
            Node::Complement(a) => {
                self.inherit(&mut facts, &[], &[a]);
                facts.growth = self.facts(a).growth.flip();
            }
            Node::Sequence(a, b) => {
                self.inherit(&mut facts, &[a, b], &[]);
                facts.growth = self.facts(a).growth.and(self.facts(b).growth).search();
            }
            Node::Plus(a) | Node::Star(a) | Node::Domain(a) | Node::Range(a) => {
                self.inherit(&mut facts, &[a], &[]);
                facts.growth = self.facts(a).growth.search();
            }
            Node::Inverse(a) | Node::Optional(a) | Node::Identity(a) => {
                self.inherit(&mut facts, &[a], &[]);
                facts.growth = self.facts(a).growth;
            }
        }
        facts.with_edges = if facts.dynamic || !facts.positive.is_empty() || !facts.negative.is_empty() {
            self.with_edges(node)
        } else {
            Growth::Fixed
        };
        facts
    }

    /// See [`Facts::with_edges`]. With the events fixed, what looks for other events is monotone both ways.
    fn with_edges(&self, node: Node) -> Growth {
        let of = |id: NodeId| self.facts(id).with_edges;
        match node {
            Node::Relation(BaseRelation::Rf | BaseRelation::Co) | Node::Recursive { .. } => Growth::Grows,
            Node::Set(BaseSet::Final) => Growth::Unknown,
            Node::Set(_) | Node::Relation(_) | Node::Empty(_) => Growth::Fixed,
            Node::Union(a, b) | Node::Intersection(a, b) | Node::Product(a, b) | Node::Sequence(a, b) => {
                of(a).and(of(b))
            }
            Node::Difference(a, b) => of(a).and(of(b).flip()),
            Node::Complement(a) => of(a).flip(),
            Node::Inverse(a)
            | Node::Plus(a)
            | Node::Star(a)
            | Node::Optional(a)
            | Node::Identity(a)
            | Node::Domain(a)
            | Node::Range(a) => of(a),
            Node::Fixpoint { group, .. } => {
                let bodies = &self.groups[group as usize].bodies;
                if bodies.iter().all(|&body| of(body).up()) { Growth::Grows } else { Growth::Unknown }
            }
        }
    }

    /// A least fixpoint of growing bodies grows; of any others nothing is known.
    fn derive_fixpoint(&self, group: GroupId, facts: &mut Facts) {
        let bodies = &self.groups[group as usize].bodies;
        self.inherit(facts, bodies, &[]);
        facts.positive.retain(|&g| g != group);
        facts.negative.retain(|&g| g != group);
        let grows = bodies.iter().all(|&b| self.facts(b).growth.up());
        facts.growth = if grows { Growth::Grows } else { Growth::Unknown };
    }

    fn inherit(&self, facts: &mut Facts, positive: &[NodeId], negative: &[NodeId]) {
        for &id in positive {
            let from = self.facts(id);
            facts.dynamic |= from.dynamic;
            merge(&mut facts.positive, &from.positive);
            merge(&mut facts.negative, &from.negative);
        }
        for &id in negative {
            let from = self.facts(id);
            facts.dynamic |= from.dynamic;
            merge(&mut facts.positive, &from.negative);
            merge(&mut facts.negative, &from.positive);
        }
    }

    /// The operands of nested unions.
    fn operands_of_union(&self, id: NodeId) -> Vec<NodeId> {
        let (mut leaves, mut todo) = (Vec::new(), vec![id]);
        while let Some(id) = todo.pop() {
            match self.node(id) {
                Node::Union(a, b) => todo.extend([b, a]),
                _ => leaves.push(id),
            }
        }
        leaves
    }

    /// Whether a relation contains `po-loc`, `rf`, `co` and `fr`, as far as its syntax tells.
    pub fn is_within_coherence(&self, id: NodeId) -> bool {
        let leaves = self.operands_of_union(id);
        let is = |id: NodeId, base: BaseRelation| self.node(id) == Node::Relation(base);
        let has = |test: &dyn Fn(NodeId) -> bool| leaves.iter().any(|&leaf| test(leaf));
        let program_order = has(&|leaf| match self.node(leaf) {
            Node::Intersection(a, b) => is(a, BaseRelation::Po) && is(b, BaseRelation::Loc),
            node => node == Node::Relation(BaseRelation::Po),
        });
        // Some write `fr` without pairs of an event with itself, of which there are none.
        let without_identity = |leaf: NodeId| match self.node(leaf) {
            Node::Difference(a, b) if is(b, BaseRelation::Id) => a,
            _ => leaf,
        };
        let from_read = has(&|leaf| match self.node(without_identity(leaf)) {
            Node::Sequence(a, b) => {
                is(b, BaseRelation::Co)
                    && matches!(self.node(a), Node::Inverse(rf) if is(rf, BaseRelation::Rf))
            }
            _ => false,
        });
        let given = |base| has(&|leaf| is(leaf, base));
        program_order && from_read && given(BaseRelation::Rf) && given(BaseRelation::Co)
    }

    /// Whether a relation contains `po; (rf | co | fr)+` and `po`, as far as its syntax tells: a composition of what contains
    /// `po` with the closure of what contains the others, or with nothing.
    pub fn is_coherent_order(&self, id: NodeId) -> bool {
        let is = |id: NodeId, base: BaseRelation| self.node(id) == Node::Relation(base);
        let Node::Sequence(first, second) = self.node(id) else { return false };
        let Node::Optional(eco) = self.node(second) else { return false };
        let (Node::Plus(eco), Node::Plus(before)) = (self.node(eco), self.node(first)) else { return false };
        let leaves = self.operands_of_union(eco);
        let from_read = |&leaf: &NodeId| {
            let Node::Sequence(a, b) = self.node(leaf) else { return false };
            is(b, BaseRelation::Co) && matches!(self.node(a), Node::Inverse(rf) if is(rf, BaseRelation::Rf))
        };
        let has = |base| leaves.iter().any(|&leaf| is(leaf, base));
        let ordered = self.operands_of_union(before).into_iter().any(|leaf| is(leaf, BaseRelation::Po));
        ordered && has(BaseRelation::Rf) && has(BaseRelation::Co) && leaves.iter().any(from_read)
    }

    /// The operands of a node; those of a fixpoint are the bodies of its group.
    pub fn operands(&self, id: NodeId) -> Vec<NodeId> {
        match self.node(id) {
            Node::Set(_) | Node::Relation(_) | Node::Empty(_) | Node::Recursive { .. } => Vec::new(),
            Node::Fixpoint { group, .. } => self.groups[group as usize].bodies.clone(),
            Node::Union(a, b)
            | Node::Intersection(a, b)
            | Node::Difference(a, b)
            | Node::Sequence(a, b)
            | Node::Product(a, b) => vec![a, b],
            Node::Complement(a)
            | Node::Inverse(a)
            | Node::Plus(a)
            | Node::Star(a)
            | Node::Optional(a)
            | Node::Identity(a)
            | Node::Domain(a)
            | Node::Range(a) => vec![a],
        }
    }

    /// The nodes that `roots` need, in evaluation order.
    pub fn needed(&self, roots: &[NodeId]) -> Vec<NodeId> {
        let mut seen = vec![false; self.nodes.len()];
        let mut todo = roots.to_vec();
        while let Some(id) = todo.pop() {
            if !std::mem::replace(&mut seen[id.0 as usize], true) {
                todo.extend(self.operands(id));
            }
        }
        (0..self.nodes.len()).filter(|&i| seen[i]).map(|i| NodeId(i as u32)).collect()
    }
}

/// Union of increasing lists.
fn merge(into: &mut Vec<GroupId>, from: &[GroupId]) {
    for &group in from {
        if let Err(place) = into.binary_search(&group) {
            into.insert(place, group);
        }
    }
}
