//! Emitted C: every program of the mutual-exclusion corpora is reduced at every bound, checked as IR, printed as C,
//! compiled by `cc`, read back by our own front end, and checked again. Both verdicts must be the same.

use crate::Options;
use fencepost_diag::SourceFile;
use fencepost_ir::{Program, globalise_locals_of_main};
use fencepost_machine::{Model, Verdict, check};
use fencepost_models::mapping::{self, Mapping, Target};
use fencepost_reduce::{Bound, print_c, reduce_tso};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

/// Prefixes of the C programs for mutual exclusion by loads and stores.
const ALGORITHMS: [&str; 10] = [
    "dekker",
    "peterson",
    "lamport_fast",
    "szymanski",
    "burns",
    "dijkstra",
    "bakery",
    "knuth",
    "eisenberg",
    "filter",
];

fn files(folder: &str, wanted: impl Fn(&str) -> bool) -> Result<Vec<PathBuf>, String> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../crates").join(folder);
    let entries = std::fs::read_dir(&folder).map_err(|e| format!("{}: {e}", folder.display()))?;
    let mut found: Vec<PathBuf> = entries.filter_map(|entry| Some(entry.ok()?.path())).collect();
    found.retain(|path| path.file_name().is_some_and(|name| wanted(&name.to_string_lossy())));
    found.sort();
    Ok(found)
}

fn compile_c(name: &str, text: String) -> Result<Program, String> {
    let file = SourceFile::new(name, text);
    let options = fencepost_c::Options::default();
    Ok(fencepost_c::compile(&file, &options).map_err(|failure| failure.render())?.program)
}

/// A program of either corpus, as TSO runs it.
fn read(path: &Path) -> Result<Program, String> {
    let name = path.display().to_string();
    let text = std::fs::read_to_string(path).map_err(|e| format!("{name}: {e}"))?;
    if name.ends_with(".fp") {
        let file = SourceFile::new(&name, &text);
        return fencepost_lang::parse(&text).map_err(|e| e.render(&file));
    }
    let mapping = Mapping::parse(Target::Tso, "").map_err(|e| e.to_string())?;
    let program = mapping::compile(&compile_c(&name, text)?, Target::Tso, mapping);
    Ok(fencepost_reduce::start_at_once(&globalise_locals_of_main(&program)))
}

struct Searched {
    verdict: Verdict,
    states: u64,
    seconds: f64,
}

fn search(program: &Program, seconds: u64) -> Result<Searched, String> {
    let mut options = fencepost_machine::Options::new(Model::Sc);
    let start = Instant::now();
    options.search.deadline = Some(start + Duration::from_secs(seconds));
    options.search.jobs = std::thread::available_parallelism().map_or(1, |n| n.get());
    options.search.max_bytes = Some(6_000_000_000);
    let outcome = check(program, &options).map_err(|e| e.what)?.outcome;
    let states = outcome.statistics.states.unwrap_or(0);
    Ok(Searched { verdict: outcome.verdict, states, seconds: start.elapsed().as_secs_f64() })
}

/// One program at one bound: both searches, and the text of the C between them.
fn one(program: &Program, bound: Bound, seconds: u64) -> Result<(Searched, Searched), String> {
    let reduced = reduce_tso(program, &fencepost_reduce::Options::new(bound)).map_err(|e| e.what)?;
    let direct = search(&reduced, seconds)?;
    let text = print_c(&reduced)?;
    let folder = std::env::temp_dir().join(format!("fencepost-round-trip-{}", std::process::id()));
    std::fs::create_dir_all(&folder).map_err(|e| e.to_string())?;
    let file = folder.join("emitted.c");
    std::fs::write(&file, &text).map_err(|e| e.to_string())?;
    let cc = Command::new("cc").args(["-std=c11", "-Wall", "-Werror", "-fsyntax-only"]).arg(&file).output();
    let cc = cc.map_err(|e| format!("cc: {e}"))?;
    let _ = std::fs::remove_dir_all(&folder);
    if !cc.status.success() {
        return Err(format!("cc refuses it: {}", String::from_utf8_lossy(&cc.stderr)));
    }
    let again = globalise_locals_of_main(&compile_c("emitted.c", text)?);
    Ok((direct, search(&again, seconds)?))
}

/// All of it; returns the number of differences. A search that did not end is reported, and is no difference.
pub fn round_trip(options: &Options) -> usize {
    let c = |name: &str| name.ends_with(".c") && ALGORITHMS.iter().any(|a| name.starts_with(a));
    let (mut compared, mut unknown, mut differences) = (0, 0, 0);
    let mut paths = files("lang/corpus", |name| name.ends_with(".fp")).unwrap_or_default();
    paths.extend(files("c/corpus", c).unwrap_or_default());
    for path in &paths {
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let program = match read(path) {
            Ok(program) => program,
            Err(why) => {
                println!("DIFFERENCE {name} cannot be read: {why}");
                differences += 1;
                continue;
            }
        };
        for bound in (0..3).flat_map(|k| [Bound::Rounds(k), Bound::Age(k)]) {
            match one(&program, bound, options.seconds) {
                Err(why) => {
                    println!("DIFFERENCE {name} {bound:?}: {why}");
                    differences += 1;
                }
                Ok((a, b)) => {
                    let line = format!(
                        "{name} {bound:?}: {:?} {} states {:.1} s; as C {:?} {} states {:.1} s",
                        a.verdict, a.states, a.seconds, b.verdict, b.states, b.seconds
                    );
                    if a.verdict == Verdict::Unknown || b.verdict == Verdict::Unknown {
                        println!("UNKNOWN {line}");
                        unknown += 1;
                    } else if a.verdict != b.verdict {
                        println!("DIFFERENCE {line}");
                        differences += 1;
                    } else {
                        println!("{line}");
                        compared += 1;
                    }
                }
            }
        }
    }
    println!("emitted C: {compared} pairs of verdicts agree, {unknown} unknown, {differences} differ");
    differences
}
