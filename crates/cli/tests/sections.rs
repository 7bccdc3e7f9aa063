//! Atomic sections: the explorer takes them for critical sections of one lock, the machines for single steps. Where the
//! explorer gives an answer, it is that of the machines.

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
}

fn statement(random: &mut Random) -> String {
    let cell = ["x", "y"][random.below(2) as usize];
    match random.below(4) {
        0 => format!("ST({cell}, {});", 1 + random.below(2)),
        1 => format!("ST({cell}, LD({cell}) + 1);"),
        2 => format!("r = r * 4 + LD({cell});"),
        _ => format!("ST({cell}, r);"),
    }
}

/// Two threads of sections and, now and then, an access outside of them.
fn program(random: &mut Random) -> String {
    let mut text = String::from(
        "#include <pthread.h>\n#include <stdatomic.h>\n#include <assert.h>\n\
         #define LD(v) atomic_load_explicit(&(v), memory_order_relaxed)\n\
         #define ST(v, n) atomic_store_explicit(&(v), (n), memory_order_relaxed)\n\
         void __VERIFIER_atomic_begin(void);\nvoid __VERIFIER_atomic_end(void);\natomic_int x, y, a, b;\n",
    );
    let outside = random.below(4) == 0;
    for (name, result) in [("one", "a"), ("two", "b")] {
        text += &format!("static void *{name}(void *arg) {{\n    int r = 0;\n");
        for _ in 0..1 + random.below(2) {
            text += "    __VERIFIER_atomic_begin();\n";
            for _ in 0..1 + random.below(2) {
                text += &format!("    {}\n", statement(random));
            }
            text += "    __VERIFIER_atomic_end();\n";
            if outside && random.below(2) == 0 {
                text += &format!("    {}\n", statement(random));
            }
        }
        text += &format!("    ST({result}, r);\n    return 0;\n}}\n");
    }
    let unwanted = [random.below(6), random.below(6), random.below(4)];
    text += &format!(
        "int main(void) {{\n    pthread_t s, t;\n    pthread_create(&s, 0, one, 0);\n    pthread_create(&t, 0, two, 0);\n    \
         pthread_join(s, 0);\n    pthread_join(t, 0);\n    \
         assert(!(LD(a) == {} || LD(b) == {} || LD(x) == {}));\n    return 0;\n}}\n",
        unwanted[0], unwanted[1], unwanted[2]
    );
    text
}

#[test]
fn sections_mean_the_same_to_both_engines() {
    let cases = std::env::var("FENCEPOST_CASES").ok().and_then(|text| text.parse().ok()).unwrap_or(60u64);
    let folder = std::env::temp_dir().join(format!("fencepost-sections-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a folder");
    let file = folder.join("sections.c");
    let mut random = Random(7);
    let mut counts = [0u64; 3];
    for case in 0..cases {
        let text = program(&mut random);
        std::fs::write(&file, &text).expect("written");
        for model in ["sc", "tso", "pso"] {
            let answer = |engine: &str| {
                let output = Command::new(env!("CARGO_BIN_EXE_fencepost"))
                    .args(["check", "-j1", "--engine", engine, "-m", model])
                    .arg(&file)
                    .output()
                    .expect("fencepost runs");
                output.status.code().unwrap_or(-1)
            };
            let (explored, searched) = (answer("explore"), answer("states"));
            assert!(searched == 0 || searched == 1, "case {case} under {model}: states {searched}\n{text}");
            if explored != 2 {
                assert_eq!(explored, searched, "case {case} under {model}\n{text}");
            }
            counts[explored.clamp(0, 2) as usize] += 1;
        }
    }
    let _ = std::fs::remove_dir_all(&folder);
    assert!(counts.iter().all(|&n| n > cases / 20), "safe, unsafe, unknown: {counts:?}");
}
