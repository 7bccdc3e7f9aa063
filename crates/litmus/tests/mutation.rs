//! Nothing panics: litmus files with bytes flipped, lines moved and tokens replaced. Seeded, so a failure can be had
//! again. Runs for two seconds, for ten where CI is set, and for FENCEPOST_FUZZ_SECONDS if that is set.

use fencepost_diag::SourceFile;
use std::panic::catch_unwind;
use std::path::Path;
use std::time::{Duration, Instant};

/// xorshift64*: small, and good enough to pick mutations.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545_f491_4f6c_dd1d)
    }

    fn below(&mut self, n: usize) -> usize {
        (self.next() >> 33) as usize % n.max(1)
    }

    fn pick<'x, T>(&mut self, items: &'x [T]) -> &'x T {
        &items[self.below(items.len())]
    }
}

/// What stands in files of this kind, and some things that never should.
const TOKENS: [&str; 72] = [
    "exists",
    "~exists",
    "forall",
    "final",
    "locations",
    "filter",
    "with",
    "not",
    "true",
    "/\\",
    "\\/",
    "=>",
    "(",
    ")",
    "[",
    "]",
    "{",
    "}",
    ";",
    "|",
    ":",
    ",",
    "=",
    "-",
    "+",
    "*",
    "&",
    "#",
    "$",
    "%x0",
    "(*",
    "*)",
    "//",
    "/*",
    "*/",
    "\"",
    "<<",
    ">>",
    "P0",
    "P1",
    "P99999",
    "0:r1",
    "1:X1",
    "0:",
    "x",
    "y",
    "x[1]",
    "x[99]",
    "r1",
    "r32",
    "W0",
    "X0",
    "XZR",
    "EAX",
    "0",
    "1",
    "-1",
    "0xffffffffffffffff",
    "99999999999999999999",
    "lwz",
    "stwcx.",
    "LDR",
    "SXTW",
    "MOV",
    "LOCK",
    "int",
    "uint64_t",
    "if",
    "while",
    "atomic_load(x)",
    "é",
    "\u{0}",
];

fn collect(directory: &Path, limit: usize, into: &mut Vec<String>) {
    let Ok(entries) = std::fs::read_dir(directory) else { return };
    let mut paths: Vec<_> = entries.flatten().map(|e| e.path()).collect();
    paths.sort();
    let step = (paths.len() / limit.max(1)).max(1);
    for path in paths.iter().filter(|p| p.extension().is_some_and(|e| e == "litmus")).step_by(step) {
        into.extend(std::fs::read_to_string(path));
    }
    paths.iter().filter(|p| p.is_dir()).for_each(|p| collect(p, limit, into));
}

