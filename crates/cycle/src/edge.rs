//! One edge of a cycle, as it is written: `Rfe`, `PodWR`, `DMB.SYdWW`, `DpAddrdR`, `RfeLA`, `FrLeave`.
//!
//! The vocabulary is the usual one of papers on hardware models and of the diy tools: communications (`Rf`, `Fr`, `Ws` or
//! `Co`, with `e` between threads and `i` within one), program order (`Po`), fences and dependencies, each followed by `s` or
//! `d` (the same location, or a different one) and the directions of its two accesses, and by how these two are annotated, if
//! they are not plain.

use crate::Dialect;
use std::fmt;

/// What an access does.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub enum Dir {
    /// It reads.
    R,
    /// It writes.
    W,
}

impl fmt::Display for Dir {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if *self == Dir::R { "R" } else { "W" })
    }
}

/// How an access is ordered.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug, Default)]
pub enum Order {
    /// As a plain instruction is; relaxed in C, `ONCE` in the kernel.
    #[default]
    Plain,
    /// Acquire.
    Acquire,
    /// Acquire, weaker: `LDAPR`.
    AcquirePc,
    /// Release.
    Release,
    /// Both: an atomic instruction.
    AcquireRelease,
    /// C's sequentially consistent.
    Sc,
    /// Not atomic, in C. No edge asks for it.
    NotAtomic,
}

/// The part of a location that an access touches.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct Size {
    /// Bytes: 1, 2, 4 or 8.
    pub bytes: u8,
    /// The first byte.
    pub offset: u8,
}

/// How an access is annotated.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug, Default)]
pub struct Note {
    /// Its order.
    pub order: Order,
    /// It is made by a pair of load- and store-exclusive.
    pub exclusive: bool,
    /// Its size, where accesses differ in size.
    pub size: Option<Size>,
}

/// A communication through one location.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub enum Com {
    /// From a write to what reads it.
    Rf,
    /// From a read to a write that comes after what it reads.
    Fr,
    /// From a write to one that comes after it.
    Co,
}

/// From which thread to which.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub enum Scope {
    /// Within a thread.
    Internal,
    /// To the next thread.
    External,
    /// To a thread from which the cycle comes back.
    Leave,
    /// Back.
    Back,
}

/// What a dependency decides.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub enum Dep {
    /// The address of what follows.
    Addr,
    /// The value that is stored.
    Data,
    /// A branch before it.
    Ctrl,
    /// A branch, and behind it the fence that makes an order of it (`isync`, `ISB`, `fence.i`).
    CtrlFence,
}

/// What relates the two accesses.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub enum Kind {
    /// A communication.
    Com(Com, Scope),
    /// Two reads of the same write.
    Hat,
    /// Read and write of a read-modify-write, by a pair of instructions where the architecture has such pairs.
    Rmw,
    /// The same by one instruction: an exchange, or (`true`) a compare-and-swap that succeeds.
    Amo(bool),
    /// Program order.
    Po,
    /// A fence between them: its place in the table of its dialect.
    Fence(usize),
    /// A dependency.
    Dep(Dep),
}

/// An edge.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct Edge {
    /// What it is.
    pub kind: Kind,
    /// Both accesses are to the same location.
    pub same: bool,
    /// The access that it comes from.
    pub from: Dir,
    /// The access that it leads to.
    pub to: Dir,
    /// Their annotations, where it says them.
    pub notes: Option<(Note, Note)>,
}

impl Edge {
    /// An edge without annotations.
    pub fn new(kind: Kind, same: bool, from: Dir, to: Dir) -> Edge {
        Edge { kind, same, from, to, notes: None }
    }

    /// A communication.
    pub fn com(com: Com, scope: Scope) -> Edge {
        let (from, to) = match com {
            Com::Rf => (Dir::W, Dir::R),
            Com::Fr => (Dir::R, Dir::W),
            Com::Co => (Dir::W, Dir::W),
        };
        Edge::new(Kind::Com(com, scope), true, from, to)
    }

    /// Whether it leads to another thread.
    pub fn leaves_thread(&self) -> bool {
        match self.kind {
            Kind::Com(_, scope) => scope != Scope::Internal,
            Kind::Hat => true,
            _ => false,
        }
    }

    /// Whether it says something about values: the reads at its ends are part of the condition.
    pub fn is_observed(&self) -> bool {
        matches!(self.kind, Kind::Com(..) | Kind::Hat | Kind::Rmw | Kind::Amo(_))
    }

