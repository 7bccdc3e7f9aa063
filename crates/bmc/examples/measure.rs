//! Checks C and `.fp` programs under SC and prints verdicts, sizes and times: `measure UNROLL FILE...`

use fencepost_bmc::{Options, check};
use fencepost_diag::SourceFile;
use fencepost_ir::{Program, globalise_locals_of_main};
use std::time::Instant;

fn read(name: &str) -> Result<Program, String> {
    let text = std::fs::read_to_string(name).map_err(|error| error.to_string())?;
    if name.ends_with(".fp") {
        return fencepost_lang::parse(&text).map_err(|error| format!("{error:?}"));
    }
    let file = SourceFile::new(name, text);
    let settings = fencepost_c::Options {
        defines: std::env::var("DEFINE")
            .iter()
            .filter_map(|d| d.split_once('='))
            .map(|(a, b)| (a.to_owned(), Some(b.to_owned())))
            .collect(),
        ..Default::default()
    };
    let compiled = fencepost_c::compile(&file, &settings).map_err(|failure| failure.render())?;
    Ok(globalise_locals_of_main(&compiled.program))
}

fn main() {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let Some((unroll, files)) = args.split_first() else { return eprintln!("measure UNROLL FILE...") };
    for name in files {
        let program = match read(name) {
            Ok(program) => program,
            Err(error) => {
                println!("{name}: {error}");
                continue;
            }
        };
        let mut options = Options::default();
        options.symbolic.unroll = unroll.parse().unwrap_or(2);
        options.symbolic.c = name.ends_with(".c");
        let start = Instant::now();
        options.symbolic.limits.deadline = Some(start + std::time::Duration::from_secs(120));
        let short = name.rsplit('/').next().unwrap_or(name);
        match check(&program, &options) {
            Err(error) => println!("{short}: {}", error.what),
            Ok(outcome) => {
                let s = outcome.statistics;
                println!(
                    "{short:28} {:?}{} {:.3}s completed={:?} events={} nodes={} vars={} clauses={} conflicts={} passes={} {}{}",
                    outcome.verdict,
                    if outcome.cut { " (cut)" } else { "" },
                    start.elapsed().as_secs_f64(),
                    outcome.completed,
                    s.events,
                    s.nodes,
                    s.variables,
                    s.clauses,
                    s.conflicts,
                    s.passes,
                    outcome.why.map_or(String::new(), |why| format!("{why:?}")),
                    outcome.finding.map_or(String::new(), |f| f.message),
                );
            }
        }
    }
}
