//! An execution that satisfies the condition: rebuilt from the engine's choices and re-validated before anyone sees it.
//!
//! The explorer hands over reads-from and coherence only. The naive interpreter makes the whole execution of them, and
//! the cat model judges it; neither shares code with the explorer. A witness that does not pass is a bug of ours.

use fencepost_explore::Trace;
use fencepost_ir::{FinalCondition, Program};
use fencepost_models::{Entry, Model};
use fencepost_naive::{Key, Limits, NaiveExecution, replay};

/// Why a witness cannot be shown.
#[derive(Debug, PartialEq)]
pub enum Rejected {
    /// It is none.
    Wrong(String),
    /// It is too large to be replayed.
    TooLarge(String),
}

/// The whole execution, if it stands up to the check.
pub fn rebuild(
    program: &Program,
    condition: &FinalCondition,
    model: &Entry,
    trace: &Trace,
) -> Result<NaiveExecution, Rejected> {
    let wrong = |why: &str| Err(Rejected::Wrong(why.into()));
    let rf = trace.rf.iter().map(|&(read, write)| (Some(read), write)).collect();
    let co = trace.co.iter().map(|(l, writes)| (*l, writes.iter().copied().map(Some).collect())).collect();
    let key = Key { rf, co, choices: Vec::new() };
    let replayed =
        replay(program, &key, &Limits::default()).map_err(|stop| Rejected::TooLarge(stop.to_string()))?;
    if replayed.is_empty() {
        return wrong("no run of the threads has its reads-from and coherence");
    }
    // Executions that differ in choices only have the same key.
    let satisfying: Vec<NaiveExecution> = replayed.into_iter().filter(|e| satisfies(e, condition)).collect();
    if satisfying.is_empty() {
        return wrong("it does not satisfy the condition");
    }
    let Some(cat) = Model::builtin(model.name) else { return wrong("its model has no cat file") };
    let failed = cat.check(&satisfying[0].execution).failed;
    let accepted = satisfying.into_iter().find(|e| cat.check(&e.execution).consistent);
    accepted.ok_or_else(|| {
        Rejected::Wrong(format!("{} forbids it by its axiom {}", model.name, failed.join(", ")))
    })
}

/// Whether the execution counts and satisfies the proposition.
pub fn satisfies(execution: &NaiveExecution, condition: &FinalCondition) -> bool {
    let state = execution.state(condition);
    condition.filter.as_ref().is_none_or(|filter| filter.holds(&state)) && condition.proposition.holds(&state)
}

#[cfg(test)]
mod tests {
    use super::*;
    use fencepost_diag::SourceFile;
    use fencepost_explore::{ModelName, Options, explore};
    use fencepost_ir::Property;

    const STORE_BUFFERING: &str = "X86 sb\n{ }\n P0 | P1 ;\n MOV [x],$1 | MOV [y],$1 ;\n \
         MOV EAX,[y] | MOV EAX,[x] ;\nexists (0:EAX=0 /\\ 1:EAX=0)\n";

    fn model(name: &str) -> &'static Entry {
        fencepost_models::registry::find(name).expect("built in")
    }

    fn found() -> (Program, Trace) {
        let test = fencepost_litmus::parse(&SourceFile::new("sb.litmus", STORE_BUFFERING)).expect("a test");
        let exploration = explore(&test.program, &Options::new(ModelName::Tso)).expect("supported");
        let witness = exploration.witness.expect("allowed");
        (test.program, witness)
    }

    fn condition(program: &Program) -> &FinalCondition {
        let Property::Final(condition) = &program.property else { panic!("a condition") };
        condition
    }

    #[test]
    fn a_witness_is_rebuilt() {
        let (program, witness) = found();
        let rebuilt = rebuild(&program, condition(&program), model("tso"), &witness).expect("consistent");
        let execution = rebuilt.execution;
        assert_eq!(execution.events.len(), 6);
        assert_eq!(execution.rf.pairs().count(), 2);
    }

    #[test]
    fn a_wrong_witness_is_rejected() {
        let (program, witness) = found();
        let condition = condition(&program);
        let forbidden = rebuild(&program, condition, model("sc"), &witness).expect_err("SC forbids it");
        assert_eq!(forbidden, Rejected::Wrong("sc forbids it by its axiom sc".into()));
        let mut other = witness.clone();
        other.rf[0].1 = Some((1, 0));
        let unsatisfying = rebuild(&program, condition, model("tso"), &other).expect_err("EAX is 1");
        assert_eq!(unsatisfying, Rejected::Wrong("it does not satisfy the condition".into()));
        let mut incomplete = witness;
        incomplete.rf.pop();
        assert!(rebuild(&program, condition, model("tso"), &incomplete).is_err());
    }
}
