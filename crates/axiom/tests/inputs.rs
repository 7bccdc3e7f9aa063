//! Inputs that the explorer takes by a few values that stand for all (`fencepost_ir::independent`, `fencepost_ir::nondet`)
//! against this engine, to which they are words: random programs that copy inputs through memory, casts, functions,
//! structures and threads, compare them, and sometimes compute with them. Then with each rule of the narrowing left out.
//!
//! `FENCEPOST_CASES` says how many programs (120), `FENCEPOST_SEED` which is the first (0).

mod support;

use fencepost_answer::FindingKind;
use fencepost_answer::Verdict;
use fencepost_ir::independent::{Rule, narrow_choices_without};
use fencepost_ir::{Instr, Program};
use fencepost_models::Model;
use std::collections::BTreeMap;
use std::fmt::Write;
use support::{Dice, answered, compiled, explored, options};

const MODELS: [&str; 5] = ["sc", "tso", "rc20", "power", "armv8"];

fn number(name: &str, default: u64) -> u64 {
    std::env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(default)
}

/// One thread: registers `a`, `b`, `c` of one type.
struct Writer<'d> {
    dice: &'d mut Dice,
    /// Inputs that may still be read.
    inputs: u64,
    /// Whether inputs are also computed with.
    computes: bool,
    /// Whether there are cells and casts of other types.
    mixes: bool,
    text: String,
}

/// The last two keep the narrowing away.
const CONSTANTS: [&str; 6] = ["0", "1", "2", "5", "-1", "200"];
const ORDERS: [&str; 2] = ["relaxed", "seq_cst"];

impl Writer<'_> {
    fn line(&mut self, text: &str) {
        let _ = writeln!(self.text, "    {text}");
    }

    fn register(&mut self) -> &'static str {
        self.dice.pick(&["a", "b", "c"])
    }

    fn cell(&mut self) -> &'static str {
        if self.mixes {
            self.dice.pick(&["x", "y", "small", "wide"])
        } else {
            self.dice.pick(&["x", "x", "y"])
        }
    }

    /// Something to store or to compare with.
    fn value(&mut self) -> String {
        let register = self.register();
        match self.dice.below(10) {
            0..=4 => register.into(),
            5 | 6 => constant(self.dice).into(),
            7 if self.mixes => format!(
                "({}){register}",
                self.dice.pick(&["char", "unsigned char", "short", "unsigned", "long"])
            ),
            8 => format!("same({register})"),
            _ if self.computes => {
                let op = self.dice.pick(&["+ 1", "& 3", "^ 1", "> 3", "* 2", "% 3"]);
                format!("({register} {op})")
            }
            _ => format!("pick({register}, a, b)"),
        }
    }

    fn condition(&mut self) -> String {
        let (register, value) = (self.register(), self.value());
        match self.dice.below(5) {
            0 => format!("!{register}"),
            1 => format!("{register} != {value}"),
            2 if self.computes => format!("{register} < {value}"),
            _ => format!("{register} == {value}"),
        }
    }

    fn input(&mut self) {
        let register = self.register();
        self.inputs -= 1;
        let kinds = if self.mixes { 8 } else { 16 };
        let from = match self.dice.below(kinds) {
            0 if self.mixes => "__VERIFIER_nondet_uint()",
            1 if self.mixes => "__VERIFIER_nondet_uchar()",
            2 if self.mixes => "__VERIFIER_nondet_short()",
            3 => "asked()",
            _ => "__VERIFIER_nondet_int()",
        };
        self.line(&format!("{register} = {from};"));
    }

    fn statement(&mut self, depth: u32) {
        let (register, cell, value) = (self.register(), self.cell(), self.value());
        let order = self.dice.pick(&ORDERS);
        match self.dice.below(16) {
            0..=3 if self.inputs > 0 => self.input(),
            0..=4 => self.line(&format!("atomic_store_explicit(&{cell}, {value}, memory_order_{order});")),
            5..=7 => self.line(&format!("{register} = atomic_load_explicit(&{cell}, memory_order_{order});")),
            8 => self.line(&format!("{register} = atomic_exchange(&{cell}, {value});")),
            9 | 10 => {
                let (expected, result) = (self.value(), self.dice.pick(&["", " ? 1 : e"]));
                self.line(&format!("e = {expected};"));
                self.line(&format!("{register} = atomic_compare_exchange_strong(&x, &e, {value}){result};"));
            }
            11 if self.mixes => self.line(&format!("s.first = {value}; t = s; {register} = t.first;")),
            12 => self.line(&format!("{register} = {value};")),
            13 if self.mixes => {
                let (to, from) = (self.dice.below(2), self.dice.below(2));
                self.line(&format!("pair[{to}] = {value}; {register} = pair[{from}];"));
            }
            _ if depth == 0 => {
                let condition = self.condition();
                self.line(&format!("if ({condition}) {{"));
                self.statement(1);
                if self.dice.one_in(2) {
                    self.line("} else {");
                    self.statement(1);
                }
                self.line("}");
            }
            _ => self.line(&format!("{register} = pick({value}, {register}, b);")),
        }
    }
}

