//! What is told about a finding: one sentence first, then the execution, then why the model allows it. The texts are
//! snapshots, over all engines and models.

mod support;

use serde_json::Value;
use support::{fencepost, run};

const CORPUS: &str = "crates/c/corpus";
const DATA: &str = "crates/cli/tests/data";
const LANG: &str = "crates/lang/corpus";

/// Folder, file, model and engine.
const TOLD: &[(&str, &str, &str, &str)] = &[
    (DATA, "seqlock_no_writer_fence.c", "armv8", "explore"),
    (DATA, "seqlock_no_reader_fence.c", "armv8", "explore"),
    (DATA, "seqlock_no_writer_fence.c", "rc20", "explore"),
    (DATA, "seqlock_no_reader_fence.c", "rc20", "explore"),
    (DATA, "seqlock_no_writer_fence.c", "power", "explore"),
    (DATA, "seqlock_no_reader_fence.c", "power", "explore"),
    (DATA, "wrong_waiter_woken.c", "rc20", "explore"),
    (DATA, "typed_values.c", "rc20", "explore"),
    (DATA, "typed_values.c", "tso", "states"),
    (DATA, "flexible_array.c", "rc20", "explore"),
    (DATA, "detached.c", "rc20", "explore"),
    (DATA, "never_grows.c", "rc20", "explore"),
    (CORPUS, "finding_left_waiting.c", "rc20", "explore"),
    (CORPUS, "finding_needs_signal.c", "rc20", "explore"),
    (CORPUS, "treiber_aba.c", "power", "explore"),
    (CORPUS, "sync_cond_lost.c", "armv8", "explore"),
    (CORPUS, "litmus_mp_race.c", "rc20", "explore"),
    (CORPUS, "litmus_sb_rlx.c", "tso", "explore"),
    (CORPUS, "litmus_mp_rlx.c", "pso", "explore"),
    (CORPUS, "litmus_lb_rlx.c", "armv8", "explore"),
    (CORPUS, "litmus_2_2w_rlx.c", "pso", "explore"),
    (CORPUS, "mpmc_vyukov_rlx.c", "power", "explore"),
    (CORPUS, "ms_queue_rlx.c", "rc20", "explore"),
    (CORPUS, "lock_mcs_2_rlx.c", "rc11", "explore"),
    (CORPUS, "lock_ticket_2_rlx.c", "armv8", "explore"),
    (CORPUS, "spsc_ring_rlx.c", "power", "explore"),
    (CORPUS, "dcl_rlx.c", "rc20", "explore"),
    (CORPUS, "hazard_unfenced.c", "tso", "explore"),
    (CORPUS, "chase_lev_unfenced.c", "tso", "explore"),
    (CORPUS, "rcu_no_wait.c", "sc", "explore"),
    (CORPUS, "sync_philosophers.c", "sc", "explore"),
    (CORPUS, "finding_waits_forever.c", "rc20", "explore"),
    (CORPUS, "finding_null.c", "rc20", "explore"),
    (CORPUS, "finding_relock.c", "tso", "explore"),
    (CORPUS, "allocated_elsewhere.c", "rc20", "explore"),
    (CORPUS, "sync_no_mutex_counter.c", "sc", "explore"),
    (CORPUS, "peterson_2_rlx.c", "tso", "states"),
    (CORPUS, "litmus_mp_rlx.c", "pso", "states"),
    (CORPUS, "litmus_sb_rlx.c", "tso", "reduce"),
    (CORPUS, "sync_no_mutex_counter.c", "sc", "bmc"),
    (LANG, "dekker.fp", "tso", "states"),
    (CORPUS, "finding_abort.c", "sc", "run"),
    (CORPUS, "litmus_lb_rlx.c", "ps", "states"),
    (CORPUS, "litmus_mp_rlx.c", "power", "states"),
    (CORPUS, "litmus_sb_rlx.c", "power", "reduce"),
    (CORPUS, "litmus_lb_rlx.c", "ps", "reduce"),
    (CORPUS, "litmus_2_2w_rlx.c", "pso", "states"),
    (CORPUS, "dekker_2_rlx.c", "tso", "reduce"),
    (LANG, "peterson.fp", "tso", "states"),
];

/// Systems with their models: `prove` tells the run that it found, or the invariant.
const PROVED: &[(&str, &str)] = &[
    ("litmus_sb", "tso"),
    ("litmus_mp", "pso"),
    ("peterson", "tso"),
    ("dekker", "pso"),
    ("german_bug", "sc"),
    ("litmus_sb_fenced", "tso"),
];

#[test]
fn what_prove_finds_is_told() {
    for (file, model) in PROVED {
        let path = format!("crates/param/corpus/{file}.cub");
        let text = run(&["prove", "-j1", "--words", "-m", model, &path]);
        insta::assert_snapshot!(format!("{file}_cub_{model}_prove"), text);
    }
}

