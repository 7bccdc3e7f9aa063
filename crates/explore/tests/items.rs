//! Explorations in parts: however often they are interrupted, written down, taken up again and split, the answer is that of one
//! that was left alone. And bytes that are no item or checkpoint are an error.

#[path = "support/dice.rs"]
mod dice;
#[path = "support/parts.rs"]
mod parts;
mod support;

use dice::Random;
use fencepost_explore::{
    Broken, DecodeError, Every, Handed, Item, Keeping, ModelName, Options, Others, Pause, Session, explore,
    explore_keeping,
};
use fencepost_ir::Program;
use parts::{compare, interrupted, mutated, told};
use proptest::strategy::{Strategy, ValueTree};
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};
use support::{random, text};

fn cases(default: usize) -> usize {
    std::env::var("FENCEPOST_CASES").ok().and_then(|cases| cases.parse().ok()).unwrap_or(default)
}

/// Random programs of a model.
fn programs(model: ModelName, count: usize, size: (usize, usize, usize)) -> Vec<Program> {
    let rng = TestRng::from_seed(RngAlgorithm::ChaCha, &[7; 32]);
    let mut runner = TestRunner::new_with_rng(Config { failure_persistence: None, ..Config::default() }, rng);
    let (threads, length, cells) = size;
    let strategy = random::threads(model, 2..=threads, 1..=length, cells);
    let tree = |_| strategy.new_tree(&mut runner).expect("a program").current();
    (0..count).map(tree).map(|threads| random::program(&threads, cells)).collect()
}

#[test]
fn parts_make_the_whole() {
    let (mut random, mut pieces) = (Random(1), 0);
    for model in ModelName::ALL {
        for program in programs(model, cases(12), (3, 5, 2)) {
            pieces += compare(&program, model, &mut random).0;
        }
    }
    assert!(pieces > 2_000, "{pieces} pieces");
}

#[test]
fn several_workers_that_are_interrupted_find_what_one_does() {
    let program = text::program("Ax Ay Ax | Ay Ax Ay | Ax Ay");
    for model in [ModelName::Rc11, ModelName::Power] {
        let whole = explore(&program, &Options::new(model)).expect("supported");
        for jobs in [2, 3] {
            let options = Options { jobs, ..Options::new(model) };
            let (found, pauses) = interrupted(&program, &options, 40);
            assert_eq!(told(&found), told(&whole));
            assert!(pauses > 3, "{pauses}");
        }
    }
}

#[test]
fn several_workers_find_what_one_does() {
    let cases = cases(12);
    for model in ModelName::ALL {
        for program in programs(model, cases, (3, 6, 2)) {
            for stop_at_error in [false, true] {
                let options = Options { stop_at_error, ..Options::new(model) };
                let whole = told(&explore(&program, &options).expect("supported"));
                for jobs in [2, 3] {
                    let found = explore(&program, &Options { jobs, ..options }).expect("supported");
                    assert_eq!(told(&found), whole, "{jobs} workers, {model:?}\n{program:?}");
                }
            }
        }
    }
}

/// A read of a cell with many writes makes many visits, of which a worker keeps some and gives some away.
#[test]
fn several_workers_share_the_visits_of_a_node() {
    let writes: String = (1..=24).map(|value| format!("Wx{value} ")).collect();
    let program = text::program(&format!("{writes}| Rx Ry Rx | Wy1 Rx"));
    for model in [ModelName::Sc, ModelName::Rc11, ModelName::Armv8] {
        let whole = told(&explore(&program, &Options::new(model)).expect("supported"));
        for jobs in [2, 3, 2, 3, 4] {
            let found = explore(&program, &Options { jobs, ..Options::new(model) }).expect("supported");
            assert_eq!(told(&found), whole, "{jobs} workers, {model:?}");
        }
    }
}

/// What comes behind the last visit that a node makes is what comes behind the node.
#[test]
fn a_path_may_end_behind_the_last_visit_of_a_node() {
    let program = text::program("Ax Ay Rx | Ay Ax Wy1 | Ax Ry");
    let mut ways = 0;
    for model in ModelName::ALL {
        let options = Options::new(model);
        let whole = explore(&program, &options).expect("supported").stats.executions;
        let mut session = Session::new(&program, &options).expect("supported");
        let mut explored = |items: &[Item], nodes| loop {
            match session.explore(items, &Others::default(), Pause { nodes, at: None }) {
                Err(Broken::StartOver(need)) => session.heed(need).expect("supported"),
                part => return part.expect("there is such a place"),
            }
        };
        explored(&[Item::whole()], None);
        for nodes in [30, 300, 900] {
            let first = explored(&[Item::whole()], Some(nodes));
            let [rest] = &first.rests[..] else { continue };
            for level in 1..rest.path().len() {
                let within = Item::new(level, rest.path().to_vec()).expect("a part of the path");
                let path = rest.path()[..level].iter().copied().chain([1_000]).collect();
                let behind = Item::new(0, path).expect("an item");
                let parts = [&first, &explored(&[within], None), &explored(&[behind], None)];
                let executions: u64 = parts.iter().map(|part| part.stats().executions).sum();
                assert_eq!(executions, whole, "{model:?}, {nodes} visits, step {level}");
                ways += 1;
            }
        }
    }
    assert!(ways > 100, "{ways}");
}

