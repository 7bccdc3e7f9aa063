//! Threads that are started and joined here and there (`fencepost_ir::flat`, handshakes), and memory that is allocated (heap
//! cells): random C programs through the encoding of POWER.
//!
//! - Starts and joins are judged by the explorer, which has them as events: what it finds under POWER's axioms the encoding
//!   finds, and nothing else.
//! - Allocated memory is judged by the same program with global objects in its place: the same answer with as many contexts.
//!
//! `FENCEPOST_CASES` says how many programs of each kind (60), `FENCEPOST_SEED` which is the first (0).

use fencepost_bmc::Verdict;
use fencepost_bmc::power::{Options, check};
use fencepost_diag::SourceFile;
use fencepost_explore::{self as explore, ModelName};
use fencepost_ir::{Language, Program};
use fencepost_models::prepare::{self, Form, prepare};
use fencepost_models::registry;
use std::collections::BTreeMap;
use std::fmt::Write;

/// As `check` prepares programs for the encoding.
const FORM: Form =
    Form { lock_sections: false, bound_loops: false, globalise_locals: false, divide_choices: false };

/// More contexts than these programs need, with few exceptions.
const MOST: u32 = 6;

fn number(name: &str, default: u64) -> u64 {
    std::env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(default)
}

/// splitmix64.
struct Dice(u64);

impl Dice {
    fn below(&mut self, n: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (z ^ (z >> 31)) % n
    }

    fn one_in(&mut self, n: u64) -> bool {
        self.below(n) == 0
    }

    fn pick<T: Copy>(&mut self, list: &[T]) -> T {
        list[self.below(list.len() as u64) as usize]
    }
}

fn program(text: &str, form: Form) -> Program {
    let file = SourceFile::new("random.c", text);
    let compiled = match fencepost_c::compile(&file, &fencepost_c::Options::default()) {
        Ok(compiled) => compiled,
        Err(failure) => panic!("{}\n{text}", failure.render()),
    };
    let entry = registry::find("power").expect("built in");
    prepare(&compiled.program, Language::C, entry, form, &prepare::Options::default())
        .expect("prepared")
        .program
}

/// What the explorer finds under POWER; nothing if it gives up.
fn explored(text: &str) -> Option<bool> {
    let limits = explore::Limits { max_nodes: Some(100_000), ..explore::Limits::default() };
    let options = explore::Options { limits, ..explore::Options::new(ModelName::Power) };
    let found = explore::explore(&program(text, Form::EXPLORE), &options).expect("supported");
    let wrong =
        found.findings.iter().any(|finding| finding.kind.severity() == fencepost_answer::Severity::Error);
    (found.stopped.is_none() || wrong).then_some(wrong)
}

/// What the encoding says: whether something is wrong, with how many contexts, and whether more would not matter.
#[derive(Clone, PartialEq, Eq, Debug)]
enum Said {
    Wrong(Option<u32>),
    Right { exhausted: bool },
    Refused(String),
}

impl Said {
    /// Nothing is wrong that needs fewer contexts.
    fn within(&self, contexts: Option<u32>) -> bool {
        !matches!(self, Said::Wrong(other) if *other < contexts)
    }
}

fn encoded(text: &str) -> Said {
    let options = Options { owners: true, ..Options::new(3) };
    match check(&program(text, FORM), &options, 1..=MOST) {
        Err(refused) => Said::Refused(refused.what),
        Ok(found) => match found.verdict {
            Verdict::Unsafe => Said::Wrong(found.found_at.map(|asked| asked.total as u32)),
            Verdict::Safe => Said::Right { exhausted: !found.spent },
            Verdict::Unknown => Said::Refused(format!("{:?}", found.why)),
        },
    }
}

/// A run in which a thread is not started counts as any other.
#[test]
fn a_thread_that_is_not_started_keeps_no_run_away() {
    let text = format!(
        "{HEAD}void *t0(void *arg) {{ atomic_store_explicit(&x, 1, memory_order_relaxed); return 0; }}\n\
         int main(void) {{ pthread_t h; int a = __VERIFIER_nondet_bool(); y = 1; if (a) pthread_create(&h, 0, t0, 0); \
         assert(a); }}\n"
    );
    assert_eq!(explored(&text), Some(true));
    assert!(matches!(encoded(&text), Said::Wrong(_)), "{:?}", encoded(&text));
}

