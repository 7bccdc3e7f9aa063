//! What an exploration has found out about a program that it must know before it begins: how many events, registers and threads
//! there are, where cells lie, with which reads it is careful. It begins with a guess and starts over when that was too little.
//!
//! The reasons to start over, in the order in which they came up, are all that there is to know: from the same reasons comes the
//! same
//! preparation.

use crate::findings::collect::Question;
use crate::reductions::Reduction;
use crate::reductions::conflicts::{CellKey, read_cell, write_cell};
use crate::reductions::symmetry::Sets;
use crate::reductions::tails::tails;
use crate::search::graph::Layout;
use crate::search::row::RowForm;
use crate::threads::code::{Code, HIDDEN};
use crate::threads::lower::{Purpose, Unsupported, lower};
use crate::threads::memory::{Layouts, Memory, ObjectKey};
use crate::threads::native::forms::{self, Forms};
use crate::threads::pieces::goes_in_pieces;
use crate::work::caution::Care;
use crate::work::codec::{DecodeError, Reader, Writer};
use crate::work::options::{ModelName, Options};
use fencepost_ir::{Instr, Program, Width};
use rustc_hash::FxHashSet;

/// Events that an execution may have at most.
pub(crate) const MAX_EVENTS: usize = 1_000_000;

/// Events of a native thread that there is room for at first.
const NATIVE_EVENTS: usize = 12;

/// Most words of all registers. More than a program that is explored ever has; a reason from elsewhere may ask for anything.
const MAX_WORDS: usize = 1 << 24;

/// Most reasons: each makes something larger by a part of it, or is about a cell.
const MAX_REASONS: usize = 100_000;

/// Why an exploration starts over: something that it should have known before it began.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StartOver {
    /// There is no room for more events of a thread.
    Events(usize),
    /// There is none for a thread: started by whom, after how many others, and what it runs.
    Thread(u16, u32, u32),
    /// There is none for more registers of a thread.
    Registers(usize),
    /// Events must be committed out of program order: see `reductions::program_order`.
    OutOfOrder,
    /// Caution with the reads of a cell: see `reductions::sleep`.
    Caution(CellKey),
    /// Iterations that read a cell are not left out at once: see `reductions::idle`.
    Keep(CellKey),
    /// Threads that looked equal can be told apart: see `reductions::symmetry`.
    Distinct,
    /// The source of native threads has found something out.
    Source,
    /// An access in pieces, or a layout that has a cell there: see `threads::pieces`. The access is that of an
    /// instruction; where it cannot go in pieces, or does already, the place is asked for.
    Mixed {
        /// Function and instruction.
        at: (u32, u32),
        /// Object, offset and width; nothing for an object that nobody else can reach.
        place: Option<(ObjectKey, u32, Width)>,
    },
}

/// The program as it is explored, with the room that there is.
pub(crate) struct Preparation {
    purpose: Purpose,
    pub code: Code,
    pub forms: Forms,
    pub memory: Memory,
    pub question: Question,
    pub care: Care,
    /// Why it started over so far.
    pub reasons: Vec<StartOver>,
    mixed: FxHashSet<(u32, u32)>,
    layouts: Layouts,
    stride: Vec<usize>,
    capacity: Vec<usize>,
    /// The capacity before it was made to fit one execution.
    loose: Vec<usize>,
    spawned: Vec<(u16, u32)>,
    /// The function that each thread runs; the first, if others may start it with others.
    runs: Vec<u32>,
    /// Whether threads that looked equal can be told apart.
    distinct: bool,
}

impl Preparation {
    /// A guess, for a model that wants code for this purpose.
    pub fn new(
        program: &Program,
        purpose: Purpose,
        options: &Options<'_>,
    ) -> Result<Preparation, Unsupported> {
        let (mixed, layouts) = (FxHashSet::default(), Layouts::default());
        let shows_old = |instr: &Instr| matches!(instr, Instr::CompareExchange { dst: Some(_), .. });
        let exchanges = program.functions.iter().flat_map(|f| &f.body).any(shows_old);
        let starts_out_of_order = !options.reductions.has(Reduction::ProgramOrder);
        let out_of_order =
            purpose.out_of_order && (starts_out_of_order || (exchanges && !purpose.exchanges_in_order));
        let pairs = options.reductions.has(Reduction::Pairs);
        let purpose = Purpose { out_of_order, pairs, ..purpose };
        let (mut code, forms) = match options.native {
            Some(_) => forms::code(program, purpose, options.model == ModelName::Tso),
            None => (lower(program, purpose, &mixed)?, Forms::default()),
        };
        refine(&mut code, options);
        code.symmetry = sets(program, &code, options);
        let mut memory = Memory::new(program, &layouts);
        let question = Question::new(program, &mut memory);
        let first_frame = |f: &u32| code.functions[*f as usize].frame as usize;
        let stride = code.threads.iter().map(|(f, _)| HIDDEN + first_frame(f)).collect();
        let events = |f: u32| if code.is_native { NATIVE_EVENTS } else { events_of(&code, f) };
        let capacity = code.threads.iter().map(|(f, _)| events(*f)).collect();
        let runs = code.threads.iter().map(|(f, _)| *f).collect();
        let care = Care::default();
        let (reasons, spawned) = (Vec::new(), Vec::new());
        Ok(Preparation {
            purpose,
            code,
            forms,
            memory,
            question,
            care,
            reasons,
            mixed,
            layouts,
            stride,
            capacity,
            loose: Vec::new(),
            spawned,
            runs,
            distinct: false,
        })
    }

