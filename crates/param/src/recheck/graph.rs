//! An explicit event graph. The sets that a cube keeps become events of their own: "some later event of process p",
//! "some later write to cell X". Reachability is a matrix.

use crate::cube::{Atom, Cell, Cube, CubeLit};
use crate::literal::{Fact, Lit};
use crate::memory::{Memory, Nodes, Read, elements};
use crate::model::Model;
use crate::solver::entails;
use crate::system::NONE;

/// What an event stands for.
#[derive(Clone, Debug, PartialEq)]
enum Role {
    /// A node of the cube, or the new event.
    Node,
    /// After every earlier read, fence or read-modify-write of the process (of everyone, if none is given).
    AfterEvents(Option<u8>),
    /// After every earlier plain write.
    AfterWrites(Option<u8>),
    /// After every earlier access to the cell.
    AfterAccess(Cell),
}

/// What the new event is.
#[derive(Clone, Debug)]
pub struct NewEvent {
    /// Who acts.
    pub proc: u8,
    /// Cells read.
    pub reads: Vec<Cell>,
    /// Cells written.
    pub writes: Vec<Cell>,
    /// Locked.
    pub rmw: bool,
    /// With a fence before.
    pub fence: bool,
}

/// Events, their order, and the reads still unsatisfied.
#[derive(Clone)]
pub struct Graph {
    roles: Vec<Role>,
    before: Vec<Vec<bool>>,
    /// Reads, with the event as node.
    pub reads: Vec<Read>,
    new: Option<(usize, NewEvent)>,
    model: Model,
}

impl Graph {
    /// The graph of a cube.
    pub fn of(memory: &Memory, model: Model) -> Graph {
        let mut graph =
            Graph { roles: vec![], before: vec![], reads: memory.reads.clone(), new: None, model };
        for _ in &memory.after {
            graph.add(Role::Node);
        }
        for (n, after) in memory.after.iter().enumerate() {
            graph.edges(n, *after);
        }
        for (p, entry) in memory.entries.iter().enumerate() {
            graph.add_with(Role::AfterEvents(Some(p as u8)), entry.event);
            graph.add_with(Role::AfterWrites(Some(p as u8)), entry.write);
        }
        graph.add_with(Role::AfterEvents(None), memory.everyone.event);
        graph.add_with(Role::AfterWrites(None), memory.everyone.write);
        for (cell, nodes) in &memory.cells {
            graph.add_with(Role::AfterAccess(*cell), *nodes);
        }
        graph.close();
        graph
    }

    fn add(&mut self, role: Role) -> usize {
        self.roles.push(role);
        for row in &mut self.before {
            row.push(false);
        }
        self.before.push(vec![false; self.roles.len()]);
        self.roles.len() - 1
    }

    fn add_with(&mut self, role: Role, nodes: Nodes) {
        if nodes != 0 {
            let event = self.add(role);
            self.edges(event, nodes);
        }
    }

    fn edges(&mut self, from: usize, nodes: Nodes) {
        for n in elements(nodes) {
            self.before[from][n as usize] = true;
        }
    }

    fn close(&mut self) {
        let n = self.roles.len();
        for k in 0..n {
            for i in 0..n {
                if self.before[i][k] {
                    for j in 0..n {
                        self.before[i][j] |= self.before[k][j];
                    }
                }
            }
        }
    }

    /// Adds the new event before the others: the chosen reads take its value, the missed ones come before it. `None`
    /// if there is a cycle.
    pub fn with(&self, event: &NewEvent, satisfied: &[usize], missed: &[usize]) -> Option<Graph> {
        let mut graph = self.clone();
        let e = graph.add(Role::Node);
        let plain_write = !event.writes.is_empty() && !event.rmw;
        for other in 0..e {
            let ordered = match &graph.roles[other] {
                Role::Node => false,
                Role::AfterEvents(p) => !plain_write && p.is_none_or(|p| p == event.proc),
                Role::AfterWrites(p) => plain_write && p.is_none_or(|p| p == event.proc),
                Role::AfterAccess(cell) => event.reads.contains(cell) || event.writes.contains(cell),
            };
            graph.before[e][other] = ordered;
        }
        for &r in satisfied {
            if self.reads[r].proc != event.proc {
                graph.before[e][self.reads[r].node as usize] = true;
            }
        }
        for &r in missed {
            graph.before[self.reads[r].node as usize][e] = true;
        }
        graph.close();
        if (0..=e).any(|n| graph.before[n][n]) {
            return None;
        }
        graph.reads.extend(event.reads.iter().map(|&cell| Read { proc: event.proc, cell, node: e as u8 }));
        graph.new = Some((e, event.clone()));
        Some(graph)
    }

