//! The C corpus compiles for every target: nothing of C11 is left, and the code is well formed.

use crate::support::variants;
use fencepost_diag::SourceFile;
use fencepost_ir::{Ann, Fence, Function, Instr, Order, Program};
use fencepost_models::mapping::{Target, compile};

fn annotations(instr: &Instr) -> Vec<Ann> {
    match *instr {
        Instr::Load { ann, .. }
        | Instr::CopyLoad { ann, .. }
        | Instr::Store { ann, .. }
        | Instr::StoreExclusive { ann, .. }
        | Instr::Await { ann, .. } => vec![ann],
        Instr::Rmw { read, write, .. } | Instr::AwaitRmw { read, write, .. } => vec![read, write],
        Instr::CompareExchange { read, write, failure, .. } => vec![read, write, failure],
        _ => Vec::new(),
    }
}

fn labels(instr: &Instr) -> Vec<u32> {
    match *instr {
        Instr::Jump(to) => vec![to.0],
        Instr::Branch { then_to, else_to, .. } => vec![then_to.0, else_to.0],
        _ => Vec::new(),
    }
}

fn check(target: Target, source: &Function, function: &Function) {
    assert_eq!(function.body.len(), function.spans.len());
    assert_eq!(function.regs[..source.regs.len()], source.regs);
    assert_eq!(function.params, source.params);
    for instr in &function.body {
        assert!(labels(instr).iter().all(|&to| to as usize <= function.body.len()));
        assert!(!matches!(
            instr,
            Instr::Fence(Fence::C11(_)) | Instr::Lock(_) | Instr::Unlock(_) | Instr::TryLock { .. }
        ));
        for ann in annotations(instr) {
            let ordered = matches!(ann.order, Order::Acquire | Order::Release | Order::AcquirePc);
            // What was written in assembly stays as it is.
            let is_assembly = ann.exclusive;
            let is_plain = ann.order == Order::Plain || is_assembly;
            assert!(is_plain || ordered && target == Target::Armv8, "{instr:?}");
        }
    }
}

fn corpus() -> Vec<Program> {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../c/corpus");
    let mut programs = Vec::new();
    for entry in std::fs::read_dir(folder).expect("the corpus").flatten() {
        let path = entry.path();
        if path.extension().is_none_or(|e| e != "c") {
            continue;
        }
        let text = std::fs::read_to_string(&path).expect("a program");
        let file = SourceFile::new(path.display().to_string(), text);
        if let Ok(compiled) = fencepost_c::compile(&file, &fencepost_c::Options::default()) {
            programs.push(compiled.program);
        }
    }
    programs
}

#[test]
fn the_corpus_compiles_for_every_target() {
    let corpus = corpus();
    assert!(corpus.len() >= 150, "{} programs", corpus.len());
    for source in &corpus {
        for target in Target::ALL {
            for (_, mapping) in variants(target) {
                let program = compile(source, target, mapping);
                assert_eq!(program.objects, source.objects);
                for (old, new) in source.functions.iter().zip(&program.functions) {
                    check(target, old, new);
                }
            }
        }
    }
}
