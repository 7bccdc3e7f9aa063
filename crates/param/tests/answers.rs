//! What an answer consists of: limits end in unknown, spurious traces are not believed, runs show values, buffers and
//! events, invariants that are wrong are caught.
#![allow(missing_docs)]

mod common;

use common::{answer, crate_dir, load};
use fencepost_answer::Limit;
use fencepost_diag::SourceFile;
use fencepost_param::cube::Cube;
use fencepost_param::model::Model;
use fencepost_param::recheck::recheck;
use fencepost_param::{Options, Recheck, StopReason, Verdict};
use std::time::Duration;

fn corpus(name: &str) -> SourceFile {
    load(&crate_dir().join(format!("corpus/{name}.cub")))
}

fn reached(limit: Limit, value: f64) -> StopReason {
    StopReason::Limit { limit, value: Some(value) }
}

/// The steps of the run that was found, with all that belongs to them.
fn told(outcome: &fencepost_param::Outcome) -> String {
    let answer = outcome.answer();
    let steps = answer.findings.iter().flat_map(|finding| &finding.trace);
    let buffers = |step: &fencepost_answer::Line| step.buffers.join(" | ");
    steps
        .map(|step| format!("{}\n{}\nbuffers {}\n", step.action, step.details.join("\n"), buffers(step)))
        .collect()
}

#[test]
fn limits_end_in_unknown_with_the_reason() {
    let german = corpus("german");
    let cases = [
        (Options { max_nodes: Some(20), ..Options::default() }, reached(Limit::MaxNodes, 20.0)),
        (Options { timeout: Some(Duration::ZERO), ..Options::default() }, reached(Limit::Timeout, 0.0)),
        (Options { max_memory: Some(1), ..Options::default() }, reached(Limit::MaxMemory, 1.0)),
    ];
    for (options, reason) in cases {
        let outcome = answer(&german, &options);
        assert_eq!(outcome.verdict, Verdict::Unknown);
        assert_eq!(outcome.stop_reason, Some(reason.clone()));
        assert!(reason.to_string().contains("limit"), "{reason}");
    }
}

/// A flag that a process can raise only by leaving `Idle` for good, and a guard that wants all others `Idle`.
const SPURIOUS: &str = "
type loc = Idle | Go | Done
array PC[proc] : loc
var Flag : bool
init (p) { PC[p] = Idle && Flag = False }
unsafe (p) { PC[p] = Done }
transition raise (p) requires { PC[p] = Idle && Flag = False } { PC[p] := Go; Flag := True }
transition finish (p) requires { PC[p] = Idle && Flag = True && forall_other q. PC[q] = Idle } { PC[p] := Done }
";

#[test]
fn a_spurious_trace_is_not_believed() {
    let source = SourceFile::new("spurious.cub", SPURIOUS);
    let outcome = answer(&source, &Options { model: Model::Sc, ..Options::default() });
    assert_eq!(outcome.verdict, Verdict::Unknown);
    assert!(matches!(outcome.stop_reason, Some(StopReason::Spurious(_))), "{:?}", outcome.stop_reason);
    // With the number of processes fixed the guard is exact.
    let fixed = SourceFile::new("fixed.cub", format!("number_procs 3{SPURIOUS}"));
    assert_eq!(answer(&fixed, &Options::default()).verdict, Verdict::Safe);
}

#[test]
fn a_run_shows_values_buffers_and_events() {
    let outcome = answer(&corpus("litmus_sb"), &Options::default());
    assert_eq!(outcome.verdict, Verdict::Unsafe);
    let text = told(&outcome);
    assert!(text.contains("buffers  | X := True | \n"), "{text}");
    assert!(text.contains("#1 reads Y = False from memory"), "{text}");
    let last = outcome.trace.last().expect("steps");
    let value = |cell: &str| last.values.iter().find(|v| v.0 == cell).map(|v| v.1.as_str());
    assert_eq!((value("R1[#1]"), value("R1[#2]")), (Some("False"), Some("False")));
}

#[test]
fn the_declaration_of_the_bad_states_is_carried_as_a_place() {
    let text = "(* a lock\nunsafe is what follows *)
type loc = Idle | Crit | Lost
array PC[proc] : loc
init (p) { PC[p] = Idle }
unsafe (p) { PC[p] = Lost }
unsafe (p q) {
  PC[p] = Crit && PC[q] = Crit }
transition enter (p) requires { PC[p] = Idle } { PC[p] := Crit }
";
    let outcome = answer(&SourceFile::new("lock.cub", text), &Options::default());
    let span = outcome.answer().findings[0].places[0].span;
    let place = &text[span.start as usize..span.end as usize];
    assert_eq!(place, "unsafe (p q) {\n  PC[p] = Crit && PC[q] = Crit }");
}

