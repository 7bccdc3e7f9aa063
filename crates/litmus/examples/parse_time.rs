//! How long parsing takes: `cargo run --release -p fencepost-litmus --example parse_time -- DIR` reads every litmus
//! file in a directory, then parses and lowers all of them some times over and prints the fastest round.

use fencepost_diag::SourceFile;
use std::time::Instant;

fn main() -> std::io::Result<()> {
    let directory = std::env::args().nth(1).unwrap_or_else(|| ".".to_string());
    let mut files = Vec::new();
    for entry in std::fs::read_dir(directory)? {
        let path = entry?.path();
        if path.extension().is_some_and(|e| e == "litmus") {
            files.push(SourceFile::new(path.display().to_string(), std::fs::read_to_string(&path)?));
        }
    }
    let mut best = f64::INFINITY;
    let mut failed = 0;
    for _ in 0..20 {
        let start = Instant::now();
        failed = files.iter().filter(|file| fencepost_litmus::parse(file).is_err()).count();
        best = best.min(start.elapsed().as_secs_f64());
    }
    let bytes: usize = files.iter().map(|file| file.text.len()).sum();
    println!(
        "{} files, {bytes} bytes, {failed} with mistakes: {:.2} ms, {:.2} us per file",
        files.len(),
        best * 1e3,
        best * 1e6 / files.len().max(1) as f64
    );
    Ok(())
}
