//! From a chain of cubes to a concrete trace, and from a run of the machine to what the user is shown.

use crate::backward::Search;
use crate::literal::Term;
use crate::machine::{Machine, State, Step};
use crate::outcome::{Missed, TraceStep};
use crate::replay::{Firing, Run};
use crate::system::{NONE, SrcAtom, Target, Transition};

/// The transitions from the node that meets the initial states to the bad cube, with concrete processes, and how many
/// processes there are.
pub fn firings(search: &Search, reached: usize) -> (Vec<Firing>, u8) {
    let mut result = Vec::new();
    let mut at = reached;
    // Concrete process of each process of the current cube.
    let mut concrete: Vec<u8> = (0..search.nodes[at].cube.procs).collect();
    let mut count = search.nodes[at].cube.procs;
    while let Some(origin) = &search.nodes[at].origin {
        // The approximation of a cube may have dropped processes: they are any others.
        let mut before: Vec<u8> = Vec::new();
        for number in &origin.numbers {
            let known = (*number != NONE).then(|| concrete.get(*number as usize).copied()).flatten();
            before.push(known.unwrap_or_else(|| {
                count += 1;
                count - 1
            }));
        }
        let args = origin.args.iter().map(|a| before[*a as usize]).collect();
        result.push((origin.transition, args));
        at = origin.parent;
        before.truncate(search.nodes[at].cube.procs as usize);
        concrete = before;
    }
    (result, search.context.system.number_procs.unwrap_or(count.max(1)))
}

/// A run as the user sees it: values, buffers and events.
pub fn describe(machine: &Machine, run: &Run) -> Vec<TraceStep> {
    let mut result = vec![step(machine, "init".into(), None, vec![], &run.initial)];
    let mut before = &run.initial;
    for (action, state) in &run.steps {
        let shown = match action {
            Step::Fire { transition, args } => {
                let t = &machine.system.transitions[*transition];
                let names: Vec<String> =
                    args[..t.declared as usize].iter().map(|p| format!("#{}", p + 1)).collect();
                let acting = t.acting.map(|a| args[a as usize]);
                let reads = acting.map(|_| reads(machine, t, args)).unwrap_or_default();
                let events = acting.map(|p| events(machine, t, p, &reads, before, state)).unwrap_or_default();
                let missed = acting.and_then(|p| missed(machine, p, &reads, before, state));
                let action = format!("{}({})", t.name, names.join(", "));
                TraceStep { missed, ..step(machine, action, acting, events, state) }
            }
            Step::Flush { proc, entry } => {
                let entry = &before.buffers[*proc as usize][*entry];
                let event = format!("visible: {}", show_entry(machine, entry));
                step(machine, format!("flush of #{}", proc + 1), Some(*proc), vec![event], state)
            }
        };
        result.push(shown);
        before = state;
    }
    result
}

fn step(
    machine: &Machine,
    action: String,
    process: Option<u8>,
    events: Vec<String>,
    state: &State,
) -> TraceStep {
    let values = (0..machine.cell_count())
        .map(|c| (machine.show_cell(c), machine.show_value(c, state.cells[c as usize])))
        .collect();
    let buffers =
        state.buffers.iter().map(|b| b.iter().map(|entry| show_entry(machine, entry)).collect()).collect();
    let process = process.map(|p| u32::from(p) + 1);
    TraceStep { action, process, events, values, buffers, missed: None }
}

fn show_entry(machine: &Machine, entry: &[(u32, i64)]) -> String {
    let writes: Vec<String> = entry
        .iter()
        .map(|(c, v)| format!("{} := {}", machine.show_cell(*c), machine.show_value(*c, *v)))
        .collect();
    writes.join(", ")
}

