//! `cargo xtask NAME`: campaigns that are too long for CI.

fn main() {
    eprintln!("usage: cargo xtask <campaign>");
}
