//! Small C programs at random: two or three threads of a few statements each, started and joined by `main`, which may do
//! something of its own before, between and after.
//!
//! A statement is one line of C, or a few that belong together; it uses registers `a` and `b` of its thread. Programs are
//! lists of statements, so that a failing one can be made smaller by leaving some out.

use std::fmt::Write;

/// A generator of numbers: splitmix64.
pub struct Random(u64);

impl Random {
    /// The sequence of a seed.
    pub fn new(seed: u64) -> Random {
        Random(seed)
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// A number below `n`.
    fn below(&mut self, n: usize) -> usize {
        (self.next() % n as u64) as usize
    }

    fn one_of<'a>(&mut self, list: &[&'a str]) -> &'a str {
        list[self.below(list.len())]
    }

    fn chance(&mut self, percent: usize) -> bool {
        self.below(100) < percent
    }
}

/// A program: the statements of its threads, and those of `main` before each start, before each join and at the end.
#[derive(Clone, Debug)]
pub struct Sketch {
    threads: Vec<Vec<String>>,
    before_start: Vec<Vec<String>>,
    before_join: Vec<Vec<String>>,
    at_the_end: Vec<String>,
    /// How many threads are joined; with the others still running, the process ends.
    joined: usize,
}

const LOADS: &[&str] = &["relaxed", "acquire", "seq_cst"];
const STORES: &[&str] = &["relaxed", "release", "seq_cst"];
const UPDATES: &[&str] = &["relaxed", "acquire", "release", "acq_rel", "seq_cst"];
const FENCES: &[&str] = &["acquire", "release", "acq_rel", "seq_cst"];

fn cell(random: &mut Random) -> &'static str {
    random.one_of(&["x", "y"])
}

fn register(random: &mut Random) -> &'static str {
    random.one_of(&["a", "b"])
}

/// A statement of a thread; `plain` ones are loads, stores and fences only, which make the classical shapes.
fn statement(random: &mut Random, plain: bool) -> String {
    let (x, a) = (cell(random), register(random));
    let which = if plain { [0, 0, 4, 4, 11, 22][random.below(6)] } else { random.below(28) };
    match which {
        0..=3 => {
            let order = random.one_of(LOADS);
            format!("{a} = atomic_load_explicit(&{x}, memory_order_{order});")
        }
        4..=7 => {
            let (value, order) = (random.one_of(&["1", "2", "a", "a + 1", "b"]), random.one_of(STORES));
            format!("atomic_store_explicit(&{x}, {value}, memory_order_{order});")
        }
        8 => {
            let order = random.one_of(UPDATES);
            format!("{a} = atomic_fetch_add_explicit(&{x}, 1, memory_order_{order});")
        }
        9 => {
            let order = random.one_of(UPDATES);
            format!("{a} = atomic_exchange_explicit(&{x}, 2, memory_order_{order});")
        }
        10 => {
            let strength = random.one_of(&["strong", "strong", "weak"]);
            let (expected, order) = (random.one_of(&["0", "1"]), random.one_of(UPDATES));
            let failure = random.one_of(&["relaxed", "acquire"]);
            format!(
                "{{ int e = {expected}; {a} = atomic_compare_exchange_{strength}_explicit(&{x}, &e, 2, \
                 memory_order_{order}, memory_order_{failure}); b = e; }}"
            )
        }
        11 | 12 => format!("atomic_thread_fence(memory_order_{});", random.one_of(FENCES)),
        13 => format!("if ({a}) p = {};", random.one_of(&["1", "2"])),
        14 => format!("if ({a} == 1) b = p;"),
        15 => "pthread_mutex_lock(&m); p++; pthread_mutex_unlock(&m);".to_string(),
        16 => format!("pthread_mutex_lock(&m); {a} = q; q = 2; pthread_mutex_unlock(&m);"),
        17 => "if (pthread_mutex_trylock(&m) == 0) { q = 1; pthread_mutex_unlock(&m); }".to_string(),
        18 => format!("if ({a}) *h = 1;"),
        19 => format!("while (atomic_load_explicit(&{x}, memory_order_{}) == 0) ;", random.one_of(LOADS)),
        20 => format!("{a} = __VERIFIER_nondet_bool();"),
        21 => format!("if ({a}) pthread_exit(0);"),
        22 => format!("assert({a} != {});", random.one_of(&["1", "2"])),
        23 => format!("assert({a} != 1 || b == 0);"),
        24 => format!("if ({a}) exit(0);"),
        25 => format!("atomic_store_explicit(&g, &l, memory_order_{});", random.one_of(STORES)),
        26 => format!("atomic_store_explicit(&g, &tl, memory_order_{});", random.one_of(STORES)),
        _ => {
            let order = random.one_of(LOADS);
            format!(
                "{{ atomic_int *o = atomic_load_explicit(&g, memory_order_{order}); if (o) {a} = \
                 atomic_load_explicit(o, memory_order_relaxed); }}"
            )
        }
    }
}