/// The weak cells that a transition of the process reads.
fn reads(machine: &Machine, t: &Transition, args: &[u8]) -> Vec<u32> {
    let mut vars = args.to_vec();
    vars.resize(usize::from(t.variables).max(args.len()), 0);
    let mut cells: Vec<u32> = Vec::new();
    let mut note = |atom: SrcAtom| {
        if let SrcAtom::Sym(sym, idx) = atom
            && machine.system.symbol(sym).weak
            && idx.iter().all(|i| i.0 == NONE || i.0 >= 128 || i.0 < t.params)
        {
            cells.push(machine.cell(sym, &idx, &vars));
        }
    };
    t.guard.iter().for_each(|l| l.for_each_atom(&mut note));
    for u in &t.updates {
        for (condition, term) in &u.branches {
            condition.iter().for_each(|l| l.for_each_atom(&mut note));
            match term {
                Some(Term::Atom(a)) if !matches!(u.target, Target::Every(_)) => note(*a),
                Some(Term::Lin(l)) => l.terms.iter().for_each(|t| note(t.0)),
                _ => {}
            }
        }
    }
    for u in t.universals.iter().filter(|u| u.vars.len() == 1) {
        let declared = &args[..t.declared as usize];
        for q in (0..machine.procs).filter(|q| !u.other || !declared.contains(q)) {
            vars[u.vars[0] as usize] = q;
            for lit in u.dnf.iter().flatten() {
                lit.for_each_atom(|a| {
                    if let SrcAtom::Sym(sym, idx) = a
                        && machine.system.symbol(sym).weak
                    {
                        cells.push(machine.cell(sym, &idx, &vars));
                    }
                });
            }
        }
    }
    cells.sort();
    cells.dedup();
    cells
}

/// Whether the process finds a cell in its own buffer.
fn is_own(before: &State, p: u8, cell: u32) -> bool {
    before.buffers[p as usize].iter().flatten().any(|w| w.0 == cell)
}

/// The last of the reads that takes from memory what another process has written and not yet given to it.
fn missed(machine: &Machine, p: u8, reads: &[u32], before: &State, after: &State) -> Option<Missed> {
    reads.iter().rev().filter(|cell| !is_own(before, p, **cell)).find_map(|&cell| {
        let others = after.buffers.iter().enumerate().filter(|(other, _)| *other != usize::from(p));
        let (writer, waiting) = others
            .flat_map(|(other, buffer)| buffer.iter().flatten().map(move |write| (other, write)))
            .find_map(|(other, write)| (write.0 == cell).then_some((other, write.1)))?;
        Some(Missed {
            reader: u32::from(p) + 1,
            cell: machine.show_cell(cell),
            value: machine.show_value(cell, machine.view(before, p, cell)),
            writer: writer as u32 + 1,
            waiting: machine.show_value(cell, waiting),
        })
    })
}

/// The events of a transition: what it read and from where, its fence, what it wrote and where to.
fn events(
    machine: &Machine,
    t: &Transition,
    p: u8,
    reads: &[u32],
    before: &State,
    after: &State,
) -> Vec<String> {
    let mut result = Vec::new();
    if t.fence || t.is_rmw() {
        result.push(format!("{} of #{}", if t.is_rmw() { "locked" } else { "fence" }, p + 1));
    }
    for &cell in reads {
        let own = is_own(before, p, cell);
        let value = machine.show_value(cell, machine.view(before, p, cell));
        let place = if own { "its buffer" } else { "memory" };
        result.push(format!("#{} reads {} = {value} from {place}", p + 1, machine.show_cell(cell)));
    }
    if after.buffers[p as usize].len() > before.buffers[p as usize].len()
        && let Some(entry) = after.buffers[p as usize].last()
    {
        result.push(format!("#{} writes {} to its buffer", p + 1, show_entry(machine, entry)));
    } else {
        let changed = (0..machine.cell_count()).filter(|&c| machine.is_weak(c));
        for c in changed.filter(|&c| before.cells[c as usize] != after.cells[c as usize]) {
            result.push(format!(
                "#{} writes {} to memory",
                p + 1,
                show_entry(machine, &[(c, after.cells[c as usize])])
            ));
        }
    }
    result
}
