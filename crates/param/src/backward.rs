//! Backward reachability [Cubicle-W, section 4, BWD]: from the bad cubes towards the initial states, until every
//! pre-image lies within a cube that was visited.
//!
//! Order: fewer processes first (so cubes that add a process wait until all others are done), then small and shallow
//! cubes. A visited cube that lies within a new one is deleted, and what it has in the queue is dropped: the
//! new cube's pre-images cover it.
//!
//! Nodes are taken from the queue in batches whose size depends on the queue alone. Looking at each of them, and
//! computing the pre-images of those that are new, is done on all cores; everything that changes the search happens in
//! between, in the order of the queue. So the answer, and every cube of it, is the same for any number of threads.
//!
//! Safety does not depend on approximations: a cube may be replaced by any larger one. When an approximation turns out
//! to reach the initial states, the caller restarts without it.

use crate::cube::{Atom, Cube};
use crate::literal::Fact;
use crate::memory::{Memory, Read};
use crate::outcome::{Progress, StopReason};
use crate::parallel;
use crate::pre::{Context, TooLarge};
use crate::subsume::{Pattern, Profile};
use crate::system::{Bad, SrcAtom};
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

/// How a cube came about.
#[derive(Clone, Debug)]
pub struct Origin {
    /// The later cube.
    pub parent: usize,
    /// Index of the transition.
    pub transition: usize,
    /// Its processes, see [`crate::pre::Predecessor`].
    pub args: Vec<u8>,
    /// New numbers of the processes.
    pub numbers: Vec<u8>,
}

/// What became of a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Status {
    /// Waits in the queue.
    Queued,
    /// Part of the fixpoint.
    Visited,
    /// Lies within a visited cube.
    Subsumed,
    /// Was visited, and lies within a later one.
    Deleted,
}

/// Most nodes of a batch.
const MAX_BATCH: usize = 64;

/// A pre-image that takes longer is worth threads of its own.
const WORTH_THREADS: Duration = Duration::from_millis(1);

/// What a node turned out to be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Look {
    /// It meets the initial states.
    Initial,
    /// It lies within cubes that are known.
    Covered,
    /// Neither.
    New,
}

/// A node of the search.
pub struct Node {
    /// The cube; after an approximation the larger one.
    pub cube: Cube,
    /// What can be told of it at a glance.
    profile: Profile,
    /// Where it came from; none for a bad cube.
    pub origin: Option<Origin>,
    /// Steps to the bad cube.
    pub depth: usize,
    /// What became of it.
    pub status: Status,
    /// It meets the initial states, but its trace was found to be spurious.
    pub past_init: bool,
    /// The node on the way here whose cube was last replaced by a larger one.
    pub approximated: Option<usize>,
}

/// How a search ended.
#[derive(Debug)]
pub enum End {
    /// The visited cubes are an inductive invariant's complement.
    Fixpoint,
    /// This node meets the initial states.
    Reached(usize),
    /// It did not go on.
    Stopped(Stop),
}

/// Why a search does not go on.
#[derive(Clone, Debug, PartialEq)]
pub enum Stop {
    /// A limit of the user.
    Limit(StopReason),
    /// It was to do so much work and no more; it can go on later.
    Turn,
    /// A cube has more pending reads or processes than fit.
    TooLarge,
}

/// Limits, and who is told of progress.
pub struct Control<'a> {
    /// Says why to stop, if so; asked once per batch with the number of nodes made and the work done.
    pub stop: &'a mut dyn FnMut(usize, u64) -> Option<Stop>,
    /// Told now and then.
    pub progress: &'a mut dyn FnMut(&Progress),
    /// A larger cube to go on with instead.
    pub approximate: &'a mut dyn FnMut(&Context, &Cube) -> Option<Cube>,
}

