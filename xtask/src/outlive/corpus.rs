//! The C corpus: alone, interrupted several times, and on a cluster of two workers.

use super::{answer, cluster, fencepost, number, value};
use std::path::PathBuf;
use std::time::Instant;

const MODELS: [&str; 8] = ["sc", "tso", "pso", "ra", "rc11", "rc20", "power", "armv8"];

/// How often a program is interrupted, about.
const TIMES: u64 = 6;

/// Programs with what is defined for them.
fn programs() -> Vec<(String, Vec<String>)> {
    let mut found = Vec::new();
    for folder in ["crates/c/corpus", "crates/c/corpus/answers", "../shared/c/answers"] {
        let Ok(entries) = std::fs::read_dir(folder) else { continue };
        let names = entries.filter_map(|entry| Some(entry.ok()?.path().display().to_string()));
        found.extend(names.filter(|name| name.ends_with(".c")).map(|name| (name, Vec::new())));
    }
    // Programs whose cost says something have defines in a table beside them.
    let table = std::fs::read_to_string("../shared/c/growth.tsv").unwrap_or_default();
    for line in table.lines() {
        let fields: Vec<&str> = line.split('\t').collect();
        let file =
            PathBuf::from("../shared/c/growth").join(format!("{}.c", fields[0].trim_end_matches(".c")));
        if file.exists() && fields.len() > 1 {
            let defines = fields[1].split_whitespace().filter(|word| word.contains('='));
            let defines = defines.map(|word| format!("-D{}", word.trim_start_matches("-D")));
            found.push((file.display().to_string(), defines.collect()));
        }
    }
    found.sort();
    found.dedup();
    found
}

/// The answer after it was interrupted again and again, each time in another process; and how often that was.
fn interrupted(plain: &[&str], visits: u64) -> (String, usize) {
    let file = std::env::temp_dir().join(format!("fencepost-xtask-corpus-{}", std::process::id()));
    let _ = std::fs::remove_file(&file);
    let (kept, visits) = (file.display().to_string(), visits.to_string());
    let arguments =
        [plain, &["--checkpoint", &kept, "--resume", &kept, "--interrupt-after", &visits, "-j", "1"]]
            .concat();
    let mut times = 0;
    loop {
        let output = fencepost(&arguments).output().expect("it runs");
        if times < 1000 && String::from_utf8_lossy(&output.stdout).contains("error: interrupted after") {
            times += 1;
            continue;
        }
        let _ = std::fs::remove_file(&file);
        return (answer(&output), times);
    }
}

/// The number behind a key of an answer.
fn field(answer: &str, key: &str) -> Option<u64> {
    let (_, after) = answer.split_once(&format!("\"{key}\":"))?;
    after.split(|c: char| !c.is_ascii_digit()).next()?.parse().ok()
}

#[derive(Default)]
struct Totals {
    compared: usize,
    interrupted: usize,
    times: usize,
    shared: usize,
    refused: usize,
    limits: usize,
    /// The time was up in one of the other ways.
    late: usize,
    differences: usize,
}

/// The C corpus in three ways.
pub fn corpus(arguments: &[String]) -> usize {
    let (every, most) = (number(arguments, "--every", 1), number(arguments, "--executions", 3_000));
    let from = number(arguments, "--from", 0);
    let most = most.to_string();
    let folder = std::env::temp_dir().join(format!("fencepost-xtask-nats-{}", std::process::id()));
    let nodes = cluster(&folder);
    if nodes.is_none() {
        println!("there is no nats-server here: nothing is compared with a cluster");
    }
    let (mut totals, start) = (Totals::default(), Instant::now());
    let programs = programs();
    for (index, (program, defines)) in programs.iter().enumerate().skip(from).step_by(every) {
        for model in
            MODELS.into_iter().filter(|model| value(arguments, "--model").is_none_or(|m| m == *model))
        {
            for all in [&[][..], &["--all"]] {
                let fixed =
                    ["check", program, "--engine", "explore", "-m", model, "--json", "--timeout", "5"];
                let defines: Vec<&str> = defines.iter().map(String::as_str).collect();
                let plain = [&fixed[..], &defines, all].concat();
                let limit = ["-j", "1", "--max-executions", &most];
                let output = fencepost(&[&plain[..], &limit].concat()).output().expect("it runs");
                let expected = answer(&output);
                compare(&mut totals, &plain, &expected, nodes.as_ref().map(|(_, address)| address.as_str()));
            }
        }
        if index % 20 == 19 {
            println!("{} programs of {}, {} s", index + 1, programs.len(), start.elapsed().as_secs());
        }
    }
    drop(nodes);
    let _ = std::fs::remove_dir_all(&folder);
    let Totals { compared, interrupted, times, shared, refused, limits, late, differences } = totals;
    println!(
        "{compared} answers compared with those of one process: {interrupted} interrupted {times} times in all, {shared} on \
         the cluster; {limits} hit a limit alone, {late} only so, {refused} were refused; {} s",
        start.elapsed().as_secs()
    );
    differences
}

fn compare(totals: &mut Totals, plain: &[&str], expected: &str, server: Option<&str>) {
    if expected.contains("\"stop_reason\"") {
        totals.limits += 1;
        return;
    }
    let Some(nodes) = field(expected, "nodes") else {
        totals.refused += 1;
        return;
    };
    let (found, times) = interrupted(plain, nodes / TIMES + 1);
    totals.interrupted += usize::from(times > 0);
    totals.times += times;
    let mut ways = vec![("interrupted", found)];
    if let Some(address) = server {
        let output =
            fencepost(&[plain, &["--cluster", address, "--explore-first", "0.001"]].concat()).output();
        let output = output.expect("it runs");
        totals.shared +=
            usize::from(String::from_utf8_lossy(&output.stderr).contains("items on the cluster"));
        ways.push(("cluster", answer(&output)));
    }
    for (way, found) in ways {
        if found.contains("\"stop_reason\"") {
            totals.late += 1;
            continue;
        }
        totals.compared += 1;
        if found != expected {
            totals.differences += 1;
            println!("DIFFERENT {way}: {}\n  {expected}\n  {found}", plain.join(" "));
        }
    }
}