/// What no execution comes to is a part of the answer; who wants it otherwise can have that checked.
#[test]
fn lines_that_are_not_reached_are_listed() {
    let file = format!("{DATA}/never_grows.c");
    let output = fencepost(&["check", "--json", &file]).output().expect("it runs");
    let answer: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    let unreached = answer["coverage"]["unreached"].as_array().expect("coverage");
    let lines: Vec<u64> = unreached.iter().filter_map(|place| place["line"].as_u64()).collect();
    assert_eq!((lines, &answer["coverage"]["lines"]), (vec![10, 11, 12, 18], &Value::from(8)), "{answer}");
    let code = |arguments: &[&str]| fencepost(arguments).output().expect("it runs").status.code();
    assert_eq!(code(&["check", "--require-coverage", &file]), Some(2));
    assert_eq!(code(&["check", &file]), Some(0));
    assert_eq!(code(&["check", "--require-coverage", &format!("{CORPUS}/litmus_sb_sc.c")]), Some(0));
}

#[test]
fn every_finding_is_explained() {
    for (folder, file, model, engine) in TOLD {
        let path = format!("{folder}/{file}");
        let text = run(&["check", "-j1", "-m", model, "--engine", engine, &path]);
        insta::assert_snapshot!(format!("{}_{model}_{engine}", file.replace('.', "_")), text);
    }
}

fn explanation(file: &str, model: &str) -> Value {
    let output = fencepost(&["check", "-j1", "--json", "-m", model, &format!("{DATA}/{file}")])
        .output()
        .expect("it runs");
    let answer: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    answer["findings"][0]["explanation"].clone()
}

/// The two gave the same trace once: the sentence says which thread lacks its fence.
#[test]
fn the_two_broken_sequence_locks_are_told_apart() {
    for model in ["armv8", "power", "rc20"] {
        let writer = explanation("seqlock_no_writer_fence.c", model);
        let reader = explanation("seqlock_no_reader_fence.c", model);
        let sentence = |value: &Value| value["sentence"].as_str().expect("a sentence").to_string();
        let blame = |value: &Value| sentence(value).split_once(": ").map(|(_, blame)| blame.to_string());
        let (writer, reader) = (blame(&writer).expect("blame"), blame(&reader).expect("blame"));
        assert!(
            writer.contains("the two stores of writer") && !writer.contains("loads of"),
            "{model}: {writer}"
        );
        assert!(
            reader.contains("the two loads of reader") && !reader.contains("stores of"),
            "{model}: {reader}"
        );
    }
    for model in ["armv8", "power", "rc20"] {
        let file = format!("{DATA}/seqlock_both_fences.c");
        let output = fencepost(&["check", "-j1", "--json", "-m", model, &file]).output().expect("it runs");
        let answer: Value = serde_json::from_slice(&output.stdout).expect("JSON");
        assert_eq!(answer["verdict"], "safe", "{model}");
    }
}

/// Bugs whose traces told little once: the sentence, or why, says what each is.
#[test]
fn bugs_are_called_what_they_are() {
    let told = [
        (
            "treiber_aba.c",
            "power",
            "sentence",
            "reads `node@31#2.next` (line 20) when popper#1 has freed it (line 22)",
        ),
        ("sync_cond_lost.c", "armv8", "sentence", "came before that and woke nobody"),
        ("litmus_mp_race.c", "rc20", "why", "but they do not synchronise"),
    ];
    for (file, model, part, words) in told {
        let path = format!("{CORPUS}/{file}");
        let output = fencepost(&["check", "-j1", "--json", "-m", model, &path]).output().expect("it runs");
        let answer: Value = serde_json::from_slice(&output.stdout).expect("JSON");
        let said = answer["findings"][0]["explanation"][part].to_string();
        assert!(said.contains(words), "{file}: {said}");
    }
}

/// What threads saw may be as under SC and still the end of an object, which is no access, be too early under a weak model only.
#[test]
fn what_needs_a_weak_model_is_not_said_to_happen_under_sc() {
    let file = format!("{DATA}/freed_after_relaxed_flag.c");
    assert!(run(&["check", &file, "-m", "sc"]).starts_with("exit code 0"));
    for model in ["rc20", "armv8", "power"] {
        let text = run(&["check", &file, "-m", model]);
        assert!(text.contains("error[FP0303]"), "{text}");
        assert!(!text.contains("no weak memory is needed"), "{text}");
        assert!(text.contains("it does not happen under sc"), "{text}");
    }
    // Without the flag it happens under SC, and that is said.
    let text = run(&["check", &format!("{DATA}/freed_at_once.c"), "-m", "armv8"]);
    assert!(text.contains("no weak memory is needed: it happens under sc as well"), "{text}");
}

/// Loads that acquire are done in order under POWER and in C: two readers disagree because neither waits until what it has
/// seen has reached the other one.
#[test]
fn readers_that_disagree_are_not_said_to_read_out_of_order() {
    for model in ["power", "rc11", "rc20"] {
        let text = run(&["check", "-j1", "-m", model, "docs/book/programs/power.c"]);
        let said = "x_first did not wait until what it had seen at line 25 had reached all threads";
        assert!(
            text.contains(said) && text.contains("because only full fences make them wait"),
            "{model}: {text}"
        );
        assert!(!text.contains("out of order"), "{model}: {text}");
    }
}