const HEAD: &str = "#include <assert.h>\n#include <pthread.h>\n#include <stdatomic.h>\n#include <stdlib.h>\n\n\
    atomic_int x, y, z;\nint p, q;\n";

/// An access or a fence of a thread with registers `a` and `b`.
fn statement(dice: &mut Dice) -> String {
    let (cell, register) = (dice.pick(&["x", "x", "y", "y", "z"]), dice.pick(&["a", "b"]));
    let plain = dice.pick(&["p", "q"]);
    match dice.below(12) {
        0..=3 => format!(
            "atomic_store_explicit(&{cell}, {}, memory_order_relaxed);",
            dice.pick(&["1", "1", "2", "a", "b + 1"])
        ),
        4..=7 => format!("{register} = atomic_load_explicit(&{cell}, memory_order_relaxed);"),
        8 => format!("{plain} = {};", dice.pick(&["1", "a"])),
        9 => format!("{register} = {plain};"),
        10 => format!("if ({register}) {}", statement(dice)),
        _ => format!("atomic_thread_fence(memory_order_{});", dice.pick(&["seq_cst", "acq_rel"])),
    }
}

/// Threads, some of which others start, between whose starts and joins their parents go on.
fn starting(seed: u64) -> String {
    let mut dice = Dice(seed.wrapping_mul(0x3_0001) + 11);
    let mut text = format!("{HEAD}long out[3];\n");
    let threads = dice.pick(&[1, 2, 2, 2]);
    // The second thread is started by `main` or by the first.
    let nested = threads == 2 && dice.one_in(2);
    let joined_inside = nested && dice.one_in(2);
    for number in (0..threads).rev() {
        let mut body: Vec<String> = (0..1 + dice.below(2)).map(|_| statement(&mut dice)).collect();
        if number == 0 && nested {
            let at = dice.below(body.len() as u64 + 1) as usize;
            let start = format!("pthread_create(&h1, 0, t1, (void *){});", dice.below(2));
            body.insert(at, if dice.one_in(3) { format!("if (a == 0) {start}") } else { start });
            if joined_inside && !body[at].starts_with("if") {
                body.insert(
                    at + 1 + dice.below((body.len() - at) as u64) as usize,
                    "pthread_join(h1, (void **)&b);".into(),
                );
            }
        }
        let _ = writeln!(
            text,
            "void *t{number}(void *arg) {{\n    long a = (long)arg, b = 0;\n    pthread_t h1;"
        );
        body.iter().for_each(|line| text += &format!("    {line}\n"));
        let _ = writeln!(text, "    out[{number}] = 2 * a + b;\n    return (void *)a;\n}}\n");
    }
    let _ = writeln!(text, "int main(void) {{\n    long a = 0, b = 0;\n    pthread_t h0, h1;");
    let mut joins = Vec::new();
    for number in 0..threads {
        if dice.one_in(2) {
            text += &format!("    {}\n", statement(&mut dice));
        }
        if number == 0 || !nested {
            let start = format!("pthread_create(&h{number}, 0, t{number}, (void *){});", dice.below(2));
            // On some ways only: then it is not joined.
            if dice.one_in(8) {
                text += &format!("    if ({}) {start}\n", dice.pick(&["a", "__VERIFIER_nondet_bool()"]));
            } else {
                text += &format!("    {start}\n");
                joins.push(number);
            }
        }
    }
    for number in joins {
        if dice.one_in(2) {
            text += &format!("    {}\n", statement(&mut dice));
        }
        if !dice.one_in(8) {
            text += &format!("    pthread_join(h{number}, (void **)&{});\n", dice.pick(&["a", "b"]));
        }
    }
    let value = |dice: &mut Dice| dice.pick(&["x", "y", "z", "p", "q", "a", "b", "out[0]", "out[1]"]);
    let parts: Vec<String> =
        (0..1 + dice.below(2)).map(|_| format!("{} == {}", value(&mut dice), dice.below(3))).collect();
    let _ = writeln!(text, "    assert(!({}));\n    return 0;\n}}", parts.join(" && "));
    text
}

