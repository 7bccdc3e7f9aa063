//! Random programs on the promising machine: against the explorer, against the plain machine, and the two notions of
//! consistency against each other.

mod support;

use fencepost_answer::Verdict;
use fencepost_explore::{ModelName, Options as ExploreOptions, explore};
use fencepost_ir::{Ann, Fence, Instr, Order, Program, Value};
use fencepost_machine::code::Code;
use fencepost_machine::local::Status;
use fencepost_machine::promising::plain::{Plain, State};
use fencepost_machine::promising::{Act, Bounds, Consistency, Options, check, prepare};
use proptest::prelude::*;
use proptest::test_runner::RngSeed;
use std::collections::BTreeSet;
use support::Stmt;

/// All values that these programs write, and so all that a future memory needs.
const DOMAIN: [Value; 3] = [Value(0), Value(1), Value(2)];

fn config(cases: u32) -> ProptestConfig {
    let scale: u32 = std::env::var("FENCEPOST_CASES").ok().and_then(|n| n.parse().ok()).unwrap_or(1);
    ProptestConfig { cases: cases * scale, rng_seed: RngSeed::Fixed(13), ..ProptestConfig::default() }
}

/// Relaxed accesses and SC fences; with `orders`, accesses and fences get orders of their own, taken from the list in turn.
fn program(threads: &[Vec<Stmt>], orders: &[u8]) -> Program {
    program_of(threads, orders, 2)
}

/// The same with that many variables.
fn program_of(threads: &[Vec<Stmt>], orders: &[u8], variables: u32) -> Program {
    let mut program = support::program(threads, variables);
    let mut next = orders.iter().copied().cycle();
    let mut order = |choices: [Order; 2]| {
        let relaxed = orders.is_empty() || next.next() == Some(0);
        Ann::order(choices[usize::from(!relaxed)])
    };
    for instr in program.functions.iter_mut().flat_map(|function| &mut function.body) {
        match instr {
            Instr::Load { ann, .. } => *ann = order([Order::Relaxed, Order::Acquire]),
            Instr::Store { ann, .. } => *ann = order([Order::Relaxed, Order::Release]),
            Instr::Rmw { read, write, .. } => {
                *read = order([Order::Relaxed, Order::Acquire]);
                *write = order([Order::Relaxed, Order::Release]);
            }
            Instr::CompareExchange { read, write, failure, .. } => {
                *read = order([Order::Relaxed, Order::Acquire]);
                *write = order([Order::Relaxed, Order::Release]);
                *failure = *read;
            }
            Instr::Fence(fence) => {
                *fence = match (orders.is_empty(), &*fence) {
                    (true, _) | (_, Fence::Mfence) => Fence::C11(Order::SeqCst),
                    (_, Fence::Sfence) => Fence::C11(Order::Release),
                    (_, Fence::Lwsync) => Fence::C11(Order::AcqRel),
                    _ => Fence::C11(Order::Acquire),
                }
            }
            _ => {}
        }
    }
    program
}

fn states(program: &Program, consistency: Consistency, bounds: Bounds) -> Vec<Vec<Value>> {
    let options = Options { consistency, bounds, domain: Some(DOMAIN.to_vec()), ..Options::default() };
    let outcome = check(program, &options).expect("supported");
    assert_eq!(outcome.outcome.verdict, Verdict::Safe, "{:?}", outcome.outcome.stop_reason);
    outcome.final_states
}

fn promise_free() -> Bounds {
    Bounds { promises: Some(0), ..Bounds::default() }
}

fn rc11_states(program: &Program) -> Vec<Vec<Value>> {
    let mut states = explore(program, &ExploreOptions::new(ModelName::Rc11)).expect("supported").states;
    states.sort();
    states
}

fn without_fences(threads: &[Vec<Stmt>]) -> Vec<Vec<Stmt>> {
    let keep = |stmts: &Vec<Stmt>| stmts.iter().filter(|s| !matches!(s, Stmt::Fence(_))).cloned().collect();
    threads.iter().map(keep).collect()
}

fn without_updates(threads: &[Vec<Stmt>]) -> Vec<Vec<Stmt>> {
    let keep = |s: &&Stmt| !matches!(s, Stmt::Add(_) | Stmt::Cas(..));
    threads.iter().map(|stmts| stmts.iter().filter(keep).cloned().collect()).collect()
}

proptest! {
    #![proptest_config(config(120))]

    /// Relaxed programs without promises are those of RC11, whose acyclicity of (sb | rf) forbids what promises allow.
    #[test]
    fn promise_free_relaxed_is_rc11(threads in support::threads(3, 4, 2)) {
        let program = program(&without_fences(&threads), &[]);
        prop_assert_eq!(states(&program, Consistency::Strong, promise_free()), rc11_states(&program));
    }

    /// With release and acquire too.
    #[test]
    fn promise_free_with_orders_is_rc11(threads in support::threads(3, 4, 2),
        orders in proptest::collection::vec(0u8..2, 1..12)) {
        let program = program(&threads, &orders);
        prop_assert_eq!(states(&program, Consistency::Strong, promise_free()), rc11_states(&program));
    }
}

