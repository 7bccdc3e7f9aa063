//! What the events of a run did to memory: where each read reads from, and the coherence order of the stores.

use super::plain::{Plain, State, Status};
use fencepost_answer::trace::{Access, Action, Made, Seen, Step, StepId};
use fencepost_ir::Order;
use std::collections::BTreeMap;

/// Adds to the steps of a run what they did to memory. `told` has the step of each event.
///
/// The machine orders two stores only where somebody has seen both; of the others, the one that was told first comes first.
pub fn add(plain: &Plain<'_>, state: &State, told: &BTreeMap<(usize, usize), usize>, run: &mut [Step]) {
    let mut stores: BTreeMap<u32, Vec<(usize, usize)>> = BTreeMap::new();
    for &(p, i) in told.keys() {
        if plain.is_write(state, p, i)
            && state.events[p][i].status == Status::Com
            && let Some((cell, ..)) = plain.cell_and_value(state, p, i)
        {
            stores.entry(cell).or_default().push((p, i));
        }
    }
    let mut places: BTreeMap<(usize, usize), u32> = BTreeMap::new();
    for events in stores.values_mut() {
        events.sort_by_key(|event| told[event]);
        for place in 1.. {
            let is_next = |&(at, event): &(usize, &(usize, usize))| {
                let others = events.iter().enumerate().filter(|(other, _)| *other != at);
                !others.into_iter().any(|(_, other)| plain.before(state, Some(*other), Some(*event)))
            };
            let Some((at, _)) = events.iter().enumerate().find(is_next) else { break };
            places.insert(events.remove(at), place);
        }
    }
    let ids = ids(run);
    for (&(p, i), &step) in told {
        let Some((cell, stored)) = plain.cell_and_value(state, p, i) else { continue };
        let event = &state.events[p][i];
        let order = Order::Relaxed;
        let seen = plain.is_read(state, p, i).then(|| Seen {
            value: plain.typed(cell, event.value.unwrap_or_default()),
            order,
            from: event.rf.flatten().and_then(|store| told.get(&store).map(|&step| ids[step])),
            place: 0,
        });
        let value = plain.typed(cell, stored);
        let made = places.get(&(p, i)).map(|&place| Made { value, order, place });
        if let Action::Phase { access, .. } = &mut run[step].action
            && (seen.is_some() || made.is_some())
        {
            *access = Some(Access { cell: plain.shown(cell), seen, made });
            run[step].number = i as u32 + 1;
        }
    }
}

/// Each step by thread and number in its thread.
fn ids(run: &[Step]) -> Vec<StepId> {
    let mut counts: BTreeMap<u32, u32> = BTreeMap::new();
    let mut next = |step: &Step| {
        let count = counts.entry(step.thread).or_default();
        *count += 1;
        (step.thread, *count - 1)
    };
    run.iter().map(&mut next).collect()
}