#[test]
fn starts_and_joins_are_those_of_the_axioms() {
    let (cases, first) = (number("FENCEPOST_CASES", 60), number("FENCEPOST_SEED", 0));
    let (mut same, mut wrong, mut bounded, mut differ) = (0, 0, 0, Vec::new());
    let mut refused: BTreeMap<String, u64> = BTreeMap::new();
    for seed in first..first + cases {
        let text = starting(seed);
        let Some(expected) = explored(&text) else { continue };
        match (encoded(&text), expected) {
            (Said::Refused(why), _) => *refused.entry(why).or_insert(0) += 1,
            // With more contexts it may be found.
            (Said::Right { exhausted: false }, true) => bounded += 1,
            (Said::Wrong(_), true) => {
                same += 1;
                wrong += 1;
            }
            (Said::Right { .. }, false) => same += 1,
            (said, expected) => {
                differ.push(format!("seed {seed}: {said:?}, the explorer {expected}\n{text}"))
            }
        }
    }
    println!(
        "{same} of {cases} agree, {wrong} of them unsafe, {bounded} need more contexts; refused: {refused:?}"
    );
    assert!(differ.is_empty(), "{} differ\n{}", differ.len(), differ.join("\n"));
    assert!(same * 10 > cases * 9 && wrong * 12 > cases, "the family misses its shape");
}

/// Allocations, and the objects that stand for them.
const ALLOCATIONS: [(&str, &str); 4] = [
    ("calloc(1, sizeof(struct node))", "&n"),
    ("calloc(2, sizeof(struct node))", "m"),
    ("malloc(sizeof(struct node))", "&n"),
    ("calloc(1, 3 * sizeof(struct node))", "l"),
];

