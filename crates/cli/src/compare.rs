//! `fencepost compare`: the same program under several models, side by side.
//!
//! A litmus test is compared by its final states: what a weaker model adds is shown with one execution and the axiom by which
//! the stronger model forbids it. Other programs are compared by their verdicts and findings. Several litmus tests are one
//! table, a row each.

use crate::args::CheckArgs;
use crate::check::{self, Checked};
use crate::litmus::{self, Answered, Settings};
use crate::model::Choice;
use crate::{exit, input, print};
use fencepost_answer::{Finding, Verdict};
use fencepost_diag::SourceFile;
use fencepost_ir::{Compare, Execution, FinalCondition, Property, Proposition, Quantifier, Term, Value};
use fencepost_litmus::LitmusTest;
use fencepost_models::Model;
use fencepost_report::litmus::{About, Answer, Holds};
use fencepost_report::side_by_side::{Column, table};
use fencepost_report::{events, text};
use std::collections::BTreeSet;
use std::fmt::Write;

/// The models that a file is compared under if the user names none, from strong to weak.
const HARDWARE: &str = "sc,tso,pso,armv8,power";
const PROGRAMS: &str = "sc,tso,pso,rc20,armv8,power";

/// Runs the command.
pub fn run(options: &CheckArgs) -> u8 {
    check::handle_interrupts();
    match compare(options) {
        Ok((text, code)) => {
            print::out(&text);
            code
        }
        Err(trouble) => {
            print::err(&format!("{}\n", trouble.error.trim_end()));
            exit::BAD_INPUT
        }
    }
}

fn compare(options: &CheckArgs) -> Result<(String, u8), input::Trouble> {
    if let Some(option) = options.outlive.asks() {
        return Err(
            format!("error: {option} is no option of `compare`, which runs several explorations").into()
        );
    }
    let mut files = Vec::new();
    for path in &options.paths {
        files.extend(input::files(path, &[input::LITMUS, input::PROGRAMS].concat())?);
    }
    let (tests, programs): (Vec<String>, Vec<String>) =
        files.into_iter().partition(|name| input::is_litmus(name));
    let given = options.given.iter().any(|option| option == "model");
    let names = |default: &str| -> Vec<String> {
        let list = if given { &options.model } else { default };
        list.split(',').map(String::from).collect()
    };
    let (mut out, mut code) = (String::new(), exit::OK);
    match tests.as_slice() {
        [] => {}
        [test] => out += &one_test(test, &names(HARDWARE), options)?,
        _ => out += &many_tests(&tests, &names(HARDWARE), options)?,
    }
    for program in &programs {
        let (text, worst) = one_program(program, &names(PROGRAMS), options)?;
        out += &text;
        code = code.max(worst);
    }
    Ok((out, code))
}

fn choices(names: &[String]) -> Result<Vec<Choice>, input::Trouble> {
    Ok(names.iter().map(|name| Choice::find(name)).collect::<Result<Vec<_>, _>>()?)
}

fn settings(options: &CheckArgs, witness: bool) -> Settings<'_> {
    Settings {
        // As `litmus` has it; the default of `check` is for programs.
        unroll: if options.given.iter().any(|o| o == "unroll") { options.unroll } else { 2 },
        // One worker finds the same witness every time.
        jobs: if witness { 1 } else { options.workers() },
        timeout: options.timeout,
        max_nodes: None,
        outlive: &options.outlive,
        many: false,
        witness,
        engine: Default::default(),
        contexts: None,
        watched: false,
        several: false,
    }
}

/// The answer of a test under a model; a limit that was hit is an error here, because half a column compares nothing.
fn answered(
    test: &LitmusTest,
    file: &SourceFile,
    model: &Choice,
    settings: &Settings<'_>,
) -> Result<Answered, input::Trouble> {
    let answered = litmus::answer(test, file, model, settings)?;
    match &answered.outcome.stop_reason {
        None => Ok(answered),
        Some(reason) => {
            Err(format!("error: {}: no answer under {}: {reason}", file.name, model.name()).into())
        }
    }
}