    /// Where events lie.
    pub fn layout(&self) -> Layout {
        Layout::new(&self.capacity, &self.stride, self.spawned.clone())
    }

    /// How many events there is room for.
    pub fn events(&self) -> usize {
        self.capacity.iter().sum()
    }

    /// Whether there are more events than an execution may have.
    pub fn is_too_large(&self) -> bool {
        self.events() > MAX_EVENTS
    }

    /// Whether rows could be narrower if there was only as much room as is needed. Room grows by about a half, so a third of it
    /// may be too
    /// much; one word is the least, and with very many events rows are ranges, which do not get narrower.
    pub fn may_be_too_wide(&self) -> bool {
        let widest = RowForm::Words16.events();
        (RowForm::Words1.events() + 1..=widest + widest / 2).contains(&self.events())
    }

    /// An execution has been seen whose threads have so many events. If narrower rows do for it, there is as much room from now
    /// on as
    /// these rows have; an execution that needs more gets it as always.
    pub fn fit(&mut self, measured: &[usize]) {
        let threads = self.capacity.len();
        let most = |t: usize| self.like(t).into_iter().map(|t| measured[t]).max().unwrap_or(measured[t]);
        let tight: Vec<usize> = (0..threads).map(|t| self.capacity[t].min(most(t))).collect();
        let needed = tight.iter().sum();
        let form = RowForm::for_events(needed);
        if form < RowForm::for_events(self.events()) {
            let spare = (form.events() - needed) / threads;
            let fitting = (0..threads).map(|t| self.capacity[t].min(tight[t] + spare)).collect();
            self.loose = std::mem::replace(&mut self.capacity, fitting);
        }
    }

    /// Whether a reason that comes from elsewhere can be one of this program.
    pub fn can_heed(&self, why: &StartOver) -> bool {
        let functions = self.code.functions.len();
        self.reasons.len() < MAX_REASONS
            && match *why {
                StartOver::Events(thread) => thread < self.capacity.len() && !self.is_too_large(),
                StartOver::Registers(thread) => {
                    thread < self.stride.len() && self.stride.iter().sum::<usize>() < MAX_WORDS
                }
                StartOver::Thread(parent, _, function) => {
                    usize::from(parent) < self.capacity.len()
                        && self.capacity.len() < usize::from(u16::MAX)
                        && (function as usize) < functions
                }
                StartOver::OutOfOrder => self.purpose.dependencies,
                StartOver::Caution(_) | StartOver::Keep(_) | StartOver::Distinct => true,
                StartOver::Source => self.code.is_native,
                StartOver::Mixed { at, .. } => (at.0 as usize) < functions,
            }
    }

    /// Prepares better.
    pub fn heed(
        &mut self,
        program: &Program,
        options: &Options<'_>,
        why: StartOver,
    ) -> Result<(), Unsupported> {
        self.reasons.push(why);
        match why {
            // The fit was too tight: so that the search starts over only once for that, all is as it was.
            StartOver::Events(thread)
                if self.loose.get(thread).is_some_and(|&was| was > self.capacity[thread]) =>
            {
                let was = std::mem::take(&mut self.loose);
                self.capacity.iter_mut().zip(was).for_each(|(now, was)| *now = was.max(*now));
            }
            StartOver::Events(thread) => {
                // A thread of few events among many gets more than it has: to start over costs what was explored.
                let more = (self.capacity[thread] / 2 + 4).max(self.events() / 16);
                let events = self.capacity[thread] + more;
                for t in self.like(thread) {
                    self.capacity[t] = self.capacity[t].max(events);
                }
            }
            StartOver::OutOfOrder => {
                self.purpose.out_of_order = true;
                self.lower(program, options)?;
            }
            StartOver::Caution(cell) => _ = self.care.cautious.insert(cell),
            StartOver::Keep(cell) => _ = self.care.kept.insert(cell),
            StartOver::Source => {}
            StartOver::Mixed { at, place } => {
                match place {
                    // Objects that are made at run time get other numbers now.
                    None => {
                        self.mixed.insert(at);
                        self.layouts = Layouts::default();
                    }
                    Some((object, offset, width)) => {
                        let is_atomic = !goes_in_pieces(program, at);
                        if is_atomic || !self.mixed.insert(at) {
                            self.layouts.ask(object, offset, width, is_atomic);
                        }
                    }
                }
                self.lower(program, options)?;
                self.memory = Memory::new(program, &self.layouts);
                self.question = Question::new(program, &mut self.memory);
            }
            StartOver::Distinct => {
                self.distinct = true;
                self.code.symmetry = Sets::default();
            }
            StartOver::Registers(thread) => {
                // More each time, because a function that calls itself asks again at every call.
                let times = self.reasons.iter().filter(|&&earlier| earlier == why).count();
                let words = self.stride[thread] + times * times * self.stride[thread] / 4 + 2;
                for t in self.like(thread) {
                    self.stride[t] = self.stride[t].max(words);
                }
            }
            StartOver::Thread(parent, number, function) => {
                self.spawned.push((parent, number));
                let like = self.runs.iter().position(|&runs| runs == function);
                let like = like.filter(|_| !self.code.is_native);
                let frame = self.code.functions[function as usize].frame as usize;
                self.runs.push(function);
                let few = if self.code.is_native { NATIVE_EVENTS } else { 4 };
                self.capacity.push(like.map_or(few, |t| self.capacity[t]));
                self.stride.push(like.map_or(HIDDEN + frame, |t| self.stride[t]));
            }
        }
        Ok(())
    }

