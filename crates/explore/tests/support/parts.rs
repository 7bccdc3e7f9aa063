//! Explorations in parts: interrupted, written down, taken up again, split and shared out.

use super::dice::Random;
use fencepost_explore::{
    Broken, Every, Exploration, Handed, Item, Keeping, Ledger, ModelName, NotKept, Options, Others, Pause,
    Session, StartOver, explore, explore_keeping,
};
use fencepost_ir::Program;
use std::collections::VecDeque;
use std::sync::Mutex;

/// All that an answer says.
pub fn told(found: &Exploration) -> String {
    let share = fencepost_explore::Stats { share: 0, ..found.stats };
    format!("{share:?} {:?} {:?} {:?} {:?}", found.states, found.findings, found.cuts, found.witness)
}

/// Bytes with a few changes.
pub fn mutated(bytes: &[u8], random: &mut Random) -> Vec<u8> {
    let mut bytes = bytes.to_vec();
    for _ in 0..=random.below(3) {
        let at = random.below(bytes.len().max(1) as u64) as usize;
        match random.below(5) {
            0 => bytes.truncate(at),
            1 => bytes.insert(at, random.below(256) as u8),
            2 if at < bytes.len() => drop(bytes.remove(at)),
            3 if at < bytes.len() => bytes[at] ^= 1 << random.below(8),
            _ if at < bytes.len() => bytes[at] = random.below(256) as u8,
            _ => bytes.push(random.below(256) as u8),
        }
    }
    bytes
}

/// Explores with a pause every so many visits, each time from the bytes of the checkpoint before; and how often that was.
pub fn interrupted(program: &Program, options: &Options<'_>, nodes: u64) -> (Exploration, usize) {
    let kept: Mutex<Vec<u8>> = Mutex::default();
    let mut pauses = 0;
    loop {
        let before = kept.lock().expect("bytes").clone();
        // The third time it is called, nothing is kept any more: as if the process had been killed.
        let mut calls = 0;
        let mut keep = |bytes: &[u8]| {
            calls += 1;
            if calls > 2 {
                return Err("killed".into());
            }
            *kept.lock().expect("bytes") = bytes.to_vec();
            Ok(())
        };
        let resume = (!before.is_empty()).then_some(before.as_slice());
        let mut keeping = Keeping { resume, every: Every::Nodes(nodes), keep: &mut keep };
        match explore_keeping(program, options, &mut keeping) {
            Ok(found) => return (found, pauses),
            Err(NotKept::Write(_)) => pauses += 1,
            Err(error) => panic!("{error:?}"),
        }
    }
}

/// Explores as a cluster would: items from a queue, each for a while, what is left split and put back.
pub fn shared_out(
    program: &Program,
    options: &Options<'_>,
    random: &mut Random,
) -> (Exploration, usize, bool) {
    let mut session = Session::new(program, options).expect("supported");
    let (mut ledger, mut queue) = (Ledger::default(), VecDeque::from([Item::whole()]));
    let (mut items, mut alone) = (0, false);
    while let Some(item) = queue.pop_front() {
        items += 1;
        let bytes = ledger.hand(&item, alone).encode(session.binding());
        let handed = Handed::decode(&bytes, session.binding()).expect("it was written so");
        assert_eq!(handed.item, item);
        let altered = mutated(&bytes, random);
        assert!(altered == bytes || Handed::decode(&altered, session.binding()).is_err(), "{altered:?}");
        let pause = Pause { nodes: Some(1 + random.below(6)), at: None };
        let mut others = ledger.others();
        if random.below(2) == 0 {
            // What the others did need not be known.
            others = Others::default();
        }
        let others = others.with_cells_of(&handed);
        let part = session.explore(std::slice::from_ref(&item), &others, pause);
        let over = match part {
            Ok(mut part) => {
                let mut rests = Vec::new();
                let most = if alone { 1 } else { 3 };
                for rest in std::mem::take(&mut part.rests) {
                    let (rest, parts) = match session.split(&rest, random.below(most) as usize) {
                        Ok(split) => split,
                        // Whoever takes it up will notice.
                        Err(_) => (rest, Vec::new()),
                    };
                    rests.extend(parts);
                    rests.push(rest);
                }
                part.rests = rests;
                ledger.add(std::slice::from_ref(&item), part);
                let need = ledger.need().map(Some);
                if ledger.contradicts() { Some(None) } else { need }
            }
            Err(Broken::StartOver(need)) => Some(Some(need)),
            Err(Broken::Lost) => Some(None),
        };
        if let Some(need) = over {
            match need {
                None | Some(StartOver::Mixed { .. }) if !alone => alone = true,
                None => panic!("lost: {item:?}"),
                Some(need) => session.heed(need).expect("supported"),
            }
            (ledger, queue) = (Ledger::default(), VecDeque::from([Item::whole()]));
            continue;
        }
        queue = ledger.items().iter().cloned().collect();
        if random.below(2) == 0 && !alone {
            queue.make_contiguous().reverse();
        }
    }
    let mut found = ledger.found();
    session.show(&mut found).expect("it is there");
    (found.into(), items, alone)
}

/// Compares the parts with the whole; how many there were, and how often one worker at a time had to explore.
pub fn compare(program: &Program, model: ModelName, random: &mut Random) -> (usize, usize) {
    let (mut pieces, mut times_alone) = (0, 0);
    for stop_at_error in [false, true] {
        let options = Options { stop_at_error, ..Options::new(model) };
        let whole = told(&explore(program, &options).expect("supported"));
        let (found, pauses) = interrupted(program, &options, 1 + random.below(9));
        assert_eq!(told(&found), whole, "interrupted {pauses} times, {model:?}\n{program:?}");
        let (found, items, alone) = shared_out(program, &options, random);
        assert_eq!(told(&found), whole, "{items} items, {model:?}\n{program:?}");
        pieces += pauses + items;
        times_alone += usize::from(alone);
    }
    (pieces, times_alone)
}
