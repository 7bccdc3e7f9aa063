//! The engine `run` against others, on random programs of one thread: the explorer must give the same verdict, and what the
//! host's C compiler computes must be what the program computes here. Half of the programs look at the bytes of wider
//! objects, which only `run` and the compiler can follow. Without a `cc` that part is left out, and the test says so.
//!
//! `FENCEPOST_CASES` is the number of programs, 40 unless told otherwise.

mod support;

use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::process::Command;
use support::fencepost;

struct Random(u64);

impl Random {
    fn below(&mut self, n: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % n
    }

    fn pick<'a>(&mut self, of: &[&'a str]) -> &'a str {
        of[self.below(of.len() as u64) as usize]
    }
}

const HEAD: &str = "
#include <stdlib.h>
#include <string.h>
struct pair { unsigned a; unsigned short b; unsigned char c; };
static unsigned g[4];
static struct pair s, t;
static unsigned long w;
static unsigned twist(unsigned x, unsigned n) { return n ? twist(x * 5u + n, n - 1) : x ^ 0x55u; }
static void swap(unsigned *x, unsigned *y) { unsigned z = *x; *x = *y; *y = z; }
static unsigned fold(struct pair p) { return p.a ^ ((unsigned)p.b << 7) ^ p.c; }
";

/// An expression without side effects that is defined whatever the values are.
fn expression(random: &mut Random, depth: u32) -> String {
    if depth == 0 {
        let number = random.below(1000);
        let place = random.pick(&[
            "g[0]",
            "g[1]",
            "g[2]",
            "g[3]",
            "s.a",
            "s.b",
            "t.c",
            "h[1]",
            "h[2]",
            "(unsigned)w",
        ]);
        return if random.below(4) == 0 { format!("{number}u") } else { place.into() };
    }
    let (a, b) = (expression(random, depth - 1), expression(random, depth - 1));
    match random.below(9) {
        0 => format!("({a} / ({b} | 1u))"),
        1 => format!("({a} % ({b} | 1u))"),
        2 => format!("({a} >> ({b} & 15u))"),
        3 => format!("({a} << ({b} & 15u))"),
        4 => format!("({a} < {b} ? {b} : {a})"),
        5 => format!("twist({a}, ({b}) & 3u)"),
        _ => format!("({a} {} {b})", random.pick(&["+", "-", "*", "^", "|", "&"])),
    }
}

fn statement(random: &mut Random, out: &mut String, depth: u32, bytes: bool) {
    let value = expression(random, 2);
    let place = random.pick(&[
        "g[0]", "g[1]", "g[2]", "g[3]", "s.a", "s.b", "s.c", "t.a", "t.c", "h[0]", "h[1]", "h[2]", "w",
    ]);
    let _ = match random.below(if bytes { 13 } else { 9 }) {
        0 | 1 => writeln!(out, "{place} = {value};"),
        2 => writeln!(out, "swap(&g[{}], &g[{}]);", random.below(4), random.below(4)),
        3 => writeln!(out, "t = s; s.a ^= fold(t);"),
        4 => writeln!(out, "memcpy(h, g, 3 * sizeof *h); h[0] += {value};"),
        5 => writeln!(
            out,
            "{{ unsigned *p = malloc(8); p[0] = {value}; p[1] = p[0] ^ 9u; {place} = p[1]; free(p); }}"
        ),
        6 if depth > 0 => {
            let _ = writeln!(out, "for (unsigned i = 0; i < {}u; i++) {{", random.below(6));
            statement(random, out, depth - 1, bytes);
            writeln!(out, "g[i & 3u] += i; }}")
        }
        7 if depth > 0 => {
            let _ = writeln!(out, "if ({value} & {}u) {{", random.below(8));
            statement(random, out, depth - 1, bytes);
            out.push_str("} else {\n");
            statement(random, out, depth - 1, bytes);
            writeln!(out, "}}")
        }
        9 => writeln!(out, "((unsigned char *)&w)[{}] = (unsigned char)({value});", random.below(8)),
        10 => writeln!(out, "{place} = ((unsigned char *)g)[{}];", random.below(16)),
        11 => writeln!(out, "memcpy(&w, g + 1, sizeof w);"),
        12 => writeln!(
            out,
            "{{ unsigned char b[4]; unsigned u = {value}; memcpy(b, &u, 4); {place} = b[{}]; }}",
            random.below(4)
        ),
        _ => writeln!(out, "{place} ^= {value};"),
    };
}

