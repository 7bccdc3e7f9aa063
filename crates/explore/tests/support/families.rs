//! Directed families of programs, for what random programs miss.
//!
//! Each family is generated systematically: a shape, and in each of its places everything that may order the two
//! accesses around it. A program is a line of [`super::text`].

use fencepost_explore::ModelName::{self, *};

/// All directed programs for a model.
pub fn all(model: ModelName) -> Vec<String> {
    let mut programs = Vec::new();
    programs.extend(coherence(model));
    programs.extend(pairs(model));
    programs.extend(propagation(model));
    programs.extend(read_modify_writes(model));
    match model {
        Power => {
            programs.extend(forwarding(model));
            programs.extend(traps());
            programs.extend(handing_on(&[
                "Rx", "Wx1", "Wx*", "Ax", "Sx*", "Lx", "Xx2", "Cx01", "Cx10", "lwsync",
            ]));
        }
        Armv8 => {
            programs.extend(forwarding(model));
            programs.extend(traps());
            programs.extend(armv8_orders());
            programs.extend(handing_on(&[
                "Rx", "Rx.acq", "Wx1", "Wx*", "Ax", "Sx*", "Lx", "Xx2", "Cx01", "Cx10",
            ]));
        }
        Ra | Rc11 | Rc20 => {
            programs.extend(release_sequences());
            programs.extend(sequential_consistency());
        }
        Sc | Tso | Pso => {}
    }
    programs
}

/// What may stand between two accesses of a thread: the pair as text, given the index of the first one. `None` if it
/// does not fit: data into a read, a dependency on a write.
fn link(first: &str, how: &str, second: &str, at: usize) -> Option<String> {
    let (reads, writes) = (!first.starts_with('W'), !second.starts_with('R'));
    let pair = match how {
        "po" => format!("{first} {second}"),
        "addr" | "ctrl" | "pick" | "pickaddr" if reads => format!("{first} {second}<{how}{at}"),
        "data" if reads && writes => format!("{first} {second}<data{at}"),
        "addr" | "ctrl" | "pick" | "pickaddr" | "data" => return None,
        "addrpo" if reads => format!("{first} Ru<addr{at} {second}"),
        "ctrlisync" if reads => format!("{first} isync<ctrl{at} {second}"),
        "ctrlisb" if reads => format!("{first} isb<ctrl{at} {second}"),
        "pickisb" if reads => format!("{first} isb<pick{at} {second}"),
        "addrisb" if reads => format!("{first} Ru<addr{at} isb {second}"),
        "addrpo" | "ctrlisync" | "ctrlisb" | "pickisb" | "addrisb" => return None,
        "acq" | "acqpc" if reads => format!("{first}.{how} {second}"),
        "rel" if writes => format!("{first} {second}.rel"),
        "relacq" if !reads && !writes => format!("{first}.rel {second}.acq"),
        "relacqpc" if !reads && !writes => format!("{first}.rel {second}.acqpc"),
        "acq" | "acqpc" | "rel" | "relacq" | "relacqpc" => return None,
        order if order.starts_with('.') => format!("{first}{order} {second}{order}"),
        fence => format!("{first} {fence} {second}"),
    };
    Some(pair)
}

/// All the ways in which a model may order two accesses.
fn links(model: ModelName) -> &'static [&'static str] {
    match model {
        Sc => &["po", "mfence"],
        Tso => &["po", "mfence", "sfence"],
        Pso => &["po", "mfence", "sfence", "eieio", "lwsync"],
        Ra => &[".rlx", ".sc", "c11.sc"],
        Rc11 | Rc20 => &[".rlx", ".sc", "c11.sc", "c11.rel", "c11.acq", "c11.acqrel", "acq", "rel"],
        Power => {
            &["po", "sync", "lwsync", "eieio", "addr", "data", "ctrl", "pick", "addrpo", "ctrlisync", "isync"]
        }
        Armv8 => &[
            "po", "dmb.sy", "dmb.ld", "dmb.st", "dsb.st", "addr", "data", "ctrl", "pick", "pickaddr",
            "addrpo", "ctrlisb", "pickisb", "addrisb", "isb", "acq", "acqpc", "rel", "relacq", "relacqpc",
        ],
    }
}

