//! A line on the terminal that says how far an exploration is. It appears after half a second, goes when the work is
//! done, and is not there at all if standard error is no terminal.

use fencepost_explore::Progress;
use indicatif::{ProgressBar, ProgressStyle};
use std::io::IsTerminal;
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// What the explorer tells while it runs.
pub static PROGRESS: Progress = Progress::new();

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
    /// A line about this piece of work.
    pub fn new(name: &str) -> Line {
        let done = Arc::new((Mutex::new(false), Condvar::new()));
        let (theirs, name) = (done.clone(), name.to_string());
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
        bar.set_message(text(name, &PROGRESS, start.elapsed()));
        bar.tick();
        if wait(done, PERIOD) {
            return bar.finish_and_clear();
        }
    }
}

/// `dekker.c: 12345 executions, 4000 per second, about 50000 in all`.
fn text(name: &str, progress: &Progress, time: Duration) -> String {
    let stats = progress.stats();
    let rate = stats.executions as f64 / time.as_secs_f64().max(0.001);
    let estimate = match progress.estimate() {
        Some(total) if total > stats.executions => format!(", about {} in all", rounded(total)),
        _ => String::new(),
    };
    format!("{name}: {} executions, {} per second{estimate}", stats.executions, rounded(rate as u64))
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
        assert_eq!(text("a.c", &Progress::new(), Duration::from_secs(1)), "a.c: 0 executions, 0 per second");
    }
}