/// A program without its `main`: `run` gives what it computes.
fn program(random: &mut Random, bytes: bool) -> String {
    let mut body = String::new();
    for _ in 0..8 {
        statement(random, &mut body, 2, bytes);
    }
    let sum = "g[0] ^ g[1] * 3u ^ g[2] * 5u ^ g[3] * 7u ^ fold(s) ^ fold(t) ^ h[0] ^ h[1] ^ h[2] ^ (unsigned)w ^ \
        (unsigned)(w >> 32)";
    format!("{HEAD}static unsigned run(void) {{\nunsigned h[3] = {{1, 2, 3}};\n{body}return {sum};\n}}\n")
}

fn compiled(folder: &Path, text: &str) -> Option<u32> {
    let (source, binary) = (folder.join("host.c"), folder.join("host"));
    let main = "#include <stdio.h>\nint main(void) { printf(\"%u\\n\", run()); return 0; }\n";
    std::fs::write(&source, format!("{text}{main}")).expect("a file");
    let mut cc = Command::new("cc");
    cc.args(["-std=gnu11", "-w", "-O0", "-fno-strict-aliasing", "-o"]).arg(&binary).arg(&source);
    let status = cc.status().ok()?;
    assert!(status.success(), "cc refuses\n{text}");
    let output = Command::new(&binary).output().expect("it runs");
    String::from_utf8_lossy(&output.stdout).trim().parse().ok()
}

/// The verdict on the claim that `run() & mask` is `value`.
fn verdict(folder: &Path, text: &str, engine: &str, mask: u32, value: u32) -> String {
    let path: PathBuf = folder.join("claim.c");
    let main = format!(
        "#include <assert.h>\nint main(void) {{ assert((run() & {mask}u) == {value}u); return 0; }}\n"
    );
    std::fs::write(&path, format!("{text}{main}")).expect("a file");
    let path = path.to_str().expect("a path");
    let output =
        fencepost(&["check", path, "-m", "sc", "--json", "--engine", engine]).output().expect("it runs");
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    let answer: serde_json::Value =
        serde_json::from_str(said.lines().last().unwrap_or("")).unwrap_or_default();
    answer["verdict"].as_str().map_or_else(|| format!("none: {said}"), str::to_string)
}

#[test]
fn random_programs_of_one_thread_end_as_elsewhere() {
    let cases = std::env::var("FENCEPOST_CASES").ok().and_then(|n| n.parse().ok()).unwrap_or(40u64);
    let folder = std::env::temp_dir().join(format!("fencepost-run-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a folder");
    let host = Command::new("cc").arg("--version").output().is_ok();
    if !host {
        eprintln!("there is no cc to compare with");
    }
    let (mut compared, mut unsafe_ones) = (0, 0);
    for case in 0..cases {
        let mut random = Random(0x9e37_79b9_7f4a_7c15 ^ (case + 1).wrapping_mul(0x2545_f491_4f6c_dd1d));
        let bytes = case % 2 == 1;
        let text = program(&mut random, bytes);
        if host {
            let right = compiled(&folder, &text).expect("a number");
            assert_eq!(
                verdict(&folder, &text, "run", u32::MAX, right),
                "safe",
                "case {case}, {right}\n{text}"
            );
            let wrong = verdict(&folder, &text, "run", u32::MAX, right ^ 4);
            assert_eq!(wrong, "unsafe", "case {case}, {right}\n{text}");
        }
        if !bytes {
            let value = random.below(2) as u32;
            let (one, other) =
                (verdict(&folder, &text, "run", 1, value), verdict(&folder, &text, "explore", 1, value));
            assert_eq!(one, other, "case {case}\n{text}");
            compared += 1;
            unsafe_ones += usize::from(one == "unsafe");
        }
    }
    assert!(compared == 0 || (unsafe_ones > 0 && unsafe_ones < compared), "{unsafe_ones} of {compared}");
    eprintln!("{cases} programs, {compared} of them also explored, {unsafe_ones} claims wrong");
}
