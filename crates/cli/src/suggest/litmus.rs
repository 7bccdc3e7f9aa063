//! `litmus --suggest`: which fences, or which orderings of accesses, make what a test asks about impossible, found by
//! running it again.
//!
//! First one place is changed, then two, the cheapest change first; if that is not enough, all places are made as strong as
//! they can be and then as weak as the behaviour stays impossible with. A stronger test has fewer executions, so in either
//! case no change can be left out or be weaker: whatever is weaker was tried.

use crate::check;
use crate::input::Trouble;
use crate::litmus::{Settings, answer};
use crate::model::Choice;
use fencepost_answer::{Change, Suggestion};
use fencepost_diag::{SourceFile, SourceMap, Span};
use fencepost_ir::{Accesses, Fence, Instr, Language, Order, Quantifier};
use fencepost_litmus::{Arch, LitmusTest};
use std::cmp::Reverse;
use std::time::Instant;

/// Pairs of places beyond which pairs are not tried.
const MOST_PAIRS: usize = 3000;

/// Where a test can be changed: one instruction of a thread.
struct Place {
    function: usize,
    pc: u32,
    span: Span,
    /// What can be done there, the cheapest first; the last is as strong as all others.
    ways: Vec<Way>,
}

/// A change at a place, and what it costs.
struct Way {
    what: What,
    from: String,
    to: String,
    cost: u32,
}

#[derive(Clone, Copy)]
enum What {
    /// The access has this order.
    Order(Order),
    /// This fence stands before it.
    Fence(Fence),
}

/// The ways that are taken, by the numbers of places and of ways.
type Chosen = Vec<(usize, usize)>;

/// Looks for a suggestion; `None` if there is nothing to forbid, or time is over.
pub fn suggest(
    test: &LitmusTest,
    file: &SourceFile,
    model: &Choice,
    settings: &Settings,
) -> Result<Option<Suggestion>, Trouble> {
    let limit = settings.timeout.unwrap_or(super::MOST_TIME);
    let places = places(test, file);
    let mut search = Search { test, file, model, settings, places, end: Instant::now() + limit, runs: 0 };
    match search.forbids(&Vec::new())? {
        Some(false) => {}
        _ => return Ok(None),
    }
    let found = search.find()?;
    let changes = |chosen: Chosen| search.changes(&chosen);
    Ok(match found {
        Found::Changes(chosen) => {
            Some(Suggestion { changes: changes(chosen), runs: search.runs, ..Suggestion::default() })
        }
        Found::None => Some(Suggestion { runs: search.runs, ..Suggestion::default() }),
        Found::Late => None,
    })
}

enum Found {
    Changes(Chosen),
    /// Nothing of the kind is enough.
    None,
    /// Time is over.
    Late,
}

struct Search<'a> {
    test: &'a LitmusTest,
    file: &'a SourceFile,
    model: &'a Choice,
    settings: &'a Settings<'a>,
    places: Vec<Place>,
    end: Instant,
    runs: u64,
}

