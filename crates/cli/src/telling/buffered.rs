//! Runs of the machines in one sentence: which read missed a store that still waited in a buffer.

use fencepost_answer::{Explanation, Finding, Step};
use fencepost_diag::SourceMap;
use fencepost_ir::{Callee, Instr, Program};

/// Explains the findings of a machine.
pub fn explain(program: &Program, sources: &SourceMap, findings: &[Finding]) -> Vec<Explanation> {
    findings.iter().map(|finding| one(program, sources, finding)).collect()
}

fn one(program: &Program, sources: &SourceMap, finding: &Finding) -> Explanation {
    let threads = names(program, finding);
    let sentence = sentence(sources, finding, &threads);
    Explanation { sentence, threads, ..Explanation::default() }
}

/// Threads by the functions that they run. Threads that are started later are known only if there is one place that starts
/// them, for each in turn.
fn names(program: &Program, finding: &Finding) -> Vec<String> {
    let mut names: Vec<String> = program.threads.iter().map(|thread| thread.name.clone()).collect();
    let spawns =
        program.functions.iter().flat_map(|function| &function.body).filter_map(|instr| match instr {
            Instr::Spawn { callee: Callee::Function(id), .. } => program.functions.get(id.0 as usize),
            _ => None,
        });
    let spawned: Vec<String> = spawns.map(|function| function.name.clone()).collect();
    let last = finding.trace.iter().map(|step| step.thread as usize).max().unwrap_or(0);
    if names.len() + spawned.len() == last + 1 {
        names.extend(spawned);
    }
    let all = names.clone();
    for (number, name) in names.iter_mut().enumerate() {
        if all.iter().filter(|other| *other == name).count() > 1 {
            *name = format!("{name}#{number}");
        }
    }
    names
}

/// The last read of the run that another thread's waiting store would have changed; otherwise what the last step is.
fn sentence(sources: &SourceMap, finding: &Finding, threads: &[String]) -> String {
    let name = |thread: u32| match threads.get(thread as usize) {
        Some(name) => name.clone(),
        None => format!("thread {thread}"),
    };
    let line = |step: &Step| sources.position(step.span.start).map_or(0, |(_, line, _)| line);
    for step in finding.trace.iter().rev() {
        let Some((cell, value)) = read(step) else { continue };
        for (other, buffer) in (0u32..).zip(&step.buffers).filter(|(other, _)| *other != step.thread) {
            let waiting = buffer.split(' ').find(|entry| entry.split('=').next() == Some(cell));
            if let Some((_, stored)) = waiting.and_then(|entry| entry.split_once('=')) {
                return format!(
                    "{} read `{cell}` = {value} (line {}) while `{cell}` = {stored} of {} still waited in its buffer",
                    name(step.thread),
                    line(step),
                    name(other)
                );
            }
        }
    }
    match finding.places.first().and_then(|place| Some((place.thread?, sources.position(place.span.start)?)))
    {
        Some((thread, (_, line, _))) => format!("{} fails at line {line}", name(thread)),
        None => String::new(),
    }
}

/// The cell and the value of a read.
fn read(step: &Step) -> Option<(&str, &str)> {
    let (kind, rest) = step.action.split_once(' ')?;
    let (cell, value) = rest.split_once(" = ")?;
    (kind == "R" || kind.starts_with("R.")).then_some((cell, value))
}

#[cfg(test)]
mod tests {
    use super::*;
    use fencepost_answer::FindingKind;

    #[test]
    fn a_read_that_missed_a_waiting_store_is_told() {
        let step = |thread, action: &str, buffers: [&str; 2]| Step {
            thread,
            action: action.into(),
            buffers: buffers.map(String::from).to_vec(),
            ..Step::default()
        };
        let trace = vec![
            step(0, "W x = 1", ["x=1", ""]),
            step(0, "R y = 0", ["x=1", ""]),
            step(1, "W y = 1", ["x=1", "y=1"]),
            step(1, "R.sc x = 0", ["x=1", "y=1"]),
        ];
        let finding =
            Finding { kind: FindingKind::Assertion, message: String::new(), places: Vec::new(), trace };
        let names = ["left".to_string(), "right".to_string()];
        let told = sentence(&SourceMap::default(), &finding, &names);
        assert_eq!(told, "right read `x` = 0 (line 0) while `x` = 1 of left still waited in its buffer");
    }
}