/// The state of the search.
pub struct Search<'a> {
    /// System and model.
    pub context: Context<'a>,
    /// All nodes ever made.
    pub nodes: Vec<Node>,
    /// Visited nodes with their patterns; declared invariants come first and have no node.
    visited: Vec<(Option<usize>, Pattern)>,
    /// The features of each visited cube: most candidates are ruled out by one pass over this.
    features: Vec<u128>,
    assumed: Vec<Cube>,
    /// Threads.
    jobs: usize,
    /// The last pre-images took long.
    slow: bool,
    /// Visited cubes deleted since the batch was looked at.
    deleted_in_batch: usize,
    queue: BinaryHeap<Reverse<(u8, usize, usize, usize)>>,
    permute: bool,
    /// Nodes processed.
    pub processed: usize,
}

impl<'a> Search<'a> {
    /// A search that starts from the bad cubes.
    pub fn new(context: Context<'a>, jobs: usize) -> Search<'a> {
        let permute = context.system.symmetric;
        let mut search = Search {
            context,
            nodes: Vec::new(),
            visited: Vec::new(),
            features: Vec::new(),
            assumed: Vec::new(),
            jobs,
            slow: false,
            deleted_in_batch: 0,
            queue: BinaryHeap::new(),
            permute,
            processed: 0,
        };
        let system = search.context.system;
        for bad in &system.assumed {
            for cube in search.context.assumed_cubes(bad) {
                let pattern = Pattern::new(&cube);
                search.features.push(pattern.features());
                search.visited.push((None, pattern));
                search.assumed.push(cube);
            }
        }
        for bad in &system.bad {
            for cube in search.context.cubes_of(bad) {
                search.push(cube, None, 0, None);
            }
        }
        search
    }

    fn push(&mut self, cube: Cube, origin: Option<Origin>, depth: usize, approximated: Option<usize>) {
        let id = self.nodes.len();
        let profile = Profile::new(&cube);
        self.nodes.push(Node {
            cube,
            profile,
            origin,
            depth,
            status: Status::Queued,
            past_init: false,
            approximated,
        });
        self.enqueue(id);
    }

    /// What the search has cost, roughly in microseconds. It depends on what is computed alone, not on the machine or
    /// the number of threads.
    pub fn work(&self) -> u64 {
        self.context.work.load(Ordering::Relaxed)
    }

    /// Runs to the end, or goes on after a stop.
    pub fn run(&mut self, control: &mut Control) -> End {
        while let Some(batch) = self.next_batch() {
            if let Some(reason) = (control.stop)(self.nodes.len(), self.work()) {
                batch.iter().for_each(|&id| self.enqueue(id));
                return End::Stopped(reason);
            }
            let looks = parallel::map(self.jobs, &batch, |id| self.look(*id));
            let before = self.visited.len();
            self.deleted_in_batch = 0;
            let (mut new, mut reached) = (Vec::new(), None);
            for (position, (&id, look)) in batch.iter().zip(looks).enumerate() {
                if self.parent_deleted(id) || look == Look::Covered || self.is_covered_since(id, before) {
                    self.nodes[id].status = Status::Subsumed;
                    continue;
                }
                if look == Look::Initial {
                    reached = Some(id);
                    batch[position + 1..].iter().for_each(|&id| self.enqueue(id));
                    break;
                }
                if let Some(larger) = (control.approximate)(&self.context, &self.nodes[id].cube) {
                    self.nodes[id].profile = Profile::new(&larger);
                    self.nodes[id].cube = larger;
                    self.nodes[id].approximated = Some(id);
                }
                self.visit(id);
                new.push(id);
            }
            if let Err(TooLarge) = self.expand(&new, control) {
                let reason = (control.stop)(self.nodes.len(), 0);
                return End::Stopped(reason.unwrap_or(Stop::TooLarge));
            }
            if let Some(id) = reached {
                return End::Reached(id);
            }
        }
        End::Fixpoint
    }

    /// The first nodes of the queue, all with as many processes as the first one.
    fn next_batch(&mut self) -> Option<Vec<usize>> {
        let size = (self.queue.len() / 8).clamp(1, MAX_BATCH);
        let mut batch = Vec::new();
        let mut procs = None;
        while batch.len() < size
            && let Some(Reverse((p, _, _, id))) = self.queue.peek()
            && procs.is_none_or(|procs| procs == *p)
        {
            procs = Some(*p);
            batch.push(*id);
            self.queue.pop();
        }
        (!batch.is_empty()).then_some(batch)
    }

    /// What can be told of a node without changing anything.
    fn look(&self, id: usize) -> Look {
        let node = &self.nodes[id];
        if self.parent_deleted(id) {
            Look::Covered
        } else if !node.past_init && self.context.meets_init(&node.cube) {
            Look::Initial
        } else if self.is_covered(&node.cube, &node.profile) {
            Look::Covered
        } else {
            Look::New
        }
    }

    /// Computes the pre-images of nodes and puts them into the queue.
    fn expand(&mut self, new: &[usize], control: &mut Control) -> Result<(), TooLarge> {
        // Few nodes leave cores idle: then the transitions of one node are shared out instead.
        // Where pre-images take little time, threads would take more; the result is the same either way.
        let inner = if new.len() < parallel::FEW && self.slow { self.jobs } else { 1 };
        let started = Instant::now();
        let images = parallel::map(self.jobs, new, |&id| match self.nodes[id].status {
            Status::Visited => self.context.pre_image(&self.nodes[id].cube, inner),
            // A later one of the batch covers it.
            _ => Ok(vec![]),
        });
        self.slow = started.elapsed() > WORTH_THREADS * new.len() as u32;
        for (&id, predecessors) in new.iter().zip(images) {
            let depth = self.nodes[id].depth;
            self.processed += 1;
            if self.processed.is_multiple_of(256) {
                (control.progress)(&self.progress(depth));
            }
            for p in predecessors? {
                let origin =
                    Origin { parent: id, transition: p.transition, args: p.args, numbers: p.numbers };
                let approximated = self.nodes[id].approximated;
                self.push(p.cube, Some(origin), depth + 1, approximated);
            }
        }
        Ok(())
    }

    fn enqueue(&mut self, id: usize) {
        let node = &self.nodes[id];
        self.queue.push(Reverse((node.cube.procs, node.cube.size() + node.depth, node.depth, id)));
    }

    /// Treats a node that meets the initial states as any other: its trace is spurious, but a longer one may be real.
    pub fn go_on_past(&mut self, id: usize) {
        self.nodes[id].past_init = true;
        self.enqueue(id);
    }

    fn progress(&self, depth: usize) -> Progress {
        let processes = self.nodes.iter().rev().take(256).map(|n| n.cube.procs).max().unwrap_or(0);
        Progress { nodes: self.processed, queue: self.queue.len(), depth, processes }
    }

    fn parent_deleted(&self, id: usize) -> bool {
        let parent = self.nodes[id].origin.as_ref().map(|o| o.parent);
        parent.is_some_and(|p| self.nodes[p].status == Status::Deleted)
    }

    fn general(&self, index: usize) -> &Cube {
        match self.visited[index].0 {
            Some(id) => &self.nodes[id].cube,
            None => &self.assumed[index],
        }
    }

    pub(crate) fn assumed(&self) -> &[Cube] {
        &self.assumed
    }

    /// Whether the cube lies within one visited cube or declared invariant.
    pub(crate) fn is_covered_at_once(&self, cube: &Cube, profile: &Profile) -> bool {
        self.covers_from(0, cube, profile)
    }

    /// The same for those that were visited after the first `from`. Deletions move later ones down, so that more may be
    /// looked at than needed.
    fn is_covered_since(&self, id: usize, from: usize) -> bool {
        let deleted = self.deleted_in_batch.min(from);
        self.covers_from(from - deleted, &self.nodes[id].cube, &self.nodes[id].profile)
    }

    fn covers_from(&self, from: usize, cube: &Cube, profile: &Profile) -> bool {
        let has = profile.features();
        let mut compared = 0;
        let covered = (from..self.visited.len()).any(|v| {
            self.features[v] & !has == 0 && {
                compared += 1;
                self.visited[v].1.covers(self.general(v), cube, profile, self.permute)
            }
        });
        self.context.note_work(compared + (self.visited.len() - from) as u64 / 256);
        covered
    }

    /// Adds a node to the visited ones and deletes those that lie within it.
    fn visit(&mut self, id: usize) {
        let pattern = Pattern::new(&self.nodes[id].cube);
        let general = &self.nodes[id].cube;
        let wants = pattern.features();
        let covered: Vec<usize> = (0..self.visited.len())
            .filter(|&v| wants & !self.features[v] == 0)
            .filter(|&v| {
                self.visited[v].0.is_some_and(|id| {
                    let Node { cube, profile, .. } = &self.nodes[id];
                    pattern.covers(general, cube, profile, self.permute)
                })
            })
            .collect();
        for v in covered.into_iter().rev() {
            if let Some(id) = self.visited[v].0 {
                self.nodes[id].status = Status::Deleted;
            }
            self.visited.remove(v);
            self.features.remove(v);
            self.deleted_in_batch += 1;
        }
        self.nodes[id].status = Status::Visited;
        self.features.push(pattern.features());
        self.visited.push((Some(id), pattern));
    }

    /// The visited cubes: together the complement of the invariant.
    pub fn fixpoint(&self) -> Vec<Cube> {
        self.visited.iter().filter_map(|v| v.0).map(|id| self.nodes[id].cube.clone()).collect()
    }
}

impl Context<'_> {
    /// The cubes of a bad or assumed declaration [Cubicle-W, section 3, Bad states]: its reads are `ghb`-equal.
    pub fn cubes_of(&self, bad: &Bad) -> Vec<Cube> {
        let fixed = self.system.number_procs;
        let tuples = match fixed {
            None => vec![(0..bad.params).collect()],
            Some(n) => crate::machine::tuples(n, bad.params, &[]),
        };
        tuples.into_iter().filter_map(|vars| self.cube_of(bad, &vars, fixed.unwrap_or(bad.params))).collect()
    }

