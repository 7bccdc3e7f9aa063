//! Bugs of the table programs, both ways: what the encoding finds, the explorer finds at the same place; and the execution that
//! the explorer shows is followed on the machine, with as
//! few contexts as it needs, and the encoding finds something with as many.

use super::{Options, ROWS, Row, reduce, source};
use fencepost_answer::trace::{Action, Event};
use fencepost_bmc::Verdict;
use fencepost_bmc::power::{self as contexts, Execution, PowerRun};
use fencepost_diag::{SourceFile, Span};
use fencepost_explore::{Finding, FindingKind, ModelName, explore};
use fencepost_ir::{Language, Program};
use fencepost_machine::power::follow::{Access, Path, paths};
use fencepost_machine::power::{self, schedule};
use fencepost_models::prepare::{Form, Options as Preparation, prepare};
use fencepost_models::registry;
use serde_json::Value;
use std::collections::BTreeMap;
use std::time::{Duration, Instant};

/// Bounds of the machine that are tried.
const MOST_CONTEXTS: u32 = 12;
/// How often loops go back, as in the tables.
const UNROLL: u32 = 8;

/// A difference between the models: on the machine a thread stops at an assertion that fails; under the axioms it goes on, and
/// others may read what it stores then.
const STOPS_THERE: &str = "refused: it reads a store behind the assertion that fails";

/// Prints the table; returns the number of bugs that are not confirmed.
pub fn run(options: &Options) -> usize {
    let mut wrong = 0;
    println!(
        "| program | encoding, replayed: least K | place | explorer | its execution on the machine: least K | \
            encoding at that K |\n|---|---|---|---|---|---|"
    );
    for row in &ROWS {
        let range = format!("1..{}", row.switches + 1);
        let (found, _) = reduce(options, row.buggy, &range, &UNROLL.to_string());
        let least = match found["verdict"].as_str() {
            Some("unsafe") => bound(&found),
            other => other.unwrap_or("no answer").to_string(),
        };
        let followed = match explored(row, options) {
            Ok(bugs) => bugs,
            Err(why) => {
                wrong += 1;
                println!("| {} | {least} | {} | {why} | - | - |", row.name, place(&found));
                continue;
            }
        };
        wrong += usize::from(found["verdict"] != "unsafe");
        wrong += usize::from(!followed.iter().any(|bug| format!("line {}", bug.line) == place(&found)));
        for bug in followed {
            let (on_machine, again) = match bug.contexts {
                Ok(contexts) => {
                    let k = contexts.to_string();
                    let (answer, _) = reduce(options, row.buggy, &k, &UNROLL.to_string());
                    let verdict = answer["verdict"].as_str().unwrap_or("no answer").to_string();
                    wrong += usize::from(verdict != "unsafe");
                    (k, verdict)
                }
                Err(why) => {
                    wrong += usize::from(why != STOPS_THERE);
                    (why, "-".into())
                }
            };
            println!(
                "| {} | {least} | {} | {} at line {} | {on_machine} | {again} |",
                row.name,
                place(&found),
                bug.kind,
                bug.line
            );
        }
    }
    wrong
}

/// The number of contexts of an answer.
fn bound(answer: &Value) -> String {
    let bounds = answer["bounds"].as_array().into_iter().flatten();
    bounds.into_iter().find(|b| b["name"] == "contexts").map_or("?".into(), |b| b["value"].to_string())
}

/// The place of the first finding.
fn place(answer: &Value) -> String {
    match answer["findings"][0]["locations"][0]["line"].as_u64() {
        Some(line) => format!("line {line}"),
        None => "none".into(),
    }
}

/// A bug of the explorer, and with how many contexts the machine does what its execution does; or why it does not.
struct Bug {
    kind: &'static str,
    line: usize,
    contexts: Result<u32, String>,
}

fn explored(row: &Row, options: &Options) -> Result<Vec<Bug>, String> {
    let name = source(row.buggy);
    let text = std::fs::read_to_string(&name).map_err(|e| format!("{name}: {e}"))?;
    let file = SourceFile::new(&name, text);
    let compiled = fencepost_c::compile(&file, &fencepost_c::Options::default()).map_err(|e| e.render())?;
    let model = registry::find("power").ok_or("there is no model power")?;
    let preparation = Preparation { unroll: UNROLL, ..Preparation::default() };
    let as_form = |form: Form| {
        prepare(&compiled.program, Language::C, model, form, &preparation)
            .map(|prepared| prepared.program)
            .map_err(|refused| format!("{refused:?}"))
    };
    let form =
        Form { lock_sections: false, bound_loops: false, globalise_locals: false, divide_choices: true };
    let (axiomatic, operational) = (as_form(Form::EXPLORE)?, as_form(form)?);
    let mut settings = fencepost_explore::Options::new(ModelName::Power);
    settings.limits.deadline = Some(Instant::now() + Duration::from_secs(options.seconds));
    settings.limits.max_executions = Some(100_000);
    let found = explore(&axiomatic, &settings).map_err(|e| e.what)?;
    let span = |finding: &Finding| {
        finding.places.first().and_then(|place| {
            axiomatic.functions[place.at.0 as usize].spans.get(place.at.1 as usize).copied()
        })
    };
    let bugs: Vec<Bug> = found
        .findings
        .iter()
        .filter(|finding| finding.kind == FindingKind::Assertion)
        .map(|finding| {
            let at = span(finding).unwrap_or_default();
            let line = compiled.sources.position(at.start).map_or(0, |(_, line, _)| line);
            Bug { kind: "assertion", line, contexts: follow(&operational, finding, at, options) }
        })
        .collect();
    match bugs.is_empty() {
        true => Err("nothing found".into()),
        false => Ok(bugs),
    }
}