/// Bytes with a few changes and a checksum that fits: what somebody makes up. The answer is then whatever it is, but there is
/// one, or an error.
fn forged(bytes: &[u8], random: &mut Random) -> Vec<u8> {
    use sha2::{Digest, Sha256};
    let mut body = mutated(&bytes[..bytes.len() - 16], random);
    let sum = Sha256::digest(&body);
    body.extend_from_slice(&sum[..16]);
    body
}

#[test]
fn altered_bytes_are_an_error() {
    let program = text::program("Ax Ry Wx1 | Ay Rx Wy1 | Ax");
    let mut random = Random(3);
    let options = Options::new(ModelName::Rc11);
    let whole = told(&explore(&program, &options).expect("supported"));
    let mut session = Session::new(&program, &options).expect("supported");
    // The room that it needs.
    while let Err(Broken::StartOver(need)) =
        session.explore(&[Item::whole()], &Others::default(), Pause::default())
    {
        session.heed(need).expect("supported");
    }
    let part = session
        .explore(&[Item::whole()], &Others::default(), Pause { nodes: Some(40), at: None })
        .expect("a part");
    let item = part.rests[0].encode(session.binding());
    let handed = part.hand(&part.rests[0], true).encode(session.binding());
    let mut checkpoint = Vec::new();
    let mut keep = |bytes: &[u8]| {
        checkpoint = bytes.to_vec();
        if bytes.len() > 300 { Err("enough".into()) } else { Ok(()) }
    };
    let mut keeping = Keeping { resume: None, every: Every::Nodes(60), keep: &mut keep };
    let _ = explore_keeping(&program, &options, &mut keeping);
    let mut errors = 0;
    let cases = cases(2_000);
    for _ in 0..cases {
        let bytes = mutated(&item, &mut random);
        match Item::decode(&bytes, session.binding()) {
            Ok(_) => assert_eq!(bytes, item),
            Err(_) => errors += 1,
        }
        let bytes = mutated(&handed, &mut random);
        match Handed::decode(&bytes, session.binding()) {
            Ok(_) => assert_eq!(bytes, handed),
            Err(_) => errors += 1,
        }
        let bytes = mutated(&checkpoint, &mut random);
        let mut keeping =
            Keeping { resume: Some(&bytes), every: Every::Nodes(100_000), keep: &mut |_| Ok(()) };
        match explore_keeping(&program, &options, &mut keeping) {
            Ok(found) => assert_eq!(told(&found), whole),
            Err(_) => errors += 1,
        }
        // Made up: nothing panics, nothing takes for ever.
        if let Ok(item) = Item::decode(&forged(&item, &mut random), session.binding()) {
            let _ = session.explore(&[item], &Others::default(), Pause { nodes: Some(500), at: None });
        }
        if let Ok(handed) = Handed::decode(&forged(&handed, &mut random), session.binding()) {
            let others = Others::default().with_cells_of(&handed);
            let _ = session.explore(&[handed.item], &others, Pause { nodes: Some(500), at: None });
        }
        let bytes = forged(&checkpoint, &mut random);
        let mut calls = 0;
        let killed = &mut |_: &[u8]| {
            calls += 1;
            if calls > 1 { Err(String::new()) } else { Ok(()) }
        };
        let mut keeping = Keeping { resume: Some(&bytes), every: Every::Nodes(500), keep: killed };
        let _ = explore_keeping(&program, &options, &mut keeping);
    }
    assert!(errors > 2 * cases, "{errors}");
}

#[test]
fn what_belongs_to_another_run_is_refused() {
    let (one, other) = (text::program("Wx1 Ry | Wy1 Rx"), text::program("Wx1 Ry | Wy2 Rx"));
    let options = Options::new(ModelName::Rc11);
    fn session(program: &Program, options: &Options<'_>) -> fencepost_explore::Binding {
        *Session::new(program, options).expect("supported").binding()
    }
    let item = Item::whole().encode(&session(&one, &options));
    let foreign = [
        session(&other, &options),
        session(&one, &Options::new(ModelName::Sc)),
        session(&one, &Options { stop_at_error: true, ..options }),
    ];
    for binding in foreign {
        assert_eq!(Item::decode(&item, &binding), Err(DecodeError::OtherRun));
    }
    assert_eq!(Item::decode(b"#!/bin/sh", &foreign[0]), Err(DecodeError::Foreign));
    assert_eq!(Item::decode(&item[..item.len() - 1], &session(&one, &options)), Err(DecodeError::Checksum));
}
