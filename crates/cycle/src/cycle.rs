//! From words to a program: which threads there are, which locations, what is written, and what is to be read.
//!
//! A cycle goes through accesses. Edges between threads part it into threads; edges to a different location part it into
//! stretches of one location each, whose writes are numbered in the order of the cycle. That order is the coherence order
//! that is asked for, and each read that a communication begins or ends at is to read the write before it.

use crate::Dialect;
use crate::edge::{self, Com, Dir, Edge, Kind, NoEdge, Note, Scope};
use fencepost_diag::{Diagnostic, Span};

/// An access of the program.
#[derive(Clone, Debug)]
pub struct Access {
    /// Its thread.
    pub thread: usize,
    /// Its location.
    pub location: usize,
    /// What it does.
    pub dir: Dir,
    /// Its annotation.
    pub note: Note,
    /// What a write writes.
    pub writes: u64,
    /// What a read is to read, if something is said about it.
    pub reads: Option<u64>,
    /// How it is related to the access before it in its thread; none for the first one.
    pub link: Option<Kind>,
}

/// A cycle that closes, as a program.
#[derive(Clone, Debug)]
pub struct Cycle {
    /// What it is for.
    pub dialect: Dialect,
    /// The edges; the last one leads to the first access of the first thread.
    pub edges: Vec<Edge>,
    /// The accesses, each the source of the edge at its place.
    pub accesses: Vec<Access>,
    /// The number of threads.
    pub threads: usize,
    /// The number of locations.
    pub locations: usize,
    /// What a location is to hold at the end, where more than one write goes to it.
    pub finals: Vec<Option<u64>>,
    /// The bytes of each location, if accesses differ in size; else none.
    pub sizes: Option<Vec<u8>>,
}

/// The name of a location.
pub fn location_name(index: usize) -> String {
    let letters = b"xyzabcdefghijklmnopqstuvw";
    letters.get(index).map_or_else(|| format!("v{index}"), |&letter| (letter as char).to_string())
}

/// Reads a cycle.
///
/// # Errors
/// A word that is no edge, edges that do not meet, a cycle that does not close.
pub fn parse(text: &str, dialect: Dialect) -> Result<Cycle, Box<Diagnostic>> {
    let mut edges: Vec<(Edge, Span)> = Vec::new();
    // Annotations may stand between edges as words of their own.
    let mut between: Vec<(usize, Note, Span)> = Vec::new();
    for (word, span) in words(text) {
        if let Some(note) = edge::note(word, dialect).filter(|_| !word.is_empty()) {
            between.push((edges.len(), note, span));
            continue;
        }
        match edge::parse(word, dialect) {
            Ok(read) => edges.extend(read.into_iter().map(|edge| (edge, span))),
            Err(error) => return Err(Box::new(no_edge(word, span, &error, dialect))),
        }
    }
    if edges.is_empty() {
        let error = Diagnostic::error(Span::new(0, text.len()), "a cycle without edges");
        return Err(Box::new(error.hint("a cycle is a list of edges, such as `PodWR Fre PodWR Fre`")));
    }
    let count = edges.len();
    for (place, note, span) in between {
        let (before, after) = ((place + count - 1) % count, place % count);
        let dir = edges[after].0.from;
        if let Err(reason) = edge::check_note(dir, note, dialect) {
            return Err(Box::new(Diagnostic::error(span, reason)));
        }
        let (first, _) = edges[after].0.notes.unwrap_or_default();
        let _ = first;
        set_notes(&mut edges[before].0, None, Some(note));
        set_notes(&mut edges[after].0, Some(note), None);
    }
    close(edges, dialect)
}