impl Search<'_> {
    fn find(&mut self) -> Result<Found, Trouble> {
        let all: Chosen = (0..self.places.len()).map(|place| (place, self.strongest(place))).collect();
        match self.forbids(&all)? {
            Some(true) => {}
            Some(false) => return Ok(Found::None),
            None => return Ok(Found::Late),
        }
        for places in self.small_sets() {
            let strongest: Vec<Chosen> =
                places.iter().map(|set| set.iter().map(|&p| (p, self.strongest(p))).collect()).collect();
            let mut enough = Vec::new();
            for (set, strongest) in places.iter().zip(&strongest) {
                match self.forbids(strongest)? {
                    Some(true) => enough.push(set.clone()),
                    Some(false) => {}
                    None => return Ok(Found::Late),
                }
            }
            for chosen in self.combinations(&enough) {
                match self.forbids(&chosen)? {
                    Some(true) => return Ok(Found::Changes(chosen)),
                    Some(false) => {}
                    None => return Ok(Found::Late),
                }
            }
        }
        self.weakened(all)
    }

    /// The sets of one place, then those of two.
    fn small_sets(&self) -> Vec<Vec<Vec<usize>>> {
        let n = self.places.len();
        let one = (0..n).map(|place| vec![place]).collect();
        let pairs = (0..n).flat_map(|first| (first + 1..n).map(move |second| vec![first, second]));
        let two = if n * n / 2 > MOST_PAIRS { Vec::new() } else { pairs.collect() };
        vec![one, two]
    }

    /// All ways to change these sets of places, the cheapest first.
    fn combinations(&self, sets: &[Vec<usize>]) -> Vec<Chosen> {
        let mut all: Vec<Chosen> = Vec::new();
        for set in sets {
            let mut chosen: Vec<Chosen> = vec![Vec::new()];
            for &place in set {
                let ways = 0..self.places[place].ways.len();
                let longer = |old: &Chosen| {
                    let old = old.clone();
                    ways.clone().map(move |way| [old.clone(), vec![(place, way)]].concat())
                };
                chosen = chosen.iter().flat_map(longer).collect();
            }
            all.extend(chosen);
        }
        all.sort_by_key(|chosen| self.cost(chosen));
        all
    }

    fn cost(&self, chosen: &Chosen) -> u32 {
        chosen.iter().map(|&(place, way)| self.places[place].ways[way].cost).sum()
    }

    /// From all places as strong as they can be to a set of which nothing can be left out or be weaker.
    fn weakened(&mut self, mut chosen: Chosen) -> Result<Found, Trouble> {
        for place in 0..self.places.len() {
            let strongest = self.strongest(place);
            let mut tries: Vec<Option<usize>> = vec![None];
            tries.extend((0..strongest).map(Some));
            for way in tries {
                let mut weaker = chosen.clone();
                weaker.retain(|(other, _)| *other != place);
                weaker.extend(way.map(|way| (place, way)));
                match self.forbids(&weaker)? {
                    Some(true) => {
                        chosen = weaker;
                        break;
                    }
                    Some(false) => {}
                    None => return Ok(Found::Late),
                }
            }
        }
        chosen.sort_unstable();
        Ok(Found::Changes(chosen))
    }

    fn strongest(&self, place: usize) -> usize {
        self.places[place].ways.len() - 1
    }

    /// Whether the test with these changes cannot do what it asks about any more; `None` if time is over.
    fn forbids(&mut self, chosen: &Chosen) -> Result<Option<bool>, Trouble> {
        if Instant::now() >= self.end || check::is_interrupted() {
            return Ok(None);
        }
        self.runs += 1;
        let changed = self.changed(chosen);
        let settings = Settings { witness: false, max_nodes: None, ..*self.settings };
        let answered = answer(&changed, self.file, self.model, &settings)?;
        let (None, Some(observed)) = (&answered.outcome.stop_reason, &answered.outcome.observed) else {
            return Ok(None);
        };
        let executions = answered.outcome.statistics.executions.unwrap_or(0);
        let wanted = match answered.quantifier {
            Quantifier::Exists | Quantifier::NotExists => 0,
            Quantifier::ForAll => executions,
        };
        Ok(Some(!observed.undefined && observed.satisfying == wanted))
    }

    /// The test with these changes.
    fn changed(&self, chosen: &Chosen) -> LitmusTest {
        let mut test = self.test.clone();
        // Fences last and from the end, so that places stay where they are.
        let mut chosen = chosen.clone();
        chosen.sort_by_key(|&(place, way)| {
            let Place { function, pc, ways, .. } = &self.places[place];
            (matches!(ways[way].what, What::Fence(_)), Reverse((*function, *pc)))
        });
        for (place, way) in chosen {
            let Place { function, pc, ways, .. } = &self.places[place];
            let function = &mut test.program.functions[*function];
            match ways[way].what {
                What::Order(order) => super::strengthen(&mut function.body[*pc as usize], order),
                What::Fence(fence) => *function = function.with_before(&[*pc], &Instr::Fence(fence)),
            }
        }
        test
    }

    fn changes(&self, chosen: &Chosen) -> Vec<Change> {
        let change = |&(place, way): &(usize, usize)| {
            let Place { span, ways, .. } = &self.places[place];
            let Way { from, to, .. } = &ways[way];
            Change { span: *span, from: from.clone(), to: to.clone(), edits: Vec::new() }
        };
        chosen.iter().map(change).collect()
    }
}

/// The places where a test can be changed: fences first, so that orderings, which are cheaper, are given up last.
fn places(test: &LitmusTest, file: &SourceFile) -> Vec<Place> {
    let mut sources = SourceMap::default();
    sources.add(file.clone());
    let (mut fences, mut orders) = (Vec::new(), Vec::new());
    for (number, function) in test.program.functions.iter().enumerate() {
        let mut lines: Vec<usize> = Vec::new();
        let goes_back = has_back_jumps(&function.body);
        for (pc, (instr, &span)) in (0u32..).zip(function.body.iter().zip(&function.spans)) {
            if !is_access(instr) {
                continue;
            }
            let place = |ways| Place { function: number, pc, span, ways };
            let line = sources.position(span.start).map_or(0, |(_, line, _)| line);
            let in_expression = test.arch == Arch::C && lines.contains(&line);
            // What comes before the first access orders nothing. A store-conditional stands close to its load.
            let first = lines.is_empty() && !goes_back;
            if !first && !in_expression && !matches!(instr, Instr::StoreExclusive { .. }) {
                fences.push(place(fences_of(test.arch)));
            }
            lines.push(line);
            orders.push(place(orderings(test.arch, instr, &sources.expression(span))));
        }
    }
    fences.into_iter().chain(orders).filter(|place| !place.ways.is_empty()).collect()
}

fn has_back_jumps(body: &[Instr]) -> bool {
    (0u32..).zip(body).any(|(pc, instr)| match instr {
        Instr::Jump(to) => to.0 <= pc,
        Instr::Branch { then_to, else_to, .. } => then_to.0 <= pc || else_to.0 <= pc,
        _ => false,
    })
}

