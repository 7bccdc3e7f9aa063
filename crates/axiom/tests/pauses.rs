//! Delays that the explorer leaves out (`fencepost_ir::pauses`) against this engine, which runs them: random programs in
//! which threads read, pause as long as a constant, a counter, an input or what was read says, and write. What is left out
//! must be noticed by nobody under models that keep dependencies, either.
//!
//! `FENCEPOST_CASES` says how many programs (100), `FENCEPOST_SEED` which is the first (0).

mod support;

use fencepost_answer::Verdict;
use fencepost_ir::pauses::leave_out_pauses;
use fencepost_models::Model;
use std::fmt::Write;
use support::{Dice, FORM, answered, compiled, explored, options, prepared};

const MODELS: [&str; 6] = ["sc", "power", "armv8", "tso", "rc20", "power"];

fn number(name: &str, default: u64) -> u64 {
    std::env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(default)
}

/// How long a delay is, or what it computes with.
fn length(dice: &mut Dice) -> &'static str {
    dice.pick(&["1", "2", "delay", "a", "b", "(a ^ a)", "(delay & 1)", "wait(1)", "n"])
}

/// A delay, or something that only looks like one.
fn delay(dice: &mut Dice) -> String {
    let (n, m) = (length(dice), length(dice));
    match dice.below(14) {
        0 | 1 => format!("for (int i = 0; i < {n}; i++) ;"),
        2 => format!("for (int i = {n}; i > 0; i--) ;"),
        3 => format!("for (int i = 0; i < {n}; i++) wait({m});"),
        4 => "delay = delay < 2 ? delay * 2 : 2;".into(),
        5 => "if (delay < 2) delay++;".into(),
        6 => format!("wait({n});"),
        7 => format!("delay = wait({n});"),
        8 => format!("if ({n}) {{ for (int i = 0; i < {m}; i++) ; }} else {{ delay = 0; }}"),
        9 => format!("for (int i = 0; i < {n}; i++) {{ sum += {m}; }}"),
        10 => format!("if ({n}) wait({m});"),
        11 => format!("for (int i = 0; i < {n}; i++) {{ if (i == {m}) break; }}"),
        12 => format!("delay = 2 / ({n} + 1);"),
        _ => format!("for (int i = 0; i != {n}; i++) {{ if (i > 2) break; }}"),
    }
}

const LOADS: [&str; 3] = ["relaxed", "relaxed", "acquire"];
const STORES: [&str; 3] = ["relaxed", "relaxed", "release"];

/// An access; what it writes, or where, may come from what was computed.
fn access(dice: &mut Dice, reads: bool, cell: &str, register: &str) -> String {
    let zero = dice.pick(&["", "", "", " + (sum ^ sum)", " + (delay ^ delay)", " + (a ^ a)"]);
    if reads {
        return format!(
            "{register} = atomic_load_explicit(&{cell}[0{zero}], memory_order_{});",
            dice.pick(&LOADS)
        );
    }
    let value = dice.pick(&["1", "1", "1", "delay", "sum"]);
    format!("atomic_store_explicit(&{cell}[0], {value}{zero}, memory_order_{});", dice.pick(&STORES))
}