/// The ways that matter when many threads take part: what orders most, least, and something in between.
fn few_links(model: ModelName) -> &'static [&'static str] {
    match model {
        Sc => &["po"],
        Tso => &["po", "mfence"],
        Pso => &["po", "mfence", "sfence"],
        Ra => &[".rlx", "c11.sc"],
        Rc11 | Rc20 => &[".rlx", ".sc", "c11.sc", "acq", "rel", "c11.acqrel"],
        Power => &["po", "sync", "lwsync", "eieio", "addr", "data"],
        Armv8 => &["po", "dmb.sy", "dmb.ld", "addr", "data", "acq", "rel"],
    }
}

/// Accesses to one cell.
fn coherence(model: ModelName) -> Vec<String> {
    let threads = ["Wx1", "Rx", "Wx1 Rx", "Rx Wx1", "Wx1 Wx2", "Rx Rx", "Rx Wx2 Rx", "Wx1 Rx Rx"];
    let threads: Vec<String> = threads.iter().map(|t| relaxed(model, t)).collect();
    let mut programs = threads.clone();
    for (i, a) in threads.iter().enumerate() {
        programs.extend(threads[i..].iter().map(|b| format!("{a} | {b}")));
    }
    programs
}

fn access(kind: char, cell: char, value: u32) -> String {
    if kind == 'W' { format!("W{cell}{value}") } else { format!("R{cell}") }
}

/// Two threads with two accesses each, to two cells in opposite order, and everything in between: MP, LB, SB, S, R,
/// 2+2W and their kin.
fn pairs(model: ModelName) -> Vec<String> {
    let mut programs = Vec::new();
    for kinds in ["WW RR", "RW RW", "WR WR", "WW RW", "WW WR", "WW WW"] {
        let k: Vec<char> = kinds.chars().filter(|c| *c != ' ').collect();
        for a in links(model) {
            for b in links(model) {
                let first = link(&access(k[0], 'x', 2), a, &access(k[1], 'y', 1), 0);
                let second = link(&access(k[2], 'y', 2), b, &access(k[3], 'x', 1), 0);
                if let (Some(first), Some(second)) = (first, second) {
                    programs.push(format!("{first} | {second}"));
                }
            }
        }
    }
    programs
}

/// Shapes of three and four threads, which show how writes propagate: WRC, RWC, ISA2, W+RWC, Z6 and so on, as cycles
/// of cells; a single letter is a thread with one access to the first cell of the next.
fn propagation(model: ModelName) -> Vec<String> {
    let mut programs = Vec::new();
    let shapes = [
        "W RW RR", "W RR WR", "WW RW RR", "WW RR WR", "WW RW WR", "WW WW RR", "WW WW WR", "WW WR WR",
        "W RW WR", "W RW WW", "W RR WW", "WW RW RW", "WR WR WR",
    ];
    for shape in shapes {
        let threads: Vec<&str> = shape.split(' ').collect();
        let linked = threads.iter().filter(|t| t.len() == 2).count();
        let ways = few_links(model);
        for choice in 0..ways.len().pow(linked as u32) {
            let mut choice = choice;
            let mut cell = 0;
            let mut lines = Vec::new();
            let cells: Vec<char> = "xyz".chars().take(linked).collect();
            for thread in &threads {
                let k: Vec<char> = thread.chars().collect();
                let here = cells[cell % linked];
                if k.len() == 1 {
                    lines.push(Some(plain(model, &access(k[0], here, 2))));
                    continue;
                }
                let next = cells[(cell + 1) % linked];
                let (a, b) = (access(k[0], here, 2), access(k[1], next, 1));
                let way = ways[choice % ways.len()];
                lines.push(link(&a, way, &b, 0).map(|t| relaxed(model, &t)));
                choice /= ways.len();
                cell += 1;
            }
            if let Some(lines) = lines.into_iter().collect::<Option<Vec<String>>>() {
                programs.push(lines.join(" | "));
            }
        }
    }
    for a in few_links(model) {
        for b in few_links(model) {
            if let (Some(a), Some(b)) = (link("Rx", a, "Ry", 0), link("Ry", b, "Rx", 0)) {
                let (x, y) = (plain(model, "Wx1"), plain(model, "Wy1"));
                programs.push(format!("{x} | {y} | {} | {}", relaxed(model, &a), relaxed(model, &b)));
            }
        }
    }
    programs
}

