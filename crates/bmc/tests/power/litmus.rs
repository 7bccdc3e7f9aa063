//! A slice of the shared PPC litmus tests: the encoding has the machine's final states with one to three contexts.
//! `cargo xtask power litmus` compares all of them,
//! with up to six, and with the axiomatic model.

use fencepost_bmc::power::{Options, states_up_to};
use fencepost_diag::SourceFile;
use fencepost_ir::{Property, Quantifier, Value};
use fencepost_machine::power;
use std::collections::BTreeSet;
use std::io::Write;
use std::path::{Path, PathBuf};

fn options(contexts: u32) -> power::Options<'static> {
    power::Options { only_complete: true, ..power::Options::new(Some(contexts), 2) }
}

#[test]
fn machine_and_encoding_agree_on_litmus_tests() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/litmus/ppc");
    let Ok(entries) = std::fs::read_dir(folder) else {
        // Not `eprintln!`, which the harness shows only when a test fails.
        let _ = writeln!(std::io::stderr(), "absent: the shared litmus tests; nothing was compared");
        return;
    };
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.expect("an entry").path()).collect();
    paths.sort();
    let mut compared = 0;
    for path in paths.iter().skip(7).step_by(127) {
        let text = std::fs::read_to_string(path).expect("a file");
        let file = SourceFile { name: path.display().to_string(), text };
        let mut program = fencepost_litmus::parse(&file).expect("a test").program;
        // All states are wanted: one that violates the condition would end the machine's search.
        if let Property::Final(condition) = &mut program.property {
            condition.quantifier = Quantifier::Exists;
        }
        let all = states_up_to(&program, &Options::new(2), 1..=3).expect("supported").expect("no limit");
        for (contexts, encoded) in (1..=3).zip(all) {
            let checked = power::check(&program, &options(contexts)).expect("supported");
            let machine: BTreeSet<Vec<Value>> = checked.final_states.into_iter().collect();
            assert_eq!(encoded, machine, "{} with {contexts} contexts", file.name);
            compared += 1;
        }
    }
    assert!(compared > 20);
}
