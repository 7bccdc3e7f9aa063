//! `fencepost models`.

use crate::args::{ModelsArgs, ModelsCommand};
use crate::exit;
use crate::print;
use fencepost_models::registry::{self, MODELS};
use fencepost_models::{Model, builtin_source};

/// The title of a model without a cat file.
const OPERATIONAL: &str = "The promising semantics, an operational model: `check -m ps`";

/// Lists the models, or shows one.
pub fn run(options: &ModelsArgs) -> u8 {
    match &options.command {
        None => {
            for model in MODELS {
                let cat = Model::builtin(model.name);
                let title = cat.as_ref().and_then(Model::title).unwrap_or(OPERATIONAL);
                print::out(&format!("{:8} {title}\n", model.name));
            }
            exit::OK
        }
        Some(ModelsCommand::Show { name }) => match builtin_source(name) {
            Some(source) => {
                print::out(source);
                exit::OK
            }
            None if registry::find(name).is_some() => {
                print::err(&format!("error: the model `{name}` is a machine and has no cat file\n"));
                exit::BAD_INPUT
            }
            None => {
                let known = registry::names(|_| true).join(", ");
                print::err(&format!("error: there is no model `{name}`\n  known models: {known}\n"));
                exit::BAD_INPUT
            }
        },
    }
}