/// Reads a list of edges that need not meet: what cycles are to be made of.
///
/// # Errors
/// A word that is no edge.
pub fn parse_pool(text: &str, dialect: Dialect) -> Result<Vec<Edge>, Box<Diagnostic>> {
    let mut edges = Vec::new();
    for (word, span) in words(text) {
        match edge::parse(word, dialect) {
            Ok(read) if read.len() == 1 => edges.extend(read),
            Ok(_) => {
                let error = Diagnostic::error(span, format!("`{word}` is two edges"));
                return Err(Box::new(
                    error.hint("excursions are written in a cycle; cycles of a kind have none"),
                ));
            }
            Err(error) => return Err(Box::new(no_edge(word, span, &error, dialect))),
        }
    }
    match edges.is_empty() {
        true => Err(Box::new(Diagnostic::error(Span::new(0, text.len()), "no edges"))),
        false => Ok(edges),
    }
}

/// A cycle of edges that nobody has written.
///
/// # Errors
/// As [`parse`].
pub fn from_edges(edges: &[Edge], dialect: Dialect) -> Result<Cycle, Box<Diagnostic>> {
    close(edges.iter().map(|&edge| (edge, Span::default())).collect(), dialect)
}

fn set_notes(edge: &mut Edge, from: Option<Note>, to: Option<Note>) {
    let (old_from, old_to) = edge.notes.unwrap_or_default();
    edge.notes = Some((from.unwrap_or(old_from), to.unwrap_or(old_to)));
}

fn words(text: &str) -> impl Iterator<Item = (&str, Span)> {
    let base = text.as_ptr() as usize;
    text.split([' ', '\t', '\n', ',']).filter(|word| !word.is_empty()).map(move |word| {
        let start = word.as_ptr() as usize - base;
        (word, Span::new(start, start + word.len()))
    })
}

fn no_edge(word: &str, span: Span, error: &NoEdge, dialect: Dialect) -> Diagnostic {
    let name = dialect.name();
    match error {
        NoEdge::Unknown => {
            let fences: Vec<&str> = dialect.fences().iter().map(|fence| fence.edge).collect();
            Diagnostic::error(span, format!("`{word}` is no edge")).label("not known").hint(format!(
                "edges of {name} are Rfe Rfi Fre Fri Wse Wsi Hat Rmw, PodWR and the like, dependencies such as \
                    DpAddrdR where there \
                 are any, and the fences {}, as in {}dWR",
                fences.join(" "),
                fences.first().unwrap_or(&"Po")
            ))
        }
        NoEdge::Elsewhere(other) => Diagnostic::error(span, format!("`{word}` is no edge of {name}"))
            .label(format!("an edge of {}", other.name()))
            .hint(format!("--arch {} writes a test for it", other.name())),
        NoEdge::Rest(rest) => Diagnostic::error(span, format!("`{word}` is no edge of {name}"))
            .label(format!("`{rest}` is not understood"))
            .hint("an edge of program order is followed by s or d and two directions, as in PodWR; then come two \
                annotations, if any"),
        NoEdge::Directions => Diagnostic::error(span, format!("`{word}` is no edge"))
            .label("a read stores nothing")
            .hint("a dependency of data leads to a write, as in DpDatadW"),
        NoEdge::Note(reason) => Diagnostic::error(span, format!("`{word}` is no edge of {name}")).label(reason.clone()),
    }
}

fn close(mut edges: Vec<(Edge, Span)>, dialect: Dialect) -> Result<Cycle, Box<Diagnostic>> {
    let count = edges.len();
    let fail = |error: Diagnostic| Err(Box::new(error));
    for at in 0..count {
        let ((edge, span), (next, next_span)) = (edges[at], edges[(at + 1) % count]);
        if edge.to != next.from {
            let say = |dir| if dir == Dir::R { "a read" } else { "a write" };
            let message = match at + 1 == count {
                true => "the cycle does not close",
                false => "two edges do not meet",
            };
            let label = format!("ends at {}", say(edge.to));
            let related = format!("begins at {}", say(next.from));
            return fail(Diagnostic::error(span, message).label(label).related(next_span, related));
        }
    }
    let Some(start) = (0..count).find(|&start| is_start(&edges, start)) else {
        let span = edges[0].1.to(edges[count - 1].1);
        return fail(
            Diagnostic::error(span, "a cycle within one thread")
                .label("no edge leads to another thread and to none that comes back")
                .hint("Rfe, Fre and Wse lead to another thread; what goes by FrLeave or RfLeave comes back by RfBack or WsBack"),
        );
    };
    edges.rotate_left(start);
    let different = edges.iter().filter(|(edge, _)| !edge.same).count();
    if different == 1 {
        let span = edges.iter().find(|(edge, _)| !edge.same).unwrap().1;
        return fail(
            Diagnostic::error(span, "the cycle does not come back to its location")
                .label("the only edge to a different location")
                .hint("a cycle has none of these, or two and more"),
        );
    }
    let notes = joined_notes(&edges)?;
    let threads = threads_of(&edges)?;
    let is_mixed = notes.iter().any(|note| note.size.is_some());
    let edges: Vec<Edge> = edges.into_iter().map(|(edge, _)| edge).collect();
    Ok(lay_out(dialect, edges, &notes, &threads, is_mixed))
}

