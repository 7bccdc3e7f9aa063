//! One litmus test against its known result. Shared by a test and two examples, each of which uses a part.
#![allow(dead_code)]

use fencepost_diag::SourceFile;
use fencepost_ir::{FinalCondition, Observable, Program, Property, Quantifier, Value, bound_loops};
use fencepost_models::Model;
use fencepost_naive::{Limits, NaiveExecution, enumerate};
use std::collections::BTreeSet;
use std::path::Path;

/// What is known of a test under a model.
#[derive(Clone, Debug, serde::Deserialize)]
pub struct Row {
    pub file: String,
    pub model: String,
    pub verdict: String,
    pub holds: String,
    pub positive: u64,
    pub negative: u64,
    pub states: Vec<String>,
}

/// How a comparison ends.
pub enum Outcome {
    Same,
    /// Only the numbers of executions differ.
    Counts(String),
    Different(String),
    Stopped(String),
}

impl Outcome {
    pub fn name(&self) -> &'static str {
        match self {
            Outcome::Same => "same",
            Outcome::Counts(_) => "counts",
            Outcome::Different(_) => "DIFFERENT",
            Outcome::Stopped(_) => "stopped",
        }
    }
}

/// The rows of a file with one JSON object per line.
pub fn rows(file: &Path) -> Vec<Row> {
    let text = std::fs::read_to_string(file).unwrap_or_else(|e| panic!("{}: {e}", file.display()));
    text.lines().map(|line| serde_json::from_str(line).unwrap_or_else(|e| panic!("{line}: {e}"))).collect()
}

/// Runs a test and compares.
pub fn compare(folder: &Path, row: &Row, limits: &Limits) -> Outcome {
    let model = Model::builtin(&row.model).expect("a built-in model");
    compare_under(folder, row, &model, limits)
}

/// Runs a test under another model than the row's and compares.
pub fn compare_under(folder: &Path, row: &Row, model: &Model, limits: &Limits) -> Outcome {
    let path = folder.join(&row.file);
    let text = match std::fs::read_to_string(&path) {
        Ok(text) => text,
        Err(error) => return Outcome::Stopped(error.to_string()),
    };
    let file = SourceFile::new(row.file.clone(), text);
    let test = match fencepost_litmus::parse(&file) {
        Ok(test) => test,
        Err(errors) => {
            return Outcome::Stopped(errors.first().map_or(String::new(), |e| e.message.clone()));
        }
    };
    let program = bound_loops(&test.program, 2);
    let found = match enumerate(&program, model, limits) {
        Ok(found) => found,
        Err(stop) => return Outcome::Stopped(stop.to_string()),
    };
    let Property::Final(condition) = &program.property else {
        return Outcome::Stopped("no condition".into());
    };
    judge(row, &program, condition, &found.executions)
}

fn judge(row: &Row, program: &Program, condition: &FinalCondition, executions: &[NaiveExecution]) -> Outcome {
    let (mut positive, mut negative) = (0, 0);
    let (mut states, mut undefined) = (BTreeSet::new(), false);
    for execution in executions {
        let state = execution.state(condition);
        if condition.filter.as_ref().is_some_and(|f| !f.holds(&state)) {
            continue;
        }
        match condition.proposition.holds(&state) {
            true => positive += 1,
            false => negative += 1,
        }
        undefined |= execution.undefined;
        states.insert(show(program, condition, &state));
    }
    let verdict = match (positive, negative) {
        (0, _) => "Never",
        (_, 0) => "Always",
        _ => "Sometimes",
    };
    let holds = match condition.quantifier {
        _ if undefined => "Undef",
        Quantifier::Exists if verdict != "Never" => "Ok",
        Quantifier::NotExists if verdict == "Never" => "Ok",
        Quantifier::ForAll if verdict == "Always" => "Ok",
        _ => "No",
    };
    if condition.quantifier == Quantifier::NotExists {
        (positive, negative) = (negative, positive);
    }
    let expected: BTreeSet<String> = row.states.iter().cloned().collect();
    if verdict != row.verdict || holds != row.holds || states != expected {
        let more: Vec<_> = states.difference(&expected).take(3).collect();
        let fewer: Vec<_> = expected.difference(&states).take(3).collect();
        return Outcome::Different(format!(
            "{verdict} {holds} +{positive} -{negative}, expected {} {} +{} -{}; extra {more:?}, missing {fewer:?}",
            row.verdict, row.holds, row.positive, row.negative
        ));
    }
    if (positive, negative) != (row.positive, row.negative) {
        return Outcome::Counts(format!(
            "+{positive} -{negative}, expected +{} -{}",
            row.positive, row.negative
        ));
    }
    Outcome::Same
}

/// A final state as the reference writes it.
fn show(program: &Program, condition: &FinalCondition, state: &[Value]) -> String {
    let items = condition.observed.iter().zip(state).take(condition.shown).map(|(observable, &value)| {
        let value = program.show_value(value);
        match *observable {
            Observable::Register { thread, reg } => {
                let name = &program.thread_function(thread).regs[reg.0 as usize];
                let number = program.threads[thread.0 as usize].name.trim_start_matches('P');
                format!("{number}:{name}={value};")
            }
            Observable::Memory { object, offset, .. } => {
                let place = program.show_value(Value::pointer(object, offset));
                format!("[{place}]={value};")
            }
        }
    });
    items.collect::<Vec<_>>().join(" ")
}