fn is_access(instr: &Instr) -> bool {
    matches!(
        instr,
        Instr::Load { .. }
            | Instr::Store { .. }
            | Instr::StoreExclusive { .. }
            | Instr::Rmw { .. }
            | Instr::CompareExchange { .. }
    )
}

/// The fences of an architecture, the cheapest first.
fn fences_of(arch: Arch) -> Vec<Way> {
    let c11 = |order| (Fence::C11(order), c11_fence(order));
    let fences: Vec<((Fence, &str), u32)> = match arch {
        Arch::X86 | Arch::X86_64 => vec![((Fence::Mfence, "MFENCE"), 4)],
        Arch::Ppc => vec![((Fence::Lwsync, "lwsync"), 2), ((Fence::Sync, "sync"), 5)],
        Arch::AArch64 => {
            vec![((Fence::DmbSt, "DMB ST"), 2), ((Fence::DmbLd, "DMB LD"), 2), ((Fence::DmbSy, "DMB SY"), 4)]
        }
        Arch::Arm => vec![((Fence::DmbSt, "DMB ST"), 2), ((Fence::DmbSy, "DMB"), 4)],
        Arch::RiscV => {
            use Accesses::{All, Reads, Writes};
            vec![
                ((Fence::RiscV(Writes, Writes), "fence w,w"), 2),
                ((Fence::RiscV(Reads, All), "fence r,rw"), 2),
                ((Fence::RiscVTso, "fence.tso"), 3),
                ((Fence::RiscV(All, All), "fence rw,rw"), 4),
            ]
        }
        Arch::C => vec![
            (c11(Order::Release), 2),
            (c11(Order::Acquire), 2),
            (c11(Order::AcqRel), 3),
            (c11(Order::SeqCst), 6),
        ],
    };
    let way = |((fence, name), cost): ((Fence, &str), u32)| Way {
        what: What::Fence(fence),
        from: "no fence".into(),
        to: format!("{name} before it"),
        cost,
    };
    fences.into_iter().map(way).collect()
}

fn c11_fence(order: Order) -> &'static str {
    match order {
        Order::Release => "atomic_thread_fence(memory_order_release)",
        Order::Acquire => "atomic_thread_fence(memory_order_acquire)",
        Order::AcqRel => "atomic_thread_fence(memory_order_acq_rel)",
        _ => "atomic_thread_fence(memory_order_seq_cst)",
    }
}

/// Stronger forms of an access, the cheapest first. `text` is how it is written.
fn orderings(arch: Arch, instr: &Instr, text: &str) -> Vec<Way> {
    match arch {
        Arch::C => {
            let strengths = super::strengths(instr, Language::C);
            let orders = strengths.iter().filter_map(|strength| match strength {
                super::Strength::Order(order) => Some((*order, strength.name())),
                _ => None,
            });
            let orders: Vec<(Order, String)> = orders.collect();
            let Some((_, from)) = orders.first().cloned() else { return Vec::new() };
            let cost = |order| match order {
                Order::SeqCst => 4,
                Order::AcqRel => 2,
                _ => 1,
            };
            let way = |(order, to): &(Order, String)| Way {
                what: What::Order(*order),
                from: from.clone(),
                to: to.clone(),
                cost: cost(*order),
            };
            orders[1..].iter().map(way).collect()
        }
        Arch::AArch64 => acquire_and_release(instr, text),
        Arch::Ppc | Arch::X86 | Arch::X86_64 | Arch::Arm | Arch::RiscV => Vec::new(),
    }
}

/// `LDR` as `LDAPR` and `LDAR`, `STR` as `STLR`: for accesses whose address is a register and nothing else, which is all that
/// these instructions take.
fn acquire_and_release(instr: &Instr, text: &str) -> Vec<Way> {
    let (mnemonic, operands) = text.trim().split_once(char::is_whitespace).unwrap_or((text, ""));
    let address = operands.split_once('[').map_or("", |(_, address)| address.trim());
    if !address.ends_with(']') || address.contains(',') {
        return Vec::new();
    }
    let way = |order, to: String, cost| Way { what: What::Order(order), from: mnemonic.into(), to, cost };
    let upper = mnemonic.to_uppercase();
    let named = |prefix: &str, new: &str| upper.strip_prefix(prefix).map(|size| format!("{new}{size}"));
    let plain = |order: Order| order == Order::Plain;
    match instr {
        Instr::Load { ann, .. } if plain(ann.order) => {
            let weak = named("LDR", "LDAPR").map(|to| way(Order::AcquirePc, to, 1));
            let strong = named("LDR", "LDAR").or_else(|| named("LDXR", "LDAXR"));
            weak.into_iter().chain(strong.map(|to| way(Order::Acquire, to, 2))).collect()
        }
        Instr::Store { ann, .. } | Instr::StoreExclusive { ann, .. } if plain(ann.order) => {
            let to = named("STR", "STLR").or_else(|| named("STXR", "STLXR"));
            to.map(|to| way(Order::Release, to, 2)).into_iter().collect()
        }
        _ => Vec::new(),
    }
}
