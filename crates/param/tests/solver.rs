//! The decision procedure against an outside solver: random conjunctions, and the certificates of safe answers. Without
//! a solver in the path there is nothing to compare with, and the tests that need one are absent.
#![allow(missing_docs)]

mod common;

use common::generate::Rng;
use common::{answer, crate_dir, load, system_of};
use fencepost_param::cube::{Atom, CubeLit, sort_of};
use fencepost_param::literal::{Fact, LinOp, Linear, Lit, linear};
use fencepost_param::memory::Memory;
use fencepost_param::solver::{Theory, explain, simplify};
use fencepost_param::system::System;
use fencepost_param::{Options, Verdict, smtlib};
use std::io::Write;
use std::process::{Command, Stdio};

const SYSTEM: &str = "type t = A | B | C
array E[proc] : t
array P[proc] : proc
array N[proc] : int
array R[proc] : real
init (p) { E[p] = A }
unsafe (p) { E[p] = B }";

fn z3(script: &str) -> Option<Vec<String>> {
    let mut child =
        Command::new("z3").arg("-in").stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().ok()?;
    child.stdin.take()?.write_all(script.as_bytes()).ok()?;
    let output = child.wait_with_output().ok()?;
    Some(String::from_utf8_lossy(&output.stdout).lines().map(str::to_string).collect())
}

fn random_literal(rng: &mut Rng) -> Option<CubeLit> {
    let mut p = || rng.below(3) as u8;
    let (i, j) = ([p(), 255, 255], [p(), 255, 255]);
    let c = rng.below(5) as i64 - 2;
    let op = [LinOp::Eq, LinOp::Ne, LinOp::Le, LinOp::Lt][rng.below(4) as usize];
    let pair = |x: Atom, y: Atom| if x < y { (x, y) } else { (y, x) };
    match rng.below(7) {
        0 | 1 => Some(Lit::In(Atom::Cell(0, i), 1 + rng.below(6))),
        2 => {
            let (a, b) = pair(Atom::Cell(0, i), Atom::Cell(0, j));
            (a != b).then(|| if rng.below(2) == 0 { Lit::Eq(a, b) } else { Lit::Ne(a, b) })
        }
        3 => {
            let (a, b) = (Atom::Cell(1, i), Atom::Proc(j[0]));
            Some(if rng.below(2) == 0 { Lit::Eq(a, b) } else { Lit::Ne(a, b) })
        }
        4 => {
            let (a, b) =
                (Atom::Cell(1, i), if rng.below(2) == 0 { Atom::Proc(j[0]) } else { Atom::Cell(1, j) });
            (a != b).then(|| if rng.below(2) == 0 { Lit::Lt(a, b) } else { Lit::Lt(b, a) })
        }
        n => {
            let int = n == 5;
            let sym = if int { 2 } else { 3 };
            let x = Linear::atom(Atom::Cell(sym, i), int);
            let y = Linear::atom(Atom::Cell(sym, j), int);
            let sum = x.add(-(rng.below(2) as i64), &y)?.add(c, &Linear::constant(1, int))?;
            match linear(op, sum) {
                Fact::Lit(lit) => Some(lit),
                _ => None,
            }
        }
    }
}

fn decide(system: &System, lits: &[CubeLit]) -> (bool, Vec<CubeLit>) {
    let memory = Memory::default();
    let full = |a: Atom| system.full_mask(sort_of(system, &memory, a));
    let theory = Theory { full: &full, ordered_procs: false };
    match simplify(&theory, lits.to_vec()) {
        Some(normal) => (true, normal),
        None => (false, explain(&theory, lits)),
    }
}

#[test]
fn explanations_are_contradictory_and_minimal() {
    let system = system_of(SYSTEM, false);
    let mut contradictory = 0;
    for seed in 0..400 {
        let mut rng = Rng(seed);
        let lits: Vec<CubeLit> = (0..8).filter_map(|_| random_literal(&mut rng)).collect();
        let (satisfiable, core) = decide(&system, &lits);
        if satisfiable {
            continue;
        }
        contradictory += 1;
        assert!(!decide(&system, &core).0, "{core:?}");
        for i in 0..core.len() {
            let mut fewer = core.clone();
            fewer.remove(i);
            assert!(decide(&system, &fewer).0, "not minimal: {core:?}");
        }
    }
    assert!(contradictory > 50, "{contradictory}");
}

#[test]
fn random_conjunctions_agree_with_an_outside_solver() {
    if z3("(check-sat)").is_none() {
        return;
    }
    let system = system_of(SYSTEM, false);
    let memory = Memory::default();
    let mut script = String::new();
    let mut ours = Vec::new();
    for seed in 1000..1250 {
        let mut rng = Rng(seed);
        let lits: Vec<CubeLit> = (0..6).filter_map(|_| random_literal(&mut rng)).collect();
        ours.push((decide(&system, &lits).0, lits.clone()));
        script += &smtlib::query(&system, &memory, &lits);
        script += "(reset)\n";
    }
    let theirs = z3(&script).expect("a solver");
    assert_eq!(theirs.len(), ours.len(), "{theirs:?}");
    let mut weaker = 0;
    for ((satisfiable, lits), answer) in ours.iter().zip(&theirs) {
        // "Unsatisfiable" must always be right; "satisfiable" may be too cautious, and hardly ever is.
        assert!(*satisfiable || answer == "unsat", "{lits:?}");
        weaker += usize::from(*satisfiable && answer == "unsat");
    }
    assert!(weaker <= 5, "{weaker} conjunctions were not refuted");
}

#[test]
fn certificates_are_accepted_by_an_outside_solver() {
    if z3("(check-sat)").is_none() {
        return;
    }
    for (name, brab) in [
        ("german", Some(2)),
        ("burns_fenced", None),
        ("dekker_fenced", None),
        ("clock", None),
        ("commit", None),
    ] {
        let source = load(&crate_dir().join(format!("corpus/{name}.cub")));
        let outcome = answer(&source, &Options { brab, ..Options::default() });
        assert_eq!(outcome.verdict, Verdict::Safe);
        let certificate = outcome.certificate();
        assert!(!certificate.contains("NO CUBE"), "{name}");
        let answers = z3(&certificate).expect("a solver");
        assert_eq!(answers.len(), certificate.matches("(check-sat)").count(), "{name}");
        assert!(answers.iter().all(|a| a == "unsat"), "{name}: {answers:?}");
    }
}
