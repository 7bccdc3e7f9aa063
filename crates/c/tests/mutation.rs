//! Mutated programs through the front end: any message is fine, a panic or a hang is not.
//!
//! Two seconds; ten when `CI` is set; `FENCEPOST_FUZZ_SECONDS` overrides both, and `FENCEPOST_FUZZ_SEED` the seed.

use fencepost_c::{Options, compile};
use fencepost_diag::SourceFile;
use std::path::Path;
use std::time::{Duration, Instant};

/// Words that matter to the front end, to be put where they do not belong.
const WORDS: &[&str] = &[
    "(",
    ")",
    "{",
    "}",
    "[",
    "]",
    ";",
    ",",
    "*",
    "&",
    "=",
    "?",
    ":",
    "...",
    "##",
    "#",
    "\n#if 1\n",
    "\n#endif\n",
    "\n#define X(a) a##a X(a)\n",
    "X(X(",
    "struct",
    "union {",
    "enum",
    "typedef",
    "int",
    "unsigned",
    "_Atomic",
    "static",
    "_Thread_local",
    "sizeof",
    "typeof(",
    "_Generic(",
    "({",
    "})",
    "case 1:",
    "default:",
    "goto l;",
    "l:",
    "switch (1)",
    "for",
    "while (",
    "return",
    "0",
    "1",
    "-1",
    "0x7fffffffffffffff",
    "1e9",
    "'a'",
    "\"s\"",
    "->x",
    ".y",
    "[3]",
    "++",
    "<<=",
    "asm(",
    "__attribute__((",
    "__builtin_choose_expr(",
    "va_list",
    "malloc(",
    "memcpy(",
    "pthread_create(",
    "/*",
    "//",
    "\\",
    "\u{e9}",
    ": 3",
    "[1 ... 2] =",
    "void",
    "double",
    "float",
    "_Bool",
    "__auto_type",
    "const",
    "volatile",
    "inline",
    "extern",
    "()",
    "= {",
    "free();",
    "pthread_join(",
    "__atomic_load_n(",
    "__sync_fetch_and_add(",
    "__fp_await(",
    "(struct p){",
    "offsetof(struct",
    "!",
    "~",
    "% 0",
    "/ 0",
    "<< 70",
    "sizeof(struct",
    "[]",
    "[0]",
    "->next",
];

struct Random(u64);

impl Random {
    fn below(&mut self, limit: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 13) as usize % limit.max(1)
    }
}

fn programs() -> Vec<String> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut paths: Vec<_> = ["corpus", "tests/semantics", "tests/bad", "src/runtime", "src/headers"]
        .iter()
        .flat_map(|folder| std::fs::read_dir(root.join(folder)).expect("a folder of programs"))
        .map(|entry| entry.expect("an entry").path())
        .filter(|path| path.extension().is_some_and(|e| e == "c" || e == "h"))
        .collect();
    paths.sort();
    paths.iter().map(|path| std::fs::read_to_string(path).expect("a program")).collect()
}

/// Cut points between words, so that most mutants get past the lexer.
fn cuts(text: &str) -> Vec<usize> {
    let mut cuts = vec![0];
    let mut last = ' ';
    for (at, c) in text.char_indices() {
        if !(c.is_alphanumeric() && last.is_alphanumeric()) {
            cuts.push(at);
        }
        last = c;
    }
    cuts.push(text.len());
    cuts
}

fn mutate(text: &mut String, donor: &str, random: &mut Random) {
    let points = cuts(text);
    let a = points[random.below(points.len())];
    let b = points[(points.partition_point(|p| *p <= a) + random.below(6)).min(points.len() - 1)];
    match random.below(6) {
        0 => text.replace_range(a..b, ""),
        1 => text.insert_str(a, WORDS[random.below(WORDS.len())]),
        2 => text.replace_range(a..b, WORDS[random.below(WORDS.len())]),
        3 => {
            let piece = text[a..b].repeat(1 + random.below(3));
            text.insert_str(b, &piece);
        }
        4 => {
            let points = cuts(donor);
            let i = random.below(points.len());
            let j = (i + random.below(20)).min(points.len() - 1);
            text.insert_str(a, &donor[points[i]..points[j]]);
        }
        _ => {
            let piece = WORDS[random.below(WORDS.len())].repeat(1 + random.below(600));
            text.insert_str(a, &piece);
        }
    }
}

/// The front end takes far less than a millisecond for most programs of this size.
const LIMIT: Duration = Duration::from_secs(2);

/// Compiles a program and renders all messages.
fn compiles(text: &str) -> bool {
    match compile(&SourceFile::new("mutant.c", text), &Options::default()) {
        Ok(compiled) => {
            compiled.warnings.iter().for_each(|w| drop(compiled.sources.render(w)));
            true
        }
        Err(failure) => failure.render().is_empty(),
    }
}

fn seconds() -> u64 {
    let chosen = std::env::var("FENCEPOST_FUZZ_SECONDS").ok().and_then(|s| s.parse().ok());
    chosen.unwrap_or(if std::env::var_os("CI").is_some() { 10 } else { 2 })
}

#[test]
fn mutants_never_panic_or_hang() {
    let programs = programs();
    let seed =
        std::env::var("FENCEPOST_FUZZ_SEED").ok().and_then(|s| s.parse().ok()).unwrap_or(0x5eed_1234_u64);
    let mut random = Random(seed | 1);
    let end = Instant::now() + Duration::from_secs(seconds());
    let (mut count, mut fine) = (0u64, 0u64);
    while Instant::now() < end {
        let mut text = programs[random.below(programs.len())].clone();
        let donor = &programs[random.below(programs.len())];
        for _ in 0..=random.below(4) {
            mutate(&mut text, donor, &mut random);
        }
        let mut time = Duration::MAX;
        // A machine that is busy with something else may stall us once, but not three times.
        for _ in 0..3 {
            let start = Instant::now();
            match std::panic::catch_unwind(|| compiles(&text)) {
                Ok(compiled) => fine += u64::from(compiled),
                Err(_) => panic!("this program makes the front end panic:\n{text}"),
            }
            time = time.min(start.elapsed());
            if time < LIMIT {
                break;
            }
        }
        assert!(time < LIMIT, "this program takes too long:\n{text}");
        count += 1;
    }
    println!("{count} mutants, {fine} of them compile");
    assert!(count > 100);
}
