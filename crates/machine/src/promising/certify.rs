//! Consistency: can a thread, running alone, fulfil all its promises `[AAGKV, 3 and 3.1]`?
//!
//! *Strong*: from the memory as it is, adding writes only behind all others or below own promises, and no read-modify-write that
//! is
//! not a promise. *Standard*: from every future memory. Which future memories have to be looked at is in
//! [`super::future`]. In both, a thread promises nothing more and stops at SC fences.
//!
//! Only the thread that moved has to be checked: what others add takes nothing away from a certification, neither a
//! message to read, nor the end of a cell, nor the interval of a promise. `plain` checks all threads, so every replayed run tests
//! this.
//!
//! The answer is the least number of view switches of a certifying run, because `[AAGKV, 4]` counts them.

use super::future::futures;
use super::memory::Memory;
use super::thread::{Rule, Threads};
use crate::local::Local;
use crate::step::Next;
use fencepost_ir::Value;
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::VecDeque;
use std::sync::Arc;

/// Most states of one certification; beyond, the machine gives up.
const MAX_STATES: usize = 200_000;

/// Most values of a choice in a certification. Who searches has divided larger ranges before.
pub(super) const MAX_CHOICES: i64 = 1 << 16;

/// The two notions of consistency.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Consistency {
    /// From the current memory, by runs that nobody can disturb.
    #[default]
    Strong,
    /// From every future memory over a finite domain of values.
    Standard,
}

impl Consistency {
    /// Its name on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Consistency::Strong => "strong",
            Consistency::Standard => "standard",
        }
    }
}

/// What a check of consistency says.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Certified {
    /// All promises can be fulfilled, with this many view switches.
    Yes(u16),
    /// They cannot.
    No,
    /// There are too many runs to say.
    Limit,
}

/// Checks consistency and remembers.
pub struct Certifier<'c> {
    threads: Threads<'c>,
    consistency: Consistency,
    domain: &'c [Value],
    known: FxHashMap<Arc<(Local, Memory)>, Certified>,
    bytes: usize,
}

impl<'c> Certifier<'c> {
    /// A new one; `domain`: the values that a future memory may hold.
    pub fn new(threads: Threads<'c>, consistency: Consistency, domain: &'c [Value]) -> Certifier<'c> {
        Certifier { threads, consistency, domain, known: FxHashMap::default(), bytes: 0 }
    }

    /// About how many bytes it keeps.
    pub fn bytes(&self) -> usize {
        self.bytes
    }

    /// Can this thread fulfil its promises?
    pub fn certify(&mut self, local: &Local, memory: &Memory, thread: usize) -> Certified {
        if !memory.promises(thread as u8) {
            return Certified::Yes(0);
        }
        let mut local = local.clone();
        self.threads.resume(&mut local);
        let key = Arc::new((local, memory.alone(thread)));
        if let Some(&known) = self.known.get(&key) {
            return known;
        }
        let answer = self.check(&key.0, &key.1);
        self.bytes += key.1.bytes() + 200;
        self.known.insert(key, answer);
        answer
    }

    fn check(&self, local: &Local, memory: &Memory) -> Certified {
        let standard = self.consistency == Consistency::Standard && self.threads.updates;
        if !standard {
            // Without read-modify-writes the notions are the same [AAGKV, Theorem 3.1].
            return self.run(local, memory, Rule::Strong);
        }
        let now = self.run(local, memory, Rule::Standard);
        if !matches!(now, Certified::Yes(_)) {
            return now;
        }
        for future in futures(self.threads, memory, self.domain) {
            match self.run(local, &future, Rule::Standard) {
                Certified::Yes(_) => {}
                other => return other,
            }
        }
        now
    }

    /// A shortest path by view switches: steps that switch no view first.
    fn run(&self, local: &Local, memory: &Memory, rule: Rule) -> Certified {
        let mut open = VecDeque::from([(0u16, Arc::new((local.clone(), memory.clone())))]);
        let mut seen: FxHashSet<Arc<(Local, Memory)>> = FxHashSet::default();
        let mut actions = Vec::new();
        while let Some((cost, state)) = open.pop_front() {
            if !seen.insert(state.clone()) {
                continue;
            }
            let (local, memory) = &*state;
            if !memory.promises(0) {
                return Certified::Yes(cost);
            }
            if seen.len() > MAX_STATES {
                return Certified::Limit;
            }
            if let Next::Choose(first, last) = self.threads.steps.next(local)
                && last.saturating_sub(first) > MAX_CHOICES
            {
                return Certified::Limit;
            }
            actions.clear();
            self.threads.actions(local, memory, 0, rule, &mut actions);
            for &action in &actions {
                let (mut local, mut memory) = (local.clone(), memory.clone());
                let switches = self.threads.apply(&mut local, &mut memory, 0, action, &mut Vec::new());
                self.threads.resume(&mut local);
                if memory.is_lost(0) {
                    continue;
                }
                memory.prune();
                let state = Arc::new((local, memory));
                match switches {
                    false => open.push_front((cost, state)),
                    true => open.push_back((cost + 1, state)),
                }
            }
        }
        Certified::No
    }
}