/// A statement of `main` while other threads run.
fn of_main(random: &mut Random) -> String {
    let x = cell(random);
    match random.below(4) {
        0 => format!("atomic_store_explicit(&{x}, 1, memory_order_{});", random.one_of(STORES)),
        1 => format!("a = atomic_load_explicit(&{x}, memory_order_{});", random.one_of(LOADS)),
        2 => "p = 2;".to_string(),
        _ => "pthread_mutex_lock(&m); q = 1; pthread_mutex_unlock(&m);".to_string(),
    }
}

impl Sketch {
    /// A program at random.
    pub fn new(random: &mut Random) -> Sketch {
        let count = if random.chance(75) { 2 } else { 3 };
        let most = if count == 2 { 4 } else { 2 };
        let (plain, strong) = (random.chance(50), random.chance(20));
        let mut thread = || (0..1 + random.below(most)).map(|_| statement(random, plain)).collect();
        let threads = (0..count).map(|_| thread()).collect();
        let mut perhaps = |percent: usize| -> Vec<Vec<String>> {
            let list = |random: &mut Random| random.chance(percent).then(|| of_main(random));
            (0..count).map(|_| list(random).into_iter().collect()).collect()
        };
        let (before_start, before_join) = (perhaps(15), perhaps(15));
        let mut at_the_end = Vec::new();
        let results: Vec<String> = (0..count).map(|i| format!("r[{i}] == {}", random.below(2))).collect();
        at_the_end.push(format!("assert(!({}));", results.join(" && ")));
        if random.chance(30) {
            at_the_end.push(format!("assert(x != {} || p == 0);", 1 + random.below(2)));
        }
        at_the_end.push("free(h);".to_string());
        let joined = if random.chance(15) { random.below(count) } else { count };
        let mut sketch = Sketch { threads, before_start, before_join, at_the_end, joined };
        if strong {
            sketch.strengthen();
        }
        // Sometimes the object is freed while the threads still run.
        if random.chance(20) {
            sketch.at_the_end.pop();
            sketch.before_join[random.below(count)].push("free(h);".to_string());
        }
        sketch
    }

    /// All accesses and fences of the threads become sequentially consistent, and `main` does nothing beside them.
    fn strengthen(&mut self) {
        for statement in self.threads.iter_mut().flatten() {
            for order in UPDATES {
                *statement = statement.replace(&format!("memory_order_{order}"), "memory_order_seq_cst");
            }
        }
        self.before_start.iter_mut().chain(&mut self.before_join).for_each(Vec::clear);
    }

    /// The program as C.
    pub fn text(&self) -> String {
        let mut text = String::from(
            "#include <pthread.h>\n#include <stdatomic.h>\n#include <stdlib.h>\n#include <assert.h>\n\
             extern _Bool __VERIFIER_nondet_bool(void);\natomic_int x, y;\nint p, q;\nint *h;\nint r[3];\n\
             static _Thread_local atomic_int tl;\n_Atomic(atomic_int *) g;\n\
             pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;\n",
        );
        let mut line = |indent: &str, content: &str| {
            let _ = writeln!(text, "{indent}{content}");
        };
        for (i, statements) in self.threads.iter().enumerate() {
            line("", &format!("static void *t{i}(void *arg) {{"));
            line("    ", "int a = 0, b = 0;");
            if statements.iter().any(|statement| statement.contains("&l")) {
                line("    ", "atomic_int l = 1;");
            }
            statements.iter().for_each(|statement| line("    ", statement));
            line("    ", &format!("r[{i}] = a;"));
            line("    ", "return (void *)(long)b;");
            line("", "}");
        }
        line("", "int main(void) {");
        line("    ", "pthread_t t[3]; int a = 0; void *result;");
        line("    ", "h = malloc(sizeof *h);");
        for (i, statements) in self.before_start.iter().enumerate() {
            statements.iter().for_each(|statement| line("    ", statement));
            line("    ", &format!("pthread_create(&t[{i}], 0, t{i}, 0);"));
        }
        for (i, statements) in self.before_join.iter().enumerate() {
            statements.iter().for_each(|statement| line("    ", statement));
            if i < self.joined {
                line("    ", &format!("pthread_join(t[{i}], &result);"));
            }
        }
        self.at_the_end.iter().for_each(|statement| line("    ", statement));
        line("    ", "return 0;");
        line("", "}");
        text
    }

    /// The list of statements of this number.
    fn part(&mut self, number: usize) -> Option<&mut Vec<String>> {
        let lists = self.threads.iter_mut().chain(&mut self.before_start).chain(&mut self.before_join);
        lists.chain([&mut self.at_the_end]).nth(number)
    }

    /// The programs with one statement less.
    fn smaller(&self) -> Vec<Sketch> {
        let mut all = Vec::new();
        let (mut part, mut at) = (0, 0);
        loop {
            let mut sketch = self.clone();
            let Some(list) = sketch.part(part) else { return all };
            if at < list.len() {
                list.remove(at);
                all.push(sketch);
                at += 1;
            } else {
                (part, at) = (part + 1, 0);
            }
        }
    }

    /// A smallest program that is still bad, found by leaving statements out.
    pub fn shrink(self, is_bad: &dyn Fn(&Sketch) -> bool) -> Sketch {
        match self.smaller().into_iter().find(|sketch| is_bad(sketch)) {
            Some(smaller) => smaller.shrink(is_bad),
            None => self,
        }
    }
}
