//! Verdicts and times of systems without an option: `times [-m MODEL] [-j N] [--brab N] FILE...`. One line per system: the
//! verdict, CPU seconds of all threads and of the main one, wall-clock seconds, nodes, restarts and from how many processes
//! clauses were inferred.
use fencepost_diag::SourceFile;
use fencepost_param::{Options, model::Model, prove};
use std::time::{Duration, Instant};

/// CPU time of this process, all threads, in seconds; the system counts in hundredths.
fn cpu() -> f64 {
    let text = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    let after_name = text.rsplit(')').next().unwrap_or_default();
    let fields: Vec<f64> = after_name.split_whitespace().map(|f| f.parse().unwrap_or(0.0)).collect();
    fields.get(11).copied().unwrap_or(0.0) / 100.0 + fields.get(12).copied().unwrap_or(0.0) / 100.0
}

/// CPU time of the main thread, in seconds. It takes part in all work that is shared, so on an idle machine this is about
/// the time that passes.
fn main_thread() -> f64 {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
    text.split_whitespace().next().and_then(|f| f.parse::<f64>().ok()).unwrap_or(0.0) / 1e9
}

fn main() {
    let mut args = std::env::args().skip(1);
    let mut options =
        Options { model: Model::Sc, timeout: Some(Duration::from_secs(120)), ..Options::default() };
    let mut files = Vec::new();
    while let Some(arg) = args.next() {
        let mut value = || args.next().expect("an option has a value");
        match arg.as_str() {
            "-m" => options.model = Model::by_name(&value()).expect("sc, tso or pso"),
            "-j" => options.jobs = value().parse().expect("a number of threads"),
            "--brab" => options.brab = Some(value().parse().expect("a number of processes")),
            "--timeout" => options.timeout = Some(Duration::from_secs(value().parse().expect("seconds"))),
            _ => files.push(arg),
        }
    }
    for file in files {
        let text = std::fs::read_to_string(&file).expect("the file can be read");
        let name = file.rsplit('/').next().unwrap_or(&file).to_string();
        let (before, main, started) = (cpu(), main_thread(), Instant::now());
        let outcome = prove(&SourceFile::new(name.clone(), text), &options, &mut |_| {}).expect("a system");
        let s = &outcome.statistics;
        println!(
            "{name:28} {:8} {:7.2} s CPU {:7.2} s main thread {:7.2} s wall {:7} nodes {:7} made {:4} restarts, \
                inferred {:?}, {:?} {:?}",
            format!("{:?}", outcome.verdict),
            cpu() - before,
            main_thread() - main,
            started.elapsed().as_secs_f64(),
            s.nodes,
            s.made,
            s.restarts,
            outcome.inference,
            outcome.recheck,
            outcome.stop_reason
        );
    }
}
