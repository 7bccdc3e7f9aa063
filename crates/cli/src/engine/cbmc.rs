//! An installed CBMC as the back end of a reduction: the reduced program goes to it as sequential C.

use super::Question;
use super::bmc::unplaced;
use crate::input::Trouble;
use fencepost_answer::{Bound, BoundName, Limit, Outcome, StopReason};
use fencepost_reduce::sequential::Sequential;
use std::io::Read;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// Exit codes of CBMC.
const SUCCESSFUL: i32 = 0;
const FAILED: i32 = 10;

/// How much of what the tool says is shown.
const SHOWN: usize = 600;

/// Runs CBMC on a printed program. Loops that are left in it are unwound so often, and one that goes on is a failure, which the
/// caller
/// does not find again.
pub fn run(question: &Question<'_>, printed: &Sequential, unwind: u32) -> Result<Outcome, Trouble> {
    let path = std::env::temp_dir().join(format!("fencepost-{}-{}.c", std::process::id(), number()));
    std::fs::write(&path, &printed.text)
        .map_err(|error| format!("error: cannot write {}: {error}", path.display()))?;
    let ended = ended(&path, unwind, question.deadline());
    let _ = std::fs::remove_file(&path);
    let mut bounds = Vec::new();
    if printed.cut {
        bounds.push(Bound::new(BoundName::Unroll, question.options.unroll));
    }
    bounds.extend(printed.contexts.map(|contexts| Bound::new(BoundName::Contexts, contexts)));
    let found = |what: &str| Outcome::new(vec![unplaced(what.into())], None, Vec::new());
    Ok(match ended.map_err(Trouble::from)? {
        Ended::Late => Outcome::unknown(question.stop(Limit::Timeout)),
        // A reduction has a bound: beyond it the state may exist.
        Ended::With(SUCCESSFUL, _) if printed.exists => Outcome::unknown(StopReason::NoneWithinBounds),
        Ended::With(SUCCESSFUL, _) => Outcome::new(Vec::new(), None, bounds),
        Ended::With(FAILED, _) if printed.exists => Outcome::new(Vec::new(), None, Vec::new()),
        Ended::With(FAILED, _) => found("CBMC finds a failure"),
        Ended::With(code, said) => Outcome::unknown(StopReason::Unsupported(format!(
            "cbmc ends with exit code {code} and no verdict; it says: {said}"
        ))),
    })
}

/// Several files at once must not have one name.
fn number() -> u64 {
    static NEXT: std::sync::atomic::AtomicU64 = std::sync::atomic::AtomicU64::new(0);
    NEXT.fetch_add(1, std::sync::atomic::Ordering::Relaxed)
}

enum Ended {
    /// The time was over.
    Late,
    /// The exit code, and the last of what it said.
    With(i32, String),
}

fn ended(path: &Path, unwind: u32, deadline: Option<Instant>) -> Result<Ended, String> {
    let unwind = unwind.to_string();
    let mut child = Command::new("cbmc")
        .args(["--unwind", &unwind, "--unwinding-assertions", "--no-standard-checks", "--verbosity", "6"])
        .arg(path)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .map_err(|error| {
            format!("error: cannot run `cbmc`: {error}\n  --backend cbmc needs an installed CBMC; --backend bmc needs none")
        })?;
    // Both are read while it runs: a pipe that nobody empties would stop it.
    let said = [reader(child.stdout.take()), reader(child.stderr.take())];
    let code = wait(&mut child, deadline).map_err(|error| format!("error: cannot wait for cbmc: {error}"))?;
    let said: Vec<String> = said.into_iter().map(|said| said.join().unwrap_or_default()).collect();
    Ok(match code {
        None => Ended::Late,
        Some(code) => Ended::With(code, last_words(&said.concat())),
    })
}

fn reader(stream: Option<impl Read + Send + 'static>) -> std::thread::JoinHandle<String> {
    std::thread::spawn(move || {
        let mut text = Vec::new();
        if let Some(mut stream) = stream {
            let _ = stream.read_to_end(&mut text);
        }
        String::from_utf8_lossy(&text).into_owned()
    })
}

/// The end of a text, in whole lines, on one line.
fn last_words(text: &str) -> String {
    let mut lines = Vec::new();
    let mut length = 0;
    for line in text.lines().rev().map(str::trim).filter(|line| !line.is_empty()) {
        length += line.len();
        if length > SHOWN {
            break;
        }
        lines.push(line);
    }
    lines.reverse();
    lines.join("; ")
}

/// The exit code; nothing if the time is over.
fn wait(child: &mut Child, deadline: Option<Instant>) -> std::io::Result<Option<i32>> {
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok(Some(status.code().unwrap_or(-1)));
        }
        if deadline.is_some_and(|deadline| Instant::now() >= deadline) || crate::check::is_interrupted() {
            child.kill()?;
            child.wait()?;
            return Ok(None);
        }
        std::thread::sleep(Duration::from_millis(20));
    }
}