fn constant(dice: &mut Dice) -> &'static str {
    let known = if dice.one_in(30) { CONSTANTS.len() } else { 4 };
    dice.pick(&CONSTANTS[..known])
}

/// What is asserted of the values that the threads ended with, and of the cells.
fn outcome(dice: &mut Dice, threads: usize) -> String {
    let value = |dice: &mut Dice| match dice.below(5) {
        0 => format!("atomic_load(&{})", dice.pick(&["x", "y"])),
        1 => constant(dice).to_owned(),
        _ => format!("out[{}][{}]", dice.below(threads as u64), dice.below(3)),
    };
    let parts: Vec<String> = (0..1 + dice.below(3))
        .map(|_| format!("{} {} {}", value(dice), dice.pick(&["==", "!=", "=="]), value(dice)))
        .collect();
    format!("!({})", parts.join(" && "))
}

/// A random program.
fn program(seed: u64) -> String {
    let mut dice = Dice(seed.wrapping_mul(0x1_0001) + 77);
    let threads = dice.pick(&[1, 2, 2, 2, 3]);
    let (computes, mixes) = (dice.one_in(6), dice.one_in(4));
    let ty = if mixes { dice.pick(&["int", "unsigned", "long", "short", "unsigned char"]) } else { "int" };
    let asked = dice.pick(&[
        "int v = __VERIFIER_nondet_int(); return v;",
        "int v = __VERIFIER_nondet_int(); if (v == 5) v = 1; return v;",
        "int v = 0; for (int i = 0; i < 2; i++) v = __VERIFIER_nondet_int(); return v;",
        "int v = __VERIFIER_nondet_int(); int w = __VERIFIER_nondet_int(); return v == w ? 7 : v;",
    ]);
    let mut text = format!(
        "#include <assert.h>\n#include <pthread.h>\n#include <stdatomic.h>\n\natomic_int x, y;\n_Atomic(unsigned char) small;\n\
         _Atomic(long) wide;\n{ty} out[3][3];\nint same(int v) {{ return v; }}\n\
         int pick(int which, int v, int w) {{ return which ? v : w; }}\nint asked(void) {{ {asked} }}\n\n"
    );
    for number in 0..threads {
        let length = if threads == 1 { 7 } else { 2 + dice.below(3) };
        let inputs = if threads == 3 { 1 } else { 4 - threads as u64 };
        let mut writer = Writer { dice: &mut dice, inputs, computes, mixes, text: String::new() };
        writer.input();
        (0..length).for_each(|_| writer.statement(0));
        let body = writer.text;
        let more = match mixes {
            true => format!(
                ", pair[2];\n    pair[0] = pair[1] = 0;\n    struct {{ {ty} first; int second; }} s, t;\n    s.first \
                    = s.second = 0;"
            ),
            false => ";".into(),
        };
        let _ = writeln!(
            text,
            "void *t{number}(void *arg) {{\n    {ty} a = (long)arg, b = 0, c = 0{more}\n    int e = 0;\n{body}    (void)e;\n    \
             out[{number}][0] = a; out[{number}][1] = b; out[{number}][2] = c;\n    return 0;\n}}\n"
        );
    }
    let _ = writeln!(text, "int main(void) {{\n    pthread_t t[3];\n    long v = 0;");
    if dice.one_in(3) {
        let _ = writeln!(text, "    v = __VERIFIER_nondet_int();");
    }
    if dice.one_in(4) {
        let _ = writeln!(text, "    x = __VERIFIER_nondet_int();");
    }
    for number in 0..threads {
        let arg = dice.pick(&["0", "0", "0", "(void *)v", "(void *)5"]);
        let _ = writeln!(text, "    pthread_create(&t[{number}], 0, t{number}, {arg});");
    }
    for number in 0..threads {
        let _ = writeln!(text, "    pthread_join(t[{number}], 0);");
    }
    let asserted = outcome(&mut dice, threads);
    let _ = writeln!(text, "    assert({asserted});\n    return 0;\n}}");
    text
}

