//! Models that generate coherence themselves, as the library of the reference simulator does: they are read, and judge as
//! those that take it as given.

mod common;

use common::{Random, execution};
use fencepost_diag::SourceFile;
use fencepost_models::Model;

/// In our own words: a function that walks through the orders of each location, and the choice of one of them.
const CROSS: &str = "\"orders\"
let each (p, sets) =
  let rec walk sets = match sets with || {} -> {} || s ++ rest -> linearisations (s, p) ++ walk rest end in
  walk sets
let all orders = let rec go o = match o with || {} -> {} || x ++ xs -> x ++ go xs end in go orders
let generate_orders (s, p) = all (each (p, partition s))
let generate_cos p = generate_orders (W, p)
";

fn random_execution(random: &mut Random) -> fencepost_ir::Execution {
    let fences = [
        "sync",
        "lwsync",
        "dmb.sy",
        "isb",
        "fence.rw.w",
        "kernel.mb",
        "kernel.rcu_lock",
        "kernel.rcu_unlock",
    ];
    execution(&common::random_text(random, &fences, &["", ".acq", ".rel", ".rlx", ".sc"]))
}

fn model(text: &str) -> Result<Model, Vec<fencepost_diag::Diagnostic>> {
    let load = |file: &str| (file == "cross.cat").then(|| CROSS.to_string());
    Model::from_file(&SourceFile::new("test.cat", text), &load)
}

const GENERATED: &str = "\"generated\" withoutco
include \"cross.cat\"
let base = po-loc & W * W | co0
with co from generate_cos base
let fr = (rf^-1; co) \\ id
acyclic po-loc | rf | co | fr as sc-per-location
acyclic po & (W * W | R * M) | rf | co | fr as order
";

#[test]
fn generated_coherence_is_the_given_one() {
    let generated = model(GENERATED).expect("a model");
    let given = model(
        "\"given\" acyclic po-loc | rf | co | fr as sc-per-location acyclic po & (W * W | R * M) | rf | co | fr as order",
    )
    .expect("a model");
    assert!(generated.implies_coherence() && given.implies_coherence());
    let mut random = Random(7);
    let (mut consistent, mut tried) = (0, 0);
    for _ in 0..3000 {
        let x = random_execution(&mut random);
        let judged = given.check(&x).consistent;
        assert_eq!(generated.check(&x).consistent, judged);
        consistent += usize::from(judged);
        tried += 1;
    }
    assert!(consistent > 20 && consistent < tried, "{consistent} of {tried}");
}

#[test]
fn a_chosen_order_extends_what_it_is_given() {
    let text = "\"t\" include \"cross.cat\" with co from generate_cos (po-loc & W * W)";
    let model = model(text).expect("a model");
    assert!(model.check(&execution("Wx1 Wx2")).consistent);
    assert!(!model.check(&execution("Wx2 Wx1")).consistent);
}

#[test]
fn what_has_no_value_is_named_where_it_is_needed() {
    let errors =
        |text: &str| model(text).expect_err("an error").into_iter().map(|e| e.message).collect::<Vec<_>>();
    assert!(model("\"t\" let s = {R, W} let f x = x ++ s acyclic po").is_ok());
    assert_eq!(
        errors("\"t\" let s = {R, W} empty s & W"),
        ["this depends on a set given by its elements, which is not supported"]
    );
    assert_eq!(errors("\"t\" with x from po"), ["`with x from` this is not supported"]);
    assert_eq!(
        errors("AArch64 \"t\" catdep acyclic po"),
        ["a model that computes dependencies itself is not supported"]
    );
}

#[test]
fn try_is_for_names_and_for_nothing_else() {
    assert!(model("\"t\" let a = try nothing with 0 acyclic a").is_ok());
    assert!(model("\"t\" let a = try ctrlcfence (ctrl, ISYNC) with 0 acyclic a").is_ok());
    // A mistake inside it is an error, and not the other value.
    let errors = model("\"t\" let a = try W; po with 0 acyclic a").expect_err("an error");
    assert_eq!(errors[0].span.start, 16);
}

#[test]
fn both_evaluators_say_the_same() {
    let mut random = Random(11);
    for name in fencepost_models::builtin_names() {
        let model = Model::builtin(name).expect("a model");
        for _ in 0..300 {
            let x = random_execution(&mut random);
            let quick = fencepost_models::Checker::new(&model, &x).judge(&x);
            let plain = fencepost_models::Checker::without_tricks(&model, &x).judge(&x);
            assert_eq!(quick, plain, "{name}");
        }
    }
}
