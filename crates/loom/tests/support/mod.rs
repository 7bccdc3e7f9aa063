//! What the tests of this folder share: programs in C through the front end, and numbers that look random.

#![allow(dead_code)]

pub mod program;

use fencepost_diag::SourceFile;
use fencepost_explore::{ModelName, Options, Reduction, Reductions, explore};
use fencepost_ir::Language;
use fencepost_loom::FindingKind;
use fencepost_models::prepare::{Form, Options as Preparing, prepare};
use fencepost_models::registry;
use std::collections::BTreeSet;

/// What an exploration came to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Counted {
    pub executions: u64,
    pub kinds: BTreeSet<FindingKind>,
}

/// Explores a program in C.
pub fn count_c(text: &str, model: ModelName) -> Counted {
    count_with(text, model, Reductions::ALL.without(Reduction::Symmetry))
}

/// The same, and follows what is done in vain.
pub fn count_c_all(text: &str, model: ModelName) -> Counted {
    count_with(
        text,
        model,
        Reductions::ALL.without(Reduction::Symmetry).following_all().without(Reduction::Sleep),
    )
}

fn count_with(text: &str, model: ModelName, reductions: Reductions) -> Counted {
    let file = SourceFile::new("test.c", text);
    let options = fencepost_c::Options::default();
    let compiled = match fencepost_c::compile(&file, &options) {
        Ok(compiled) => compiled,
        Err(failure) => panic!("{text}\n{failure:?}"),
    };
    let entry = registry::find(model.name()).expect("a model");
    let preparing = Preparing { unroll: 64, ..Preparing::default() };
    let prepared =
        prepare(&compiled.program, Language::C, entry, Form::EXPLORE, &preparing).expect("prepared");
    let options = Options { reductions, ..Options::new(model) };
    let explored = explore(&prepared.program, &options).expect("supported");
    let kinds = explored.findings.iter().map(|finding| finding.kind).filter(|kind| !kind.is_warning());
    Counted { executions: explored.stats.executions, kinds: kinds.collect() }
}

/// Numbers that look random [Steele, Lea, Flood 2014].
pub struct Dice(pub u64);

impl Dice {
    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ z >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ z >> 31
    }

    pub fn below(&mut self, n: usize) -> usize {
        (self.next() % n as u64) as usize
    }

    pub fn pick<T: Copy>(&mut self, of: &[T]) -> T {
        of[self.below(of.len())]
    }
}
