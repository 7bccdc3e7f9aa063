//! The memory model that the user asked for.

use fencepost_diag::SourceFile;
use fencepost_explore::ModelName;
use fencepost_models::{Model, builtin_names};
use std::path::Path;

/// A model to judge programs by.
pub enum Choice {
    /// One that the explorer knows.
    BuiltIn(ModelName),
    /// A user's cat file: candidates are enumerated whole and then judged.
    Cat(Box<Model>),
}

impl Choice {
    /// Finds a model by its name, or reads it from a file. The error is a whole message.
    pub fn find(name: &str) -> Result<Choice, String> {
        if let Some(model) = ModelName::from_name(name) {
            return Ok(Choice::BuiltIn(model));
        }
        let path = Path::new(name);
        if path.extension().is_none_or(|e| e != "cat") {
            return Err(format!(
                "error: there is no model `{name}`\n  known models: {}\n  a model of your own is a file whose name ends in .cat\n",
                builtin_names().join(", ")
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
            Choice::BuiltIn(model) => model.name(),
            Choice::Cat(model) => model.name(),
        }
    }
}
