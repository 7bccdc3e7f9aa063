//! Objects of 16 bytes that are accessed as a whole and by halves: random programs, and the same programs with two halves
//! of 32 bits in a word, whose plain accesses to a half are plain accesses to the word. Where the halves are accessed in
//! order with all else, the answers are the same; where two threads do both at the same time, none is *safe*.

use std::process::Command;

/// SplitMix64.
struct Random(u64);

impl Random {
    fn below(&mut self, n: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (z ^ (z >> 31)) % n
    }

    fn pick<'a>(&mut self, of: &[&'a str]) -> &'a str {
        of[self.below(of.len() as u64) as usize]
    }
}

const HEAD: &str = r"#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#define relaxed memory_order_relaxed
#define acquire memory_order_acquire
#define release memory_order_release
#define acq_rel memory_order_acq_rel
#define seq_cst memory_order_seq_cst
#ifdef PACKED
typedef uint64_t pair;
#define MAKE(low, high) ((uint64_t)(uint32_t)(low) | (uint64_t)(high) << 32)
#define LOW(v) ((uint32_t)(v))
#define HIGH(v) ((uint32_t)((v) >> 32))
#define GET(p, i) ((uint32_t)(*(uint64_t *)(p) >> 32 * (i)))
#define PUT(p, i, n) (*(uint64_t *)(p) = (*(uint64_t *)(p) & ~(0xffffffffull << 32 * (i))) | (uint64_t)(n) << 32 * (i))
#else
typedef struct { uint64_t low, high; } pair;
#define MAKE(l, h) ((pair){ l, h })
#define LOW(v) ((v).low)
#define HIGH(v) ((v).high)
#define GET(p, i) (((uint64_t *)(p))[i])
#define PUT(p, i, n) (((uint64_t *)(p))[i] = (n))
#endif
#define SUM(v) (LOW(v) + 2 * HIGH(v))
typedef _Atomic pair cell;
struct both { int before; cell a; cell b; };
static struct both declared;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static unsigned result[2];
";

/// An access to all of `a`, which any thread may make at any time.
fn whole(random: &mut Random, cell: &str) -> String {
    let (low, high) = (random.below(3), random.below(3));
    match random.below(4) {
        0 => format!(
            "{{ pair v = atomic_load_explicit({cell}, {}); r = r * 3 + SUM(v); }}",
            random.pick(&["relaxed", "acquire", "seq_cst"])
        ),
        1 => format!(
            "atomic_store_explicit({cell}, MAKE({low}, {high}), {});",
            random.pick(&["relaxed", "release", "seq_cst"])
        ),
        2 => format!(
            "{{ pair v = atomic_exchange_explicit({cell}, MAKE({low}, {high}), {}); r = r * 3 + SUM(v); }}",
            random.pick(&["relaxed", "acquire", "release", "acq_rel", "seq_cst"])
        ),
        _ => format!(
            "{{ pair v = MAKE({}, 0); r = r * 3 + atomic_compare_exchange_strong_explicit({cell}, &v, MAKE({low}, {high}), \
             {}, relaxed) + SUM(v); }}",
            random.below(2),
            random.pick(&["relaxed", "acquire", "acq_rel", "seq_cst"])
        ),
    }
}

/// An access to a half.
fn half(random: &mut Random, cell: &str) -> String {
    let (which, n) = (random.below(2), random.below(3));
    match random.below(2) {
        0 => format!("r = r * 3 + GET({cell}, {which});"),
        _ => format!("PUT({cell}, {which}, {n});"),
    }
}

/// Two threads; with `apart`, accesses to halves that nothing orders.
fn program(random: &mut Random, apart: bool) -> String {
    let mut text = HEAD.to_string();
    for t in 0..2 {
        text += &format!(
            "static void *thread{t}(void *arg) {{\n    struct both *s = arg;\n    unsigned r = 0;\n"
        );
        for _ in 0..1 + random.below(2) {
            text += &format!("    {}\n", whole(random, "&s->a"));
        }
        if random.below(2) == 0 {
            text += "    pthread_mutex_lock(&lock);\n";
            for _ in 0..1 + random.below(3) {
                let inside =
                    if random.below(3) == 0 { whole(random, "&s->b") } else { half(random, "&s->b") };
                text += &format!("    {inside}\n");
            }
            text += "    pthread_mutex_unlock(&lock);\n";
        }
        if apart {
            // One writes a half, the other one all of it.
            let access = ["PUT(&s->a, 1, 2);", "atomic_store_explicit(&s->a, MAKE(1, 1), relaxed);"][t];
            text += &format!("    {access}\n");
        }
        text += &format!("    result[{t}] = r;\n    return 0;\n}}\n");
    }
    let object = match random.below(3) {
        0 => "struct both *s = &declared;",
        1 => "struct both *s = calloc(1, sizeof *s);",
        _ => {
            "struct both *s = malloc(sizeof *s);\n    atomic_init(&s->a, MAKE(0, 0));\n    \
             atomic_init(&s->b, MAKE(0, 0));"
        }
    };
    text += &format!("int main(void) {{\n    unsigned r = 0;\n    pthread_t t, u;\n    {object}\n");
    for _ in 0..random.below(3) {
        let cell = random.pick(&["&s->a", "&s->b"]);
        text += &format!("    {}\n", half(random, cell));
    }
    text += "    pthread_create(&t, 0, thread0, s);\n    pthread_create(&u, 0, thread1, s);\n    \
             pthread_join(t, 0);\n    pthread_join(u, 0);\n";
    for cell in ["&s->a", "&s->b"] {
        text += &format!("    r = r * 3 + GET({cell}, 0) + 2 * GET({cell}, 1);\n");
    }
    let (seen, last) = (random.below(4), random.below(4));
    text += &format!("    assert(!(result[{}] % 4 == {seen} && r % 4 == {last}));\n", random.below(2));
    text += "    if (s != &declared)\n        free(s);\n    return 0;\n}\n";
    text
}

#[test]
fn halves_are_parts_of_the_whole() {
    let cases = std::env::var("FENCEPOST_CASES").ok().and_then(|text| text.parse().ok()).unwrap_or(24u64);
    let folder = std::env::temp_dir().join(format!("fencepost-halves-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a folder");
    let file = folder.join("halves.c");
    let mut random = Random(11);
    let mut counts = [0u64; 2];
    for case in 0..cases {
        let apart = case % 6 == 5;
        let text = program(&mut random, apart);
        std::fs::write(&file, &text).expect("written");
        for model in ["sc", "tso", "pso", "rc11", "rc20", "armv8", "power"] {
            let answer = |defines: &[&str]| {
                let output = Command::new(env!("CARGO_BIN_EXE_fencepost"))
                    .args(["check", "-j1", "--engine", "explore", "-m", model])
                    .args(defines)
                    .arg(&file)
                    .output()
                    .expect("fencepost runs");
                (output.status.code().unwrap_or(-1), String::from_utf8_lossy(&output.stdout).into_owned())
            };
            let (wide, said) = answer(&[]);
            if apart {
                assert_eq!(wide, 1, "case {case} under {model}: {said}\n{text}");
                continue;
            }
            let (packed, other) = answer(&["-D", "PACKED"]);
            assert!(packed == 0 || packed == 1, "case {case} under {model}: {other}\n{text}");
            assert_eq!(wide, packed, "case {case} under {model}:\n{said}\n{other}\n{text}");
            counts[wide as usize] += 1;
        }
    }
    let _ = std::fs::remove_dir_all(&folder);
    assert!(counts.iter().all(|&n| n > cases / 2), "safe, unsafe: {counts:?}");
}
