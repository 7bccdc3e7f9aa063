//! An installed CBMC as the back end of a reduction: the reduced program goes to it as C.

use super::Question;
use super::bmc::unplaced;
use crate::input::Trouble;
use fencepost_answer::{Bound, BoundName, Limit, Outcome, StopReason};
use fencepost_ir::Program;
use fencepost_reduce::print_c;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// Exit codes of CBMC.
const SUCCESSFUL: i32 = 0;
const FAILED: i32 = 10;

/// Runs CBMC on a reduced program.
pub fn run(question: &Question<'_>, reduced: &Program) -> Result<Outcome, Trouble> {
    let text = print_c(reduced).map_err(|error| format!("error: {error}"))?;
    let path = std::env::temp_dir().join(format!("fencepost-{}.c", std::process::id()));
    std::fs::write(&path, text)
        .map_err(|error| format!("error: cannot write {}: {error}", path.display()))?;
    // CBMC counts how often the body of a loop runs.
    let unwind = (question.options.unroll + 1).to_string();
    let child = Command::new("cbmc")
        .args(["--unwind", &unwind, "--no-unwinding-assertions", "--no-standard-checks"])
        .arg(&path)
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn();
    let code = match child {
        Ok(mut child) => wait(&mut child, question.deadline()),
        Err(error) => {
            let _ = std::fs::remove_file(&path);
            return Err(format!(
                "error: cannot run `cbmc`: {error}\n  --backend cbmc needs an installed CBMC; --backend bmc needs none"
            )
            .into());
        }
    };
    let _ = std::fs::remove_file(&path);
    let bounds = vec![Bound::new(BoundName::Unroll, question.options.unroll)];
    Ok(match code {
        Ok(Some(SUCCESSFUL)) => Outcome::new(Vec::new(), None, bounds),
        Ok(Some(FAILED)) => Outcome::new(vec![unplaced("CBMC finds a failure".into())], None, Vec::new()),
        Ok(Some(other)) => Outcome::unknown(StopReason::Unsupported(format!(
            "cbmc ends with exit code {other} and no verdict"
        ))),
        Ok(None) => Outcome::unknown(question.stop(Limit::Timeout)),
        Err(error) => Outcome::unknown(StopReason::Unsupported(format!("cbmc does not end: {error}"))),
    })
}

/// The exit code; nothing if the time is over.
fn wait(child: &mut std::process::Child, deadline: Option<Instant>) -> std::io::Result<Option<i32>> {
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok(Some(status.code().unwrap_or(-1)));
        }
        if deadline.is_some_and(|deadline| Instant::now() >= deadline) {
            child.kill()?;
            child.wait()?;
            return Ok(None);
        }
        std::thread::sleep(Duration::from_millis(20));
    }
}
