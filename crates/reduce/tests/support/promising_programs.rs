//! The family of small programs for engines of the promising semantics, and random larger ones.

/// The instructions of the family of four, for a thread that stores `v` and for its `n`th register.
const INSTRUCTIONS: usize = 9;
/// Those of the family of six.
const ALL_INSTRUCTIONS: usize = 11;

fn instruction(which: usize, v: usize, n: usize) -> String {
    match which {
        0 | 1 => format!("{} := {v};", ["x", "y"][which]),
        2 | 3 => format!("r{n} := {};", ["x", "y"][which - 2]),
        4 | 5 => format!("r{n} := cas({}, 0, {v});", ["x", "y"][which - 4]),
        6 => "fence;".into(),
        // What was read last, or 0.
        7 | 8 => format!("{} := r{};", ["x", "y"][which - 7], n.saturating_sub(1)),
        _ => format!("r{n} := fetch_add({}, 1);", ["x", "y"][which - 9]),
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
#[allow(dead_code)]
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
#[allow(dead_code)]
pub fn family() -> impl Iterator<Item = String> {
    let lengths = [(1, 1), (1, 2), (2, 2), (1, 3)];
    lengths.into_iter().flat_map(|(m, n)| {
        sequences(m).flat_map(move |a| sequences(n).map(move |b| (a.clone(), b))).map(|(a, b)| text(&a, &b))
    })
}

/// How many programs of two threads have six instructions in total, one to three of them in the first thread.
#[allow(dead_code)]
pub const SIX: u64 = 3 * (ALL_INSTRUCTIONS as u64).pow(6);

/// One of them, by its number.
#[allow(dead_code)]
pub fn of_six(number: u64) -> String {
    let (mut rest, first) = (number / 3, 1 + number as usize % 3);
    let mut code = Vec::new();
    for _ in 0..6 {
        code.push((rest % ALL_INSTRUCTIONS as u64) as usize);
        rest /= ALL_INSTRUCTIONS as u64;
    }
    let (a, b) = code.split_at(first);
    text(a, b)
}

/// Numbers that look random, the same for the same seed.
struct Dice(u64);

impl Dice {
    fn new(seed: u64) -> Dice {
        Dice(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ 0x2545_f491_4f6c_dd1d)
    }

    fn below(&mut self, n: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % n
    }
}

/// A random program with read-modify-writes behind writes that need not be done yet: the first thread reads, and then writes and
/// updates; the second one answers what it may have promised; every third program has a third thread.
#[allow(dead_code)]
pub fn biased(seed: u64) -> String {
    let mut dice = Dice::new(seed);
    let cells = ["x", "y"];
    let statement = |dice: &mut Dice, n: usize| {
        let cell = cells[dice.below(2)];
        let value = 1 + dice.below(2);
        match dice.below(12) {
            0..=2 => format!("{cell} := {value};"),
            3 | 4 => format!("r{n} := fetch_add({cell}, 1);"),
            5 => format!("r{n} := cas({cell}, {}, {value});", dice.below(2)),
            6 => format!("r{n} := cas({cell}, {}, {value}); assume(r{n});", dice.below(2)),
            7 => format!("{cell} := r{};", n.saturating_sub(1)),
            8 => format!("if (r0 == {}) {{ {cell} := {value}; }}", dice.below(2)),
            9 => format!("if (r0 == 0) {{ {cell} := {value}; }} else {{ r{n} := fetch_add({cell}, 1); }}"),
            _ => format!("r{n} := {cell};"),
        }
    };
    let mut bodies = Vec::new();
    let length = 1 + dice.below(3);
    let mut first = vec![format!("r0 := {};", cells[dice.below(2)])];
    first.extend((1..=length).map(|n| statement(&mut dice, n)));
    let updated = cells[dice.below(2)];
    first.push(format!("r{} := fetch_add({updated}, 1);", length + 1));
    bodies.push(first);
    let mut second = vec![format!("r0 := {updated};")];
    second.extend((1..=dice.below(2)).map(|n| statement(&mut dice, n)));
    let target = cells[dice.below(2)];
    second.push(match dice.below(3) {
        0 => format!("{target} := 1;"),
        1 => format!("if (r0 == {}) {{ {target} := 1; }}", 1 + dice.below(2)),
        _ => format!("{target} := r0;"),
    });
    bodies.push(second);
    if seed.is_multiple_of(3) {
        bodies.push(vec![statement(&mut dice, 0)]);
    }
    let names = ["P", "Q", "R"];
    let process = |(name, body): (&&str, &Vec<String>)| {
        format!("process {name} {{ reg r0, r1, r2, r3, r4; {} }}", body.join(" "))
    };
    let processes: Vec<String> = names.iter().zip(&bodies).map(process).collect();
    let registers: Vec<String> =
        names.iter().zip(&bodies).map(|(name, _)| format!("{name}.r0, {name}.r1, {name}.r2")).collect();
    format!("shared x, y; {} observe x, y, {}; exists true;", processes.join(" "), registers.join(", "))
}

/// A program of two threads with an assertion on what the first one has read, right behind the read: in a quarter of all seeds
/// none has one to
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
    let mut dice = Dice::new(seed);
    let mut code = || {
        let length = 2 + dice.below(3);
        (0..length).map(|_| dice.below(INSTRUCTIONS)).collect::<Vec<_>>()
    };
    (code(), code())
}
