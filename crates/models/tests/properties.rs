//! Properties that hold between models, on random executions.

mod common;

use common::{Random, execution, random_text};
use fencepost_ir::Fence;
use fencepost_models::Model;

const CASES: usize = 3000;
const MODELS: [&str; 8] = ["sc", "tso", "pso", "ra", "rc11", "rc20", "power", "armv8"];
const ORDERS: [&str; 9] = ["", "", "", ".rlx", ".acq", ".rel", ".acqrel", ".sc", ".acqpc"];

fn model(name: &str) -> Model {
    Model::builtin(name).expect("a model")
}

fn fences() -> Vec<&'static str> {
    Fence::all().map(Fence::name).collect()
}

/// All consistent in `stronger` are consistent in `weaker`; at least some are, and some are not.
fn within(stronger: &str, weaker: &str, orders: &[&str]) {
    let (strong, weak) = (model(stronger), model(weaker));
    let mut random = Random(0x1357_9bdf_0246_8ace);
    let mut consistent = 0;
    for _ in 0..CASES {
        let text = random_text(&mut random, &fences(), orders);
        let x = execution(&text);
        if strong.check(&x).consistent {
            consistent += 1;
            let judgement = weak.check(&x);
            assert!(
                judgement.consistent,
                "{stronger} allows {text}, {weaker} does not: {:?}",
                judgement.failed
            );
        }
    }
    assert!(consistent > CASES / 10 && consistent < CASES, "{consistent} consistent executions say little");
}

#[test]
fn sc_is_within_tso_is_within_pso() {
    within("sc", "tso", &ORDERS);
    within("tso", "pso", &ORDERS);
}

#[test]
fn sc_is_within_every_model() {
    for weaker in MODELS {
        within("sc", weaker, &ORDERS);
    }
}

#[test]
fn release_acquire_is_within_rc11_without_sc_accesses() {
    within("ra", "rc11", &[".rlx", ".acq", ".rel", ".acqrel"]);
}

#[test]
fn rc11_is_within_rc20() {
    within("rc11", "rc20", &ORDERS);
}

/// Words of a text with one part taken away: a fence, a dependency, or an order.
fn weakened(text: &str, random: &mut Random) -> Option<String> {
    let mut words: Vec<String> = text.split_whitespace().map(str::to_string).collect();
    let at = random.below(words.len());
    let word = words[at].clone();
    let access = word.starts_with(['W', 'R']);
    if word == "|" || word.contains("<amo") || word.contains("<rmw") {
        return None;
    }
    if let Some((rest, _)) = word.rsplit_once('<') {
        words[at] = rest.to_string();
    } else if access {
        // An atomic access that becomes plain may become racy, which is no matter of consistency.
        let (rest, _) = word.rsplit_once('.')?;
        words[at] = rest.to_string();
    } else {
        // Without the fence, later events of the thread have other indices, which dependencies name.
        let end = words[at..].iter().position(|w| w == "|").map_or(words.len(), |p| at + p);
        if words[at + 1..end].iter().any(|w| w.contains('<')) {
            return None;
        }
        words.remove(at);
    }
    Some(words.join(" "))
}

#[test]
fn a_fence_a_dependency_or_an_order_never_allows_more() {
    for name in MODELS {
        let model = model(name);
        let mut random = Random(0xfeed_0000_0000_0000 + name.len() as u64);
        let mut compared = 0;
        for _ in 0..CASES {
            let text = random_text(&mut random, &fences(), &ORDERS);
            let Some(weaker) = weakened(&text, &mut random) else { continue };
            if model.check(&execution(&text)).consistent {
                compared += 1;
                assert!(model.check(&execution(&weaker)).consistent, "{name} allows {text} but not {weaker}");
            }
        }
        assert!(compared > CASES / 10, "{name}: only {compared}");
    }
}

#[test]
fn the_order_of_threads_does_not_matter() {
    let models: Vec<Model> = MODELS.iter().map(|name| model(name)).collect();
    let mut random = Random(0x0dd0_ba11);
    for _ in 0..CASES / 3 {
        let text = random_text(&mut random, &fences(), &ORDERS);
        let mut threads: Vec<&str> = text.split('|').collect();
        threads.rotate_left(1);
        let (x, y) = (execution(&text), execution(&threads.join("|")));
        for model in &models {
            assert_eq!(model.check(&x), model.check(&y), "{}: {text}", model.name());
        }
    }
}

#[test]
fn models_can_be_shared_between_threads() {
    fn shared<T: Send + Sync>() {}
    shared::<Model>();
}
