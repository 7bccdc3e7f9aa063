//! `fencepost`: can this concurrent program go wrong on this memory model?

fn main() -> std::process::ExitCode {
    fencepost::main()
}
