//! The certificate of a safe answer: proof obligations in SMT-LIB. Every `check-sat` of the script must answer `unsat`.
//!
//! The invariant says that no cube of a list holds. The obligations are:
//!
//! 1. no cube contains an initial state: the cube and an instance of `init` contradict each other;
//! 2. every bad cube, and every pre-image of a cube, lies within the cubes: it contradicts the negation of some
//!    instances of them. What a cube says about events and `ghb` is a set of Boolean facts, `e1_before_e2` and the
//!    like, named alike in both.
//!
//! Pre-images are computed by us; `recheck` does so a second time with other code. What is left to the outside solver
//! is the logic.

use crate::cube::{Atom, Cell, Cube};
use crate::literal::Fact;
use crate::machine::tuples;
use crate::memory::{Memory, Nodes, elements};
use crate::outcome::{Outcome, Verdict};
use crate::pre::Context;
use crate::smtlib::{Script, prelude};
use crate::subsume::{Pattern, Profile};
use crate::system::{NONE, SrcAtom, System};
use std::fmt::Write;

impl Outcome {
    /// The obligations, or a comment that says why there are none.
    pub fn certificate(&self) -> String {
        if self.verdict != Verdict::Safe {
            return format!("; no certificate: the answer is {}\n", self.verdict.name());
        }
        let context = Context::new(&self.system, self.model.memory());
        let mut out = format!(
            "; Obligations of a proof under {} for {}.\n; Every check-sat must answer unsat.\n{}",
            self.model.name(),
            self.scope,
            prelude(&self.system)
        );
        for (number, cube) in self.invariant.iter().enumerate() {
            initial(&mut out, &self.system, number, cube);
        }
        let mut assumed: Vec<Cube> = self.system.assumed.iter().flat_map(|b| context.cubes_of(b)).collect();
        assumed.extend(self.invariant.iter().cloned());
        let cover = Cover { patterns: assumed.iter().map(Pattern::new).collect(), cubes: &assumed };
        for bad in &self.system.bad {
            for cube in context.cubes_of(bad) {
                covered(&mut out, &self.system, &cover, "a bad cube", &cube);
            }
        }
        for (number, cube) in self.invariant.iter().enumerate() {
            let Ok(predecessors) = context.pre_image(cube, 1) else {
                // An obligation that no solver discharges: a certificate with a gap must not pass for a whole one.
                out += &format!("; too many states before cube {number} to list them\n(check-sat)\n");
                continue;
            };
            for p in predecessors {
                let t = &self.system.transitions[p.transition];
                covered(
                    &mut out,
                    &self.system,
                    &cover,
                    &format!("before cube {number} by {}", t.name),
                    &p.cube,
                );
            }
        }
        out
    }
}

struct Cover<'a> {
    patterns: Vec<Pattern>,
    cubes: &'a [Cube],
}

/// The cube and init contradict each other. Disjunctive clauses of init stay disjunctions.
fn initial(out: &mut String, system: &System, number: usize, cube: &Cube) {
    if !cube.memory.may_be_initial() {
        return;
    }
    let mut script = Script::new(system);
    let mut formulas = Vec::new();
    let reads = &cube.memory.reads;
    for lit in &cube.lits {
        let fact = lit.rename(&mut |a| match a {
            Atom::Read(r) => Atom::Cell(reads[r as usize].cell.0, reads[r as usize].cell.1),
            other => other,
        });
        match fact {
            Fact::True => {}
            Fact::False => return,
            Fact::Lit(l) => formulas.push(script.literal(&cube.memory, &l)),
        }
    }
    for clause in &system.init {
        for vars in tuples(cube.procs.max(1), clause.params, &[]) {
            let mut disjuncts = Vec::new();
            for conj in &clause.dnf {
                let mut parts = Vec::new();
                let mut possible = true;
                for lit in conj {
                    match lit.rename(&mut |a| match a {
                        SrcAtom::Proc(p) => Atom::Proc(p.resolve(&vars)),
                        SrcAtom::Sym(s, i) | SrcAtom::View(_, s, i) => {
                            Atom::Cell(s, i.map(|p| p.resolve(&vars)))
                        }
                    }) {
                        Fact::True => {}
                        Fact::False => possible = false,
                        Fact::Lit(l) => parts.push(script.literal(&cube.memory, &l)),
                    }
                }
                if possible {
                    disjuncts.push(format!("(and true {})", parts.join(" ")));
                }
            }
            formulas.push(format!("(or false {})", disjuncts.join(" ")));
        }
    }
    obligation(out, &format!("cube {number} has no initial state"), &script, &formulas);
}

