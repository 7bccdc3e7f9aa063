//! Formulas as SMT-LIB: sorts and symbols of a system, conjunctions of literals, and every query of the decision
//! procedure as a script that an outside solver can answer.
//!
//! A cube's cells, reads and processes become constants: the formulas are ground. Processes are a declared sort with
//! distinct constants; their order is a pair of functions into the integers, which is a strict order of any length.

use crate::cube::{Atom, CubeLit, sort_of};
use crate::literal::{LinOp, Linear, Lit};
use crate::memory::{Memory, elements};
use crate::system::{NONE, Sort, System};
use std::collections::BTreeMap;
use std::fmt::Write;

/// A script under construction: the constants it needs, and its assertions.
pub struct Script<'a> {
    system: &'a System,
    constants: BTreeMap<String, String>,
    procs: BTreeMap<u8, String>,
}

impl<'a> Script<'a> {
    /// An empty script.
    pub fn new(system: &'a System) -> Script<'a> {
        Script { system, constants: BTreeMap::new(), procs: BTreeMap::new() }
    }

    fn sort(&self, sort: Sort) -> String {
        match sort {
            Sort::Int => "Int".into(),
            Sort::Real => "Real".into(),
            Sort::Proc => "Proc".into(),
            Sort::Enum(e) => format!("T_{}", self.system.enums[e as usize].0),
            Sort::Abstract(a) => format!("T_{}", self.system.abstracts[a as usize]),
        }
    }

    fn proc(&mut self, p: u8) -> String {
        self.procs.entry(p).or_insert_with(|| format!("p{}", p + 1)).clone()
    }

    fn atom(&mut self, memory: &Memory, atom: Atom) -> String {
        let sort = self.sort(sort_of(self.system, memory, atom));
        let name = match atom {
            Atom::Proc(p) => return self.proc(p),
            Atom::Cell(sym, idx) => {
                let mut name = self.system.symbol(sym).name.clone();
                idx.iter().filter(|p| **p != NONE).for_each(|p| {
                    let _ = write!(name, "_p{}", p + 1);
                });
                name
            }
            Atom::Read(r) => {
                format!("read{}_{}", r + 1, self.system.symbol(memory.reads[r as usize].cell.0).name)
            }
            Atom::Any(n) => format!("any{n}"),
        };
        self.constants.insert(name.clone(), sort);
        name
    }

    fn number(value: i64, real: bool) -> String {
        let digits = format!("{}{}", value.unsigned_abs(), if real { ".0" } else { "" });
        if value < 0 { format!("(- {digits})") } else { digits }
    }

    fn linear(&mut self, memory: &Memory, form: &Linear<Atom>) -> String {
        let mut sum = vec![Script::number(form.constant, !form.int)];
        for (a, c) in &form.terms {
            let atom = self.atom(memory, *a);
            sum.push(format!("(* {} {atom})", Script::number(*c, !form.int)));
        }
        format!("(+ {} {})", sum.join(" "), Script::number(0, !form.int))
    }

    /// A literal as a term.
    pub fn literal(&mut self, memory: &Memory, lit: &CubeLit) -> String {
        match lit {
            Lit::In(a, mask) => {
                let Sort::Enum(e) = sort_of(self.system, memory, *a) else { return "true".into() };
                let atom = self.atom(memory, *a);
                let names = self.system.enums[e as usize].1.clone();
                let options: Vec<String> = elements(*mask)
                    .filter_map(|v| names.get(v as usize))
                    .map(|n| format!("(= {atom} {})", constructor(n)))
                    .collect();
                format!("(or false {})", options.join(" "))
            }
            Lit::Eq(a, b) => format!("(= {} {})", self.atom(memory, *a), self.atom(memory, *b)),
            Lit::Ne(a, b) => format!("(distinct {} {})", self.atom(memory, *a), self.atom(memory, *b)),
            Lit::Lt(a, b) => format!("(< (rank {}) (rank {}))", self.atom(memory, *a), self.atom(memory, *b)),
            Lit::Lin(op, form) => {
                let sum = self.linear(memory, form);
                let zero = Script::number(0, !form.int);
                match op {
                    LinOp::Eq => format!("(= {sum} {zero})"),
                    LinOp::Ne => format!("(distinct {sum} {zero})"),
                    LinOp::Le => format!("(<= {sum} {zero})"),
                    LinOp::Lt => format!("(< {sum} {zero})"),
                }
            }
        }
    }

    /// A conjunction as a term.
    pub fn conjunction(&mut self, memory: &Memory, lits: &[CubeLit]) -> String {
        let parts: Vec<String> = lits.iter().map(|l| self.literal(memory, l)).collect();
        format!("(and true {})", parts.join(" "))
    }

    /// Declares a Boolean constant.
    pub fn fact(&mut self, name: &str) -> String {
        self.constants.insert(name.to_string(), "Bool".into());
        name.to_string()
    }

    /// The declarations of the constants used so far, and what is known of them.
    pub fn declarations(&self) -> String {
        let mut out = String::new();
        for (name, sort) in &self.constants {
            let _ = writeln!(out, "(declare-const {name} {sort})");
        }
        for name in self.procs.values() {
            let _ = writeln!(out, "(declare-const {name} Proc)");
        }
        let names: Vec<&str> = self.procs.values().map(String::as_str).collect();
        if names.len() > 1 {
            let _ = writeln!(out, "(assert (distinct {}))", names.join(" "));
        }
        if self.system.number_procs.is_some() {
            for pair in names.windows(2) {
                let _ = writeln!(out, "(assert (< (rank {}) (rank {})))", pair[0], pair[1]);
            }
        }
        // The order of processes is total: different processes have different ranks.
        let all: Vec<&str> = self
            .constants
            .iter()
            .filter(|(_, sort)| *sort == "Proc")
            .map(|(name, _)| name.as_str())
            .chain(names)
            .collect();
        for (i, a) in all.iter().enumerate() {
            for b in &all[i + 1..] {
                let _ = writeln!(out, "(assert (= (= {a} {b}) (= (rank {a}) (rank {b}))))");
            }
        }
        out
    }
}

/// Constructors get a prefix: they share a name space with everything else.
fn constructor(name: &str) -> String {
    format!("C_{name}")
}

/// The sorts of a system.
pub fn prelude(system: &System) -> String {
    let mut out = String::from("(set-logic ALL)\n(declare-sort Proc 0)\n(declare-fun rank (Proc) Int)\n");
    for (name, constructors) in &system.enums {
        let names: Vec<String> = constructors.iter().map(|c| format!("({})", constructor(c))).collect();
        let _ = writeln!(out, "(declare-datatypes ((T_{name} 0)) (({})))", names.join(" "));
    }
    for name in &system.abstracts {
        let _ = writeln!(out, "(declare-sort T_{name} 0)");
    }
    out
}

/// "Are these literals satisfiable?", as a script of its own.
pub fn query(system: &System, memory: &Memory, lits: &[CubeLit]) -> String {
    let mut script = Script::new(system);
    let formula = script.conjunction(memory, lits);
    format!("{}{}(assert {formula})\n(check-sat)\n", prelude(system), script.declarations())
}
