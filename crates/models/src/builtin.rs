//! The files that come with Fencepost: the models, and stand-ins for the library files of herd7 that ordinary models
//! include. A stand-in defines what such a model expects and nothing that `prelude.cat` has already.

use crate::registry;

/// Definitions that every model starts with.
pub(crate) const PRELUDE: &str = include_str!("../cat/prelude.cat");

/// Stand-ins for herd7's library; most names are in the prelude already.
const LIBRARY: [(&str, &str); 9] = [
    ("cos.cat", "(* co, fr and their parts are given *)\nlet ca = fr | co\n"),
    ("stdlib.cat", "(* all of it is given *)\n"),
    ("cross.cat", "(* not needed: co is given *)\n"),
    ("filters.cat", include_str!("../cat/filters.cat")),
    ("fences.cat", include_str!("../cat/fences.cat")),
    ("ppcfences.cat", include_str!("../cat/fences.cat")),
    ("x86fences.cat", include_str!("../cat/fences.cat")),
    ("armfences.cat", include_str!("../cat/fences.cat")),
    ("aarch64fences.cat", include_str!("../cat/aarch64fences.cat")),
];

/// Names of the built-in models.
pub fn names() -> Vec<&'static str> {
    registry::names(|model| !model.cat.is_empty())
}

/// The text of a built-in model by its name, or of a built-in file by its file name.
pub fn source(name: &str) -> Option<&'static str> {
    let model = name.strip_suffix(".cat").unwrap_or(name);
    let library = || LIBRARY.iter().find(|(n, _)| *n == name).map(|(_, text)| *text);
    registry::find(model).map(|entry| entry.cat).filter(|cat| !cat.is_empty()).or_else(library)
}

/// The names that `include` knows.
pub fn files() -> Vec<String> {
    let models = names().into_iter().map(|name| format!("{name}.cat"));
    models.chain(LIBRARY.iter().map(|(name, _)| name.to_string())).collect()
}
