//! `cargo xtask outlive PART`: explorations that are killed, resumed and shared out, for as long as it takes.
//!
//! - `kills [--kills N] [--seconds S] [--model M]`: one exploration, killed at N random moments and taken up again each time;
//! - `mutants [--cases N]`: altered items and checkpoints;
//! - `corpus [--every N]`: the C corpus alone, with a kill after every second, and on a cluster of two workers (needs `nats-server`).
//!
//! The binary is the one beside this. Each part prints what it compared, and ends with 1 if something differs.

use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitCode, Output, Stdio};
use std::time::{Duration, Instant};

/// The answer to a command line as JSON, without what depends on the time.
fn answer(output: &Output) -> String {
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let without = |text: String, key: &str| match text.split_once(key) {
        Some((before, after)) => {
            let end = after.find([',', '}']).unwrap_or(after.len());
            format!("{before}{}", &after[end..])
        }
        None => text,
    };
    let text = without(text, "\"seconds\":");
    format!("{:?} {text}", output.status.code())
}

fn binary() -> PathBuf {
    let own = std::env::current_exe().unwrap_or_default();
    own.parent().unwrap_or(Path::new(".")).join("fencepost")
}

fn fencepost(arguments: &[&str]) -> Command {
    let mut command = Command::new(binary());
    command.args(arguments).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

/// Seconds of the processor that ended children have used.
fn cpu() -> f64 {
    let text = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    let fields: Vec<&str> = text.rsplit(')').next().unwrap_or("").split_whitespace().collect();
    let ticks = |at: usize| fields.get(at).and_then(|field| field.parse::<f64>().ok()).unwrap_or(0.0);
    (ticks(13) + ticks(14)) / 100.0
}

fn timed(arguments: &[&str]) -> (Output, f64, f64) {
    let (start, before) = (Instant::now(), cpu());
    let output = fencepost(arguments).output().expect("the binary runs");
    (output, start.elapsed().as_secs_f64(), cpu() - before)
}

/// SplitMix64.
fn random(state: &mut u64) -> f64 {
    *state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let mut z = *state;
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    ((z ^ (z >> 31)) >> 11) as f64 / (1u64 << 53) as f64
}

/// Runs a command with a checkpoint, kills it after each of these times, and takes it up again: answer, kills, processor time.
fn killed(plain: &[&str], every: &str, waits: &mut dyn FnMut() -> Option<Duration>) -> (String, usize, f64) {
    let file = std::env::temp_dir().join(format!("fencepost-xtask-{}", std::process::id()));
    let _ = std::fs::remove_file(&file);
    let kept = file.display().to_string();
    let arguments =
        [plain, &["--checkpoint", &kept, "--resume", &kept, "--checkpoint-every", every]].concat();
    let (mut kills, before) = (0, cpu());
    let output = loop {
        let mut child = fencepost(&arguments).spawn().expect("the binary runs");
        let Some(wait) = waits() else { break child.wait_with_output().expect("it ends") };
        let start = Instant::now();
        while start.elapsed() < wait && child.try_wait().expect("a state").is_none() {
            std::thread::sleep(Duration::from_millis(5));
        }
        if child.try_wait().expect("a state").is_some() {
            break child.wait_with_output().expect("it ends");
        }
        child.kill().expect("it is killed");
        let _ = child.wait();
        kills += 1;
    };
    let _ = std::fs::remove_file(&file);
    (answer(&output), kills, cpu() - before)
}

fn number(arguments: &[String], name: &str, default: usize) -> usize {
    let at = arguments.iter().position(|argument| argument == name);
    at.and_then(|at| arguments.get(at + 1)?.parse().ok()).unwrap_or(default)
}

/// One exploration, killed again and again.
fn kills(arguments: &[String]) -> usize {
    let most = number(arguments, "--kills", 20);
    let given = arguments.iter().position(|argument| argument == "--model");
    let models: Vec<&str> = match given.and_then(|at| arguments.get(at + 1)) {
        Some(model) => vec![model],
        None => vec!["rc11", "power"],
    };
    let define = format!("-DN={}", number(arguments, "--threads", 10));
    let mut differences = 0;
    for model in models {
        let program = "crates/c/corpus/count_fetch_add.c";
        let plain = ["check", program, "--engine", "explore", "-m", model, &define, "--json", "-j", "1"];
        let (output, alone, alone_cpu) = timed(&plain);
        let expected = answer(&output);
        let (kept, _, kept_cpu) = killed(&plain, "15", &mut || None);
        println!(
            "{model}: {alone:.1} s, {alone_cpu:.1} s of the processor; with checkpoints {kept_cpu:.1} s ({:+.1}%)",
            100.0 * (kept_cpu / alone_cpu - 1.0)
        );
        differences += usize::from(kept != expected);
        let (mut state, mut left) = (7, most);
        let mut waits = || {
            left = left.checked_sub(1)?;
            // Random moments that leave something to do: a kill loses up to a period.
            Some(Duration::from_secs_f64(0.2 + random(&mut state) * 2.0 * alone / most as f64))
        };
        let (survivor, kills, cpu) = killed(&plain, "1", &mut waits);
        let same = if survivor == expected { "the same answer" } else { "ANOTHER ANSWER" };
        println!("{model}: killed {kills} times, {cpu:.1} s of the processor with a period of 1 s: {same}");
        if survivor != expected {
            println!("  {expected}\n  {survivor}");
            differences += 1;
        }
    }
    differences
}

/// Altered bytes.
fn mutants(arguments: &[String]) -> usize {
    let cases = number(arguments, "--cases", 100_000);
    let status = Command::new("cargo")
        .args(["test", "-p", "fencepost-explore", "--test", "items", "altered"])
        .env("FENCEPOST_CASES", cases.to_string())
        .status();
    println!("{cases} altered items and {cases} altered checkpoints, and as many with a checksum that fits");
    usize::from(!status.is_ok_and(|status| status.success()))
}

/// Ends a process when it is dropped.
struct Ends(Child);

impl Drop for Ends {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// A server and two workers on this machine, and its address.
fn cluster(folder: &Path) -> Option<(Vec<Ends>, String)> {
    let port = std::net::TcpListener::bind(("127.0.0.1", 0)).ok()?.local_addr().ok()?.port();
    let server = Command::new("nats-server")
        .args(["-a", "127.0.0.1", "-p", &port.to_string(), "-js", "-sd"])
        .arg(folder)
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .ok()?;
    let mut all = vec![Ends(server)];
    let address = format!("nats://127.0.0.1:{port}");
    std::thread::sleep(Duration::from_millis(500));
    for _ in 0..2 {
        let mut worker = fencepost(&["worker", &address, "--jobs", "1"]);
        all.push(Ends(worker.stdout(Stdio::null()).stderr(Stdio::null()).spawn().ok()?));
    }
    Some((all, address))
}

/// The C corpus in three ways.
fn corpus(arguments: &[String]) -> usize {
    let every = number(arguments, "--every", 1);
    let mut programs: Vec<String> = std::fs::read_dir("crates/c/corpus")
        .expect("the corpus is there")
        .filter_map(|entry| Some(entry.ok()?.path().display().to_string()))
        .filter(|name| name.ends_with(".c"))
        .collect();
    programs.sort();
    let folder = std::env::temp_dir().join(format!("fencepost-xtask-nats-{}", std::process::id()));
    let nodes = cluster(&folder);
    if nodes.is_none() {
        println!("there is no nats-server here: nothing is compared with a cluster");
    }
    let (mut differences, mut compared, mut resumed, mut limits) = (0, 0, 0, 0);
    for (index, program) in programs.iter().step_by(every).enumerate() {
        let model = ["rc11", "power", "tso", "rc20", "armv8"][index % 5];
        for all in [&[][..], &["--all"]] {
            let fixed = ["check", program, "--engine", "explore", "-m", model, "--json", "--timeout", "60"];
            let plain = [&fixed[..], all].concat();
            let output = fencepost(&[&plain[..], &["-j", "1"]].concat()).output().expect("it runs");
            let expected = answer(&output);
            if expected.contains("\"stop_reason\"") {
                limits += 1;
                continue;
            }
            let mut again = || Some(Duration::from_secs(1));
            let (kept, kills, _) = killed(&[&plain[..], &["-j", "1"]].concat(), "0.3", &mut again);
            resumed += kills;
            let mut ways = vec![("resumed", kept)];
            if let Some((_, address)) = &nodes {
                let output = fencepost(&[&plain[..], &["--cluster", address]].concat()).output();
                ways.push(("cluster", answer(&output.expect("it runs"))));
            }
            for (way, found) in ways {
                compared += 1;
                if found != expected {
                    differences += 1;
                    println!("{program} -m {model} {all:?} {way}:\n  {expected}\n  {found}");
                }
            }
        }
    }
    let _ = std::fs::remove_dir_all(&folder);
    println!("{compared} answers compared, killed and resumed {resumed} times, {limits} hit a limit alone");
    differences
}

/// Runs the command.
pub fn run(arguments: impl Iterator<Item = String>) -> ExitCode {
    let arguments: Vec<String> = arguments.collect();
    let differences = match arguments.first().map(String::as_str) {
        Some("kills") => kills(&arguments),
        Some("mutants") => mutants(&arguments),
        Some("corpus") => corpus(&arguments),
        _ => {
            eprintln!("usage: cargo xtask outlive kills|mutants|corpus [--kills N] [--cases N] [--every N]");
            return ExitCode::from(3);
        }
    };
    println!("{differences} differences");
    ExitCode::from(u8::from(differences > 0))
}
