//! The memory model that the user asked for.

use crate::engine::promising;
use crate::print;
use fencepost_diag::SourceFile;
use fencepost_explore::ModelName;
use fencepost_models::Model;
use fencepost_models::registry::{self, Entry};
use std::path::Path;

/// A model to judge programs by.
pub enum Choice {
    /// One that the explorer has a twin of.
    Twin(&'static Entry, ModelName),
    /// A cat file, built in or the user's: candidates are enumerated whole and then judged.
    Cat(Box<Model>),
    /// One that is a machine and nothing else.
    Machine(&'static Entry),
}

impl Choice {
    /// Finds a model by its name, or reads it from a file. The error is a whole message.
    pub fn find(name: &str) -> Result<Choice, String> {
        if let Some(entry) = registry::find(name) {
            if let Some(twin) = entry.twin.and_then(ModelName::from_name) {
                return Ok(Choice::Twin(entry, twin));
            }
            if let Some(model) = Model::builtin(name) {
                return Ok(Choice::Cat(Box::new(model)));
            }
            if entry.name == promising::MODEL {
                return Ok(Choice::Machine(entry));
            }
        }
        let path = Path::new(name);
        if path.extension().is_none_or(|e| e != "cat") {
            let names = registry::names(|model| !model.cat.is_empty());
            return Err(format!(
                "error: there is no model `{name}`\n{}  known models: {}\n  a model of your own is a file whose name \
                    ends in .cat\n",
                print::did_you_mean(name, &names),
                names.join(", ")
            ));
        }
        let text =
            std::fs::read_to_string(path).map_err(|error| format!("error: cannot read {name}: {error}\n"))?;
        let file = SourceFile::new(name, text);
        let folder = path.parent().unwrap_or(Path::new("")).to_path_buf();
        let loader = |include: &str| std::fs::read_to_string(folder.join(include)).ok();
        match Model::from_file(&file, &loader) {
            Ok(model) => Ok(Choice::Cat(Box::new(model))),
            Err(errors) => Err(errors.iter().map(|error| error.render(&file) + "\n").collect()),
        }
    }

    /// Its name in results.
    pub fn name(&self) -> &str {
        match self {
            Choice::Twin(entry, _) | Choice::Machine(entry) => entry.name,
            Choice::Cat(model) => model.name(),
        }
    }
}
