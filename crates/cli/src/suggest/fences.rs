//! One fence in place of several orders, where that is the idiom: the reader of a sequence lock loads its data relaxed and has an
//! acquire fence behind them, the writer has a release fence before its stores.
//!
//! Tried where loads (or stores) of one function are to be acquire (or release): all of them, or all but the one that comes first
//! (last), go back to what they were. It is taken if the program is safe so and fewer places change.

use super::{Place, Search, Strength};
use crate::input::Trouble;
use fencepost_answer::Verdict;
use fencepost_ir::{Fence, Instr, Order};

/// Replaces orders by fences; true if that was done somewhere.
pub fn instead_of_orders(search: &mut Search<'_>, places: &mut Vec<Place>) -> Result<bool, Trouble> {
    let mut done = false;
    for function in 0..search.compiled.program.functions.len() {
        for order in [Order::Acquire, Order::Release] {
            done |= replace(search, places, function, order)?;
        }
    }
    Ok(done)
}

fn replace(
    search: &mut Search<'_>,
    places: &mut Vec<Place>,
    function: usize,
    order: Order,
) -> Result<bool, Trouble> {
    let changed = |place: &Place| {
        place.function == function
            && place.chosen > 0
            && place.strengths[place.chosen] == Strength::Order(order)
    };
    let mut group: Vec<usize> = (0..places.len()).filter(|&at| changed(&places[at])).collect();
    group.sort_by_key(|&at| places[at].span);
    let (Some(&first), Some(&last)) = (group.first(), group.last()) else { return Ok(false) };
    let (before, kept) = match order {
        Order::Acquire => (next_access(search, function, places[last].span.end), first),
        _ => (Some(places[first].span), last),
    };
    let Some(span) = before else { return Ok(false) };
    let fence = Strength::Fence(Fence::C11(order));
    places.push(Place { span, function, strengths: vec![Strength::NoFence, fence], chosen: 1 });
    let old: Vec<usize> = group.iter().map(|&at| places[at].chosen).collect();
    for keeps in [None, Some(kept)] {
        if 1 + usize::from(keeps.is_some()) >= group.len() {
            continue;
        }
        for (&at, &chosen) in group.iter().zip(&old) {
            places[at].chosen = if keeps == Some(at) { chosen } else { 0 };
        }
        if search.check(places)? == Some(Verdict::Safe) {
            return Ok(true);
        }
    }
    places.pop();
    group.iter().zip(old).for_each(|(&at, chosen)| places[at].chosen = chosen);
    Ok(false)
}

/// The access of the function that comes next in the text.
fn next_access(search: &Search<'_>, function: usize, from: u32) -> Option<fencepost_diag::Span> {
    let function = &search.compiled.program.functions[function];
    let is_access = |instr: &Instr| {
        matches!(
            instr,
            Instr::Load { .. }
                | Instr::Store { .. }
                | Instr::Rmw { .. }
                | Instr::CompareExchange { .. }
                | Instr::Await { .. }
                | Instr::AwaitRmw { .. }
        )
    };
    let accesses = function.body.iter().zip(&function.spans).filter(|(instr, _)| is_access(instr));
    accesses.map(|(_, span)| *span).filter(|span| span.start >= from).min()
}
