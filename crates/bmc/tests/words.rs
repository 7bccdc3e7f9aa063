//! Word operations against the arithmetic of `ir`, and clauses against the graph they come from.

mod support;

use fencepost_bmc::aig::{Graph, Lit};
use fencepost_bmc::arithmetic::{binary, rmw, unary};
use fencepost_bmc::limits::Limits;
use fencepost_bmc::solver::{Answer, Solver};
use fencepost_bmc::word::Word;
use fencepost_ir::{Extend, Value, Width};
use support::{BINARY, Dice, RMW, UNARY};

/// Inputs with the bits of some numbers.
struct Inputs {
    graph: Graph,
    values: Vec<bool>,
}

impl Inputs {
    fn new() -> Inputs {
        Inputs { graph: Graph::new(), values: vec![false] }
    }

    /// A word of `len` unknown bits and perhaps a sign; returns the first of its inputs.
    fn word(&mut self, len: u32, signed: bool) -> (Word, usize) {
        let first = self.graph.len();
        let word = Word::input(&mut self.graph, len, signed);
        self.values.resize(self.graph.len(), false);
        (word, first)
    }

    fn set(&mut self, first: usize, bits: u64, count: usize) {
        self.values.resize(self.graph.len(), false);
        for i in 0..count {
            self.values[first + i] = bits >> i & 1 == 1;
        }
    }

    fn value(&self, word: &Word) -> Value {
        let values = self.graph.evaluate(|node| self.values[node as usize]);
        word.evaluate(&values)
    }
}

/// The number that `len` bits and perhaps a sign stand for.
fn number(bits: u64, len: u32, signed: bool) -> Value {
    let negative = signed && bits >> len & 1 == 1;
    let low = bits & ((1 << len) - 1);
    Value(if negative { low | u64::MAX << len } else { low })
}

#[test]
fn every_operator_on_all_pairs_of_small_numbers() {
    for (len, signed) in [(3, false), (2, true), (3, true)] {
        let total = len + u32::from(signed);
        for width in [Width::W8, Width::W64] {
            for extend in [Extend::Zero, Extend::Sign] {
                let mut inputs = Inputs::new();
                let ((a, at_a), (b, at_b)) = (inputs.word(len, signed), inputs.word(len, signed));
                let results: Vec<_> = BINARY
                    .iter()
                    .map(|&op| binary(&mut inputs.graph, op, width, extend, &a, &b).expect("a circuit"))
                    .collect();
                let ones: Vec<_> = UNARY
                    .iter()
                    .map(|&op| unary(&mut inputs.graph, op, width, extend, &a).expect("a circuit"))
                    .collect();
                let stores: Vec<_> =
                    RMW.iter().map(|&op| rmw(&mut inputs.graph, op, width, &a, &b)).collect();
                for pair in 0..1u64 << (2 * total) {
                    inputs.set(at_a, pair, total as usize);
                    inputs.set(at_b, pair >> total, total as usize);
                    let values = inputs.graph.evaluate(|node| inputs.values[node as usize]);
                    let (x, y) =
                        (number(pair & ((1 << total) - 1), len, signed), number(pair >> total, len, signed));
                    for (op, computed) in BINARY.iter().zip(&results) {
                        match op.apply(width, x, y) {
                            None => assert!(values.of(computed.undefined), "{op:?} {x:?} {y:?}"),
                            Some(value) => {
                                assert!(!values.of(computed.undefined), "{op:?} {x:?} {y:?}");
                                let expected = width.extend(extend, value);
                                let got = computed.word.evaluate(&values);
                                assert_eq!(got, expected, "{op:?} {width:?} {extend:?} {x:?} {y:?}");
                            }
                        }
                    }
                    for (op, word) in UNARY.iter().zip(&ones) {
                        let expected = width.extend(extend, op.apply(width, x));
                        assert_eq!(word.evaluate(&values), expected, "{op:?} {width:?} {x:?}");
                    }
                    for (op, word) in RMW.iter().zip(&stores) {
                        let (x, y) = (width.zero_extend(x), y);
                        assert_eq!(
                            word.evaluate(&values),
                            op.apply(width, x, y),
                            "{op:?} {width:?} {x:?} {y:?}"
                        );
                    }
                }
            }
        }
    }
}

