//! Says at once, and in one sentence, that the SAT solver cannot be built where there is no C++ compiler.

use std::env;
use std::process::{Command, Stdio};

fn main() {
    println!("cargo::rerun-if-env-changed=CXX");
    println!("cargo::rerun-if-env-changed=PATH");
    // For another target the name of the compiler is the business of the crate that calls it.
    if env::var_os("CARGO_FEATURE_SAT").is_none() || env::var("HOST") != env::var("TARGET") {
        return;
    }
    let named = env::var("CXX").ok();
    let names = named.as_deref().map_or(vec!["c++", "g++", "clang++", "cl.exe"], |name| vec![name]);
    if !names.iter().any(|name| runs(name)) {
        println!(
            "cargo::error=no C++ compiler was found ({}), which the SAT solver needs: install one (on Debian g++), or build \
             without the solver (--no-default-features)",
            names[0]
        );
    }
}

/// Whether there is such a program. `CXX` may have options behind the name.
fn runs(command: &str) -> bool {
    let mut words = command.split_whitespace();
    let Some(name) = words.next() else { return false };
    let quiet =
        Command::new(name).args(words).arg("--version").stdout(Stdio::null()).stderr(Stdio::null()).status();
    quiet.is_ok()
}
