//! A tiny driver: `prove FILE.cub [-m sc|tso|pso] [--brab N] [-j N] [--json] [--certificate out.smt2] [--max-nodes N]
//! [--timeout S] [--max-memory MB] [--search-dot F] [--search-svg F] [--no-recheck]`.
//!
//! Exit codes: 0 safe, 1 unsafe, 2 unknown, 3 bad input, 4 internal error.

use fencepost_diag::SourceFile;
use fencepost_param::model::Model;
use fencepost_param::{Options, StopReason, prove};
use std::process::ExitCode;

fn main() -> ExitCode {
    match run() {
        Ok(code) => ExitCode::from(code),
        Err(message) => {
            eprintln!("{message}");
            ExitCode::from(3)
        }
    }
}

fn run() -> Result<u8, String> {
    let mut options = Options::default();
    let (mut file, mut json) = (None, false);
    let (mut certificate, mut dot, mut svg) = (None, None, None);
    let mut args = std::env::args().skip(1);
    while let Some(arg) = args.next() {
        let mut value = || args.next().ok_or(format!("{arg} needs a value"));
        let number = |text: String| text.parse::<u64>().map_err(|_| format!("{text} is not a number"));
        match arg.as_str() {
            "-m" | "--model" => {
                let name = value()?;
                options.model =
                    Model::by_name(&name).ok_or(format!("unknown model {name}: sc, tso or pso"))?;
            }
            "--brab" => options.brab = Some(number(value()?)?.clamp(1, 5) as u8),
            "-j" | "--jobs" => options.jobs = number(value()?)?.clamp(1, 64) as usize,
            "--json" => json = true,
            "--certificate" => certificate = Some(value()?),
            "--max-nodes" => options.max_nodes = Some(number(value()?)? as usize),
            "--timeout" => options.timeout = Some(number(value()?)?),
            "--max-memory" => options.max_memory = Some(number(value()?)?),
            "--search-dot" => dot = Some(value()?),
            "--search-svg" => svg = Some(value()?),
            "--no-recheck" => options.recheck = false,
            other if other.starts_with('-') => return Err(format!("unknown option {other}")),
            other => file = Some(other.to_string()),
        }
    }
    let name = file.ok_or("usage: prove FILE.cub [-m sc|tso|pso] [--brab N] [--json] ...")?;
    let text = std::fs::read_to_string(&name).map_err(|e| format!("cannot read {name}: {e}"))?;
    let source = SourceFile::new(name, text);
    options.keep_search = dot.is_some() || svg.is_some();
    let outcome = match prove(&source, &options, &mut |p| {
        eprintln!("{} nodes, {} waiting, depth {}, {} processes", p.nodes, p.queue, p.depth, p.processes);
    }) {
        Ok(outcome) => outcome,
        Err(errors) => {
            let shown: Vec<String> = errors.iter().map(|e| e.render(&source)).collect();
            return Err(shown.join("\n"));
        }
    };
    for warning in &outcome.warnings {
        eprintln!("{}", warning.render(&source));
    }
    let write = |path: &Option<String>, text: &dyn Fn() -> String| match path {
        Some(path) => std::fs::write(path, text()).map_err(|e| format!("cannot write {path}: {e}")),
        None => Ok(()),
    };
    write(&dot, &|| outcome.search_dot())?;
    write(&svg, &|| outcome.search_svg())?;
    write(&certificate, &|| outcome.certificate())?;
    if json {
        println!("{}", outcome.to_json());
    } else {
        print!("{}", outcome.to_text());
    }
    if matches!(outcome.stop_reason, Some(StopReason::Recheck(_))) {
        return Ok(4);
    }
    Ok(outcome.verdict.exit_code())
}
