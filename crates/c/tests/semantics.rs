//! The same snippet through our front end and an interpreter, and through the machine's C compiler: the results must be
//! equal. Without a `cc` there is nothing to compare with, and the test says so and passes.

mod support;

use std::path::Path;
use std::process::Command;
use support::{End, Machine, compile};

/// What every snippet starts with; it defines `run` and reports values with `OUT`.
const PRELUDE: &str = "static long out[128];\nstatic int used;\n#define OUT(x) (out[used++] = (long)(x))\n";

fn snippets() -> Vec<(String, String)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/semantics");
    let mut found: Vec<(String, String)> = std::fs::read_dir(folder)
        .expect("the folder of snippets")
        .map(|entry| {
            let path = entry.expect("an entry").path();
            let text = std::fs::read_to_string(&path).expect("a snippet");
            (path.file_stem().expect("a name").to_string_lossy().into_owned(), text)
        })
        .collect();
    found.sort();
    found
}

fn ours(name: &str, text: &str) -> Vec<i64> {
    let source = format!("{PRELUDE}{text}\nint main(void) {{ run(); return 0; }}\n");
    let compiled = compile(name, &source, &[]);
    let mut machine = Machine::new(&compiled.program, 1);
    assert_eq!(machine.run(2_000_000), End::Done(0), "{name}");
    let count = machine.global("used")[0] as usize;
    machine.global("out")[..count].to_vec()
}

fn theirs(name: &str, text: &str) -> Vec<i64> {
    let folder = std::env::temp_dir().join(format!("fencepost-semantics-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a folder for the compiler");
    let source = folder.join(format!("{name}.c"));
    let program = folder.join(name);
    let main = "#include <stdio.h>\nint main(void) { run(); for (int i = 0; i < used; i++) printf(\"%ld\\n\", out[i]); }";
    std::fs::write(&source, format!("{PRELUDE}{text}\n{main}\n")).expect("the source");
    let done = Command::new("cc")
        .args(["-std=gnu11", "-w", "-O0", "-fwrapv", "-pthread", "-o"])
        .arg(&program)
        .arg(&source)
        .output()
        .expect("cc runs");
    assert!(done.status.success(), "{name}: {}", String::from_utf8_lossy(&done.stderr));
    let output = Command::new(&program).output().expect("the program runs");
    assert!(output.status.success(), "{name} fails when compiled");
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    text.lines().map(|line| line.parse().expect("a number")).collect()
}

#[test]
fn snippets_mean_what_the_c_compiler_says() {
    let all = snippets();
    assert!(all.len() >= 60, "{} snippets", all.len());
    if Command::new("cc").arg("--version").output().is_err() {
        eprintln!("there is no cc on this machine: nothing to compare with");
        return;
    }
    let mut wrong = Vec::new();
    for (name, text) in &all {
        let theirs = theirs(name, text);
        assert!(!theirs.is_empty(), "{name} reports nothing");
        let Ok(ours) = std::panic::catch_unwind(|| ours(name, text)) else {
            wrong.push(format!("{name}: see above"));
            continue;
        };
        if ours != theirs {
            wrong.push(format!("{name}:\n  ours   {ours:?}\n  theirs {theirs:?}"));
        }
    }
    std::fs::remove_dir_all(std::env::temp_dir().join(format!("fencepost-semantics-{}", std::process::id())))
        .ok();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
