//! Whole executions from traces: one trace per thread, all `rf`, all `co`, then the axioms.

use crate::trace::{End, Trace, Universe, traces};
use crate::{Found, Key, Limits, NaiveExecution, Stop};
use fencepost_ir::{Ann, Event, EventKind, Execution, Location, ObjectId, Program, ThreadId, Value, Width};
use fencepost_models::{Checker, Model};
use std::collections::BTreeMap;
use std::sync::atomic::Ordering;
use std::time::Instant;

/// All consistent executions of a program whose loops are bounded.
pub fn enumerate(program: &Program, model: &Model, limits: &Limits) -> Result<Found, Stop> {
    let started = Instant::now();
    let traces = all_traces(program, limits)?;
    let mut search = Search { program, model, limits, started, found: Found::default() };
    let mut chosen = Vec::new();
    search.choose_traces(&traces, &mut chosen)?;
    Ok(search.found)
}

/// The traces of all threads over all values that can be stored; see the crate's documentation for when it ends.
fn all_traces(program: &Program, limits: &Limits) -> Result<Vec<Vec<Trace>>, Stop> {
    let mut universe: Universe = initial_cells(program).map(|(l, _, v)| (l, [v].into())).collect();
    let mut round = 0;
    loop {
        let threads = (0..program.threads.len() as u32).map(ThreadId);
        let all: Vec<Vec<Trace>> =
            threads.map(|t| traces(program, t, &universe, limits)).collect::<Result<_, _>>()?;
        let before: usize = universe.values().map(|v| v.len()).sum();
        for event in all.iter().flatten().flat_map(|t| &t.events) {
            if let (EventKind::Write, Some(location), Some(value)) = (event.kind, event.location, event.value)
            {
                universe.entry(location).or_default().insert(value);
            }
        }
        round += 1;
        let after: usize = universe.values().map(|v| v.len()).sum();
        let stores = |t: &Trace| t.events.iter().filter(|e| e.kind == EventKind::Write).count();
        let most: usize = all.iter().map(|list| list.iter().map(stores).max().unwrap_or(0)).sum();
        if before == after || round > most {
            return Ok(all);
        }
    }
}

/// All cells with their initial values.
pub fn initial_cells(program: &Program) -> impl Iterator<Item = (Location, Width, Value)> + '_ {
    program.objects.iter().enumerate().flat_map(|(i, object)| {
        object.cells.iter().map(move |cell| {
            let location = Location { object: ObjectId(i as u32), offset: cell.offset };
            (location, cell.width, cell.width.zero_extend(cell.init.unwrap_or_default()))
        })
    })
}

struct Search<'p> {
    program: &'p Program,
    model: &'p Model,
    limits: &'p Limits,
    started: Instant,
    found: Found,
}

impl Search<'_> {
    fn choose_traces<'t>(
        &mut self,
        traces: &'t [Vec<Trace>],
        chosen: &mut Vec<&'t Trace>,
    ) -> Result<(), Stop> {
        let Some((first, rest)) = traces.split_first() else { return self.candidates(chosen) };
        for trace in first {
            chosen.push(trace);
            if self.readable(chosen, rest) {
                self.choose_traces(rest, chosen)?;
            }
            chosen.pop();
        }
        Ok(())
    }

    /// May every read so far still find its value, in a chosen trace, initially, or in a thread to come?
    fn readable(&self, chosen: &[&Trace], rest: &[Vec<Trace>]) -> bool {
        let writes = |t: &Trace, location, value| {
            t.events.iter().any(|e| e.kind == EventKind::Write && e.location == location && e.value == value)
        };
        chosen.iter().flat_map(|t| &t.events).filter(|e| e.kind == EventKind::Read).all(|e| {
            initial_cells(self.program).any(|(l, _, v)| Some(l) == e.location && Some(v) == e.value)
                || chosen.iter().any(|t| writes(t, e.location, e.value))
                || rest.iter().flatten().any(|t| writes(t, e.location, e.value))
        })
    }

    /// All `rf` and `co` over one choice of traces.
    fn candidates(&mut self, chosen: &[&Trace]) -> Result<(), Stop> {
        let mut execution = skeleton(self.program, chosen);
        let events = &execution.events;
        let sources: Vec<(usize, Vec<usize>)> = (0..events.len())
            .filter(|&r| events[r].kind == EventKind::Read)
            .map(|r| (r, (0..events.len()).filter(|&w| may_read(&events[w], &events[r])).collect()))
            .collect();
        let mut writes: BTreeMap<Location, Vec<usize>> = BTreeMap::new();
        for (i, event) in events.iter().enumerate() {
            if let (EventKind::Write, Some(location)) = (event.kind, event.location) {
                writes.entry(location).or_default().push(i);
            }
        }
        let writes: Vec<Vec<usize>> = writes.into_values().collect();
        let mut checker = Checker::new(self.model, &execution);
        self.choose_rf(&sources, &writes, &mut execution, &mut checker, chosen)
    }

    fn choose_rf(
        &mut self,
        sources: &[(usize, Vec<usize>)],
        writes: &[Vec<usize>],
        execution: &mut Execution,
        checker: &mut Checker<'_>,
        chosen: &[&Trace],
    ) -> Result<(), Stop> {
        let Some(((read, candidates), rest)) = sources.split_first() else {
            return self.choose_co(writes, execution, checker, chosen);
        };
        for &write in candidates {
            execution.rf.insert(write, *read);
            self.choose_rf(rest, writes, execution, checker, chosen)?;
            execution.rf.remove(write, *read);
        }
        Ok(())
    }

    /// All total orders per location that begin with the initial write, which is the first of its list.
    fn choose_co(
        &mut self,
        writes: &[Vec<usize>],
        execution: &mut Execution,
        checker: &mut Checker<'_>,
        chosen: &[&Trace],
    ) -> Result<(), Stop> {
        let Some((list, rest)) = writes.split_first() else { return self.judge(execution, checker, chosen) };
        let mut order = list.clone();
        self.permute(1, &mut order, rest, execution, checker, chosen)
    }

    fn permute(
        &mut self,
        from: usize,
        order: &mut Vec<usize>,
        rest: &[Vec<usize>],
        execution: &mut Execution,
        checker: &mut Checker<'_>,
        chosen: &[&Trace],
    ) -> Result<(), Stop> {
        if from >= order.len() {
            set_order(execution, order, true);
            self.choose_co(rest, execution, checker, chosen)?;
            set_order(execution, order, false);
            return Ok(());
        }
        for i in from..order.len() {
            order.swap(from, i);
            self.permute(from + 1, order, rest, execution, checker, chosen)?;
            order.swap(from, i);
        }
        Ok(())
    }

    fn judge(
        &mut self,
        execution: &Execution,
        checker: &mut Checker<'_>,
        chosen: &[&Trace],
    ) -> Result<(), Stop> {
        self.found.candidates += 1;
        if self.found.candidates > self.limits.candidates {
            return Err(Stop::Limit("candidate executions"));
        }
        if self.limits.time.is_some_and(|time| self.started.elapsed() > time) {
            return Err(Stop::Time);
        }
        if self.limits.interrupt.is_some_and(|flag| flag.load(Ordering::Relaxed)) {
            return Err(Stop::Interrupted);
        }
        if !checker.consistent(execution) {
            return Ok(());
        }
        if chosen.iter().any(|t| t.end == End::Cut) {
            self.found.cut += 1;
        } else if chosen.iter().any(|t| t.end == End::Blocked) {
            self.found.blocked += 1;
        } else {
            let judgement = checker.judge(execution);
            self.found.executions.push(NaiveExecution {
                execution: execution.clone(),
                registers: final_registers(chosen),
                memory: final_memory(execution),
                failures: chosen.iter().flat_map(|t| t.failures.clone()).collect(),
                flags: judgement.flags,
                undefined: judgement.undefined,
                key: Key::new(execution, chosen.iter().map(|t| t.choices.clone()).collect()),
            });
        }
        Ok(())
    }
}