/// A single access as the model's language has it.
fn plain(model: ModelName, access: &str) -> String {
    if !matches!(model, Ra | Rc11 | Rc20) {
        return access.to_string();
    }
    let end = access.find('<').unwrap_or(access.len());
    format!("{}.rlx{}", &access[..end], &access[end..])
}

/// Accesses without an order become relaxed ones in the C11 models.
fn relaxed(model: ModelName, thread: &str) -> String {
    let statement = |s: &str| match s.starts_with(|c: char| c.is_ascii_uppercase()) && !s.contains('.') {
        true => plain(model, s),
        false => s.to_string(),
    };
    thread.split(' ').map(statement).collect::<Vec<_>>().join(" ")
}

/// Read-modify-writes of one cell by two and three threads, among plain accesses, and between two cells.
fn read_modify_writes(model: ModelName) -> Vec<String> {
    let mut snippets =
        vec!["Ax", "Cx01", "Cx12", "Cx02<exp0", "Sx1", "Wx1", "Ax Ax", "Cx01 Cx12", "Wx1 Sx2 Rx"];
    let exclusive = !matches!(model, Ra | Rc11 | Rc20);
    if exclusive {
        snippets.extend(["Lx Xx1", "Lx Xxr0 Rx", "Lx Wx1 Xx2", "Lx Xx1 Lx Xx2"]);
    }
    // What a compare-exchange expects may depend on a read.
    let snippet = |s: &str| relaxed(model, &s.replace("Cx02<exp0", "Rx Cx02<exp0"));
    let snippets: Vec<String> = snippets.into_iter().map(snippet).collect();
    let short = |s: &String| s.split(' ').count() <= 2;
    let mut programs = Vec::new();
    for (i, a) in snippets.iter().enumerate() {
        for (j, b) in snippets.iter().enumerate().skip(i) {
            programs.push(format!("{a} | {b}"));
            if short(a) && short(b) {
                programs
                    .extend(snippets[j..].iter().filter(|c| short(c)).map(|c| format!("{a} | {b} | {c}")));
            }
        }
    }
    let between = ["Ax", "Sx2", "Cx01", "Cx12"];
    let far = ["Wy1", "Ry", "Ay", "Cy12"];
    for a in between.into_iter().chain(exclusive.then_some("Lx Xx2")) {
        for b in far {
            for (c, d) in [("Wy2", "Rx"), ("Ry", "Wx3"), ("Wy2", "Wx3"), ("Ay", "Rx"), ("Ry", "Rx")] {
                for fence in [links(model)[0], links(model)[1]] {
                    // The other thread meets the two cells in the opposite order.
                    let swapped = |s: &str| s.replace('x', "#").replace('y', "x").replace('#', "y");
                    let there = link(c, fence, d, 0).expect("fits");
                    let back = link(&swapped(c), fence, &swapped(d), 0).expect("fits");
                    for (first, second) in [(format!("{a} {b}"), &there), (format!("{b} {a}"), &back)] {
                        programs.push(format!("{} | {}", relaxed(model, &first), relaxed(model, second)));
                    }
                }
            }
        }
    }
    programs
}

