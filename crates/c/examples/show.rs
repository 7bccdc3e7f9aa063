//! `cargo run -p fencepost-c --example show FILE.c [-D NAME=VALUE]...`: the IR of a program, and how long it took.

use fencepost_c::{Options, compile};
use fencepost_diag::SourceFile;
use std::time::Instant;

fn main() {
    let mut args = std::env::args().skip(1);
    let mut options = Options::default();
    let loader = |path: &str| std::fs::read_to_string(path).ok();
    options.loader = Some(&loader);
    let mut name = None;
    while let Some(arg) = args.next() {
        if arg == "-D" {
            let definition = args.next().unwrap_or_default();
            let (name, value) =
                definition.split_once('=').map_or((&*definition, None), |(n, v)| (n, Some(v)));
            options.defines.push((name.to_string(), value.map(str::to_string)));
        } else {
            name = Some(arg);
        }
    }
    let Some(name) = name else { return eprintln!("usage: show FILE.c [-D NAME=VALUE]...") };
    let Ok(text) = std::fs::read_to_string(&name) else { return eprintln!("cannot read {name}") };
    let file = SourceFile::new(name, text);
    let start = Instant::now();
    let result = compile(&file, &options);
    let time = start.elapsed();
    match result {
        Err(failure) => eprintln!("{}", failure.render()),
        Ok(compiled) => {
            for warning in &compiled.warnings {
                eprintln!("{}", compiled.sources.render(warning));
            }
            for (i, object) in compiled.program.objects.iter().enumerate() {
                println!("object {i} {} {} bytes {:?}", object.name, object.size, object.cells);
            }
            for (i, function) in compiled.program.functions.iter().enumerate() {
                println!("function {i} {} {:?}", function.name, function.regs);
                for (j, instr) in function.body.iter().enumerate() {
                    println!("  {j:3} {instr:?}");
                }
            }
        }
    }
    let again = Instant::now();
    for _ in 0..100 {
        let _ = compile(&file, &options);
    }
    eprintln!("{time:?}, again {:?}", again.elapsed() / 100);
}
