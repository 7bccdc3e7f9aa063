//! Every part of every mapping is needed: without it some classical shape shows a state that RC11 forbids.
//!
//! A part is a fence, a branch on a value read, an acquire or release of an AArch64 instruction, or the exchange in the
//! place of a store. It belongs to a row of the mapping table, such as `R.acq` or `C.rel/acq` (a compare-exchange, its
//! orders on success and failure).

use crate::directed::{SHAPES, fill};
use crate::soundness::{FENCES, LOADS, RMWS, Random, STORES};
use crate::support::{Allowed, is_strict, model, program, states, variants};
use fencepost_ir::{Ann, Fence, Instr, Order, Program};
use fencepost_models::mapping::{Target, compile};
use std::collections::BTreeMap;

/// A compiled program without one part, and what the part is.
struct Mutant {
    part: String,
    program: Program,
}

/// The ways to weaken one instruction that came from a statement of this kind.
fn weaker(instr: &Instr, kind: &str) -> Vec<(String, Instr)> {
    let nothing = Instr::Fence(Fence::Compiler);
    match instr {
        Instr::Fence(Fence::Compiler) => Vec::new(),
        Instr::Fence(fence) => vec![(fence.name().to_string(), nothing)],
        // The wait of a lock is a control dependency already.
        Instr::Branch { .. } if kind == "lock" => Vec::new(),
        Instr::Branch { then_to, else_to, .. } if then_to == else_to => vec![("branch".into(), nothing)],
        &Instr::Rmw { addr, operand, width, .. } if kind.starts_with('W') => {
            let store = Instr::Store { addr, value: operand, width, ann: Ann::PLAIN };
            vec![("xchg".into(), store)]
        }
        _ => weaker_orders(instr, kind),
    }
}

fn weaker_orders(instr: &Instr, kind: &str) -> Vec<(String, Instr)> {
    let mut out = Vec::new();
    let mut weaken = |from: Order, to: Order| {
        let mut weak = instr.clone();
        let anns: Vec<&mut Ann> = match &mut weak {
            Instr::Load { ann, .. } | Instr::Store { ann, .. } | Instr::StoreExclusive { ann, .. } => {
                vec![ann]
            }
            Instr::Rmw { read, write, .. } | Instr::AwaitRmw { read, write, .. } => vec![read, write],
            Instr::CompareExchange { read, write, failure, .. } => vec![read, write, failure],
            _ => Vec::new(),
        };
        for ann in anns {
            if ann.order == from {
                ann.order = to;
            }
        }
        if weak != *instr {
            out.push((format!("{} to {}", from.name(), to.name()), weak));
        }
    };
    weaken(Order::AcquirePc, Order::Plain);
    weaken(Order::Acquire, Order::Plain);
    weaken(Order::Release, Order::Plain);
    if kind == "R.sc" {
        weaken(Order::Acquire, Order::AcquirePc);
    }
    out
}

/// `Wx1.rel` is of the kind `W.rel`.
fn kind(word: &str) -> String {
    word.split_once('.').map_or(word.to_string(), |(access, orders)| format!("{}.{orders}", &access[..1]))
}

/// Each part of a compiled program left out once.
fn mutants(compiled: &Program, text: &str) -> Vec<Mutant> {
    let words: Vec<&str> = text.split_whitespace().filter(|w| *w != "|").collect();
    let mut out = Vec::new();
    for (f, function) in compiled.functions.iter().enumerate() {
        for (at, instr) in function.body.iter().enumerate() {
            let statement = function.spans[at].start;
            let kind = kind(words[statement as usize]);
            let same: Vec<usize> = (0..at).filter(|&i| function.spans[i].start == statement).collect();
            let twin = same.iter().any(|&i| function.body[i] == *instr);
            for (name, weak) in weaker(instr, &kind) {
                let mut program = compiled.clone();
                program.functions[f].body[at] = weak;
                let twin = if twin { ", second" } else { "" };
                out.push(Mutant { part: format!("{kind}: {name}{twin}"), program });
            }
        }
    }
    out
}

/// Every row of the tables, as a statement.
fn rows() -> Vec<String> {
    let mut rows = vec!["lock".to_string(), "unlock".to_string()];
    rows.extend(LOADS.iter().map(|o| format!("Rx.{o}")));
    rows.extend(STORES.iter().map(|o| format!("Wx1.{o}")));
    rows.extend(FENCES.iter().map(|o| format!("F.{o}")));
    for order in RMWS {
        rows.extend(["Ax1", "Xx1"].map(|s| format!("{s}.{order}")));
        rows.extend(["rlx", "acq", "sc"].map(|failure| format!("Cx0:1.{order}/{failure}")));
    }
    rows
}

/// The parts of one mapping, each with a program that notices when it is missing.
fn parts(target: Target, variant: &str, rounds: usize) -> BTreeMap<String, Option<String>> {
    let (_, mapping) = variants(target).into_iter().find(|(n, _)| *n == variant).expect("a variant");
    let all = rows().into_iter().flat_map(|row| mutants(&compile(&program(&row), target, mapping), &row));
    let mut parts: BTreeMap<String, Option<String>> = all.map(|m| (m.part, None)).collect();
    let mut random = Random(6);
    for _ in 0..rounds {
        for (_, shape) in SHAPES {
            let text = fill(shape, &mut random);
            let source = program(&text);
            let mut open = mutants(&compile(&source, target, mapping), &text);
            open.retain(|m| parts[&m.part].is_none());
            if open.is_empty() {
                continue;
            }
            let mut allowed = Allowed::of(&source);
            for Mutant { part, program } in open {
                let bad = allowed.violation(&states(&program, model(target)), is_strict(target, variant));
                parts.insert(part, bad.map(|_| text.clone()));
            }
        }
        if parts.values().all(Option::is_some) {
            break;
        }
    }
    parts
}

fn every_part_is_needed(target: Target) {
    // Every other variant, the first and the last among them; all if asked for.
    let all = std::env::var_os("FENCEPOST_FULL").is_some_and(|value| value != "0");
    let variants = variants(target);
    let last = variants.len() - 1;
    for (_, (variant, _)) in variants.into_iter().enumerate().filter(|(i, _)| all || i % 2 == 0 || *i == last)
    {
        let parts = parts(target, variant, 5000);
        println!("{}, {variant}: {} parts", target.name(), parts.len());
        let survivors: Vec<&String> = parts.iter().filter(|(_, t)| t.is_none()).map(|(p, _)| p).collect();
        assert!(survivors.is_empty(), "{}, {variant} does not need {survivors:?}", target.name());
    }
}

#[test]
fn every_part_is_needed_for_tso_and_pso() {
    every_part_is_needed(Target::Tso);
    every_part_is_needed(Target::Pso);
}

#[test]
fn every_part_is_needed_for_power() {
    every_part_is_needed(Target::Power);
}

#[test]
fn every_part_is_needed_for_armv8() {
    every_part_is_needed(Target::Armv8);
}
