//! Tries and iterations that are left out, from end to end: how many executions are left of loops that read, and findings that
//! only
//! a read which could have been left out shows.

use std::path::Path;
use std::process::Command;

/// The models that the explorer knows.
fn models() -> Vec<&'static str> {
    fencepost_models::registry::names(|model| model.twin.is_some())
}

fn answer(program: &str, model: &str, retries: &str) -> serde_json::Value {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/retries").join(program);
    let output = Command::new(env!("CARGO_BIN_EXE_fencepost"))
        .args(["check", "--json", "--unroll", "4", "-m", model, "--retries", retries])
        .arg(file)
        .output()
        .expect("fencepost runs");
    let text = String::from_utf8_lossy(&output.stdout);
    serde_json::from_str(text.trim())
        .unwrap_or_else(|_| panic!("{text}{}", String::from_utf8_lossy(&output.stderr)))
}

/// The executions are as many as there are states to read: the reader could have begun with its last try.
#[test]
fn a_try_whose_last_reads_go_on_is_left_out() {
    let programs = [
        ("section_going_on.c", 3),
        ("collect_going_on.c", 5),
        ("helper_tries.c", 3),
        ("helper_fills_structure.c", 3),
        ("helper_with_one_return.c", 3),
    ];
    for (program, states) in programs {
        for model in models() {
            let few = answer(program, model, "fold");
            assert_eq!(few["verdict"], "safe", "{program} {model}: {few}");
            assert_eq!(few["cut"], 0, "{program} {model}");
            assert_eq!(few["executions"], states, "{program} {model}");
            assert!(few["left_out"].as_u64() > Some(0), "{program} {model}");
            let all = answer(program, model, "all");
            assert!(all["executions"].as_u64() > Some(10 * states), "{program} {model}: {all}");
        }
    }
}

/// What is found with every iteration is found without.
#[test]
fn nothing_is_lost_with_an_iteration() {
    let findings = [
        ("race_left_out.c", &["rc11", "rc20"][..]),
        ("use_left_out.c", &["power", "armv8"]),
        ("early_read_left_out.c", &["power", "armv8"]),
    ];
    for (program, unsafe_under) in findings {
        for model in models() {
            for retries in ["fold", "awake", "all"] {
                let verdict = if unsafe_under.contains(&model) { "unsafe" } else { "safe" };
                let answer = answer(program, model, retries);
                let found = answer["verdict"].as_str().unwrap_or_default();
                assert!(found.starts_with(verdict), "{program} {model} {retries}: {answer}");
            }
        }
    }
}
