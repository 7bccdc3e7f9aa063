//! That a relation has no cycle, as gates: its events are taken out one after the other, and what led through each of them
//! leads past it from then on. A cycle is left as a pair of an event with itself. This is the elimination of vertices from a
//! graph; the order keeps what is added small.

use crate::pairs::Pairs;
use fencepost_bmc::Limits;
use fencepost_bmc::aig::{Graph, Lit};
use fencepost_bmc::formula::Formula;
use rustc_hash::FxHashMap;

/// Forbids cycles; where a limit is reached the formula is not whole.
pub fn forbid_cycles(graph: &mut Graph, pairs: &Pairs, formula: &mut Formula, limits: &Limits) {
    let n = pairs.len();
    let mut after: Vec<FxHashMap<u32, Lit>> = vec![FxHashMap::default(); n];
    let mut before: Vec<FxHashMap<u32, ()>> = vec![FxHashMap::default(); n];
    for (a, b, lit) in pairs.iter() {
        if a == b {
            formula.clause(&[!lit]);
        } else {
            after[a as usize].insert(b, lit);
            before[b as usize].insert(a, ());
        }
    }
    let mut left: Vec<u32> = (0..n as u32).collect();
    while let Some(at) = (0..left.len()).min_by_key(|&i| {
        let v = left[i] as usize;
        after[v].len() * before[v].len()
    }) {
        if limits.reached().is_some() {
            return;
        }
        let v = left.swap_remove(at);
        let mut targets: Vec<(u32, Lit)> = std::mem::take(&mut after[v as usize]).into_iter().collect();
        let mut sources: Vec<u32> = std::mem::take(&mut before[v as usize]).into_keys().collect();
        targets.sort_unstable();
        sources.sort_unstable();
        for &(b, _) in &targets {
            before[b as usize].remove(&v);
        }
        for &a in &sources {
            let Some(first) = after[a as usize].remove(&v) else { continue };
            for &(b, second) in &targets {
                let through = graph.and(first, second);
                if a == b {
                    formula.clause(&[!through]);
                } else if through != Lit::FALSE {
                    let known = after[a as usize].entry(b).or_insert(Lit::FALSE);
                    *known = graph.or(*known, through);
                    before[b as usize].insert(a, ());
                }
            }
        }
    }
}