/// The choices of a program that have another range in the other one.
fn narrowed(one: &Program, other: &Program) -> usize {
    let instrs =
        |program: &Program| program.functions.iter().flat_map(|f| f.body.clone()).collect::<Vec<_>>();
    let differs = |(a, b): (Instr, Instr)| matches!(a, Instr::Nondet { .. }) && a != b;
    instrs(one).into_iter().zip(instrs(other)).map(differs).filter(|differs| *differs).count()
}

/// What came of a program under a model.
#[derive(Clone, PartialEq, Debug)]
enum Compared {
    Skipped(String),
    Same(Verdict),
    Different(String),
}

/// The explorer's answer on the program with narrowed choices, and this engine's on the program as it is.
fn compare(text: &str, name: &str, without: Option<Rule>) -> (Compared, usize) {
    let compiled = compiled(text);
    let mut few = compiled.clone();
    narrow_choices_without(&mut few.program, FEW, without);
    let choices = narrowed(&compiled.program, &few.program);
    // What is not narrowed at once is divided, and narrowed if that is not enough: the road of `check`.
    let explored_as = if without.is_some() || choices > 0 { &few } else { &compiled };
    let too_many = match fencepost_ir::nondet::split_choices(&explored_as.program) {
        Ok(_) => None,
        Err(many) => Some(format!("{} values", many.values)),
    };
    let model = Model::builtin(name).expect("built in");
    let skipped = |why: &str| (Compared::Skipped(why.to_owned()), choices);
    if let Some(why) = too_many {
        if std::env::var("FENCEPOST_SHOW").is_ok() {
            println!("{text}");
        }
        return skipped(&why);
    }
    let Some(kinds) = explored(explored_as, name, &model, text) else {
        return skipped("the explorer gives up");
    };
    if kinds.iter().any(|kind| *kind != FindingKind::Assertion) {
        return skipped(&format!("{kinds:?}"));
    }
    let outcome = match answered(&compiled, name, &model, &options(&model)) {
        Ok(outcome) if outcome.verdict != Verdict::Unknown => outcome,
        Ok(_) => return skipped("the formula gives up"),
        Err(why) => return skipped(&why),
    };
    let expected = if kinds.is_empty() { Verdict::Safe } else { Verdict::Unsafe };
    match outcome.verdict == expected {
        true => (Compared::Same(expected), choices),
        false => {
            let said =
                format!("{name}: the explorer says {kinds:?}, the formula {:?}\n{text}", outcome.verdict);
            (Compared::Different(said), choices)
        }
    }
}

/// Choices of more values are narrowed, as on the road of `check`.
const FEW: u64 = 64;

