//! The library: a program in, an outcome out.

use crate::args::CheckArgs;
use crate::check;
use fencepost_answer::Outcome;
use fencepost_diag::SourceFile;
use std::time::Duration;

/// A program to be checked, as `fencepost check` does it without options.
pub struct Check {
    file: SourceFile,
    options: CheckArgs,
}

impl Check {
    /// A program; how its name ends says whether it is C or `.fp`.
    pub fn new(name: &str, text: &str) -> Check {
        Check { file: SourceFile::new(name, text), options: CheckArgs::default() }
    }

    /// Under this model; without one, that of C++20.
    pub fn model(mut self, name: &str) -> Check {
        self.options.model = name.into();
        self
    }

    /// Loops that neither wait nor count are taken so often.
    pub fn unroll(mut self, times: u32) -> Check {
        self.options.unroll = times;
        self
    }

    /// Give up after this time: the verdict is then unknown.
    pub fn timeout(mut self, time: Duration) -> Check {
        self.options.timeout = Some(time);
        self
    }

    /// The answer; the error is a whole message about the program or the model.
    pub fn run(self) -> Result<Outcome, String> {
        let model = check::find_model(&self.options.model)?;
        let checked =
            check::answer_about(&self.file, model, &self.options).map_err(|trouble| trouble.error)?;
        Ok(checked.outcome)
    }
}
