//! Every command of the README runs, on files that are there, and says what the README says.

mod support;

use std::path::{Path, PathBuf};
use std::process::Command;

/// A folder that looks like the top of the repository, so that commands may leave files in it.
struct Folder(PathBuf);

impl Folder {
    fn new() -> Folder {
        let top = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().expect("the repository");
        let folder = std::env::temp_dir().join(format!("fencepost-readme-{}", std::process::id()));
        std::fs::create_dir_all(&folder).expect("a folder");
        for name in ["examples", "crates"] {
            std::os::unix::fs::symlink(top.join(name), folder.join(name)).expect("a link");
        }
        Folder(folder)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// A command as it is written, and the output below it.
fn commands(text: &str) -> Vec<(String, Vec<String>)> {
    let mut found: Vec<(String, Vec<String>)> = Vec::new();
    let mut inside = false;
    for line in text.lines() {
        match (line.strip_prefix("    $ "), line.strip_prefix("    ")) {
            (Some(command), _) => {
                let command = command.split(" #").next().unwrap_or(command).trim();
                found.push((command.to_string(), Vec::new()));
                inside = true;
            }
            (None, Some(output)) if inside => {
                if let Some((_, expected)) = found.last_mut() {
                    expected.push(output.to_string());
                }
            }
            _ => inside = false,
        }
    }
    found
}

#[test]
fn every_command_runs_and_says_what_the_readme_says() {
    let text = std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("../../README.md"))
        .expect("the README");
    let commands = commands(&text);
    assert!(commands.len() > 10, "{commands:?}");
    let folder = Folder::new();
    let binary = Path::new(env!("CARGO_BIN_EXE_fencepost")).parent().expect("a folder").display().to_string();
    let path = format!("{binary}:{}", std::env::var("PATH").unwrap_or_default());
    for (command, expected) in commands {
        let output = Command::new("sh")
            .args(["-c", &command])
            .current_dir(&folder.0)
            .env("PATH", &path)
            .output()
            .expect("a shell");
        let shown = support::show(&output);
        // What the README shows as a finding is one.
        let finds = expected.iter().any(|line| line.starts_with("error["));
        assert_eq!(output.status.code(), Some(i32::from(finds)), "{command}\n{shown}");
        // What the README shows is without times, as the test sees it.
        for line in expected {
            let line =
                line.rsplit_once(", ").map_or(line.as_str(), |(before, time)| match time.ends_with(" ms)") {
                    true => before,
                    false => line.as_str(),
                });
            assert!(shown.contains(line), "{command}\n{line}\n{shown}");
        }
    }
}