/// The cube contradicts the negation of one instance of a visited cube, the one found by subsumption.
fn covered(out: &mut String, system: &System, cover: &Cover, what: &str, cube: &Cube) {
    let profile = Profile::new(cube);
    let found = (0..cover.cubes.len()).find_map(|i| {
        cover.patterns[i].matching(&cover.cubes[i], cube, &profile, system.symmetric).map(|m| (i, m))
    });
    let mut script = Script::new(system);
    let mut formulas = vec![script.conjunction(&cube.memory, &cube.lits)];
    for fact in facts(system, &cube.memory, &|p| p, &|n| n) {
        formulas.push(script.fact(&fact));
    }
    let Some((index, (procs, reads, nodes))) = found else {
        obligation(out, &format!("{what} lies within NO CUBE"), &script, &formulas);
        return;
    };
    let general = &cover.cubes[index];
    let mut parts = Vec::new();
    for lit in &general.lits {
        let renamed = lit.rename(&mut |a| match a {
            Atom::Cell(s, idx) => {
                Atom::Cell(s, idx.map(|p| if p == NONE { NONE } else { procs[p as usize] }))
            }
            Atom::Proc(p) => Atom::Proc(procs[p as usize]),
            Atom::Read(r) => Atom::Read(reads[r as usize]),
            other => other,
        });
        match renamed {
            Fact::True => {}
            Fact::False => parts.push("false".into()),
            Fact::Lit(l) => parts.push(script.literal(&cube.memory, &l)),
        }
    }
    for fact in facts(system, &general.memory, &|p| procs[p as usize], &|n| nodes[n as usize]) {
        parts.push(script.fact(&fact));
    }
    formulas.push(format!("(not (and true {}))", parts.join(" ")));
    obligation(out, what, &script, &formulas);
}

/// What a cube says about events, as names of Boolean constants, with processes and nodes renamed.
fn facts(system: &System, memory: &Memory, proc: &dyn Fn(u8) -> u8, node: &dyn Fn(u8) -> u8) -> Vec<String> {
    let mut result = Vec::new();
    let cell = |c: &Cell| {
        let idx: Vec<String> =
            c.1.iter().filter(|p| **p != NONE).map(|p| format!("_p{}", proc(*p) + 1)).collect();
        format!("{}{}", system.symbol(c.0).name, idx.concat())
    };
    let mut before = |what: String, nodes: Nodes| {
        result.extend(elements(nodes).map(|n| format!("{what}_before_e{}", node(n) + 1)));
    };
    for (n, after) in memory.after.iter().enumerate() {
        before(format!("e{}", node(n as u8) + 1), *after);
    }
    // What holds for everyone holds for each process.
    let everyone = memory.everyone;
    before("all_events".into(), everyone.event);
    before("all_writes".into(), everyone.write);
    for (p, entry) in memory.entries.iter().enumerate() {
        if entry.event | entry.write != 0 {
            let p = proc(p as u8) + 1;
            before(format!("events_p{p}"), entry.event & !everyone.event);
            before(format!("writes_p{p}"), entry.write & !everyone.write);
        }
    }
    for (c, nodes) in &memory.cells {
        before(format!("access_{}", cell(c)), *nodes);
    }
    for write in &memory.writes {
        let n = node(write.node) + 1;
        result.push(format!("e{n}_writes"));
        result.extend(write.skipped.iter().map(|_| format!("e{n}_is_skipped")));
    }
    result
}

fn obligation(out: &mut String, what: &str, script: &Script, formulas: &[String]) {
    let _ = writeln!(out, "; {what}\n(push 1)");
    out.push_str(&script.declarations());
    for f in formulas {
        let _ = writeln!(out, "(assert {f})");
    }
    out.push_str("(check-sat)\n(pop 1)\n");
}