#[test]
fn every_operator_on_large_numbers() {
    let mut dice = Dice(5);
    for width in Width::ALL {
        for op in BINARY {
            let mut inputs = Inputs::new();
            let ((a, at_a), (b, at_b)) = (inputs.word(64, false), inputs.word(64, false));
            let extend = dice.pick(&[Extend::Zero, Extend::Sign]);
            let computed = binary(&mut inputs.graph, op, width, extend, &a, &b).expect("a circuit");
            for _ in 0..24 {
                let special = [0, 1, u64::MAX, 1 << 63, 1 << 31, 0x7fff_ffff, 0x80, 0xff];
                let mut number = || match dice.one_in(3) {
                    true => dice.pick(&special),
                    false => {
                        let shift = dice.below(64);
                        dice.next() >> shift
                    }
                };
                let (x, y) = (number(), number());
                inputs.set(at_a, x, 64);
                inputs.set(at_b, y, 64);
                if let Some(value) = op.apply(width, Value(x), Value(y)) {
                    let expected = width.extend(extend, value);
                    assert_eq!(
                        inputs.value(&computed.word),
                        expected,
                        "{op:?} {width:?} {extend:?} {x:#x} {y:#x}"
                    );
                }
            }
        }
    }
}

/// Known values give the same results as circuits, and know theirs.
#[test]
fn words_that_know_their_values() {
    let mut dice = Dice(9);
    for _ in 0..400 {
        let mut inputs = Inputs::new();
        let mut list = |inputs: &mut Inputs| {
            let values: Vec<u64> =
                (0..1 + dice.below(4)).map(|_| dice.pick(&[0, 1, 2, 5, u64::MAX, 1 << 40])).collect();
            let first = inputs.graph.len();
            let word = Word::one_of(&mut inputs.graph, &values);
            inputs.values.resize(inputs.graph.len(), false);
            (word, values, first)
        };
        let ((a, xs, at_a), (b, ys, at_b)) = (list(&mut inputs), list(&mut inputs));
        let (op, width) = (dice.pick(&BINARY), dice.pick(&Width::ALL));
        let (from_a, from_b) = (at_b - at_a, inputs.graph.len() - at_b);
        let computed = binary(&mut inputs.graph, op, width, Extend::Sign, &a, &b).expect("a circuit");
        inputs.values.resize(inputs.graph.len(), false);
        for code in 0..1u64 << (from_a + from_b) {
            for i in 0..from_a + from_b {
                inputs.values[at_a + i] = code >> i & 1 == 1;
            }
            let (x, y) = (inputs.value(&a), inputs.value(&b));
            if xs.contains(&x.0)
                && ys.contains(&y.0)
                && let Some(value) = op.apply(width, x, y)
            {
                let expected = width.sign_extend(value);
                assert_eq!(inputs.value(&computed.word), expected, "{op:?} {x:?} {y:?}");
                assert!(computed.word.values().is_none_or(|values| values.contains(&expected.0)));
            }
        }
    }
}

/// A random graph: the solver finds an assignment for a node exactly if evaluation finds one, and it evaluates to true.
#[test]
fn clauses_mean_what_the_graph_means() {
    let mut dice = Dice(3);
    for _ in 0..300 {
        let mut graph = Graph::new();
        let mut lits: Vec<Lit> = (0..5).map(|_| graph.input()).collect();
        for _ in 0..30 {
            let mut pick = || {
                let lit = lits[dice.below(lits.len() as u64) as usize];
                lit.complement_if(dice.one_in(2))
            };
            let (a, b, c) = (pick(), pick(), pick());
            lits.push(match dice.below(3) {
                0 => graph.and(a, b),
                1 => graph.xor(a, b),
                _ => graph.mux(a, b, c),
            });
        }
        let mut solver = Solver::new(Limits::default());
        for _ in 0..6 {
            let wanted: Vec<Lit> = (0..2)
                .map(|_| lits[dice.below(lits.len() as u64) as usize].complement_if(dice.one_in(2)))
                .collect();
            let by_hand = (0..32u32).any(|row| {
                let values = graph.evaluate(|node| row >> (node - 1) & 1 == 1);
                wanted.iter().all(|&lit| values.of(lit))
            });
            match solver.solve(&graph, &wanted) {
                Answer::Sat(values) => assert!(by_hand && wanted.iter().all(|&lit| values.of(lit))),
                Answer::Unsat => assert!(!by_hand),
                Answer::Stopped(reason) => panic!("{reason:?}"),
            }
        }
    }
}
