//! Executions from a line of text, and random ones, for tests of models.
//!
//! An execution is written as threads separated by `|`; `Wx1` writes 1 to x, `Rx1.acq` reads 1 from x with an order,
//! other words are fences. `<addr0` after an event is a dependency on event 0 of its thread; `ctrl` reaches everything
//! that follows, `amo` and `rmw` pair the halves of a read-modify-write. `!` marks the read of a compare-exchange that
//! failed. Values are unique per location, so a value gives `rf`; coherence is the order of the values.

// Each test file uses a part of this.
#![allow(dead_code)]

use fencepost_ir::{
    Ann, Event, EventKind, Execution, Fence, Location, ObjectId, Order, Relation, Span, ThreadId, Value,
    Width,
};

fn event(thread: Option<u32>, word: &str) -> Event {
    let (word, amo) = word.strip_suffix('!').map_or((word, false), |word| (word, true));
    let (kind, location, value, ann) = match Fence::named(word).as_ref() {
        Some(&fence) => (EventKind::Fence(fence), None, 0, Ann::PLAIN),
        None => {
            let kind = if word.starts_with('W') { EventKind::Write } else { EventKind::Read };
            let object = ObjectId(u32::from(word.as_bytes()[1]));
            let (value, order) = word[2..].split_once('.').unwrap_or((&word[2..], "plain"));
            let order = Order::ALL.into_iter().find(|o| o.name() == order).expect("an order");
            let value = value.parse().expect("a value");
            (kind, Some(Location { object, offset: 0 }), value, Ann::order(order))
        }
    };
    let (thread, value, width) = (thread.map(ThreadId), Value(value), Width::W32);
    Event { thread, kind, location, width, value, ann, amo, span: Span::default() }
}

/// The execution that a text describes.
pub fn execution(text: &str) -> Execution {
    let mut events = Vec::new();
    let mut locations: Vec<&str> =
        text.split_whitespace().filter(|w| w.starts_with(['W', 'R'])).map(|w| &w[1..2]).collect();
    locations.sort();
    locations.dedup();
    locations.iter().for_each(|l| events.push(event(None, &format!("W{l}0"))));
    let mut dependencies = Vec::new();
    for (thread, words) in text.split('|').enumerate() {
        let first = events.len();
        for word in words.split_whitespace() {
            let mut parts = word.split('<');
            let target = events.len();
            events.push(event(Some(thread as u32), parts.next().unwrap_or("")));
            for dependency in parts {
                let (kind, source) = dependency.split_at(dependency.len() - 1);
                dependencies.push((kind, first + source.parse::<usize>().expect("an index"), target));
            }
        }
    }
    let mut x = Execution::new(events);
    let n = x.events.len();
    let same = |a: &Event, b: &Event| a.location.is_some() && a.location == b.location;
    let e = x.events.clone();
    x.po = Relation::from_fn(n, |a, b| a < b && e[a].thread.is_some() && e[a].thread == e[b].thread);
    x.rf = Relation::from_fn(n, |a, b| {
        let kinds = e[a].kind == EventKind::Write && e[b].kind == EventKind::Read;
        kinds && same(&e[a], &e[b]) && e[a].value == e[b].value
    });
    x.co = Relation::from_fn(n, |a, b| {
        let kinds = e[a].kind == EventKind::Write && e[b].kind == EventKind::Write;
        kinds && same(&e[a], &e[b]) && e[a].value < e[b].value
    });
    for (kind, a, b) in dependencies {
        match kind {
            "addr" => x.addr.insert(a, b),
            "data" => x.data.insert(a, b),
            "pick" | "pickaddr" => {
                x.pick.insert(a, b);
                // All that is picked of a read is its address.
                if kind == "pickaddr" || e[b].kind == EventKind::Read {
                    x.pick_addr.insert(a, b);
                }
            }
            "amo" => {
                (x.events[a].amo, x.events[b].amo) = (true, true);
                x.rmw.insert(a, b);
                x.amo.insert(a, b);
            }
            "rmw" => x.rmw.insert(a, b),
            "ctrl" => (b..n).filter(|&c| e[c].thread == e[b].thread).for_each(|c| x.ctrl.insert(a, c)),
            other => panic!("unknown dependency {other}"),
        }
    }
    x
}

/// xorshift: a seed gives the same executions everywhere.
pub struct Random(pub u64);

impl Random {
    pub fn below(&mut self, n: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        ((self.0 >> 11) % n.max(1) as u64) as usize
    }

    fn pick<'a>(&mut self, list: &[&'a str]) -> &'a str {
        list[self.below(list.len())]
    }
}

