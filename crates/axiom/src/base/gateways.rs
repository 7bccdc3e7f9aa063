//! Starts and joins: how program order goes from one thread to another.

use super::Base;
use fencepost_bmc::aig::{Graph, Lit};
use fencepost_bmc::symbolic::{EventKind as Symbolic, Unrolled};

/// What program order leads through from one thread to another: starts and joins.
pub(super) struct Gateways {
    /// Their events.
    pub(super) events: Vec<u32>,
    /// The thread that a start leads to, or those that a join comes from.
    ends: Vec<End>,
    /// Which is before which, itself included.
    before: Vec<Vec<Lit>>,
}

enum End {
    Start(u32),
    Joined(Vec<(u32, Lit)>),
}

impl Gateways {
    pub(super) fn new(base: &Base, unrolled: &mut Unrolled) -> Gateways {
        let mut gateways = Gateways { events: Vec::new(), ends: Vec::new(), before: Vec::new() };
        for (number, vertex) in (0u32..).zip(&base.vertices) {
            let end = match vertex.event.map(|event| &unrolled.events[event as usize].kind) {
                Some(Symbolic::Spawn(child)) => End::Start(child.0),
                Some(Symbolic::Join(threads)) => {
                    End::Joined(threads.iter().map(|(thread, named)| (thread.0, *named)).collect())
                }
                _ => continue,
            };
            gateways.events.push(number);
            gateways.ends.push(end);
        }
        let graph = &mut unrolled.graph;
        let n = gateways.events.len();
        let mut before = vec![vec![Lit::FALSE; n]; n];
        for (g, &a) in gateways.events.iter().enumerate() {
            for (h, &b) in gateways.events.iter().enumerate() {
                before[g][h] = gateways.step(base, graph, (g, a), (h, b));
            }
        }
        for k in 0..n {
            for g in 0..n {
                for h in 0..n {
                    let through = graph.and(before[g][k], before[k][h]);
                    before[g][h] =
                        or_within(base, graph, before[g][h], through, gateways.events[g], gateways.events[h]);
                }
            }
        }
        gateways.before = before;
        gateways
    }

    /// One step from gateway to gateway: along a thread, through a start, or through a join.
    pub(super) fn step(
        &self,
        base: &Base,
        graph: &mut Graph,
        (g, a): (usize, u32),
        (h, b): (usize, u32),
    ) -> Lit {
        let (first, second) = (&base.vertices[a as usize], &base.vertices[b as usize]);
        let started = match &self.ends[g] {
            End::Start(child) => Some(*child),
            End::Joined(_) => None,
        };
        let mut ways = Vec::new();
        if (first.thread == second.thread && a < b) || (started.is_some() && started == second.thread) {
            ways.push(Lit::TRUE);
        }
        if let End::Joined(threads) = &self.ends[h] {
            // A thread without events orders all the same.
            let ends_there = |thread: u32| first.thread == Some(thread) || started == Some(thread);
            ways.extend(threads.iter().filter(|(thread, _)| ends_there(*thread)).map(|(_, named)| *named));
        }
        let some = graph.or_all(&ways);
        let both = base.executed(graph, a, b);
        graph.and(both, some)
    }

    /// For each gateway: an event is before it, or is it.
    pub(super) fn from(&self, base: &Base, graph: &mut Graph, a: u32) -> Vec<Lit> {
        let vertex = &base.vertices[a as usize];
        if vertex.thread.is_none() {
            return vec![Lit::FALSE; self.events.len()];
        }
        let enter: Vec<Lit> = (0..self.events.len())
            .map(|g| {
                let event = self.events[g];
                let way = match &self.ends[g] {
                    _ if event == a => Lit::TRUE,
                    _ if vertex.thread == base.vertices[event as usize].thread => Lit::constant(a < event),
                    End::Start(_) => Lit::FALSE,
                    End::Joined(threads) => {
                        let of = threads.iter().find(|(thread, _)| vertex.thread == Some(*thread));
                        of.map_or(Lit::FALSE, |(_, named)| *named)
                    }
                };
                let both = base.executed(graph, a, event);
                graph.and(both, way)
            })
            .collect();
        let mut reached = enter.clone();
        for (h, &to) in self.events.iter().enumerate() {
            for (g, &first) in enter.iter().enumerate() {
                let through = graph.and(first, self.before[g][h]);
                reached[h] = or_within(base, graph, reached[h], through, a, to);
            }
        }
        reached
    }

    /// An event is before another one through gateways.
    pub(super) fn to(&self, base: &Base, graph: &mut Graph, enter: &[Lit], a: u32, b: u32) -> Lit {
        let vertex = &base.vertices[b as usize];
        let mut lit = Lit::FALSE;
        for (g, &event) in self.events.iter().enumerate().filter(|(g, _)| enter[*g] != Lit::FALSE) {
            let leaves = match &self.ends[g] {
                _ if vertex.thread.is_none() => false,
                _ if event == b => event != a,
                End::Start(child) => vertex.thread == Some(*child) || self.goes_on(base, event, b),
                End::Joined(_) => self.goes_on(base, event, b),
            };
            if leaves {
                let through = graph.and(enter[g], vertex.guard);
                lit = or_within(base, graph, lit, through, a, b);
            }
        }
        lit
    }

    pub(super) fn goes_on(&self, base: &Base, event: u32, b: u32) -> bool {
        base.vertices[event as usize].thread == base.vertices[b as usize].thread && event < b
    }
}

/// One way or another to be in a relation; that both are executed, if that is all it takes.
fn or_within(base: &Base, graph: &mut Graph, known: Lit, way: Lit, a: u32, b: u32) -> Lit {
    let both = base.executed(graph, a, b);
    if way == Lit::FALSE || known == both {
        return known;
    }
    if graph.surely_implies(both, way) {
        return both;
    }
    graph.or(known, way)
}
