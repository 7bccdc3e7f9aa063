//! What the explorer answers does not depend on the number of workers: verdict, counts and the trace that is shown are those of
//! one worker, whether the first error ends the search or not.

mod support;

use std::path::Path;

/// Every so many programs of the corpus, and those whose findings have traces.
const EVERY: usize = 25;

fn programs() -> Vec<String> {
    let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("../c/corpus");
    let entries = std::fs::read_dir(corpus).expect("the corpus is there");
    let mut names: Vec<String> = entries
        .filter_map(|entry| entry.ok()?.file_name().into_string().ok())
        .filter(|name| name.ends_with(".c"))
        .collect();
    names.sort();
    let wanted = |i: usize, name: &str| {
        i.is_multiple_of(EVERY) || ["finding_", "litmus_", "treiber_"].iter().any(|p| name.starts_with(p))
    };
    names.iter().enumerate().filter(|&(i, name)| wanted(i, name)).map(|(_, name)| name.clone()).collect()
}

fn answer(program: &str, model: &str, jobs: &str, all: &[&str]) -> String {
    let path = format!("crates/c/corpus/{program}");
    // Programs that are too large for a test say nothing: what several workers have done by then is not the same.
    let limit = ["--max-executions", "3000", "--timeout", "120"];
    let fixed = ["check", "--engine", "explore", "--json", "-m", model, "-j", jobs, &path];
    without_nodes(&support::run(&[&fixed, &limit[..], all].concat()))
}

/// How much of the search was done before the first error ended it depends on who was how fast.
fn without_nodes(text: &str) -> String {
    let Some((before, after)) = text.split_once("\"nodes\":") else { return text.into() };
    format!("{before}{}", after.trim_start_matches(|c: char| c.is_ascii_digit()))
}

#[test]
fn the_answer_does_not_depend_on_the_number_of_workers() {
    let mut compared = 0;
    let programs = programs();
    for (i, program) in programs.iter().enumerate() {
        let models = if i.is_multiple_of(3) { ["rc11", "power"] } else { ["tso", "rc11"] };
        for model in models {
            for all in [&[][..], &["--all"]] {
                let one = answer(program, model, "1", all);
                // A limit that was hit: what several workers have done by then is not the same.
                if one.contains("\"stop_reason\":") {
                    continue;
                }
                for jobs in if compared % 2 == 0 { ["2"] } else { ["4"] } {
                    assert_eq!(
                        one,
                        answer(program, model, jobs, all),
                        "{program} -m {model} -j {jobs} {all:?}"
                    );
                }
                compared += 1;
            }
        }
    }
    assert!(compared > 100, "only {compared} runs were compared");
}
