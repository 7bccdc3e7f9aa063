//! Accesses to objects that are not there any more, or not yet, as pairs of events that nothing orders.
//!
//! ```text
//! late      an access to an object that is not *over* when its life ends
//! twice     two ends of one life, in whatever order
//! unborn    under a language model: an access by another thread that happens after nothing that the maker did once it had
//!           made it
//! ```
//!
//! What is over is what `naive` says: under a language model what happens before, and an atomic access that somebody has seen;
//! under SC, TSO and PSO what is before in program order and reads-from; on machines that commit out of order what their
//! relations order, and what a thread has done before it ends a life. All of this occurs negatively in what is claimed: at
//! least it is enough.

use crate::base::Base;
use crate::closure::at_least;
use crate::pairs::Pairs;
use fencepost_answer::FindingKind;
use fencepost_bmc::aig::{Graph, Lit};
use fencepost_bmc::formula::Formula;
use fencepost_bmc::symbolic::{EventKind, Unrolled};
use fencepost_ir::Relation;
use fencepost_models::Model;
use fencepost_models::base::BaseSet;
use fencepost_models::graph::NodeId;
use fencepost_models::registry::Ordered;

/// Something that may be wrong.
#[derive(Clone, Debug)]
pub struct Claim {
    /// It is.
    pub when: Lit,
    /// What.
    pub what: FindingKind,
    /// The events.
    pub vertices: Vec<u32>,
    /// The object that it is about.
    pub object: Option<u32>,
    /// Where that was made, if that is to be told.
    pub made: Option<(u32, (u32, u32))>,
}

/// The relations of a model that are needed for this, by their names in the cat file; those that it does not have are left out.
pub fn relations(model: &Model, ordered: Ordered) -> Vec<NodeId> {
    let names: &[&str] = match ordered {
        Ordered::HappensBefore => &["hb"],
        Ordered::Committed(names) => names,
        Ordered::Sight => &[],
    };
    names.iter().filter_map(|name| model.definition(name)).collect()
}

/// Whether lives of objects end at all, or objects are made that other threads can reach.
pub fn matters(unrolled: &Unrolled) -> bool {
    let ends = |kind: &EventKind| matches!(kind, EventKind::End(_));
    unrolled.events.iter().any(|event| ends(&event.kind))
        || unrolled.objects.iter().any(|object| object.made.is_some() && !object.private)
}

/// All claims, given the relations of the model.
pub fn claims(
    unrolled: &mut Unrolled,
    base: &Base,
    formula: &mut Formula,
    ordered: Ordered,
    relations: &[Pairs],
) -> Vec<Claim> {
    let ends = ends(unrolled, base);
    let mut claims = Vec::new();
    let suspects = suspects(unrolled, base, &ends);
    if !suspects.is_empty() {
        let mut wanted = Relation::new(base.len());
        suspects.iter().for_each(|suspect| wanted.insert(suspect.access as usize, suspect.end as usize));
        let over = over(unrolled, base, formula, ordered, relations, &wanted);
        for Suspect { access, end, object, when } in suspects {
            let when = unrolled.graph.and(when, !over.get(access, end));
            let heap = unrolled.objects[object as usize].heap;
            let what = if heap { FindingKind::UseAfterFree } else { FindingKind::UseAfterScope };
            claims.push(Claim { when, what, vertices: vec![access, end], object: Some(object), made: None });
        }
    }
    for (i, &(first, object, a)) in ends.iter().enumerate() {
        for &(second, _, b) in ends[i + 1..].iter().filter(|end| end.1 == object && end.0 != first) {
            let when = unrolled.graph.and(a, b);
            let (what, vertices) = (FindingKind::DoubleFree, vec![first, second]);
            claims.push(Claim { when, what, vertices, object: Some(object), made: None });
        }
    }
    if let (Ordered::HappensBefore, [hb]) = (ordered, relations) {
        unborn(unrolled, base, hb, &mut claims);
    }
    claims.retain(|claim| claim.when != Lit::FALSE);
    claims
}

/// The ends of lives: the event, the object, and the condition.
fn ends(unrolled: &mut Unrolled, base: &Base) -> Vec<(u32, u32, Lit)> {
    let mut ends = Vec::new();
    for (number, vertex) in (0u32..).zip(&base.vertices) {
        let Some(event) = vertex.event else { continue };
        let EventKind::End(objects) = &unrolled.events[event as usize].kind else { continue };
        for &(object, named) in objects {
            ends.push((number, object, unrolled.graph.and(vertex.guard, named)));
        }
    }
    ends.retain(|(.., when)| *when != Lit::FALSE);
    ends
}

