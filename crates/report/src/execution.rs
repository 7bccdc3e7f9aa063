//! One execution of a litmus test as a picture: its events in columns, the relations as arrows, a cycle in it marked.

use crate::events::show_event;
use fencepost_answer::picture::{Arrow, Box, Kind, Picture};
use fencepost_ir::{Execution, Program, Relation};
use std::collections::BTreeMap;

/// The picture; `cycle` has pairs of events.
pub fn picture(program: &Program, execution: &Execution, title: &str, cycle: &[(usize, usize)]) -> Picture {
    let threads = program.threads.iter().map(|thread| thread.name.clone()).collect();
    let mut picture = Picture { title: title.into(), threads, ..Picture::default() };
    // Events that stand at the same place of their threads stand near each other.
    let before =
        |event: usize| (0..execution.events.len()).filter(|&e| execution.po.contains(e, event)).count();
    let mut order: Vec<(usize, u32, usize)> = (execution.events.iter().enumerate())
        .filter_map(|(i, event)| Some((before(i), event.thread?.0, i)))
        .collect();
    order.sort_unstable();
    let mut boxes: BTreeMap<usize, usize> = BTreeMap::new();
    for (_, thread, event) in order {
        boxes.insert(event, picture.boxes.len());
        let shown = &execution.events[event];
        let marked = cycle.iter().any(|(from, _)| *from == event);
        let event = show_event(program, shown);
        picture.boxes.push(Box { thread, event, place: String::new(), span: shown.span, marked });
    }
    let (addr, data, ctrl) = (&execution.addr, &execution.data, &execution.ctrl);
    let all = addr.union(data).union(ctrl);
    // What follows from a dependency of something in between says nothing new.
    let nearest = all.difference(&all.compose(&execution.po));
    let relations = [
        (Kind::Po, neighbours(&execution.po)),
        (Kind::Rf, execution.rf.clone()),
        (Kind::Co, neighbours(&execution.co)),
        (Kind::Fr, execution.fr().difference(&execution.fr().compose(&execution.co))),
        (Kind::Addr, nearest.intersection(addr)),
        (Kind::Data, nearest.intersection(data).difference(addr)),
        (Kind::Ctrl, nearest.difference(addr).difference(data)),
    ];
    let mut drawn: Vec<(usize, usize)> = Vec::new();
    for (kind, relation) in relations {
        for pair in relation.pairs() {
            let (Some(&from), Some(&to)) = (boxes.get(&pair.0), boxes.get(&pair.1)) else { continue };
            let on_cycle = cycle.contains(&pair) && !drawn.contains(&pair);
            // Program order is the order of a column; only where the cycle follows it, it is an arrow.
            if kind != Kind::Po || on_cycle {
                drawn.extend(on_cycle.then_some(pair));
                picture.arrows.push(Arrow { from, to, kind, on_cycle });
            }
        }
    }
    // A cycle may leave out what lies between.
    for pair in cycle.iter().filter(|pair| !drawn.contains(pair)) {
        let kind = match *pair {
            (a, b) if execution.po.contains(a, b) => Kind::Po,
            (a, b) if execution.co.contains(a, b) => Kind::Co,
            (a, b) if execution.rf.contains(a, b) => Kind::Rf,
            _ => Kind::Fr,
        };
        if let (Some(&from), Some(&to)) = (boxes.get(&pair.0), boxes.get(&pair.1)) {
            picture.arrows.push(Arrow { from, to, kind, on_cycle: true });
        }
    }
    picture
}

/// A transitive relation without the pairs that it implies.
fn neighbours(relation: &Relation) -> Relation {
    relation.difference(&relation.compose(relation))
}
