//! Checkpoints: what is left of an exploration, in a file that is there whole or not at all.

use crate::args::OutliveArgs;
use fencepost_explore::{
    Every, Exploration, Keeping, NotKept, Options, Unsupported, explore, explore_keeping,
};
use fencepost_ir::Program;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// How often a checkpoint is written, unless the user says otherwise.
const EVERY: Duration = Duration::from_secs(15);

/// The least time between two checkpoints that makes sense.
const LEAST: Duration = Duration::from_millis(20);

/// The largest checkpoint that is read: more than any that was ever written.
const LARGEST: u64 = 1 << 30;

/// Why there is no exploration.
pub enum NotExplored {
    /// The program has something that cannot be explored.
    Unsupported(Unsupported),
    /// A whole message about something else.
    Message(String),
}

/// Explores; with a checkpoint, if the user wants one.
pub fn search(
    program: &Program,
    options: &Options<'_>,
    outlive: &OutliveArgs,
) -> Result<Exploration, NotExplored> {
    let Some(path) = outlive.checkpoint.as_ref().or(outlive.resume.as_ref()) else {
        return explore(program, options).map_err(NotExplored::Unsupported);
    };
    let bytes = resumed(outlive).map_err(NotExplored::Message)?;
    let mut kept = 0;
    let mut keeping = Keeping {
        resume: bytes.as_deref(),
        every: match outlive.interrupt_after {
            Some(visits) => Every::Nodes(visits.max(1)),
            None => Every::Time(outlive.checkpoint_every.unwrap_or(EVERY).max(LEAST)),
        },
        keep: &mut |bytes| {
            kept += 1;
            // The first one is written before anything is explored.
            match outlive.interrupt_after.filter(|_| kept > 2) {
                Some(visits) => Err(format!("error: interrupted after {visits} visits")),
                None => write(path, bytes),
            }
        },
    };
    explore_keeping(program, options, &mut keeping).map_err(|error| match error {
        NotKept::Unsupported(unsupported) => NotExplored::Unsupported(unsupported),
        NotKept::Write(error) => NotExplored::Message(error),
        NotKept::Decode(error) => NotExplored::Message(not_resumed(outlive, &error.to_string())),
        NotKept::Lost => NotExplored::Message(not_resumed(outlive, "a place in it does not exist")),
    })
}

fn not_resumed(outlive: &OutliveArgs, why: &str) -> String {
    let file = outlive.resume.as_ref().map(|path| path.display().to_string()).unwrap_or_default();
    format!(
        "error: cannot go on from {file}: {why}\n  a checkpoint is good for the same file, model, options and \
         build; without --resume the exploration begins anew"
    )
}

/// The checkpoint to go on from; a new one if it is to be kept in the same file, which is not there yet.
fn resumed(outlive: &OutliveArgs) -> Result<Option<Vec<u8>>, String> {
    let checkpoint = outlive.checkpoint.as_ref();
    let Some(path) = &outlive.resume else {
        return match checkpoint.filter(|path| path.exists()) {
            Some(path) => Err(format!(
                "error: {file} is there already\n  go on with `--resume {file}`, or remove it",
                file = path.display()
            )),
            None => Ok(None),
        };
    };
    if checkpoint == Some(path) && !path.exists() {
        return Ok(None);
    }
    let unreadable = |why: String| format!("error: cannot read {}: {why}", path.display());
    let size = std::fs::metadata(path).map_err(|error| unreadable(error.to_string()))?.len();
    if size > LARGEST {
        return Err(unreadable("it is too large for a checkpoint".into()));
    }
    std::fs::read(path).map(Some).map_err(|error| unreadable(error.to_string()))
}

/// Writes beside and renames: whoever reads it finds the old one or the new one.
fn write(path: &Path, bytes: &[u8]) -> Result<(), String> {
    let mut beside = path.as_os_str().to_owned();
    beside.push(".new");
    let beside = PathBuf::from(beside);
    let written = || -> std::io::Result<()> {
        let mut file = std::fs::File::create(&beside)?;
        file.write_all(bytes)?;
        file.sync_data()?;
        drop(file);
        std::fs::rename(&beside, path)
    };
    written().map_err(|error| format!("error: cannot write {}: {error}", path.display()))
}