/// One table: a row per test, and whether the model allows what its condition asks about.
fn many_tests(files: &[String], models: &[String], options: &CheckArgs) -> Result<String, input::Trouble> {
    let models = choices(models)?;
    let settings = settings(options, false);
    let mut rows = Vec::new();
    let mut apart: Vec<String> = Vec::new();
    for name in files {
        let (test, file) = litmus::read(name)?;
        let mut cells = Vec::new();
        let mut states: Vec<Vec<String>> = Vec::new();
        for model in &models {
            let answered = answered(&test, &file, model, &settings)?;
            let about = About { file: name, name: &test.name, model: model.name() };
            let answer = Answer::new(&about, answered.quantifier, &answered.outcome, answered.seconds);
            let satisfied = answered.outcome.observed.as_ref().is_some_and(|o| o.satisfying > 0);
            states.push(answered.outcome.observed.clone().unwrap_or_default().states);
            cells.push(match answer.holds {
                Holds::Undef => "undefined".to_string(),
                _ if answered.quantifier == Quantifier::ForAll => {
                    if answer.holds == Holds::Ok { "required" } else { "not required" }.to_string()
                }
                _ => if satisfied { "allowed" } else { "forbidden" }.to_string(),
            });
        }
        if let ([first, second], [one, other]) = (states.as_slice(), models.as_slice()) {
            apart.extend(told_apart(
                &test.name,
                (one.name(), first.as_slice()),
                (other.name(), second.as_slice()),
            ));
        }
        rows.push((test.name.clone(), cells));
    }
    let mut out = table(&columns(&models), &rows);
    if let [one, other] = models.as_slice() {
        let names = format!("{} and {}", one.name(), other.name());
        match apart.len() {
            0 => {
                let _ = writeln!(out, "\nno test tells {names} apart: all have the same final states");
            }
            n => {
                let tell = if n == 1 { "test tells" } else { "tests tell" };
                let _ = writeln!(out, "\n{n} of {} {tell} {names} apart:", files.len());
                apart.iter().for_each(|line| out.push_str(line));
            }
        }
    }
    Ok(out)
}

/// A line about a test whose final states under two models are not the same: one that only one of them has.
fn told_apart(test: &str, one: (&str, &[String]), other: (&str, &[String])) -> Option<String> {
    let only = |(name, states): (&str, &[String]), others: &[String]| {
        let state = states.iter().find(|state| !others.contains(state))?;
        Some(format!("only {name} allows {state}"))
    };
    let lines: Vec<String> = [only(one, other.1), only(other, one.1)].into_iter().flatten().collect();
    (!lines.is_empty()).then(|| format!("  {test}: {}\n", lines.join(" and ")))
}

fn columns(models: &[Choice]) -> Vec<Column> {
    models.iter().map(|model| Column::new(model.name())).collect()
}

/// Final states by model, and what is added from one model to the next.
fn one_test(name: &str, models: &[String], options: &CheckArgs) -> Result<String, input::Trouble> {
    let (test, file) = litmus::read(name)?;
    let models = choices(models)?;
    let plain = settings(options, false);
    let mut found = Vec::new();
    for model in &models {
        found.push(answered(&test, &file, model, &plain)?);
    }
    let states = |answered: &Answered| answered.outcome.observed.clone().unwrap_or_default().states;
    let all: BTreeSet<String> = found.iter().flat_map(states).collect();
    let has = |answered: &Answered, state: &String| states(answered).binary_search(state).is_ok();
    let mut rows: Vec<(String, Vec<String>)> = Vec::new();
    for state in &all {
        let cell = |answered: &Answered| if has(answered, state) { "yes" } else { "-" }.to_string();
        rows.push((state.clone(), found.iter().map(cell).collect()));
    }
    let executions = found.iter().map(|a| a.outcome.statistics.executions.unwrap_or(0).to_string()).collect();
    rows.push(("executions".into(), executions));
    let mut out = format!("{} ({name})\n{}", test.name, table(&columns(&models), &rows));
    let witness = settings(options, true);
    for state in &all {
        let Some(first) = found.iter().position(|answered| has(answered, state)) else { continue };
        let without: Vec<&Choice> =
            models.iter().zip(&found).filter(|(_, a)| !has(a, state)).map(|(model, _)| model).collect();
        if without.is_empty() {
            continue;
        }
        let names: Vec<&str> = without.iter().map(|model| model.name()).collect();
        let _ = write!(out, "\n{} allows {state} and {} not", models[first].name(), one_of(&names));
        let only = only_this(&test, &found[first], state);
        let execution = only.map(|test| answered(&test, &file, &models[first], &witness)).transpose()?;
        if let Some(Answered { witness: Some(witness), program, .. }) = execution {
            let execution = witness.execution;
            let why: Vec<String> = without.iter().filter_map(|model| forbids(model, &execution)).collect();
            let _ = writeln!(out, ":\n{}", events::show(&program, &execution));
            why.iter().for_each(|line| out.push_str(line));
        } else {
            out.push('\n');
        }
    }
    if rows.iter().all(|(_, cells)| cells.windows(2).all(|pair| pair[0] == pair[1])) {
        out += "no difference\n";
    }
    Ok(out)
}

