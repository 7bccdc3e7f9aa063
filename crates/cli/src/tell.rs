//! `fencepost litmus gen --tell`: the smallest tests that two models answer differently.
//!
//! For each number of threads, tests of growing size are made until some are answered differently: their cycle is allowed by
//! one model and forbidden by the other. Among tests of one size those with fewer marks come first (fences, dependencies,
//! annotations).

use crate::args::GenArgs;
use crate::generate::{self, THREADS, Writer};
use crate::litmus::{self, Settings};
use crate::model::Choice;
use crate::{check, exit, print, progress};
use fencepost_cycle::enumerate::{self, Wanted};
use fencepost_cycle::{Cycle, Dialect, Observe, edge_names, write};
use fencepost_diag::SourceFile;
use serde_json::json;
use std::ops::ControlFlow;
use std::time::{Duration, Instant};

/// Edges of a cycle, unless given.
const EDGES: usize = 6;
/// Marks of a cycle, unless given.
const MARKS: usize = 3;
/// Tests of one number of threads, unless given.
const MOST: usize = 3;
/// Tests that are made before they are run, on all cores.
const BATCH: usize = 512;

/// What the answer to a test is.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Answer {
    Allowed,
    Forbidden,
    /// A model does not take it, or not in time.
    None,
}

/// What was found for one number of threads.
struct Found {
    threads: usize,
    size: usize,
    /// Whether the first model is the one that allows it.
    cycles: Vec<(Cycle, bool)>,
}

/// Runs the search and prints what it finds.
pub fn run(options: &GenArgs, models: &[String]) -> Result<u8, String> {
    let [one, other] = models else { return Err("error: --tell takes two models".into()) };
    let choices = [Choice::find(one)?, Choice::find(other)?];
    let natural = [&choices[0], &choices[1]].map(|choice| reads(choice.name()));
    let (usual, marked) = common(natural, [one, other], options.arch.is_some())?;
    let dialect = generate::dialect(options, usual)?;
    // What only one architecture has means nothing to a model of another one.
    let all_marks = marked && natural.iter().flatten().all(|&reads| is_like(reads, dialect));
    let most_threads = options.threads.unwrap_or(THREADS);
    let sizes = options.size.unwrap_or(EDGES);
    let marks = options.marks.unwrap_or(MARKS);
    let mut search = Search {
        choices: &choices,
        deadline: options.timeout.map(|time| Instant::now() + time),
        most: options.most.unwrap_or(MOST),
        made: 0,
        unanswered: 0,
        stopped: None,
        last: (0, 0),
    };
    let _line = progress::line(&format!("{one} and {other}"), options.json);
    let mut found: Vec<Found> = Vec::new();
    'sizes: for size in 3..=sizes {
        for threads in 2..=most_threads.min(size - 1) {
            if found.iter().any(|found| found.threads == threads) {
                continue;
            }
            let mut cycles = Vec::new();
            // Those without shortcuts are the ones that people know.
            let kinds =
                [true, false].map(|critical| (0..=marks.min(2 * size)).map(move |marks| (critical, marks)));
            for (critical, marks) in kinds.into_iter().flatten() {
                if !critical && !cycles.is_empty() {
                    break;
                }
                let wanted = Wanted {
                    dialect,
                    pool: dialect.edges(true, all_marks),
                    edges: size,
                    threads: Some(threads),
                    critical,
                    notes: if all_marks { dialect.notes() } else { Vec::new() },
                    marks: Some(marks),
                };
                search.level(&wanted, &mut cycles);
                if cycles.len() >= search.most || search.stopped.is_some() {
                    break;
                }
            }
            search.last = (size, threads);
            if !cycles.is_empty() {
                found.push(Found { threads, size, cycles });
            }
            if search.stopped.is_some() {
                break 'sizes;
            }
        }
    }
    drop(_line);
    found.sort_by_key(|found| found.threads);
    show(options, [choices[0].name(), choices[1].name()], &found)?;
    let marks_said = match all_marks {
        true => format!("at most {marks} fences, dependencies, read-modify-writes and annotations"),
        false => format!(
            "at most {marks} dependencies and read-modify-writes, and what only one architecture has left out"
        ),
    };
    let mut line = format!("{} tests for {} were made, with {marks_said}", search.made, dialect.name());
    if search.unanswered > 0 {
        line += &format!("; {} of them one of the models did not answer", search.unanswered);
    }
    line += "\n";
    match search.stopped {
        Some(why) => {
            let (size, threads) = search.last;
            line += &format!(
                "{why}: all tests up to {size} accesses and {threads} threads were tried, and some larger ones\n"
            );
        }
        None => {
            let none: Vec<String> = (2..=most_threads.min(sizes - 1))
                .filter(|threads| !found.iter().any(|found| found.threads == *threads))
                .map(|threads| threads.to_string())
                .collect();
            if !none.is_empty() {
                line += &format!(
                    "none of up to {sizes} accesses tells them apart with {} threads\n",
                    none.join(" or ")
                );
            }
        }
    }
    if options.json {
        print::err(&line)
    } else {
        print::out(&line)
    }
    Ok(exit::OK)
}

