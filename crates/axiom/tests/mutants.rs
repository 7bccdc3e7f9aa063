//! Clauses of the cat files left out, each once: random programs have another answer then. Programs as small as these notice
//! some of them only; that all are evaluated as they are written, left out or not, is what `executions.rs` compares.
//!
//! `FENCEPOST_CASES` says how many programs are tried for each (40): with 400 of them 102 of 215 are noticed, in minutes.

mod support;

use fencepost_answer::Verdict;
use fencepost_models::Model;
use support::{answered, compiled, options, program};

/// Models, and how many of their clauses the usual programs notice.
const MODELS: [(&str, usize); 8] =
    [("sc", 1), ("tso", 6), ("pso", 7), ("ra", 4), ("rc11", 5), ("rc20", 5), ("power", 13), ("armv8", 9)];

#[test]
fn clauses_that_are_left_out_are_noticed() {
    let cases: u64 = std::env::var("FENCEPOST_CASES").ok().and_then(|text| text.parse().ok()).unwrap_or(40);
    let mut missed = Vec::new();
    for (name, wanted) in MODELS {
        let model = Model::builtin(name).expect("built in");
        let mut known: Vec<Option<Verdict>> = vec![None; cases as usize];
        let mut mutants: Vec<(String, Model)> = Vec::new();
        for clause in model.clauses() {
            if let Ok(mutant) = model.with_definition(&clause.definition, &clause.rest) {
                mutants.push((format!("{} without {}", clause.definition, clause.text), mutant));
            }
        }
        let axioms: Vec<String> = model.axioms().iter().map(|axiom| axiom.name.to_string()).collect();
        mutants.extend(axioms.iter().filter_map(|axiom| Some((axiom.clone(), model.without_axiom(axiom)?))));
        let count = mutants.len();
        mutants.retain(|(what, mutant)| {
            for seed in 0..cases {
                let compiled = compiled(&program(seed));
                let original = *known[seed as usize].get_or_insert_with(|| {
                    answered(&compiled, name, &model, &options(&model))
                        .map_or(Verdict::Unknown, |o| o.verdict)
                });
                let answer = answered(&compiled, name, mutant, &options(mutant));
                match answer {
                    Ok(outcome) if outcome.verdict == original => {}
                    Ok(_) => return false,
                    Err(why) => {
                        println!("{name}: {what}: {why}");
                        return true;
                    }
                }
            }
            true
        });
        let noticed = count - mutants.len();
        println!("{name}: {noticed} of {count} noticed");
        assert!(cases < 40 || noticed >= wanted, "{name}: {noticed} of {count} noticed, and {wanted} were");
        missed.extend(mutants.into_iter().map(|(what, _)| format!("{name}: {what}")));
    }
    missed.iter().for_each(|what| println!("not noticed: {what}"));
}