/// Whether a thread begins with the source of this edge, and excursions are whole from there on.
fn is_start(edges: &[(Edge, Span)], start: usize) -> bool {
    let count = edges.len();
    let before = edges[(start + count - 1) % count].0;
    let comes_from_outside = matches!(before.kind, Kind::Com(_, Scope::External) | Kind::Hat);
    let mut depth = 0i32;
    let mut whole = true;
    for at in 0..count {
        match edges[(start + at) % count].0.kind {
            Kind::Com(_, Scope::Leave) => depth += 1,
            Kind::Com(_, Scope::Back) => depth -= 1,
            _ => {}
        }
        whole &= depth >= 0;
    }
    comes_from_outside && whole && depth == 0
}

/// The annotation of the source of each edge.
fn joined_notes(edges: &[(Edge, Span)]) -> Result<Vec<Note>, Box<Diagnostic>> {
    let count = edges.len();
    let note_at = |at: usize| {
        let ((before, before_span), (after, span)) = (edges[(at + count - 1) % count], edges[at]);
        match (before.notes.map(|notes| notes.1), after.notes.map(|notes| notes.0)) {
            (Some(one), Some(other)) if one != other => Err(Box::new(
                Diagnostic::error(span, "one access with two annotations")
                    .label("it is annotated so here")
                    .related(before_span, "and otherwise here"),
            )),
            (one, other) => Ok(one.or(other).unwrap_or_default()),
        }
    };
    (0..count).map(note_at).collect()
}

/// The thread of the source of each edge.
fn threads_of(edges: &[(Edge, Span)]) -> Result<Vec<usize>, Box<Diagnostic>> {
    let mut threads = Vec::with_capacity(edges.len());
    let (mut now, mut next, mut left) = (0, 1, Vec::new());
    for (edge, _) in edges {
        threads.push(now);
        match edge.kind {
            Kind::Com(_, Scope::External) | Kind::Hat => (now, next) = (next, next + 1),
            Kind::Com(_, Scope::Leave) => {
                left.push(now);
                (now, next) = (next, next + 1);
            }
            Kind::Com(_, Scope::Back) => now = left.pop().expect("excursions are whole"),
            _ => {}
        }
    }
    let last = *threads.last().expect("a cycle has edges");
    if last == 0 {
        return Err(Box::new(
            Diagnostic::error(
                edges.last().unwrap().1,
                "the cycle leaves its thread once, and does not come back",
            )
            .label("the only edge to another thread")
            .hint("at least two edges lead from thread to thread, as in PodWR Fre PodWR Fre"),
        ));
    }
    Ok(threads)
}

