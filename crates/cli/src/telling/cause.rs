//! Why a memory model allows an execution: the cycle that sequential consistency would forbid, and the pairs of accesses on
//! it that nothing keeps in order.
//!
//! An execution is sequentially consistent if `po | rf | co | fr` has no cycle (D. Shasha, M. Snir, TOPLAS 10(2), 1988). On
//! the shortest cycle, some pairs of program order are not kept by the model. Which ones is asked of the model itself: the
//! execution with a full fence in some of these pairs is judged again, and the smallest set that makes it forbidden is
//! what is missing. So the answer does not depend on what this file knows of any model.

use fencepost_answer::picture::Kind;
use fencepost_ir::{Ann, Event, EventKind, Execution, Fence, Order, Relation, Value, Width};
use fencepost_models::Model;
use fencepost_models::mapping::Target;
use fencepost_models::registry::Entry;

/// An edge of a cycle.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Edge {
    /// An event.
    pub from: usize,
    /// An event.
    pub to: usize,
    /// Of which relation.
    pub kind: EdgeKind,
}

/// The relations of a cycle.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[allow(missing_docs)]
pub enum EdgeKind {
    Po,
    Rf,
    Co,
    Fr,
}

impl EdgeKind {
    /// Its name in the literature.
    pub fn name(self) -> &'static str {
        match self {
            EdgeKind::Po => "po",
            EdgeKind::Rf => "rf",
            EdgeKind::Co => "co",
            EdgeKind::Fr => "fr",
        }
    }

    /// The arrow that it is in a picture.
    pub fn drawn(self) -> Kind {
        match self {
            EdgeKind::Po => Kind::Po,
            EdgeKind::Rf => Kind::Rf,
            EdgeKind::Co => Kind::Co,
            EdgeKind::Fr => Kind::Fr,
        }
    }
}

/// Why an execution that is not sequentially consistent is allowed.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Cause {
    /// The cycle, each edge from where the last one ended.
    pub cycle: Vec<Edge>,
    /// The pairs of program order on it that would have to be kept, all of them together.
    pub open: Vec<(usize, usize)>,
    /// The weakest fences in these pairs that forbid the execution, in the same order; none if fences do not.
    pub fences: Vec<Fence>,
    /// The axioms by which it is then forbidden.
    pub axioms: Vec<String>,
}

/// Executions with more events are not looked at.
const MOST_EVENTS: usize = 400;

/// Pairs on a cycle; the sets of more of them are not tried.
const MOST_PAIRS: usize = 6;

/// The cause, if the execution is not sequentially consistent. Of several shortest cycles, one through a preferred event.
pub fn cause((entry, model): (&Entry, &Model), execution: &Execution, preferred: &[usize]) -> Option<Cause> {
    if execution.events.len() > MOST_EVENTS {
        return None;
    }
    let cycle = shortest_cycle(execution, preferred)?;
    let pairs: Vec<(usize, usize)> = cycle
        .iter()
        .filter(|edge| edge.kind == EdgeKind::Po && !execution.rmw.contains(edge.from, edge.to))
        .map(|edge| (edge.from, edge.to))
        .collect();
    let strengths = fences(entry);
    let full = *strengths.last()?;
    let forbidden = |fences: &[((usize, usize), Fence)]| {
        let judgement = model.check(&with_fences(execution, fences));
        (!judgement.consistent).then_some(judgement.failed)
    };
    for open in subsets(&pairs[..pairs.len().min(MOST_PAIRS)]) {
        let all: Vec<_> = open.iter().map(|&pair| (pair, full)).collect();
        let Some(mut axioms) = forbidden(&all) else { continue };
        let mut chosen = all;
        // Each as weak as it can be, the first one first.
        for i in 0..chosen.len() {
            for &fence in &strengths {
                let strong = chosen[i].1;
                chosen[i].1 = fence;
                match forbidden(&chosen) {
                    Some(failed) => {
                        axioms = failed;
                        break;
                    }
                    None => chosen[i].1 = strong,
                }
            }
        }
        let fences = chosen.into_iter().map(|(_, fence)| fence).collect();
        return Some(Cause { cycle, open, fences, axioms });
    }
    Some(Cause { cycle, open: pairs, fences: Vec::new(), axioms: Vec::new() })
}