    /// Whether its ends are the halves of a read-modify-write.
    pub fn is_rmw(&self) -> bool {
        is_rmw(self.kind)
    }
}

/// Whether it joins the halves of a read-modify-write.
pub fn is_rmw(kind: Kind) -> bool {
    matches!(kind, Kind::Rmw | Kind::Amo(_))
}

/// Why a word is no edge.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum NoEdge {
    /// No architecture has it.
    Unknown,
    /// Another architecture has it.
    Elsewhere(Dialect),
    /// It begins as an edge; what follows is none of the directions or annotations.
    Rest(String),
    /// A dependency begins at a read, and one of data ends at a write.
    Directions,
    /// The edge exists, with an annotation that does not suit a direction.
    Note(String),
}

/// Reads one word: an edge, or two for a detour through another thread.
pub fn parse(word: &str, dialect: Dialect) -> Result<Vec<Edge>, NoEdge> {
    match parse_in(word, dialect) {
        Err(NoEdge::Unknown) => {
            let elsewhere = Dialect::ALL.into_iter().find(|&d| d != dialect && parse_in(word, d).is_ok());
            Err(elsewhere.map_or(NoEdge::Unknown, NoEdge::Elsewhere))
        }
        other => other,
    }
}

fn parse_in(word: &str, dialect: Dialect) -> Result<Vec<Edge>, NoEdge> {
    if let Some(edges) = detour(word) {
        return Ok(edges);
    }
    let (mut edge, rest) = communication(word)
        .or_else(|| fixed(word, dialect))
        .map_or_else(|| in_program_order(word, dialect), Ok)?;
    if !rest.is_empty() {
        edge.notes = Some(notes(rest, dialect).ok_or_else(|| NoEdge::Rest(rest.to_owned()))?);
        for (dir, note) in [(edge.from, edge.notes.unwrap().0), (edge.to, edge.notes.unwrap().1)] {
            check_note(dir, note, dialect).map_err(NoEdge::Note)?;
        }
    }
    Ok(vec![edge])
}

/// `Detour` and its directions: out to a thread that writes, and back.
fn detour(word: &str) -> Option<Vec<Edge>> {
    let (out, back) = match word.strip_prefix("Detour")? {
        "R" | "dR" | "RR" => (Com::Fr, Com::Rf),
        "W" | "dW" | "WR" => (Com::Co, Com::Rf),
        "RW" => (Com::Fr, Com::Co),
        "WW" => (Com::Co, Com::Co),
        _ => return None,
    };
    Some(vec![Edge::com(out, Scope::Leave), Edge::com(back, Scope::Back)])
}

fn communication(word: &str) -> Option<(Edge, &str)> {
    let coms = [("Rf", Com::Rf), ("Fr", Com::Fr), ("Ws", Com::Co), ("Co", Com::Co)];
    let scopes =
        [("Leave", Scope::Leave), ("Back", Scope::Back), ("e", Scope::External), ("i", Scope::Internal)];
    let (com, rest) = coms.iter().find_map(|&(name, com)| Some((com, word.strip_prefix(name)?)))?;
    let (scope, rest) = scopes.iter().find_map(|&(name, scope)| Some((scope, rest.strip_prefix(name)?)))?;
    Some((Edge::com(com, scope), rest))
}

fn fixed(word: &str, dialect: Dialect) -> Option<(Edge, &str)> {
    if let Some(rest) = word.strip_prefix("Hat") {
        return Some((Edge::new(Kind::Hat, true, Dir::R, Dir::R), rest));
    }
    let amos = [("Amo.Swp", Kind::Amo(false)), ("Amo.Cas", Kind::Amo(true))];
    let rmws = [("Rmw", Kind::Rmw), ("LxSx", Kind::Rmw)].into_iter();
    let mut all = rmws.chain(amos.into_iter().filter(|_| dialect.has_amo_edges()));
    all.find_map(|(name, kind)| Some((Edge::new(kind, true, Dir::R, Dir::W), word.strip_prefix(name)?)))
}