fn mutate(text: &str, other: &str, random: &mut Random) -> String {
    let mut bytes = text.as_bytes().to_vec();
    for _ in 0..=random.below(4) {
        let mut lines: Vec<Vec<u8>> = bytes.split(|&b| b == b'\n').map(<[u8]>::to_vec).collect();
        let line = random.below(lines.len());
        let at = random.below(bytes.len());
        match random.below(9) {
            0 if !bytes.is_empty() => bytes[at] ^= 1 << random.below(8),
            1 if !bytes.is_empty() => bytes[at] = random.next() as u8,
            2 => {
                lines.remove(line);
                bytes = lines.join(&b'\n');
            }
            3 => {
                lines.insert(line, lines[line].clone());
                bytes = lines.join(&b'\n');
            }
            4 => {
                let second = random.below(lines.len());
                lines.swap(line, second);
                bytes = lines.join(&b'\n');
            }
            5 => bytes.truncate(at),
            6 => {
                // A piece of another file.
                let other = other.as_bytes();
                let from = random.below(other.len());
                let to = (from + random.below(40)).min(other.len());
                bytes.splice(at..at, other[from..to].iter().copied());
            }
            _ => {
                // A token becomes another one, or is followed by another one.
                let is_word = |b: &u8| b.is_ascii_alphanumeric() || *b == b'_';
                let end = at + bytes[at..].iter().position(|b| !is_word(b)).unwrap_or(0);
                let end = if random.below(2) == 0 { at } else { end };
                bytes.splice(at..end, random.pick(&TOKENS).bytes());
            }
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

fn seconds() -> f64 {
    match std::env::var("FENCEPOST_FUZZ_SECONDS") {
        Ok(value) => value.parse().expect("FENCEPOST_FUZZ_SECONDS is a number of seconds"),
        Err(_) if std::env::var_os("CI").is_some() => 10.0,
        Err(_) => 2.0,
    }
}

#[test]
fn mutated_files_never_panic() {
    let manifest = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut files = Vec::new();
    collect(&manifest.join("tests/good"), 1000, &mut files);
    assert!(files.len() >= 12, "the good files are missing");
    collect(&manifest.join("tests/bad"), 1000, &mut files);
    collect(&manifest.join("../../../shared/litmus"), 40, &mut files);
    let end = Instant::now() + Duration::from_secs_f64(seconds());
    let mut seed = 0x5eed_0001;
    let (mut tried, mut accepted) = (0u64, 0u64);
    while Instant::now() < end {
        for _ in 0..100 {
            seed += 1;
            let mut random = Random(seed * 0x9e37_79b9 + 1);
            let text =
                mutate(random.pick(&files).clone().as_str(), &files[random.below(files.len())], &mut random);
            let file = SourceFile::new("mutated.litmus", text);
            let outcome = catch_unwind(|| match fencepost_litmus::parse(&file) {
                Ok(test) => {
                    check(&test.program);
                    true
                }
                Err(errors) => {
                    assert!(!errors.is_empty());
                    errors.iter().for_each(|e| drop(e.render(&file)));
                    false
                }
            });
            match outcome {
                Ok(ok) => accepted += u64::from(ok),
                Err(_) => panic!("seed {seed} panics on:\n{}", file.text),
            }
            tried += 1;
        }
    }
    println!("{tried} files, {accepted} of them accepted");
    assert!(accepted > 0 && accepted < tried);
}

/// What the engines rely on: labels, registers and observed parts exist.
fn check(program: &fencepost_ir::Program) {
    use fencepost_ir::{Instr, Observable, Property};
    for function in &program.functions {
        assert_eq!(function.body.len(), function.spans.len());
        assert!(function.params as usize <= function.regs.len());
        for instr in &function.body {
            let targets = match *instr {
                Instr::Jump(to) => vec![to],
                Instr::Branch { then_to, else_to, .. } => vec![then_to, else_to],
                _ => Vec::new(),
            };
            assert!(targets.iter().all(|to| to.0 as usize <= function.body.len()));
        }
    }
    let Property::Final(condition) = &program.property else { panic!("no final condition") };
    assert!(condition.shown <= condition.observed.len());
    for observable in &condition.observed {
        match *observable {
            Observable::Register { thread, reg } => {
                assert!((reg.0 as usize) < program.thread_function(thread).regs.len());
            }
            Observable::Memory { object, offset, width } => {
                let cells = &program.objects[object.0 as usize].cells;
                // A location in parts is observed whole.
                assert!(cells.iter().any(|c| c.offset == offset && c.width <= width));
            }
        }
    }
    let values = vec![fencepost_ir::Value::ZERO; condition.observed.len()];
    condition.proposition.holds(&values);
    condition.filter.as_ref().map(|f| f.holds(&values));
    fencepost_litmus::show_state(program, &values);
}

#[test]
fn good_files_parse() {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/good");
    for entry in std::fs::read_dir(&directory).unwrap() {
        let path = entry.unwrap().path();
        let file = SourceFile::new(path.display().to_string(), std::fs::read_to_string(&path).unwrap());
        match fencepost_litmus::parse(&file) {
            Ok(test) => check(&test.program),
            Err(errors) => panic!("{}", errors.iter().map(|e| e.render(&file)).collect::<String>()),
        }
    }
}
