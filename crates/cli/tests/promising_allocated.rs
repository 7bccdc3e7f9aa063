//! Memory that is allocated once under `-m ps` (`fencepost_ir::allocated`): the same answers as with global objects in its place, from
//! the machine and from the encoding, on generated programs that publish what they allocate.
//!
//! `FENCEPOST_CASES=N` makes N programs from `FENCEPOST_SEED` on.

use serde_json::Value;
use std::process::Command;

/// A generator of numbers.
struct Dice(u64);

impl Dice {
    fn below(&mut self, most: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % most
    }

    fn pick<'t>(&mut self, all: &[&'t str]) -> &'t str {
        all[self.below(all.len() as u64) as usize]
    }
}

/// An allocation, and the declaration of an object that may stand for it.
const ALLOCATIONS: [(&str, &str, &str); 3] = [
    ("calloc(1, sizeof(struct node))", "struct node", "[1]"),
    ("calloc(2, sizeof(struct node))", "struct node", "[2]"),
    ("calloc(1, 3 * sizeof(struct node))", "struct node", "[3]"),
];

/// Threads that reach allocated objects through a pointer, and through pointers in them.
fn program(seed: u64) -> String {
    let mut dice = Dice(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1);
    let (mut globals, mut made) = (String::new(), 0);
    let mut allocate = |dice: &mut Dice| {
        let (heap, kind, length) = ALLOCATIONS[dice.below(3) as usize];
        made += 1;
        globals += &format!("{kind} o{made}{length};\n");
        format!("o = ALLOCATE({heap}, o{made});")
    };
    let access = |dice: &mut Dice| {
        let (field, register) = (dice.pick(&["value", "value", "other"]), dice.pick(&["a", "b"]));
        match dice.below(8) {
            0..=2 => format!("o->{field} = {};", dice.pick(&["1", "2", "a"])),
            3..=5 => format!("{register} = o->{field};"),
            6 => format!("if (o->next) {register} = o->next->{field};"),
            _ => format!("{register} = o[{register} & 1].{field};"),
        }
    };
    let publish = "atomic_store_explicit(&g, o, memory_order_relaxed);";
    let mut thread = |dice: &mut Dice, first: bool| {
        let mut lines = Vec::new();
        match first {
            true => {
                lines.push(allocate(dice));
                (0..dice.below(2)).for_each(|_| lines.push(access(dice)));
                if dice.below(3) == 0 {
                    lines.push("o->next = o;".into());
                }
                lines.push(publish.into());
                (0..dice.below(2)).for_each(|_| lines.push(access(dice)));
            }
            false => {
                lines.push("o = atomic_load_explicit(&g, memory_order_relaxed);".into());
                let uses: Vec<String> = (0..1 + dice.below(2)).map(|_| access(dice)).collect();
                lines.push(format!("if (o) {{ {} }}", uses.join(" ")));
            }
        }
        lines.join(" ")
    };
    let by_main = dice.below(2) == 0;
    let main = if by_main { thread(&mut dice, true) } else { String::new() };
    let bodies = [thread(&mut dice, !by_main), thread(&mut dice, false)];
    let functions: String = (0..)
        .zip(&bodies)
        .map(|(t, body)| {
            let head = format!("void *t{t}(void *arg) {{ int a = 0, b = 0; struct node *o = 0;");
            format!("{head} {body} out[{t}] = 2 * a + b; return 0; }}\n")
        })
        .collect();
    let freed = if by_main && dice.below(2) == 0 { "if (HEAP) free(o);" } else { "" };
    let value = |dice: &mut Dice| format!("{} == {}", dice.pick(&["out[0]", "out[1]"]), dice.below(5));
    let asserted = format!("{} && {}", value(&mut dice), value(&mut dice));
    format!(
        "#include <assert.h>\n#include <pthread.h>\n#include <stdatomic.h>\n#include <stdlib.h>\n\
         struct node {{ int value, other; struct node *next; }};\n_Atomic(struct node *) g;\nint out[2];\n{globals}\
         #if HEAP\n#define ALLOCATE(heap, object) heap\n#else\n#define ALLOCATE(heap, object) object\n#endif\n\
         {functions}int main(void) {{ pthread_t t, u; int a = 0, b = 0; struct node *o = 0; {main}\n\
         pthread_create(&t, 0, t0, 0); pthread_create(&u, 0, t1, 0); pthread_join(t, 0); pthread_join(u, 0);\n\
         assert(!({asserted})); {freed} return a + b; }}\n"
    )
}

fn number(name: &str, usual: u64) -> u64 {
    std::env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(usual)
}

/// The verdict, or why there is none.
fn verdict(path: &str, engine: &str, heap: bool) -> Result<String, String> {
    let heap = format!("-DHEAP={}", u8::from(heap));
    let bounds = "--bound 4 --promises 1 --timeout 20 --json -m ps -j1 --engine";
    let mut arguments = vec!["check", path];
    arguments.extend(bounds.split(' '));
    arguments.extend([engine, "--", &heap]);
    let output = Command::new(env!("CARGO_BIN_EXE_fencepost")).args(&arguments).output();
    let output = output.expect("fencepost runs");
    let text = String::from_utf8_lossy(&output.stdout);
    let answer: Value = serde_json::from_str(text.lines().last().unwrap_or_default()).unwrap_or_default();
    answer["verdict"]
        .as_str()
        .map(str::to_owned)
        .ok_or_else(|| String::from_utf8_lossy(&output.stderr).into())
}

#[test]
fn allocated_objects_are_as_global_ones() {
    let folder = std::env::temp_dir().join(format!("fencepost-promising-allocated-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a folder");
    let path = folder.join("program.c");
    let (cases, first) = (number("FENCEPOST_CASES", 12), number("FENCEPOST_SEED", 0));
    let (mut wrong, mut unknown, mut refused) = (0, 0, Vec::new());
    for seed in first..first + cases {
        let text = program(seed);
        std::fs::write(&path, &text).expect("written");
        let path = path.display().to_string();
        let mut said = Vec::new();
        for (engine, heap) in [("states", false), ("states", true), ("reduce", false), ("reduce", true)] {
            match verdict(&path, engine, heap) {
                Ok(verdict) if verdict == "unknown" => unknown += 1,
                Ok(verdict) => said.push((engine, heap, verdict)),
                Err(why) => refused.push(format!("seed {seed}: {why}")),
            }
        }
        assert!(said.windows(2).all(|pair| pair[0].2 == pair[1].2), "seed {seed}: {said:?}\n{text}");
        wrong += u64::from(said.iter().any(|(_, _, verdict)| verdict == "unsafe"));
    }
    println!(
        "{cases} programs, {wrong} of them unsafe; of the answers {unknown} are unknown, {} refused",
        refused.len()
    );
    assert!(refused.is_empty(), "{}", refused.join("\n"));
    assert!(unknown * 10 <= 4 * cases, "{unknown} unknown");
}
