//! A call of a function to itself whose result is returned means a round of a loop: random functions in both forms have the
//! same answers and executions, and waiting by recursion is waiting.

mod support;

use std::process::Command;
use support::run;

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

/// Two threads that call functions of two parameters; `AGAIN(a, b)` goes on with others.
fn program(random: &mut Random) -> String {
    let mut text = String::from(
        "#include <pthread.h>\n#include <stdatomic.h>\n#include <assert.h>\n\
         #ifdef RECURSION\n#define BEGIN\n#define AGAIN(f, m, n) return f(m, n)\n#define END\n#else\n\
         #define BEGIN for (;;) {\n#define AGAIN(f, m, n) { int s = (m), t = (n); a = s; b = t; continue; }\n\
         #define END }\n#endif\n\
         static atomic_int x, y;\nstatic int result[2];\n",
    );
    for f in 0..2 {
        text += &format!("static int f{f}(int a, int b) {{\n    BEGIN\n");
        for _ in 0..random.below(2) {
            let (cell, order) = (random.pick(&["x", "y"]), random.pick(&["relaxed", "release", "seq_cst"]));
            let value = random.pick(&["1", "2", "a", "b", "a + 1"]);
            text += &format!("    atomic_store_explicit(&{cell}, {value}, memory_order_{order});\n");
        }
        let (cell, order) = (random.pick(&["x", "y"]), random.pick(&["relaxed", "acquire", "seq_cst"]));
        text += &format!("    int v = atomic_load_explicit(&{cell}, memory_order_{order});\n");
        // What no read decides goes on for ever, in either form.
        let again = random.pick(&["v == 0", "v < b", "a < 2 && v != 1", "v == a"]);
        let (m, n) = (
            random.pick(&["a", "b", "a + 1", "v", "b + 1"]),
            random.pick(&["b", "a", "a + b", "b - 1", "v"]),
        );
        let value = random.pick(&["v", "a + v", "b", "3"]);
        text +=
            &format!("    if ({again})\n        AGAIN(f{f}, {m}, {n});\n    return {value};\n    END\n}}\n");
        text += &format!(
            "static void *thread{f}(void *arg) {{\n    result[{f}] = f{f}({}, {});\n    atomic_store(&{}, 1);\n    \
             return 0;\n}}\n",
            random.below(3),
            random.below(3),
            random.pick(&["x", "y"])
        );
    }
    text += &format!(
        "int main(void) {{\n    pthread_t t, u;\n    pthread_create(&t, 0, thread0, 0);\n    \
         pthread_create(&u, 0, thread1, 0);\n    pthread_join(t, 0);\n    pthread_join(u, 0);\n    \
         assert(result[0] != {} || result[1] != {});\n    return 0;\n}}\n",
        random.below(4),
        random.below(4)
    );
    text
}

#[test]
fn recursion_is_a_loop() {
    let cases = std::env::var("FENCEPOST_CASES").ok().and_then(|text| text.parse().ok()).unwrap_or(40u64);
    let folder = std::env::temp_dir().join(format!("fencepost-recursion-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a folder");
    let file = folder.join("again.c");
    let mut random = Random(5);
    let mut verdicts = std::collections::BTreeMap::new();
    for case in 0..cases {
        let text = program(&mut random);
        std::fs::write(&file, &text).expect("written");
        for model in ["sc", "tso", "rc11", "armv8", "power"] {
            let answer = |defines: &[&str]| {
                let output = Command::new(env!("CARGO_BIN_EXE_fencepost"))
                    .args([
                        "check",
                        "-j1",
                        "--json",
                        "--unroll",
                        "2",
                        "--timeout",
                        "5",
                        "--engine",
                        "explore",
                        "--all",
                        "-m",
                        model,
                    ])
                    .args(defines)
                    .arg(&file)
                    .output()
                    .expect("fencepost runs");
                let answer: serde_json::Value = serde_json::from_slice(&output.stdout).expect("an answer");
                let kinds: Vec<String> = (answer["findings"].as_array().into_iter().flatten())
                    .map(|finding| finding["code"].to_string())
                    .collect();
                let counts = ["verdict", "executions", "blocked", "cut"].map(|key| answer[key].to_string());
                (counts, kinds)
            };
            let (looped, recursive) = (answer(&[]), answer(&["-D", "RECURSION"]));
            if [&looped, &recursive].iter().any(|answer| answer.0[0].contains("unknown")) {
                continue;
            }
            assert_eq!(looped, recursive, "case {case} under {model}\n{text}");
            *verdicts.entry(looped.0[0].clone()).or_insert(0u64) += 1;
        }
    }
    let _ = std::fs::remove_dir_all(&folder);
    assert!(verdicts.len() > 1 && verdicts.values().all(|&n| n > cases / 4), "{verdicts:?}");
}

#[test]
fn waiting_by_recursion_is_waiting() {
    let text = run(&["check", "-j1", "-m", "rc20", "crates/cli/tests/data/waits_by_recursion.c"]);
    assert!(text.contains("safe under rc20 (1 execution"), "{text}");
    let text =
        run(&["check", "-j1", "-m", "rc20", "-D", "NOBODY", "crates/cli/tests/data/waits_by_recursion.c"]);
    assert!(text.contains("error[FP0401]"), "{text}");
}