/// The least number of contexts with which the machine does what the execution does, and fails at the same place. The encoding
/// finds the run, the machine does it again.
fn follow(program: &Program, finding: &Finding, span: Span, options: &Options) -> Result<u32, String> {
    let code = power::prepare(program, UNROLL, true).map_err(|e| e.what)?;
    let threads = accesses(finding);
    let kinds: Vec<Vec<Access>> =
        threads.iter().map(|accesses| accesses.iter().map(|access| access.kind).collect()).collect();
    let paths = paths(&code, &kinds).ok_or("main makes choices before")?;
    let at = |(t, number): (usize, usize)| paths[t].steps.get(number).map(|step| (t, *step));
    let mut execution = Execution::default();
    let mut order: BTreeMap<u32, Vec<Placed>> = BTreeMap::new();
    for (t, accesses) in threads.iter().enumerate() {
        for (number, access) in accesses.iter().enumerate() {
            let Some(here) = at((t, number)) else { break };
            match access.kind {
                Access::Read(_) => {
                    // A store that the flat program does not have is none that can be read: no run follows.
                    let from = access.from.map(|from| at(from).unwrap_or((usize::MAX, 0)));
                    execution.from.insert(here, from);
                }
                Access::Write => order.entry(access.cell).or_default().push((access.place, here)),
            }
        }
    }
    for mut stores in order.into_values() {
        stores.sort_unstable();
        execution.order.push(stores.into_iter().map(|(_, at)| at).collect());
    }
    let mut settings =
        contexts::Options { owners: true, following: Some(&execution), ..contexts::Options::new(UNROLL) };
    settings.limits.deadline = Some(Instant::now() + Duration::from_secs(options.seconds));
    let found = contexts::check(program, &settings, 1..=MOST_CONTEXTS).map_err(|e| e.what)?;
    match (found.verdict, found.run, found.found_at) {
        (Verdict::Unsafe, Some(run), Some(least)) => {
            let PowerRun { active, init, commit, reach, ways, choices } = run;
            let plan = schedule::Schedule { active, init, commit, reach, ways, choices };
            let replayed = schedule::replay(&code, &plan)?;
            match replayed.places.iter().any(|place| place.span == span) {
                true => Ok(least.total as u32),
                false => Err("it fails elsewhere on the machine".into()),
            }
        }
        (Verdict::Safe, ..) => Err(why_refused(&threads, &paths)),
        _ => Err("no answer in time".into()),
    }
}

/// Why no run follows the execution.
fn why_refused(threads: &[Vec<Followed>], paths: &[Path]) -> String {
    let behind = |&(t, number): &(usize, usize)| paths[t].failed.is_some_and(|failed| number >= failed);
    let foreign = threads.iter().enumerate().any(|(t, accesses)| {
        accesses.iter().filter_map(|access| access.from).any(|from| from.0 != t && behind(&from))
    });
    match foreign {
        true => STOPS_THERE.into(),
        false => format!("refused with up to {MOST_CONTEXTS} contexts"),
    }
}

/// A store's place in the coherence order, and its thread and step.
type Placed = (u32, (usize, u32));

/// An access of the explorer's execution.
struct Followed {
    kind: Access,
    cell: u32,
    /// In the coherence order.
    place: u32,
    /// Thread, and number among its accesses.
    from: Option<(usize, usize)>,
}

/// The accesses that each thread makes beside others. What `main` writes before it starts threads is initial to them.
fn accesses(finding: &Finding) -> Vec<Vec<Followed>> {
    let main = finding.execution.threads.first().map_or(&[][..], Vec::as_slice);
    let is = |wanted: fn(&Action) -> bool| move |step: &Event| wanted(&step.action);
    let first = main.iter().rposition(is(|a| matches!(a, Action::Spawn(_)))).map_or(0, |at| at + 1);
    let last = main.iter().position(is(|a| matches!(a, Action::Join(_)))).unwrap_or(main.len());
    let beside = |t: usize, at: usize| t > 0 || (first..last).contains(&at);
    let is_access = |action: &Action| matches!(action, Action::Read { .. } | Action::Write { .. });
    let number = |(t, step): (u32, u32)| {
        let (t, step) = (t as usize, step as usize);
        let before = finding.execution.threads[t][..step].iter().enumerate();
        let count = before.filter(|(at, s)| is_access(&s.action) && beside(t, *at)).count();
        beside(t, step).then_some((t, count))
    };
    let threads = finding.execution.threads.iter().enumerate().map(|(t, steps)| {
        let steps = steps.iter().enumerate().filter(|(at, _)| beside(t, *at));
        let access = |action: &Action| match action {
            Action::Read { cell, seen, .. } => {
                let (kind, from) = (Access::Read(seen.value.raw.0), seen.from.and_then(number));
                Some(Followed { kind, cell: cell.id, place: seen.place, from })
            }
            Action::Write { cell, made, .. } => {
                Some(Followed { kind: Access::Write, cell: cell.id, place: made.place, from: None })
            }
            _ => None,
        };
        steps.filter_map(|(_, step)| access(&step.action)).collect()
    });
    threads.collect()
}
