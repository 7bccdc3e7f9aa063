//! `cargo xtask cbmc FOLDER`: an unpacked CBMC for the tests of emitted code, on a Debian whose own release has none.
//!
//! The package and the libraries that it needs are taken from Debian 13 by the machine's own package source, unpacked into a
//! folder and
//! started by the loader that comes with them; nothing is installed. `FOLDER/cbmc` is the command: put the folder first on the
//! path.

use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

/// The release that has it.
const RELEASE: &str = "trixie";
/// The package and what it needs.
const PACKAGES: [&str; 6] = ["cbmc", "minisat", "libc6", "libgcc-s1", "libstdc++6", "zlib1g"];

/// Runs the task.
pub fn run(mut args: impl Iterator<Item = String>) -> ExitCode {
    let Some(folder) = args.next() else {
        eprintln!("usage: cargo xtask cbmc FOLDER");
        return ExitCode::from(3);
    };
    match unpack(Path::new(&folder)) {
        Ok(command) => {
            println!("{}", command.display());
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

fn unpack(folder: &Path) -> Result<PathBuf, String> {
    for part in ["lists/partial", "cache/archives/partial", "root"] {
        let part = folder.join(part);
        std::fs::create_dir_all(&part).map_err(failed(&part))?;
    }
    let folder = folder.canonicalize().map_err(failed(folder))?;
    let list = folder.join("sources.list");
    let source = format!("deb [trusted=yes] {} {RELEASE} main\n", package_source()?);
    std::fs::write(&list, source).map_err(failed(&list))?;
    let set = |name: &str, value: &Path| format!("{name}={}", value.display());
    let options = [
        set("Dir::Etc::sourcelist", &list),
        "Dir::Etc::sourceparts=/dev/null".into(),
        set("Dir::State::lists", &folder.join("lists")),
        set("Dir::Cache", &folder.join("cache")),
    ];
    let apt = || {
        let mut command = Command::new("apt-get");
        command.current_dir(&folder).arg("-qq");
        for option in &options {
            command.args(["-o", option]);
        }
        command
    };
    succeed(apt().arg("update"))?;
    succeed(apt().arg("download").args(PACKAGES))?;
    let root = folder.join("root");
    for entry in std::fs::read_dir(&folder).map_err(failed(&folder))? {
        let path = entry.map_err(failed(&folder))?.path();
        if path.extension().is_some_and(|extension| extension == "deb") {
            succeed(Command::new("dpkg").arg("-x").arg(&path).arg(&root))?;
        }
    }
    let (command, root) = (folder.join("cbmc"), root.display());
    let script = format!(
        "#!/bin/sh\nexec '{root}/usr/lib64/ld-linux-x86-64.so.2' --library-path '{root}/usr/lib/x86_64-linux-gnu:{root}/usr/lib' \
         '{root}/usr/bin/cbmc' \"$@\"\n"
    );
    std::fs::write(&command, script).map_err(failed(&command))?;
    succeed(Command::new("chmod").arg("+x").arg(&command))?;
    succeed(Command::new(&command).arg("--version"))?;
    Ok(command)
}

fn failed(what: &Path) -> impl Fn(std::io::Error) -> String + '_ {
    move |error| format!("{}: {error}", what.display())
}

fn succeed(command: &mut Command) -> Result<(), String> {
    let output = command.output().map_err(|error| format!("{command:?}: {error}"))?;
    let said = String::from_utf8_lossy(&output.stderr);
    if output.status.success() { Ok(()) } else { Err(format!("{command:?}: {said}")) }
}

/// Where this machine gets the packages of Debian from.
fn package_source() -> Result<String, String> {
    let mut files = vec![PathBuf::from("/etc/apt/sources.list")];
    let folder = std::fs::read_dir("/etc/apt/sources.list.d").into_iter().flatten();
    files.extend(folder.filter_map(|entry| Some(entry.ok()?.path())));
    for file in files {
        let text = std::fs::read_to_string(&file).unwrap_or_default();
        let lines = text.lines().filter(|line| !line.trim_start().starts_with('#'));
        let mut words = lines.flat_map(str::split_whitespace).map(|word| word.trim_end_matches('/'));
        if let Some(found) = words.find(|word| word.starts_with("http") && word.ends_with("/debian")) {
            return Ok(found.into());
        }
    }
    Err("no source of Debian packages is known here".into())
}