#[test]
fn a_read_that_missed_a_write_is_carried_as_data() {
    let outcome = answer(&corpus("dekker"), &Options { model: Model::Tso, ..Options::default() });
    let missed = outcome.missed().expect("store buffering");
    assert_eq!((missed.value.as_str(), missed.waiting.as_str()), ("False", "True"));
    assert_eq!(missed.cell, format!("Want[#{}]", missed.writer));
    assert_ne!(missed.reader, missed.writer);
    assert_eq!(answer(&corpus("german_bug"), &Options::default()).missed(), None);
}

/// The plain search needs seconds and more for these; a run of a small instance is found at once.
#[test]
fn bad_states_are_found_forwards() {
    let options = Options { timeout: Some(Duration::from_secs(60)), ..Options::default() };
    let outcome = answer(&corpus("german_data_bug"), &options);
    assert_eq!(outcome.verdict, Verdict::Unsafe);
    assert!(outcome.trace.len() > 5 && outcome.bad.is_some());
}

#[test]
fn a_read_from_the_own_buffer_is_shown_as_such() {
    let text = "type loc = L0 | L1 | L2
array PC[proc] : loc
weak var X : bool
init (p) { PC[p] = L0 && X = False }
unsafe (p q) { PC[p] = L2 && q @ X = False }
transition write ([p]) requires { PC[p] = L0 } { PC[p] := L1; X := True }
transition read ([p]) requires { PC[p] = L1 && X = True } { PC[p] := L2 }";
    let source = SourceFile::new("own.cub", text);
    let outcome = answer(&source, &Options::default());
    assert_eq!(outcome.verdict, Verdict::Unsafe);
    assert!(told(&outcome).contains("#1 reads X = True from its buffer"), "{}", told(&outcome));
    assert_eq!(answer(&source, &Options { model: Model::Sc, ..Options::default() }).verdict, Verdict::Safe);
}

/// The independent check is not a formality: leaving out any cube that a pre-image needs is noticed.
#[test]
fn a_wrong_invariant_is_caught() {
    for name in ["dekker_fenced", "litmus_sb_fenced", "german", "bakery"] {
        let outcome = answer(&corpus(name), &Options { brab: Some(2), ..Options::default() });
        assert_eq!(outcome.verdict, Verdict::Safe, "{name}");
        let check = |cubes: &[Cube]| recheck(&outcome.system, outcome.model, cubes, 1, &|| false);
        assert_eq!(check(&outcome.invariant), Ok(Recheck::Inductive));
        for without in 0..outcome.invariant.len() {
            let mut cubes = outcome.invariant.clone();
            cubes.remove(without);
            assert!(check(&cubes).is_err(), "{name} without cube {without}");
        }
        // A cube that initial states satisfy.
        let mut cubes = outcome.invariant.clone();
        cubes.push(Cube { procs: 1, lits: vec![], memory: Default::default() });
        assert!(check(&cubes).is_err(), "{name} with everything");
    }
}

#[test]
fn answers_do_not_depend_on_the_number_of_threads() {
    let source = corpus("dijkstra_fenced");
    let one = answer(&source, &Options::default());
    let four = answer(&source, &Options { jobs: 4, ..Options::default() });
    assert_eq!(one.invariant_text(), four.invariant_text());
    assert_eq!(one.statistics.nodes, four.statistics.nodes);
    let german = corpus("german_data");
    let one = answer(&german, &Options::default());
    let two = answer(&german, &Options { jobs: 2, ..Options::default() });
    assert_eq!((one.verdict, one.invariant_text()), (two.verdict, two.invariant_text()));
    assert_eq!((one.recheck, four.recheck), (Recheck::Inductive, Recheck::Inductive));
}

#[test]
fn answers_in_words() {
    let safe = answer(&corpus("dekker_fenced"), &Options::default());
    assert!(safe.words().contains("It never holds that "), "{}", safe.words());
    let safe = answer(&corpus("bakery"), &Options { model: Model::Sc, ..Options::default() });
    let clause = "There are never distinct processes p and q with PC[p] = Crit and PC[q] = Crit.";
    assert!(safe.words().contains(clause), "{}", safe.words());
    let bad = answer(&corpus("litmus_sb"), &Options::default());
    assert!(bad.words().starts_with("The system starts"), "{}", bad.words());
    assert!(bad.words().ends_with("That is a state that `unsafe` describes.\n"));
}

#[test]
fn a_system_without_weak_memory_gets_a_note() {
    let notes = |model| answer(&corpus("german"), &Options { model, ..Options::default() }).warnings;
    assert!(notes(Model::Tso).iter().any(|w| w.message.contains("nothing in this system is weak")));
    assert!(notes(Model::Sc).is_empty());
}