    /// Whether some event of one of the roles comes before the node.
    fn any_before(&self, node: u8, role: impl Fn(&Role) -> bool) -> bool {
        (0..self.roles.len()).any(|i| role(&self.roles[i]) && self.before[i][node as usize])
    }

    fn new_reaches(&self, node: u8) -> bool {
        self.new.as_ref().is_some_and(|(e, _)| *e == node as usize || self.before[*e][node as usize])
    }

    /// Whether every earlier read, fence or read-modify-write of the process (of anyone) comes before the node.
    fn events_before(&self, proc: Option<u8>, node: u8) -> bool {
        self.any_before(node, |r| matches!(r, Role::AfterEvents(p) if p.is_none() || *p == proc))
            || (self.new.as_ref().is_some_and(|(_, e)| Some(e.proc) == proc) && self.new_reaches(node))
    }

    /// The same for every earlier plain write.
    fn writes_before(&self, proc: Option<u8>, node: u8) -> bool {
        if self.any_before(node, |r| matches!(r, Role::AfterWrites(p) if p.is_none() || *p == proc)) {
            return true;
        }
        let Some((_, event)) = self.new.as_ref().filter(|(_, e)| Some(e.proc) == proc) else { return false };
        let is_write = !event.writes.is_empty();
        let ordered = match self.model {
            Model::Sc => true,
            Model::Tso => is_write || event.rmw,
            Model::Pso => event.rmw,
        };
        (ordered && self.new_reaches(node)) || (event.fence && self.events_before(proc, node))
    }

    fn access_before(&self, cell: &Cell, node: u8) -> bool {
        self.any_before(node, |r| matches!(r, Role::AfterAccess(c) if c == cell))
            || (self.new.as_ref().is_some_and(|(_, e)| e.writes.contains(cell)) && self.new_reaches(node))
    }
}

/// What literals mention: bits for symbols and values (and processes, unless they may be renamed), so that most pairs of
/// cubes are told apart at once.
pub fn mentioned(lits: &[CubeLit], reads: &[Read], permute: bool) -> u128 {
    let mut result = 0;
    let mut note = |a: Atom, value: u64| {
        let (sym, idx, read) = match a {
            Atom::Cell(s, idx) => (s, idx, 0),
            Atom::Read(r) => {
                (reads[r as usize].cell.0, reads[r as usize].cell.1, 1 + u64::from(reads[r as usize].proc))
            }
            _ => return,
        };
        let mut feature = u64::from(sym) * 131 + value * 31;
        if permute {
            feature += u64::from(read > 0) * 17;
        } else {
            feature += read * 17 + idx.iter().fold(0, |n, p| n * 7 + u64::from(*p));
        }
        result |= 1u128 << (feature.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 57);
    };
    for lit in lits {
        lit.for_each_atom(|a| note(a, 0));
        if let Lit::In(a, mask) = lit
            && mask.count_ones() == 1
        {
            note(*a, mask.trailing_zeros() as u64 + 1);
        }
    }
    result
}

/// Whether the conjunction with the graph lies within the general cube.
pub fn covers(general: &Cube, lits: &[CubeLit], procs: u8, graph: &Graph, permute: bool) -> bool {
    if general.procs > procs || (general.memory.reads.len() > graph.reads.len()) {
        return false;
    }
    match_procs(general, lits, procs, graph, permute, &mut Vec::new())
}