#[test]
fn few_values_stand_for_all() {
    let (cases, first) = (number("FENCEPOST_CASES", 120), number("FENCEPOST_SEED", 0));
    let (mut same, mut wrong, mut with_few) = (0, 0, 0);
    let mut skipped: BTreeMap<String, u64> = BTreeMap::new();
    for seed in first..first + cases {
        let text = program(seed);
        for name in [MODELS[0], MODELS[1 + (seed % 4) as usize]] {
            match compare(&text, name, None) {
                (Compared::Skipped(why), _) => *skipped.entry(why).or_insert(0) += 1,
                (Compared::Same(verdict), choices) => {
                    same += 1;
                    wrong += u64::from(verdict == Verdict::Unsafe);
                    with_few += u64::from(choices > 0);
                }
                (Compared::Different(said), _) => panic!("seed {seed}: {said}"),
            }
        }
    }
    println!(
        "{same} answers agree, {wrong} of them unsafe, {with_few} with choices that were narrowed; skipped: {skipped:?}"
    );
    assert!(same * 2 > cases && with_few * 8 > cases && wrong * 10 > cases, "the family misses its shape");
}

/// Programs that notice, by their seeds; `FENCEPOST_SEARCH=N` looks for others among N.
const BY_SEED: [(Rule, u64); 4] =
    [(Rule::Constants, 203), (Rule::Memory, 38), (Rule::Calls, 203), (Rule::Made, 1192)];

/// And `main` of programs that notice.
const BY_HAND: [(Rule, &str); 6] = [
    (Rule::Spoiled, "int a = __VERIFIER_nondet_int(); assert(a + 1 != 100);"),
    (Rule::Widths, "int a = __VERIFIER_nondet_int(); short b = a; assert(!(b == 0 && a != 0));"),
    (
        Rule::Pointers,
        "int b = __VERIFIER_nondet_int(); if (b == 2) b = 1; y = b; int *p = &x; if (__VERIFIER_nondet_bool()) p = \
            &y; int a = *p; assert(a != 5);",
    ),
    (
        Rule::Repeats,
        "int a = 0, b = 0, same = 0; for (int i = 0; i < 2; i++) { b = a; a = __VERIFIER_nondet_int(); if (a == b) same = 1; \
         if (a == 0) same = 1; } assert(same);",
    ),
    (Rule::Runs, "int a = chosen(), b = chosen(); assert(a == b || a == 0 || b == 0);"),
    (
        Rule::Ranges,
        "unsigned a = __VERIFIER_nondet_uint(), b = __VERIFIER_nondet_uchar(); if (a == b) b = 0; assert(a != 300);",
    ),
];

#[test]
fn a_missing_rule_is_noticed() {
    let notices = |text: &str, rule| matches!(compare(text, "sc", Some(rule)).0, Compared::Different(_));
    let search = number("FENCEPOST_SEARCH", 0);
    for rule in Rule::ALL.into_iter().filter(|_| search > 0) {
        println!("{rule:?}: {:?}", (0..search).find(|seed| notices(&program(*seed), rule)));
    }
    for rule in Rule::ALL {
        let by_seed = BY_SEED.iter().find(|(known, _)| *known == rule).map(|(_, seed)| program(*seed));
        let by_hand = BY_HAND.iter().find(|(known, _)| *known == rule).map(|(_, main)| {
            format!(
                "#include <assert.h>\nint x, y;\nint chosen(void) {{ int a = __VERIFIER_nondet_int(); return a; }}\n\
                 int main(void) {{ {main} }}\n"
            )
        });
        let text = by_seed.or(by_hand).unwrap_or_else(|| panic!("{rule:?} has no program"));
        assert!(notices(&text, rule), "nobody notices that {rule:?} is left out\n{text}");
        let whole = compare(&text, "sc", None).0;
        assert!(!matches!(whole, Compared::Different(_)), "{rule:?}: {whole:?}");
    }
}