fn lay_out(dialect: Dialect, edges: Vec<Edge>, notes: &[Note], threads: &[usize], is_mixed: bool) -> Cycle {
    let count = edges.len();
    // The location of the first access is that of the last ones, behind the last edge to a different one.
    let total = edges.iter().filter(|edge| !edge.same).count().max(1);
    let mut locations = Vec::with_capacity(count);
    let mut location = 0;
    for edge in &edges {
        locations.push(location % total);
        location += usize::from(!edge.same);
    }
    let sizes = is_mixed.then(|| sizes_of(&locations, notes, total));
    let mut accesses: Vec<Access> = (0..count)
        .map(|at| Access {
            thread: threads[at],
            location: locations[at],
            dir: edges[at].from,
            note: notes[at],
            writes: 0,
            reads: None,
            link: None,
        })
        .collect();
    link(&mut accesses, &edges);
    let finals = values(&mut accesses, &edges, total, sizes.as_deref());
    let threads = threads.iter().max().map_or(0, |&last| last + 1);
    Cycle { dialect, edges, accesses, threads, locations: total, finals, sizes }
}

/// The bytes of each location: enough for every access to it.
fn sizes_of(locations: &[usize], notes: &[Note], total: usize) -> Vec<u8> {
    let mut sizes = vec![4; total];
    for (&location, note) in locations.iter().zip(notes) {
        if note.size.is_some_and(|size| size.offset + size.bytes > 4) {
            sizes[location] = 8;
        }
    }
    // An access without a size is to the whole location, and all locations are alike.
    let widest = sizes.iter().copied().max().unwrap_or(4);
    vec![widest; total]
}

/// Says of each access how it is related to the one before it in its thread.
fn link(accesses: &mut [Access], edges: &[Edge]) {
    let mut seen = vec![None; accesses.len()];
    for (at, access) in accesses.iter_mut().enumerate() {
        let before: Option<usize> = seen[access.thread].replace(at);
        access.link = before.map(|before| match before + 1 == at {
            true => edges[before].kind,
            // Between them lies an excursion.
            false => Kind::Po,
        });
    }
}

/// Numbers writes, and says what reads are to read; gives what locations are to hold in the end.
fn values(accesses: &mut [Access], edges: &[Edge], total: usize, sizes: Option<&[u8]>) -> Vec<Option<u64>> {
    let count = accesses.len();
    // A stretch of one location may begin at the end of the cycle.
    let begin = (0..count).rev().find(|&at| !edges[at].same).map_or(0, |last| (last + 1) % count);
    let is_one = edges.iter().all(|edge| edge.same);
    let (mut memory, mut written) = (vec![0u64; total], vec![0u64; total]);
    for step in 0..count {
        let at = (begin + step) % count;
        let location = accesses[at].location;
        let whole = sizes.map_or(4, |sizes| sizes[location]);
        let size = accesses[at].note.size.unwrap_or(edge::Size { bytes: whole, offset: 0 });
        let mask = u64::MAX >> (64 - 8 * u32::from(size.bytes));
        let shift = 8 * u32::from(size.offset);
        let into = edges[(at + count - 1) % count];
        if accesses[at].dir == Dir::W {
            written[location] += 1;
            let number = written[location];
            let value = if sizes.is_some() { (number * 0x0101_0101_0101_0101) & mask } else { number };
            accesses[at].writes = value;
            memory[location] = (memory[location] & !(mask << shift)) | (value << shift);
        } else if into.is_observed() || edges[at].is_observed() {
            accesses[at].reads = Some((memory[location] >> shift) & mask);
        }
    }
    // With one location the stretch has no beginning: the edge that closes the cycle says what was before.
    if is_one {
        match (edges[count - 1].kind, accesses[0].dir) {
            (Kind::Com(Com::Rf, _), Dir::R) => accesses[0].reads = Some(memory[0]),
            (Kind::Com(Com::Fr, _), Dir::W) => accesses[count - 1].reads = Some(0),
            (Kind::Com(Com::Co, _), Dir::W) => memory[0] = accesses[0].writes,
            _ => {}
        }
    }
    (0..total).map(|location| (written[location] > 1).then_some(memory[location])).collect()
}

impl Cycle {
    /// The accesses of a thread, in program order.
    pub fn of_thread(&self, thread: usize) -> impl Iterator<Item = (usize, &Access)> {
        self.accesses.iter().enumerate().filter(move |(_, access)| access.thread == thread)
    }
}
