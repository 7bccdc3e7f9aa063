//! The comparison of the search with the explicit machine on random systems:
//! `campaign [FROM] [COUNT] [--show]`. With `--show` it prints the systems instead. Otherwise it prints a summary, and every
//! system on which the two differ; exit code 1 if any does.

#[path = "../tests/common/differential.rs"]
mod differential;
#[path = "../tests/common/generate.rs"]
#[allow(dead_code)]
mod generate;

fn main() {
    let args: Vec<u64> = std::env::args().skip(1).filter_map(|a| a.parse().ok()).collect();
    let (from, count) = (args.first().copied().unwrap_or(0), args.get(1).copied().unwrap_or(1000));
    if std::env::args().any(|a| a == "--show") {
        for seed in from..from + count {
            println!(
                "{}\n{}",
                generate::fixed(seed, 2 + seed % 2, 4 - seed % 2),
                generate::parameterized(seed, 3)
            );
        }
        return;
    }
    let started = std::time::Instant::now();
    let mut tally = differential::Tally::default();
    let only_rich = std::env::args().any(|a| a == "--rich");
    for seed in from..from + count {
        if only_rich {
            differential::rich_system(seed, &mut tally);
            continue;
        }
        differential::fixed_system(seed, &mut tally);
        differential::parameterized_system(seed, &mut tally);
        differential::rich_system(seed, &mut tally);
    }
    for difference in &tally.differences {
        println!("{difference}\n");
    }
    println!("{} in {:.1} s", tally.summary(), started.elapsed().as_secs_f64());
    std::process::exit(i32::from(!tally.differences.is_empty()));
}