/// Store forwarding, detours and reads of different writes: how a read orders what comes after it through accesses to a
/// third cell, on the reading side of MP, S and LB.
fn forwarding(model: ModelName) -> Vec<String> {
    let power = model == Power;
    let (sync, light) = if power { ("sync", "lwsync") } else { ("dmb.sy", "dmb.st") };
    let isync = if power { "isync" } else { "isb" };
    let mut programs = Vec::new();
    for (writer, first, last) in [
        (format!("Wx1 {sync} Wy1"), "Ry", "Rx"),
        (format!("Wx2 {light} Wy1"), "Ry", "Wx1"),
        ("Rx Wyr0".to_string(), "Ry", "Wx1"),
        (format!("Rx {sync} Wy1"), "Ry", "Wx1"),
    ] {
        for into in ["", "<data0", "<addr0", "<ctrl0", "<pick0"] {
            // Statement 0 is the first read; the chain goes on from statement `from`.
            let chains = [
                (format!("Wu1{into} Ru"), 2),
                (format!("Wu1{into} Wu2 Ru"), 3),
                (format!("Wu1{into} Ru Wv1<data2 Rv"), 4),
                (format!("Wu1{into} Ru Ru<addr2"), 3),
                (format!("Wu1{into} Ru Wu2<data2 Ru"), 4),
                (format!("Ru{} Ru", if into == "<data0" { "" } else { into }), 2),
                (format!("Ru{} Wu1 Ru", if into == "<data0" { "" } else { into }), 3),
                (format!("Su1{into}"), 1),
                (format!("Su1{into} Ru"), 2),
                (format!("Wu1{into} Au"), 2),
                (format!("Lu Xu1{into} Ru"), 3),
            ];
            for (chain, from) in chains {
                let mut outs = vec![format!("{last}<addr{from}"), format!("{last}<ctrl{from}")];
                if last.starts_with('W') {
                    outs.push(format!("{last}<data{from}"));
                } else {
                    outs.push(format!("{isync}<ctrl{from} {last}"));
                }
                for out in outs {
                    for outside in ["", " | Wu3"] {
                        programs.push(format!("{writer} | {first} {chain} {out}{outside}"));
                    }
                }
            }
        }
        // Same-location order of writes that another thread sees.
        for into in ["<data0", "<ctrl0"] {
            programs.push(format!("{writer} | {first} Wz1{into} Wz2 | Rz {last}<addr0"));
        }
        // Real data flow instead of a false dependency.
        for outside in ["", " | Wu3"] {
            programs.push(format!("{writer} | {first} Wur0 Ru {last}<addr2{outside}"));
            programs.push(format!("{writer} | {first} Wu1<if0 Ru {last}<addr2{outside}"));
        }
    }
    programs
}

/// Programs that a careless commit-before order of ARMv8 loses (`docs/EXPLORATION.md`), and variations of them.
fn traps() -> Vec<String> {
    let mut programs = Vec::new();
    for wx in ["Wx1", "Sx1", "Ax", "Lx Xx1", "Cx01"] {
        for rx in ["Rx", "Rx.acq", "Rx.acqpc", "Ax", "Sx3"] {
            // The statement that reads x, and the one that hands it on.
            let at = wx.split(' ').count();
            programs.push(format!("Rx {wx} {rx} Wyr{} | Ry Wxr0", at + 1));
            programs.push(format!("{wx} {rx} Wyr{at} | Ry Wxr0"));
            programs.push(format!("Rz Wxr0 {} {rx} Wyr{} | Ry Wzr0", wx.replace("x1", "x2"), at + 2));
        }
    }
    for first in ["Sx1", "Ax", "Wx1", "Lx Xx1"] {
        for second in ["Sxr0", "Sxr0.acq", "Sxr0.rel", "Ax<addr0", "Cx01<data0", "Cx01<exp0"] {
            programs.push(format!("{first} | Rz {second} Wqr1 | Rq Wzr0"));
            programs.push(format!("{first} | Rz {second} Wq1<ctrl1 | Rq Wzr0"));
        }
        programs.push(format!("{first} | Rz Lx Xxr0 Wqr1 | Rq Wzr0"));
        programs.push(format!("{first} | Rz Lx Xxr0 Wqr2 | Rq Wzr0"));
    }
    programs
}

