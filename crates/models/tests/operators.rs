//! Every operator against its definition by quantifiers, on random sets and relations.

use fencepost_diag::SourceFile;
use fencepost_ir::{
    Ann, Event, EventKind, Execution, Fence, Location, ObjectId, Relation, Span, ThreadId, Value, Width,
};
use fencepost_models::Model;
use proptest::prelude::*;

/// An execution whose `rf` and `co` are any relations, and whose reads and writes are any sets.
fn any_execution() -> impl Strategy<Value = Execution> {
    (1usize..9).prop_flat_map(|n| {
        let pairs = || proptest::collection::vec((0..n, 0..n), 0..=2 * n);
        (proptest::collection::vec(0u8..3, n), pairs(), pairs()).prop_map(move |(kinds, a, b)| {
            let events = kinds.iter().map(|&kind| Event {
                thread: Some(ThreadId(0)),
                kind: match kind {
                    0 => EventKind::Read,
                    1 => EventKind::Write,
                    _ => EventKind::Fence(Fence::Mfence),
                },
                location: (kind < 2).then_some(Location { object: ObjectId(0), offset: 0 }),
                width: Width::W32,
                value: Value::ZERO,
                ann: Ann::PLAIN,
                amo: false,
                span: Span::default(),
            });
            let mut x = Execution::new(events.collect());
            a.iter().for_each(|&(i, j)| x.rf.insert(i, j));
            b.iter().for_each(|&(i, j)| x.co.insert(i, j));
            x
        })
    })
}

fn model(text: &str) -> Model {
    Model::from_file(&SourceFile::new("t.cat", text), &|_| None).unwrap_or_else(|e| panic!("{text}: {e:?}"))
}

fn value(x: &Execution, text: &str) -> Relation {
    model(&format!("let it = {text}")).relation(x, "it").expect("defined")
}

/// Reachability in one step or more, by repeated search.
fn reaches(r: &Relation, a: usize, b: usize) -> bool {
    let mut seen = vec![false; r.len()];
    let mut todo: Vec<usize> = r.successors(a).collect();
    while let Some(c) = todo.pop() {
        if !std::mem::replace(&mut seen[c], true) {
            todo.extend(r.successors(c));
        }
    }
    seen[b]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 128, ..ProptestConfig::default() })]

    #[test]
    fn operators_mean_what_their_definitions_say(x in any_execution()) {
        let n = x.events.len();
        let (a, b) = (&x.rf, &x.co);
        let read = |i: usize| x.events[i].kind == EventKind::Read;
        let write = |i: usize| x.events[i].kind == EventKind::Write;
        let relation = |holds: &dyn Fn(usize, usize) -> bool| Relation::from_fn(n, holds);
        let set = |holds: &dyn Fn(usize) -> bool| Relation::from_fn(n, |i, j| i == j && holds(i));
        let cases: Vec<(&str, Relation)> = vec![
            ("rf | co", relation(&|i, j| a.contains(i, j) || b.contains(i, j))),
            ("rf & co", relation(&|i, j| a.contains(i, j) && b.contains(i, j))),
            ("rf \\ co", relation(&|i, j| a.contains(i, j) && !b.contains(i, j))),
            ("~rf", relation(&|i, j| !a.contains(i, j))),
            ("rf; co", relation(&|i, j| (0..n).any(|k| a.contains(i, k) && b.contains(k, j)))),
            ("rf^-1", relation(&|i, j| a.contains(j, i))),
            ("rf?", relation(&|i, j| i == j || a.contains(i, j))),
            ("rf+", relation(&|i, j| reaches(a, i, j))),
            ("rf*", relation(&|i, j| i == j || reaches(a, i, j))),
            ("R * W", relation(&|i, j| read(i) && write(j))),
            ("[R]", set(&read)),
            ("id", relation(&|i, j| i == j)),
            ("0 | rf", a.clone()),
            ("{} & rf", Relation::new(n)),
            ("R | W", set(&|i| read(i) || write(i))),
            ("_ \\ R", set(&|i| !read(i))),
            ("~R & ~W", set(&|i| !read(i) && !write(i))),
            ("domain rf", set(&|i| (0..n).any(|j| a.contains(i, j)))),
            ("range(rf)", set(&|j| (0..n).any(|i| a.contains(i, j)))),
            ("let rec t = rf | t; co in t",
                relation(&|i, j| a.contains(i, j) || (0..n).any(|k| a.contains(i, k) && reaches(b, k, j)))),
            ("let rec t = rf | t; t in t", relation(&|i, j| reaches(a, i, j))),
            ("let rec s = R | range([s]; rf) in s",
                set(&|j| read(j) || (0..n).any(|i| read(i) && reaches(a, i, j)))),
            ("let f(x, y) = x; y in f(rf, co)",
                relation(&|i, j| (0..n).any(|k| a.contains(i, k) && b.contains(k, j)))),
            ("let f x y = x \\ y in f rf co", relation(&|i, j| a.contains(i, j) && !b.contains(i, j))),
            ("let twice f = fun x -> f (f x) in twice (fun r -> r; r) rf",
                relation(&|i, j| { let two = a.compose(a); two.compose(&two).contains(i, j) })),
        ];
        for (text, expected) in cases {
            prop_assert_eq!(value(&x, text), expected, "{}", text);
        }
    }

    #[test]
    fn checks_ask_what_their_words_say(x in any_execution()) {
        let n = x.events.len();
        let failed = |text: &str| !model(text).check(&x).consistent;
        prop_assert_eq!(failed("acyclic rf"), (0..n).any(|i| reaches(&x.rf, i, i)));
        prop_assert_eq!(failed("irreflexive rf"), (0..n).any(|i| x.rf.contains(i, i)));
        prop_assert_eq!(failed("empty rf"), !x.rf.has_no_pairs());
        prop_assert_eq!(failed("~empty rf"), x.rf.has_no_pairs());
        prop_assert_eq!(failed("empty R"), x.events.iter().any(|e| e.kind == EventKind::Read));
        let judgement = model("flag ~empty rf as one undefined_unless empty co as two").check(&x);
        prop_assert!(judgement.consistent);
        prop_assert_eq!(judgement.flags.contains(&"one".to_string()), !x.rf.has_no_pairs());
        prop_assert_eq!(judgement.undefined, !x.co.has_no_pairs());
    }

    /// The static analysis against its meaning: a monotone axiom that fails goes on failing when edges are added.
    #[test]
    fn monotone_axioms_stay_violated(x in any_execution(), more in proptest::collection::vec((0usize..9, 0usize..9,
        any::<bool>()), 0..6)) {
        let texts = [
            "acyclic rf | co", "empty rf \\ (W * W)", "empty co \\ rf", "irreflexive ~rf; co", "acyclic rf \\ id",
            "empty ~co & rf", "irreflexive (rf; co) & ~id", "empty domain(rf) \\ R", "empty R \\ domain(rf)",
            "acyclic let rec t = rf | t; co in t \\ id", "~empty rf", "empty [~R]; rf", "acyclic ~(R * W) & rf",
        ];
        let n = x.events.len();
        let mut y = x.clone();
        for (a, b, which) in more {
            if a < n && b < n {
                if which { y.rf.insert(a, b) } else { y.co.insert(a, b) }
            }
        }
        for text in texts {
            let model = model(text);
            if model.is_monotone_axiom(0) && !model.check(&x).consistent {
                prop_assert!(!model.check(&y).consistent, "{}", text);
            }
        }
    }
}

