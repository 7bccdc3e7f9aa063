//! `reduce FILE.fp (--rounds K | --age K) [--c | --fp | --check]`: translates a program from TSO to SC, and prints the
//! result as `.fp` or C, or checks it. A tiny driver; the command line proper is `fencepost reduce`.

use fencepost_diag::SourceFile;
use fencepost_machine::{Model, check};
use fencepost_reduce::{Bound, Options, print_c, reduce_tso};

fn main() -> Result<(), String> {
    let mut bound = Bound::Age(2);
    let (mut file, mut form) = (String::new(), "--check".to_owned());
    let mut args = std::env::args().skip(1);
    while let Some(arg) = args.next() {
        let mut number =
            || args.next().and_then(|n| n.parse::<u32>().ok()).ok_or(format!("{arg} needs a number"));
        match arg.as_str() {
            "--rounds" => bound = Bound::Rounds(number()?.saturating_sub(1)),
            "--age" => bound = Bound::Age(number()?),
            "--c" | "--fp" | "--check" => form = arg,
            _ => file = arg,
        }
    }
    let text = std::fs::read_to_string(&file).map_err(|e| format!("{file}: {e}"))?;
    let program = fencepost_lang::parse(&text).map_err(|e| e.render(&SourceFile::new(&file, &text)))?;
    let reduced = reduce_tso(&program, &Options::new(bound)).map_err(|e| e.what)?;
    match form.as_str() {
        "--c" => print!("{}", print_c(&reduced)?),
        "--fp" => print!("{}", fencepost_lang::print(&reduced)?),
        _ => {
            let start = std::time::Instant::now();
            let outcome = check(&reduced, &fencepost_machine::Options::new(Model::Sc)).map_err(|e| e.what)?;
            let seconds = start.elapsed().as_secs_f64();
            println!(
                "{file} {bound:?} {:?} states={} seconds={seconds:.3}",
                outcome.outcome.verdict,
                outcome.outcome.statistics.states.unwrap_or(0)
            );
        }
    }
    Ok(())
}
