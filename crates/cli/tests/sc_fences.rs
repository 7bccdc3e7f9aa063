//! Sequentially consistent accesses and fences that are weaker: the order of the former goes through the latter, which are no
//! accesses to any location. The judge is the cat text of the model, as a user's file.
//!
//! `FENCEPOST_CASES` says how many random tests (150), `FENCEPOST_SEED` where they begin.

use fencepost::Litmus;

/// Three edges of store buffering by seq_cst accesses, and one that goes through a fence.
fn test(release: &str, acquire: &str) -> String {
    format!(
        "C through\n{{}}\n\
         P0(atomic_int* a, atomic_int* b) {{ atomic_store_explicit(a, 1, memory_order_seq_cst); {release} }}\n\
         P1(atomic_int* b, atomic_int* c) {{ {acquire} int r1 = atomic_load_explicit(c, memory_order_seq_cst); }}\n\
         P2(atomic_int* c, atomic_int* d) {{ atomic_store_explicit(c, 1, memory_order_seq_cst); int r1 = \
         atomic_load_explicit(d, memory_order_seq_cst); }}\n\
         P3(atomic_int* d, atomic_int* a) {{ atomic_store_explicit(d, 1, memory_order_seq_cst); int r1 = \
         atomic_load_explicit(a, memory_order_seq_cst); }}\n\
         exists (1:r0=1 /\\ 1:r1=0 /\\ 2:r1=0 /\\ 3:r1=0)\n"
    )
}

#[test]
fn weaker_fences_carry_the_order_of_seq_cst_accesses() {
    let releases = [
        "atomic_store_explicit(b, 1, memory_order_release);",
        "atomic_thread_fence(memory_order_release); atomic_store_explicit(b, 1, memory_order_relaxed);",
        // Nothing orders these.
        "atomic_store_explicit(b, 1, memory_order_relaxed);",
        "atomic_store_explicit(b, 1, memory_order_relaxed); atomic_thread_fence(memory_order_release);",
    ];
    let acquires = [
        "int r0 = atomic_load_explicit(b, memory_order_acquire);",
        "int r0 = atomic_load_explicit(b, memory_order_relaxed); atomic_thread_fence(memory_order_acquire);",
        "int r0 = atomic_load_explicit(b, memory_order_relaxed);",
    ];
    for model in ["rc11", "rc20"] {
        let copy = Copied::new(model);
        for (i, release) in releases.iter().enumerate() {
            for (j, acquire) in acquires.iter().enumerate() {
                let text = test(release, acquire);
                let ours = count(&text, model);
                assert_eq!(ours, count(&text, &copy.0.display().to_string()), "{model}\n{text}");
                assert_eq!(ours.1 > 0, i > 1 || j > 1, "{model}\n{text}");
            }
        }
    }
}

/// A user's file with the text of a built-in model, which goes when it is not needed any more.
struct Copied(std::path::PathBuf);

impl Copied {
    fn new(model: &str) -> Copied {
        static NUMBER: std::sync::atomic::AtomicU32 = std::sync::atomic::AtomicU32::new(0);
        let number = NUMBER.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        let cat = format!("{}/../models/cat/{model}.cat", env!("CARGO_MANIFEST_DIR"));
        let path =
            std::env::temp_dir().join(format!("fencepost-{}-{number}-{model}.cat", std::process::id()));
        std::fs::copy(cat, &path).expect("copied");
        Copied(path)
    }
}

impl Drop for Copied {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.0);
    }
}

/// Final states, executions that satisfy the condition, and all executions.
fn count(text: &str, model: &str) -> (Vec<String>, u64, Option<u64>) {
    let outcome = Litmus::new("test", text).model(model).run().expect("an answer");
    let observed = outcome.observed.expect("states");
    (observed.states, observed.satisfying, outcome.statistics.executions)
}

/// Numbers that look random, the same in each run.
struct Random(u64);

impl Random {
    fn below(&mut self, n: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % n
    }

    fn pick<'a>(&mut self, words: &[&'a str]) -> &'a str {
        words[self.below(words.len() as u64) as usize]
    }
}

/// Two to four threads of accesses to two or three cells, half of them seq_cst, with fences of all kinds between them.
fn random_test(random: &mut Random) -> String {
    let (mut threads, mut asked) = (String::new(), Vec::new());
    for thread in 0..2 + random.below(3) {
        let cells = ["a b", "b c", "c d", "d a", "b a", "a b c"];
        let cells: Vec<&str> = random.pick(&cells).split(' ').collect();
        let mut body = String::new();
        for at in 0..2 + random.below(2) as usize {
            if random.below(3) == 0 {
                let fence = random.pick(&["release", "acquire", "acq_rel", "seq_cst"]);
                body += &format!("atomic_thread_fence(memory_order_{fence}); ");
            }
            let cell = cells[at % cells.len()];
            let (kind, strong) = (random.below(12), random.below(2) == 0);
            let order = |weaker| if strong { "seq_cst" } else { weaker };
            let weaker = random.below(2) == 0;
            body += &match kind {
                0..=4 => {
                    let order = order(if weaker { "relaxed" } else { "release" });
                    format!("atomic_store_explicit({cell}, {}, memory_order_{order}); ", 1 + random.below(2))
                }
                5..=10 => {
                    let order = order(if weaker { "relaxed" } else { "acquire" });
                    format!("int r{at} = atomic_load_explicit({cell}, memory_order_{order}); ")
                }
                _ => {
                    let order = order(if weaker { "relaxed" } else { "acq_rel" });
                    format!("int r{at} = atomic_exchange_explicit({cell}, 3, memory_order_{order}); ")
                }
            };
            if kind > 4 {
                asked.push(format!("{thread}:r{at}"));
            }
        }
        threads +=
            &format!("P{thread}(atomic_int* a, atomic_int* b, atomic_int* c, atomic_int* d) {{ {body}}}\n");
    }
    let shown: String = asked.iter().map(|register| format!("{register};")).collect();
    let all: Vec<String> = asked.iter().map(|register| format!("{register}=0")).collect();
    let condition = if all.is_empty() { "a=1".to_owned() } else { all.join(" /\\ ") };
    format!("C random\n{{}}\n{threads}locations [a;b;c;d;{shown}]\nexists ({condition})\n")
}

#[test]
fn random_tests_with_weaker_fences_agree_with_the_text_of_the_model() {
    let number =
        |name: &str, usual| std::env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(usual);
    let (cases, seed): (u64, u64) = (number("FENCEPOST_CASES", 150), number("FENCEPOST_SEED", 1));
    for model in ["rc11", "rc20"] {
        let copy = Copied::new(model);
        for case in seed..seed + cases {
            let text =
                random_test(&mut Random(0x9E37_79B9_7F4A_7C15 ^ case.wrapping_mul(0xD134_2543_DE82_EF95)));
            assert_eq!(
                count(&text, model),
                count(&text, &copy.0.display().to_string()),
                "{model}, seed {case}\n{text}"
            );
        }
    }
}