#[test]
fn monotone_by_syntax() {
    let monotone = |text: &str| model(text).is_monotone_axiom(0);
    for text in
        ["acyclic rf | co", "empty rmw & (fre; coe)", "acyclic po \\ W * R", "empty [~W]; rf", "empty R \\ W"]
    {
        assert!(monotone(text), "{text}");
    }
    for text in ["~empty rf", "empty po \\ rf", "irreflexive ~rf", "empty W \\ range(rf)", "empty FW & R"] {
        assert!(!monotone(text), "{text}");
    }
    for name in fencepost_models::builtin_names() {
        let model = Model::builtin(name).expect("a model");
        for (index, axiom) in model.axioms().iter().enumerate() {
            let flag = axiom.role != fencepost_models::ast::Role::Axiom;
            assert!(model.is_final_axiom(index) || flag, "{name}: {}", axiom.name);
        }
    }
}

#[test]
fn a_model_can_lose_an_axiom_and_get_another_definition() {
    let power = Model::builtin("power").expect("a model");
    assert!(power.without_axiom("nonsense").is_none());
    let fewer = power.without_axiom("observation").expect("it has one");
    assert_eq!(fewer.axioms().len() + 1, power.axioms().len());
    let other = fewer.with_definition("rdw", "0").expect("a value");
    assert_eq!(other.axioms().len(), fewer.axioms().len());
    assert!(power.with_definition("nonsense", "0").is_err());
    assert!(power.with_definition("rdw", "rf |").is_err());
    assert!(power.with_definition("ii", "dp | ii; ii").is_ok());
}

#[test]
fn ordinary_models_for_herd_load() {
    let text = "X86 TSO\ninclude \"x86fences.cat\"\ninclude \"filters.cat\"\ninclude \"cos.cat\"\n\
        let com = rf | fr | co\nacyclic po-loc | com as uniproc\nempty rmw & (fre;coe)\n\
        let po_ghb = WW(po) | RM(po)\nlet implied = AM(WR(po)) | MA(WR(po))\n\
        show implied\nacyclic mfence | implied | po_ghb | rfe | fr | co as tso\n";
    assert_eq!(model(text).axioms().len(), 3);
    let text = "\"x\"\nlet X1 = try UNHEARD-OF with emptyset\nlet r = if \"vmsa\" then nothing else po\n\
        if \"cos-opt\"\n include \"nowhere.cat\"\nelse\n include \"cos.cat\"\nend\n\
        procedure sub(a, b) =\n  empty a \\ b as within\nend\ncall sub(po-loc, po)\nacyclic r | [X1]\n";
    let model = model(text);
    assert_eq!(model.axioms().iter().map(|a| a.name).collect::<Vec<_>>(), ["within", "acyclic-2"]);
}
