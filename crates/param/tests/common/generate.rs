//! Random small systems, as `.cub` text: fixed processes that each run a straight line of reads, writes, fences and
//! read-modify-writes over two weak variables, and parameterized ones where all processes run the same code.
//! Deterministic in the seed.

/// A small random number generator (splitmix64).
pub struct Rng(pub u64);

impl Rng {
    /// A number below `n`.
    pub fn below(&mut self, n: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        (z ^ (z >> 31)) % n
    }

    fn chance(&mut self, percent: u64) -> bool {
        self.below(100) < percent
    }

    fn pick<'a>(&mut self, from: &[&'a str]) -> &'a str {
        from[self.below(from.len() as u64) as usize]
    }
}

const VALUES: [&str; 3] = ["V0", "V1", "V2"];
const VARS: [&str; 2] = ["X", "Y"];

/// Guard and assignments of one random operation.
fn operation(rng: &mut Rng) -> (String, String) {
    let (x, y) = (rng.pick(&VARS), rng.pick(&VARS));
    let (v, w) = (rng.pick(&VALUES), rng.pick(&VALUES));
    let r = rng.pick(&["R1", "R2"]);
    let fence = if rng.chance(20) { " && fence()" } else { "" };
    let q = rng.pick(&["#1", "#2"]);
    match rng.below(18) {
        0..=3 => (fence.into(), format!("; {x} := {w}")),
        4..=5 => (fence.into(), format!("; {r}[p] := {x}")),
        6..=7 => (format!(" && {x} = {v}{fence}"), String::new()),
        8 => (format!(" && {x} = {v} && Y <> {w}{fence}"), String::new()),
        9 => (format!(" && {x} = {v}{fence}"), format!("; {y} := {w}")),
        10 => (fence.into(), format!("; {r}[p] := {x}; {y} := {w}")),
        11 => (fence.into(), format!("; X := {v}; Y := {w}")),
        12 => (" && fence()".into(), String::new()),
        13 => (fence.into(), format!("; F[{q}] := {}", rng.pick(&["True", "False"]))),
        14 => (format!(" && F[{q}] = {}{fence}", rng.pick(&["True", "False"])), String::new()),
        15 => (fence.into(), "; F[j] := case | j = p : True | _ : F[j]".into()),
        16 => (format!(" && {x} = {v}{fence}"), format!("; F[j] := case | j = {q} : False | _ : True")),
        _ => (fence.into(), if rng.chance(50) { format!("; {x} := {y}") } else { format!("; {x} := ?") }),
    }
}

fn header(rng: &mut Rng, operations: u64) -> String {
    let locations: Vec<String> = (0..=operations).map(|i| format!("L{i}")).collect();
    let (a, b) = (rng.pick(&["V0", "V1"]), "V0");
    format!(
        "type loc = {}\ntype val = V0 | V1 | V2\narray PC[proc] : loc\narray R1[proc] : val\narray R2[proc] : val\n\
         weak var X : val\nweak var Y : val\nweak array F[proc] : bool\n\
         init (p) {{ PC[p] = L0 && R1[p] = V0 && R2[p] = V0 && X = {a} && Y = {b} && F[p] = False }}\n",
        locations.join(" | ")
    )
}

/// A system of `procs` fixed processes with at most `operations` operations each.
pub fn fixed(seed: u64, procs: u64, operations: u64) -> String {
    let mut rng = Rng(seed);
    let mut text = format!("number_procs {procs}\n{}", header(&mut rng, operations));
    let mut lengths = Vec::new();
    for p in 1..=procs {
        let length = 1 + rng.below(operations);
        for at in 0..length {
            let (guard, update) = operation(&mut rng);
            text += &format!(
                "transition t{p}_{at} ([p]) requires {{ p = #{p} && PC[p] = L{at}{guard} }} {{ PC[p] := L{}{update} }}\n",
                at + 1
            );
        }
        lengths.push(length);
    }
    let mut bad: Vec<String> = Vec::new();
    for (p, length) in lengths.iter().enumerate() {
        if rng.chance(70) {
            bad.push(format!("PC[#{}] = L{length}", p + 1));
        }
        if rng.chance(50) {
            bad.push(format!("{}[#{}] = {}", rng.pick(&["R1", "R2"]), p + 1, rng.pick(&VALUES)));
        }
        if rng.chance(35) {
            bad.push(format!("#{} @ {} = {}", p + 1, rng.pick(&VARS), rng.pick(&VALUES)));
        }
    }
    if bad.is_empty() {
        bad.push("PC[#1] = L1".into());
    }
    text + &format!("unsafe () {{ {} }}\n", bad.join(" && "))
}

