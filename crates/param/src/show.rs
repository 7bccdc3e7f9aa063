//! Cubes and runs as text, in the notation of the input language where it has one.

use crate::cube::{Atom, Cell, Cube, CubeLit, sort_of};
use crate::literal::{LinOp, Linear, Lit};
use crate::memory::{Memory, elements};
use crate::system::{NONE, Sort, System};

/// A cell as the user writes it.
pub fn cell(system: &System, cell: &Cell) -> String {
    let name = &system.symbol(cell.0).name;
    let idx: Vec<String> = cell.1.iter().filter(|p| **p != NONE).map(|p| format!("#{}", p + 1)).collect();
    if idx.is_empty() { name.clone() } else { format!("{name}[{}]", idx.join(",")) }
}

/// An atom.
pub fn atom(system: &System, memory: &Memory, a: Atom) -> String {
    match a {
        Atom::Cell(sym, idx) => cell(system, &(sym, idx)),
        Atom::Read(r) => {
            let read = &memory.reads[r as usize];
            let shown = cell(system, &read.cell);
            if memory.after.len() > 1 {
                format!("(#{} @ {shown} at e{})", read.proc + 1, read.node + 1)
            } else {
                format!("#{} @ {shown}", read.proc + 1)
            }
        }
        Atom::Any(n) => format!("?{n}"),
        Atom::Proc(p) => format!("#{}", p + 1),
    }
}

fn linear(system: &System, memory: &Memory, op: LinOp, form: &Linear<Atom>) -> String {
    let sort = form.terms.first().map_or(Sort::Int, |t| sort_of(system, memory, t.0));
    let side = |positive: bool| {
        let mut parts: Vec<String> = Vec::new();
        for (a, c) in form.terms.iter().filter(|t| (t.1 > 0) == positive) {
            let shown = atom(system, memory, *a);
            parts.push(if c.abs() == 1 { shown } else { format!("{} * {shown}", c.abs()) });
        }
        if (form.constant > 0) == positive && form.constant != 0 {
            parts.push(system.show_value(sort, form.constant.abs()));
        }
        if parts.is_empty() { system.show_value(sort, 0) } else { parts.join(" + ") }
    };
    let op = match op {
        LinOp::Eq => "=",
        LinOp::Ne => "<>",
        LinOp::Le => "<=",
        LinOp::Lt => "<",
    };
    format!("{} {op} {}", side(true), side(false))
}

/// A literal.
pub fn literal(system: &System, memory: &Memory, lit: &CubeLit) -> String {
    let show = |a: &Atom| atom(system, memory, *a);
    match lit {
        Lit::In(a, mask) => {
            let sort = sort_of(system, memory, *a);
            let full = system.full_mask(sort);
            let names = |mask: u64| -> Vec<String> {
                elements(mask).map(|v| system.show_value(sort, i64::from(v))).collect()
            };
            if mask.count_ones() == 1 {
                format!("{} = {}", show(a), names(*mask).join(""))
            } else if (full & !mask).count_ones() == 1 {
                format!("{} <> {}", show(a), names(full & !mask).join(""))
            } else {
                let parts: Vec<String> = names(*mask).iter().map(|n| format!("{} = {n}", show(a))).collect();
                format!("({})", parts.join(" || "))
            }
        }
        Lit::Eq(a, b) => format!("{} = {}", show(a), show(b)),
        Lit::Ne(a, b) => format!("{} <> {}", show(a), show(b)),
        Lit::Lt(a, b) => format!("{} < {}", show(a), show(b)),
        Lit::Lin(op, form) => linear(system, memory, *op, form),
    }
}

/// A cube: its literals, then what is known of `ghb`.
pub fn cube(system: &System, cube: &Cube) -> String {
    let memory = &cube.memory;
    let mut parts: Vec<String> = cube.lits.iter().map(|l| literal(system, memory, l)).collect();
    let events = |set: u64| -> String {
        let names: Vec<String> = elements(set).map(|n| format!("e{}", n + 1)).collect();
        if names.len() == 1 { names[0].clone() } else { format!("{{{}}}", names.join(" ")) }
    };
    for (n, after) in memory.after.iter().enumerate() {
        if *after != 0 {
            parts.push(format!("e{} before {}", n + 1, events(*after)));
        }
    }
    for (p, entry) in memory.entries.iter().enumerate() {
        if entry.event & !entry.write != 0 {
            parts.push(format!("events of #{} before {}", p + 1, events(entry.event)));
        }
        if entry.write != 0 {
            let both = if entry.event == entry.write { "events and writes" } else { "writes" };
            parts.push(format!("{both} of #{} before {}", p + 1, events(entry.write)));
        }
    }
    for (c, nodes) in &memory.cells {
        parts.push(format!("accesses to {} before {}", cell(system, c), events(*nodes)));
    }
    for write in &memory.writes {
        let cells: Vec<String> = write.cells.iter().map(|c| cell(system, c)).collect();
        parts.push(format!("e{} writes {} by #{}", write.node + 1, cells.join(" "), write.proc + 1));
        for r in &write.skipped {
            parts.push(format!(
                "{} comes from after e{}",
                atom(system, memory, Atom::Read(*r)),
                write.node + 1
            ));
        }
    }
    if parts.is_empty() { "true".into() } else { parts.join(" && ") }
}
