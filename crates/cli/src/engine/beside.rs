//! A second engine beside the first: where an exploration takes long, a formula may have the answer at once.
//!
//! The second one begins when the first has had two seconds. A mistake that it finds is the answer. That nothing is wrong is
//! one only when the first has had ten seconds: it would look for more kinds of mistakes. An answer of the first is kept in any
//! case.

use super::{Engine, Question};
use crate::args::CheckArgs;
use crate::check::Interrupt;
use fencepost_answer::{Outcome, Verdict};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

/// What the first engine has for itself.
const ALONE: Duration = Duration::from_secs(2);

/// How long the first engine may go on when the second one has found nothing.
const WAITS: Duration = Duration::from_secs(10);

/// Why the second one answered.
const EARLIER: &str = "explore had not ended after two seconds";
const LESS: &str = "explore, which looks for more, had not ended after ten seconds";

/// Whether the first engine is done, for the second one to wait for.
#[derive(Default)]
struct Done {
    is_done: Mutex<bool>,
    changed: Condvar,
}

impl Done {
    fn lock(&self) -> MutexGuard<'_, bool> {
        self.is_done.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn tell(&self) {
        *self.lock() = true;
        self.changed.notify_all();
    }

    /// Whether it is done by then.
    fn by(&self, moment: Instant) -> bool {
        let mut is_done = self.lock();
        while !*is_done {
            let left = moment.saturating_duration_since(Instant::now());
            if left.is_zero() {
                break;
            }
            is_done = self.changed.wait_timeout(is_done, left).unwrap_or_else(PoisonError::into_inner).0;
        }
        *is_done
    }
}

/// What `first` says of the question, or what the engine beside it says, and why that one was asked.
pub fn asked<T>(
    question: &Question<'_>,
    second: &'static dyn Engine,
    is_answer: impl Fn(&T) -> bool,
    first: impl FnOnce(&Question<'_>) -> T,
) -> Result<T, (Outcome, &'static str)> {
    let (done, start) = (Done::default(), Instant::now());
    let (ours, theirs) = (Interrupt::new(), Interrupt::new());
    // Two lines of progress would write over each other.
    let quiet = CheckArgs { quiet: true, ..question.options.clone() };
    let beside = Question { options: &quiet, interrupt: theirs.flag(), work: None, ..*question };
    let look = || {
        if done.by(start + ALONE) {
            return None;
        }
        let outcome = second.run(&beside).ok()?;
        let why = match outcome.verdict {
            Verdict::Unsafe => EARLIER,
            Verdict::Safe if outcome.bounds.is_empty() && !outcome.vacuous && !done.by(start + WAITS) => LESS,
            Verdict::Safe | Verdict::Unknown => return None,
        };
        ours.raise();
        Some((outcome, why))
    };
    thread::scope(|scope| {
        let other = scope.spawn(look);
        let found = first(&Question { interrupt: ours.flag(), ..*question });
        theirs.raise();
        done.tell();
        match other.join() {
            Ok(Some(answer)) if !is_answer(&found) => Err(answer),
            _ => Ok(found),
        }
    })
}
