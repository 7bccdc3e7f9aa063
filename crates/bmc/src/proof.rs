//! Proofs: an answer *safe* again from nothing, with a proof in the format LRAT, and a checker that shares nothing with the
//! solver.
//!
//! A line `id literals 0 hints 0` adds a clause: assume that all its literals are false; then each hint, a clause known
//! before, must have at most one literal left that is not false, which becomes true, until one has none. A line
//! `id d ids 0` forgets clauses. The formula is unsatisfiable if the empty clause is added.
//!
//! Reference: L. Cruz-Filipe, M. Heule, W. Hunt, M. Kaufmann, P. Schneider-Kamp, Efficient certified RAT verification,
//! CADE 2017. Only clauses by unit propagation are accepted; the solver is not asked for others.

use crate::cnf::Literal;
use crate::solver::Solver;
use rustc_hash::FxHashMap;
use std::path::Path;

/// What a checked proof had.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Checked {
    /// Clauses of the formula.
    pub formula: usize,
    /// Clauses that were added.
    pub added: usize,
}

/// Checks the proof that a solver, which has found that there is no solution, has written to a file. Returns what was checked, in
/// words.
pub fn checked_proof(solver: Solver, path: &Path) -> Result<String, String> {
    let formula = solver.into_recorded();
    let text =
        std::fs::read_to_string(path).map_err(|error| format!("cannot read {}: {error}", path.display()))?;
    let checked = check_lrat(&formula, &text)
        .map_err(|why| format!("internal error: the proof does not check: {why}"))?;
    Ok(format!(
        "a proof of {} steps over {} clauses was written to {} and checked",
        checked.added,
        checked.formula,
        path.display()
    ))
}

/// Checks that a proof refutes a formula, whose clauses are numbered from 1.
pub fn check_lrat(formula: &[Vec<Literal>], proof: &str) -> Result<Checked, String> {
    let mut clauses: FxHashMap<u64, Vec<Literal>> =
        (1u64..).zip(formula).map(|(id, clause)| (id, clause.clone())).collect();
    let mut added = 0;
    for (number, line) in (1..).zip(proof.lines()) {
        let wrong = |what: &str| format!("line {number} of the proof: {what}");
        let mut words = line.split_ascii_whitespace();
        let Some(id) = words.next() else { continue };
        let id: u64 = id.parse().map_err(|_| wrong("no number"))?;
        let rest: Vec<&str> = words.collect();
        if rest.first() == Some(&"d") {
            for word in &rest[1..] {
                let id: u64 = word.parse().map_err(|_| wrong("no number"))?;
                clauses.remove(&id);
            }
            continue;
        }
        let numbers: Vec<i64> = rest
            .iter()
            .map(|word| word.parse().map_err(|_| wrong("no number")))
            .collect::<Result<_, String>>()?;
        let (clause, hints) = split(&numbers).ok_or_else(|| wrong("a zero is missing"))?;
        refutes(&clauses, &clause, hints).map_err(|why| wrong(&why))?;
        added += 1;
        if clause.is_empty() {
            return Ok(Checked { formula: formula.len(), added });
        }
        clauses.insert(id, clause);
    }
    Err("the proof ends without the empty clause".into())
}

fn split(numbers: &[i64]) -> Option<(Vec<Literal>, &[i64])> {
    let end = numbers.iter().position(|&n| n == 0)?;
    let clause = numbers[..end].iter().map(|&n| Literal::try_from(n).ok()).collect::<Option<Vec<_>>>()?;
    let hints = &numbers[end + 1..];
    let last = hints.iter().position(|&n| n == 0)?;
    Some((clause, &hints[..last]))
}

/// The clause follows by unit propagation through the hints.
fn refutes(clauses: &FxHashMap<u64, Vec<Literal>>, clause: &[Literal], hints: &[i64]) -> Result<(), String> {
    let mut truth: FxHashMap<Literal, bool> = FxHashMap::default();
    for &literal in clause {
        truth.insert(literal.abs(), literal < 0);
    }
    for &hint in hints {
        let id = u64::try_from(hint).map_err(|_| "a clause that does not follow by propagation")?;
        let hinted = clauses.get(&id).ok_or_else(|| format!("there is no clause {id}"))?;
        let is_true = |literal: &Literal| truth.get(&literal.abs()) == Some(&(*literal > 0));
        if hinted.iter().any(is_true) {
            continue;
        }
        let mut open = hinted.iter().filter(|literal| !truth.contains_key(&literal.abs()));
        match (open.next(), open.next()) {
            (None, _) => return Ok(()),
            (Some(&unit), None) => drop(truth.insert(unit.abs(), unit > 0)),
            (Some(_), Some(other)) if hinted.iter().all(|l| l == other || truth.contains_key(&l.abs())) => {
                truth.insert(other.abs(), *other > 0);
            }
            _ => return Err(format!("clause {id} is not unit")),
        }
    }
    Err("its hints lead to no conflict".into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_proof_is_checked_line_by_line() {
        // (a b) (a !b) (!a b) (!a !b)
        let formula = vec![vec![1, 2], vec![1, -2], vec![-1, 2], vec![-1, -2]];
        let good = "5 1 0 1 2 0\n5 d 1 2 0\n6 0 5 3 4 0\n";
        assert_eq!(check_lrat(&formula, good), Ok(Checked { formula: 4, added: 2 }));
        for (bad, why) in [
            ("5 1 0 1 3 0\n", "line 1 of the proof: its hints lead to no conflict"),
            ("5 1 0 1 2 0\n", "the proof ends without the empty clause"),
            ("5 1 0 9 0\n", "line 1 of the proof: there is no clause 9"),
            ("5 0 1 0\n", "line 1 of the proof: clause 1 is not unit"),
            ("5 1 0 1 2 0\n4 d 5 0\n6 0 5 3 4 0\n", "line 3 of the proof: there is no clause 5"),
            ("5 1 1 2\n", "line 1 of the proof: a zero is missing"),
            ("x\n", "line 1 of the proof: no number"),
        ] {
            assert_eq!(check_lrat(&formula, bad), Err(why.into()), "{bad}");
        }
    }
}
