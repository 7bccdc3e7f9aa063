//! A line on the terminal that says how far an engine is. It appears after half a second, goes when the work is
//! done, and is not there at all if standard error is no terminal.
//!
//! Only the explorer can estimate how much there is in all. The others say what they have done, and which of the bounds
//! they are at: how long a solver or a search of states will take is not known, and nothing is claimed.

use fencepost_explore::Progress;
use fencepost_machine::search;
use indicatif::{ProgressBar, ProgressStyle};
use std::io::IsTerminal;
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// What the explorer tells while it runs.
pub static PROGRESS: Progress = Progress::new();

/// What another engine has told last.
static NOTE: Mutex<String> = Mutex::new(String::new());

/// Tells how far an engine is that is not the explorer.
pub fn note(text: String) {
    *NOTE.lock().unwrap_or_else(PoisonError::into_inner) = text;
}

/// A line about this piece of work, if somebody watches.
pub fn line(name: &str, quiet: bool) -> Option<Line> {
    is_watched(quiet).then(|| Line::new(name))
}

/// Tells about the states of a machine.
pub fn of_states(progress: search::Progress) {
    let search::Progress { states, bytes, elapsed } = progress;
    let rate = states as f64 / elapsed.as_secs_f64().max(0.001);
    note(format!("{states} states, {} per second, {} MB", rounded(rate as u64), bytes / 1_000_000));
}

const PATIENCE: Duration = Duration::from_millis(500);
const PERIOD: Duration = Duration::from_millis(200);

/// Whether somebody watches.
pub fn is_watched(quiet: bool) -> bool {
    !quiet && std::io::stderr().is_terminal()
}

/// Draws the line until it is dropped.
pub struct Line {
    done: Arc<(Mutex<bool>, Condvar)>,
    drawer: Option<JoinHandle<()>>,
}

impl Line {
    fn new(name: &str) -> Line {
        let done = Arc::new((Mutex::new(false), Condvar::new()));
        let (theirs, name) = (done.clone(), name.to_string());
        note(String::new());
        let drawer = std::thread::Builder::new().spawn(move || draw(&name, &theirs));
        Line { done, drawer: drawer.ok() }
    }
}

impl Drop for Line {
    fn drop(&mut self) {
        *self.done.0.lock().unwrap_or_else(PoisonError::into_inner) = true;
        self.done.1.notify_all();
        if let Some(drawer) = self.drawer.take() {
            let _ = drawer.join();
        }
    }
}

/// Waits; true when the work is done.
fn wait((done, wake): &(Mutex<bool>, Condvar), time: Duration) -> bool {
    let done = done.lock().unwrap_or_else(PoisonError::into_inner);
    let (done, _) =
        wake.wait_timeout_while(done, time, |done| !*done).unwrap_or_else(PoisonError::into_inner);
    *done
}

fn draw(name: &str, done: &(Mutex<bool>, Condvar)) {
    let start = Instant::now();
    if wait(done, PATIENCE) {
        return;
    }
    let bar = ProgressBar::new_spinner();
    if let Ok(style) = ProgressStyle::with_template("{spinner} {wide_msg}") {
        bar.set_style(style);
    }
    loop {
        let said = NOTE.lock().unwrap_or_else(PoisonError::into_inner).clone();
        bar.set_message(text(name, &said, &PROGRESS, start.elapsed()));
        bar.tick();
        if wait(done, PERIOD) {
            return bar.finish_and_clear();
        }
    }
}

/// `dekker.c: 12345 executions, 4000 per second, about 50000 in all`; or what another engine has said, and for how long it
/// has been at work.
fn text(name: &str, said: &str, progress: &Progress, time: Duration) -> String {
    let stats = progress.stats();
    if !said.is_empty() || stats.executions == 0 {
        let said = if said.is_empty() { String::new() } else { format!("{said}, ") };
        return format!("{name}: {said}{} s", time.as_secs());
    }
    let rate = stats.executions as f64 / time.as_secs_f64().max(0.001);
    let estimate = match progress.estimate() {
        Some(total) if total > stats.executions => format!(", about {} in all", rounded(total)),
        _ => String::new(),
    };
    let (count, rate) = (stats.executions, rounded(rate as u64));
    format!("{name}: {count} execution{}, {rate} per second{estimate}", if count == 1 { "" } else { "s" })
}

/// Two digits are as much as an estimate is worth.
pub fn rounded(number: u64) -> String {
    let magnitude = 10u64.pow(number.checked_ilog10().unwrap_or(0).saturating_sub(1));
    match number / magnitude * magnitude {
        n if n >= 10_000_000_000 => format!("{:.1e}", n as f64),
        n => n.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn estimates_are_rounded() {
        assert_eq!(rounded(0), "0");
        assert_eq!(rounded(7), "7");
        assert_eq!(rounded(1234), "1200");
        assert_eq!(rounded(123_456_789_012), "1.2e11");
    }

    #[test]
    fn the_line_names_the_work() {
        let line = |said| text("a.c", said, &Progress::new(), Duration::from_secs(7));
        assert_eq!(line(""), "a.c: 7 s");
        assert_eq!(line("contexts 3 of 5"), "a.c: contexts 3 of 5, 7 s");
    }
}