proptest! {
    #![proptest_config(config(60))]

    /// SC fences order at least as much as those of RC11; `where_sc_fences_order_more_than_in_rc11` has the differences.
    #[test]
    fn fences_order_at_least_as_much_as_in_rc11(threads in support::threads(3, 4, 3)) {
        let program = program_of(&threads, &[], 3);
        let rc11 = rc11_states(&program);
        for state in states(&program, Consistency::Strong, promise_free()) {
            prop_assert!(rc11.contains(&state), "{:?}", state);
        }
    }
}

proptest! {
    #![proptest_config(config(45))]

    /// [AAGKV, Theorem 3.1]: strong is within standard.
    #[test]
    fn strong_is_within_standard(threads in support::threads(2, 3, 2)) {
        let program = program(&threads, &[]);
        let bounds = Bounds { promises: Some(2), ..Bounds::default() };
        let standard = states(&program, Consistency::Standard, bounds);
        for state in states(&program, Consistency::Strong, bounds) {
            prop_assert!(standard.contains(&state), "{:?}", state);
        }
    }
}

/// Every run of the plain machine, with every interval that can matter: the final states that it reaches.
fn plain_states(program: &Program, consistency: Consistency, promises: usize) -> Vec<Vec<Value>> {
    let prepared = prepare::prepare(program).expect("supported");
    let code = Code::new(&prepared).expect("supported");
    let config = prepare::thread_config();
    let plain = Plain::new(&code, &config, consistency, &DOMAIN);
    let fencepost_ir::Property::Final(condition) = &prepared.property else { panic!("a condition") };
    let values: Vec<(usize, Value)> =
        (0..2).flat_map(|cell| (0..4).map(move |value| (cell, Value(value)))).collect();
    let mut open: Vec<(usize, State)> = vec![(0, plain.start().0)];
    let mut met: BTreeSet<String> = BTreeSet::new();
    let mut states = BTreeSet::new();
    while let Some((made, state)) = open.pop() {
        if !met.insert(format!("{made} {}", shape(&state))) {
            continue;
        }
        if state.processes.iter().all(|p| matches!(p.local.status, Status::Ended(_))) {
            states.insert(plain.observed(&state, condition));
        }
        let promised = if made < promises { values.as_slice() } else { &[] };
        for (step, next) in plain.successors(&state, promised) {
            open.push((made + usize::from(matches!(step.act, Act::Promise { .. })), next));
        }
    }
    states.into_iter().collect()
}

/// A state up to the choice of numbers: times replaced by their rank among all times of the cell.
fn shape(state: &State) -> String {
    let cells = state.global.len();
    let mut times: Vec<Vec<u128>> = vec![vec![0]; cells];
    for m in &state.messages {
        times[m.cell].extend([m.from, m.to]);
    }
    times.iter_mut().for_each(|t| {
        t.sort_unstable();
        t.dedup();
    });
    let rank = |cell: usize, time: u128| times[cell].iter().position(|t| *t == time);
    let view = |v: &[u128]| v.iter().enumerate().map(|(cell, t)| rank(cell, *t)).collect::<Vec<_>>();
    let mut messages: Vec<String> = state
        .messages
        .iter()
        .map(|m| {
            format!(
                "{} {:?} {:?} {:?} {:?}",
                m.cell,
                m.value,
                rank(m.cell, m.from),
                rank(m.cell, m.to),
                m.promised
            )
        })
        .collect();
    messages.sort();
    let processes: Vec<String> =
        state.processes.iter().map(|p| format!("{:?} {:?}", p.local, view(&p.view))).collect();
    format!("{messages:?} {processes:?} {:?}", view(&state.global))
}

fn compare_with_plain(threads: &[Vec<Stmt>], consistency: Consistency, promises: u16) {
    let program = program(threads, &[]);
    let bounds = Bounds { promises: Some(promises), ..Bounds::default() };
    let plain = plain_states(&program, consistency, usize::from(promises));
    assert_eq!(states(&program, consistency, bounds), plain, "{consistency:?}, {promises} promises");
}

proptest! {
    #![proptest_config(config(10))]

    /// The machine with canonical timestamps reaches what the paper's own rules reach, up to one promise.
    #[test]
    fn canonical_timestamps_lose_nothing(threads in support::threads(2, 2, 2)) {
        compare_with_plain(&threads, Consistency::Strong, 0);
        compare_with_plain(&threads, Consistency::Strong, 1);
    }
}