fn may_read(write: &Event, read: &Event) -> bool {
    write.kind == EventKind::Write && write.location == read.location && write.value == read.value
}

/// Adds a total order to co, or takes it away.
pub fn set_order(execution: &mut Execution, order: &[usize], present: bool) {
    for (i, &a) in order.iter().enumerate() {
        for &b in &order[i + 1..] {
            match present {
                true => execution.co.insert(a, b),
                false => execution.co.remove(a, b),
            }
        }
    }
}

/// The registers of each thread at its end.
pub fn final_registers(chosen: &[&Trace]) -> Vec<Vec<Value>> {
    chosen.iter().map(|t| t.registers.iter().map(|r| r.unwrap_or_default()).collect()).collect()
}

/// The value of the coherence-last write of each cell.
pub fn final_memory(execution: &Execution) -> Vec<(Location, Width, Value)> {
    let mut memory = BTreeMap::new();
    for (i, event) in execution.events.iter().enumerate() {
        if let (EventKind::Write, Some(location)) = (event.kind, event.location)
            && execution.co.successors(i).next().is_none()
        {
            memory.insert(location, (event.width, event.value));
        }
    }
    memory.into_iter().map(|(location, (width, value))| (location, width, value)).collect()
}

/// The events with program order, dependencies and `rmw`; no `rf` and no `co`.
pub fn skeleton(program: &Program, chosen: &[&Trace]) -> Execution {
    let mut events: Vec<Event> = initial_cells(program)
        .map(|(location, width, value)| Event {
            thread: None,
            kind: EventKind::Write,
            location: Some(location),
            width,
            value,
            ann: Ann::PLAIN,
            amo: false,
            span: program.objects[location.object.0 as usize].span,
        })
        .collect();
    let mut starts = Vec::new();
    for (thread, trace) in (0u32..).zip(chosen) {
        starts.push(events.len());
        events.extend(trace.events.iter().map(|e| Event {
            thread: Some(ThreadId(thread)),
            kind: e.kind,
            location: e.location,
            width: e.width,
            value: e.value.unwrap_or_default(),
            ann: e.ann,
            amo: e.amo,
            span: e.span,
        }));
    }
    let mut execution = Execution::new(events);
    for (&start, trace) in starts.iter().zip(chosen) {
        for (i, event) in trace.events.iter().enumerate() {
            let to = start + i;
            for j in 0..i {
                let from = start + j;
                execution.po.insert(from, to);
                let relations = [
                    (event.addr, &mut execution.addr),
                    (event.data, &mut execution.data),
                    (event.ctrl, &mut execution.ctrl),
                    (event.pick, &mut execution.pick),
                ];
                for (set, relation) in relations {
                    if set >> j & 1 != 0 {
                        relation.insert(from, to);
                    }
                }
            }
            if let Some((read, one_instruction)) = event.rmw {
                execution.rmw.insert(start + read, to);
                if one_instruction {
                    execution.amo.insert(start + read, to);
                }
            }
        }
    }
    execution
}