/// One event of a random thread: fence, read, write, or the write half of a read-modify-write.
enum Step {
    Fence(&'static str),
    Read(usize),
    Write(usize),
    Update(usize),
}

/// A random execution as text: a random interleaving gives reads and coherence, then up to five of them change.
pub fn random_text(random: &mut Random, fences: &[&'static str], orders: &[&str]) -> String {
    const LOCATIONS: [&str; 3] = ["x", "y", "z"];
    let mut threads: Vec<Vec<Step>> = Vec::new();
    for _ in 0..2 + random.below(2) {
        let mut steps = Vec::new();
        for _ in 0..1 + random.below(4) {
            let location = random.below(3);
            match random.below(8) {
                0 | 1 => steps.push(Step::Fence(random.pick(fences))),
                2 => steps.extend([Step::Read(location), Step::Update(location)]),
                3 | 4 => steps.push(Step::Write(location)),
                _ => steps.push(Step::Read(location)),
            }
        }
        threads.push(steps);
    }
    let mut values = interleave(random, &threads);
    perturb(random, &threads, &mut values);
    let mut words: Vec<String> = Vec::new();
    for (steps, values) in threads.iter().zip(&values) {
        let mut reads: Vec<usize> = Vec::new();
        for (i, (step, value)) in steps.iter().zip(values).enumerate() {
            let order = random.pick(orders);
            let mut word = match step {
                Step::Fence(fence) => fence.to_string(),
                Step::Read(l) => format!("R{}{value}{order}", LOCATIONS[*l]),
                Step::Write(l) => format!("W{}{value}{order}", LOCATIONS[*l]),
                Step::Update(l) => {
                    format!("W{}{value}{order}<{}{}", LOCATIONS[*l], random.pick(&["amo", "rmw"]), i - 1)
                }
            };
            for &read in &reads {
                match (random.below(7), step) {
                    (0, Step::Read(_) | Step::Write(_) | Step::Update(_)) => word += &format!("<addr{read}"),
                    (1, Step::Write(_) | Step::Update(_)) => word += &format!("<data{read}"),
                    (2, _) => word += &format!("<ctrl{read}"),
                    (3, Step::Write(_)) => word += &format!("<pick{read}"),
                    _ => {}
                }
            }
            if matches!(step, Step::Read(_)) {
                reads.push(i);
            }
            words.push(word);
        }
        words.push("|".into());
    }
    words.pop();
    words.join(" ")
}

/// The value of each event in a random interleaving; a write's value is its place in coherence.
fn interleave(random: &mut Random, threads: &[Vec<Step>]) -> Vec<Vec<usize>> {
    let mut memory = [0; 3];
    let mut values: Vec<Vec<usize>> = threads.iter().map(|_| Vec::new()).collect();
    loop {
        let open: Vec<usize> = (0..threads.len()).filter(|&t| values[t].len() < threads[t].len()).collect();
        if open.is_empty() {
            return values;
        }
        let thread = open[random.below(open.len())];
        loop {
            let at = values[thread].len();
            values[thread].push(match threads[thread][at] {
                Step::Fence(_) => 0,
                Step::Read(l) => memory[l],
                Step::Write(l) | Step::Update(l) => {
                    memory[l] += 1;
                    memory[l]
                }
            });
            // The halves of a read-modify-write stay together.
            if !matches!(threads[thread].get(at + 1), Some(Step::Update(_))) {
                break;
            }
        }
    }
}

fn perturb(random: &mut Random, threads: &[Vec<Step>], values: &mut [Vec<usize>]) {
    let place = |l: usize, write: bool| {
        let all = threads.iter().enumerate().flat_map(|(t, steps)| (0..steps.len()).map(move |i| (t, i)));
        all.filter(move |&(t, i)| match threads[t][i] {
            Step::Read(m) => m == l && !write,
            Step::Write(m) | Step::Update(m) => m == l && write,
            Step::Fence(_) => false,
        })
        .collect::<Vec<_>>()
    };
    for _ in 0..random.below(6) {
        let location = random.below(3);
        let (reads, writes) = (place(location, false), place(location, true));
        if random.below(2) == 0 && writes.len() > 1 {
            let (a, b) = (writes[random.below(writes.len())], writes[random.below(writes.len())]);
            let value = values[a.0][a.1];
            values[a.0][a.1] = values[b.0][b.1];
            values[b.0][b.1] = value;
        } else if !reads.is_empty() {
            let (t, i) = reads[random.below(reads.len())];
            values[t][i] = random.below(writes.len() + 1);
        }
    }
}
