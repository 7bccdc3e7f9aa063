//! The compiled instance, which inference learns from, against the machine: the same states, up to which process is which.
#![allow(missing_docs)]

mod common;

use common::{crate_dir, load, system_of, systems};
use fencepost_param::machine::{Compiled, Machine, Rows, explore, explore_reduced};
use fencepost_param::model::Model;
use std::collections::BTreeSet;

/// States, beyond which an instance is too large for a test.
const MANY: usize = 20_000;

fn rows(rows: &Rows) -> Vec<Vec<i64>> {
    rows.values.chunks_exact(rows.width.max(1)).map(|r| r.iter().map(|v| i64::from(*v)).collect()).collect()
}

#[test]
fn a_compiled_instance_has_the_states_of_the_machine() {
    let (mut compared, mut states) = (0, 0);
    for path in systems(&crate_dir().join("corpus")) {
        let system = system_of(&load(&path).text, false);
        let machine = Machine::new(&system, Model::Sc, system.number_procs.unwrap_or(2));
        let Some(compiled) = Compiled::new(&machine) else { continue };
        let expected = explore_reduced(&machine, MANY, 1, &mut || false);
        if expected.len() == MANY {
            continue;
        }
        let expected: BTreeSet<Vec<i64>> = expected.into_iter().map(|s| s.cells.into_vec()).collect();
        let found: BTreeSet<Vec<i64>> = rows(&compiled.explore(MANY, 2, &mut || false)).into_iter().collect();
        assert!(expected == found, "{}: {} and {} states", path.display(), expected.len(), found.len());
        let all = explore(&machine, 10 * MANY, false, &mut || false);
        let all: BTreeSet<Vec<i64>> = all.states.into_iter().map(|s| s.0.cells.into_vec()).collect();
        for state in rows(&compiled.walk(500, 0, &mut || false).0) {
            assert!(all.contains(&state), "{}: a random run reaches {state:?}", path.display());
        }
        compared += 1;
        states += expected.len();
    }
    assert!(compared >= 40 && states > 2_000, "{compared} systems with {states} states were compared");
}
