//! The family of small programs for engines of the promising semantics, and random larger ones.

/// The instructions of the family, for a thread that stores `v` and for its `n`th register.
const INSTRUCTIONS: usize = 9;

fn instruction(which: usize, v: usize, n: usize) -> String {
    match which {
        0 | 1 => format!("{} := {v};", ["x", "y"][which]),
        2 | 3 => format!("r{n} := {};", ["x", "y"][which - 2]),
        4 | 5 => format!("r{n} := cas({}, 0, {v});", ["x", "y"][which - 4]),
        6 => "fence;".into(),
        // What was read last, or 0.
        _ => format!("{} := r{};", ["x", "y"][which - 7], n.saturating_sub(1)),
    }
}

fn process(name: &str, code: &[usize], v: usize) -> String {
    let registers: Vec<String> = (0..code.len().max(1)).map(|n| format!("r{n}")).collect();
    let body: Vec<String> = code.iter().enumerate().map(|(n, &which)| instruction(which, v, n)).collect();
    format!("process {name} {{ reg {}; {} }}", registers.join(", "), body.join(" "))
}

/// The program of two sequences of instructions.
pub fn text(a: &[usize], b: &[usize]) -> String {
    let shown = |name: &str, code: &[usize]| {
        (0..code.len().max(1)).map(|n| format!(", {name}.r{n}")).collect::<String>()
    };
    format!(
        "shared x, y; {} {} observe x, y{}{}; exists true;",
        process("P", a, 1),
        process("Q", b, 2),
        shown("P", a),
        shown("Q", b)
    )
}

/// All sequences of that length.
fn sequences(length: u32) -> impl Iterator<Item = Vec<usize>> {
    (0..INSTRUCTIONS.pow(length)).map(move |mut n| {
        let mut digit = || {
            let d = n % INSTRUCTIONS;
            n /= INSTRUCTIONS;
            d
        };
        (0..length).map(|_| digit()).collect()
    })
}

/// Every program of two threads with at most four instructions in total, one of each pair of mirror images.
pub fn family() -> impl Iterator<Item = String> {
    let lengths = [(1, 1), (1, 2), (2, 2), (1, 3)];
    lengths.into_iter().flat_map(|(m, n)| {
        sequences(m).flat_map(move |a| sequences(n).map(move |b| (a.clone(), b))).map(|(a, b)| text(&a, &b))
    })
}

/// A program of two threads with an assertion on what the first one has read, right behind the read: in a quarter of all seeds none has one to
/// read.
#[allow(dead_code)]
pub fn asserting(seed: u64) -> Option<String> {
    let (a, b) = codes(seed);
    let reads: Vec<usize> = (0..a.len()).filter(|&n| (2..6).contains(&a[n])).collect();
    let at = *reads.get(seed as usize % reads.len().max(1))?;
    let value = 1 + seed as usize / 7 % 2;
    let first = process("P", &a, 1);
    // The instructions end in semicolons, after those of the declaration of registers.
    let end = first.match_indices(';').nth(at + 1).map(|(place, _)| place + 1)?;
    let (before, after) = first.split_at(end);
    Some(format!("shared x, y; {before} assert r{at} != {value};{after} {}", process("Q", &b, 2)))
}

/// A random program of two threads with two to four instructions each, the same for the same seed.
#[allow(dead_code)]
pub fn random(seed: u64) -> String {
    let (a, b) = codes(seed);
    text(&a, &b)
}

fn codes(seed: u64) -> (Vec<usize>, Vec<usize>) {
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ 0x2545_f491_4f6c_dd1d;
    let mut next = |n: usize| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as usize % n
    };
    let mut code = || {
        let length = 2 + next(3);
        (0..length).map(|_| next(INSTRUCTIONS)).collect::<Vec<_>>()
    };
    (code(), code())
}
