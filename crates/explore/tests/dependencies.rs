//! Dependencies that do not order: the explorer against the enumerator with a cat model without them, on the directed
//! programs. The explorer keeps its commit-before order, so that values do not come out of thin air; the cat models get
//! that as an axiom.

mod support;

use fencepost_diag::SourceFile;
use fencepost_explore::{ModelName, Options};
use fencepost_ir::Program;
use fencepost_models::{Model, builtin_source};
use fencepost_naive::Limits;
use support::compare::{Key, difference, enumerated, explored, explored_with};
use support::{families, text};

fn explored_without_dependencies(program: &Program, model: ModelName) -> Vec<Key> {
    explored_with(program, &Options { dependencies: false, ..Options::new(model) })
}

/// One program in twenty; all of them if `FENCEPOST_FULL` is set.
fn step() -> usize {
    if std::env::var_os("FENCEPOST_FULL").is_some_and(|value| value != "0") { 1 } else { 20 }
}

/// A built-in model with some of its text replaced and an axiom more.
fn changed(name: &str, changes: &[(&str, &str)], axiom: &str) -> Model {
    let mut text = builtin_source(name).expect("a built-in model").to_string();
    for (old, new) in changes {
        assert!(text.contains(old), "{name} has no `{old}`");
        text = text.replace(old, new);
    }
    text += axiom;
    Model::from_file(&SourceFile::new(format!("{name}.cat"), text), &|_| None).expect("a model")
}

#[test]
fn power_without_dependencies_is_its_cat_model_without_them() {
    let model = changed(
        "power",
        &[
            ("let dp = addr | data", "let dp = addr \\ addr"),
            ("po-loc | ctrl | addr; po | ci", "po-loc | ci"),
            ("cc; cc | pick-dep", "cc; cc"),
        ],
        "\nlet light = [M]; po; [LIGHT]; po; [M]\nacyclic addr | data | ctrl | pick-dep | addr; po | rf | po-loc | \
            ctrl-isync | fence | light as commit-before\n",
    );
    let (mut compared, mut weaker) = (0, 0);
    for line in families::all(ModelName::Power).into_iter().step_by(step()) {
        let program = text::program(&line);
        let Ok(expected) = enumerated(&program, &model, &Limits::default()) else { continue };
        let found = explored_without_dependencies(&program, ModelName::Power);
        if let Some(difference) = difference(&found, &expected) {
            panic!("{line}\n{difference}");
        }
        compared += 1;
        weaker += usize::from(found.len() > explored(&program, ModelName::Power).len());
    }
    println!("{compared} programs, {weaker} of them with more executions than before");
    assert!(compared > 200 && weaker > 10);
}

/// What ARMv8 commits before what is not simply a relation of the cat file, so the executions are between two sets.
#[test]
fn armv8_without_dependencies_is_between_its_cat_models_without_them() {
    let changes = [
        (
            "let dob = addr; [M \\ NonTemporal]\n        | data\n        | ctrl; [W]\n        | (ctrl",
            "let dob = (ctrl",
        ),
        ("        | addr; po; [W]\n        | (addr | data \\ amo); lmrs\n", "\n"),
        (
            "let pob = pick; [W]\n        | pick; [isb]; po; [M]\n        | pick-addr; po; [isb]; po; [M]\n        | \
                pick-addr; po; [W]",
            "let pob = rmw \\ rmw",
        ),
        ("let pick-lob = basic; lob; [W]", "let pick-lob = rmw \\ rmw"),
    ];
    let any = changed("armv8", &changes, "");
    let axiom = "\nacyclic addr | data | ctrl | pick-dep | addr; po | lob | rf | po-loc as thin-air\n";
    let strict = changed("armv8", &changes, axiom);
    let (mut compared, mut weaker) = (0, 0);
    // A few programs with many candidates would take most of the time.
    let limits = Limits { candidates: 20_000, ..Limits::default() };
    for line in families::all(ModelName::Armv8).into_iter().step_by(step()) {
        let program = text::program(&line);
        let Ok(most) = enumerated(&program, &any, &limits) else { continue };
        let Ok(least) = enumerated(&program, &strict, &limits) else { continue };
        let found = explored_without_dependencies(&program, ModelName::Armv8);
        assert!(
            found.windows(2).all(|pair| pair[0] < pair[1]) || least.windows(2).any(|p| p[0] == p[1]),
            "{line}"
        );
        assert!(least.iter().all(|key| found.contains(key)), "{line}: something is missing");
        assert!(found.iter().all(|key| most.contains(key)), "{line}: something is too much");
        compared += 1;
        weaker += usize::from(found.len() > explored(&program, ModelName::Armv8).len());
    }
    println!("{compared} programs, {weaker} of them with more executions than before");
    assert!(compared > 200 && weaker > 10);
}