/// All sequences of up to three such statements, after which the last register goes to another thread, which writes it
/// back; `*` is the last register.
fn handing_on(statements: &[&str]) -> Vec<String> {
    let mut programs = Vec::new();
    let mut sequences: Vec<Vec<&str>> = vec![Vec::new()];
    for _ in 0..3 {
        let longer = sequences.iter().flat_map(|s| statements.iter().map(|t| [&s[..], &[*t]].concat()));
        sequences = longer.collect();
        for sequence in &sequences {
            let mut last = None;
            let mut line = String::new();
            let value = |last: Option<usize>| last.map_or("1".to_string(), |at| format!("r{at}"));
            for (at, statement) in sequence.iter().enumerate() {
                line += &format!("{} ", statement.replace('*', &value(last)));
                if !statement.starts_with(['W', 'l']) {
                    last = Some(at);
                }
            }
            programs.push(format!("{line}Wy{} | Ry Wxr0", value(last)));
        }
    }
    programs
}

/// LDAR, LDAPR, STLR, exclusives and read-modify-writes of every order, in every place of the two-thread shapes.
fn armv8_orders() -> Vec<String> {
    let reads =
        |cell: char| ["R?", "R?.acq", "R?.acqpc", "L?.acq"].map(|r| r.replace('?', &cell.to_string()));
    let writes = |cell: char, value: u32| {
        ["W?#", "W?#.rel"].map(|w| w.replace('?', &cell.to_string()).replace('#', &value.to_string()))
    };
    let mut programs = Vec::new();
    let any = |kind: char, cell: char, value: u32| match kind {
        'R' => reads(cell).to_vec(),
        _ => writes(cell, value).to_vec(),
    };
    for kinds in ["WWRR", "RWRW", "WRWR", "WWRW", "WWWR", "WWWW"] {
        let k: Vec<char> = kinds.chars().collect();
        for a in any(k[0], 'x', 2) {
            for b in any(k[1], 'y', 1) {
                for c in any(k[2], 'y', 2) {
                    programs.extend(any(k[3], 'x', 1).into_iter().map(|d| format!("{a} {b} | {c} {d}")));
                }
            }
        }
    }
    let orders = ["", ".acq", ".rel", ".acqrel"];
    for order in orders {
        for pair in
            [format!("Sx1{order}"), format!("Ax{order}"), format!("Cx01{order}"), format!("Cx12{order}")]
        {
            programs.push(format!("{pair} Wy1 | Ry dmb.ld Rx"));
            programs.push(format!("{pair} Ry | Wy1 dmb.sy Rx"));
            programs.push(format!("{pair} Ry | Ay{order} Rx"));
            programs.push(format!("Wy1 {pair} | Rx dmb.ld Ry"));
            programs.push(format!("Ry {pair} | Rx Wyr0"));
            programs.push(format!("Wy1 dmb.sy Wx2 | {pair} Rx.acq Ry"));
            programs.push(format!("Wy1 dmb.sy Wx2 | {pair} Rx.acqpc Ry"));
            programs.push(format!("Wy1 dmb.sy Wx2 | Rx {pair} Rx.acq Ry"));
        }
        for (load, store) in [("", order), (order, "")] {
            if load == ".rel" || load == ".acqrel" || store == ".acq" || store == ".acqrel" {
                continue;
            }
            programs.push(format!("Lx{load} Xx1{store} Wy1 | Ry dmb.ld Rx"));
            programs.push(format!("Wy1 Lx{load} Xx1{store} | Rx dmb.ld Ry"));
            programs.push(format!("Lx{load} Xx1{store} Ry | Wy1 dmb.sy Rx"));
            programs.push(format!("Lx{load} Xx1{store} Rx.acq Ry | Wy1 dmb.sy Wx2"));
            programs.push(format!("Lx{load} Xx1{store} Wy1<ctrl1 | Ry Wxr0"));
            programs.push(format!("Lx{load} Xx1{store} Wyr1 | Ry Wxr0"));
        }
    }
    // Through a pick, then store forwarding, then a dependency (pick-lob), and the barriers of acquire-release swaps.
    programs.push("Rx Wz1<pick0 Rz Wyr2 | Ry Wxr0".into());
    programs.push("Rx Wz1<pick0 Rz Wy1<data2 | Ry Wx1<data0".into());
    programs.push("Wx2 dmb.st Wy1 | Ry Wz1<pick0 Rz Wx1<data2".into());
    programs.push("Rx Wz1<pick0 Rz.acq Wy1 | Ry Wxr0".into());
    programs.push("Rx Wz1<pick0 Rz.acqpc Wy1 | Ry Wxr0".into());
    programs.push("Wx2 dmb.st Wy1 | Ry Wz1<pick0 Rz.acq Wx1".into());
    programs.push("Wx1 dmb.sy Wy1 | Ry Wz1<data0 Rz.acqpc Rx".into());
    // Through memory to a branch and a fence, and from what one instruction reads and writes.
    programs.push("Wx1 dmb.sy Wy1 | Ry Wz1<pick0 Rz isb<ctrl2 Rx".into());
    for rmw in ["Ax", "Sx1", "Cx01"] {
        for last in
            ["Wy1<ctrl1", "Wy1<addr1", "isb<ctrl1 Wy1", "Rz<addr1 Wy1<data2", "Wz1<data1 Rz Wy1<data3"]
        {
            programs.push(format!("{rmw} Rx {last} | Ry Wxr0"));
        }
        for last in ["Rx<addr1", "isb<ctrl1 Rx", "Rx"] {
            programs.push(format!("Wx1 dmb.sy Wy1 | {} Ry {last}", rmw.replace('x', "y")));
        }
    }
    programs.push("Wx2 dmb.sy Wy1 | Ry Rz<pick0 Wx1".into());
    programs.push("Wx2 dmb.sy Wy1 | Ry Rz<pick0 isb Rx".into());
    // A picked address orders later writes, a picked value does not.
    for pick in ["pick", "pickaddr"] {
        programs.push(format!("Rx Wz1<{pick}0 Wy1 | Ry Wxr0"));
        programs.push(format!("Wx2 dmb.sy Wy1 | Ry Wz1<{pick}0 Wx1"));
        programs.push(format!("Wx2 dmb.sy Wy1 | Ry Wz1<{pick}0 isb Rx"));
        programs.push(format!("Wx2 dmb.sy Wy1 | Ry Cz01<{pick}0 Rx<addr1"));
    }
    // What a compare-exchange gives back: the expected value if it succeeds, what it read if it fails.
    for cas in ["Cz01", "Cz11"] {
        for expected in ["", "<exp0"] {
            for last in ["Rx<addr1", "Rx<ctrl1", "Wx1<data1", "Wx1<addr1", "isb<ctrl1 Rx", "Wxr1", "Rx<pick1"]
            {
                programs.push(format!("Wx2 dmb.sy Wy1 | Ry {cas}{expected} {last}"));
                programs.push(format!("Wx2 dmb.sy Wz1 | Ry {cas}{expected} {last}"));
            }
        }
    }
    programs.push("Wx1 dmb.sy Wz1 | Rz Sz2 Rz.acq Rx".into());
    programs.push("Wx1 dmb.sy Wz1 | Rz Sz2 Rz.acqpc Rx".into());
    programs
}