proptest! {
    #![proptest_config(config(2))]

    /// The future memories that are looked at are enough.
    #[test]
    fn chosen_futures_stand_for_all(threads in support::threads(2, 2, 2)) {
        compare_with_plain(&threads, Consistency::Standard, 1);
    }

    /// [AAGKV, Theorem 3.1]: without read-modify-writes the notions are the same. The search uses this, so the plain machine says
    /// it.
    #[test]
    fn without_updates_the_notions_are_equal(threads in support::threads(2, 2, 2)) {
        let program = program(&without_updates(&threads), &[]);
        prop_assert_eq!(
            plain_states(&program, Consistency::Strong, 1),
            plain_states(&program, Consistency::Standard, 1)
        );
    }
}

/// The states that the machine without promises and the explorer under RC11 reach, of a program in the papers' language.
fn both_without_promises(text: &str) -> (BTreeSet<Vec<Value>>, BTreeSet<Vec<Value>>) {
    let mut program = fencepost_lang::parse(text).unwrap_or_else(|e| panic!("{text}: {e:?}"));
    for instr in program.functions.iter_mut().flat_map(|function| &mut function.body) {
        match instr {
            Instr::Load { ann, .. } | Instr::Store { ann, .. } => *ann = Ann::order(Order::Relaxed),
            Instr::Fence(fence) => *fence = Fence::C11(Order::SeqCst),
            _ => {}
        }
    }
    let machine = states(&program, Consistency::Strong, promise_free());
    (machine.into_iter().collect(), rc11_states(&program).into_iter().collect())
}

/// Name, threads, what is observed, and the states that RC11 has and the machine has not.
type Shape = (&'static str, &'static str, &'static str, &'static [&'static [u64]]);

/// A fence passes on what its thread has seen to all fences that come later in a run, and without promises a run goes along
/// program order and
/// reads-from. RC11 compares two fences only where one happens before an access that is ordered by coherence with one before the
/// other;
/// a way through relaxed accesses of a third thread orders nothing there.
const FENCES: &[Shape] = &[
    ("SB", "{ x := 1; fence; a := y; } { y := 1; fence; a := x; }", "P0.a, P1.a", &[]),
    ("MP", "{ x := 1; fence; y := 1; } { a := y; fence; b := x; }", "P1.a, P1.b", &[]),
    ("WRC", "{ x := 1; } { a := x; fence; y := 1; } { a := y; fence; b := x; }", "P1.a, P2.a, P2.b", &[]),
    ("RWC", "{ x := 1; } { a := x; fence; b := y; } { y := 1; fence; a := x; }", "P1.a, P1.b, P2.a", &[]),
    (
        "IRIW",
        "{ x := 1; } { y := 1; } { a := x; fence; b := y; } { a := y; fence; b := x; }",
        "P2.a, P2.b, P3.a, P3.b",
        &[],
    ),
    ("2+2W", "{ x := 1; fence; y := 2; } { y := 1; fence; x := 2; }", "x, y", &[]),
    // The fence of the third thread comes after that of the first: z was written by who had read y.
    (
        "ISA2",
        "{ x := 1; fence; y := 1; } { a := y; z := a; } { a := z; fence; b := x; }",
        "P2.a, P2.b",
        &[&[1, 0]],
    ),
    // The same, with a write in place of the last read: it comes last in coherence.
    (
        "Z6.4",
        "{ x := 1; fence; y := 1; } { a := y; z := a; } { a := z; fence; x := 2; }",
        "P2.a, x",
        &[&[1, 1]],
    ),
    // And with a read in place of the first write.
    (
        "W+ISA2",
        "{ x := 1; } { a := x; fence; y := a; } { a := y; z := a; } { a := z; fence; b := x; }",
        "P3.a, P3.b",
        &[&[1, 0]],
    ),
    // With a fence in the middle, too, RC11 has the order.
    (
        "ISA2+3F",
        "{ x := 1; fence; y := 1; } { a := y; fence; z := a; } { a := z; fence; b := x; }",
        "P2.a, P2.b",
        &[],
    ),
];

#[test]
fn where_sc_fences_order_more_than_in_rc11() {
    for (name, threads, observed, expected) in FENCES {
        let threads = threads.split_inclusive('}').enumerate();
        let processes: String = threads
            .map(|(n, body)| format!("process P{n} {}", body.trim().replacen('{', "{ reg a, b;", 1)))
            .collect();
        let text = format!("shared x, y, z; {processes} observe {observed}; exists true;");
        let (machine, rc11) = both_without_promises(&text);
        assert_eq!(machine.difference(&rc11).count(), 0, "{name}: the machine has more");
        let missing: Vec<Vec<u64>> =
            rc11.difference(&machine).map(|state| state.iter().map(|value| value.0).collect()).collect();
        assert_eq!(&missing, expected, "{name}");
    }
}
