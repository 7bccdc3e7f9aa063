//! Compiling the program of a test, running it, and reading what it counted.

use crate::Refused;
use fencepost_ir::Value;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// How a test is compiled.
pub struct Build<'a> {
    /// The C compiler.
    pub compiler: &'a str,
    /// Where the program goes, and its text.
    pub folder: &'a Path,
    /// The name of both files.
    pub name: &'a str,
}

/// Compiles the text of a program, and says where the program is.
///
/// # Errors
/// If there is no compiler, or it does not take the text.
pub fn build(text: &str, how: &Build<'_>) -> Result<PathBuf, Refused> {
    let source = how.folder.join(format!("{}.c", how.name));
    let program = how.folder.join(how.name);
    std::fs::write(&source, text)
        .map_err(|error| Refused::System(format!("cannot write {}: {error}", source.display())))?;
    // The frame pointer is a register like others; what is written is all there is to see.
    let output = Command::new(how.compiler)
        .args(["-std=gnu11", "-O2", "-w", "-fomit-frame-pointer", "-pthread", "-o"])
        .arg(&program)
        .arg(&source)
        .output()
        .map_err(|_| Refused::NoCompiler(how.compiler.to_owned()))?;
    match output.status.success() {
        true => Ok(program),
        false => Err(Refused::Compiler(first_lines(&String::from_utf8_lossy(&output.stderr)))),
    }
}

fn first_lines(text: &str) -> String {
    text.lines().take(6).map(|line| format!("  {line}\n")).collect()
}

/// How long a test runs.
#[derive(Clone, Debug)]
pub struct Limits {
    /// How often at least.
    pub times: u64,
    /// How long at most.
    pub time: Option<Duration>,
    /// The cores that threads are put on.
    pub cores: Vec<usize>,
    /// Where the random order begins.
    pub seed: u64,
}

/// What was seen.
#[derive(Clone, PartialEq, Debug)]
pub struct Seen {
    /// Final states, and how often.
    pub states: Vec<(Vec<Value>, u64)>,
    /// How often the test was run.
    pub runs: u64,
    /// How long that took.
    pub time: Duration,
}

/// A test that is over its time is given this long to say what it saw.
const GRACE: Duration = Duration::from_secs(5);
/// How often is looked whether it ended.
const PAUSE: Duration = Duration::from_millis(5);

/// Runs a program that [`build`] made, until it ends or `is_interrupted`.
///
/// # Errors
/// If it cannot be started or does not end.
pub fn run(program: &Path, limits: &Limits, is_interrupted: &dyn Fn() -> bool) -> Result<Seen, Refused> {
    let time = limits.time.map_or(0, |time| time.as_nanos().max(1));
    let mut child = Command::new(program)
        .args([limits.times.to_string(), time.to_string(), limits.seed.to_string()])
        .args(limits.cores.iter().map(usize::to_string))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .map_err(|error| Refused::System(format!("the compiled test cannot be started: {error}")))?;
    // The end of its input asks it to stop; a full pipe would keep it from ending.
    let mut input = child.stdin.take();
    let output = child.stdout.take().map(|mut output| {
        std::thread::spawn(move || {
            let mut text = String::new();
            output.read_to_string(&mut text).map(|_| text)
        })
    });
    let mut last = limits.time.map(|time| Instant::now() + time + GRACE);
    let status = loop {
        match child.try_wait() {
            Ok(Some(status)) => break status,
            Ok(None) => {}
            Err(_) => return Err(end(child)),
        }
        if input.is_some() && is_interrupted() {
            input = None;
            last = Some(Instant::now() + GRACE);
        }
        if last.is_some_and(|last| Instant::now() > last) {
            return Err(end(child));
        }
        std::thread::sleep(PAUSE);
    };
    let text = output.and_then(|reader| reader.join().ok()).and_then(Result::ok).unwrap_or_default();
    match status.code() {
        Some(0) => read(&text).ok_or(Refused::Lost("printed something else than its states")),
        Some(3) => Err(Refused::Lost("has more final states than can be counted")),
        Some(_) => Err(Refused::Lost("did not get its memory or its threads")),
        None => Err(Refused::Lost("crashed")),
    }
}

fn end(mut child: Child) -> Refused {
    let _ = child.kill();
    let _ = child.wait();
    Refused::Lost("does not end")
}

/// Runs and nanoseconds, then a line of its count and values for each state.
fn read(text: &str) -> Option<Seen> {
    let mut lines = text.lines();
    let mut head = lines.next()?.split(' ');
    let runs = head.next()?.parse().ok()?;
    let time = Duration::from_nanos(head.next()?.parse().ok()?);
    let states = lines
        .map(|line| {
            let mut numbers = line.split(' ').map(|number| number.parse::<u64>().ok());
            let count = numbers.next()??;
            Some((numbers.map(|number| number.map(Value)).collect::<Option<Vec<_>>>()?, count))
        })
        .collect::<Option<Vec<_>>>()?;
    (states.iter().map(|(_, count)| count).sum::<u64>() == runs).then_some(Seen { states, runs, time })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_have_to_add_up() {
        let seen = read("3 500 0\n1 0 1\n2 1 1\n").expect("it is what a test prints");
        assert_eq!(seen.states, [(vec![Value(0), Value(1)], 1), (vec![Value(1), Value(1)], 2)]);
        assert_eq!(read("3 500 0\n1 0 1\n"), None);
        assert_eq!(read(""), None);
    }
}
