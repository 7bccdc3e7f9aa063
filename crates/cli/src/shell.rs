//! `fencepost completions` and `fencepost man`: for shells and for `man`.

use crate::args::{Arguments, CompletionsArgs, ManArgs};
use crate::{exit, print};
use clap::CommandFactory;

/// Prints the completions of a shell.
pub fn completions(options: &CompletionsArgs) -> u8 {
    let mut text = Vec::new();
    clap_complete::generate(options.shell, &mut Arguments::command(), "fencepost", &mut text);
    print::out(&String::from_utf8_lossy(&text));
    exit::OK
}

/// Writes a page for the program and one for each command into a folder.
pub fn man(options: &ManArgs) -> u8 {
    let written = std::fs::create_dir_all(&options.folder)
        .and_then(|()| clap_mangen::generate_to(Arguments::command(), &options.folder));
    match written {
        Ok(()) => exit::OK,
        Err(error) => {
            print::err(&format!("error: cannot write to {}: {error}\n", options.folder.display()));
            exit::BAD_INPUT
        }
    }
}