/// What tests a model is about; none if it takes any.
fn reads(model: &str) -> Option<Dialect> {
    Some(match model {
        "tso" | "pso" => Dialect::X86,
        "ra" | "rc11" | "rc20" | "ps" => Dialect::C,
        "power" => Dialect::Ppc,
        "armv8" | "armv8@2018" => Dialect::AArch64,
        "arm" => Dialect::Arm,
        "rvwmo" => Dialect::RiscV,
        "lkmm" => Dialect::Kernel,
        _ => return None,
    })
}

fn is_like(one: Dialect, other: Dialect) -> bool {
    one == other || matches!((one, other), (Dialect::X86 | Dialect::X86_64, Dialect::X86 | Dialect::X86_64))
}

/// What tests for both models are written in, and whether fences and annotations mean the same to both.
fn common(reads: [Option<Dialect>; 2], names: [&str; 2], given: bool) -> Result<(Dialect, bool), String> {
    let is_language = |dialect: Dialect| matches!(dialect, Dialect::C | Dialect::Kernel);
    match reads {
        [Some(one), Some(other)] if one == other => Ok((one, true)),
        [Some(one), Some(other)] if is_language(one) || is_language(other) => {
            let [first, second] = names;
            Err(format!(
                "error: {first} and {second} do not read the same programs\n  {first} is about tests for {}, {second} \
                    about tests for {}",
                one.name(),
                other.name()
            ))
        }
        // Dependencies are there on neither of them if one has none.
        [Some(one), Some(other)] => Ok((if one.deps().is_empty() { other } else { one }, false)),
        [Some(one), None] | [None, Some(one)] => Ok((one, true)),
        [None, None] if given => Ok((Dialect::AArch64, true)),
        [None, None] => Err(format!(
            "error: what {} and {} are about is not known\n  --arch says what tests are to be made for: {}",
            names[0],
            names[1],
            Dialect::ALL.map(Dialect::name).join(", ")
        )),
    }
}

struct Search<'a> {
    choices: &'a [Choice; 2],
    deadline: Option<Instant>,
    most: usize,
    made: usize,
    unanswered: usize,
    stopped: Option<&'static str>,
    /// Accesses and threads that were done last.
    last: (usize, usize),
}

