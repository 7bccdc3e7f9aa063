//! Where the compiler of this machine looks for headers. Those that the front end does not bring along are found there without an
//! option, if there is a compiler; it is asked once, and only if a header is missing.

use std::process::{Command, Stdio};
use std::sync::OnceLock;

/// Compilers by name, the first that answers is asked.
const COMPILERS: [&str; 3] = ["cc", "gcc", "clang"];

/// Its folders, in its order; none without a compiler.
pub fn of_compiler() -> Vec<String> {
    static FOLDERS: OnceLock<Vec<String>> = OnceLock::new();
    FOLDERS.get_or_init(|| COMPILERS.iter().find_map(|name| ask(name)).unwrap_or_default()).clone()
}

/// What a compiler says when it is to preprocess nothing and to say how.
fn ask(compiler: &str) -> Option<Vec<String>> {
    let mut command = Command::new(compiler);
    command.args(["-E", "-v", "-x", "c", "-"]).env("LC_ALL", "C").stdin(Stdio::null());
    let output = command.output().ok()?;
    let folders = listed(&String::from_utf8_lossy(&output.stderr));
    (!folders.is_empty()).then_some(folders)
}

/// The folders between the two lines that gcc and clang both print.
fn listed(text: &str) -> Vec<String> {
    let lines =
        text.lines().skip_while(|line| !line.starts_with("#include <...> search starts here")).skip(1);
    let folders = lines.take_while(|line| !line.starts_with("End of search list"));
    // clang says which of them are frameworks.
    folders.filter(|line| !line.ends_with(")")).map(|line| line.trim().to_string()).collect()
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_list_of_a_compiler_is_read() {
        let said = "ignoring \"/x\"\n#include \"...\" search starts here:\n#include <...> search starts here:\n \
                    /usr/lib/gcc/include\n /usr/include\nEnd of search list.\n# 1 \"<stdin>\"\n";
        assert_eq!(super::listed(said), ["/usr/lib/gcc/include", "/usr/include"]);
        assert!(super::listed("cc: error").is_empty());
    }
}
