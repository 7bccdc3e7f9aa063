//! Memory that started threads allocate, pass on and free: the verdict is that of the explorer under SC, on random C programs.
//!
//! `FENCEPOST_CASES` is the number of programs, `FENCEPOST_SEED` the first seed.

mod support;

use fencepost_answer::Severity;
use fencepost_bmc::{Options, Verdict, check};
use fencepost_diag::SourceFile;
use fencepost_explore::ModelName;
use fencepost_ir::globalise_locals_of_main;
use std::fmt::Write;
use support::Dice;

const HEAD: &str = "#include <pthread.h>\n#include <stdlib.h>\n#include <stdatomic.h>\n#include <assert.h>\n\
                    struct node { _Atomic int value; _Atomic(struct node *) next; };\n\
                    _Atomic(struct node *) p[2];\n_Atomic int x;\n";

/// One statement of a thread, with `n` and `r` of its own.
fn statement(dice: &mut Dice) -> String {
    let (slot, number) = (dice.below(2), 1 + dice.below(3));
    match dice.below(12) {
        0..=2 => format!(
            "n = malloc(sizeof *n); atomic_init(&n->value, {number}); atomic_init(&n->next, 0); p[{slot}] = n;"
        ),
        3 => format!("n = calloc({number}, sizeof *n); n[x].value = {number}; p[{slot}] = n;"),
        4 => {
            format!("n = malloc((1 + x) * sizeof *n); n[x].value = {number}; n[0].next = 0; p[{slot}] = n;")
        }
        5 | 6 => format!("n = p[{slot}]; if (n) r += n->value;"),
        7 => format!("n = p[{slot}]; if (n) n->next = p[{}];", 1 - slot),
        8 => format!("n = p[{slot}]; if (n) {{ n = n->next; if (n) r += 10 * n->value; }}"),
        9 => format!("n = atomic_exchange(&p[{slot}], 0); if (n) {{ r += n->value; free(n); }}"),
        10 => format!("x = {};", number % 2),
        _ => format!(
            "{{ struct node own = {{ {number}, 0 }}; p[{slot}] = &own; r += own.value; p[{slot}] = 0; }}"
        ),
    }
}

fn program(seed: u64) -> String {
    let mut dice = Dice(seed);
    let mut text = String::from(HEAD);
    let threads = 1 + dice.below(2);
    for t in 0..threads {
        let body: Vec<String> = (0..1 + dice.below(2)).map(|_| statement(&mut dice)).collect();
        let _ = writeln!(
            text,
            "void *f{t}(void *u) {{ struct node *n; long r = 0; {} return (void *)r; }}",
            body.join(" ")
        );
    }
    text.push_str("int main(void) { pthread_t t[2]; struct node *n; long r = 0; void *got;\n");
    for t in 0..threads {
        let _ = writeln!(text, "pthread_create(&t[{t}], 0, f{t}, 0);");
    }
    let _ = writeln!(text, "{} {}", statement(&mut dice), statement(&mut dice));
    for t in 0..threads {
        let _ = writeln!(text, "pthread_join(t[{t}], &got); r += 100 * (long)got;");
    }
    let wrong = dice.pick(&[0, 1, 2, 3, 10, 20, 100, 101, 200, 300, 999]);
    let _ = writeln!(text, "n = p[0]; if (n) r += n->value;\nassert(r != {wrong}); exit(0); }}");
    text
}

#[test]
fn verdicts_are_those_of_the_explorer() {
    let setting =
        |name: &str, default: u64| std::env::var(name).ok().and_then(|n| n.parse().ok()).unwrap_or(default);
    let (cases, first) = (setting("FENCEPOST_CASES", 150), setting("FENCEPOST_SEED", 1));
    let (mut safe, mut wrong) = (0, 0);
    for seed in first..first + cases {
        let text = program(seed);
        let file = SourceFile::new("random.c", &text);
        let compiled = fencepost_c::compile(&file, &fencepost_c::Options::default()).expect("compiles");
        let explored =
            fencepost_explore::explore(&compiled.program, &fencepost_explore::Options::new(ModelName::Sc))
                .expect("supported");
        let errors: Vec<_> =
            explored.findings.iter().filter(|finding| finding.kind.severity() == Severity::Error).collect();
        let mut options = Options::default();
        options.symbolic.c = true;
        let outcome = check(&globalise_locals_of_main(&compiled.program), &options).expect("supported");
        let expected = if errors.is_empty() { Verdict::Safe } else { Verdict::Unsafe };
        assert_eq!(
            outcome.verdict, expected,
            "seed {seed}: {errors:?}, {:?} {:?}\n{text}",
            outcome.finding, outcome.why
        );
        assert!(!outcome.cut, "seed {seed}");
        match expected {
            Verdict::Safe => safe += 1,
            _ => wrong += 1,
        }
    }
    println!("{safe} safe, {wrong} unsafe of {cases}");
    assert!(safe * 5 > cases && wrong * 5 > cases, "{safe} safe, {wrong} unsafe of {cases}");
}
