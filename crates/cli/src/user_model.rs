//! Models that a user brings: a cat file in the place of a model's name.

use fencepost_axiom::Unsupported;
use fencepost_diag::{Diagnostic, SourceFile};
use fencepost_models::mapping::Target;
use fencepost_models::registry::{Entry, Ordered};
use fencepost_models::{Model, parser};
use std::path::Path;

/// Whether a name is that of a file.
pub fn is_file(name: &str) -> bool {
    Path::new(name).extension().is_some_and(|ending| ending == "cat")
}

/// A model of a file, under the file's name. Its text stays until the end of the process, as that of the others does. The
/// error is a whole message.
pub fn entry(name: &str) -> Result<&'static Entry, String> {
    let text =
        std::fs::read_to_string(name).map_err(|error| format!("error: cannot read {name}: {error}\n"))?;
    load(name, &text)?;
    let architecture = parser::parse(&text).ok().and_then(|file| file.architecture);
    // C is compiled for the machine that the file names in its first word; otherwise it is checked as written.
    let target = match architecture.as_deref() {
        Some("X86" | "X86_64") => Some(Target::Tso),
        Some("PPC" | "POWER") => Some(Target::Power),
        Some("AArch64") => Some(Target::Armv8),
        _ => None,
    };
    let language = architecture.as_deref() == Some("C");
    Ok(Box::leak(Box::new(Entry {
        name: name.to_owned().leak(),
        cat: text.leak(),
        twin: None,
        target,
        machine: None,
        systems: false,
        dependencies: !language,
        ordered: Ordered::Sight,
    })))
}

/// The cat file of a model. The error is a whole message.
pub fn cat(entry: &Entry) -> Result<Model, String> {
    match Model::builtin(entry.name) {
        Some(model) => Ok(model),
        None => load(entry.name, entry.cat),
    }
}

fn load(name: &str, text: &str) -> Result<Model, String> {
    let file = SourceFile::new(name, text);
    let folder = Path::new(name).parent().unwrap_or(Path::new("")).to_path_buf();
    let loader = |include: &str| std::fs::read_to_string(folder.join(include)).ok();
    Model::from_file(&file, &loader)
        .map_err(|errors| errors.iter().map(|error| error.render(&file) + "\n").collect())
}

/// What a model says that has no meaning as clauses, and where it says it.
pub fn unsupported(model: &Model, what: &Unsupported) -> String {
    let message = format!("{} has no meaning as clauses", what.what);
    match model.defined_at(what.node) {
        Some((name, span)) => {
            let error = Diagnostic::error(span, message).label(format!("in the definition of `{name}`"));
            error.hint("`fencepost litmus -m` judges whole executions under any model").render(model.source())
        }
        None => format!("error: the model {}: {message}", model.name()),
    }
}