/// Two or three threads with two accesses each that make a cycle, and delays around them.
fn program(seed: u64) -> String {
    let mut dice = Dice(seed.wrapping_mul(0x2_0003) + 5);
    let threads = dice.pick(&[2, 2, 2, 3]);
    let cells = ["x", "y", "z"];
    let returned = dice.pick(&["return k;", "return 0;", "return n;", "if (n > 5) k = 1 / n; return k & 1;"]);
    let mut text = format!(
        "#include <assert.h>\n#include <pthread.h>\n#include <stdatomic.h>\n\natomic_int x[2], y[2], z[2];\nint out[3][3];\n\
         static int wait(int n) {{ int k = 0; for (int i = 0; i < n; i++) k++; {returned} }}\n\n"
    );
    let mut outcome = Vec::new();
    for number in 0..threads {
        let (first, second) = (dice.one_in(2), dice.one_in(2));
        let n = if dice.one_in(4) { "__VERIFIER_nondet_bool()" } else { "1" };
        let _ = writeln!(
            text,
            "void *t{number}(void *arg) {{\n    int a = 7, b = 7, delay = 1, sum = 0, n = {n};"
        );
        let mut line = |content: String| {
            let _ = writeln!(text, "    {content}");
        };
        if dice.one_in(3) {
            line(delay(&mut dice));
        }
        line(access(&mut dice, first, cells[number], "a"));
        // A value that is read may be large.
        line("if (a == 7) a = 1;".into());
        for _ in 0..1 + dice.below(3) {
            line(delay(&mut dice));
        }
        let guarded = dice.one_in(4);
        if guarded {
            let condition = dice.pick(&["a == 1", "delay", "sum < 9", "wait(a)"]);
            line(format!("if ({condition})"));
        }
        line(access(&mut dice, second, cells[(number + 1) % threads], "b"));
        if dice.one_in(3) {
            line(delay(&mut dice));
        }
        line(format!("out[{number}][0] = a; out[{number}][1] = b; out[{number}][2] = delay + sum;"));
        line("return arg;\n}\n".into());
        for (register, reads) in [first, second].into_iter().enumerate() {
            if reads {
                outcome.push(format!("out[{number}][{register}] == {}", [1, 0][register]));
            }
        }
        if dice.one_in(6) {
            outcome.push(format!("out[{number}][2] == {}", dice.below(4)));
        }
    }
    if outcome.is_empty() || dice.one_in(4) {
        outcome.push(format!(
            "atomic_load(&{}[0]) == {}",
            cells[dice.below(threads as u64) as usize],
            dice.below(3)
        ));
    }
    let _ = writeln!(text, "int main(void) {{\n    pthread_t t[3];");
    (0..threads).for_each(|i| text += &format!("    pthread_create(&t[{i}], 0, t{i}, 0);\n"));
    (0..threads).for_each(|i| text += &format!("    pthread_join(t[{i}], 0);\n"));
    let _ = writeln!(text, "    assert(!({}));\n    return 0;\n}}", outcome.join(" && "));
    text
}

#[test]
fn nobody_notices_what_is_left_out() {
    let (cases, first) = (number("FENCEPOST_CASES", 100), number("FENCEPOST_SEED", 0));
    let (mut same, mut wrong, mut skipped, mut changed) = (0, 0, 0, 0);
    for seed in first..first + cases {
        let text = program(seed);
        let compiled = compiled(&text);
        for name in [MODELS[(seed % 3) as usize], MODELS[3 + (seed % 3) as usize]] {
            let model = Model::builtin(name).expect("built in");
            let kept = prepared(&compiled, name, FORM).program;
            let leaves_out = leave_out_pauses(&kept).functions != kept.functions;
            let Some(kinds) = explored(&compiled, name, &model, &text) else {
                skipped += 1;
                continue;
            };
            let outcome = match answered(&compiled, name, &model, &options(&model)) {
                Ok(outcome) if outcome.verdict != Verdict::Unknown => outcome,
                _ => {
                    skipped += 1;
                    continue;
                }
            };
            let expected = if kinds.is_empty() { Verdict::Safe } else { Verdict::Unsafe };
            assert_eq!(outcome.verdict, expected, "seed {seed} under {name}: the explorer {kinds:?}\n{text}");
            same += 1;
            wrong += u64::from(expected == Verdict::Unsafe);
            changed += u64::from(leaves_out);
        }
    }
    println!(
        "{same} answers agree, {wrong} of them unsafe, {changed} with something left out; {skipped} skipped"
    );
    assert!(same > cases && changed * 2 > same && wrong * 20 > same, "the family misses its shape");
}