/// The fences of a model, weakest first.
fn fences(entry: &Entry) -> Vec<Fence> {
    match entry.target {
        Some(Target::Tso) => vec![Fence::Mfence],
        Some(Target::Pso) => vec![Fence::Sfence, Fence::Mfence],
        Some(Target::Power) => vec![Fence::Lwsync, Fence::Sync],
        Some(Target::Armv8) => vec![Fence::DmbSt, Fence::DmbLd, Fence::DmbSy],
        None => [Order::Release, Order::Acquire, Order::AcqRel, Order::SeqCst].map(Fence::C11).to_vec(),
    }
}

/// All subsets that are not empty, small ones first.
fn subsets<T: Copy>(all: &[T]) -> Vec<Vec<T>> {
    let chosen = |bits: u32| (0..all.len()).filter(|i| bits >> i & 1 == 1).map(|i| all[i]).collect();
    let mut sets: Vec<Vec<T>> = (1..1u32 << all.len()).map(chosen).collect();
    sets.sort_by_key(Vec::len);
    sets
}

/// A shortest cycle of `po | rf | co | fr` over accesses.
pub fn shortest_cycle(execution: &Execution, preferred: &[usize]) -> Option<Vec<Edge>> {
    let n = execution.events.len();
    let fr = execution.fr();
    let relations = [
        (EdgeKind::Rf, &execution.rf),
        (EdgeKind::Fr, &fr),
        (EdgeKind::Co, &execution.co),
        (EdgeKind::Po, &execution.po),
    ];
    let access = |e: usize| !matches!(execution.events[e].kind, EventKind::Fence(_));
    let mut successors: Vec<Vec<Edge>> = vec![Vec::new(); n];
    for (kind, relation) in relations {
        for (from, to) in relation.pairs().filter(|&(a, b)| a != b && access(a) && access(b)) {
            successors[from].push(Edge { from, to, kind });
        }
    }
    let mut best: Option<((usize, bool, usize), Vec<Edge>)> = None;
    for start in (0..n).filter(|&e| access(e)) {
        let Some(cycle) = cycle_through(&successors, start) else { continue };
        let ordinary = !cycle.iter().any(|edge| preferred.contains(&edge.from));
        let rank = (cycle.len(), ordinary, cycle.iter().map(unseen).sum());
        if best.as_ref().is_none_or(|(known, _)| rank < *known) {
            best = Some((rank, cycle));
        }
    }
    best.map(|(_, cycle)| cycle)
}

/// Of two cycles of one length, that through what a read saw explains more than that through what it did not see.
fn unseen(edge: &Edge) -> usize {
    usize::from(matches!(edge.kind, EdgeKind::Fr | EdgeKind::Co))
}

/// A shortest cycle through an event, with as few edges as can be that nobody saw: level by level.
fn cycle_through(successors: &[Vec<Edge>], start: usize) -> Option<Vec<Edge>> {
    // The level of each event, how many such edges lead there, and the last edge of that way.
    let mut came: Vec<Option<(usize, usize, Edge)>> = vec![None; successors.len()];
    let mut level = vec![start];
    for depth in 1.. {
        let (mut next, mut closing): (Vec<usize>, Option<(usize, Edge)>) = (Vec::new(), None);
        for &event in &level {
            let before = came[event].filter(|_| event != start).map_or(0, |(_, unseen, _)| unseen);
            for &edge in &successors[event] {
                let cost = before + unseen(&edge);
                if edge.to == start {
                    if closing.is_none_or(|(known, _)| cost < known) {
                        closing = Some((cost, edge));
                    }
                    continue;
                }
                match came[edge.to] {
                    None => next.push(edge.to),
                    Some((known, least, _)) if known == depth && cost < least => {}
                    Some(_) => continue,
                }
                came[edge.to] = Some((depth, cost, edge));
            }
        }
        if let Some((_, last)) = closing {
            let mut cycle = vec![last];
            let mut at = last.from;
            while let Some((_, _, before)) = came[at].filter(|_| at != start) {
                cycle.push(before);
                at = before.from;
            }
            cycle.reverse();
            return Some(cycle);
        }
        if next.is_empty() {
            return None;
        }
        level = next;
    }
    None
}