/// Release sequences and fences of RC11: what heads a sequence, what carries it on, and what acquires it.
fn release_sequences() -> Vec<String> {
    let heads = [
        "Wy1.rlx",
        "Wy1.rel",
        "c11.rel Wy1.rlx",
        "c11.sc Wy1.rlx",
        "Ay.rel",
        "c11.rel Wz1.rlx Wy1.rlx",
        "Wy1.rel c11.acq",
    ];
    let own = ["", " Wy2.rlx", " Wy2", " Ay.rlx", " Wz1.rlx Wy2.rlx"];
    let others = [
        "",
        " | Ay.rlx",
        " | Sy3.rlx",
        " | Cy12.rlx",
        " | Wy3.rlx",
        " | Ay.rlx Ay.rlx",
        " | Ry.rlx Wyr0.rlx",
    ];
    let ends = [
        "Ry.rlx",
        "Ry.acq",
        "Ry.sc",
        "Ry.rlx c11.acq",
        "Ry.rlx c11.sc",
        "Ry",
        "Ry.con",
        "Ay.acq",
        "Ry.rlx Rz.rlx c11.acq",
    ];
    let mut programs = Vec::new();
    for head in heads {
        for carry in own {
            for other in others {
                for end in ends {
                    // Long sequences times long ends say nothing new.
                    if other.is_empty() || carry.is_empty() || end == "Ry.acq" {
                        programs.push(format!("Wx1.rlx {head}{carry}{other} | {end} Rx.rlx"));
                    }
                }
            }
        }
    }
    programs
}

