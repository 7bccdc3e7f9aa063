//! Two workers on a cluster against `-j 2` in one process, and what the network costs.

use super::{answer, cluster, command, fencepost, median, number, subjects};
use std::sync::atomic::AtomicBool;
use std::time::Instant;

static NEVER: AtomicBool = AtomicBool::new(false);

/// Wall time, answer and what was said.
fn run(arguments: &[&str]) -> (f64, String, String) {
    let start = Instant::now();
    let output = fencepost(arguments).output().expect("the binary runs");
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    (start.elapsed().as_secs_f64(), answer(&output), said)
}

/// Items and bytes of `note: 17 items on the cluster, 1549 bytes of results`.
fn noted(said: &str) -> (u64, u64) {
    let line = said.lines().find(|line| line.contains("items on the cluster")).unwrap_or("");
    let mut numbers = line.split(' ').filter_map(|word| word.parse().ok());
    (numbers.next().unwrap_or(0), numbers.next().unwrap_or(0))
}

/// The tables.
pub fn speed(arguments: &[String]) -> usize {
    let runs = number(arguments, "--runs", 3);
    let folder = std::env::temp_dir().join(format!("fencepost-xtask-speed-{}", std::process::id()));
    let Some((nodes, address)) = cluster(&folder) else {
        println!("there is no nats-server here");
        return 1;
    };
    let mut differences = 0;
    println!("| program | model | `-j 2` | two workers on a cluster | ratio | items | bytes per result |");
    println!("|---|---|---|---|---|---|---|");
    for subject in subjects(arguments) {
        let plain = command(&subject);
        let plain: Vec<&str> = plain.iter().map(String::as_str).collect();
        let (mut here, mut there, mut items, mut bytes) = (Vec::new(), Vec::new(), 0, 0);
        for _ in 0..runs {
            let (seconds, expected, _) = run(&[&plain[..], &["-j", "2"]].concat());
            here.push(seconds);
            let (seconds, found, said) = run(&[&plain[..], &["--cluster", &address]].concat());
            there.push(seconds);
            let (new_items, new_bytes) = noted(&said);
            (items, bytes) = (items + new_items, bytes + new_bytes);
            if found != expected {
                println!("DIFFERENT\n  {expected}\n  {found}");
                differences += 1;
            }
        }
        let (here, there) = (median(here), median(there));
        println!(
            "| `{}` {} | {} | {here:.1} s | {there:.1} s | {:.2} | {} | {} |",
            subject[0],
            subject[1],
            subject[2],
            there / here,
            items / runs as u64,
            bytes / items.max(1)
        );
    }
    // The workers would take what is measured now.
    let (server, workers): (Vec<_>, Vec<_>) = nodes.into_iter().enumerate().partition(|(at, _)| *at == 0);
    drop(workers);
    match fencepost_cluster::connect(&address, &fencepost_cluster::Login::default(), None, &NEVER) {
        Ok(cluster) => costs(&cluster),
        Err(error) => {
            println!("{error}");
            differences += 1;
        }
    }
    drop(server);
    let _ = std::fs::remove_dir_all(&folder);
    differences
}

/// What single things cost.
fn costs(cluster: &fencepost_cluster::Cluster) {
    println!("\n| what | measured |\n|---|---|");
    match cluster.measure() {
        Ok(lines) => lines.iter().for_each(|(what, figure)| println!("| {what} | {figure} |")),
        Err(error) => println!("| not measured | {error} |"),
    }
}
