//! The front ends within the limits of the user. They know nothing of time, memory or Ctrl-C, and need not: they run in a
//! thread of their own, which is left alone when a limit is reached.

use crate::args::CheckArgs;
use crate::check::INTERRUPT;
use crate::input::{self, Trouble};
use fencepost_answer::{Limit, StopReason};
use fencepost_bmc::limits::{self, Limits};
use fencepost_diag::SourceFile;
use fencepost_ir::Compiled;
use fencepost_models::registry::Entry;
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::{Duration, Instant};

/// How often to look at the limits.
const TURN: Duration = Duration::from_millis(20);

/// As much as the thread of a process has by custom.
const STACK: usize = 8 << 20;

/// Compiles a program: the program, or the limit that was reached before.
pub fn compile(
    file: &SourceFile,
    model: &'static Entry,
    options: &CheckArgs,
    start: Instant,
) -> Result<Result<Compiled, StopReason>, Trouble> {
    let limits = Limits {
        deadline: options.timeout.and_then(|time| start.checked_add(time)),
        max_bytes: options.max_memory.map(|mb| mb.saturating_mul(1_000_000)),
        interrupt: Some(&INTERRUPT),
        conflicts: None,
    };
    let (sender, receiver) = channel();
    let (file, own) = (file.clone(), options.clone());
    let work = move || {
        // Nobody listens any more if a limit was reached.
        let _ = sender.send(input::compile(&file, model, &own));
    };
    let thread = std::thread::Builder::new().stack_size(STACK).spawn(work);
    let thread = thread.map_err(|error| format!("error: cannot start a thread: {error}"))?;
    loop {
        match receiver.recv_timeout(TURN) {
            Ok(compiled) => return compiled.map(Ok),
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => match thread.join() {
                Ok(()) => unreachable!("it sends before it ends"),
                Err(panic) => std::panic::resume_unwind(panic),
            },
        }
        if let Some(reached) = limits.reached() {
            return Ok(Err(reason(reached, options)));
        }
    }
}

fn reason(reached: limits::StopReason, options: &CheckArgs) -> StopReason {
    let (limit, value) = match reached {
        limits::StopReason::Interrupted => (Limit::Interrupted, None),
        limits::StopReason::Memory => (Limit::MaxMemory, options.max_memory.map(|mb| mb as f64)),
        _ => (Limit::Timeout, options.timeout.map(|time| time.as_secs_f64())),
    };
    StopReason::Limit { limit, value }
}