/// The execution with a fence right before the second event of each pair; before both halves of a read-modify-write.
fn with_fences(execution: &Execution, fences: &[((usize, usize), Fence)]) -> Execution {
    let n = execution.events.len();
    let halves = execution.rmw.inverse();
    let places: Vec<usize> =
        fences.iter().map(|&((_, b), _)| halves.successors(b).next().unwrap_or(b)).collect();
    let mut events = execution.events.clone();
    for (&((_, b), fence), _) in fences.iter().zip(&places) {
        let Event { thread, span, .. } = execution.events[b];
        events.push(Event {
            thread,
            kind: EventKind::Fence(fence),
            location: None,
            width: Width::W64,
            value: Value::ZERO,
            ann: Ann::PLAIN,
            amo: false,
            span,
        });
    }
    let larger = |old: &Relation| {
        let mut new = Relation::new(n + fences.len());
        old.pairs().for_each(|(a, b)| new.insert(a, b));
        new
    };
    let mut new = Execution::new(events);
    new.po = larger(&execution.po);
    new.ctrl = larger(&execution.ctrl);
    for (i, &place) in places.iter().enumerate() {
        let fence = n + i;
        for event in 0..n {
            if execution.po.contains(event, place) {
                new.po.insert(event, fence);
            } else if event == place || execution.po.contains(place, event) {
                new.po.insert(fence, event);
            }
            // A fence behind a branch depends on it as what follows the fence does.
            if execution.ctrl.contains(event, place) {
                new.ctrl.insert(event, fence);
            }
        }
        for (j, &other) in places.iter().enumerate() {
            if execution.po.contains(place, other) || place == other && i < j {
                new.po.insert(fence, n + j);
            }
        }
    }
    new.rf = larger(&execution.rf);
    new.co = larger(&execution.co);
    new.rmw = larger(&execution.rmw);
    new.amo = larger(&execution.amo);
    new.addr = larger(&execution.addr);
    new.data = larger(&execution.data);
    new.pick = larger(&execution.pick);
    new.pick_addr = larger(&execution.pick_addr);
    new
}

#[cfg(test)]
mod tests {
    use super::*;
    use fencepost_diag::SourceFile;
    use fencepost_explore::{ModelName, Options, explore};
    use fencepost_ir::Property;
    use fencepost_models::registry;

    /// The cause of the execution that satisfies the condition of a test.
    fn cause_of(test: &str, model: &str) -> Option<Cause> {
        let test = fencepost_litmus::parse(&SourceFile::new("t.litmus", test)).expect("a test");
        let entry = registry::find(model).expect("built in");
        let twin = ModelName::from_name(model).expect("a twin");
        let witness = explore(&test.program, &Options::new(twin)).expect("supported").witness?;
        let Property::Final(condition) = &test.program.property else { panic!("a condition") };
        let execution =
            crate::witness::rebuild(&test.program, condition, entry, &witness).expect("an execution");
        let cat = Model::builtin(model).expect("built in");
        cause((entry, &cat), &execution.execution, &[])
    }

    const MP: &str = "AArch64 mp\n{ 0:X1=x; 0:X3=y; 1:X1=y; 1:X3=x; }\n P0 | P1 ;\n MOV W0,#1 | LDR W0,[X1] ;\n \
        STR W0,[X1] | FENCE ;\n OTHER | LDR W2,[X3] ;\n MOV W2,#1 | ;\n STR W2,[X3] | ;\nexists (1:X0=1 /\\ 1:X2=0)\n";

    fn mp(writer: &str, reader: &str) -> String {
        MP.replace("OTHER", writer).replace("FENCE", reader)
    }

    #[test]
    fn both_sides_are_open_where_nothing_orders_them() {
        let cause = cause_of(&mp("", ""), "armv8").expect("a cycle");
        assert_eq!((cause.cycle.len(), cause.open.len()), (4, 2));
        assert_eq!(cause.fences, [Fence::DmbSt, Fence::DmbLd]);
        assert_eq!(cause.axioms, ["external"]);
    }

    #[test]
    fn the_side_without_a_fence_is_to_blame() {
        let writer = cause_of(&mp("", "DMB SY"), "armv8").expect("a cycle");
        let reader = cause_of(&mp("DMB SY", ""), "armv8").expect("a cycle");
        assert_eq!(
            (writer.fences.as_slice(), reader.fences.as_slice()),
            (&[Fence::DmbSt][..], &[Fence::DmbLd][..])
        );
        assert_eq!((writer.open.len(), reader.open.len()), (1, 1));
        assert_ne!(writer.open, reader.open);
    }

    #[test]
    fn an_interleaving_has_no_cycle() {
        assert_eq!(cause_of(&mp("", "").replace("1:X2=0", "1:X2=1"), "armv8"), None);
    }

    #[test]
    fn subsets_come_in_the_order_of_their_size() {
        assert_eq!(subsets(&[1, 2]), [vec![1], vec![2], vec![1, 2]]);
    }
}