fn in_program_order(word: &str, dialect: Dialect) -> Result<(Edge, &str), NoEdge> {
    let dependency = word.strip_prefix("Dp").and_then(|rest| {
        let fence = dialect.ctrl_fence().map(|name| (format!("Ctrl{name}"), Dep::CtrlFence));
        let plain = [("Addr", Dep::Addr), ("Data", Dep::Data), ("Ctrl", Dep::Ctrl)];
        let all = fence.into_iter().chain(plain.map(|(name, dep)| (name.to_owned(), dep)));
        all.into_iter().find_map(|(name, dep)| Some((dep, rest.strip_prefix(name.as_str())?)))
    });
    if let Some((dep, rest)) = dependency {
        if !dialect.deps().contains(&dep) {
            return Err(NoEdge::Unknown);
        }
        let (same, rest) = same(rest)?;
        // Only the second direction is written: the first is a read.
        let (to, rest) = dir(rest).ok_or_else(|| NoEdge::Rest(rest.to_owned()))?;
        // `DpCtrldRW` is somebody's mistake, `DpCtrldRPA` an annotation.
        if dep == Dep::Data && to == Dir::R {
            return Err(NoEdge::Directions);
        }
        return Ok((Edge::new(Kind::Dep(dep), same, Dir::R, to), rest));
    }
    let (kind, rest) = match word.strip_prefix("Po") {
        Some(rest) => (Kind::Po, rest),
        None => {
            let fences = dialect.fences().iter().enumerate();
            let longest = fences
                .filter_map(|(index, fence)| Some((index, fence, word.strip_prefix(fence.edge)?)))
                .filter(|(_, _, rest)| rest.starts_with(['s', 'd']))
                .max_by_key(|(_, fence, _)| fence.edge.len());
            let (index, _, rest) = longest.ok_or(NoEdge::Unknown)?;
            (Kind::Fence(index), rest)
        }
    };
    let (same, rest) = same(rest)?;
    let both = dir(rest).and_then(|(from, rest)| dir(rest).map(|(to, rest)| (from, to, rest)));
    let (from, to, rest) = both.ok_or_else(|| NoEdge::Rest(rest.to_owned()))?;
    Ok((Edge::new(kind, same, from, to), rest))
}

fn same(rest: &str) -> Result<(bool, &str), NoEdge> {
    match rest.strip_prefix('s') {
        Some(rest) => Ok((true, rest)),
        None => rest.strip_prefix('d').map(|rest| (false, rest)).ok_or_else(|| NoEdge::Rest(rest.to_owned())),
    }
}

fn dir(rest: &str) -> Option<(Dir, &str)> {
    let (first, rest) = rest.split_at_checked(1)?;
    match first {
        "R" => Some((Dir::R, rest)),
        "W" => Some((Dir::W, rest)),
        _ => None,
    }
}

/// Two annotations, one behind the other, that are the whole of `text`.
fn notes(text: &str, dialect: Dialect) -> Option<(Note, Note)> {
    (1..text.len())
        .filter(|&at| text.is_char_boundary(at))
        .find_map(|at| Some((note(&text[..at], dialect)?, note(&text[at..], dialect)?)))
}

/// One annotation: an order, a size, or both with a dot between them.
pub fn note(text: &str, dialect: Dialect) -> Option<Note> {
    let order = |name: &str| dialect.orders().iter().find(|row| row.0 == name).map(|row| (row.1, row.2));
    if let Some((order, exclusive)) = order(text) {
        return Some(Note { order, exclusive, size: None });
    }
    if let Some(size) = size(text, dialect) {
        return Some(Note { size: Some(size), ..Note::default() });
    }
    let (first, second) = text.split_once('.')?;
    let (order, exclusive) = order(first)?;
    Some(Note { order, exclusive, size: Some(size(second, dialect)?) })
}

fn size(text: &str, dialect: Dialect) -> Option<Size> {
    let (letter, offset) = text.split_at_checked(1)?;
    let bytes = match letter {
        "b" => 1,
        "h" => 2,
        "w" => 4,
        "q" => 8,
        _ => return None,
    };
    let offset: u8 = offset.parse().ok()?;
    let fits = dialect.has_sizes() && offset.is_multiple_of(bytes) && offset + bytes <= 8;
    fits.then_some(Size { bytes, offset })
}

/// Which annotations make sense.
pub fn check_note(dir: Dir, note: Note, dialect: Dialect) -> Result<(), String> {
    let name = || dialect.order_name(note);
    let is_atomic = note.exclusive || (dialect.has_amo() && note.order == Order::AcquireRelease);
    let bad = match (note.order, dir) {
        (Order::Acquire | Order::AcquirePc, Dir::W) => !is_atomic,
        (Order::Release, Dir::R) => !is_atomic,
        (Order::AcquireRelease, _) => !is_atomic,
        _ => false,
    };
    match bad {
        true => Err(format!("a {} is not `{}`", if dir == Dir::R { "read" } else { "write" }, name())),
        false => Ok(()),
    }
}
