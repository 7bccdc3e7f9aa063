//! What a test is called: the family of the cycle, and what keeps the accesses of each thread in order.
//!
//! `MP+dmb.sy+addr` is message passing with a fence in one thread and a dependency in the other. Families are known by what
//! each thread does first and last and by how threads communicate; others are called after their threads' accesses (`W+RW+RR`).

use crate::Dialect;
use crate::cycle::Cycle;
use crate::edge::{Com, Dep, Edge, Kind, Note, Order, Scope};

/// The families of two, three and four threads that have names: what threads do, with the communication that leads on from each.
const FAMILIES: [(&str, &str); 34] = [
    ("SB", "WR-Fr WR-Fr"),
    ("MP", "WW-Rf RR-Fr"),
    ("LB", "RW-Rf RW-Rf"),
    ("S", "WW-Rf RW-Co"),
    ("R", "WW-Co WR-Fr"),
    ("2+2W", "WW-Co WW-Co"),
    ("WRC", "W-Rf RW-Rf RR-Fr"),
    ("RWC", "W-Rf RR-Fr WR-Fr"),
    ("WRW+WR", "W-Rf RW-Co WR-Fr"),
    ("WRR+2W", "W-Rf RR-Fr WW-Co"),
    ("WRW+2W", "W-Rf RW-Co WW-Co"),
    ("WWC", "W-Rf RW-Rf RW-Co"),
    ("ISA2", "WW-Rf RW-Rf RR-Fr"),
    ("3.SB", "WR-Fr WR-Fr WR-Fr"),
    ("3.LB", "RW-Rf RW-Rf RW-Rf"),
    ("3.2W", "WW-Co WW-Co WW-Co"),
    ("Z6.0", "WW-Rf RW-Co WR-Fr"),
    ("Z6.1", "WW-Co WW-Rf RW-Co"),
    ("Z6.2", "WW-Rf RW-Rf RW-Co"),
    ("Z6.3", "WW-Co WW-Rf RR-Fr"),
    ("Z6.4", "WW-Co WR-Fr WR-Fr"),
    ("Z6.5", "WW-Co WW-Co WR-Fr"),
    ("W+RWC", "WW-Rf RR-Fr WR-Fr"),
    ("IRIW", "W-Rf RR-Fr W-Rf RR-Fr"),
    ("IRWIW", "W-Rf RR-Fr W-Rf RW-Co"),
    ("IRRWIW", "W-Rf RW-Co W-Rf RR-Fr"),
    ("IRWIW", "W-Rf RW-Co W-Rf RW-Co"),
    ("CoRR", "W-Rf RR-Fr"),
    ("CoWR", "WR-Fr W-Co"),
    ("CoRW2", "W-Rf RW-Co"),
    ("CoRW1", "RW-Rf"),
    ("4.SB", "WR-Fr WR-Fr WR-Fr WR-Fr"),
    ("4.LB", "RW-Rf RW-Rf RW-Rf RW-Rf"),
    ("4.2W", "WW-Co WW-Co WW-Co WW-Co"),
];

/// The name of a test.
pub fn of(cycle: &Cycle) -> String {
    let threads = threads(cycle);
    let parts: Vec<String> = threads
        .iter()
        .filter(|thread| thread.len() > 1)
        .map(|thread| {
            thread[..thread.len() - 1].iter().map(|&at| link(cycle, at)).collect::<Vec<_>>().join("-")
        })
        .collect();
    let family = family(cycle, &threads);
    match parts.split_first() {
        None => family,
        // Program order alone keeps nothing, and is not mentioned where nothing else is.
        _ if parts.iter().all(|part| part == "po") => family,
        Some((first, rest)) if !rest.is_empty() && rest.iter().all(|part| part == first) => {
            format!("{family}+{first}s")
        }
        Some(_) => format!("{family}+{}", parts.join("+")),
    }
}

/// The accesses of each thread.
fn threads(cycle: &Cycle) -> Vec<Vec<usize>> {
    (0..cycle.threads).map(|thread| cycle.of_thread(thread).map(|(at, _)| at).collect()).collect()
}