fn match_procs(
    general: &Cube,
    lits: &[CubeLit],
    procs: u8,
    graph: &Graph,
    permute: bool,
    map: &mut Vec<u8>,
) -> bool {
    // Literals that speak of the processes chosen so far, the last one among them.
    let last = map.len() as u8;
    let ready = |l: &&CubeLit| {
        let (mut highest, mut reads) = (0, false);
        l.for_each_atom(|a| match a {
            Atom::Cell(_, idx) => {
                idx.iter().filter(|p| **p != NONE).for_each(|p| highest = highest.max(p + 1))
            }
            Atom::Proc(p) => highest = highest.max(p + 1),
            Atom::Read(_) | Atom::Any(_) => reads = true,
        });
        highest == last && !reads
    };
    if !general.lits.iter().filter(ready).all(|l| implied(l, lits, map, &[])) {
        return false;
    }
    if last == general.procs {
        return match_reads(general, lits, graph, map, &mut Vec::new());
    }
    let candidates = if permute { 0..procs } else { last..last + 1 };
    for q in candidates {
        if !map.contains(&q) {
            map.push(q);
            if match_procs(general, lits, procs, graph, permute, map) {
                return true;
            }
            map.pop();
        }
    }
    false
}

fn rename(p: u8, map: &[u8]) -> u8 {
    if p == NONE { NONE } else { map[p as usize] }
}

fn rename_cell(cell: &Cell, map: &[u8]) -> Cell {
    (cell.0, cell.1.map(|p| rename(p, map)))
}

fn implied(lit: &CubeLit, lits: &[CubeLit], map: &[u8], reads: &[usize]) -> bool {
    let fact = lit.rename(&mut |a| match a {
        Atom::Cell(s, idx) => Atom::Cell(s, idx.map(|p| rename(p, map))),
        Atom::Proc(p) => Atom::Proc(rename(p, map)),
        Atom::Read(r) => Atom::Read(reads[r as usize] as u8),
        other => other,
    });
    match fact {
        Fact::True => true,
        Fact::False => false,
        Fact::Lit(l) => entails(lits, &l),
    }
}

fn match_reads(general: &Cube, lits: &[CubeLit], graph: &Graph, map: &[u8], reads: &mut Vec<usize>) -> bool {
    let memory = &general.memory;
    if reads.len() == memory.reads.len() {
        return general.lits.iter().all(|l| implied(l, lits, map, reads))
            && orders_hold(memory, graph, map, reads);
    }
    let read = memory.reads[reads.len()];
    for (i, other) in graph.reads.iter().enumerate() {
        let same_node = |(j, image): (usize, &usize)| {
            memory.reads[j].node != read.node || graph.reads[*image].node == other.node
        };
        if other.proc == rename(read.proc, map)
            && other.cell == rename_cell(&read.cell, map)
            && reads.iter().enumerate().all(same_node)
        {
            reads.push(i);
            // Literals about this read and earlier ones.
            let last = reads.len() as u8 - 1;
            let ready = |l: &&CubeLit| {
                let (mut here, mut later) = (false, false);
                l.for_each_atom(|a| {
                    if let Atom::Read(r) = a {
                        here |= r == last;
                        later |= r > last;
                    }
                });
                here && !later
            };
            if general.lits.iter().filter(ready).all(|l| implied(l, lits, map, reads))
                && match_reads(general, lits, graph, map, reads)
            {
                return true;
            }
            reads.pop();
        }
    }
    false
}

/// Everything the general cube says about order holds in the graph.
fn orders_hold(memory: &Memory, graph: &Graph, map: &[u8], reads: &[usize]) -> bool {
    let image = |node: u8| {
        let at = memory.reads.iter().position(|r| r.node == node);
        at.map(|r| graph.reads[reads[r]].node)
    };
    let all = |nodes: Nodes, holds: &dyn Fn(u8) -> bool| elements(nodes).all(|n| image(n).is_some_and(holds));
    memory.after.iter().enumerate().all(|(n, after)| {
        image(n as u8).is_some_and(|from| all(*after, &|to| graph.before[from as usize][to as usize]))
    }) && memory.entries.iter().enumerate().all(|(p, entry)| {
        let proc = map.get(p).copied();
        all(entry.event, &|n| graph.events_before(proc, n))
            && all(entry.write, &|n| graph.writes_before(proc, n))
    }) && all(memory.everyone.event, &|n| graph.events_before(None, n))
        && all(memory.everyone.write, &|n| graph.writes_before(None, n))
        && memory.cells.iter().all(|(c, nodes)| {
            let cell = rename_cell(c, map);
            all(*nodes, &|n| graph.access_before(&cell, n))
        })
}