/// `sc`, `sc and tso`, or `sc, tso and pso`, with a verb.
fn one_of(names: &[&str]) -> String {
    match names {
        [] => String::new(),
        [one] => format!("{one} does"),
        [rest @ .., last] => format!("{} and {last} do", rest.join(", ")),
    }
}

/// By which axioms a model forbids an execution of a weaker one.
fn forbids(model: &Choice, execution: &Execution) -> Option<String> {
    let builtin;
    let cat = match model {
        Choice::Cat(cat) => &**cat,
        Choice::Twin(entry, _) | Choice::Machine(entry) => {
            builtin = Model::builtin(entry.name)?;
            &builtin
        }
    };
    let failed = cat.check(execution).failed;
    let axioms = failed.iter().map(|axiom| format!("`{axiom}`")).collect::<Vec<_>>().join(", ");
    (!failed.is_empty()).then(|| format!("  {} forbids this execution by its axiom {axioms}\n", model.name()))
}

/// The test with the question whether it can end in this state.
fn only_this(test: &LitmusTest, answered: &Answered, state: &str) -> Option<LitmusTest> {
    let Property::Final(condition) = &answered.program.property else { return None };
    let mut finals = answered.finals.iter();
    let values = finals.find(|values| litmus::show_state(&answered.program, values) == state)?;
    let equal = |(index, value): (usize, &Value)| Proposition::Atom(index, Compare::Eq, Term::Value(*value));
    let proposition = Proposition::And(values.iter().enumerate().map(equal).collect());
    let mut test = test.clone();
    test.program.property =
        Property::Final(FinalCondition { quantifier: Quantifier::Exists, proposition, ..condition.clone() });
    Some(test)
}

/// Verdicts and findings by model.
fn one_program(name: &str, models: &[String], options: &CheckArgs) -> Result<(String, u8), input::Trouble> {
    let mut found: Vec<Checked> = Vec::new();
    for model in models {
        found.push(check::answer(name, check::find_model(model)?, options)?);
    }
    let columns: Vec<Column> = found.iter().map(|checked| Column::new(checked.model.name)).collect();
    let verdict = |checked: &Checked| {
        let bounded = if checked.outcome.bounds.is_empty() { "" } else { "*" };
        match checked.outcome.verdict {
            Verdict::Safe => format!("safe{bounded}"),
            verdict => verdict.name().to_string(),
        }
    };
    let mut rows = vec![("verdict".to_string(), found.iter().map(verdict).collect::<Vec<_>>())];
    let key = |checked: &Checked, finding: &Finding| {
        let place = finding.places.first().and_then(|p| checked.compiled.sources.position(p.span.start));
        let at = place.map_or(String::new(), |(file, line, _)| format!(" {file}:{line}"));
        format!("{}{at}", finding.kind.code())
    };
    let mut faults: Vec<String> = Vec::new();
    for checked in &found {
        for finding in &checked.outcome.findings {
            let key = key(checked, finding);
            if !faults.contains(&key) {
                faults.push(key);
            }
        }
    }
    let has = |checked: &Checked, fault: &String| {
        checked.outcome.findings.iter().any(|f| key(checked, f) == *fault)
    };
    for fault in &faults {
        let cell = |checked: &Checked| match checked.outcome.verdict {
            _ if has(checked, fault) => "yes".to_string(),
            Verdict::Unknown => "?".to_string(),
            _ => "-".to_string(),
        };
        rows.push((fault.clone(), found.iter().map(cell).collect()));
    }
    let mut out = format!("{name}\n{}", table(&columns, &rows));
    let bounds: BTreeSet<String> = found
        .iter()
        .flat_map(|checked| &checked.outcome.bounds)
        .map(|bound| format!("{} {}", bound.name.name(), bound.value))
        .collect();
    if !bounds.is_empty() {
        let _ = writeln!(out, "* up to {}", bounds.into_iter().collect::<Vec<_>>().join(", "));
    }
    for checked in found.iter().filter(|checked| checked.outcome.verdict == Verdict::Unknown) {
        if let Some(reason) = &checked.outcome.stop_reason {
            let _ = writeln!(out, "unknown under {}: {reason}", checked.model.name);
        }
    }
    for fault in &faults {
        let Some(first) = found.iter().find(|checked| has(checked, fault)) else { continue };
        let Some(number) = first.outcome.findings.iter().position(|f| key(first, f) == *fault) else {
            continue;
        };
        let _ = writeln!(out, "\nunder {}:", first.model.name);
        let explanation = first.outcome.explanations.get(number);
        out += &text::explained(
            &first.outcome.findings[number],
            explanation,
            first.model.name,
            &first.compiled.sources,
        );
    }
    let worst = found.iter().map(|checked| fencepost_report::report::exit_code(&checked.outcome)).max();
    Ok((out, worst.unwrap_or(exit::OK)))
}
