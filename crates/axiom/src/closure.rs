//! The closure of a relation that the solver chooses: at least that, by Horn clauses.
//!
//! ```text
//! r(a, b) => p(a, b);   p(a, b) & r(b, c) => p(a, c)
//! ```

use crate::base::Base;
use crate::pairs::Pairs;
use fencepost_bmc::aig::{Graph, Lit};
use fencepost_bmc::formula::Formula;
use fencepost_ir::Relation;

/// `steps+`, or more, for the pairs that are wanted and those that lead there.
pub fn at_least(
    base: &Base,
    graph: &mut Graph,
    formula: &mut Formula,
    steps: &Pairs,
    wanted: &Relation,
) -> Pairs {
    let possible = steps.possible();
    let back = possible.reflexive_transitive_closure().inverse();
    let places = wanted.compose(&back).intersection(&possible.transitive_closure());
    let mut plus = Pairs::new(steps.len());
    for (a, b) in places.pairs() {
        let (a, b) = (a as u32, b as u32);
        let (step, all) = (steps.get(a, b), base.executed(graph, a, b));
        let p = if step == all { all } else { graph.input() };
        plus.push(a, b, p);
        formula.clause(&[!step, p]);
    }
    let short = without_shortcuts(base, graph, steps);
    for (a, b, p) in plus.iter() {
        for &(c, step) in short.row(b) {
            let q = plus.get(a, c);
            if q != Lit::FALSE && q != base.executed(graph, a, c) {
                formula.clause(&[!p, !step, q]);
            }
        }
    }
    plus
}

/// The steps of which others are made: without those along program order that others lead along, too.
pub fn without_shortcuts(base: &Base, graph: &mut Graph, steps: &Pairs) -> Pairs {
    let n = steps.len();
    let mut along = Pairs::new(n);
    for (a, b, lit) in steps.iter() {
        if lit == base.po.get(a, b) && lit == base.executed(graph, a, b) {
            along.push(a, b, lit);
        }
    }
    let mut short = Pairs::new(n);
    for (a, b, lit) in steps.iter() {
        let guard = |m: u32| base.vertices[m as usize].guard;
        let is_shortcut = along.get(a, b) != Lit::FALSE
            && along
                .row(a)
                .iter()
                .any(|&(m, _)| along.get(m, b) != Lit::FALSE && graph.surely_implies(lit, guard(m)));
        if !is_shortcut {
            short.push(a, b, lit);
        }
    }
    short
}