impl Search<'_> {
    /// All cycles of one kind; those that are answered differently are kept.
    fn level(&mut self, wanted: &Wanted, found: &mut Vec<(Cycle, bool)>) {
        let mut batch = Vec::with_capacity(BATCH);
        let _ = enumerate::cycles(wanted, &mut |cycle| {
            batch.push(cycle);
            match batch.len() == BATCH {
                true => self.judge(&mut batch, found),
                false => ControlFlow::Continue(()),
            }
        });
        if self.stopped.is_none() && found.len() < self.most {
            let _ = self.judge(&mut batch, found);
        }
    }

    fn judge(&mut self, batch: &mut Vec<Cycle>, found: &mut Vec<(Cycle, bool)>) -> ControlFlow<()> {
        let workers = crate::args::workers(None).min(batch.len().max(1));
        let part = batch.len().div_ceil(workers).max(1);
        let choices = self.choices;
        let answers: Vec<[Answer; 2]> = std::thread::scope(|scope| {
            let judge = |cycles: &[Cycle]| -> Vec<[Answer; 2]> {
                cycles.iter().map(|cycle| answers(cycle, choices)).collect()
            };
            let running: Vec<_> = batch.chunks(part).map(|part| scope.spawn(move || judge(part))).collect();
            running.into_iter().flat_map(|worker| worker.join().unwrap_or_default()).collect()
        });
        for (cycle, answers) in batch.drain(..).zip(answers) {
            self.made += 1;
            match answers {
                [Answer::None, _] | [_, Answer::None] => self.unanswered += 1,
                [one, other] if one != other && found.len() < self.most => {
                    found.push((cycle, one == Answer::Allowed));
                }
                _ => {}
            }
        }
        progress::note(format!("{} tests made", self.made));
        if check::is_interrupted() {
            self.stopped = Some("interrupted");
        } else if self.deadline.is_some_and(|deadline| Instant::now() > deadline) {
            self.stopped = Some("the time was up");
        }
        match self.stopped.is_some() || found.len() >= self.most {
            true => ControlFlow::Break(()),
            false => ControlFlow::Continue(()),
        }
    }
}

/// Longer than this no test of a few accesses takes.
const PATIENCE: Duration = Duration::from_secs(10);

fn answers(cycle: &Cycle, choices: &[Choice; 2]) -> [Answer; 2] {
    let Some(text) = write(cycle, None, Observe::Cycle) else { return [Answer::None; 2] };
    let file = SourceFile::new("a test", text);
    let Ok(test) = litmus::parsed(&file) else { return [Answer::None; 2] };
    let outlive = Default::default();
    let settings = Settings { timeout: Some(PATIENCE), ..Settings::alone(&outlive) };
    [&choices[0], &choices[1]].map(|choice| match litmus::answer(&test, &file, choice, &settings) {
        Ok(answered) if answered.outcome.stop_reason.is_none() => match &answered.outcome.observed {
            Some(observed) if observed.satisfying > 0 => Answer::Allowed,
            Some(_) => Answer::Forbidden,
            None => Answer::None,
        },
        _ => Answer::None,
    })
}

fn show(options: &GenArgs, names: [&str; 2], found: &[Found]) -> Result<(), String> {
    let mut written = Writer::new(options)?;
    for Found { threads, size, cycles } in found {
        if !options.json {
            print::out(&format!("{threads} threads, {size} accesses:\n"));
        }
        for (cycle, first) in cycles {
            let Some((name, text)) = written.text(cycle) else { continue };
            let (allowed, forbidden) = if *first { (names[0], names[1]) } else { (names[1], names[0]) };
            let edges = edge_names(cycle);
            let file = written.save(&name, &text)?;
            if options.json {
                let mut row = json!({
                    "name": name, "cycle": edges, "arch": cycle.dialect.header(), "threads": threads, "accesses": size,
                    "allowed": allowed, "forbidden": forbidden,
                });
                match file {
                    Some(path) => row["file"] = json!(path),
                    None => row["text"] = json!(text),
                }
                print::out(&format!("{row}\n"));
            } else {
                print::out(&format!(
                    "  {name}: allowed by {allowed}, forbidden by {forbidden}\n    {edges}\n"
                ));
            }
        }
    }
    // The smallest one whole, to be read at once.
    let first = found.first().and_then(|found| found.cycles.first());
    if let (Some((cycle, _)), false, None) = (first, options.json, &options.output)
        && let Some(text) = write(cycle, None, Observe::Cycle)
    {
        print::out(&format!("\n{text}\n"));
    }
    Ok(())
}
