//! Programs as people write them (`crates/bmc/corpus/power/natural`: locks, condition variables, barriers, pointers, allocated
//! memory, arguments and results of threads, inputs) through the reductions of TSO, POWER and the promising semantics:
//! answered as `expected.tsv` says, or refused with a reason, and not many of those.

use serde_json::Value;
use std::path::Path;
use std::process::Command;

/// The answer, or why there is none.
fn ask(path: &Path, options: &[&str]) -> Result<String, String> {
    let mut command = Command::new(env!("CARGO_BIN_EXE_fencepost"));
    command.arg("check").arg(path).args(options).args(["--json", "--quiet", "--timeout", "60"]);
    let output = command.output().expect("the binary runs");
    let text = String::from_utf8_lossy(&output.stdout);
    let Some(answer) = text.lines().last().and_then(|line| serde_json::from_str::<Value>(line).ok()) else {
        let error = String::from_utf8_lossy(&output.stderr);
        return Err(error.lines().next().unwrap_or("nothing was said").to_string());
    };
    match answer["verdict"].as_str() {
        Some(verdict @ ("safe" | "unsafe")) => Ok(verdict.to_string()),
        _ => Err(answer.to_string()),
    }
}

#[test]
fn natural_programs_are_answered() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../bmc/corpus/power/natural");
    let rows = std::fs::read_to_string(folder.join("expected.tsv")).expect("the expectations");
    let rows: Vec<Vec<&str>> =
        rows.lines().filter(|line| !line.starts_with('#')).map(|line| line.split('\t').collect()).collect();
    let files = std::fs::read_dir(&folder).expect("the folder").flatten();
    let programs = files.filter(|file| file.path().extension().is_some_and(|extension| extension == "c"));
    assert_eq!(programs.count(), rows.len(), "a program for each row, and a row for each program");
    let (mut wrong, mut refused, mut asked) = (Vec::new(), Vec::new(), 0);
    for row in &rows {
        let path = folder.join(format!("{}.c", row[0]));
        // What a model does not look for stands as `-`: whose a mutex is, under the promising semantics.
        let models = [("tso", row[1]), ("power", row[2]), ("ps", row[3])];
        for (model, expected) in models.into_iter().filter(|(_, expected)| *expected != "-") {
            asked += 1;
            match ask(&path, &["-m", model, "--engine", "reduce", "--unroll", "3"]) {
                Ok(verdict) if verdict == expected => {}
                Ok(verdict) => wrong.push(format!("{} {model}: {verdict}", row[0])),
                Err(why) => refused.push(format!("{} {model}: {why}", row[0])),
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
    println!("{} of {asked} refused: {refused:#?}", refused.len());
    assert!(10 * refused.len() <= asked, "{refused:#?}");
}