/// Objects that one thread makes and publishes, and others reach by pointers.
fn allocating(seed: u64) -> [String; 2] {
    let mut dice = Dice(seed.wrapping_mul(0x5_0003) + 3);
    let mut globals = String::new();
    let mut made = 0;
    // An allocation on the heap, and in its place a global object.
    let mut allocate = |dice: &mut Dice| {
        let (heap, place) = dice.pick(&ALLOCATIONS);
        let global = match place {
            "&n" => format!("struct node n{made};"),
            "m" => format!("struct node m{made}[2];"),
            _ => format!("struct node l{made}[3];"),
        };
        let init = if heap.starts_with("malloc") { " o->value = 0; o->other = 0; o->next = 0;" } else { "" };
        let own = format!("{place}{made}");
        made += 1;
        globals += &format!("{global}\n");
        format!("o = ALLOCATE({heap}, {own});{init}")
    };
    let field = |dice: &mut Dice| dice.pick(&["value", "value", "other"]);
    let use_of = |dice: &mut Dice, pointer: &str| {
        let (field, register) = (field(dice), dice.pick(&["a", "b"]));
        match dice.below(8) {
            0..=2 => format!("{pointer}->{field} = {};", dice.pick(&["1", "2", "a"])),
            3..=5 => format!("{register} = {pointer}->{field};"),
            6 => format!("if ({pointer}->next) {register} = {pointer}->next->{field};"),
            _ => format!("{register} = {pointer}[{register} & 1].{field};"),
        }
    };
    let mut body = |dice: &mut Dice, first: bool| {
        let mut lines = Vec::new();
        if first || dice.one_in(3) {
            lines.push(allocate(dice));
            (0..dice.below(3)).for_each(|_| lines.push(use_of(dice, "o")));
            if dice.one_in(2) {
                lines.push(
                    dice.pick(&["o->next = atomic_load_explicit(&g, memory_order_relaxed);", "o->next = o;"])
                        .into(),
                );
            }
            if dice.one_in(3) {
                lines.push("atomic_thread_fence(memory_order_acq_rel);".into());
            }
            lines.push(format!(
                "atomic_store_explicit(&g, {}, memory_order_relaxed);",
                dice.pick(&["o", "o", "o", "o + 1"])
            ));
            if dice.one_in(2) {
                lines.push(use_of(dice, "o"));
            }
        } else {
            lines.push("o = atomic_load_explicit(&g, memory_order_relaxed);".into());
            if dice.one_in(4) {
                lines.push(format!("if (!o) {{ {} }}", allocate(dice)));
            }
            if dice.one_in(3) {
                lines.push("atomic_thread_fence(memory_order_acq_rel);".into());
            }
            let uses: Vec<String> = (0..1 + dice.below(2)).map(|_| use_of(dice, "o")).collect();
            lines.push(format!("if (o) {{ {} }}", uses.join(" ")));
        }
        lines
    };
    let threads = dice.pick(&[1, 2, 2]);
    let (mut functions, mut main) = (String::new(), String::new());
    let by_main = dice.one_in(2);
    for number in 0..threads {
        let first = number == 0 && !by_main;
        let lines = body(&mut dice, first).join("\n    ");
        functions += &format!(
            "void *t{number}(void *arg) {{\n    int a = 0, b = 0;\n    struct node *o;\n    {lines}\n    \
                out[{number}] = 2 * a + b;\n    return 0;\n}}\n\n"
        );
    }
    if by_main {
        body(&mut dice, true).iter().for_each(|line| main += &format!("    {line}\n"));
    }
    (0..threads).for_each(|i| main += &format!("    pthread_create(&t[{i}], 0, t{i}, 0);\n"));
    if threads == 1 {
        body(&mut dice, false).iter().for_each(|line| main += &format!("    {line}\n"));
    }
    (0..threads).for_each(|i| main += &format!("    pthread_join(t[{i}], 0);\n"));
    let value = |dice: &mut Dice| dice.pick(&["out[0]", "out[0]", "out[1]", "a", "(g ? g->value : 0)"]);
    let parts: Vec<String> =
        (0..1 + dice.below(2)).map(|_| format!("{} == {}", value(&mut dice), dice.below(4))).collect();
    let asserted = parts.join(" && ");
    [("1", "heap"), ("0", "global")].map(|(heap, _)| {
        format!(
            "#include <assert.h>\n#include <pthread.h>\n#include <stdatomic.h>\n#include <stdlib.h>\n\
             struct node {{ int value, other; struct node *next; }};\n_Atomic(struct node *) g;\nint out[3];\n{globals}\
             #if {heap}\n#define ALLOCATE(heap, place) heap\n#else\n#define ALLOCATE(heap, place) place\n#endif\n\
             {functions}int main(void) {{\n    pthread_t t[3];\n    int a = 0, b = 0;\n    struct node *o;\n{main}    \
             assert(!({asserted}));\n    return 0;\n}}\n"
        )
    })
}

#[test]
fn allocated_objects_are_as_global_ones() {
    let (cases, first) = (number("FENCEPOST_CASES", 60), number("FENCEPOST_SEED", 0));
    let (mut same, mut wrong, mut refused, mut differ) = (0, 0, 0, Vec::new());
    for seed in first..first + cases {
        let [heap, global] = allocating(seed);
        match (encoded(&heap), encoded(&global)) {
            (Said::Refused(_), _) => refused += 1,
            // What `malloc` gives has no values yet, and a read of such a cell is wrong, too.
            (Said::Wrong(of_heap), of_global)
                if heap.contains("malloc(sizeof") && of_global.within(of_heap) =>
            {
                same += 1
            }
            (of_heap, of_global) if of_heap == of_global => {
                same += 1;
                wrong += u64::from(matches!(of_heap, Said::Wrong(_)));
            }
            (of_heap, of_global) => {
                differ.push(format!("seed {seed}: {of_heap:?}, with global objects {of_global:?}\n{heap}"));
            }
        }
    }
    println!("{same} of {cases} agree, {wrong} of them unsafe, {refused} refused");
    assert!(differ.is_empty(), "{} differ\n{}", differ.len(), differ.join("\n"));
    assert!(same * 2 > cases && wrong * 12 > cases, "the family misses its shape");
}
