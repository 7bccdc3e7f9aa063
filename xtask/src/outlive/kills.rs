//! One exploration, killed again and again; and what checkpoints cost.

use super::{answer, command, cpu, fencepost, median, number, subjects, timed, value};
use std::path::Path;
use std::time::{Duration, Instant, SystemTime};

/// SplitMix64.
fn random(state: &mut u64) -> f64 {
    *state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let mut z = *state;
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    ((z ^ (z >> 31)) >> 11) as f64 / (1u64 << 53) as f64
}

/// What came of an exploration that was killed.
struct Survived {
    answer: String,
    /// Seconds between the last checkpoint and each kill.
    lost: Vec<f64>,
    cpu: f64,
}

/// How long ago a file was written.
fn age(file: &Path) -> f64 {
    let written = std::fs::metadata(file).and_then(|data| data.modified());
    let age = written.ok().and_then(|time| SystemTime::now().duration_since(time).ok());
    age.map_or(0.0, |age| age.as_secs_f64())
}

/// Runs a command with a checkpoint, kills it after each of these times, and takes it up again.
fn killed(plain: &[&str], every: &str, waits: &mut dyn FnMut() -> Option<Duration>) -> Survived {
    let file = std::env::temp_dir().join(format!("fencepost-xtask-{}", std::process::id()));
    let _ = std::fs::remove_file(&file);
    let kept = file.display().to_string();
    let arguments =
        [plain, &["--checkpoint", &kept, "--resume", &kept, "--checkpoint-every", every]].concat();
    let (mut lost, before) = (Vec::new(), cpu());
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
        // Before the first checkpoint of this process, what is lost is what it has done.
        lost.push(age(&file).min(start.elapsed().as_secs_f64()));
        let _ = child.wait();
    };
    let _ = std::fs::remove_file(&file);
    Survived { answer: answer(&output), lost, cpu: cpu() - before }
}

/// One exploration, killed at random moments.
pub fn kills(arguments: &[String]) -> usize {
    let most = number(arguments, "--kills", 20);
    let every = value(arguments, "--every").unwrap_or("1");
    let mut differences = 0;
    for subject in subjects(arguments) {
        let plain = command(&subject);
        let plain: Vec<&str> = plain.iter().map(String::as_str).chain(["-j", "1"]).collect();
        let (output, alone, alone_cpu) = timed(&plain);
        let expected = answer(&output);
        let (mut state, mut left) = (7, most);
        let mut waits = || {
            left = left.checked_sub(1)?;
            // Random moments that leave something to do: a kill loses up to a period.
            let period = every.parse().unwrap_or(1.0);
            Some(Duration::from_secs_f64(
                0.2 + random(&mut state) * 2.0 * (alone / most as f64 + period / 2.0),
            ))
        };
        let Survived { answer, lost, cpu } = killed(&plain, every, &mut waits);
        let same = if answer == expected { "the same answer" } else { "ANOTHER ANSWER" };
        let [name, define, model] = subject;
        println!(
            "{name} {define} {model}: {alone:.1} s alone ({alone_cpu:.1} s of the processor); killed {} times with a \
             checkpoint every {every} s: {same}, {cpu:.1} s of the processor; lost by a kill {:.2} s (median), {:.2} s (most)",
            lost.len(),
            median(lost.clone()),
            lost.iter().copied().fold(0.0, f64::max)
        );
        if answer != expected {
            println!("  {expected}\n  {answer}");
            differences += 1;
        }
    }
    differences
}

/// Processor time with checkpoints at the default period, and without, one after the other.
pub fn cost(arguments: &[String]) -> usize {
    let runs = number(arguments, "--runs", 5);
    let mut differences = 0;
    println!(
        "| program | model | without | with checkpoints | ratio of the medians | least ratio of a pair | greatest |"
    );
    println!("|---|---|---|---|---|---|---|");
    for subject in subjects(arguments) {
        let plain = command(&subject);
        let plain: Vec<&str> = plain.iter().map(String::as_str).chain(["-j", "1"]).collect();
        let (mut without, mut with) = (Vec::new(), Vec::new());
        for _ in 0..runs {
            let (output, _, seconds) = timed(&plain);
            without.push(seconds);
            let every = value(arguments, "--every").unwrap_or("15");
            let kept = killed(&plain, every, &mut || None);
            with.push(kept.cpu);
            differences += usize::from(kept.answer != answer(&output));
        }
        let ratios: Vec<f64> = with.iter().zip(&without).map(|(with, without)| with / without).collect();
        let [name, define, model] = subject;
        let (least, most) =
            ratios.iter().fold((f64::MAX, 0.0), |(a, b): (f64, f64), &r| (a.min(r), b.max(r)));
        let (without, with) = (median(without), median(with));
        println!(
            "| `{name}` {define} | {model} | {without:.2} s | {with:.2} s | {:.3} | {least:.3} | {most:.3} |",
            with / without
        );
    }
    differences
}
