//! `fencepost litmus --as c`: litmus tests as programs, which `check` answers as `litmus` answers the tests.

use crate::args::LitmusArgs;
use crate::{exit, input, litmus, print};
use fencepost_diag::SourceFile;
use fencepost_ir::{Instr, Order, Program};
use fencepost_litmus::{Arch, LitmusTest};
use fencepost_reduce::{Origin, print_weak};
use std::collections::BTreeMap;
use std::path::Path;

/// Runs the command.
pub fn run(options: &LitmusArgs) -> u8 {
    all(options).unwrap_or_else(|error| {
        print::err(&format!("{}\n", error.trim_end()));
        exit::BAD_INPUT
    })
}

fn all(options: &LitmusArgs) -> Result<u8, String> {
    let mut files = Vec::new();
    for path in &options.paths {
        files.extend(input::files(path, input::LITMUS)?);
    }
    if files.len() > 1 && options.output.is_none() {
        return Err(format!(
            "error: {} tests make as many programs\n  name a folder for them with --output",
            files.len()
        ));
    }
    if let Some(folder) = &options.output {
        std::fs::create_dir_all(folder)
            .map_err(|error| format!("error: cannot make the folder {}: {error}", folder.display()))?;
    }
    let (mut written, mut refused) = (0, 0);
    let mut names = BTreeMap::<String, usize>::new();
    for file in &files {
        let program = litmus::read(file)
            .map_err(|trouble| trouble.error)
            .and_then(|(test, source)| program(&test, &source));
        match (program, &options.output) {
            (Err(error), _) => {
                refused += 1;
                print::err(&format!("{}\n", error.trim_end()));
            }
            (Ok(text), None) => print::out(&text),
            (Ok(text), Some(folder)) => {
                let path = folder.join(own_name(file, &mut names));
                std::fs::write(&path, text)
                    .map_err(|error| format!("error: cannot write {}: {error}", path.display()))?;
                written += 1;
            }
        }
    }
    if let Some(folder) = &options.output {
        let others =
            if refused > 0 { format!("; {refused} tests could not be written") } else { String::new() };
        print::err(&format!("{written} programs in {}{others}\n", folder.display()));
    }
    Ok(if refused > 0 { exit::BAD_INPUT } else { exit::OK })
}

/// What the program of a file is called; a second file of the same name in another folder gets a number.
fn own_name(file: &str, names: &mut BTreeMap<String, usize>) -> String {
    let stem = Path::new(file).file_stem().unwrap_or_default().to_string_lossy().into_owned();
    let times = names.entry(stem.clone()).or_default();
    *times += 1;
    if *times == 1 { format!("{stem}.c") } else { format!("{stem}-{times}.c") }
}

/// The program of a test, with how to check it in its first line.
fn program(test: &LitmusTest, source: &SourceFile) -> Result<String, String> {
    let refused = |why: &str| format!("error: {}: this test is not written as C: {why}", source.name);
    let (origin, how) = how(test).map_err(&refused)?;
    print_weak(&test.program, origin, &format!("{}: fencepost check {how}", test.name))
        .map_err(|what| refused(&what))
}

/// What a test is written for, and the options with which its program means the same.
fn how(test: &LitmusTest) -> Result<(Origin, &'static str), &'static str> {
    Ok(match test.arch {
        Arch::C if test.is_kernel => {
            return Err("it is one of the Linux kernel, whose model `check` does not know");
        }
        Arch::C => (Origin::C, "-m rc11"),
        Arch::X86 | Arch::X86_64 => (Origin::X86, "-m tso"),
        Arch::Ppc => (Origin::Power, "-m power"),
        Arch::AArch64 if has_weak_acquire(&test.program) => (Origin::AArch64, "-m armv8 --mapping rcpc"),
        Arch::AArch64 => (Origin::AArch64, "-m armv8"),
        Arch::Arm => return Err("`check` does not know the model of ARMv7"),
        Arch::RiscV => return Err("`check` does not know the model of RISC-V"),
    })
}

/// Whether some load is weaker than `LDAR` and acquires all the same.
fn has_weak_acquire(program: &Program) -> bool {
    program.functions.iter().flat_map(|function| &function.body).any(|instr| match instr {
        Instr::Load { ann, .. } => ann.order == Order::AcquirePc,
        _ => false,
    })
}