/// A system where any number of processes run the same code, perhaps in a loop.
pub fn parameterized(seed: u64, operations: u64) -> String {
    let mut rng = Rng(seed ^ 0x5DEE_CE66);
    let mut text = header(&mut rng, operations);
    for at in 0..operations {
        let (guard, update) = match rng.below(6) {
            0 => (" && forall_other q. F[q] = False".to_string(), String::new()),
            1 => (" && fence() && forall_other q. F[q] = False".to_string(), String::new()),
            2 => (String::new(), "; F[p] := True".to_string()),
            _ => {
                let (guard, update) = operation(&mut rng);
                // No process has a name of its own here.
                let anonymous = |text: String| text.replace("#1", "p").replace("#2", "p");
                (anonymous(guard), anonymous(update))
            }
        };
        let next = if rng.chance(85) { at + 1 } else { rng.below(operations + 1) };
        text += &format!(
            "transition t{at} ([p]) requires {{ PC[p] = L{at}{guard} }} {{ PC[p] := L{next}{update} }}\n"
        );
    }
    let (i, j) = (1 + rng.below(operations), 1 + rng.below(operations));
    let more = match rng.below(3) {
        0 => format!(" && R1[p] = {}", rng.pick(&VALUES)),
        1 => format!(" && q @ X = {}", rng.pick(&VALUES)),
        _ => String::new(),
    };
    text + &format!("unsafe (p q) {{ PC[p] = L{i} && PC[q] = L{j}{more} }}\n")
}

/// A parameterized system with universal guards, arithmetic, an array with two indices and values left open.
pub fn rich(seed: u64) -> String {
    let mut rng = Rng(seed ^ 0x5eed);
    let mut text = String::from(
        "type loc = A | B | C\narray PC[proc] : loc\narray N[proc] : int\narray M[proc,proc] : bool\n\
         var G : loc\nvar K : int\nvar D : bool\n\
         init (p q) { PC[p] = A && N[p] = 0 && M[p,q] = False && G = A && K = 0 && D = False }\n",
    );
    text += rng.pick(&[
        "unsafe (p q) { PC[p] = C && PC[q] = C }\n",
        "unsafe (p q) { PC[p] = C && M[p,q] = True }\n",
        "unsafe (p) { PC[p] = C && N[p] > 1 }\n",
        "unsafe (p q) { N[p] < N[q] && PC[p] = C && PC[q] = B }\n",
    ]);
    for number in 0..2 + rng.below(4) {
        let two = rng.chance(50);
        let params = if two { "p q" } else { "p" };
        // The first two lead from A to C, so that the guards decide whether bad states are reached.
        let (from, to) = match number {
            0 => ("A", "B"),
            1 => ("B", "C"),
            _ => (rng.pick(&["A", "B", "C"]), rng.pick(&["A", "B", "C"])),
        };
        let mut guard = vec![format!("PC[p] = {from}")];
        for _ in 0..rng.below(3) {
            guard.push(condition(&mut rng, two));
        }
        if rng.chance(50) {
            guard.push(format!("forall_other r. {}", universal(&mut rng)));
        }
        // A bound that the machine can explore.
        guard.push("K < 3 && N[p] < 3".into());
        let mut updates = vec![format!("PC[p] := {to}")];
        if number > 1 && rng.chance(30) {
            updates = vec![
                rng.pick(&[
                    "PC[j] := case | j = p : B | PC[j] = C : A | _ : PC[j]",
                    "PC[j] := case | j = p : C | M[p,j] = True : A | _ : PC[j]",
                ])
                .to_string(),
            ];
        }
        if rng.chance(60) {
            updates.push(rng.pick(&["N[p] := N[p] + 1", "N[p] := 0", "N[p] := K", "N[p] := K + 1"]).into());
        }
        if rng.chance(40) {
            updates.push(
                rng.pick(&["K := K + 1", "K := N[p]", "K := 0", "K := case | K < N[p] : N[p] | _ : K"])
                    .into(),
            );
        }
        if rng.chance(40) {
            updates.push(rng.pick(&["G := ?", "G := B", "G := PC[p]"]).into());
        }
        if rng.chance(30) {
            updates.push(rng.pick(&["D := ?", "D := True"]).into());
        }
        if rng.chance(50) {
            let cell = if two { "i = p && j = q" } else { "i = p" };
            let value = rng.pick(&["True", "False", "D", "M[j,i]"]);
            updates.push(format!("M[i,j] := case | {cell} : {value} | _ : M[i,j]"));
        }
        let (guard, updates) = (guard.join(" && "), updates.join("; "));
        text += &format!("transition t{number} ({params})\nrequires {{ {guard} }}\n{{ {updates} }}\n");
    }
    text
}

fn condition(rng: &mut Rng, two: bool) -> String {
    let one = [
        "G = A",
        "G <> B",
        "D = True",
        "D = False",
        "N[p] <= K",
        "K > 0",
        "N[p] = 1",
        "M[p,p] = False",
        "G = PC[p]",
    ];
    let both =
        ["PC[q] = A", "PC[q] <> C", "N[p] < N[q]", "N[q] <= N[p] + 1", "M[p,q] = True", "M[q,p] = False"];
    if two && rng.chance(60) { rng.pick(&both).into() } else { rng.pick(&one).into() }
}

fn universal(rng: &mut Rng) -> String {
    rng.pick(&[
        "PC[r] <> C",
        "PC[r] = A",
        "N[r] <= N[p]",
        "M[p,r] = True",
        "M[r,p] = False",
        "(PC[r] = A || N[p] < N[r])",
        "(PC[r] <> C || M[r,p] = True)",
    ])
    .into()
}