/// Declared invariants that cover a cube only together, and one about what a process reads.
#[test]
fn declared_invariants_work_together() {
    let text = "var Max : int
var Bad : bool
init () { Max = 0 && Bad = False }
invariant () { Max > 100 }
invariant () { 3 < Max && Max <= 100 }
unsafe () { Bad = True }
transition grow (p) { Max := Max + 1 }
transition break (p) requires { Max > 3 } { Bad := True }";
    let outcome = answer(&SourceFile::new("together.cub", text), &Options::default());
    assert_eq!((outcome.verdict, outcome.recheck), (Verdict::Safe, Recheck::Inductive));
    assert_eq!(outcome.statistics.nodes, 1, "the invariants exclude what leads to the bad state");
    let text = "type loc = A | B
array PC[proc] : loc
weak var X : bool
init (p) { PC[p] = A && X = False }
invariant (p) { p @ X = True }
unsafe (p) { PC[p] = B }
transition set ([p]) requires { PC[p] = A } { X := True }
transition see ([p]) requires { PC[p] = A && X = True } { PC[p] := B }";
    for model in [Model::Tso, Model::Pso] {
        let outcome = answer(&SourceFile::new("view.cub", text), &Options { model, ..Options::default() });
        assert_eq!(outcome.verdict, Verdict::Safe, "{:?}", outcome.stop_reason);
    }
}

/// The limits hold in the check of the invariant too.
#[test]
fn the_check_stops_when_asked() {
    let outcome = answer(&corpus("dijkstra_fenced"), &Options::default());
    let found = recheck(&outcome.system, outcome.model, &outcome.invariant, 2, &|| true);
    assert_eq!(found, Err(fencepost_param::recheck::Failure::Stopped));
}

#[test]
fn pictures_of_the_search() {
    let outcome = answer(&corpus("peterson"), &Options { keep_search: true, ..Options::default() });
    let (dot, svg) = (outcome.search_dot(), outcome.search_svg());
    assert_eq!(dot.matches(" [label=\"").count() - dot.matches(" -> ").count(), outcome.search.len());
    assert_eq!(svg.matches("<rect").count(), outcome.search.len());
    assert!(svg.starts_with("<svg") && svg.ends_with("</svg>\n"));
}

#[test]
fn a_case_without_default_keeps_the_old_value_and_warns() {
    let text = "type t = A | B | C
array S[proc] : t
init (p) { S[p] = A }
unsafe (p q) { S[p] = B && S[q] = C }
transition t (p) { S[j] := case | j = p : B }";
    let outcome =
        answer(&SourceFile::new("case.cub", text), &Options { model: Model::Sc, ..Options::default() });
    assert_eq!(outcome.verdict, Verdict::Safe);
    assert_eq!(outcome.warnings.len(), 1);
}

#[test]
fn predicates_lets_and_quantified_guards() {
    let text = "type t = Idle | Busy
array S[proc] : t
array N[proc] : int
predicate is(p, v) { S[p] = v }
predicate both(f, g) { f && g }
init (p) { is(p, Idle) && N[p] = 0 }
unsafe (p q) { both(is(p, Busy), S[q] = Busy) }
unsafe (p) { N[p] > 1 }
transition start (p)
requires { is(p, Idle) && not (exists_other q. is(q, Busy)) }
{ let n = N[p] in S[p] := Busy; N[p] := n + 1 }
transition stop (p)
requires { is(p, Busy) }
{ S[p] := Idle; N[p] := N[p] - 1 }";
    let outcome = answer(&SourceFile::new("macro.cub", text), &Options::default());
    assert_eq!(outcome.verdict, Verdict::Safe, "{}", told(&outcome));
    assert_eq!(outcome.recheck, Recheck::Inductive);
}

/// The example in the documentation is what it says: safe with its fence, unsafe without.
#[test]
fn the_example_of_the_documentation() {
    let page = std::fs::read_to_string(crate_dir().join("../../docs/PROVE.md")).expect("the page");
    let section = page.split("## The language in a nutshell").nth(1).expect("the section");
    let block: Vec<&str> =
        section.lines().skip(1).take_while(|l| l.is_empty() || l.starts_with("    ")).collect();
    let text = block.join("\n");
    assert!(text.contains("fence()"), "{text}");
    let with = answer(&SourceFile::new("example.cub", text.clone()), &Options::default());
    assert_eq!((with.verdict, with.recheck), (Verdict::Safe, Recheck::Inductive));
    let without =
        answer(&SourceFile::new("example.cub", text.replace("fence() && ", "")), &Options::default());
    assert_eq!(without.verdict, Verdict::Unsafe);
}