/// An access to an object that ends, and that end.
struct Suspect {
    access: u32,
    end: u32,
    object: u32,
    when: Lit,
}

fn suspects(unrolled: &mut Unrolled, base: &Base, ends: &[(u32, u32, Lit)]) -> Vec<Suspect> {
    let mut suspects = Vec::new();
    for &(end, object, ended) in ends {
        for access in 0..base.len() as u32 {
            let accessed = selects(unrolled, base, access, object);
            let when = unrolled.graph.and(accessed, ended);
            if when != Lit::FALSE {
                suspects.push(Suspect { access, end, object, when });
            }
        }
    }
    suspects
}

/// An event of a thread accesses an object.
fn selects(unrolled: &mut Unrolled, base: &Base, access: u32, object: u32) -> Lit {
    let vertex = &base.vertices[access as usize];
    if vertex.thread.is_none() {
        return Lit::FALSE;
    }
    let of = |cell: &fencepost_bmc::symbolic::CellId| unrolled.cells[cell.0 as usize].object == object;
    let cells: Vec<Lit> = vertex.cells.iter().filter(|(cell, _)| of(cell)).map(|(_, lit)| *lit).collect();
    let some = unrolled.graph.or_all(&cells);
    unrolled.graph.and(vertex.guard, some)
}

/// Which accesses are over before the ends that are asked about.
fn over(
    unrolled: &mut Unrolled,
    base: &Base,
    formula: &mut Formula,
    ordered: Ordered,
    relations: &[Pairs],
    wanted: &Relation,
) -> Pairs {
    let graph = &mut unrolled.graph;
    let mut steps = match ordered {
        Ordered::Committed(_) => {
            let mut steps = Pairs::new(base.len());
            for (a, b, lit) in base.po.iter().filter(|(_, b, _)| base.ends_lives[*b as usize]) {
                steps.push(a, b, lit);
            }
            steps
        }
        Ordered::HappensBefore | Ordered::Sight => base.po.clone(),
    };
    let more: &[Pairs] = match ordered {
        Ordered::Committed(_) => relations,
        Ordered::HappensBefore | Ordered::Sight => std::slice::from_ref(&base.rf),
    };
    for (a, b, lit) in more.iter().flat_map(Pairs::iter) {
        add(graph, &mut steps, base, (a, b), lit);
    }
    let seen = at_least(base, graph, formula, &steps, wanted);
    if ordered != Ordered::HappensBefore {
        return seen;
    }
    let mut over = Pairs::new(base.len());
    for (a, b) in wanted.pairs() {
        let (a, b) = (a as u32, b as u32);
        let atomic = base.member(graph, BaseSet::Atomic, a);
        let by_sight = graph.and(seen.get(a, b), atomic);
        let happens = relations.first().map_or(Lit::FALSE, |hb| hb.get(a, b));
        let lit = graph.or(by_sight, happens);
        over.push(a, b, lit);
    }
    over
}

fn add(graph: &mut Graph, pairs: &mut Pairs, base: &Base, (a, b): (u32, u32), lit: Lit) {
    let (known, all) = (pairs.get(a, b), base.executed(graph, a, b));
    if known != all {
        let lit = if lit == all { all } else { graph.or(known, lit) };
        pairs.set(a, b, lit);
    }
}

/// Accesses by other threads than the maker of an object that happen after nothing that the maker did once it had made it.
fn unborn(unrolled: &mut Unrolled, base: &Base, hb: &Pairs, claims: &mut Vec<Claim>) {
    for object in 0..unrolled.objects.len() as u32 {
        let info = &unrolled.objects[object as usize];
        let (Some((maker, _)), Some(born), false) = (info.made, info.born, info.private) else { continue };
        let first = unrolled.threads[maker as usize].events.start + born.events_before;
        let told = (!born.with_thread).then_some((maker, born.at));
        for access in 0..base.len() as u32 {
            if base.vertices[access as usize].thread == Some(maker) {
                continue;
            }
            let accessed = selects(unrolled, base, access, object);
            if accessed == Lit::FALSE {
                continue;
            }
            let since = |vertex: &u32| {
                let of = &base.vertices[*vertex as usize];
                of.thread == Some(maker) && of.event.is_some_and(|event| event >= first)
            };
            let known: Vec<Lit> =
                (0..base.len() as u32).filter(since).map(|vertex| hb.get(vertex, access)).collect();
            let known = unrolled.graph.or_all(&known);
            let when = unrolled.graph.and(accessed, !known);
            let (what, vertices) = (FindingKind::UseBeforeAllocation, vec![access]);
            claims.push(Claim { when, what, vertices, object: Some(object), made: told });
        }
    }
}