fn family(cycle: &Cycle, threads: &[Vec<usize>]) -> String {
    let does = |thread: &Vec<usize>| -> String {
        let (first, last) = (thread[0], thread[thread.len() - 1]);
        let one = cycle.accesses[first].dir.to_string();
        if thread.len() == 1 { one } else { one + &cycle.accesses[last].dir.to_string() }
    };
    let com = |thread: &Vec<usize>| match cycle.edges[thread[thread.len() - 1]].kind {
        Kind::Com(Com::Rf, _) => "Rf",
        Kind::Com(Com::Fr, _) => "Fr",
        Kind::Com(Com::Co, _) => "Co",
        _ => "Hat",
    };
    let has_excursion = cycle.edges.iter().any(|edge| matches!(edge.kind, Kind::Com(_, Scope::Leave)));
    let pieces: Vec<String> = threads.iter().map(|t| format!("{}-{}", does(t), com(t))).collect();
    let mut turned = pieces.clone();
    for _ in 0..pieces.len() {
        let text = turned.join(" ");
        if let Some((name, _)) = FAMILIES.iter().find(|(_, row)| *row == text).filter(|_| !has_excursion) {
            return (*name).to_owned();
        }
        turned.rotate_left(1);
    }
    threads.iter().map(does).collect::<Vec<_>>().join("+")
}

/// What leads from an access to the next one of its thread, in short.
fn link(cycle: &Cycle, at: usize) -> String {
    let edge = &cycle.edges[at];
    let same = if edge.same { "s" } else { "" };
    let base = match edge.kind {
        Kind::Po => format!("po{same}"),
        Kind::Fence(index) => format!("{}{same}", cycle.dialect.fences()[index].short),
        Kind::Dep(Dep::Addr) => format!("addr{same}"),
        Kind::Dep(Dep::Data) => format!("data{same}"),
        Kind::Dep(Dep::Ctrl) => format!("ctrl{same}"),
        Kind::Dep(Dep::CtrlFence) => {
            format!("ctrl{}{same}", cycle.dialect.ctrl_fence().unwrap_or_default().to_lowercase())
        }
        Kind::Com(Com::Rf, Scope::Internal) => "rfi".into(),
        Kind::Com(Com::Fr, Scope::Internal) => "fri".into(),
        Kind::Com(Com::Co, Scope::Internal) => "wsi".into(),
        Kind::Rmw => "rmw".into(),
        Kind::Amo(is_cas) => if is_cas { "cas" } else { "swp" }.into(),
        // Out to another thread and back: the accesses in this thread are in program order.
        Kind::Com(..) | Kind::Hat => "detour".into(),
    };
    let (from, to) = (cycle.accesses[at].note, cycle.accesses[(at + 1) % cycle.accesses.len()].note);
    if from == Note::default() && to == Note::default() {
        return base;
    }
    format!("{base}{}{}", shown(cycle.dialect, from).to_lowercase(), shown(cycle.dialect, to).to_lowercase())
}

fn shown(dialect: Dialect, note: Note) -> String {
    let order = dialect.order_name(note);
    let plain = note.order == Order::Plain && !note.exclusive;
    match note.size {
        None => order.to_owned(),
        Some(size) => {
            let letter = ["b", "h", "w", "q"][size.bytes.ilog2() as usize];
            let dot = if plain { "" } else { "." };
            format!("{}{dot}{letter}{}", if plain { "" } else { order }, size.offset)
        }
    }
}

/// The cycle in words, as it can be read again.
pub fn edges(cycle: &Cycle) -> String {
    let count = cycle.edges.len();
    let has_notes = cycle.accesses.iter().any(|access| access.note != Note::default());
    let word = |at: usize| {
        let notes = (cycle.accesses[at].note, cycle.accesses[(at + 1) % count].note);
        let name = edge_name(&cycle.edges[at], cycle.dialect);
        match has_notes && notes != Default::default() {
            true => format!("{name}{}{}", shown(cycle.dialect, notes.0), shown(cycle.dialect, notes.1)),
            false => name,
        }
    };
    (0..count).map(word).collect::<Vec<_>>().join(" ")
}

/// An edge without its annotations.
pub(crate) fn edge_name(edge: &Edge, dialect: Dialect) -> String {
    let same = if edge.same { "s" } else { "d" };
    let (from, to) = (edge.from, edge.to);
    match edge.kind {
        Kind::Com(com, scope) => {
            let com = ["Rf", "Fr", "Ws"][com as usize];
            let scope = ["i", "e", "Leave", "Back"][scope as usize];
            format!("{com}{scope}")
        }
        Kind::Hat => "Hat".into(),
        Kind::Rmw => "Rmw".into(),
        Kind::Amo(is_cas) => if is_cas { "Amo.Cas" } else { "Amo.Swp" }.into(),
        Kind::Po => format!("Po{same}{from}{to}"),
        Kind::Fence(index) => format!("{}{same}{from}{to}", dialect.fences()[index].edge),
        Kind::Dep(dep) => {
            let name = match dep {
                Dep::Addr => "Addr".to_owned(),
                Dep::Data => "Data".to_owned(),
                Dep::Ctrl => "Ctrl".to_owned(),
                Dep::CtrlFence => format!("Ctrl{}", dialect.ctrl_fence().unwrap_or_default()),
            };
            format!("Dp{name}{same}{to}")
        }
    }
}
