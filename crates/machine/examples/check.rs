//! `check FILE.fp... [--model sc|tso|pso] [--buffer N] [--rounds K] [--age K] [--jobs N] [--memory MB] [--run]`:
//! checks programs on a machine and prints one line each. A tiny driver; the command line proper is `fencepost check`.

use fencepost_diag::SourceFile;
use fencepost_machine::{Model, Options, Outcome, check};
use std::time::Instant;

fn main() -> Result<(), String> {
    let mut options = Options::new(Model::Tso);
    let mut files = Vec::new();
    let mut show_run = false;
    let mut args = std::env::args().skip(1);
    while let Some(arg) = args.next() {
        let mut number =
            || args.next().and_then(|n| n.parse::<u32>().ok()).ok_or(format!("{arg} needs a number"));
        match arg.as_str() {
            "--buffer" => options.config.buffer = Some(number()?),
            "--rounds" => options.config.rounds = Some(number()?),
            "--age" => options.config.age = Some(number()?),
            "--jobs" => options.search.jobs = number()? as usize,
            "--memory" => options.search.max_bytes = Some(number()? as usize * 1_000_000),
            "--run" => show_run = true,
            "--model" => {
                let name = args.next().unwrap_or_default();
                options.config.model = Model::from_name(&name).ok_or("the models are sc, tso and pso")?;
            }
            _ => files.push(arg),
        }
    }
    for file in files {
        let text = std::fs::read_to_string(&file).map_err(|e| format!("{file}: {e}"))?;
        let program = fencepost_lang::parse(&text).map_err(|e| e.render(&SourceFile::new(&file, &text)))?;
        let start = Instant::now();
        let outcome = check(&program, &options).map_err(|e| format!("{file}: {}", e.what))?.outcome;
        report(&file, options.config.model, &outcome, start.elapsed().as_secs_f64());
        if show_run {
            run(&outcome);
        }
    }
    Ok(())
}

fn report(file: &str, model: Model, outcome: &Outcome, seconds: f64) {
    let bounds: Vec<String> =
        outcome.bounds.iter().map(|b| format!("{}={}", b.name.name(), b.value)).collect();
    let scope =
        if bounds.is_empty() { "complete".into() } else { format!("bounded ({})", bounds.join(", ")) };
    let counts = &outcome.statistics;
    let states = counts.states.unwrap_or(0);
    println!(
        "{file} {} {:?} {scope} states={} transitions={} blocked={} bytes/state={:.1} seconds={seconds:.3} Mstates/s={:.2}{}",
        model.name(),
        outcome.verdict,
        states,
        counts.transitions.unwrap_or(0),
        counts.blocked,
        counts.bytes.unwrap_or(0) as f64 / states as f64,
        states as f64 / seconds / 1e6,
        outcome.stop_reason.as_ref().map_or(String::new(), |reason| format!(" reason: {reason}")),
    );
}

fn run(outcome: &Outcome) {
    for finding in &outcome.findings {
        for step in &finding.run {
            println!("  P{} {:?} holds back {:?}", step.thread, step.action, step.held);
        }
        println!("  {}", finding.message);
    }
}