/// SC accesses and fences in the places where psc looks: base and fence part, through hb and through eco.
fn sequential_consistency() -> Vec<String> {
    let mut programs = Vec::new();
    let orders = [".rlx", ".sc", ".acq"];
    for (a, b) in [(".rlx", ".sc"), (".sc", ".sc"), (".sc", ".rlx")] {
        for fence in ["", "c11.sc ", "c11.acqrel "] {
            for (c, d) in [(".sc", ".sc"), (".rlx", ".sc"), (".sc", ".rlx"), (".rlx", ".rlx")] {
                for between in ["", "c11.sc "] {
                    programs.push(format!("Wx1{a} {fence}Ry{b} | Wy1{c} {between}Rx{d}"));
                    programs.push(format!("Wx1{a} {fence}Wy2{b} | Wy1{c} {between}Rx{d}"));
                    programs.push(format!("Wx1{a} {fence}Wy2{b} | Wy1{c} {between}Wx2{d}"));
                    programs.push(format!("Wx1.rlx | Rx{a} {fence}Ry{b} | Wy1{c} {between}Rx{d}"));
                    programs.push(format!("Wx1.rel | Rx{a} {fence}Ry{b} | Wy1{c} {between}Rx{d}"));
                    programs.push(format!("Wx1.sc | Wy1.sc | Rx{a} {fence}Ry{b} | Ry{c} {between}Rx{d}"));
                }
            }
        }
    }
    for end in orders {
        // Through release and acquire at another cell.
        programs.push(format!("Wx1.sc Wy1.rel | Ry.acq Rz.sc | Wz1.sc Rx{end}"));
        programs.push(format!("Wx1.sc Wy1.rel | Ry{end} Rz.sc | Wz1.sc Rx.sc"));
        programs.push(format!("Wx1.sc Wy1.rel | Ay.acq Ry.rlx | Wy3.sc Rx{end}"));
        programs.push(format!("Wx1.rlx c11.sc Wy1.rlx | Ry{end} c11.sc Rz.rlx | Wz1.rlx c11.sc Rx.rlx"));
        programs.push(format!("Wx1.sc Wx2.rel | Rx{end} Ry.sc | Wy1.sc Rx.sc"));
        programs.push(format!("Wy1.rlx c11.sc Rx{end} | Wx1.sc Wz1.rel | Rz.acq Ry.sc"));
        programs.push(format!("Wx1.sc Wz1.rel | Rz.acq c11.sc Ry{end} | Wy1.sc Rx.sc"));
        programs.push(format!("Wx1.sc Wz1.rel | Rz.acq c11.sc Ry.rlx | Wy1{end} c11.sc Rx.rlx"));
    }
    programs
}