    /// The threads that run the same function: they will need as much.
    fn like(&self, thread: usize) -> Vec<usize> {
        let is_native = self.code.is_native;
        let runs_the_same = |&t: &usize| t == thread || (!is_native && self.runs[t] == self.runs[thread]);
        (0..self.runs.len()).filter(runs_the_same).collect()
    }

    fn lower(&mut self, program: &Program, options: &Options<'_>) -> Result<(), Unsupported> {
        self.code = lower(program, self.purpose, &self.mixed)?;
        refine(&mut self.code, options);
        if !self.distinct {
            self.code.symmetry = sets(program, &self.code, options);
        }
        Ok(())
    }
}

/// What of the code is a matter of the options.
fn refine(code: &mut Code, options: &Options<'_>) {
    code.section_lock = options.section_lock;
    // What comes behind a join of a native thread nobody knows.
    if options.reductions.has(Reduction::Tails) && !code.is_native {
        code.tails = tails(code);
    }
}

/// The threads that are taken for equal: none where events are committed out of program order. Under some models coherence never
/// contradicts (po | rf)+.
fn sets(program: &Program, code: &Code, options: &Options<'_>) -> Sets {
    if code.out_of_order || code.is_native {
        return Sets::default();
    }
    let is_strong = matches!(options.model, ModelName::Sc | ModelName::Tso | ModelName::Pso);
    Sets::of(program, code, options.symmetry(), is_strong)
}

/// How many events a run of the function's own code has at most, if it has no loops and calls nothing.
fn events_of(code: &Code, function: u32) -> usize {
    let first = code.functions[function as usize].entry as usize;
    let end = code.functions.get(function as usize + 1).map_or(code.ops.len(), |f| f.entry as usize);
    code.ops[first..end].iter().filter(|op| op.is_event()).count()
}

const WIDTHS: [Width; 5] = [Width::W8, Width::W16, Width::W32, Width::W64, Width::W128];

/// Writes a reason.
pub(crate) fn write_reason(why: &StartOver, writer: &mut Writer) {
    let mut numbers = |numbers: &[u64]| numbers.iter().for_each(|&number| writer.number(number));
    match *why {
        StartOver::Events(thread) => numbers(&[0, thread as u64]),
        StartOver::Registers(thread) => numbers(&[1, thread as u64]),
        StartOver::Thread(parent, number, function) => {
            numbers(&[2, parent.into(), number.into(), function.into()]);
        }
        StartOver::OutOfOrder => numbers(&[3]),
        StartOver::Distinct => numbers(&[4]),
        StartOver::Source => numbers(&[9]),
        StartOver::Caution(cell) => {
            numbers(&[5]);
            write_cell(&cell, writer);
        }
        StartOver::Keep(cell) => {
            numbers(&[6]);
            write_cell(&cell, writer);
        }
        StartOver::Mixed { at, place: None } => numbers(&[7, at.0.into(), at.1.into()]),
        StartOver::Mixed { at, place: Some((object, offset, width)) } => {
            numbers(&[8, at.0.into(), at.1.into()]);
            write_cell(&CellKey { object, offset }, writer);
            writer.number(WIDTHS.iter().position(|&w| w == width).unwrap_or_default() as u64);
        }
    }
}

/// Reads a reason.
pub(crate) fn read_reason(reader: &mut Reader<'_>) -> Result<StartOver, DecodeError> {
    Ok(match reader.number()? {
        0 => StartOver::Events(reader.small()?),
        1 => StartOver::Registers(reader.small()?),
        2 => StartOver::Thread(reader.small()?, reader.small()?, reader.small()?),
        3 => StartOver::OutOfOrder,
        4 => StartOver::Distinct,
        5 => StartOver::Caution(read_cell(reader)?),
        6 => StartOver::Keep(read_cell(reader)?),
        7 => StartOver::Mixed { at: (reader.small()?, reader.small()?), place: None },
        8 => {
            let at = (reader.small()?, reader.small()?);
            let CellKey { object, offset } = read_cell(reader)?;
            let width = WIDTHS.get(reader.small::<usize>()?).ok_or(DecodeError::Value)?;
            StartOver::Mixed { at, place: Some((object, offset, *width)) }
        }
        9 => StartOver::Source,
        _ => return Err(DecodeError::Value),
    })
}
