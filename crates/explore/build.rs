//! A number for the sources of the explorer: where a work item leads depends on them, so that an item of another build is
//! refused.
//! And how many forms of rows there are: each is a copy of the whole explorer.

use std::path::{Path, PathBuf};

fn sources(folder: &Path, found: &mut Vec<PathBuf>) {
    let Ok(entries) = std::fs::read_dir(folder) else { return };
    for path in entries.filter_map(|entry| Some(entry.ok()?.path())) {
        match path.is_dir() {
            true => sources(&path, found),
            false => found.push(path),
        }
    }
}

fn main() {
    println!("cargo::rerun-if-changed=src");
    let mut found = Vec::new();
    sources(Path::new("src"), &mut found);
    found.sort();
    // FNV-1a: different sources are to differ, nobody is to be kept from making them alike.
    let mut hash = 0xcbf2_9ce4_8422_2325_u64;
    for path in found {
        for byte in std::fs::read(&path).unwrap_or_default() {
            hash = (hash ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3);
        }
    }
    println!("cargo::rustc-env=FENCEPOST_SOURCES={hash:016x}");
    // All of them are for builds that are optimised as far as that goes.
    println!("cargo::rustc-check-cfg=cfg(all_forms)");
    let best = std::env::var("OPT_LEVEL").is_ok_and(|level| level == "3");
    if best || std::env::var_os("CARGO_FEATURE_FORMS").is_some() {
        println!("cargo::rustc-cfg=all_forms");
    }
}