    fn cube_of(&self, bad: &Bad, vars: &[u8], procs: u8) -> Option<Cube> {
        let mut memory = Memory::default();
        let mut lits = Vec::new();
        for lit in &bad.lits {
            let fact = lit.rename(&mut |atom| match atom {
                SrcAtom::Proc(p) => Atom::Proc(p.resolve(vars)),
                SrcAtom::Sym(sym, idx) => Atom::Cell(sym, idx.map(|p| p.resolve(vars))),
                SrcAtom::View(viewer, sym, idx) => {
                    if memory.after.is_empty() {
                        memory.add_node();
                    }
                    let cell = (sym, idx.map(|p| p.resolve(vars)));
                    let read = Read { proc: viewer.resolve(vars), cell, node: 0 };
                    let at = memory.reads.iter().position(|r| *r == read).unwrap_or_else(|| {
                        memory.reads.push(read);
                        memory.reads.len() - 1
                    });
                    Atom::Read(at as u8)
                }
            });
            match fact {
                Fact::True => {}
                Fact::False => return None,
                Fact::Lit(lit) => lits.push(lit),
            }
        }
        // The reads happen when all transitions have fired. What is still in a buffer then is not ordered before them.
        if !memory.reads.is_empty() {
            memory.everyone.event = 1;
            memory.everyone.write = u64::from(self.model.write_before(crate::model::EventKind::Read));
        }
        let lits = self.simplify(&memory, lits)?;
        let lits = self.forget_constants(&memory, lits)?;
        let mut cube = Cube { procs, lits, memory };
        cube.compact(self.system.number_procs.is_some());
        Some(cube)
    }
}
