//! Redundant clauses about counters: what clause learning cannot find by itself, because it cannot count.
//!
//! A *chain* is a cell that only read-modify-writes write, each of which adds a word `d(w)` to what it read. Under a model
//! that is coherent and lets no write of another thread between the halves of a read-modify-write, each of them reads the
//! write just before its own in coherence order, so that
//!
//! ```text
//! sum      w is executed  =>  value(w) = initial + d(w) + the sum of d(v) over all v with co(v, w)
//! growth   co(v, w)       =>  value(v) < value(w)          if all d are positive numbers and their sum does not wrap
//! ```
//!
//! The proof is in `docs/AXIOM.md`. Sums are made in the order of the threads, as programs do: two sums of the same words in
//! other orders are hard to see equal.

use crate::base::Base;
use fencepost_bmc::aig::{Graph, Lit};
use fencepost_bmc::arithmetic;
use fencepost_bmc::formula::Formula;
use fencepost_bmc::symbolic::{CellId, Change, EventKind, Unrolled};
use fencepost_bmc::word::Word;
use fencepost_ir::{BinaryOp, Extend, RmwOp, Value, Width};
use fencepost_models::Model;
use fencepost_models::ast::{Question, Role};
use fencepost_models::base::BaseRelation;
use fencepost_models::graph::{Graph as Operations, Node, NodeId};

/// A write of a chain.
struct Link {
    vertex: u32,
    value: Word,
    adds: Word,
}

/// Adds the clauses; returns how many chains there are.
pub fn add(model: &Model, unrolled: &mut Unrolled, base: &Base, formula: &mut Formula) -> u32 {
    if !model.forbids_incoherence() || !is_atomic(model) {
        return 0;
    }
    let mut found = 0;
    for number in 0..unrolled.cells.len() as u32 {
        let cell = CellId(number);
        let (width, initial) = {
            let info = &unrolled.cells[number as usize];
            (info.width, info.initial.clone())
        };
        let Some(initial) = initial else { continue };
        if let Some(links) = chain(unrolled, base, cell).filter(|links| links.len() > 1) {
            sums(&mut unrolled.graph, base, &links, &initial, width, formula);
            growth(&mut unrolled.graph, base, &links, &initial, width, formula);
            found += 1;
        }
    }
    found
}

/// Whether an axiom says `empty rmw & (fre; coe)`.
fn is_atomic(model: &Model) -> bool {
    let graph = model.operations();
    model.checks().iter().any(|check| {
        let asked = check.role == Role::Axiom && check.question == Question::Empty && !check.negated;
        let Node::Intersection(a, b) = graph.node(check.node) else { return false };
        asked
            && [(a, b), (b, a)]
                .into_iter()
                .any(|(a, b)| graph.node(a) == Node::Relation(BaseRelation::Rmw) && is_intervention(graph, b))
    })
}

/// `fre; coe`.
fn is_intervention(graph: &Operations, id: NodeId) -> bool {
    let is = |id: NodeId, base: BaseRelation| graph.node(id) == Node::Relation(base);
    let external = |id: NodeId, inner: &dyn Fn(NodeId) -> bool| match graph.node(id) {
        Node::Intersection(a, b) => {
            (inner(a) && is(b, BaseRelation::Ext)) || (inner(b) && is(a, BaseRelation::Ext))
        }
        _ => false,
    };
    let from_read = |id: NodeId| match graph.node(id) {
        Node::Sequence(a, b) => {
            is(b, BaseRelation::Co) && matches!(graph.node(a), Node::Inverse(rf) if is(rf, BaseRelation::Rf))
        }
        _ => false,
    };
    match graph.node(id) {
        Node::Sequence(a, b) => external(a, &from_read) && external(b, &|id| is(id, BaseRelation::Co)),
        _ => false,
    }
}

/// The writes of a cell, if it is a chain.
fn chain(unrolled: &mut Unrolled, base: &Base, cell: CellId) -> Option<Vec<Link>> {
    let width = unrolled.cells[cell.0 as usize].width;
    let mut links = Vec::new();
    for vertex in 0..base.len() as u32 {
        let of = &base.vertices[vertex as usize];
        if !base.is_write(vertex) || of.event.is_none() || !of.cells.iter().any(|(other, _)| *other == cell) {
            continue;
        }
        let event = &unrolled.events[of.event? as usize];
        let EventKind::Write { access, value, rmw: Some(read), change: Some(change), .. } = &event.kind
        else {
            return None;
        };
        // It writes this cell and no other, and reads it in the instruction before.
        let read = base.vertex_of[read.0 as usize]?;
        let whole = access.cells.len() == 1 && base.rmw.get(read, vertex) == of.guard && read + 1 == vertex;
        if !whole || of.cells.len() != 1 || !unrolled.graph.surely_implies(of.guard, of.cells[0].1) {
            return None;
        }
        let (value, change) = (value.clone(), change.clone());
        let adds = match change {
            Change::Adds(word) => word,
            Change::Replaces(old) => difference(unrolled, &old, &value, width)?,
        };
        links.push(Link { vertex, value, adds });
    }
    Some(links)
}

/// The number that is added to one word to make the other, if the two are the same word then.
fn difference(unrolled: &mut Unrolled, old: &Word, new: &Word, width: Width) -> Option<Word> {
    // Any values will do for a guess; these are not all equal.
    let values = unrolled.graph.evaluate(|node| node.wrapping_mul(0x9e37_79b9) >> 31 == 1);
    let guess = new.evaluate(&values).0.wrapping_sub(old.evaluate(&values).0);
    let guess = Word::constant(width.zero_extend(Value(guess)));
    (sum(&mut unrolled.graph, old, &guess, width) == *new).then_some(guess)
}

fn sum(graph: &mut Graph, a: &Word, b: &Word, width: Width) -> Word {
    arithmetic::rmw(graph, RmwOp::Add, width, a, b)
}

fn sums(graph: &mut Graph, base: &Base, links: &[Link], initial: &Word, width: Width, formula: &mut Formula) {
    let nothing = Word::constant(Value::ZERO);
    for link in links {
        let mut all = initial.clone();
        for other in links {
            let counts = match other.vertex == link.vertex {
                true => Lit::TRUE,
                false => base.co.get(other.vertex, link.vertex),
            };
            let added = Word::mux(graph, counts, &other.adds, &nothing);
            all = sum(graph, &all, &added, width);
        }
        formula.equal_if(base.vertices[link.vertex as usize].guard, &link.value.pairs(&all));
    }
}

fn growth(
    graph: &mut Graph,
    base: &Base,
    links: &[Link],
    initial: &Word,
    width: Width,
    formula: &mut Formula,
) {
    let mut most = match initial.as_constant() {
        Some(value) => u128::from(value.0),
        None => return,
    };
    for link in links {
        match link.adds.as_constant() {
            Some(value) if value != Value::ZERO => most += u128::from(value.0),
            _ => return,
        }
    }
    if most >= 1 << width.bits() {
        return;
    }
    for v in links {
        for w in links.iter().filter(|w| w.vertex != v.vertex) {
            let co = base.co.get(v.vertex, w.vertex);
            let less = arithmetic::binary(graph, BinaryOp::LtU, Width::W64, Extend::Zero, &v.value, &w.value);
            if let Ok(less) = less {
                formula.clause(&[!co, less.word.bit(0)]);
            }
        }
    }
}
