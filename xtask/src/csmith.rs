//! `cargo xtask csmith`: random sequential C programs with the checksum that the machine's C compiler computes asserted, and
//! again
//! with a wrong one. The first must be safe, the second unsafe.
//!
//!     cargo xtask csmith --bin target/release/fencepost --include DIR [--first SEED] [--count N] [--seconds S]
//!
//! Needs `csmith`, its headers (`--include`), and `gcc`. A program that does not end within the limit when compiled says nothing
//! and is left out. What is refused is listed by its reason.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::process::{Command, ExitCode, Stdio};

struct Options {
    binary: String,
    include: String,
    first: u64,
    count: u64,
    seconds: u64,
}

fn options(mut args: impl Iterator<Item = String>) -> Result<Options, String> {
    let mut options = Options {
        binary: "target/release/fencepost".into(),
        include: "/usr/include/csmith".into(),
        first: 1,
        count: 1000,
        seconds: 10,
    };
    while let Some(arg) = args.next() {
        let value = args.next().ok_or(format!("{arg} needs a value"))?;
        let number = value.parse::<u64>().map_err(|_| format!("{arg} needs a number"));
        match arg.as_str() {
            "--bin" => options.binary = value,
            "--include" => options.include = value,
            "--first" => options.first = number?,
            "--count" => options.count = number?,
            "--seconds" => options.seconds = number?,
            _ => return Err(format!("`{arg}` is no option of csmith")),
        }
    }
    Ok(options)
}

/// The output of a command that must succeed within some seconds.
fn output(command: &str, args: &[&str], seconds: u64) -> Option<String> {
    let done = Command::new("timeout")
        .arg(seconds.to_string())
        .arg(command)
        .args(args)
        .stdin(Stdio::null())
        .output()
        .ok()?;
    done.status.success().then(|| String::from_utf8_lossy(&done.stdout).into_owned())
}

/// The program of a seed and the checksum that it prints.
fn generate(options: &Options, folder: &std::path::Path, seed: u64) -> Option<(String, u64)> {
    let text = output("csmith", &["--seed", &seed.to_string(), "--no-argc"], 10)?;
    let (source, program) = (folder.join("program.c"), folder.join("program"));
    std::fs::write(&source, &text).ok()?;
    let include = format!("-I{}", options.include);
    let (source, program) = (source.display().to_string(), program.display().to_string());
    output("gcc", &["-w", "-O1", "-fwrapv", &include, "-o", &program, &source], 60)?;
    let printed = output(&program, &[], 3)?;
    let digits = printed.split("checksum = ").nth(1)?.trim();
    Some((text, u64::from_str_radix(digits, 16).ok()?))
}

/// The program with an assertion about its checksum.
fn asserted(text: &str, checksum: u64) -> Option<String> {
    let end = "platform_main_end(crc32_context ^ 0xFFFFFFFFUL, print_hash_value);";
    text.contains(end).then(|| {
        let assertion = format!("__VERIFIER_assert((crc32_context ^ 0xFFFFFFFFUL) == 0x{checksum:X}UL);");
        text.replace(end, &assertion)
    })
}

/// The verdict, or why there is none.
fn answer(options: &Options, path: &PathBuf, text: &str) -> String {
    if std::fs::write(path, text).is_err() {
        return "the program cannot be written".into();
    }
    let done = Command::new(&options.binary)
        .args(["check", "--json", "-j1", "-m", "sc", "--timeout", &options.seconds.to_string()])
        .arg(path)
        .args(["--", "-isystem", &options.include])
        .stdin(Stdio::null())
        .output();
    let Ok(done) = done else { return "the binary does not run".into() };
    let text = String::from_utf8_lossy(&done.stdout).into_owned();
    let field = |name: &str| {
        let rest = text.split(&format!("\"{name}\":\"")).nth(1)?;
        rest.split('"').next().map(str::to_string)
    };
    match field("verdict") {
        Some(verdict) if verdict != "unknown" => verdict,
        Some(_) => format!("unknown: {}", field("stop_reason").or(field("reason")).unwrap_or_default()),
        None => {
            let error = field("error").unwrap_or_else(|| String::from_utf8_lossy(&done.stderr).into_owned());
            let first = error.split("\\n").next().unwrap_or("").lines().next().unwrap_or("").to_string();
            format!("refused: {first}")
        }
    }
}

/// Runs the task.
pub fn run(args: impl Iterator<Item = String>) -> ExitCode {
    let options = match options(args) {
        Ok(options) => options,
        Err(error) => {
            eprintln!("error: {error}");
            return ExitCode::from(3);
        }
    };
    let folder = std::env::temp_dir().join(format!("fencepost-csmith-{}", std::process::id()));
    if std::fs::create_dir_all(&folder).is_err() {
        eprintln!("error: no folder for the programs");
        return ExitCode::from(3);
    }
    let (mut programs, mut wrong, mut missing) = (0u64, 0u64, 0u64);
    let mut reasons: BTreeMap<String, u64> = BTreeMap::new();
    let mut seed = options.first;
    while programs < options.count {
        let made = generate(&options, &folder, seed);
        seed += 1;
        let Some((text, checksum)) = made else { continue };
        programs += 1;
        for (sum, expected) in [(checksum, "safe"), (checksum ^ 1, "unsafe")] {
            let Some(program) = asserted(&text, sum) else { continue };
            let found = answer(&options, &folder.join("asserted.c"), &program);
            if found == "safe" || found == "unsafe" {
                if found != expected {
                    wrong += 1;
                    println!("seed {}: expected {expected}, found {found}", seed - 1);
                }
            } else {
                missing += 1;
                *reasons.entry(found).or_default() += 1;
            }
        }
    }
    println!("{programs} programs (seeds {} to {}), {} questions", options.first, seed - 1, 2 * programs);
    println!("{wrong} wrong answers, {missing} without an answer");
    for (reason, count) in reasons {
        println!("  {count:5}  {reason}");
    }
    let _ = std::fs::remove_dir_all(folder);
    ExitCode::from(u8::from(wrong > 0))
}
