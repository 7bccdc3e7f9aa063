//! What stands in for `remote` in a build without the feature `cluster`.

use crate::args::{OutliveArgs, RunsArgs, WorkerArgs};
use crate::engine::Question;
use crate::keeping::NotExplored;
use crate::{exit, print};
use fencepost_diag::SourceFile;
use fencepost_explore::{Exploration, Options};
use fencepost_ir::Program;
use std::collections::BTreeMap;
use std::sync::Arc;

const ABSENT: &str = "error: this build cannot work on a cluster\n  it was built without the feature `cluster`, which \
    is on by default";

/// Files that a program is made of, by the names under which they are asked for.
pub type Files = Arc<BTreeMap<String, String>>;

/// What workers would be told.
pub struct Description;

impl Description {
    /// Of a program.
    pub fn of(_: &Question<'_>) -> Description {
        Description
    }

    /// Of a litmus test.
    pub fn of_test(_: &SourceFile, _: &str, _: u32) -> Description {
        Description
    }
}

/// Refuses.
pub fn search(
    _: &Program,
    _: &Options<'_>,
    _: &OutliveArgs,
    _: &str,
    _: (&str, bool, bool),
    _: &Description,
) -> Result<Exploration, NotExplored> {
    Err(NotExplored::Message(ABSENT.into()))
}

/// Runs `fencepost worker`, which refuses.
pub fn worker(_: &WorkerArgs) -> u8 {
    refuse()
}

/// Runs `fencepost runs`, which refuses.
pub fn runs(_: &RunsArgs) -> u8 {
    refuse()
}

fn refuse() -> u8 {
    print::err(&format!("{ABSENT}\n"));
    exit::BAD_INPUT
}
