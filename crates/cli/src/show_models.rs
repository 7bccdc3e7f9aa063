//! `fencepost models`.

use crate::args::{ModelsArgs, ModelsCommand};
use crate::exit;
use fencepost_models::{Model, builtin_names, builtin_source};

/// Lists the models, or shows one.
pub fn run(options: &ModelsArgs) -> u8 {
    match &options.command {
        None => {
            for name in builtin_names() {
                let model = Model::builtin(name);
                println!("{name:8} {}", model.as_ref().and_then(Model::title).unwrap_or(""));
            }
            exit::OK
        }
        Some(ModelsCommand::Show { name }) => match builtin_source(name) {
            Some(source) => {
                print!("{source}");
                exit::OK
            }
            None => {
                eprintln!(
                    "error: there is no model `{name}`\n  known models: {}",
                    builtin_names().join(", ")
                );
                exit::BAD_INPUT
            }
        },
    }
}
