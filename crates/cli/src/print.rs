//! Standard output and error. Whoever reads us may stop reading (`fencepost ... | head`): that is no error of ours, and
//! the exit code stays what it would have been.

use std::io::Write;

/// Writes to standard output.
pub fn out(text: &str) {
    let mut stream = std::io::stdout().lock();
    let _ = stream.write_all(text.as_bytes()).and_then(|()| stream.flush());
}

/// Writes to standard error.
pub fn err(text: &str) {
    let _ = std::io::stderr().lock().write_all(text.as_bytes());
}
